"""What a bench says: rows of {name, value, unit, target, holds}, as a table and as JSON. Pure but for the writing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One number. target: `<= 4.5`, `>= 0.4`, `= 2`, or "" for a number that is only told; holds is None for those."""

    name: str
    value: float | None
    unit: str
    target: str
    holds: bool | None


def row(name: str, value: float | None, unit: str, target: str = "") -> Row:
    """A row with its target judged. A value that could not be measured (None) does not hold."""
    kept = None if value is None else round(value, 3)
    return Row(name, kept, unit, target, None if not target else kept is not None and _holds(kept, target))


def _holds(value: float, target: str) -> bool:
    how, number = target.split()
    bound = float(number)
    return {"<=": value <= bound, "<": value < bound, ">=": value >= bound, "=": value == bound}[how]


def table(rows: Sequence[Row]) -> str:
    """Aligned text, one line a row; `MISSED` where a target is not held."""
    wide = max((len(r.name) for r in rows), default=0)
    return "\n".join(line(r, wide) for r in rows)


def line(r: Row, wide: int = 58) -> str:
    value = "not measured" if r.value is None else f"{r.value:,.3f}".rstrip("0").rstrip(".")
    word = {True: "holds", False: "MISSED", None: ""}[r.holds]
    return f"{r.name:<{wide}}  {value:>12} {r.unit:<14} {r.target:<9} {word}".rstrip()


def summary(rows: Iterable[Row]) -> str:
    judged = [r for r in rows if r.holds is not None]
    return f"{sum(bool(r.holds) for r in judged)} of {len(judged)} rows with a target hold"


def write(rows: Sequence[Row], path: Path) -> None:
    path.write_text(json.dumps([asdict(r) for r in rows], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
