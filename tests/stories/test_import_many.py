"""Many rows: counts that are exact, memory that stays flat, kills anywhere, and everything back out of an export."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.importing import written
from graphmem.app import Graphmem
from graphmem.bulk import ImportAsk
from graphmem.importing.load import BATCH
from tests.conftest import Neo4jServer, new_tenant

ROOT = Path(__file__).resolve().parents[2]

GROWTH_MB = 300
"""Most that the import's process may grow from its first batch on (csv-04)."""


@pytest.fixture
def tenant(graphmem: Graphmem) -> Iterator[str]:
    """A tenant of its own; nothing of it is left for later drains and checks to pay for."""
    name = new_tenant()
    yield name
    graphmem.neo4j.implicit("outbox_clear", {"tenant_id": name, "batch": 10_000})
    graphmem.wipe(name)


def unprojected(g: Graphmem, tenant: str) -> tuple[int, set[str]]:
    """Memories of the graph, and what is wrong with them; a vector that is still missing is nothing wrong."""
    report = g.check(tenant)[0]
    return report.memories, {b.kind for b in report.breaks} - {"memory_without_point"}


@dataclass(frozen=True, slots=True)
class Ran:
    """How far a process came, and its memory after the first batch and at most, in MB."""

    done: int
    first_mb: int
    peak_mb: int


def process(server: Neo4jServer, home: Path, tenant: str, file: Path, kill_at: int | None) -> Ran:
    """An import in a process of its own, killed with -9 once so many rows are done (None: it comes to its end)."""
    env = {**os.environ, "GRAPHMEM_NEO4J_URI": server.uri, "GRAPHMEM_NEO4J_USER": server.user, "GRAPHMEM_NEO4J_PASSWORD": server.password}
    command = [sys.executable, "-m", "tests.stories.importing", str(home), tenant, str(file), str(BATCH)]
    done = first = peak = 0
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            stage, rows, mb = line.split()
            if stage == "writing":
                done, first, peak = int(rows), first or int(mb), max(peak, int(mb))
            if kill_at is not None and done >= kill_at:
                os.kill(child.pid, signal.SIGKILL)
                break
        child.stdout.read()
    assert child.returncode == (0 if kill_at is None else -signal.SIGKILL)
    return Ran(done, first, peak)


def test_twenty_thousand_rows_of_two_hundred_users_are_counted_exactly_and_found_done_again(
    graphmem: Graphmem, tenant: str, tmp_path: Path
) -> None:
    path = tmp_path / "statements.jsonl"
    expected = written(path, 20_000, 200)
    done = graphmem.import_file(tenant, ImportAsk(path))
    assert (done.rows, done.users, done.rejected, done.replayed) == (20_000, 200, 0, 0)
    assert done.verdicts["new"] + done.verdicts["supersede"] == expected
    assert sum(done.verdicts.values()) == 20_000 and done.verdicts["reinforce"] == 20_000 - expected
    assert unprojected(graphmem, tenant) == (expected, set())
    again = graphmem.import_file(tenant, ImportAsk(path))
    assert (again.replayed, again.verdicts) == (20_000, done.verdicts)


@pytest.mark.long
def test_an_import_killed_at_random_points_stores_every_row_once(
    graphmem: Graphmem, tenant: str, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    path, chance = tmp_path / "statements.jsonl", random.Random(5)
    expected = written(path, 10_000, 100)
    points = sorted(chance.sample(range(200, 9_500), 6))
    for point in points:
        assert process(neo4j_server, tmp_path / "home", tenant, path, point).done >= point
    done = graphmem.import_file(tenant, ImportAsk(path))
    assert (done.rows, done.rejected) == (10_000, 0) and done.replayed >= points[-1] - BATCH
    assert unprojected(graphmem, tenant) == (expected, set())


@pytest.mark.long
def test_a_large_csv_killed_at_sixty_per_cent_ends_with_every_repetition_reinforced_and_memory_flat(
    graphmem: Graphmem, tenant: str, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    """csv-04 at a tenth of its size (`make bench-import ROWS=1000000 KILLS=3` is the whole): every hundredth row repeats an earlier one."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows, path, home = 100_000, tmp_path / "a.csv", tmp_path / "home"
    with path.open("w", encoding="utf-8") as stream:
        stream.write("user_id,kind,attribute,object,at\n")
        for n in range(rows):
            said = n - 1 if n % 100 == 99 else n
            stream.write(f"u{said % 1000},preference,likes,object{said},{(start + timedelta(seconds=n)).isoformat()}\n")
    repeated = rows // 100
    first = process(neo4j_server, home, tenant, path, rows * 6 // 10)
    second = process(neo4j_server, home, tenant, path, None)
    assert second.done == rows
    for ran in (first, second):
        assert ran.peak_mb - ran.first_mb < GROWTH_MB and ran.peak_mb < 1000
    done = graphmem.import_file(tenant, ImportAsk(path))
    assert done.replayed == rows and done.verdicts == {"new": rows - repeated, "reinforce": repeated}
    assert unprojected(graphmem, tenant) == (rows - repeated, set())


@pytest.mark.long
def test_a_hundred_thousand_statements_come_back_from_their_export_into_an_empty_graph_exactly(
    graphmem: Graphmem, tenant: str, tmp_path: Path
) -> None:
    path, out = tmp_path / "statements.jsonl", tmp_path / "out.jsonl"
    expected = written(path, 100_000, 1_000)
    graphmem.import_file(tenant, ImportAsk(path))
    with out.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(graphmem.export(tenant))
    graphmem.wipe(tenant)
    assert len(list(graphmem.export(tenant))) == 1
    done = graphmem.import_file(tenant, ImportAsk(out))
    assert (done.users, done.verdicts) == (1_000, {"restored": expected})
    with out.open(encoding="utf-8", newline="") as stream:
        assert all(piece == line for piece, line in zip(graphmem.export(tenant), stream, strict=True))
    assert unprojected(graphmem, tenant) == (expected, set())
