"""`python -m bench.importing [--rows N] [--users N] [--kills N]`: statements a second of an import, beside a raw UNWIND of its elements.

The import runs in a process of its own, which is killed with -9 `kills` times and started again with the same file. Its resident memory is
sampled all the while. The raw arm (bench/rawunwind.py) runs in turn with it: after equal stretches the import waits between transactions
while the arm writes, so that what disturbs one disturbs both. Beside the rates stand processor seconds, which other work does not move.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from bench.costs import Cost, cpu_of
from bench.rawunwind import Raw
from bench.rig import Rig, rig
from graphmem.bulk import ImportAsk
from graphmem.check import Checker, CheckReport
from graphmem.importing.load import BATCH
from graphmem.stores.neo4j_check import Neo4jCheck

ROOT = Path(__file__).resolve().parent.parent

TOLD = 20
"""Lines of the curve that a run prints."""

TURNS = 6
"""Turns of the raw arm between the stretches of the import."""


def rows_of(rows: int, users: int) -> Iterator[dict[str, object]]:
    """Statements in no order of users or time: changing cities, likings, hobbies, notes of an open key; every two-hundredth repeats one."""
    chance = random.Random(1)
    start = int(time.time()) - 100 * 86_400
    for n in range(rows):
        one = n - users if n % 200 == 199 and n >= users else n
        key, value = (
            ("likes", f"thing {one}"),
            ("home_city", f"town {one % 97}"),
            ("hobby", f"craft {one % 499}"),
            ("note", f"note {one}"),
        )[one % 4]
        row: dict[str, object] = {"user_id": f"u{n % users}", "key": key, "value": value, "at": start + chance.random() * 8_000_000}
        yield row | ({"kind": "fact", "arity": "many"} if key == "note" else {})


def written(path: Path, rows: int, users: int) -> int:
    """Write the file; how many memories it must make: a value said again is the same one, a city ends with the next one that differs."""
    held: set[tuple[object, ...]] = set()
    cities: list[tuple[str, float, str]] = []
    with path.open("w", encoding="utf-8") as stream:
        for row in rows_of(rows, users):
            stream.write(json.dumps(row) + "\n")
            if row["key"] == "home_city":
                cities.append((str(row["user_id"]), float(str(row["at"])), str(row["value"])))
            else:
                held.add((row["user_id"], row["key"], row["value"]))
    runs = sum(1 for _ in groupby(sorted(cities), key=lambda c: (c[0], c[2])))
    return len(held) + runs


@dataclass
class Run:
    """One import of `rows` rows in one or several processes, the raw arm in between: what it cost and what its last process said.

    starts: what it cost until the processes were open; the raw arm's is open already, so it is told apart.
    """

    made: Rig
    path: Path
    rows: int
    raw: Raw
    cost: Cost = field(default_factory=Cost)
    starts: Cost = field(default_factory=Cost)
    peak: int = 0
    last: int = 0
    end: Mapping[str, object] = field(default_factory=dict)

    def process(self, kill_at: int | None, stops: Sequence[int]) -> bool:
        """One process, until it ends (True) or has done `kill_at` rows and is killed; the raw arm has its turn at each of `stops`."""
        before, starting = _children(), 0.0
        began, server = time.monotonic(), cpu_of(self.made.pid)
        with subprocess.Popen(self._command(stops), cwd=ROOT, env=self._env(), stdin=-1, stdout=-1, text=True) as child:
            for said in child.stdout or ():
                now = json.loads(said)
                if "opened" in now:
                    starting = now["opened"]
                    self.starts += Cost(0, time.monotonic() - began, starting, cpu_of(self.made.pid) - server)
                    began, server = time.monotonic(), cpu_of(self.made.pid)
                    continue
                if "done" not in now:
                    self.end = now
                    continue
                self._point(self.cost.wall + time.monotonic() - began, now["done"], now["mb"])
                if kill_at is not None and now["done"] >= kill_at:
                    os.kill(child.pid, signal.SIGKILL)
                    break
                if now["waits"]:
                    self.cost += Cost(0, time.monotonic() - began, 0.0, cpu_of(self.made.pid) - server)
                    self.raw.arm(self.made)
                    began, server = time.monotonic(), cpu_of(self.made.pid)
                    self._go(child)
        self.cost += Cost(0, time.monotonic() - began, _children() - before - starting, cpu_of(self.made.pid) - server)
        if kill_at is None and child.returncode != 0:
            raise SystemExit(f"the import ended with {child.returncode}")
        return kill_at is None

    def _point(self, seconds: float, done: int, mb: int) -> None:
        self.peak = max(self.peak, mb)
        step = max(1, self.rows // TOLD)
        if done // step > self.last // step:
            print(f"  {seconds:7.0f} s {done:>9} rows done {mb:>5} MB, load {load():.1f}", flush=True)
            self.last = done

    def _command(self, stops: Sequence[int]) -> list[str]:
        return [sys.executable, "-m", "bench.importing_process", str(self.path), self.made.tenant, *map(str, stops)]

    def _env(self) -> dict[str, str]:
        held = self.made.login
        login = {"URI": held.uri, "USER": held.user, "PASSWORD": held.password}
        named = {f"GRAPHMEM_NEO4J_{k}": v for k, v in login.items()}
        return {**os.environ, **named, "GRAPHMEM_HOME": str(self.path.parent / "home")}

    def _go(self, child: subprocess.Popen[str]) -> None:
        if child.stdin is not None:
            child.stdin.write("go\n")
            child.stdin.flush()


def _children() -> float:
    """Processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def imported(made: Rig, path: Path, rows: int, kills: int, raw: Raw) -> Run:
    """The whole import: killed at random points of equal stretches, begun again, the raw arm in between."""
    chance, run = random.Random(7), Run(made, path, rows, raw)
    stops = [rows * (k + 1) // (TURNS + 1) for k in range(TURNS)]
    points = [int(rows * (k + chance.uniform(0.3, 0.9)) / (kills + 1)) for k in range(kills)]
    for before, point in zip([0, *points], points, strict=False):
        run.process(point, [s for s in stops if before < s < point])
        print(f"killed after {point} of {rows} rows; {run.cost.wall:.0f} s so far", flush=True)
    run.process(None, [s for s in stops if s > (points or [0])[-1]])
    run.cost += Cost(rows)
    return run


class _Nothing:
    """Nothing that must stand in the index: the graph's own invariants are what is checked here."""

    def memories(self, tenant: str) -> Iterator[Mapping[str, object]]:
        return iter(())

    turns = memories


def checked(made: Rig) -> CheckReport:
    """Every invariant of the graph itself; nothing was projected."""
    made.app.index.ensure(made.tenant)
    return Checker(Neo4jCheck(made.neo4j), _Nothing(), made.app.index, lambda _, ref: ref).check(made.tenant, 0)


def load() -> float:
    """The machine's load over the last minute."""
    return os.getloadavg()[0]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.importing", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--ready", action="store_true", help="the raw arm's times are made ready for the wire before it is measured")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder, rig() as made:
        path = Path(folder) / "statements.jsonl"
        expected = written(path, asked.rows, asked.users)
        size = path.stat().st_size >> 20
        print(f"{asked.rows} rows of {asked.users} users, {size} MB; {os.cpu_count()} cores, load {load():.1f}", flush=True)
        run = imported(made, path, asked.rows, asked.kills, Raw(asked.rows // TURNS, asked.ready))
        cost, raw = run.cost, run.raw.cost
        print(f"import: {cost.said()}; {json.dumps(run.end)}")
        print(f"until its {asked.kills + 1} processes were open: {run.starts.wall:.1f} s, {run.starts.client:.1f} s of their processor")
        print(f"peak RSS of the import's process: {run.peak} MB", flush=True)
        print(f"raw UNWIND: {raw.said()}")
        print(f"import / raw = {cost.rate / raw.rate:.2f} by the clock, {raw.per_row / cost.per_row:.2f} by processor time", flush=True)
        began = time.monotonic()
        again = made.app.import_file(made.tenant, ImportAsk(path))
        print(f"the same again: {again.replayed} of {again.rows} found done in {time.monotonic() - began:.0f} s")
        began = time.monotonic()
        report = checked(made)
        exact = f"{report.memories} memories of {report.users} users"
        if asked.rows <= asked.users * BATCH:  # the judge hears a user's rows of one batch in the order of their times
            exact += f", {expected} expected" + ("" if expected == report.memories else ": WRONG")
        print(f"check: {exact}; {len(report.breaks)} breaks {list(report.breaks[:3]) or ''} in {time.monotonic() - began:.0f} s")
        print(f"load at the end {load():.1f}")


if __name__ == "__main__":
    main()
