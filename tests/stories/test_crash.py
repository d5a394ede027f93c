"""A killed process and a stopped store: nothing acknowledged is lost, nothing half-written stays, both stores become equal again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic import SecretStr

from graphmem import localdb
from graphmem.answers import Ask, Remember
from graphmem.app import Graphmem, open_graphmem
from graphmem.errors import UnavailableError
from graphmem.memory import Verdict
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores import neo4j_base
from graphmem.stores.neo4j_probe import probe
from tests.conftest import Neo4jServer, new_tenant, settings_for
from tests.graph_view import ago, edges, points, waiting

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]


def served_and_killed(server: Neo4jServer, home: Path, tenant: str, seconds: float) -> list[tuple[str, str]]:
    """Let a service write for `seconds` after its first acknowledgement, kill it with -9, and return what it had acknowledged."""
    env = {**os.environ, "GRAPHMEM_NEO4J_URI": server.uri, "GRAPHMEM_NEO4J_USER": server.user, "GRAPHMEM_NEO4J_PASSWORD": server.password}
    command = [sys.executable, "-m", "tests.stories.serving", str(home), tenant]
    said: list[str] = []
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first, "the service ended before it wrote anything"
        said.append(first)
        timer = threading.Timer(seconds, os.kill, (child.pid, signal.SIGKILL))
        timer.start()
        said += child.stdout
        timer.join()
    assert child.returncode == -signal.SIGKILL
    pairs = [line.split() for line in said if line.endswith("\n")]
    return [(user, mid) for user, mid in pairs]


def settled(g: Graphmem, tenant: str, seconds: float = 30) -> None:
    """Project until nothing of the tenant waits: leases that the dead process held run out first."""
    end = time.monotonic() + seconds
    while waiting(g, tenant):
        assert time.monotonic() < end, "the outbox is not empty"
        if not g.drain():
            threading.Event().wait(0.1)


def retried(call: Callable[[], T], seconds: float = 60) -> T:
    """The call's result, asked again under the same key while the store says that it is away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return call()
        except UnavailableError:
            assert time.monotonic() < end, "the store did not come back"


def killed_and_reopened(server: Neo4jServer, home: Path, seconds: float) -> None:
    tenant = new_tenant()
    acknowledged = served_and_killed(server, home, tenant, seconds)
    with open_graphmem(settings_for(server, home), warm=False) as again:
        for user in ("user-0", "user-1"):
            held = {e.mid: e for e in edges(again, Scope(tenant, user))}
            assert {mid for who, mid in acknowledged if who == user} <= held.keys()
        assert again.memory(Scope(tenant, acknowledged[-1][0]), acknowledged[-1][1]).mid == acknowledged[-1][1]
        settled(again, tenant)
        report = again.check(tenant)[0]
        assert report.breaks == () and report.points == len(
            [e for u in (0, 1) for e in edges(again, Scope(tenant, f"user-{u}")) if e.current]
        )
        assert report.memories >= len(acknowledged) > 0


@pytest.mark.parametrize("run", range(3))
def test_a_service_killed_between_commit_and_projection_loses_nothing_it_acknowledged(
    neo4j_server: Neo4jServer, tmp_path: Path, run: int
) -> None:
    killed_and_reopened(neo4j_server, tmp_path, random.uniform(0.05, 1.5))


@pytest.mark.long
@pytest.mark.parametrize("run", range(20))
def test_twenty_killed_services_lose_nothing_they_acknowledged(neo4j_server: Neo4jServer, tmp_path: Path, run: int) -> None:
    killed_and_reopened(neo4j_server, tmp_path, random.uniform(0.05, 4.0))


# --- the vector store away


