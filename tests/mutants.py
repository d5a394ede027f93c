"""One-line changes to the judge, each of which must turn a test red: `python -m tests.mutants [NAME …]`.

Each mutant is a copy of the package in a temporary directory with one line changed, put before the checkout on the path. Exit 1 when a
mutant survives. A line that no longer stands in the source is an error, so that the list cannot rot.
"""

# ruff: noqa: E501
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = tuple(f"tests/graphmem/test_{name}.py" for name in ("judge", "judge_changes", "judge_ends", "oracle", "arrival"))


@dataclass(frozen=True)
class Mutant:
    name: str
    module: str
    old: str
    new: str


MUTANTS = (
    Mutant("a retracted row still counts", "validity", "and (row.retracted_at is None or row.retracted_at > k)", "and True"),
    Mutant("what is learnt at k is not yet known at k", "validity", "return row.recorded_at <= k and", "return row.recorded_at < k and"),
    Mutant("a row begins a millisecond late", "validity", "return row.valid_from <= t and counts(row, k)", "return row.valid_from < t and counts(row, k)"),
    Mutant("an end opposes", "validity", "if r.polarity != row.polarity and not r.is_end and not r.inset", "if r.polarity != row.polarity and not r.inset"),
    Mutant("an inset opposes", "validity", "and not r.is_end and not r.inset and r.turn > row.turn", "and not r.is_end and r.turn > row.turn"),
    Mutant("an end wins over a value at equal start", "validity", "self.valid_from, not self.is_end, self.version)", "self.valid_from, self.is_end, self.version)"),
    Mutant("an inset is ordered by its start", "validity", "(self.said_at if self.inset else self.valid_from,", "(self.valid_from,"),
    Mutant("an inset answers after it is over", "validity", " and not (row.inset and row.ends_at is not None and row.ends_at <= t)", ""),
    Mutant("a stated end is one millisecond late", "validity", "if row.ends_at is not None and row.ends_at <= t:\n        return False", "if row.ends_at is not None and row.ends_at < t:\n        return False"),
    Mutant("a lifetime includes its last moment", "validity", "t < last_observed(row, t, k) + row.lifetime", "t <= last_observed(row, t, k) + row.lifetime"),
    Mutant("an observation counts before it was known", "validity", "for o in row.observations if o.recorded_at <= k and", "for o in row.observations if"),
    Mutant("a forgotten row is told", "validity", "if row.is_end or row.tombstoned_at is not None or not lives(row, t, k):", "if row.is_end or not lives(row, t, k):"),
    Mutant("a pending one is shown a moment too long", "validity", "or t >= row.said_at + life:", "or t > row.said_at + life:"),
    Mutant("the current row of a slot is not read again", "caches", "until=OPEN if current or row.valid_from > now else", "until="),
    Mutant("the window ends before 72 hours", "conflict", "<= case.limits.window]", "<= case.limits.window - 360_000]"),
    Mutant("the very moment is outside the window", "conflict", "fresh = [r for r in against if 0 <=", "fresh = [r for r in against if 0 <"),
    Mutant("words of change open the window for nothing", "conflict", "and not case.same_value(held) and not s.change:", "and not case.same_value(held):"),
    Mutant("a deliberate statement waits for the window", "conflict", "if s.kind is not Kind.PREFERENCE or s.deliberate or s.is_end:", "if s.kind is not Kind.PREFERENCE or s.is_end:"),
    Mutant("restating in the same moment confirms", "conflict", "if case.said_at <= p.said_at or s.is_end", "if case.said_at < p.said_at or s.is_end"),
    Mutant("an end begins with the value it ends", "conflict", "return replace(case, start=held.valid_from + 1)", "return replace(case, start=held.valid_from)"),
    Mutant("a slip keeps its own start", "conflict", "taking = replace(case, start=start,", "taking = replace(case, start=case.start,"),
    Mutant("a slip changes a proven key", "conflict", 'if not s.slip or case.rule.policy != "versioned":', "if not s.slip:"),
    Mutant("a proven change starts where it likes", "conflict", "case = replace(case, start=max(case.start, case.said_at))", "case = replace(case, start=case.start)"),
    Mutant("late looks only before now", "conflict", "if any(a < r.valid_from <= now and not r.inset", "if any(a < r.valid_from < a and not r.inset"),
    Mutant("a dual key changes by a word", "conflict", 'if rule.policy == "dual" and not trust.verified:', 'if rule.policy == "dual" and trust.verified is False:'),
    Mutant("a bare denial is told", "conflict", 'return "denial" if denied and s.grounds is None and not trust.vouched else None', "return None"),
    Mutant("a claim overrules what was said later", "placing", "<= case.said_at and r.said_at < case.said_at]", "<= case.said_at]"),
    Mutant("what arrives inside a claimed span stands", "placing", "        row = replace(row, retracted_at=case.now, overruled=True)\n", "        pass\n"),
    Mutant("a version leaves the pending one open", "conflict", "    row = place(case, book)\n    _overtake(case, book)\n    prior", "    row = place(case, book)\n    prior"),
    Mutant("an inset is judged by", "book", "self.now, insets=False)", "self.now)"),
    Mutant("a new row is missing in the kept order", "validity", "insort(order, row, key=_PLACE)", "pass"),
    Mutant("a changed row stays in the kept order", "validity", "self._orders.pop(row.slot, None)", "pass"),
    Mutant("an observation before the late arrival brings the value back", "book", "if o.at > max(start, said_at) and start <=", "if start <="),
    Mutant("a plan is looked up when it was said", "book", "return max(self.start, self.anchor)", "return self.anchor"),
    Mutant("a dated-back word claims on proven keys", "book", ' and self.rule.policy == "versioned"', ""),
    Mutant("an at a little ahead is a plan", "casework", "if at <= self.now + self.skew:", "if at <= self.now:"),
    Mutant("a dislike takes the slot of the choice", "casework", 'if s.polarity == "-" and not s.is_end:', 'if s.polarity == "?" and not s.is_end:'),
)  # fmt: skip


