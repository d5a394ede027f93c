"""One person's memory over the list graph, for the examples of the judge.

Times are days (`at=3` was said on day 3); the clock stands at day 400, so a statement `at=3` arrives late unless everything before it was
said earlier. `say` is speech, `tell` a deliberate statement.
"""

from __future__ import annotations

from typing import Any

from graphmem.memory import Verdict
from tests.driver import BEGIN, Pure, slot_of
from tests.oracle_lines import DAY, Line, Words

NOW = 400


def ms(day: float | None) -> int | None:
    return None if day is None else BEGIN + round(day * DAY)


class Life:
    """`say`, `tell` → the verdict; `told(day)` → what is told then, as `key polarity value` without the key when all share one."""

    def __init__(self) -> None:
        self.product = Pure()
        self.product.wait(NOW * DAY)

    def tell(self, key: str, value: str | None, at: float | None = None, **how: Any) -> Verdict:
        for name in ("start", "ends_at"):
            how[name] = ms(how.get(name))
        whole = how.get("whole_key", False)
        end = how.pop("is_end", value is None and not whole)
        words = Words(
            key,
            None if value is None else value.lstrip("-"),
            ms(at),
            "-" if whole or (value or "").startswith("-") else "+",
            is_end=end,
            **how,
        )
        self.learnt = self.product.say(words)
        return self.product.verdicts[-1]

    def say(self, key: str, value: str | None, at: float | None = None, **how: Any) -> Verdict:
        return self.tell(key, value, at, deliberate=False, **how)

    def told(self, day: float, known: int | None = None) -> list[str]:
        found = self.product.told(BEGIN + round(day * DAY), self.product.graph.at if known is None else known)
        return sorted(("-" if x.polarity == "-" else "") + x.value for x in found)

    def pending(self, day: float = NOW, known: int | None = None) -> list[str]:
        found = self.product.shown(BEGIN + round(day * DAY), self.product.graph.at if known is None else known)
        return sorted(("-" if x.polarity == "-" else "") + x.value for x in found)

    def wait(self, days: float) -> None:
        self.product.wait(round(days * DAY))

    def decide(self, what: str, value: str, *, pending: bool = False) -> None:
        rows = [p.row for p in self.product.graph.pendings.values() if p.open()] if pending else list(self.product.graph.rows.values())
        row = next(r for r in rows if r.value == value and r.retracted_at is None)
        line = Line(slot_of(row), row.kind.value, row.value, row.polarity, row.version, row.said_at, row.valid_from, row.recorded_at)
        self.product.decide(what, line)

    def versions(self) -> list[tuple[int, str | None]]:
        return sorted((r.version, r.value) for r in self.product.graph.rows.values())
