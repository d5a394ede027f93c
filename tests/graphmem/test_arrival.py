"""Arrival order does not matter: the same deliberate statements give the same answers, now and at past moments."""

from __future__ import annotations

import random

import pytest

from tests.fakes import ListGraph
from tests.statements import BY_ARITY, DAY, Said, random_set, tell

SETS = 1000


def _graph(order: list[Said]) -> ListGraph:
    graph = ListGraph(clock=1000 * DAY)
    for said in order:
        tell(graph, said)
    return graph


def moments(statements: list[Said]) -> list[int]:
    marks = sorted({s.at for s in statements} | {s.start for s in statements if s.start is not None})
    return sorted({m + d for m in marks for d in (-1, 0, 1, 90 * DAY, 179 * DAY, 181 * DAY)} | {600 * DAY})


@pytest.mark.parametrize("arity", sorted(BY_ARITY))
def test_the_same_statements_give_the_same_answers_in_whatever_order_they_arrive(arity: str) -> None:
    for seed in range(SETS):
        rng = random.Random(f"{arity}-{seed}")
        said = random_set(rng, arity)
        shuffled = said[:]
        rng.shuffle(shuffled)
        first, second = _graph(said), _graph(shuffled)
        for t in moments(said):
            assert first.told(t) == second.told(t), f"seed {arity}-{seed} at day {t / DAY}: {said} against {shuffled}"
