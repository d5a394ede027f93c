"""What a deliberate statement leaves in the graph: edges, versions, links, records; on the real store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import pytest

from bench.rig import hits_of
from graphmem.answers import MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.errors import ConflictError, InvalidInputError
from graphmem.memory import Kind, Provenance, SourceKind, Status, Turn, Verdict
from graphmem.scope import Scope
from graphmem.slot import ckey_of_text, slot
from tests.graph_view import Edge, ago, census, changes, edges, waiting

INFERRED = Provenance(SourceKind.AGENT_INFERRED)


def only(found: list[Edge]) -> Edge:
    assert len(found) == 1
    return found[0]


def values(g: Graphmem, scope: Scope, key: str) -> list[str | None]:
    return [m.value for m in g.latest(scope, key).items]


def test_a_user_without_edges_costs_no_look_into_the_indexes_of_rows_and_one_with_an_edge_does(graphmem: Graphmem, scope: Scope) -> None:
    """The first batch of an import names a slot a row; there is nothing to be found in any of them."""
    slots = [slot(scope, Kind.FACT, "note", "self", ckey_of_text(f"note {n}")) for n in range(50)]
    none: dict[str, list[str]] = {k.name: [] for k in Kind}
    asked = {"tenant_id": scope.tenant, "user_id": scope.user, "op": "x", "since": 0, "prefixes": none, "pending": none, "things": none}
    text = "PROFILE " + graphmem.neo4j.queries["lock_and_read"].text

    def hits() -> int:
        with graphmem.neo4j.driver.session() as session, session.begin_transaction() as tx:
            result = tx.run(text, {"in": {**asked, "slots": {**none, "FACT": slots}}})
            result.single()
            return hits_of(cast("dict[str, Any]", result.consume().profile))

    before = hits()
    graphmem.remember(scope, Remember("home_city", "Hangzhou"))
    assert before < 50 <= hits() - before


# --- new, supersede, reinforce


def test_a_first_value_is_one_edge_with_its_times_its_concept_its_source_and_its_records(graphmem: Graphmem, scope: Scope) -> None:
    said = ago(days=3)
    done = graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=said))
    assert done.verdict is Verdict.NEW and done.memory is not None
    one = only(edges(graphmem, scope))
    assert (one.kind, one.mid, one.version, one.value) == ("FACT", done.memory.mid, 1, "Hangzhou")
    assert one.edge["current_slot"] == one.edge["slot"] and one.edge["status"] == "active" and one.edge["polarity"] == "+"
    assert one.edge["said_at"].to_native() == one.edge["valid_from"].to_native() == said
    assert one.edge["recorded_at"].to_native() > said and "valid_to" not in one.edge
    assert one.about == [one.edge["ckey"]] and len(one.sources) == 1 and one.supersedes == []
    record = changes(graphmem, scope)[0]
    assert (record["verdicts"], record["mids"], record["rev"]) == (["new"], [one.mid], 1)
    assert waiting(graphmem, scope.tenant) == {one.mid}


def test_a_new_value_supersedes_the_old_one_and_says_so_on_both(graphmem: Graphmem, scope: Scope) -> None:
    first, second = ago(days=9), ago(days=2)
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=first))
    done = graphmem.remember(scope, Remember("home_city", "Nanjing", said_at=second))
    old, new = edges(graphmem, scope)
    assert done.verdict is Verdict.SUPERSEDE and done.supersedes == old.mid
    assert (old.version, new.version, old.current, new.current) == (1, 2, False, True)
    assert old.edge["valid_to"].to_native() == new.edge["valid_from"].to_native() == second
    assert (old.edge["next_mid"], new.edge["prev_mid"], new.supersedes) == (new.mid, old.mid, [old.mid])
    assert old.edge["status"] == "superseded" and old.edge["valid_from"].to_native() == first
    assert [c["verdicts"] for c in changes(graphmem, scope)] == [["new"], ["supersede"]]
    assert waiting(graphmem, scope.tenant) == {old.mid, new.mid}
    assert [m.value for m in graphmem.latest(scope, "home_city", as_of=ago(days=5)).items] == ["Hangzhou"]


def test_the_same_value_again_makes_no_version_but_moves_the_observation(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=9)))
    again = ago(days=2)
    done = graphmem.remember(scope, Remember("home_city", "杭州", said_at=again))
    one = only(edges(graphmem, scope))
    assert done.verdict is Verdict.REINFORCE and done.memory is not None and done.memory.mid == one.mid
    assert (one.version, one.edge["evidence"], len(one.sources)) == (1, 2, 2)
    assert one.edge["observed_at"].to_native() == again
    assert graphmem.memory(scope, one.mid).evidence_count == 2
    assert [c["verdicts"] for c in changes(graphmem, scope)] == [["new"], ["reinforce"]]


# --- ends and denials


def test_an_end_holds_the_slot_and_is_never_told(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=9)))
    done = graphmem.remember(scope, Remember("home_city", None, said_at=ago(days=2)))
    held, end = edges(graphmem, scope)
    assert done.verdict is Verdict.END
    assert (held.current, end.current, end.edge["is_end"], end.version) == (False, True, True, 2)
    assert held.edge["valid_to"] == end.edge["valid_from"]
    assert values(graphmem, scope, "home_city") == [] and graphmem.memories(scope).items == ()
    assert [m.value for m in graphmem.latest(scope, "home_city", as_of=ago(days=5)).items] == ["Hangzhou"]


def test_an_end_of_nothing_is_kept_so_that_a_late_arrival_stops_there(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("employer", None, said_at=ago(days=2)))
    late = graphmem.remember(scope, Remember("employer", "Blue Mill", said_at=ago(days=9)))
    end, row = edges(graphmem, scope)
    assert late.verdict is Verdict.BACKFILL
    assert (end.current, row.current) == (True, False) and row.edge["valid_to"] == end.edge["valid_from"]
    assert values(graphmem, scope, "employer") == []
    assert [m.value for m in graphmem.latest(scope, "employer", as_of=ago(days=5)).items] == ["Blue Mill"]


def test_an_end_dated_at_the_start_of_what_it_ends_begins_a_millisecond_later(graphmem: Graphmem, scope: Scope) -> None:
    start = ago(days=9)
    graphmem.remember(scope, Remember("employer", "Blue Mill", said_at=start))
    graphmem.remember(scope, Remember("employer", None, valid_from=start, said_at=ago(days=2)))
    row, end = edges(graphmem, scope)
    assert end.edge["valid_from"].to_native() == start + timedelta(milliseconds=1) == row.edge["valid_to"].to_native()


def test_a_denial_is_a_row_of_its_own_that_the_held_value_is_opposed_by(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=9)))
    done = graphmem.remember(scope, Remember("home_city", "Hangzhou", polarity="-", said_at=ago(days=2)))
    held, denial = edges(graphmem, scope)
    assert denial.edge["slot"] != held.edge["slot"] and denial.edge["polarity"] == "-" and denial.edge.get("is_end") is None
    assert (held.current, denial.current) == (False, True) and held.edge["valid_to"] == denial.edge["valid_from"]
    assert done.supersedes == held.mid
    assert [(m.value, m.polarity) for m in graphmem.latest(scope, "home_city").items] == [("Hangzhou", "-")]


def test_a_bare_denial_of_an_allergy_waits_for_a_reviewer_and_the_allergy_stands(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("allergy", "penicillin", said_at=ago(days=9)))
    done = graphmem.remember(scope, Remember("allergy", "penicillin", polarity="-", said_at=ago(days=2)))
    held, waits = edges(graphmem, scope)
    assert done.verdict is Verdict.REVIEW and done.pending is not None and done.pending.reason == "denial"
    assert held.current and waits.version is None and waits.edge["pending_slot"] == waits.edge["slot"]
    assert [m.polarity for m in graphmem.latest(scope, "allergy").items] == ["+"]


# --- late arrivals


def test_a_late_arrival_is_one_more_row_and_changes_nothing_that_is_told_now(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Nanjing", said_at=ago(days=2)))
    done = graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=9)))
    now, late = edges(graphmem, scope)
    assert done.verdict is Verdict.BACKFILL and late.version == 2
    assert (now.current, late.current) == (True, False) and late.edge["valid_to"] == now.edge["valid_from"]
    assert values(graphmem, scope, "home_city") == ["Nanjing"]
    assert [m.value for m in graphmem.latest(scope, "home_city", as_of=ago(days=5)).items] == ["Hangzhou"]
    assert [m.value for m in graphmem.history(scope, now.mid)] == ["Hangzhou", "Nanjing"]


def test_a_late_arrival_before_a_restatement_is_two_rows_and_the_restated_value_comes_back(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=20)))
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=4)))
    done = graphmem.remember(scope, Remember("home_city", "Nanjing", said_at=ago(days=10)))
    assert done.verdict is Verdict.BACKFILL
    assert [(e.value, e.version) for e in sorted(edges(graphmem, scope), key=lambda e: e.version or 0)] == [
        ("Hangzhou", 1),
        ("Nanjing", 2),
        ("Hangzhou", 3),
    ]
    told = [[m.value for m in graphmem.latest(scope, "home_city", as_of=ago(days=d)).items] for d in (15, 7, 1)]
    assert told == [["Hangzhou"], ["Nanjing"], ["Hangzhou"]] and values(graphmem, scope, "home_city") == ["Hangzhou"]
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].breaks == ()


# --- the reversal window, opposition


def test_an_inferred_reversal_within_the_window_is_kept_pending_and_the_held_value_is_told(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=60)))
    done = graphmem.remember(scope, Remember("coffee_preference", "latte", polarity="-", said_at=ago(hours=1), source=INFERRED))
    held, waits = edges(graphmem, scope)
    assert done.verdict is Verdict.PENDING and done.pending is not None and done.pending.reason == "reversal_window"
    assert held.current and "current_slot" not in waits.edge and "version" not in waits.edge and "valid_from" not in waits.edge
    assert waits.edge["pending_slot"] == waits.edge["slot"] and waits.edge["pending_from"].to_native() == waits.edge["said_at"].to_native()
    latest = graphmem.latest(scope, "coffee_preference")
    assert [(m.value, m.polarity) for m in latest.items] == [("latte", "+")] and [m.polarity for m in latest.pending] == ["-"]
    assert waiting(graphmem, scope.tenant) == {held.mid}


def test_after_the_window_the_reversal_is_told_at_once(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=80)))
    done = graphmem.remember(scope, Remember("coffee_preference", "latte", polarity="-", said_at=ago(hours=1), source=INFERRED))
    assert done.verdict is Verdict.SUPERSEDE
    assert [m.polarity for m in graphmem.latest(scope, "coffee_preference").items] == ["-"]


def test_a_deliberate_reversal_passes_the_window(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=2)))
    done = graphmem.remember(scope, Remember("coffee_preference", "latte", polarity="-", said_at=ago(hours=1)))
    assert done.verdict is Verdict.SUPERSEDE
    assert [m.polarity for m in graphmem.latest(scope, "coffee_preference").items] == ["-"]


def test_a_confirmed_pending_memory_becomes_the_next_version_and_a_second_word_is_refused(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=5)))
    waits = graphmem.remember(scope, Remember("coffee_preference", "espresso", said_at=ago(hours=1), source=INFERRED)).memory
    assert waits is not None
    done = graphmem.confirm(scope, waits.mid)
    assert done.memory is not None and done.memory.version == 2 and done.verdict is Verdict.SUPERSEDE
    assert values(graphmem, scope, "coffee_preference") == ["espresso"]
    with pytest.raises(ConflictError) as refused:
        graphmem.confirm(scope, waits.mid)
    assert refused.value.code == "decided"
    decided = next(e for e in edges(graphmem, scope) if e.mid == waits.mid)
    assert decided.edge["outcome"] == "confirmed" and "pending_slot" not in decided.edge


def test_a_rejected_pending_memory_leaves_what_is_held(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=5)))
    waits = graphmem.remember(scope, Remember("coffee_preference", "espresso", said_at=ago(hours=1), source=INFERRED)).memory
    assert waits is not None
    assert graphmem.reject(scope, waits.mid).status is Status.REJECTED
    latest = graphmem.latest(scope, "coffee_preference")
    assert [m.value for m in latest.items] == ["latte"] and latest.pending == ()


def test_a_newer_pending_memory_overtakes_the_older_one_of_its_slot(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(hours=9)))
    for hours, value in ((5, "espresso"), (1, "mocha")):
        graphmem.remember(scope, Remember("coffee_preference", value, said_at=ago(hours=hours), source=INFERRED))
    outcomes = {e.value: (e.edge.get("outcome"), "pending_slot" in e.edge) for e in edges(graphmem, scope) if e.version is None}
    assert outcomes == {"espresso": ("overtaken", False), "mocha": (None, True)}
    assert [m.value for m in graphmem.latest(scope, "coffee_preference").pending] == ["mocha"]


def test_opposition_reaches_over_preference_keys_and_ends_with_no_second_write(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte", said_at=ago(days=9)))
    graphmem.remember(scope, Remember("drink_preference", "latte", polarity="-", said_at=ago(days=5)))
    liked, avoided = edges(graphmem, scope)
    assert liked.edge["thing"] == avoided.edge["thing"] and liked.edge["slot"] != avoided.edge["slot"]
    assert (liked.current, avoided.current) == (False, True)
    assert [(m.key, m.polarity) for m in graphmem.memories(scope).items] == [("drink_preference", "-")]


def test_opposition_stays_when_the_opposite_ends_and_said_again_it_is_a_new_row(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("likes", "hiking", said_at=ago(days=20)))
    graphmem.remember(scope, Remember("likes", "hiking", polarity="-", said_at=ago(days=12)))
    assert [(e.version, e.current) for e in edges(graphmem, scope)] == [(1, False), (2, True)]
    again = graphmem.remember(scope, Remember("likes", "hiking", said_at=ago(days=3)))
    assert again.verdict is Verdict.SUPERSEDE and again.memory is not None and again.memory.version == 3
    assert [m.polarity for m in graphmem.latest(scope, "likes").items] == ["+"]


# --- operations


def test_the_same_request_under_one_key_is_answered_again_and_written_once(graphmem: Graphmem, scope: Scope) -> None:
    ask = Remember("home_city", "Hangzhou", said_at=ago(days=3))
    first = graphmem.remember(scope, ask, key="k-1")
    before = census(graphmem, scope.tenant)
    again = graphmem.remember(scope, ask, key="k-1")
    assert again.replayed and not first.replayed
    assert replace(again, replayed=False) == first
    assert census(graphmem, scope.tenant) == before


def test_another_request_under_a_used_key_is_refused_and_writes_nothing(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou"), key="k-1")
    before = census(graphmem, scope.tenant)
    with pytest.raises(ConflictError) as refused:
        graphmem.remember(scope, Remember("home_city", "Nanjing"), key="k-1")
    assert refused.value.code == "idempotency_key_reused" and census(graphmem, scope.tenant) == before


def test_a_stale_expected_version_is_refused_and_the_right_one_passes(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Hangzhou", expected_version=0))
    graphmem.remember(scope, Remember("home_city", "Nanjing", expected_version=1))
    before = census(graphmem, scope.tenant)
    with pytest.raises(ConflictError) as refused:
        graphmem.remember(scope, Remember("home_city", "Suzhou", expected_version=1))
    assert (refused.value.code, refused.value.current) == ("version_conflict", "v2")
    assert census(graphmem, scope.tenant) == before


def test_the_first_use_of_an_open_key_fixes_its_kind_and_arity(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("favourite_bench", "by the pond", kind=Kind.FACT, arity="one"))
    for other_shape in (
        Remember("favourite_bench", "x", kind=Kind.PREFERENCE, arity="one"),
        Remember("favourite_bench", "x", kind=Kind.FACT, arity="many"),
    ):
        with pytest.raises(ConflictError) as refused:
            graphmem.remember(scope, other_shape)
        assert refused.value.code == "key_shape"
    other = Scope(scope.tenant, "user-2")
    with pytest.raises(ConflictError):
        graphmem.remember(other, Remember("favourite_bench", "x", kind=Kind.CONTEXT, arity="one"))
    assert values(graphmem, scope, "favourite_bench") == ["by the pond"] and edges(graphmem, other) == []


def test_an_open_key_needs_its_kind_and_arity(graphmem: Graphmem, scope: Scope) -> None:
    for ask in (Remember("shelf", "oak"), Remember("shelf", "oak", kind=Kind.FACT)):
        with pytest.raises(InvalidInputError):
            graphmem.remember(scope, ask)
    assert census(graphmem, scope.tenant) == {}


# --- people and instants


def test_two_people_with_the_same_session_turn_and_request_ids_share_nothing(graphmem: Graphmem, scope: Scope) -> None:
    a, b = scope, Scope(scope.tenant, "user-2")
    for who, city in ((a, "杭州"), (b, "南京")):
        graphmem.inject(who, Turn(f"我住在{city}。", session_id="s-17", turn_id="t-1", at=ago(days=2)))
        graphmem.remember(who, Remember("employer", f"{city} Mill"), key="same-key")
    for who, city in ((a, "杭州"), (b, "南京")):
        assert {e.value for e in edges(graphmem, who)} == {city, f"{city} Mill"}
        assert [t.text for t in graphmem.reader.turns(who, "s-17")] == [f"我住在{city}。"]
    held = census(graphmem, scope.tenant)
    assert (held["User"], held["Session"], held["Turn"], held["Change"]) == (2, 2, 2, 4)


def test_one_instant_written_in_two_zones_is_one_instant(graphmem: Graphmem, scope: Scope) -> None:
    instant = ago(days=4)
    graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=instant.astimezone(timezone(timedelta(hours=8)))))
    done = graphmem.remember(scope, Remember("employer", "Blue Mill", said_at=instant.astimezone(timezone(timedelta(hours=-5)))))
    one, two = edges(graphmem, scope)
    assert one.edge["said_at"] == two.edge["said_at"] and one.edge["said_at"].to_native() == instant
    for zone in (UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-5))):
        assert len(graphmem.memories(scope, MemoryFilter(as_of=instant.astimezone(zone))).items) == 2
        before = instant - timedelta(milliseconds=1)
        assert graphmem.memories(scope, MemoryFilter(as_of=before.astimezone(zone))).items == ()
    assert done.memory is not None and done.memory.valid_from == instant


# --- bad input


BAD: dict[str, Remember] = {
    "blank value": Remember("home_city", "  \n"),
    "ideographic space": Remember("home_city", "\u3000"),
    "long value": Remember("home_city", "x" * 10_001),
    "lone surrogate": Remember("home_city", "a\ud83c"),
    "control character": Remember("home_city", "a\x00b"),
    "blank key": Remember(" ", "x", kind=Kind.FACT, arity="one"),
    "long key": Remember("k" * 257, "x", kind=Kind.FACT, arity="one"),
    "surrogate in key": Remember("k\udfff", "x", kind=Kind.FACT, arity="one"),
    "blank subject": Remember("home_city", "x", subject=""),
    "confidence over 1": Remember("home_city", "x", confidence=1.5),
    "confidence not a number": Remember("home_city", "x", confidence=float("nan")),
    "end before start": Remember("home_city", "x", valid_from=ago(days=1), valid_to=ago(days=2)),
    "no source": Remember("home_city", "x", source=None),
    "naive said_at": Remember("home_city", "x", said_at=datetime(2026, 1, 1)),  # noqa: DTZ001
    "naive start": Remember("home_city", "x", valid_from=datetime(2026, 1, 1), valid_to=ago(days=1)),  # noqa: DTZ001
    "unknown zone": Remember("home_city", "x", zone="Nowhere/Here"),
    "long source": Remember("home_city", "x", source=Provenance(ref="r" * 10_000)),
    "surrogate in source": Remember("home_city", "x", source=Provenance(ref="r\ud83c")),
    "surrogate in metadata": Remember("home_city", "x", metadata={"a": "\ud83c"}),
    "metadata that is no JSON": Remember("home_city", "x", metadata={"a": object()}),
    "year beyond the calendar": Remember("home_city", "x", said_at=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_statement_is_a_typed_error_and_writes_nothing(graphmem: Graphmem, scope: Scope, name: str) -> None:
    with pytest.raises(InvalidInputError):
        graphmem.remember(scope, BAD[name])
    assert census(graphmem, scope.tenant) == {}


BAD_TURNS: dict[str, Turn] = {
    "empty": Turn(""),
    "blank": Turn("   "),
    "line breaks": Turn("\n\t"),
    "lone surrogate": Turn("我喜欢寿司\ud83c"),
    "control character": Turn("a\x00b"),
    "over the documented length": Turn("x" * 100_001),
    "unknown zone": Turn("I live in Leeds.", zone="Nowhere/Here"),
    "naive time": Turn("I live in Leeds.", at=datetime(2026, 1, 1)),  # noqa: DTZ001
    "long session id": Turn("I live in Leeds.", session_id="s" * 10_000, turn_id="t"),
    "long turn id": Turn("I live in Leeds.", session_id="s", turn_id="t" * 10_000),
    "surrogate in session id": Turn("I live in Leeds.", session_id="s\ud83c", turn_id="t"),
}


@pytest.mark.parametrize("name", BAD_TURNS)
def test_a_bad_turn_is_a_typed_error_and_writes_nothing(graphmem: Graphmem, scope: Scope, name: str) -> None:
    with pytest.raises(InvalidInputError):
        graphmem.inject(scope, BAD_TURNS[name])
    assert census(graphmem, scope.tenant) == {}


def test_a_statement_under_the_confidence_to_be_stored_is_a_question_and_writes_nothing(graphmem: Graphmem, scope: Scope) -> None:
    asked = graphmem.remember(scope, Remember("home_city", "Hangzhou", confidence=0.5))
    assert asked.memory is None and asked.follow_up is not None and "Hangzhou" in asked.follow_up.question.en
    assert census(graphmem, scope.tenant) == {}
