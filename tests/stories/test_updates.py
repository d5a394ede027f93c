"""A long stream of additions, changes and deletions, in order: what holds afterwards is exactly what was left, nothing retired is told.

The stream is made here, from a fixed seed; the model it is checked against is a dictionary of sets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from graphmem.app import Graphmem
from graphmem.evalfile import Pair, State, Update
from graphmem.evaltarget import StoredTarget
from graphmem.memory import Polarity

USERS, UPDATES, WORKERS = 20, 1_206, 4
KEYS = ("drink", "sport", "阅读", "music", "饮食")
VALUES = tuple(f"{word} {n}" for word in ("green", "quiet", "early", "木", "风") for n in range(4))
Op = Literal["add", "modify", "delete"]
OPS: tuple[Op, ...] = ("add", "add", "add", "modify", "modify", "delete")
START = datetime(2026, 1, 5, 8, tzinfo=UTC)


@dataclass
class Life:
    """What one user said, and what it leaves: the model."""

    user: str
    updates: list[Update] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    held: dict[str, dict[str, Polarity]] = field(default_factory=lambda: {key: {} for key in KEYS})
    retired: dict[str, set[Pair]] = field(default_factory=lambda: {key: set() for key in KEYS})

    def step(self, rng: random.Random, number: int) -> None:
        key = rng.choice(KEYS)
        held = self.held[key]
        op: Op = rng.choice(OPS) if held else "add"
        old = rng.choice(sorted(held)) if op != "add" else None
        new = rng.choice([v for v in VALUES if v not in held]) if op != "delete" else None
        polarity: Polarity = "-" if rng.random() < 0.25 else "+"
        self._tell(number, key, op, old, new, polarity)
        if old is not None:
            self.retired[key].add((held.pop(old), old))
        if new is not None:
            held[new] = polarity

    def _tell(self, number: int, key: str, op: Op, old: str | None, new: str | None, polarity: Polarity) -> None:
        at = START + timedelta(hours=7 * number)
        told = {"user": self.user, "id": f"{self.user}-{number}", "time": at, "key": key, "op": op, "polarity": polarity}
        self.updates.append(Update.model_validate({**told, "value": new, "old_value": old}))

    def ask(self, number: int) -> None:
        """What must hold of every key right after the update of that number, and never again of what was retired by then."""
        for key in KEYS:
            current = tuple((polarity, value) for value, polarity in sorted(self.held[key].items()))
            stale = tuple(sorted(self.retired[key] - set(current)))
            asked = {"user": self.user, "qid": f"{key}@{number}", "key": key, "as_of": START + timedelta(hours=7 * number)}
            self.states.append(State.model_validate({**asked, "current": current, "stale": stale}))


def lives() -> Iterator[Life]:
    """20 users with 60 or 61 updates each; asked after a third, two thirds and all of them."""
    for n in range(USERS):
        rng, life = random.Random(n), Life(f"user-{n}")
        count = UPDATES // USERS + (n < UPDATES % USERS)
        for number in range(count):
            life.step(rng, number)
            if number in (count // 3, 2 * count // 3, count - 1):
                life.ask(number)
        yield life


def test_after_1206_updates_of_20_users_each_current_set_is_exact_and_nothing_retired_is_told(graphmem: Graphmem) -> None:
    told = list(lives())
    assert sum(len(life.updates) for life in told) == UPDATES
    assert {u.op for life in told for u in life.updates} == {"add", "modify", "delete"}
    with StoredTarget(graphmem) as target, ThreadPoolExecutor(WORKERS) as pool:
        answers = list(pool.map(lambda life: target.updates(life.updates, life.states), told))
        asked = [(state, set(found[state.qid])) for life, found in zip(told, answers, strict=True) for state in life.states]
        assert len(asked) == USERS * len(KEYS) * 3
        assert sum(len(state.stale) for state, _ in asked) > 900
        assert [(state.qid, found) for state, found in asked if found != set(state.current)] == []
        assert [(state.qid, pair) for state, found in asked for pair in state.stale if pair in found] == []
        assert [b for b in graphmem.check(target.tenant)[0].breaks if b.kind != "memory_without_point"] == []
