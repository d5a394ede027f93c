"""What a question about a past day reads is a part of the history: it gives the answers that the whole history gives."""

from __future__ import annotations

import random

import pytest

from graphmem.validity import Ledger, Ms, Row
from tests.driver import SHAPES, History, Pure, random_steps

HISTORIES = 40
GROUPS = (
    ("home_city", "hobby", "age"),
    ("coffee_preference", "tea_preference", "food_preference"),
    ("phone", "name", "allergy"),
    tuple(SHAPES),
)


def answers(ledger: Ledger, t: Ms, k: Ms, key: str | None = None) -> list[tuple[str, Ms, str | None]]:
    """What is told, until when, and what ends it."""
    found = []
    for row in ledger.all_told(t, k):
        until, by = ledger.end(row, k)
        if key in (None, row.key):
            found.append((row.mid, until, None if by is None else by.mid))
    return found


def of_key(rows: list[Row], key: str) -> list[Row]:
    """The rows of a key and what is said about the same things elsewhere: what `rows_of_key` reads."""
    things = {r.thing for r in rows if r.key == key and r.ckey}
    return [r for r in rows if r.key == key or r.thing in things]


@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_rows_that_were_over_by_then_decide_nothing_that_is_told_then(group: int) -> None:
    asked = told = left_out = 0
    for seed in range(HISTORIES):
        rng = random.Random(f"{group}-{seed}")
        product = Pure()
        history = History(product)
        for step in random_steps(rng, 14, GROUPS[group]):
            history.take(step)
        rows, k = list(product.graph.rows.values()), max(product.graph.clock, product.graph.at)
        whole = Ledger(rows)
        for t in {m + d for m in history.marks for d in (-1, 0, 1, 86_400_000)}:
            after = [r for r in rows if r.until > t]
            expected = answers(whole, t, k)
            assert answers(Ledger(after), t, k) == expected, (group, seed, t)
            for key in {r.key for r in rows}:
                mine = [a for a in expected if a in answers(whole, t, k, key)]
                assert answers(Ledger(of_key(rows, key)), t, k, key) == mine
                assert answers(Ledger(of_key(after, key)), t, k, key) == mine
            asked, told, left_out = asked + 1, told + len(expected), left_out + len(rows) - len(after)
    print(f"{HISTORIES} histories, {asked} questions, {told} told, {left_out} rows not read")
    assert told > asked / 4 and left_out > 500
