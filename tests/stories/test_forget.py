"""Forgetting: unreadable from the commit on, on every path; back within 72 hours. On the real graph and index."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphmem.answers import Ask, Memory, MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.errors import ConflictError, NotFoundError
from graphmem.memory import Status, Turn
from graphmem.ports import IndexQuery
from graphmem.scope import Scope
from tests.graph_view import ago, edges
from tests.stories.forgetting import SAID, WORD, held, later, sound, told, values

PATHS: dict[str, Callable[[Graphmem, Scope, Memory], object]] = {
    "list": lambda g, s, m: g.memories(s),
    "forgotten list": lambda g, s, m: g.memories(s, MemoryFilter(status=Status.TOMBSTONED)),
    "past list": lambda g, s, m: g.memories(s, MemoryFilter(as_of=m.recorded_at, known_at=m.recorded_at)),
    "known list": lambda g, s, m: g.memories(s, MemoryFilter(known_at=m.recorded_at)),
    "latest": lambda g, s, m: g.latest(s, m.key),
    "past latest": lambda g, s, m: g.latest(s, m.key, as_of=m.recorded_at, known_at=m.recorded_at),
    "search": lambda g, s, m: g.search(s, "花生过敏"),
    "recall": lambda g, s, m: g.recall(s, Ask("你还记得我对什么过敏吗？", tier="L2")),
    "evidence": lambda g, s, m: g.recall(s, Ask("花生过敏", mode="evidence", limit=100)),
    "short term": lambda g, s, m: g.recall(s, Ask("谢谢", session_id="s", tier="L1")),
    "replayed turn": lambda g, s, m: g.inject(s, Turn(SAID, session_id="s", turn_id="1")).stored,
    "timeline": lambda g, s, m: g.timeline(s),
}


def test_a_forgotten_memory_is_unreadable_at_once_on_every_path(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    told(graphmem, scope, "今天天气不错。", "2")
    graphmem.drain()
    told_before = {path: WORD in str(read(graphmem, scope, memory)) for path, read in PATHS.items()}
    assert [path for path, found in told_before.items() if not found] == ["forgotten list"]
    graphmem.forget(scope, memory.mid)
    assert [path for path, read in PATHS.items() if WORD in str(read(graphmem, scope, memory))] == []
    graphmem.drain()
    assert [path for path, read in PATHS.items() if WORD in str(read(graphmem, scope, memory))] == []


def test_a_forgotten_memory_has_no_id_any_more(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    graphmem.forget(scope, memory.mid)
    for act in (graphmem.memory, graphmem.history, graphmem.forget, graphmem.retract, graphmem.confirm, graphmem.why):
        with pytest.raises(NotFoundError):
            act(scope, memory.mid)
    with pytest.raises(NotFoundError):
        graphmem.memory(scope, memory.mid, as_of=memory.recorded_at, known_at=memory.recorded_at)


def test_after_the_drain_the_old_words_no_longer_find_the_turn(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    graphmem.drain()
    query = IndexQuery(graphmem._pseudonym(scope), ["turn"], {}, text="花生过敏")
    assert len(graphmem.index.search(scope.tenant, query)) == 1
    graphmem.forget(scope, memory.mid)
    graphmem.drain()
    assert graphmem.index.search(scope.tenant, query) == []
    cats = IndexQuery(graphmem._pseudonym(scope), ["turn"], {}, text="一只猫")
    assert len(graphmem.index.search(scope.tenant, cats)) == 1
    assert graphmem.index.count(scope.tenant, "fact") == 1


def test_forgetting_one_memory_leaves_the_others_of_its_turn(graphmem: Graphmem, scope: Scope) -> None:
    stored = told(graphmem, scope)
    graphmem.forget(scope, stored.pop(WORD).mid)
    assert {m.mid for m in graphmem.memories(scope).items} == {m.mid for m in stored.values()}
    (turn,) = graphmem.reader.turns(scope, "s")
    assert WORD not in turn.text and "我养了一只猫" in turn.text and len(turn.text) == len(SAID)


def test_no_older_value_comes_back_and_the_forgotten_row_keeps_its_opposition(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("home_city", "Bergen"))
    oslo = held(graphmem, scope, Remember("home_city", "Oslo"))
    held(graphmem, scope, Remember("food_preference", "mint", polarity="-", said_at=ago(days=9)))
    liked = held(graphmem, scope, Remember("food_preference", "mint", said_at=ago(days=2)))
    for memory in (oslo, liked):
        graphmem.forget(scope, memory.mid)
    assert values(graphmem, scope, "home_city") == [] and values(graphmem, scope, "food_preference") == []
    for hours in (73, 0):
        later(graphmem, scope, hours)
        graphmem.sweep(scope.tenant)
        assert values(graphmem, scope, "home_city") == [] and values(graphmem, scope, "food_preference") == []
        sound(graphmem, scope)


def test_a_forgotten_plan_keeps_its_place_until_it_is_due(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("employer", "Mill"))
    plan = held(graphmem, scope, Remember("employer", "Forge", valid_from=ago(days=-5)))
    graphmem.forget(scope, plan.mid)
    assert values(graphmem, scope, "employer") == ["Mill"]
    assert values(graphmem, scope, "employer", as_of=ago(days=-6)) == []
    assert any("planned_slot" in e.edge for e in edges(graphmem, scope))


@pytest.mark.parametrize("decided", [None, "reject", "confirm"])
def test_a_pending_memory_can_be_forgotten_open_or_decided(graphmem: Graphmem, scope: Scope, decided: str | None) -> None:
    told(graphmem, scope, "我喜欢爵士乐。")
    done = graphmem.inject(scope, Turn("我不喜欢爵士乐。", session_id="s", turn_id="2"))
    waits = done.pending[0].memory
    if decided is not None:
        getattr(graphmem, decided)(scope, waits.mid)
    graphmem.forget(scope, waits.mid)
    assert graphmem.memories(scope).pending == ()
    for status in Status:
        assert waits.mid not in {m.mid for m in graphmem.memories(scope, MemoryFilter(status=status)).items}
    with pytest.raises(NotFoundError):
        graphmem.memory(scope, waits.mid)
    later(graphmem, scope, 73)
    graphmem.sweep(scope.tenant)
    assert waits.mid not in {e.mid for e in edges(graphmem, scope)}
    sound(graphmem, scope)


def test_a_confirmed_memory_takes_the_pending_one_it_came_from_along(graphmem: Graphmem, scope: Scope) -> None:
    told(graphmem, scope, "我喜欢爵士乐。")
    waits = graphmem.inject(scope, Turn("我不喜欢爵士乐。", session_id="s", turn_id="2")).pending[0].memory
    confirmed = graphmem.confirm(scope, waits.mid).memory
    assert confirmed is not None
    graphmem.forget(scope, confirmed.mid)
    with pytest.raises(NotFoundError):
        graphmem.memory(scope, waits.mid)


def test_forgetting_with_a_stale_etag_forgets_nothing(graphmem: Graphmem, scope: Scope) -> None:
    memory = held(graphmem, scope, Remember("employer", "Mill"))
    with pytest.raises(ConflictError):
        graphmem.forget(scope, memory.mid, if_match="v9-9")
    assert values(graphmem, scope, "employer") == ["Mill"]


# --- back


def test_within_72_hours_the_same_row_and_version_come_back_with_their_words(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    graphmem.forget(scope, memory.mid)
    later(graphmem, scope, 71.9)
    graphmem.sweep(scope.tenant)
    back = graphmem.undelete(scope, memory.mid)
    assert (back.mid, back.version, back.value, back.status, back.recorded_at) == (memory.mid, 1, WORD, Status.ACTIVE, memory.recorded_at)
    assert graphmem.reader.turns(scope, "s")[0].text == SAID
    graphmem.drain()
    assert graphmem.search(scope, "花生过敏").items[0].memory.mid == memory.mid
    sound(graphmem, scope)


def test_after_72_hours_it_is_not_found_purged_or_not(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    graphmem.forget(scope, memory.mid)
    later(graphmem, scope, 72)
    for _ in range(2):
        with pytest.raises(NotFoundError):
            graphmem.undelete(scope, memory.mid)
        graphmem.sweep(scope.tenant)


def test_what_comes_back_is_current_only_if_nothing_newer_holds(graphmem: Graphmem, scope: Scope) -> None:
    old = held(graphmem, scope, Remember("home_city", "Bergen"))
    graphmem.forget(scope, old.mid)
    held(graphmem, scope, Remember("home_city", "Oslo"))
    assert graphmem.undelete(scope, old.mid).status is Status.SUPERSEDED
    assert values(graphmem, scope, "home_city") == ["Oslo"]
    with pytest.raises(NotFoundError):
        graphmem.undelete(scope, old.mid)
    sound(graphmem, scope)