def mutated(mutant: Mutant, into: Path) -> None:
    """A copy of the package with the mutant's line changed. ValueError when the line does not stand there exactly once."""
    package = into / "graphmem"
    shutil.copytree(ROOT / "graphmem", package, ignore=shutil.ignore_patterns("__pycache__"))
    file = package / f"{mutant.module}.py"
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: {mutant.old!r} stands {text.count(mutant.old)} times in {mutant.module}.py")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


def red(mutant: Mutant) -> str | None:
    """The first test that goes red over the mutant, None when it survives."""
    with tempfile.TemporaryDirectory(prefix="graphmem-mutant-") as name:
        into = Path(name)
        mutated(mutant, into)
        shutil.copytree(ROOT / "tests", into / "tests", ignore=shutil.ignore_patterns("__pycache__", "corpus"))
        for link in ("cypher", "pyproject.toml"):
            (into / link).symlink_to(ROOT / link)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *TESTS]
        env = {**os.environ, "PYTHONPATH": str(into), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, cwd=into, env=env, capture_output=True, text=True, check=False)
        failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if run.returncode == 0:
            return None
        return (
            failed[0].split(" - ")[0].removeprefix("FAILED ").split("::")[-1] if failed else f"exit {run.returncode}: {run.stdout[-300:]}"
        )


def main(names: list[str]) -> int:
    chosen = [m for m in MUTANTS if not names or m.name in names]
    survivors = 0
    with ThreadPoolExecutor(2) as pool:
        for mutant, test in zip(chosen, pool.map(red, chosen), strict=True):
            print(f"{mutant.module:9} {mutant.name}: {'SURVIVES' if test is None else test}", flush=True)
            survivors += test is None
    print(f"{len(chosen)} mutants, {survivors} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
