"""Relations, pure: what goes over to a new version, which paths may be told, what a request to relate comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphmem.commands.explain import TypeWord
from graphmem.cursors import decode_key, decode_place, encode
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.memory import Kind, from_ms
from graphmem.relations import (
    STORED,
    Carry,
    End,
    Hop,
    Path,
    Relating,
    Relation,
    RelationType,
    Standing,
    best_paths,
    carried,
    linked,
    links,
    related_as,
    start_of,
    unrelated,
)
from graphmem.scope import Scope, TenantScope
from graphmem.validity import Row
from graphmem.writing import Changes, Known, Origin
from tests.api.stub import MEMORY

SCOPE = Scope("acme", "u-1")
ORIGIN = Origin("op:1", "user_stated", None, None, "default", "UTC")
KNOWN = Known(now=1000, rev=1, erased=False)


def row(mid: str, **given: object) -> Row:
    """A fact that holds and was related before, unless something else is given."""
    said = Row(
        mid=mid, kind=Kind.FACT, slot="s", thing="t", key="home_city", ckey="city:a", subject="self", value="A", polarity="+",
        version=1, said_at=100, valid_from=100, recorded_at=100, current=True, more={"related": True},
    )  # fmt: skip
    return replace(said, **given)  # type: ignore[arg-type]


def pairs(new: Row, old: Row) -> list[Carry]:
    changes = Changes("", ORIGIN, created=(new,), patched=(replace(old, current=False),), links=((new.mid, old.mid),))
    return carried(replace(KNOWN, rows=(old,)), changes)


# --- what goes over


def test_a_new_version_takes_over_from_the_moment_it_begins() -> None:
    assert pairs(row("new", valid_from=500), row("old")) == [Carry("old", "new", 500, True)]


def test_a_version_that_is_planned_takes_over_when_it_begins() -> None:
    assert pairs(row("new", valid_from=9000, current=False, planned=True), row("old")) == [Carry("old", "new", 9000, True)]


def test_a_row_that_arrives_late_takes_nothing_over() -> None:
    assert pairs(row("new", valid_from=50, current=False), row("old")) == []


def test_a_memory_that_was_never_related_costs_nothing() -> None:
    assert pairs(row("new", valid_from=500), row("old", more={})) == []


def test_an_end_and_a_denial_end_relations_and_keep_none() -> None:
    assert pairs(row("new", valid_from=500, is_end=True, value=None), row("old"))[0].keep is False
    assert pairs(row("new", valid_from=500, polarity="-", slot="other"), row("old"))[0].keep is False


@pytest.mark.parametrize("end_first", [True, False])
def test_what_takes_the_place_of_an_ended_memory_takes_its_relations(end_first: bool) -> None:
    end, other = row("end", valid_from=500, is_end=True, value=None), row("new", valid_from=501, slot="s2", ckey="city:b")
    links = (("end", "old"), ("new", "old")) if end_first else (("new", "old"), ("end", "old"))
    changes = Changes("", ORIGIN, created=(end, other), patched=(row("old", current=False),), links=links)
    assert carried(KNOWN, changes) == [Carry("old", "new", 501, True)]


def test_a_restated_row_has_no_link_and_takes_nothing_over() -> None:
    changes = Changes("", ORIGIN, created=(row("again"),), patched=(row("old"),))
    assert carried(KNOWN, changes) == []


# --- relations made as a memory is written


def test_a_family_history_looks_for_the_persons_own_condition_and_the_condition_for_the_history() -> None:
    history = row("h", key="family_history", subject="father", ckey="disease:x")
    (out,) = linked(SCOPE, [history], links())
    assert (out.type, out.outward, out.prefix) == (RelationType.HAS_CONDITION, True, "1|acme|u-1|F|disease|self|")
    (back,) = linked(SCOPE, [row("d", key="disease", ckey="disease:x")], links())
    assert (back.outward, back.prefix) == (False, "1|acme|u-1|F|family_history|")


@pytest.mark.parametrize("given", [{"current": False}, {"polarity": "-"}, {"is_end": True}, {"ckey": ""}, {"key": "hobby"}])
def test_nothing_is_linked_for_what_does_not_hold_or_has_no_condition(given: dict[str, object]) -> None:
    assert linked(SCOPE, [row("h", **{"key": "family_history", "ckey": "disease:x", **given})], links()) == []


def test_a_relatives_condition_is_no_condition_of_the_person() -> None:
    assert linked(SCOPE, [row("d", key="disease", subject="spouse", ckey="disease:x")], links()) == []


# --- a request to relate


def standing(**given: object) -> Standing:
    found = Standing(now=1000, rev=1, erased=False, done=None, start=End("a", 100, True), target=End("b", 300, True), open=None)
    return replace(found, **given)  # type: ignore[arg-type]


ASK = Relating(RelationType.HAS_CONDITION, "a", "b", 0.5)
HELD = Relation("a.1", RelationType.HAS_CONDITION, "a", "b", 0.5, from_ms(300))


def test_a_relation_begins_when_both_memories_held() -> None:
    change = related_as(ASK, standing(), from_ms)
    assert change.new is not None and change.new.valid_from == from_ms(300) and change.closed is None
    assert start_of(change.new.rid) == "a"


def test_the_same_relation_again_is_the_same_one() -> None:
    change = related_as(ASK, standing(open=HELD), from_ms)
    assert (change.answer.rid, change.answer.created, change.new, change.closed) == ("a.1", False, None, None)


def test_another_weight_ends_the_old_relation_and_begins_one_now() -> None:
    change = related_as(replace(ASK, weight=0.9), standing(open=HELD), from_ms)
    assert change.closed is not None and change.closed.valid_to == from_ms(1000)
    assert change.new is not None and (change.new.weight, change.new.valid_from) == (0.9, from_ms(1000))


@pytest.mark.parametrize("given", [{"start": None}, {"target": None}, {"target": End("b", 300, False)}, {"start": End("a", None, True)}])
def test_foreign_forgotten_and_pending_ends_are_unknown(given: dict[str, object]) -> None:
    with pytest.raises(NotFoundError):
        related_as(ASK, standing(**given), from_ms)


def test_a_relation_ends_now_and_never_before_it_began() -> None:
    assert unrelated(standing(open=HELD), from_ms).closed == replace(HELD, valid_to=from_ms(1000), created=False)
    planned = replace(HELD, valid_from=from_ms(5000))
    assert unrelated(standing(open=planned), from_ms).answer.valid_to == from_ms(5000)
    with pytest.raises(NotFoundError):
        unrelated(standing(), from_ms)


# --- paths


def path(*mids: str, weights: tuple[float, ...] = ()) -> Path:
    weights = weights or (1.0,) * (len(mids) - 1)
    steps = zip(mids, mids[1:], weights, strict=False)
    return Path(mids, tuple(Hop(RelationType.HAS_CONDITION, a, b, w, f"{a}.{b}") for a, b, w in steps))


TOLD = {mid: replace(MEMORY, mid=mid) for mid in "abcd"}


def test_the_shortest_path_tells_and_then_the_heaviest() -> None:
    found = best_paths("a", [path("a", "b", "c"), path("a", "c", weights=(0.2,)), path("a", "c", weights=(0.4,)), path("a", "b")], TOLD, 9)
    assert [(r.memory.mid, r.depth, r.weight) for r in found] == [("b", 1, 1.0), ("c", 1, 0.4)]


def test_the_weight_of_a_path_is_the_product_of_its_hops() -> None:
    (found,) = best_paths("a", [path("a", "b", "c", weights=(0.5, 0.5))], TOLD, 9)
    assert (found.weight, [h.weight for h in found.path]) == (0.25, [0.5, 0.5])


def test_a_path_through_a_memory_that_is_not_told_leads_nowhere() -> None:
    assert best_paths("a", [path("a", "x", "c"), path("a", "x")], TOLD, 9) == ()


def test_a_path_never_comes_back() -> None:
    assert best_paths("a", [path("a", "b", "a")], TOLD, 9) == ()


def test_the_terminal_knows_every_type() -> None:
    assert [t.value for t in TypeWord] == [t.value for t in RelationType]


def test_only_four_types_are_stored() -> None:
    assert set(RelationType) - STORED == {RelationType.TEMPORAL_NEXT, RelationType.SEMANTIC_SIMILAR}


# --- scope and cursors


def test_a_tenant_scope_is_no_scope_of_a_user() -> None:
    assert not hasattr(TenantScope("acme", "service:1"), "user")
    with pytest.raises(InvalidInputError):
        TenantScope("No Such", "service:1")


def test_a_cursor_comes_back_as_it_was_and_others_are_refused() -> None:
    assert decode_place(encode((5, "m"))) == (5, "m") and decode_place(None) is None
    assert decode_key(encode("1|acme|张}")) == "1|acme|张}"
    for wrong in ("", "x", encode("k"), "////"):
        with pytest.raises(InvalidInputError):
            decode_place(wrong)
    with pytest.raises(InvalidInputError):
        decode_key(encode((5, "m")))