def test_while_the_vector_store_is_away_a_memory_is_stored_read_and_found_and_gets_one_vector_later(
    neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    """par-01. Another process holds the engine: as good as stopped for this one."""
    scope = Scope(new_tenant(), "user-1")
    ask = Remember("allergy", "花生", said_at=ago(days=1))
    with (
        open_graphmem(settings_for(neo4j_server, tmp_path), warm=False) as holder,
        open_graphmem(settings_for(neo4j_server, tmp_path), warm=False) as g,
    ):
        holder.index.ensure(scope.tenant)
        first = g.remember(scope, ask, key="once")
        assert first.verdict is Verdict.NEW
        g.drain()
        found = g.search(scope, "花生")
        assert [h.memory.value for h in found.items] == ["花生"] and found.degraded == ("vectors",)
        assert [m.value for m in g.memories(scope).items] == ["花生"] and waiting(g, scope.tenant)
    with open_graphmem(settings_for(neo4j_server, tmp_path), warm=False) as g:
        assert g.remember(scope, ask, key="once").replayed
        settled(g, scope.tenant, 60)
        assert len(edges(g, scope)) == 1 and points(g, scope.tenant) == 1
        after = g.search(scope, "花生")
        assert [h.memory.value for h in after.items] == ["花生"] and after.degraded == ()
        assert g.check(scope.tenant)[0].clean


# --- the graph store away


@pytest.fixture(scope="module")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data home with a Neo4j of its own, which this module may kill."""
    home = tmp_path_factory.mktemp("own")
    try:
        yield home
    finally:
        localdb.down(home)


def test_while_the_graph_is_away_a_write_fails_leaves_no_vector_and_its_retry_is_one_memory(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """par-02."""
    monkeypatch.setattr(neo4j_base, "RETRY_S", 0.1)
    server = localdb.up(own_home, probe=probe, profile="test")
    settings = Settings(home=own_home, neo4j_uri=server.uri, neo4j_password=SecretStr(server.password), embedders=("use",), lease_seconds=1)
    scope = Scope(new_tenant(), "user-1")
    ask = Remember("allergy", "peanut", said_at=ago(days=1))
    with open_graphmem(settings, migrate=True) as g:
        g.remember(scope, Remember("hobby", "chess"))
        settled(g, scope.tenant)
        os.kill(server.pid, signal.SIGKILL)
        for act in (
            lambda: g.remember(scope, ask, key="once"),
            lambda: g.search(scope, "chess"),
            lambda: g.memories(scope),
            lambda: g.drain(),
            lambda: g.recall(scope, Ask("what do I do for fun?", tier="L2")),
        ):
            with pytest.raises(UnavailableError) as away:
                act()
            assert away.value.store == "neo4j"
        assert points(g, scope.tenant) == 1 and not g.ready().ready
        assert localdb.up(own_home, probe=probe, profile="test").uri == server.uri
        # a server that has just started plans every statement anew: a 503 in its first seconds is asked again, as a caller would
        done = retried(lambda: g.remember(scope, ask, key="once"))
        again = g.remember(scope, ask, key="once")
        assert (done.replayed, again.replayed) == (False, True) and again.memory is not None and done.memory is not None
        assert again.memory.mid == done.memory.mid
        retried(lambda: settled(g, scope.tenant))
        assert [e.value for e in edges(g, scope)] == ["chess", "peanut"] and points(g, scope.tenant) == 2
        assert g.ready().ready and g.check(scope.tenant)[0].clean


# --- ids


@pytest.mark.parametrize("user", ["张三", "user_1", "B07YSTB5HX"])
def test_a_memory_of_any_user_id_gets_a_vector_and_can_be_forgotten_and_said_again(graphmem: Graphmem, scope: Scope, user: str) -> None:
    """par-03."""
    who = Scope(scope.tenant, user)
    first = graphmem.remember(who, Remember("hobby", "chess")).memory
    assert first is not None
    settled(graphmem, scope.tenant)
    assert [h.memory.mid for h in graphmem.search(who, "chess").items] == [first.mid] and points(graphmem, scope.tenant) == 1
    graphmem.forget(who, first.mid)
    settled(graphmem, scope.tenant)
    assert graphmem.search(who, "chess").items == () and points(graphmem, scope.tenant) == 0
    again = graphmem.remember(who, Remember("hobby", "chess")).memory
    assert again is not None and again.mid != first.mid
    settled(graphmem, scope.tenant)
    assert [h.memory.mid for h in graphmem.search(who, "chess").items] == [again.mid] and points(graphmem, scope.tenant) == 1
    assert graphmem.check(scope.tenant)[0].clean
