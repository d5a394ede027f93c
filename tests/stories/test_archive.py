"""The archive through the façade, on the real graph: what leaves, what stays, exact return, and a death after any step."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem.answers import MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.archive import Record
from graphmem.errors import ConfigurationError, NotFoundError
from graphmem.memory import Status
from graphmem.scope import Scope
from tests.conftest import Neo4jServer
from tests.graph_view import ago, edges
from tests.terminal import Terminal, environment


def old_life(g: Graphmem, scope: Scope) -> list[str]:
    """Three coffees and two cities long ago, a job of the same age, and one coffee now: mids of what is old."""
    past = [
        Remember("coffee_preference", "latte", said_at=ago(days=1200)),
        Remember("coffee_preference", "mocha", said_at=ago(days=1100), metadata={"from": "form"}),
        Remember("coffee_preference", "espresso", said_at=ago(days=900)),
        Remember("current_city", "Bergen", said_at=ago(days=60)),
    ]
    mids = [done.memory.mid for done in (g.remember(scope, ask) for ask in past) if done.memory]
    g.remember(scope, Remember("employer", "Old Mill", said_at=ago(days=1200)))
    g.remember(scope, Remember("employer", "New Mill", said_at=ago(days=1100)))
    g.remember(scope, Remember("coffee_preference", "flat white"))
    return mids


def records(g: Graphmem, scope: Scope, mids: list[str]) -> list[Record]:
    return g._shelf.records(scope, mids)


def clean(g: Graphmem, scope: Scope) -> None:
    assert [b for b in g.check(scope.tenant)[0].breaks if "point" not in b.kind] == []


def test_old_preferences_and_contexts_leave_and_come_back_exactly_and_facts_never_leave(graphmem: Graphmem, scope: Scope) -> None:
    mids = old_life(graphmem, scope)
    graphmem.sweep(scope.tenant)
    before, told = records(graphmem, scope, mids), graphmem.memories(scope).items
    done = graphmem.archive_run(scope.tenant)
    assert (done.users, done.rows) == (1, 4)
    assert records(graphmem, scope, mids) == []
    assert [m.mid for m in graphmem.memories(scope).items] == [m.mid for m in told]
    assert {e.value for e in edges(graphmem, scope)} == {"Old Mill", "New Mill", "flat white"}
    clean(graphmem, scope)
    assert graphmem.archive_run(scope.tenant).rows == 0
    assert graphmem.archive_restore(scope.tenant) == 4
    assert records(graphmem, scope, mids) == before
    assert graphmem.archive_list(scope.tenant) == []
    assert graphmem.archive_restore(scope.tenant) == 0
    clean(graphmem, scope)


def test_versions_go_on_where_the_archived_ones_end_and_history_says_how_many_lie_there(graphmem: Graphmem, scope: Scope) -> None:
    old_life(graphmem, scope)
    graphmem.archive_run(scope.tenant)
    city = graphmem.remember(scope, Remember("current_city", "Oslo")).memory
    coffee = graphmem.latest(scope, "coffee_preference").items[0]
    assert city is not None and city.version == 2 and coffee.version == 4
    assert graphmem.archived(scope, coffee.mid) == 3 and graphmem.archived(scope, city.mid) == 1
    graphmem.archive_restore(scope.tenant)
    assert graphmem.archived(scope, coffee.mid) == 0
    assert [m.version for m in graphmem.history(scope, coffee.mid)] == [1, 2, 3, 4]
    assert [m.version for m in graphmem.history(scope, city.mid)] == [1, 2]
    clean(graphmem, scope)


def test_a_segment_on_disk_shows_no_word_and_no_user_and_a_changed_one_is_refused(graphmem: Graphmem, scope: Scope) -> None:
    mids = old_life(graphmem, scope)
    graphmem.archive_run(scope.tenant)
    folder = Path(str(graphmem.settings.home)) / "archive" / scope.tenant
    (segment,) = graphmem.archive_list(scope.tenant)
    sealed = next(folder.glob("*.aes"))
    everything = b"".join(p.read_bytes() for p in folder.iterdir() if p.is_file())
    assert all(word not in everything for word in (b"latte", b"mocha", b"Bergen", scope.user.encode(), mids[0].encode()))
    listed = json.loads((folder / "manifest.json").read_bytes())["segments"][0]
    assert (listed["rows"], listed["sha256"], listed["state"]) == (4, segment.sha256, "moved")
    assert segment.first < segment.last and segment.slots == 2
    good = sealed.read_bytes()
    sealed.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(ConfigurationError):
        graphmem.archive_restore(scope.tenant)
    assert records(graphmem, scope, mids) == []
    sealed.write_bytes(good)
    assert graphmem.archive_restore(scope.tenant) == 4


class Dies(BaseException):
    """The process ends here."""


STEPS = ("segment", "manifest", "before moved")
BACK = ("before restoring", "before drop", "unlisted")


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_dies_after_any_step_loses_nothing_and_the_next_one_finishes(
    graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mids = old_life(graphmem, scope)
    graphmem.sweep(scope.tenant)
    before = records(graphmem, scope, mids)
    die_at(graphmem, monkeypatch, step)
    with pytest.raises(Dies):
        graphmem.archive_run(scope.tenant)
    monkeypatch.undo()
    assert records(graphmem, scope, mids) in ([], before)
    graphmem.archive_run(scope.tenant)
    assert records(graphmem, scope, mids) == [] and [s.state for s in graphmem.archive_list(scope.tenant)] == ["moved"]
    assert graphmem.archive_restore(scope.tenant) == 4
    assert records(graphmem, scope, mids) == before


@pytest.mark.parametrize("step", BACK)
def test_a_restore_that_dies_after_any_step_is_finished_by_the_next_one(
    graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mids = old_life(graphmem, scope)
    graphmem.sweep(scope.tenant)
    before = records(graphmem, scope, mids)
    graphmem.archive_run(scope.tenant)
    die_at(graphmem, monkeypatch, step)
    with pytest.raises(Dies):
        graphmem.archive_restore(scope.tenant)
    monkeypatch.undo()
    graphmem.archive_restore(scope.tenant)
    assert records(graphmem, scope, mids) == before
    assert graphmem.archive_list(scope.tenant) == []
    assert list((Path(str(graphmem.settings.home)) / "archive" / scope.tenant).glob("*.aes")) == []
    clean(graphmem, scope)


def die_at(g: Graphmem, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fault(at: str) -> None:
        if at == step:
            raise Dies

    monkeypatch.setattr(g._vault, "fault", fault)


def test_a_memory_that_changes_while_it_is_archived_stays_in_the_graph(
    graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    mids = old_life(graphmem, scope)

    def touched(at: str) -> None:
        if at == "manifest":
            graphmem.forget(scope, mids[0])

    monkeypatch.setattr(graphmem._vault, "fault", touched)
    assert graphmem.archive_run(scope.tenant).rows == 0
    assert graphmem.archive_list(scope.tenant) == []
    assert len(records(graphmem, scope, mids)) == 4


def test_forgetting_everything_takes_the_archive_along_and_reaches_no_other_user(graphmem: Graphmem, scope: Scope) -> None:
    other = Scope(scope.tenant, "user-2")
    old_life(graphmem, scope)
    theirs = old_life(graphmem, other)
    graphmem.archive_run(scope.tenant)
    graphmem.forget_all(scope)
    assert [s.rows for s in graphmem.archive_list(scope.tenant)] == [4]
    assert graphmem.archive_restore(scope.tenant) == 4
    assert len(records(graphmem, other, theirs)) == 4
    assert graphmem.memories(scope, MemoryFilter(status=Status.SUPERSEDED)).items == ()
    assert graphmem.remember(scope, Remember("current_city", "Oslo")).memory is not None


def test_one_segment_comes_back_with_the_newer_ones_of_its_user(graphmem: Graphmem, scope: Scope) -> None:
    old_life(graphmem, scope)
    graphmem.archive_run(scope.tenant)
    graphmem.remember(scope, Remember("tea_preference", "oolong", said_at=ago(days=900)))
    graphmem.archive_run(scope.tenant)
    first, second = graphmem.archive_list(scope.tenant)
    assert graphmem.archive_restore(scope.tenant, second.id) == 1
    assert [s.id for s in graphmem.archive_list(scope.tenant)] == [first.id]
    with pytest.raises(NotFoundError):
        graphmem.archive_restore(scope.tenant, second.id)
    assert graphmem.archive_restore(scope.tenant, first.id) == 4


def test_the_terminal_sweeps_archives_lists_and_restores(
    graphmem: Graphmem, scope: Scope, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    mids = old_life(graphmem, scope)
    terminal = Terminal(environment(neo4j_server, tmp_path), scope.tenant, scope.user)
    assert terminal.run("sweep", "--tenant", scope.tenant).code == 0
    moved = terminal.run("archive", "run", "--tenant", scope.tenant, "-o", "jsonl")
    assert (moved.code, [line["rows"] for line in moved.lines()]) == (0, [4])
    listed = terminal.run("archive", "list", "--tenant", scope.tenant, "-o", "jsonl").lines()
    assert [line["state"] for line in listed] == ["moved"]
    assert terminal.run("archive", "restore", "nothing", "--tenant", scope.tenant).code == 7
    assert "4 rows are back" in terminal.run("archive", "restore", str(listed[0]["id"]), "--tenant", scope.tenant).talk
    assert len(records(graphmem, scope, mids)) == 4
    current = graphmem.latest(scope, "employer").items[0].mid
    assert terminal.mine("forget", current).code == 0
    assert terminal.mine("undelete", current).code == 0
    assert terminal.mine("retract", current).code == 0
    assert [m.value for m in graphmem.latest(scope, "employer").items] == ["Old Mill"]


KILLED = """
import os, signal, sys
from pathlib import Path
from graphmem.app import open_graphmem
from graphmem.settings import Settings
g = open_graphmem(Settings(home=Path(sys.argv[1]), embedders=("use",)), warm=False)
g._vault.fault = lambda at: os.kill(os.getpid(), signal.SIGKILL) if at == sys.argv[3] else None
g.archive_run(sys.argv[2])
"""


@pytest.mark.parametrize("step", ["manifest", "before moved"])
def test_a_killed_process_leaves_both_or_the_graph_alone_never_neither(
    graphmem: Graphmem, scope: Scope, neo4j_server: Neo4jServer, step: str
) -> None:
    mids = old_life(graphmem, scope)
    graphmem.sweep(scope.tenant)
    before = records(graphmem, scope, mids)
    home = Path(str(graphmem.settings.home))
    arguments = [sys.executable, "-c", KILLED, str(home), scope.tenant, step]
    done = subprocess.run(arguments, env={**os.environ, **environment(neo4j_server, home)}, capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [s.state for s in graphmem.archive_list(scope.tenant)] == ["written"]
    assert records(graphmem, scope, mids) == (before if step == "manifest" else [])
    assert graphmem.archive_restore(scope.tenant) == (0 if step == "manifest" else 4)
    assert records(graphmem, scope, mids) == before
