"""Whole lists by the page: every memory once, none missing, filter and page together, whichever order is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

import pytest

from graphmem.answers import Memory, MemoryFilter, Page, Remember
from graphmem.app import Graphmem
from graphmem.memory import Status
from graphmem.scope import Scope
from graphmem.timeline import TimelineQuery
from tests.counting import at_once, results
from tests.graph_view import ago


def pages(g: Graphmem, scope: Scope, where: MemoryFilter, size: int) -> Iterator[Page]:
    cursor: str | None = None
    while True:
        page = g.memories(scope, where, limit=size, cursor=cursor)
        yield page
        cursor = page.next
        if not page.has_next:
            assert cursor is None
            return


def mids(found: list[Page]) -> list[str]:
    return [m.mid for page in found for m in page.items]


def remembered(g: Graphmem, scope: Scope, asks: list[Remember]) -> list[Memory]:
    done = results(at_once([partial(g.remember, scope, ask) for ask in asks], 8))
    return [d.memory for d in done if d.memory is not None]


@pytest.mark.parametrize("order", ["event", "recorded"])
def test_pag_01_two_hundred_and_fifty_memories_come_in_three_pages_none_twice_none_missing(
    graphmem: Graphmem, scope: Scope, order: Literal["event", "recorded"]
) -> None:
    # every ten of them begin in the same instant: a cursor by time alone would lose or repeat some
    moments = [ago(days=n // 10 + 1) for n in range(250)]
    made = remembered(graphmem, scope, [Remember("hobby", f"puzzle {n}", said_at=at) for n, at in enumerate(moments)])
    found = list(pages(graphmem, scope, MemoryFilter(order=order), 100))
    assert [(len(p.items), p.total, p.has_next) for p in found] == [(100, 250, True), (100, 250, True), (50, 250, False)]
    assert sorted(mids(found)) == sorted(m.mid for m in made) and len(set(mids(found))) == 250
    times = [m.recorded_at if order == "recorded" else m.valid_from for p in found for m in p.items]
    assert times == sorted(times, reverse=True)  # type: ignore[type-var]
    assert mids(list(pages(graphmem, scope, MemoryFilter(order=order), 7))) == mids(found)


def test_pag_02_filter_and_page_combine_and_the_total_counts_what_the_filter_lets_through(graphmem: Graphmem, scope: Scope) -> None:
    old = [Remember("home_city", f"old {n}", subject=f"friend:{n}", said_at=ago(days=9)) for n in range(45)]
    new = [Remember("home_city", f"new {n}", subject=f"friend:{n}", said_at=ago(days=2)) for n in range(45)]
    remembered(graphmem, scope, old)
    remembered(graphmem, scope, new)
    for status, word in ((None, "new"), (Status.ACTIVE, "new"), (Status.SUPERSEDED, "old")):
        found = list(pages(graphmem, scope, MemoryFilter(status=status), 20))
        assert [(len(p.items), p.total, p.has_next) for p in found] == [(20, 45, True), (20, 45, True), (5, 45, False)]
        assert {m.value for p in found for m in p.items} == {f"{word} {n}" for n in range(45)}
    then = list(pages(graphmem, scope, MemoryFilter(as_of=ago(days=5)), 20))
    assert {m.value for p in then for m in p.items} == {f"old {n}" for n in range(45)}


def test_a_walk_is_not_disturbed_by_what_is_written_meanwhile(graphmem: Graphmem, scope: Scope) -> None:
    made = remembered(graphmem, scope, [Remember("hobby", f"puzzle {n}", said_at=ago(days=n + 1)) for n in range(30)])
    first = graphmem.memories(scope, limit=10)
    remembered(graphmem, scope, [Remember("hobby", f"newer {n}") for n in range(5)])
    rest, cursor = list(first.items), first.next
    while cursor is not None:
        page = graphmem.memories(scope, limit=10, cursor=cursor)
        rest, cursor = [*rest, *page.items], page.next
    assert [m.mid for m in rest] == [m.mid for m in sorted(made, key=lambda m: (m.valid_from or m.said_at, m.mid), reverse=True)]


def test_a_timeline_walks_every_version_of_a_key_once_in_both_orders(graphmem: Graphmem, scope: Scope) -> None:
    made = remembered(graphmem, scope, [Remember("employer", f"Mill {n}", said_at=ago(days=n // 3 + 1)) for n in range(60)])
    remembered(graphmem, scope, [Remember("hobby", "chess"), Remember("coffee_preference", "latte")])
    orders: tuple[Literal["event", "recorded"], ...] = ("event", "recorded")
    for order in orders:
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = graphmem.timeline(scope, TimelineQuery(key="employer", order=order, limit=25, cursor=cursor))
            assert page.total == 60
            seen += [e.memory.mid for e in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert len(seen) == 60 and set(seen) == {m.mid for m in made}
        whole = graphmem.timeline(scope, TimelineQuery(order=order, limit=100))
        assert [e.memory.mid for e in whole.items if e.memory.key == "employer"] == seen
