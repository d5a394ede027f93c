"""A candidate under the confidence to be stored: asked about, completed or dropped by the next answer, on the real stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem.answers import Injected
from graphmem.app import Graphmem, open_graphmem
from graphmem.memory import Turn
from graphmem.scope import Scope
from tests.conftest import Neo4jServer, settings_for

AT = datetime(2026, 11, 2, 9, tzinfo=UTC)


def say(graphmem: Graphmem, scope: Scope, text: str, minutes: float = 0, role: str = "user") -> Injected:
    at = AT + timedelta(minutes=minutes)
    return graphmem.inject(scope, Turn(text, role=role, session_id="s", turn_id=f"t{minutes}", at=at))  # type: ignore[arg-type]


def held(graphmem: Graphmem, scope: Scope, key: str, subject: str = "self") -> list[tuple[str | None, str]]:
    return [(m.value, m.polarity) for m in graphmem.latest(scope, key, subject=subject).items]


@pytest.mark.parametrize(
    ("text", "yes", "key", "subject", "value"),
    [
        ("I think maybe I live in Leeds", "Yes", "home_city", "self", "Leeds"),
        ("我妈好像对青霉素过敏", "是的", "allergy", "mother", "青霉素"),
        ("My mother may be allergic to shrimp", "Yes, she is", "allergy", "mother", "shrimp"),
        ("我可能对花生过敏", "对的", "allergy", "self", "花生"),
    ],
)
def test_a_yes_completes_the_candidate_of_the_subject_it_was_about(
    graphmem: Graphmem, scope: Scope, text: str, yes: str, key: str, subject: str, value: str
) -> None:
    asked = say(graphmem, scope, text)
    assert [f.candidate_id for f in asked.follow_up] == ["t0#0"]
    assert held(graphmem, scope, key, subject) == []
    say(graphmem, scope, yes, 1)
    assert held(graphmem, scope, key, subject) == [(value, "+")]
    assert subject == "self" or held(graphmem, scope, key) == []
    assert graphmem.latest(scope, key, subject=subject).pending == ()


@pytest.mark.parametrize(("text", "no"), [("I think maybe I live in Leeds", "No"), ("我觉得我可能住在苏州", "不是")])
def test_a_no_drops_the_candidate_for_good(graphmem: Graphmem, scope: Scope, text: str, no: str) -> None:
    assert len(say(graphmem, scope, text).follow_up) == 1
    say(graphmem, scope, no, 1)
    say(graphmem, scope, "yes", 2)
    assert held(graphmem, scope, "home_city") == []


@pytest.mark.parametrize(
    ("text", "answer", "value"),
    [
        ("I think maybe I live in Leeds", "No, it's York", "York"),
        ("我觉得我可能住在苏州", "不是，是杭州", "杭州"),
        ("I think maybe I live in Leeds", "York", "York"),
    ],
)
def test_another_value_completes_the_candidate_with_that_value(
    graphmem: Graphmem, scope: Scope, text: str, answer: str, value: str
) -> None:
    assert len(say(graphmem, scope, text).follow_up) == 1
    say(graphmem, scope, answer, 1)
    assert held(graphmem, scope, "home_city") == [(value, "+")]


def test_a_refused_allergy_is_pending_no_more(graphmem: Graphmem, scope: Scope) -> None:
    assert [p.reason for p in say(graphmem, scope, "我可能对花生过敏").pending] == ["hedged"]
    say(graphmem, scope, "没有", 1)
    told = graphmem.latest(scope, "allergy")
    assert ([m.polarity for m in told.items], told.pending) == (["-"], ())


def test_a_yes_to_something_else_confirms_nothing(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope, "我可能对花生过敏")
    say(graphmem, scope, "要不要给您留个靠窗的位子？", 1, "assistant")
    say(graphmem, scope, "好的，可以", 2)
    assert held(graphmem, scope, "allergy") == []


def test_a_candidate_waits_24_hours_and_no_longer(graphmem: Graphmem, scope: Scope) -> None:
    say(graphmem, scope, "I think maybe I live in Leeds")
    say(graphmem, scope, "yes", 24 * 60 + 1)
    assert held(graphmem, scope, "home_city") == []


def test_a_candidate_outlives_the_process(graphmem: Graphmem, scope: Scope, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    say(graphmem, scope, "我妈好像对青霉素过敏")
    with open_graphmem(settings_for(neo4j_server, tmp_path)) as another:
        say(another, scope, "是的", 1)
        assert held(another, scope, "allergy", "mother") == [("青霉素", "+")]


def test_three_refusals_for_the_price_are_pending_until_the_user_confirms_them(graphmem: Graphmem, scope: Scope) -> None:
    for n, text in enumerate(("太贵了", "有没有便宜点的")):
        assert say(graphmem, scope, text, n).pending == ()
    (pending,) = say(graphmem, scope, "这个也太贵了，换一个", 2).pending
    assert (pending.reason, pending.memory.key, pending.memory.confidence) == ("inferred", "price_preference", 0.6)
    assert pending.memory.metadata["evidence"] == ["t0", "t1", "t2"]
    assert held(graphmem, scope, "price_preference") == []
    graphmem.confirm(scope, pending.memory.mid)
    assert held(graphmem, scope, "price_preference") == [("价格敏感", "+")]


def test_the_next_yes_confirms_what_was_inferred_and_the_next_no_rejects_it(graphmem: Graphmem, scope: Scope) -> None:
    for user, answer, polarity in (("a", "Yes", "+"), ("b", "No", "-")):
        own = Scope(scope.tenant, user)
        for n, text in enumerate(("Too expensive", "That is so pricey", "I can't afford that")):
            done = say(graphmem, own, text, n)
        assert [p.reason for p in done.pending] == ["inferred"]
        say(graphmem, own, answer, 3)
        told = graphmem.latest(own, "price_preference")
        assert ([(m.value, m.polarity) for m in told.items], told.pending) == ([("price-sensitive", polarity)], ())
