"""Changes that a word alone may not make: they wait in a case with both sides, and a reviewer decides once. On the real store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from graphmem.answers import Ask, Remember, Remembered
from graphmem.app import Graphmem
from graphmem.cases import ReviewDecided
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from graphmem.memory import Environment, Provenance, SourceKind, Standing, Status, Turn, Verdict
from graphmem.scope import Scope
from tests.counting import at_once
from tests.graph_view import ago, edges
from tests.graph_view import waiting as unprojected

DOCUMENT = Provenance(SourceKind.DOCUMENT, "passport-scan-3")
SHANGHAI, BEIJING = Environment("上海", 31.23, 121.47), Environment("北京", 39.904, 116.407)


def reviewer(scope: Scope, name: str = "1") -> Scope:
    return Scope(scope.tenant, f"staff-{name}", principal=f"staff:{name}", rights=frozenset({"review"}))


def waiting(g: Graphmem, scope: Scope, old: str = "1990-05-02", new: str = "1991-05-02") -> Remembered:
    """A birthday that is held, and another one that waits."""
    g.remember(scope, Remember("birthday", old, said_at=ago(days=2)))
    return g.remember(scope, Remember("birthday", new, said_at=ago(days=1)))


def case_of(done: Remembered) -> str:
    assert done.pending is not None and done.pending.case is not None
    return done.pending.case


def told(g: Graphmem, scope: Scope, key: str) -> list[str | None]:
    return sorted((m.value for m in g.latest(scope, key).items), key=str)


def nodes(g: Graphmem, scope: Scope) -> list[Mapping[str, Any]]:
    text = "MATCH (v:Review {tenant_id: $tenant, user_id: $user}) RETURN properties(v) AS v ORDER BY v.opened_at, v.case_id"
    return [r["v"] for r in g.neo4j.text(text, {"tenant": scope.tenant, "user": scope.user})]


def overdue(g: Graphmem, scope: Scope, case_id: str) -> None:
    text = "MATCH (v:Review {tenant_id: $tenant, case_id: $case}) SET v.due_at = datetime.realtime() - duration('PT1S')"
    g.neo4j.text(text, {"tenant": scope.tenant, "case": case_id})


# --- open, list, show


def test_a_change_that_needs_a_reviewer_opens_one_case_that_names_it_and_holds_no_value(graphmem: Graphmem, scope: Scope) -> None:
    done = waiting(graphmem, scope)
    assert done.verdict is Verdict.REVIEW and done.memory is not None
    one = nodes(graphmem, scope)
    assert len(one) == 1 and one[0]["case_id"] == case_of(done)
    assert (one[0]["state"], one[0]["reason"], one[0]["pending_mid"], one[0]["slot_version"]) == ("open", "review", done.memory.mid, 1)
    assert one[0]["proposed_by"] == "user" and not any(day in str(v) for v in one[0].values() for day in ("1990-05-02", "1991-05-02"))
    assert told(graphmem, scope, "birthday") == ["1990-05-02"]


def test_a_case_shows_both_sides_with_the_clauses_they_were_said_in(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("我对青霉素过敏。", session_id="s-1", turn_id="t-1", at=ago(days=3)))
    done = graphmem.inject(scope, Turn("你好。我现在对青霉素不过敏了。", session_id="s-2", turn_id="t-1", at=ago(days=1)))
    assert done.pending[0].reason == "denial" and done.pending[0].case is not None
    case = graphmem.review(reviewer(scope), done.pending[0].case)
    assert [(m.value, m.polarity) for m in case.held] == [("青霉素", "+")]
    assert case.pending is not None and (case.pending.value, case.pending.polarity, case.pending.status) == ("青霉素", "-", Status.PENDING)
    quotes = {e.mid: e.quote or "" for e in case.evidence}
    assert "过敏" in quotes[case.held[0].mid] and "不过敏" in quotes[case.pending.mid] and "你好" not in quotes[case.pending.mid]
    assert {(e.session_id, e.turn_id) for e in case.evidence} == {("s-1", "t-1"), ("s-2", "t-1")}
    assert case.decisions == ("approve", "reject") and case.item.user_id == scope.user


def test_reading_and_deciding_cases_needs_the_right(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    nobody = replace(reviewer(scope), rights=frozenset({"fresh_proof"}))
    for act in (
        lambda: graphmem.reviews(nobody), lambda: graphmem.review(nobody, case), lambda: graphmem.decide_review(nobody, case, "approve"),
    ):  # fmt: skip
        with pytest.raises(RefusedError) as refused:
            act()
        assert refused.value.code == "forbidden"
    assert nodes(graphmem, scope)[0]["state"] == "open"


def test_a_case_of_another_tenant_looks_like_one_that_does_not_exist(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    foreign = replace(reviewer(scope), tenant=f"{scope.tenant}-b")
    assert graphmem.reviews(foreign).items == ()
    said = set()
    for asked in (case, "no-such-case"):
        for act in (lambda c: graphmem.review(foreign, c), lambda c: graphmem.decide_review(foreign, c, "approve")):
            with pytest.raises(NotFoundError) as missing:
                act(asked)
            said.add(missing.value.detail)
    assert said == {"no case of that id"} and nodes(graphmem, scope)[0]["state"] == "open"


def test_the_inbox_is_of_the_whole_tenant_oldest_first_and_pages_show_each_case_once(graphmem: Graphmem, scope: Scope) -> None:
    cases = [case_of(waiting(graphmem, replace(scope, user=f"user-{i}"))) for i in range(5)]
    seen, cursor = [], None
    while True:
        page = graphmem.reviews(reviewer(scope), limit=2, cursor=cursor)
        seen += [i.case_id for i in page.items]
        assert page.has_next is (page.next is not None)
        if page.next is None:
            break
        cursor = page.next
    assert seen == cases
    graphmem.decide_review(reviewer(scope), cases[1], "reject")
    assert [i.case_id for i in graphmem.reviews(reviewer(scope)).items] == [cases[0], *cases[2:]]
    assert [i.case_id for i in graphmem.reviews(reviewer(scope), "rejected").items] == [cases[1]]
    for cursor, state in (("garbage", None), (None, "no_state")):
        with pytest.raises(InvalidInputError):
            graphmem.reviews(reviewer(scope), state, cursor=cursor)


# --- decide


def test_what_staff_approves_is_told_as_verified_from_the_decision_on(graphmem: Graphmem, scope: Scope) -> None:
    before = datetime.now(UTC)
    done = graphmem.decide_review(reviewer(scope), case_of(waiting(graphmem, scope)), "approve", "seen the passport")
    assert done.memory is not None and (done.memory.value, done.memory.standing, done.memory.version) == (
        "1991-05-02",
        Standing.VERIFIED,
        2,
    )
    assert done.memory.valid_from is not None and done.memory.valid_from >= before - timedelta(seconds=5)
    assert done.memory.verified_by == "staff:1"
    assert (done.item.state, done.item.decided_by, done.item.note) == ("approved", "staff:1", "seen the passport")
    assert told(graphmem, scope, "birthday") == ["1991-05-02"]
    assert [m.value for m in graphmem.latest(scope, "birthday", as_of=ago(hours=1)).items] == ["1990-05-02"]


def test_what_is_rejected_leaves_everything_as_it_was(graphmem: Graphmem, scope: Scope) -> None:
    done = graphmem.decide_review(reviewer(scope), case_of(waiting(graphmem, scope)), "reject")
    assert done.memory is None and done.item.state == "rejected"
    assert told(graphmem, scope, "birthday") == ["1990-05-02"] and len([e for e in edges(graphmem, scope) if e.version]) == 1


def test_who_proposed_a_fact_may_not_decide_it_and_another_may(graphmem: Graphmem, scope: Scope) -> None:
    clerk = replace(scope, principal="staff:1")
    case = case_of(waiting(graphmem, clerk))
    for decision in ("approve", "reject", "keep_both"):
        with pytest.raises(RefusedError) as refused:
            graphmem.decide_review(reviewer(scope, "1"), case, decision)
        assert refused.value.code == "four_eyes"
    assert graphmem.decide_review(reviewer(scope, "2"), case, "approve").item.state == "approved"


def test_the_same_decision_again_gives_the_same_answer_and_any_other_is_told_that_it_is_decided(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    first = graphmem.decide_review(reviewer(scope), case, "approve", "one")
    again = graphmem.decide_review(reviewer(scope), case, "approve", "two")
    assert again.replayed and not first.replayed and again == replace(first, replayed=True)
    for who, decision in (("1", "reject"), ("2", "approve"), ("2", "reject")):
        with pytest.raises(ConflictError) as decided:
            graphmem.decide_review(reviewer(scope, who), case, decision)
        assert decided.value.code == "decided"
    assert len([e for e in edges(graphmem, scope) if e.version]) == 2


def test_twenty_reviewers_at_once_make_one_decision(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    words = [(str(i % 4), "approve" if i % 2 else "reject") for i in range(20)]
    found = at_once([partial(graphmem.decide_review, reviewer(scope, who), case, word) for who, word in words], 10)
    done = [(w, f) for w, f in zip(words, found, strict=True) if isinstance(f, ReviewDecided)]
    assert len({w for w, _ in done}) == 1 and sum(not f.replayed for _, f in done) == 1
    assert all(isinstance(f, ReviewDecided) or (isinstance(f, ConflictError) and f.code == "decided") for f in found)
    assert len([e for e in edges(graphmem, scope) if e.version]) == (2 if done[0][1].item.state == "approved" else 1)


def test_a_newer_version_overtakes_the_case(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    graphmem.remember(scope, Remember("birthday", "1992-05-02", source=DOCUMENT))
    assert nodes(graphmem, scope)[0]["state"] == "overtaken"
    with pytest.raises(ConflictError) as late:
        graphmem.decide_review(reviewer(scope), case, "approve")
    assert late.value.code == "overtaken" and told(graphmem, scope, "birthday") == ["1992-05-02"]
    assert graphmem.review(reviewer(scope), case).decisions == ()


def test_a_late_arrival_in_the_slot_overtakes_the_case_when_it_is_decided(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    assert graphmem.remember(scope, Remember("birthday", "1989-05-02", said_at=ago(days=3))).verdict is Verdict.BACKFILL
    for _ in range(2):
        with pytest.raises(ConflictError) as late:
            graphmem.decide_review(reviewer(scope), case, "approve")
        assert late.value.code == "overtaken"
    assert nodes(graphmem, scope)[0]["state"] == "overtaken"
    assert told(graphmem, scope, "birthday") == ["1990-05-02"] and graphmem.latest(scope, "birthday").pending == ()


def test_a_case_nobody_decided_in_time_is_expired_and_changes_nothing(graphmem: Graphmem, scope: Scope) -> None:
    case = case_of(waiting(graphmem, scope))
    due = graphmem.review(reviewer(scope), case).item
    assert due.due_at - due.opened_at > timedelta(days=28)  # 30 days from when it was said
    overdue(graphmem, scope, case)
    assert graphmem.reviews(reviewer(scope)).items == () and graphmem.review(reviewer(scope), case).decisions == ()
    assert [(i.case_id, i.state) for i in graphmem.reviews(reviewer(scope), "expired").items] == [(case, "expired")]
    with pytest.raises(ConflictError) as late:
        graphmem.decide_review(reviewer(scope), case, "approve")
    assert late.value.code == "decided" and told(graphmem, scope, "birthday") == ["1990-05-02"]
    assert [i.state for i in graphmem.reviews(reviewer(scope), "expired").items] == ["expired"]


def test_the_users_own_no_closes_the_case(graphmem: Graphmem, scope: Scope) -> None:
    done = waiting(graphmem, scope)
    assert done.memory is not None
    graphmem.reject(scope, done.memory.mid)
    assert nodes(graphmem, scope)[0]["state"] == "rejected"
    with pytest.raises(ConflictError):
        graphmem.decide_review(reviewer(scope), case_of(done), "approve")


def test_a_forgotten_proposal_closes_its_case_and_is_shown_to_nobody(graphmem: Graphmem, scope: Scope) -> None:
    done = waiting(graphmem, scope)
    assert done.memory is not None
    graphmem.forget(scope, done.memory.mid)
    case = graphmem.review(reviewer(scope), case_of(done))
    assert case.item.state != "open" and case.pending is None and case.decisions == ()
    assert "1991-05-02" not in repr(case)


def test_a_change_that_needs_two_proofs_is_rejected_but_never_approved_by_one_reviewer(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("phone", "13800138000", said_at=ago(days=2)))
    case = case_of(graphmem.remember(scope, Remember("phone", "13900139000", said_at=ago(days=1))))
    with pytest.raises(RefusedError) as refused:
        graphmem.decide_review(reviewer(scope), case, "approve")
    assert refused.value.code == "verification_required" and graphmem.review(reviewer(scope), case).decisions == ("reject",)
    assert graphmem.decide_review(reviewer(scope), case, "reject").item.state == "rejected"
    assert told(graphmem, scope, "phone") == ["13800138000"]


# --- keep both


def test_both_are_kept_where_an_end_of_one_concept_stands_beside_another(graphmem: Graphmem, scope: Scope) -> None:
    for value in ("青霉素", "花生"):
        graphmem.remember(scope, Remember("allergy", value, said_at=ago(days=2)))
    case = case_of(graphmem.remember(scope, Remember("allergy", "青霉素", ends=True)))
    assert graphmem.review(reviewer(scope), case).decisions == ("approve", "reject", "keep_both")
    assert graphmem.decide_review(reviewer(scope), case, "keep_both").item.state == "kept_both"
    assert told(graphmem, scope, "allergy") == ["花生", "青霉素"]


def test_an_end_that_is_approved_ends_that_concept_and_no_other(graphmem: Graphmem, scope: Scope) -> None:
    for value in ("青霉素", "花生"):
        graphmem.remember(scope, Remember("allergy", value, said_at=ago(days=2)))
    case = case_of(graphmem.remember(scope, Remember("allergy", "青霉素", ends=True)))
    assert graphmem.decide_review(reviewer(scope), case, "approve").item.state == "approved"
    assert told(graphmem, scope, "allergy") == ["花生"]
    assert [m.value for m in graphmem.latest(scope, "allergy", as_of=ago(days=1)).items].count("青霉素") == 1


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ((Remember("allergy", "青霉素"),), Remember("allergy", "青霉素", ends=True)),
        ((Remember("allergy", "青霉素"), Remember("allergy", "花生")), Remember("allergy", "青霉素", polarity="-")),
        ((Remember("birthday", "1990-05-02"),), Remember("birthday", "1991-05-02")),
    ],
    ids=["one concept only", "a denial and what it denies", "a key that holds one"],
)
def test_both_are_kept_only_for_two_concepts_of_a_key_that_holds_many(
    graphmem: Graphmem, scope: Scope, held: tuple[Remember, ...], said: Remember
) -> None:
    for ask in held:
        graphmem.remember(scope, replace(ask, said_at=ago(days=2)))
    case = case_of(graphmem.remember(scope, said))
    assert "keep_both" not in graphmem.review(reviewer(scope), case).decisions
    with pytest.raises(InvalidInputError) as refused:
        graphmem.decide_review(reviewer(scope), case, "keep_both")
    assert refused.value.field == "decision" and nodes(graphmem, scope)[0]["state"] == "open"


def test_approving_the_denial_of_a_whole_key_denies_each_thing_that_is_held(graphmem: Graphmem, scope: Scope) -> None:
    for value in ("青霉素", "花生"):
        graphmem.remember(scope, Remember("allergy", value, said_at=ago(days=2)))
    done = graphmem.inject(scope, Turn("我没有任何过敏。", at=ago(hours=1)))
    assert [p.reason for p in done.pending] == ["denial"] and told(graphmem, scope, "allergy") == ["花生", "青霉素"]
    case = done.pending[0].case
    assert case is not None
    graphmem.decide_review(reviewer(scope), case, "approve")
    assert not [m for m in graphmem.latest(scope, "allergy").items if m.polarity == "+"]


# --- quota


def test_a_flood_of_conflicts_stops_at_the_quota_and_replacing_one_is_still_possible(
    graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphmem.room, "settings", graphmem.settings.model_copy(update={"review_quota": 2}))
    keys = ("birthday", "gender", "name")
    for key in keys:
        graphmem.remember(scope, Remember(key, "one", said_at=ago(days=2)))
    verdicts = [graphmem.remember(scope, Remember(key, "two", said_at=ago(days=1))).verdict for key in keys]
    assert verdicts == [Verdict.REVIEW, Verdict.REVIEW, Verdict.REFUSED]
    assert graphmem.remember(scope, Remember("gender", "three", said_at=ago(hours=1))).verdict is Verdict.REVIEW
    assert [v["state"] for v in nodes(graphmem, scope)] == ["open", "overtaken", "open"]
    graphmem.decide_review(reviewer(scope), graphmem.reviews(reviewer(scope)).items[0].case_id, "reject")
    assert graphmem.remember(scope, Remember("name", "two")).verdict is Verdict.REVIEW
    assert told(graphmem, replace(scope, user="user-2"), "name") == []


# --- drift


def test_a_position_sensed_too_far_away_ends_the_telling_of_the_old_one_until_the_user_speaks(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("早上好。", session_id="s", at=ago(hours=5), environment=SHANGHAI))
    assert told(graphmem, scope, "current_city") == ["上海"] and told(graphmem, scope, "current_location") == ["31.230,121.470"]
    done = graphmem.inject(scope, Turn("中午好。", session_id="s", at=ago(hours=3), environment=BEIJING))
    assert [p.reason for p in done.pending] == ["drift", "drift"] and all(p.case for p in done.pending)
    assert told(graphmem, scope, "current_city") == told(graphmem, scope, "current_location") == []
    assert not [h for h in graphmem.search(scope, "上海").items if h.memory.key == "current_city"]
    recalled = graphmem.recall(replace(scope, rights=frozenset({"fresh_proof"})), Ask("我现在在哪个城市？", tier="L3"))
    assert not [h for h in recalled.memories if h.memory.key in ("current_city", "current_location")]
    assert {i.reason for i in graphmem.reviews(reviewer(scope)).items} == {"drift"}
    assert [m.value for m in graphmem.latest(scope, "current_city", as_of=ago(hours=4)).items] == ["上海"]
    graphmem.inject(scope, Turn("我现在在北京。", session_id="s", at=ago(hours=2)))
    assert told(graphmem, scope, "current_city") == ["北京"] and told(graphmem, scope, "current_location") == ["39.904,116.407"]
    assert graphmem.reviews(reviewer(scope)).items == ()


def test_a_reviewer_may_settle_a_drift_too(graphmem: Graphmem, scope: Scope) -> None:
    for hours, where in ((5, SHANGHAI), (3, BEIJING)):
        graphmem.inject(scope, Turn("好。", session_id="s", at=ago(hours=hours), environment=replace(where, city=None)))
    case = graphmem.reviews(reviewer(scope)).items[0].case_id
    assert told(graphmem, scope, "current_location") == []
    graphmem.decide_review(reviewer(scope), case, "reject")
    assert told(graphmem, scope, "current_location") == ["31.230,121.470"]


def test_an_impossible_position_is_refused_and_nothing_of_the_turn_is_kept(graphmem: Graphmem, scope: Scope) -> None:
    with pytest.raises(InvalidInputError) as refused:
        graphmem.inject(scope, Turn("我住在杭州。", environment=Environment("上海", 95.0, 10.0)))
    assert refused.value.field == "environment/latitude" and edges(graphmem, scope) == []
    with pytest.raises(InvalidInputError):
        graphmem.recall(scope, Ask("老样子", environment=Environment(latitude=10.0)))


def test_a_position_is_never_put_into_the_index(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("好。", session_id="s", environment=SHANGHAI))
    for _ in range(20):
        if not unprojected(graphmem, scope.tenant):
            break
        graphmem.drain(5)
    assert not unprojected(graphmem, scope.tenant)
    held = {e.mid: e.edge["key"] for e in edges(graphmem, scope)}
    page = graphmem.index.ids(scope.tenant, "context")
    assert [held[h.ref] for h in page.items] == ["current_city"]
