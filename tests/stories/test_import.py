"""Files into the graph and out of it again: nothing twice, nothing lost, history in any order, the same rows after a round trip."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.bulk import ImportAsk, Imported
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.memory import Kind, Turn, Verdict
from graphmem.scope import Scope
from tests import conftest
from tests.conftest import Neo4jServer
from tests.graph_view import edges
from tests.terminal import Terminal, environment

ROOT = Path(__file__).resolve().parents[2]
START = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=170)
"""Young enough for preferences of the first day to be told still."""


TENANTS: list[str] = []
"""Tenants of the running test."""


def new_tenant() -> str:
    """A tenant that no other test has."""
    TENANTS.append(conftest.new_tenant())
    return TENANTS[-1]


@pytest.fixture(autouse=True)
def _left_unprojected(graphmem: Graphmem) -> Iterator[None]:
    """What a test left unprojected is forgotten, so that no later test's drain pays for it."""
    yield
    while TENANTS:
        graphmem.neo4j.implicit("outbox_clear", {"tenant_id": TENANTS.pop(), "batch": 1000})


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def day(number: int) -> str:
    return (START + timedelta(days=number)).isoformat()


def dump(g: Graphmem, tenant: str) -> str:
    return "".join(g.export(tenant))


def held(g: Graphmem, tenant: str, user: str) -> list[tuple[str, str | None, int | None, bool]]:
    return sorted((str(e.edge["key"]), e.value, e.version, e.current) for e in edges(g, Scope(tenant, user)))


def clean(g: Graphmem, tenant: str) -> bool:
    """Every invariant of the graph holds; a memory that waits for its vector is no breach of them."""
    return {b.kind for b in g.check(tenant)[0].breaks} <= {"memory_without_point"}


# --- import


def test_rows_of_many_users_become_memories_and_the_same_file_again_changes_nothing(graphmem: Graphmem, tmp_path: Path) -> None:
    tenant = new_tenant()
    rows = [{"user_id": f"u{n % 5}", "key": "likes", "value": f"茶 {n // 5}", "at": day(n)} for n in range(60)]
    ask = ImportAsk(written(tmp_path / "a.jsonl", rows))
    first = graphmem.import_file(tenant, ask)
    assert (first.rows, first.users, first.verdicts, first.replayed, first.rejected) == (60, 5, {"new": 60}, 0, 0)
    before = dump(graphmem, tenant)
    again = graphmem.import_file(tenant, ask)
    assert (again.rows, again.verdicts, again.replayed) == (60, {"new": 60}, 60)
    assert dump(graphmem, tenant) == before
    assert {m.source.ref for m in graphmem.memories(Scope(tenant, "u0")).items} == {"a.jsonl"}
    assert clean(graphmem, tenant)


