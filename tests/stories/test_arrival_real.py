"""Arrival order does not matter, on the real graph: the sets of test_arrival through the façade, in said order and shuffled."""

from __future__ import annotations

import random

import pytest

from graphmem.answers import MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.memory import from_ms
from graphmem.scope import Scope
from tests.statements import BY_ARITY, DAY, Said, random_set

SETS = 20
"""A set for each kind of key: a hundred in all."""


def _tell(graphmem: Graphmem, scope: Scope, order: list[Said]) -> None:
    for said in order:
        value = None if said.is_end and said.whole else said.value
        polarity = "-" if said.polarity == "-" else "+"
        ends = said.is_end and not said.whole
        graphmem.remember(scope, Remember(said.key, value, polarity=polarity, said_at=from_ms(said.at), ends=ends))  # type: ignore[arg-type]


def _told(graphmem: Graphmem, scope: Scope, day: float) -> list[tuple[str, str, str | None]]:
    page = graphmem.memories(scope, MemoryFilter(as_of=from_ms(round(day * DAY))), limit=100)
    return sorted((m.key, m.polarity, m.value) for m in page.items)


@pytest.mark.parametrize("arity", sorted(BY_ARITY))
def test_the_same_statements_give_the_same_answers_in_whatever_order_they_arrive(graphmem: Graphmem, scope: Scope, arity: str) -> None:
    for seed in range(SETS):
        rng = random.Random(f"real-{arity}-{seed}")
        said = random_set(rng, arity, claims=False)
        shuffled = said[:]
        rng.shuffle(shuffled)
        first, second = Scope(scope.tenant, f"said-{seed}"), Scope(scope.tenant, f"shuffled-{seed}")
        _tell(graphmem, first, said)
        _tell(graphmem, second, shuffled)
        for day in sorted({s.at / DAY + d for s in said for d in (0, 0.5, 181)}):
            assert _told(graphmem, first, day) == _told(graphmem, second, day), (
                f"seed {arity}-{seed} at day {day}: {said} against {shuffled}"
            )
