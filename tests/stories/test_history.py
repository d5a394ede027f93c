"""What was held when, who wrote it, and why it is (not) told: timelines and explanations on the real store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest

from graphmem.answers import MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.change import Change
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.memory import Kind, Status, Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from graphmem.timeline import TimelineQuery
from tests.conftest import Neo4jServer
from tests.graph_view import ago, changes
from tests.terminal import Terminal, environment

CHINA = timezone(timedelta(hours=8))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=CHINA)


def said(g: Graphmem, scope: Scope, text: str, when: datetime, turn_id: str) -> str:
    """One turn that stores one memory."""
    done = g.inject(scope, Turn(text, session_id="s", turn_id=turn_id, at=when))
    assert len(done.stored) == 1, done
    return done.stored[0].memory.mid


# --- history-lost-on-update


def test_his_01_a_changed_value_keeps_its_metadata_and_the_old_one_stays_readable_and_linked(graphmem: Graphmem, scope: Scope) -> None:
    staff = Scope(scope.tenant, scope.user, principal="staff:17")
    metadata = {"source": "intake-form", "priority": "high"}
    old = graphmem.remember(scope, Remember("allergy", "花生", metadata=metadata, said_at=ago(days=9))).memory
    assert old is not None
    new = graphmem.change(staff, old.mid, Change(value="花生油")).memory
    assert new is not None and (new.value, new.metadata, new.supersedes) == ("花生油", metadata, old.mid)
    kept = graphmem.memory(scope, old.mid)
    assert (kept.value, kept.metadata, kept.recorded_at) == ("花生", metadata, old.recorded_at)
    assert kept.valid_to is not None and new.valid_from is not None and abs(new.valid_from - kept.valid_to) <= timedelta(milliseconds=1)
    entries = {e.memory.mid: e for e in graphmem.timeline(scope, TimelineQuery(key="allergy")).items}
    assert entries[new.mid].supersedes == old.mid and entries[old.mid].superseded_by is not None
    assert [(t.what, t.actor) for t in entries[old.mid].touches] == [("recorded", "user"), ("ended", "staff:17")]
    assert entries[old.mid].memory.value == "花生" and entries[new.mid].touches[0].route == "change"


def test_his_02_a_replaced_value_is_linked_and_every_version_has_its_turn(graphmem: Graphmem, scope: Scope) -> None:
    turns = [("2024-01-01", "我在读三年级。"), ("2024-09-01", "我上四年级了。"), ("2025-09-01", "我上五年级了。")]
    mids = [said(graphmem, scope, text, at(day), f"t-{n}") for n, (day, text) in enumerate(turns)]
    versions = graphmem.history(scope, mids[0])
    assert [(m.mid, m.version, m.superseded_by) for m in versions] == [(mids[0], 1, mids[1]), (mids[1], 2, mids[2]), (mids[2], 3, None)]
    assert [m.valid_to for m in versions] == [*(m.valid_from for m in versions[1:]), None]
    entries = graphmem.timeline(scope, TimelineQuery(key=versions[0].key)).items
    assert [e.memory.mid for e in entries] == mids[::-1]
    assert [e.sources[0].turn_id for e in entries] == ["t-2", "t-1", "t-0"]
    assert all(e.sources[0].quote and e.sources[0].quote in turns[2 - n][1] for n, e in enumerate(entries))
    for day, mid in (("2024-03-01", mids[0]), ("2024-12-01", mids[1]), ("2025-10-01", mids[2])):
        assert [m.mid for m in graphmem.latest(scope, versions[0].key, as_of=at(day)).items] == [mid]


# --- out-of-order


def test_ord_01_a_log_that_arrives_late_is_history_from_the_day_it_was_said(graphmem: Graphmem, scope: Scope) -> None:
    now = said(graphmem, scope, "我现在住在深圳。", at("2026-06-01T09:00"), "t-1")
    late = said(graphmem, scope, "我住在武汉。", at("2025-09-01T09:00"), "t-2")
    assert [m.mid for m in graphmem.latest(scope, "home_city").items] == [now]
    assert [m.mid for m in graphmem.latest(scope, "home_city", as_of=at("2025-12-01")).items] == [late]
    newer, older = graphmem.timeline(scope, TimelineQuery(key="home_city")).items
    assert (newer.memory.mid, older.memory.mid) == (now, late)
    assert (older.memory.valid_from, older.memory.valid_to) == (at("2025-09-01T09:00"), at("2026-06-01T09:00"))
    assert older.memory.recorded_at > newer.memory.recorded_at and older.verdict == "backfill"
    by_recorded = graphmem.timeline(scope, TimelineQuery(key="home_city", order="recorded")).items
    assert [e.memory.mid for e in by_recorded] == [late, now]


def test_ord_02_newest_first_is_by_event_or_by_arrival_as_asked_and_pages_agree(graphmem: Graphmem, scope: Scope) -> None:
    days = {"2026-05-10": "chess", "2026-06-10": "rowing", "2026-04-10": "judo"}
    for day, value in days.items():
        graphmem.remember(scope, Remember("hobby", value, said_at=at(day)))
    for order, wanted in (("event", ["rowing", "chess", "judo"]), ("recorded", ["judo", "rowing", "chess"])):
        asked = TimelineQuery(order=order, limit=2)  # type: ignore[arg-type]
        first = graphmem.timeline(scope, asked)
        rest = graphmem.timeline(scope, TimelineQuery(order=order, limit=2, cursor=first.next))  # type: ignore[arg-type]
        assert [e.memory.value for e in (*first.items, *rest.items)] == wanted
        assert (len(first.items), first.has_next, first.total, rest.has_next, rest.next) == (2, True, 3, False, None)
        where = MemoryFilter(order=order)  # type: ignore[arg-type]
        listed = graphmem.memories(scope, where, limit=2)
        more = graphmem.memories(scope, where, limit=2, cursor=listed.next)
        assert [m.value for m in (*listed.items, *more.items)] == wanted


# --- as of, known at


def test_a_timeline_known_then_holds_what_was_known_and_says_it_as_it_was(graphmem: Graphmem, scope: Scope) -> None:
    first = graphmem.remember(scope, Remember("home_city", "Hangzhou", said_at=ago(days=9))).memory
    graphmem.remember(scope, Remember("home_city", "Nanjing", said_at=ago(days=2)))
    assert first is not None
    (then,) = graphmem.timeline(scope, TimelineQuery(known_at=first.recorded_at)).items
    assert (then.memory.status, then.memory.valid_to, then.superseded_by) == (Status.ACTIVE, None, None)
    assert [t.what for t in then.touches] == ["recorded"]
    by_day = {e.memory.value: e.memory.status for e in graphmem.timeline(scope, TimelineQuery(as_of=ago(days=5))).items}
    assert by_day == {"Hangzhou": Status.ACTIVE, "Nanjing": Status.SCHEDULED}


def test_a_timeline_of_a_person_holds_only_theirs_and_a_role_finds_all_who_have_it(graphmem: Graphmem, scope: Scope) -> None:
    for subject, value in (("self", "chess"), ("friend:小李", "judo"), ("friend:小王", "rowing"), ("friendly", "golf")):
        graphmem.remember(scope, Remember("hobby", value, subject=subject))
    assert {e.memory.value for e in graphmem.timeline(scope, TimelineQuery(subject="friend")).items} == {"judo", "rowing"}
    assert {e.memory.value for e in graphmem.timeline(scope, TimelineQuery(subject="friend:小李")).items} == {"judo"}
    assert graphmem.timeline(Scope(scope.tenant, "user-2")).items == ()


def test_ends_and_pending_ones_stand_in_the_timeline_and_forgotten_ones_do_not(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("employer", "Blue Mill", said_at=ago(days=9)))
    graphmem.remember(scope, Remember("employer", None, said_at=ago(days=5)))
    graphmem.remember(scope, Remember("allergy", "penicillin", said_at=ago(days=9)))
    denied = graphmem.remember(scope, Remember("allergy", "penicillin", polarity="-", said_at=ago(days=1)))
    found = graphmem.timeline(scope).items
    assert denied.pending is not None and {e.memory.mid: e.memory.status for e in found}[denied.pending.memory.mid] is Status.PENDING
    assert [e.memory.is_end for e in found if e.memory.key == "employer"] == [True, False]
    graphmem.forget(scope, found[-1].memory.mid)
    assert found[-1].memory.mid not in {e.memory.mid for e in graphmem.timeline(scope).items}


def test_a_quote_is_blank_where_something_was_forgotten(graphmem: Graphmem, scope: Scope) -> None:
    done = graphmem.inject(scope, Turn("我对花生和虾过敏。我住在南京。", session_id="s", turn_id="t", at=ago(days=1)))
    by_value = {s.memory.value: s.memory.mid for s in done.stored}
    assert graphmem.why(scope, by_value["虾"]).entry.sources[0].quote == "我对花生和虾过敏"
    graphmem.forget(scope, by_value["花生"])
    shrimp, city = graphmem.why(scope, by_value["虾"]), graphmem.why(scope, by_value["南京"])
    assert shrimp.entry.sources[0].quote == "░" * 8 and shrimp.entry.sources[0].turn_id == "t"
    assert "花生" not in repr(graphmem.timeline(scope)) + repr(shrimp) and city.entry.sources[0].quote == "我住在南京"


def test_a_cursor_of_another_list_and_a_limit_out_of_bounds_are_refused(graphmem: Graphmem, scope: Scope) -> None:
    for query in (TimelineQuery(cursor="nonsense"), TimelineQuery(limit=0), TimelineQuery(known_at=datetime(2024, 1, 1))):  # noqa: DTZ001
        with pytest.raises(InvalidInputError):
            graphmem.timeline(scope, query)


# --- why


def test_why_names_the_rule_the_verdict_the_words_and_what_replaced_it(graphmem: Graphmem, scope: Scope) -> None:
    old = said(graphmem, scope, "I live in Berlin.", ago(days=9), "t-1")
    new = said(graphmem, scope, "I moved to Hamburg.", ago(days=2), "t-2")
    gone, held = graphmem.why(scope, old), graphmem.why(scope, new)
    assert (gone.told, gone.because, held.told, held.because) == (False, "superseded", True, "told")
    assert gone.entry.rule and gone.entry.rule.startswith("home_city") and gone.entry.verdict == "new" and held.entry.verdict == "supersede"
    assert (gone.entry.certainty or 0) >= 0.85 and gone.entry.sources[0].quote == "I live in Berlin"
    assert [(r.mid, r.did) for r in gone.rivals] == [(new, "superseded_by")]
    assert [(r.mid, r.did) for r in held.rivals] == [(old, "superseded")]
    assert "Hamburg" in gone.text.en and "Hamburg" in gone.text.zh and "took its place" in gone.text.en and "现在会告知" in held.text.zh


def test_why_counts_the_evidence_of_a_memory_said_again(graphmem: Graphmem, scope: Scope) -> None:
    mid = said(graphmem, scope, "I live in Berlin.", ago(days=9), "t-1")
    assert said(graphmem, scope, "I live in Berlin.", ago(days=2), "t-2") == mid
    found = graphmem.why(scope, mid)
    assert [(e.turn_id, e.first) for e in found.entry.sources] == [("t-1", True), ("t-2", False)]
    assert [t.what for t in found.entry.touches] == ["recorded", "observed"] and "2 pieces" in found.text.en


def test_why_of_a_pending_memory_says_what_it_waits_for_and_its_case(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("allergy", "penicillin", said_at=ago(days=9)))
    waits = graphmem.remember(scope, Remember("allergy", "penicillin", polarity="-", said_at=ago(days=2))).pending
    assert waits is not None
    found = graphmem.why(scope, waits.memory.mid)
    assert (found.told, found.because) == (False, "pending") and found.waiting is not None
    assert (found.waiting.reason, found.waiting.outcome, found.waiting.case) == ("denial", None, waits.case)
    assert found.policy is not None and found.policy.safety and found.policy.policy == "review"


def test_why_of_a_confirmed_one_names_who_confirmed(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("I like tea.", at=ago(days=2)))
    waits = graphmem.inject(scope, Turn("I don't like tea.", at=ago(days=1))).pending[0].memory.mid
    new = graphmem.confirm(scope, waits).memory
    assert new is not None and graphmem.why(scope, waits).because == "confirmed"
    assert graphmem.why(scope, new.mid).entry.touches[0].route == "confirm"


def test_why_of_a_plan_an_expired_one_and_one_taken_back(graphmem: Graphmem, scope: Scope) -> None:
    plan = graphmem.remember(scope, Remember("employer", "Blue Mill", valid_from=datetime.now(UTC) + timedelta(days=3))).memory
    stale = graphmem.remember(scope, Remember("drink_preference", "cola", said_at=ago(days=400))).memory
    wrong = graphmem.remember(scope, Remember("home_city", "Nanjing", said_at=ago(days=4))).memory
    assert plan is not None and stale is not None and wrong is not None
    graphmem.retract(scope, wrong.mid)
    assert [graphmem.why(scope, m.mid).because for m in (plan, stale, wrong)] == ["scheduled", "expired", "retracted"]
    assert graphmem.why(scope, wrong.mid).entry.touches[-1].route == "retract"


def test_why_is_only_for_ones_own_memories_that_are_not_forgotten(graphmem: Graphmem, scope: Scope) -> None:
    mid = said(graphmem, scope, "I live in Berlin.", ago(days=9), "t-1")
    for asker, asked in ((Scope(scope.tenant, "user-2"), mid), (scope, "no-such")):
        with pytest.raises(NotFoundError):
            graphmem.why(asker, asked)
    after = said(graphmem, scope, "I moved to Hamburg.", ago(days=2), "t-2")
    graphmem.forget(scope, mid)
    with pytest.raises(NotFoundError):
        graphmem.why(scope, mid)
    assert "Berlin" not in repr(graphmem.why(scope, after))


# --- at the terminal


def test_the_terminal_tells_why_when_and_what_is_related(
    graphmem: Graphmem, neo4j_server: Neo4jServer, scope: Scope, tmp_path: Path
) -> None:
    old = said(graphmem, scope, "I live in Berlin.", ago(days=9), "t-1")
    new = said(graphmem, scope, "I moved to Hamburg.", ago(days=2), "t-2")
    pet = graphmem.remember(scope, Remember("pet", "cat")).memory
    assert pet is not None
    graphmem.relate(scope, RelationType.DERIVED_FROM, pet.mid, new)
    terminal = Terminal(environment(neo4j_server, tmp_path), scope.tenant, scope.user)
    told = terminal.mine("why", old)
    assert told.code == 0 and "not told" in told.data and "I live in Berlin" in told.data and "took its place" in told.talk
    lines = terminal.mine("timeline", "--key", "home_city", "-o", "jsonl").lines()
    assert [cast(dict[str, Any], e["memory"])["mid"] for e in lines] == [new, old]
    assert "Hamburg" in terminal.mine("timeline", "--order", "recorded").data
    (found,) = terminal.mine("related", pet.mid, "--type", "DERIVED_FROM", "-o", "jsonl").lines()
    assert cast(dict[str, Any], found["memory"])["mid"] == new
    assert terminal.mine("why", "no-such").code == 7 and terminal.mine("related", pet.mid, "--type", "KNOWS").code == 2


def test_records_of_writes_hold_rules_and_never_text(graphmem: Graphmem, scope: Scope) -> None:
    said(graphmem, scope, "I live in Berlin.", ago(days=9), "t-1")
    (record,) = changes(graphmem, scope)
    outcome = json.loads(record["outcome"])
    ((rule, certainty, span),) = outcome["rules"]
    assert rule.startswith("home_city") and 0.85 <= certainty <= 1 and span == [0, 16]
    assert "berlin" not in record["outcome"].lower() and Kind.FACT.value not in outcome