def test_a_value_said_again_in_a_file_is_reinforced_and_not_doubled(graphmem: Graphmem, tmp_path: Path) -> None:
    """csv-04, small: every tenth row repeats an earlier one of the same user."""
    tenant = new_tenant()
    lines = ["user_id,kind,attribute,object,at"]
    lines += [f"u{n % 4},preference,likes,object{n - 4 if n % 10 == 9 else n},{day(n)}" for n in range(80)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = graphmem.import_file(tenant, ImportAsk(path, batch=7))
    assert done.verdicts == {"new": 72, "reinforce": 8}
    assert sum(len(edges(graphmem, Scope(tenant, f"u{n}"))) for n in range(4)) == 72


@pytest.mark.parametrize("seed", range(2))
def test_history_in_any_order_becomes_the_same_versions(graphmem: Graphmem, tmp_path: Path, seed: int) -> None:
    tenant = new_tenant()
    cities = ["Oslo", "Rome", "Lima", "Bonn", "Kyiv"]
    rows: list[dict[str, object]] = [{"user_id": "u", "key": "home_city", "value": c, "at": day(n * 10)} for n, c in enumerate(cities)]
    rows.append({"user_id": "u", "key": "home_city", "ends": True, "at": day(60)})
    random.Random(seed).shuffle(rows)
    # batches of two: late rows reach a graph that holds newer ones already
    graphmem.import_file(tenant, ImportAsk(written(tmp_path / "a.jsonl", rows), batch=2))
    scope = Scope(tenant, "u")
    for n, city in enumerate(cities):
        told = graphmem.latest(scope, "home_city", as_of=START + timedelta(days=n * 10 + 5)).items
        assert [m.value for m in told] == [city]
    assert graphmem.latest(scope, "home_city").items == ()
    assert clean(graphmem, tenant)


def test_bad_rows_are_rejected_with_their_place_and_the_corrected_file_brings_them_in(graphmem: Graphmem, tmp_path: Path) -> None:
    tenant, rejects = new_tenant(), tmp_path / "rejects.jsonl"
    rows: list[dict[str, object]] = [
        {"user_id": "u", "key": "home_city", "value": "Oslo", "at": day(0)},
        {"user_id": "u", "key": "home_city", "value": "Rome", "at": "soon"},
        {"user_id": "u", "key": "home_city", "kind": "preference", "value": "Lima"},
        {"user_id": "u", "key": "likes", "value": "tea", "confidence": 0.2},
        {"user_id": "u", "key": "likes", "value": "x\u0001"},
    ]
    done = graphmem.import_file(tenant, ImportAsk(written(tmp_path / "a.jsonl", rows), rejects=rejects))
    assert (done.verdicts, done.rejected, done.rejects) == ({"new": 1}, 4, str(rejects))
    told = [json.loads(line) for line in rejects.read_text(encoding="utf-8").splitlines()]
    assert sorted((t["_line"], t["_column"]) for t in told) == [(2, "at"), (3, "key"), (4, "confidence"), (5, "value")]
    assert all(t["_reason"] and t["user_id"] == "u" for t in told)
    corrected = tmp_path / "corrected.jsonl"
    corrected.write_text(next(line for line in rejects.read_text(encoding="utf-8").splitlines() if "soon" in line).replace("soon", day(9)))
    assert graphmem.import_file(tenant, ImportAsk(corrected)).verdicts == {"supersede": 1}


def test_a_repeated_column_stops_the_import_before_anything_is_written(graphmem: Graphmem, tmp_path: Path) -> None:
    """csv-03."""
    tenant, path = new_tenant(), tmp_path / "a.csv"
    path.write_bytes(b"user_id,kind,attribute,object,object,at\nu1,preference,likes,tea,coffee,2026-01-01T00:00:00Z\n")
    with pytest.raises(InvalidInputError) as refused:
        graphmem.import_file(tenant, ImportAsk(path))
    assert refused.value.field == "object"
    path.write_bytes(b"user_id,object\nu1,tea\n")
    with pytest.raises(InvalidInputError, match="no column gives key"):
        graphmem.import_file(tenant, ImportAsk(path))
    assert list(graphmem.reader.history(Scope(tenant, "u1")).rows) == []


def test_a_dry_run_checks_every_row_and_writes_nothing(graphmem: Graphmem, tmp_path: Path) -> None:
    tenant = new_tenant()
    rows = [
        {"user_id": "u", "key": "motto", "kind": "fact", "value": "slow"},
        {"user_id": "u", "key": "motto", "kind": "context", "value": "x"},
    ]
    done = graphmem.import_file(tenant, ImportAsk(written(tmp_path / "a.jsonl", rows), dry_run=True))
    assert (done.rows, done.rejected, done.verdicts, done.dry_run) == (2, 1, {}, True)
    assert len(dump(graphmem, tenant).splitlines()) == 1


def test_a_key_that_asks_for_a_proof_waits_also_when_it_is_imported(graphmem: Graphmem, tmp_path: Path) -> None:
    tenant = new_tenant()
    rows = [{"user_id": "u", "key": "phone", "value": v, "at": day(n)} for n, v in enumerate(("0532-0012345", "0532-7654321"))]
    done = graphmem.import_file(tenant, ImportAsk(written(tmp_path / "a.jsonl", rows)))
    assert sum(done.verdicts.values()) == 2 and done.verdicts.get("new") == 1
    assert [m.value for m in graphmem.latest(Scope(tenant, "u"), "phone").items] == ["0532-0012345"]


def test_the_command_line_imports_says_what_became_of_the_rows_and_exports(
    neo4j_server: Neo4jServer, graphmem: Graphmem, tmp_path: Path
) -> None:
    terminal = Terminal(environment(neo4j_server, tmp_path / "home"), new_tenant())
    file, rejects, out = tmp_path / "a.csv", tmp_path / "rejects.csv", tmp_path / "out.jsonl"
    file.write_bytes(f"Who;Key;Value;at\r\nu;home_city;Oslo;{day(0)}\r\nu;home_city;Rome;soon\r\n".encode())
    tenant = ("--tenant", terminal.tenant)
    assert terminal.run("import", str(file), *tenant).code == 2
    done = terminal.run("import", str(file), *tenant, "--map", "who=user_id", "--rejects", str(rejects), "-o", "json")
    assert done.code == 3 and "1 rows were rejected: see" in done.talk
    told = done.json()
    assert isinstance(told, dict) and (told["rows"], told["verdicts"], told["rejected"]) == (2, {"new": 1}, 1)
    assert rejects.read_text(encoding="utf-8").splitlines()[1].startswith("3,at,")
    assert terminal.run("export", *tenant, "--to", str(out)).code == 0
    assert out.read_text(encoding="utf-8") == terminal.run("export", *tenant).data == dump(graphmem, terminal.tenant)
    assert "Oslo" in terminal.run("export", *tenant, "--user", "u", "--format", "csv").data
    assert terminal.run("export", *tenant, "--user", "nobody").code == 7


# --- killed


def killed_after(server: Neo4jServer, home: Path, tenant: str, file: Path, rows: int) -> int:
    """Run an import in a process of its own, kill it with -9 once `rows` rows are done; how many it had said were done."""
    env = {**os.environ, "GRAPHMEM_NEO4J_URI": server.uri, "GRAPHMEM_NEO4J_USER": server.user, "GRAPHMEM_NEO4J_PASSWORD": server.password}
    command = [sys.executable, "-m", "tests.stories.importing", str(home), tenant, str(file)]
    done = 0
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            done = int(line.split()[1])
            if done >= rows:
                os.kill(child.pid, signal.SIGKILL)
                break
        child.stdout.read()
    assert child.returncode == -signal.SIGKILL
    return done


def test_an_import_killed_twice_and_resumed_stores_every_row_once(graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    tenant = new_tenant()
    rows = [{"user_id": f"u{n % 20}", "key": "likes", "value": f"thing {n}", "at": day(n % 150)} for n in range(400)]
    file = written(tmp_path / "a.jsonl", rows)
    for goal in (60, 180):
        assert goal <= killed_after(neo4j_server, tmp_path / "home", tenant, file, goal) < 400
    done = graphmem.import_file(tenant, ImportAsk(file, batch=20))
    assert (done.rows, done.verdicts, done.rejected) == (400, {"new": 400}, 0) and 180 <= done.replayed < 400
    for n in range(20):
        values = [e.value for e in edges(graphmem, Scope(tenant, f"u{n}"))]
        assert sorted(map(str, values)) == sorted(f"thing {i}" for i in range(n, 400, 20))
    assert clean(graphmem, tenant)


# --- while others write


def test_single_adds_an_import_and_a_sweep_at_once_lose_nothing_and_double_nothing(graphmem: Graphmem, tmp_path: Path) -> None:
    """con-02."""
    scope = Scope(new_tenant(), "u1")
    rows = [{"user_id": "u1", "key": f"imported_{n}", "kind": "fact", "value": f"value {n}", "at": day(n)} for n in range(100)]
    file = written(tmp_path / "a.jsonl", rows)
    over = threading.Event()

    def sweep() -> int:
        rounds = 0
        while not over.is_set():
            graphmem.sweep(scope.tenant)
            rounds += 1
        return rounds

    def add(n: int) -> Verdict | None:
        return graphmem.remember(scope, Remember(f"single_{n}", f"value {n}", kind=Kind.FACT, arity="one")).verdict

    with ThreadPoolExecutor(6) as pool:
        sweeping = pool.submit(sweep)
        importing = pool.submit(graphmem.import_file, scope.tenant, ImportAsk(file, batch=5))
        added = list(pool.map(add, range(100)))
        done: Imported = importing.result()
        over.set()
        assert sweeping.result() >= 1
    assert set(added) == {Verdict.NEW} and done.verdicts == {"new": 100}
    found = sorted((str(e.edge["key"]), e.value, e.current) for e in edges(graphmem, scope))
    assert found == sorted((f"{kind}_{n}", f"value {n}", True) for kind in ("imported", "single") for n in range(100))
    assert clean(graphmem, scope.tenant)


# --- round trips


def lived(g: Graphmem, tenant: str) -> None:
    """Two people with turns, versions, ends, a review, something forgotten, something pending, an open key and a relation."""
    ann, li = Scope(tenant, "Ann"), Scope(tenant, "李雷")
    g.inject(ann, Turn("I live in Oslo.", session_id="s1", turn_id="t1", at=START))
    g.inject(ann, Turn("I moved to Rome.", session_id="s1", turn_id="t2", at=START + timedelta(days=30)))
    g.inject(li, Turn("我对花生过敏。", session_id="s/2", turn_id="t1", at=START))
    g.remember(li, Remember("phone", "0532-0012345", said_at=START))
    g.remember(li, Remember("phone", "0532-7654321", said_at=START + timedelta(days=2)))
    g.remember(ann, Remember("motto", 'slow; "but" \\ sure\n', kind=Kind.FACT, arity="one", said_at=START, metadata={"page": 3}))
    g.remember(ann, Remember("likes", "tea", said_at=START + timedelta(days=100)))
    g.remember(ann, Remember("likes", "tea", polarity="-", said_at=START + timedelta(days=110)))
    gone = g.remember(ann, Remember("hobby", "chess", said_at=START)).memory
    assert gone is not None
    g.forget(ann, gone.mid)
    g.remember(ann, Remember("hobby", "go", said_at=START))


def told(g: Graphmem, tenant: str) -> list[tuple[str, str, str | None, str]]:
    return sorted((user, m.key, m.value, m.polarity) for user in ("Ann", "李雷") for m in g.memories(Scope(tenant, user), limit=100).items)


def test_an_export_comes_back_into_an_empty_tenant_exactly(graphmem: Graphmem, tmp_path: Path) -> None:
    one, two = new_tenant(), new_tenant()
    lived(graphmem, one)
    text = dump(graphmem, one)
    assert one not in text and text.count('"type": "memory"') >= 9 and text.count('"type": "review"') >= 1
    path = tmp_path / "all.jsonl"
    path.write_text(text, encoding="utf-8")
    done = graphmem.import_file(two, ImportAsk(path))
    assert done.users == 2 and dump(graphmem, two) == text
    # a second time, as after a kill, makes nothing twice
    assert graphmem.import_file(two, ImportAsk(path)).verdicts == {"restored": 0} and dump(graphmem, two) == text
    assert told(graphmem, two) == told(graphmem, one)
    graphmem.drain()
    assert graphmem.check(two)[0].clean
    mid = graphmem.latest(Scope(two, "Ann"), "home_city").items[0].mid
    assert graphmem.why(Scope(two, "Ann"), mid) is not None
    # and life goes on from there
    assert graphmem.remember(Scope(two, "Ann"), Remember("home_city", "Lima")).verdict is Verdict.SUPERSEDE


def test_an_export_does_not_come_back_over_other_memories_of_the_user(graphmem: Graphmem, tmp_path: Path) -> None:
    one, two = new_tenant(), new_tenant()
    graphmem.remember(Scope(one, "u"), Remember("home_city", "Oslo", said_at=START))
    graphmem.remember(Scope(two, "u"), Remember("home_city", "Rome", said_at=START))
    path = tmp_path / "all.jsonl"
    path.write_text(dump(graphmem, one), encoding="utf-8")
    with pytest.raises(ConflictError) as refused:
        graphmem.import_file(two, ImportAsk(path))
    assert refused.value.code == "not_empty"
    assert [e.value for e in edges(graphmem, Scope(two, "u"))] == ["Rome"]


def test_a_script_makes_the_same_memories_again(graphmem: Graphmem) -> None:
    tenant = new_tenant()
    lived(graphmem, tenant)
    text, script = dump(graphmem, tenant), "".join(graphmem.export(tenant, "cypher"))
    graphmem.wipe(tenant)
    assert len(dump(graphmem, tenant).splitlines()) == 1
    statements = [s for s in re.sub(r"(?m)^//.*\n", "", script).split(";\n") if s.strip()]
    for statement in statements * 2:
        graphmem.neo4j.text(statement)
    assert dump(graphmem, tenant) == text


def test_a_table_of_what_is_told_is_itself_an_import(graphmem: Graphmem, tmp_path: Path) -> None:
    one, two = new_tenant(), new_tenant()
    lived(graphmem, one)
    path = tmp_path / "told.csv"
    path.write_text("".join(graphmem.export(one, "csv")), encoding="utf-8", newline="")
    done = graphmem.import_file(two, ImportAsk(path))
    assert done.rejected == 0 and told(graphmem, two) == told(graphmem, one)


def test_an_export_of_one_user_holds_nobody_else_and_an_unknown_one_is_not_found(graphmem: Graphmem) -> None:
    tenant = new_tenant()
    lived(graphmem, tenant)
    text = "".join(graphmem.export(tenant, user="Ann"))
    assert "Oslo" in text and "李雷" not in text and "花生" not in text
    with pytest.raises(NotFoundError):
        list(graphmem.export(tenant, user="nobody"))
