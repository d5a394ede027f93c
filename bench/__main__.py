"""`python -m bench [--only NAME] [--rounds 5] [--quick]`: a table, bench/results.json, exit code 0."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench import check, graphql, hits, offline, past, reads, writes
from bench.rig import Rig, rig
from bench.rows import Row, line, summary, write
from bench.timing import Effort

RESULTS = Path(__file__).with_name("results.json")
GROUPS = ("offline", "graphql", "hits", "reads", "writes", "past", "check")


def main() -> int:
    """Always 0: a missed target is a number to read, not a failure of the run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=GROUPS, action="append", help="run this group alone (may be given more than once)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which medians are taken (default 5)")
    parser.add_argument("--quick", action="store_true", help="fewer requests a round: to see that it runs")
    asked = parser.parse_args()
    wanted = tuple(asked.only or GROUPS)
    rows: list[Row] = []
    if "offline" in wanted:
        rows += _told("offline", lambda: offline.measure(200 if asked.quick else 2_000))
    if "graphql" in wanted:
        rows += _told("graphql", lambda: graphql.measure(Effort(max(1, asked.rounds), 10 if asked.quick else 50)))
    if set(wanted) - {"offline", "graphql"}:
        with rig() as made:
            rows += _stored(made, wanted, max(1, asked.rounds), quick=asked.quick)
    write(rows, RESULTS)
    print(f"\n{summary(rows)} ({RESULTS.name} written)")
    return 0


def _stored(made: Rig, wanted: tuple[str, ...], rounds: int, *, quick: bool) -> list[Row]:
    rows: list[Row] = []
    if "hits" in wanted:
        rows += _told("hits", lambda: hits.measure(made))
    if "reads" in wanted:
        rows += _told("reads", lambda: reads.measure(made, Effort(rounds, 10 if quick else 100)))
    if "writes" in wanted:
        rows += _told("writes", lambda: writes.measure(made, Effort(rounds, 5 if quick else 20)))
    if "past" in wanted:
        rows += _told("past", lambda: past.measure(made, Effort(rounds, 5 if quick else 20)))
    if "check" in wanted:
        rows += _told("check", lambda: check.measure(made, 6_000 if quick else check.MEMORIES))
    return rows


def _told(name: str, measure: Callable[[], list[Row]]) -> list[Row]:
    began = time.monotonic()
    rows = measure()
    print(f"\n{name} ({time.monotonic() - began:.0f} s)")
    for r in rows:
        print("  " + line(r), flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
