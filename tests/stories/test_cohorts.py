"""Cohorts of a tenant on the real store: who holds something, now and then; never of another tenant, never without the right."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.cohorts import Cohort, CohortQuery
from graphmem.errors import InvalidInputError, RefusedError
from graphmem.memory import Provenance, SourceKind
from graphmem.scope import Scope, TenantScope
from tests.conftest import new_tenant
from tests.graph_view import ago

RIGHTS = frozenset({"cohort"})
DOCUMENT = Provenance(SourceKind.DOCUMENT, "letter-1")


def asker(scope: Scope, rights: frozenset[str] = RIGHTS) -> TenantScope:
    return TenantScope(scope.tenant, "service:desk", rights)


def say(g: Graphmem, tenant: str, user: str, key: str, value: str | None, days: float = 9, **given: Any) -> str:
    done = g.remember(Scope(tenant, user), Remember(key, value, said_at=ago(days=days), **given))
    assert done.memory is not None
    return done.memory.mid


def users(found: Cohort) -> list[str]:
    return [u.user_id for u in found.items]


def now(g: Graphmem, scope: Scope, key: str, concept: str, **given: Any) -> list[str]:
    return users(g.cohort(asker(scope), CohortQuery(key, concept, **given)))


def test_the_users_whose_family_history_has_a_condition_are_found_each_once_with_the_reasons(graphmem: Graphmem, scope: Scope) -> None:
    reasons = [say(graphmem, scope.tenant, "u-1", "family_history", "糖尿病", subject=who) for who in ("father", "mother")]
    say(graphmem, scope.tenant, "u-2", "family_history", "diabetes", subject="father")
    say(graphmem, scope.tenant, "u-3", "family_history", "hypertension", subject="father")
    say(graphmem, scope.tenant, "u-3", "disease", "diabetes")
    found = graphmem.cohort(asker(scope), CohortQuery("family_history", "diabetes"))
    assert (users(found), found.slow, found.concept, found.has_next) == (["u-1", "u-2"], False, "disease:diabetes", False)
    assert [m.mid for m in found.items[0].members] == reasons
    assert now(graphmem, scope, "family_history", "disease:diabetes", subject="mother") == ["u-1"]


def test_who_is_allergic_now_and_who_was_on_that_date(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope.tenant, "u-1", "allergy", "penicillin", 9)
    say(graphmem, scope.tenant, "u-2", "allergy", "青霉素", 4)
    say(graphmem, scope.tenant, "u-3", "allergy", "penicillin", 9)
    say(graphmem, scope.tenant, "u-3", "allergy", "penicillin", 6, polarity="-", source=DOCUMENT)
    assert now(graphmem, scope, "allergy", "penicillin") == ["u-1", "u-2"]
    then = graphmem.cohort(asker(scope), CohortQuery("allergy", "青霉素", as_of=ago(days=8)))
    assert (users(then), then.slow) == (["u-1", "u-3"], True)
    assert now(graphmem, scope, "allergy", "penicillin", as_of=ago(days=5)) == ["u-1"]
    assert now(graphmem, scope, "allergy", "penicillin", as_of=ago(days=20)) == []
    assert now(graphmem, scope, "allergy", "penicillin", known_at=ago(days=1)) == []


def test_opposed_ended_over_expired_forgotten_planned_and_pending_ones_never_count(graphmem: Graphmem, scope: Scope) -> None:
    t = scope.tenant
    say(graphmem, t, "told", "drink_preference", "cola", 3)
    say(graphmem, t, "opposed", "drink_preference", "cola", 3)
    say(graphmem, t, "opposed", "drink_preference", "cola", 2, polarity="-")
    say(graphmem, t, "denied", "drink_preference", "cola", 2, polarity="-")
    say(graphmem, t, "ended", "drink_preference", "cola", 3)
    say(graphmem, t, "ended", "drink_preference", "cola", 2, ends=True)
    say(graphmem, t, "expired", "drink_preference", "cola", 400)
    say(graphmem, t, "over", "drink_preference", "cola", 3, valid_to=datetime.now(UTC) + timedelta(milliseconds=400))
    say(graphmem, t, "planned", "drink_preference", "cola", 3, valid_from=datetime.now(UTC) + timedelta(days=3))
    graphmem.forget(Scope(t, "forgotten"), say(graphmem, t, "forgotten", "drink_preference", "cola", 3))
    graphmem.retract(Scope(t, "retracted"), say(graphmem, t, "retracted", "drink_preference", "cola", 3))
    threading.Event().wait(0.5)
    assert now(graphmem, scope, "drink_preference", "cola") == ["told"]
    assert now(graphmem, scope, "drink_preference", "cola", as_of=datetime.now(UTC)) == ["told"]
    later = datetime.now(UTC) + timedelta(days=4)
    assert now(graphmem, scope, "drink_preference", "cola", as_of=later) == ["planned", "told"]


def test_a_plan_counts_from_the_moment_it_is_due_whether_or_not_a_sweeper_ran(graphmem: Graphmem, scope: Scope) -> None:
    due = datetime.now(UTC) + timedelta(milliseconds=600)
    say(graphmem, scope.tenant, "u-1", "employer", "Siemens", 9)
    say(graphmem, scope.tenant, "u-1", "employer", "Blue Mill", 9, valid_from=due)
    assert now(graphmem, scope, "employer", "Siemens") == ["u-1"] and now(graphmem, scope, "employer", "Blue Mill") == []
    threading.Event().wait(0.8)
    assert now(graphmem, scope, "employer", "Siemens") == [] and now(graphmem, scope, "employer", "Blue Mill") == ["u-1"]


def test_a_hedged_denial_or_a_bare_one_does_not_take_somebody_out(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope.tenant, "u-1", "allergy", "penicillin", 9)
    say(graphmem, scope.tenant, "u-1", "allergy", "penicillin", 2, polarity="-")
    assert now(graphmem, scope, "allergy", "penicillin") == ["u-1"]


def test_another_tenant_is_never_seen_whatever_its_name(graphmem: Graphmem, scope: Scope) -> None:
    near = Scope(f"{scope.tenant}a", "u-9")
    say(graphmem, scope.tenant, "u-1", "allergy", "penicillin")
    for tenant in (near.tenant, new_tenant()):
        say(graphmem, tenant, "u-9", "allergy", "penicillin")
    for moment in (None, ago(days=1)):
        assert now(graphmem, scope, "allergy", "penicillin", as_of=moment) == ["u-1"]
        assert now(graphmem, near, "allergy", "penicillin", as_of=moment) == ["u-9"]
    foreign = graphmem.cohort(asker(near), CohortQuery("allergy", "penicillin", limit=1))
    assert foreign.next is None
    graphmem.wipe(near.tenant)


def test_without_the_right_nothing_is_read_and_nothing_recorded(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope.tenant, "u-1", "allergy", "penicillin")
    with pytest.raises(RefusedError) as fault:
        graphmem.cohort(asker(scope, frozenset({"fresh_proof"})), CohortQuery("allergy", "penicillin"))
    assert fault.value.code == "forbidden" and audits(graphmem, scope) == []


def audits(g: Graphmem, scope: Scope) -> list[dict[str, Any]]:
    found = g.neo4j.text("MATCH (c:Change {tenant_id: $t, route: 'cohort'}) RETURN properties(c) AS c ORDER BY c.at", {"t": scope.tenant})
    return [r["c"] for r in found]


def test_every_question_is_recorded_with_who_asked_and_no_value(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope.tenant, "u-1", "hobby", "collecting blue tickets")
    assert now(graphmem, scope, "hobby", "collecting blue tickets") == ["u-1"]
    assert now(graphmem, scope, "allergy", "penicillin", as_of=ago(days=1)) == []
    opened, past = audits(graphmem, scope)
    assert opened["actor"] == "service:desk" and json.loads(opened["outcome"])["found"] == 1
    assert "tickets" not in repr(opened) and json.loads(past["outcome"])["concept"] == "drug:penicillin"
    assert graphmem.timeline(Scope(scope.tenant, "u-1")).total == 1
    graphmem.wipe(scope.tenant)
    assert audits(graphmem, scope) == []


@pytest.mark.parametrize("past", [False, True])
def test_pages_hold_every_user_once_while_others_are_added(graphmem: Graphmem, scope: Scope, past: bool) -> None:
    for n in range(12):
        say(graphmem, scope.tenant, f"u-{n:02}", "family_history", "diabetes", subject="father")
        if n % 3 == 0:
            say(graphmem, scope.tenant, f"u-{n:02}", "family_history", "diabetes", subject="mother")
    stop = threading.Event()

    def add() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            say(graphmem, scope.tenant, f"u-{n % 12:02}a{n}", "family_history", "diabetes", subject="father")

    writer = threading.Thread(target=add)
    writer.start()
    try:
        seen: list[str] = []
        cursor: str | None = None
        while True:
            moment = datetime.now(UTC) if past else None
            page = graphmem.cohort(asker(scope), CohortQuery("family_history", "diabetes", limit=3, cursor=cursor, as_of=moment))
            seen += users(page)
            cursor = page.next
            if not page.has_next or len(seen) > 400:
                break
    finally:
        stop.set()
        writer.join()
    assert len(seen) == len(set(seen)) and {f"u-{n:02}" for n in range(12)} <= set(seen)


@pytest.mark.parametrize(
    "query",
    [
        CohortQuery("no_such_key", "x"), CohortQuery("allergy", " "), CohortQuery("allergy", "x", limit=0),
        CohortQuery("allergy", "x", limit=101), CohortQuery("allergy", "x", cursor="!"),
        CohortQuery("allergy", "x", as_of=datetime(2024, 1, 1)),  # noqa: DTZ001
        CohortQuery("allergy", "x", cursor="IjF8b3RoZXJ8Ig"),
    ],
)  # fmt: skip
def test_questions_that_make_no_sense_are_refused(graphmem: Graphmem, scope: Scope, query: CohortQuery) -> None:
    with pytest.raises(InvalidInputError):
        graphmem.cohort(asker(scope), query)
