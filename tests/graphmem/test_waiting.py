"""Candidates that wait for an answer, and what refusals suggest: the pure part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import FollowUp, Kind, Statement, Text2, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.implicit import inferred
from graphmem.pipeline.waiting import WAITS_MS, asked, dumped, loaded
from graphmem.writing import StoredTurn

WORDS = (load_ontology(), load_lexicon())
AT = 1_800_000_000_000
CANDIDATE = Statement(
    Kind.FACT,
    "allergy",
    "青霉素",
    "drug:penicillin",
    subject="mother",
    polarity="-",
    start=datetime(2026, 3, 1, tzinfo=UTC),
    confidence=0.5,
    rule="r.1",
)
WAITING = dumped([FollowUp(CANDIDATE, Text2("关于母亲：对青霉素过敏吗？", "About your mother: allergic to penicillin?"))])


def turn(text: str, role: str = "user", at: int = AT, waiting: str | None = None, turn_id: str = "t-1") -> StoredTurn:
    return StoredTurn(ref="r", turn_id=turn_id, session_id="s", role=role, text=text, at=at, waiting=waiting)


def test_a_candidate_comes_back_from_its_turn_as_it_was_heard() -> None:
    (found,) = loaded(turn("…", waiting=WAITING))
    assert replace(found.statement, confidence=CANDIDATE.confidence) == CANDIDATE
    assert found.candidate_id == "t-1#0"


@pytest.mark.parametrize(("later", "waits"), [(0, True), (WAITS_MS, True), (WAITS_MS + 1, False), (-1, False)])
def test_a_candidate_waits_for_24_hours(later: int, waits: bool) -> None:
    assert (asked([turn("…", waiting=WAITING)], Turn("是的"), AT + later) is not None) is waits


@pytest.mark.parametrize(
    ("between", "waits"),
    [
        ("关于母亲：对青霉素过敏吗？", True),
        ("想确认一下，您母亲是不是对青霉素过敏？", True),
        ("要不要帮您订七点的位子？", False),
        ("青霉素是一种抗生素。", False),
    ],
)
def test_an_answer_to_another_question_is_no_answer_to_the_candidate(between: str, waits: bool) -> None:
    stored = [turn("…", waiting=WAITING), turn(between, "assistant", turn_id="t-2")]
    assert (asked(stored, Turn("是的"), AT + 1000) is not None) is waits


def test_an_answer_may_name_its_candidate() -> None:
    stored = [turn("…", waiting=WAITING), turn("好的。", "assistant", turn_id="t-2"), turn("还有别的", turn_id="t-3")]
    assert asked(stored, Turn("是的"), AT + 1000) is None
    for named in ("t-1", "t-1#0"):
        assert asked(stored, Turn("是的", answers=named), AT + 1000) is not None


def said(stored: Sequence[StoredTurn], text: str, at: int = AT) -> list[tuple[str | None, object]]:
    return [(s.value, s.metadata["evidence"]) for s in inferred(stored, Turn(text, turn_id="now"), at, "zh", WORDS)]


REFUSALS = ("太贵了，换一个吧", "还有没有便宜点的", "That's too expensive")


def test_three_refusals_for_the_price_suggest_price_sensitivity_and_name_their_turns() -> None:
    stored = [turn(REFUSALS[0], turn_id="a"), turn("这款呢？", "assistant"), turn(REFUSALS[1], turn_id="b"), turn("这款呢？", "assistant")]
    assert said(stored, REFUSALS[2]) == [("价格敏感", ["a", "b", "now"])]
    assert said(stored[:2], REFUSALS[2]) == []
    assert said(stored, "好的，就这个") == []


def test_turning_down_a_luxury_offer_is_a_refusal_and_turning_down_another_is_none() -> None:
    for offer, expected in (("Shall I put you in first class?", 1), ("Shall I put you in row seven?", 0)):
        stored = [turn(REFUSALS[0], turn_id="a"), turn(REFUSALS[1], turn_id="b"), turn(offer, "assistant")]
        assert len(said(stored, "No thanks")) == expected


def test_refusals_older_than_90_days_do_not_count_and_the_fourth_asks_no_more() -> None:
    day = 24 * 3600 * 1000
    old = [turn(REFUSALS[0], at=AT - 91 * day), turn(REFUSALS[1], at=AT)]
    assert said(old, REFUSALS[2]) == []
    assert said([turn(REFUSALS[0]), turn(REFUSALS[1]), turn(REFUSALS[2])], REFUSALS[0]) == []


@pytest.mark.parametrize("text", ["The film was too long", "这家店有点远", "价格是多少？", "Is it expensive?"])
def test_what_is_no_refusal_for_the_price_does_not_count(text: str) -> None:
    assert said([turn(REFUSALS[0]), turn(REFUSALS[1])], text) == []
