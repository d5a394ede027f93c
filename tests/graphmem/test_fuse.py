"""Several lists into one order, and one calibrated score."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.ports import LEXICAL, Candidate
from graphmem.recall.calibration import Platt
from graphmem.recall.fuse import Reply, calibrated, fuse, inherit, value_evidence, weights
from graphmem.recall.named_dates import DATE_BONUS, NamedDate, date_bonus, named_dates

SCALE = {"use": Platt(10, -5).probability, "e5": Platt(50, -40).probability}


def candidate(name: str, **scores: float) -> Candidate:
    return Candidate(name, name, "fact", 1, scores)


def test_lists_are_weighed_as_they_were_measured() -> None:
    assert weights(["use", LEXICAL], "zh") == {"use": 1.0, LEXICAL: 1.0}
    assert weights(["use", LEXICAL], "en") == {"use": 0.3, LEXICAL: 1.0}
    assert weights(["use", "e5", LEXICAL], "en") == {"use": 0.3, "e5": 1.0, LEXICAL: 1.0}
    assert weights(["bge-m3", LEXICAL], "en") == {"bge-m3": 1.0, LEXICAL: 1.0}


def test_for_a_recommendation_meaning_decides_and_words_only_where_there_is_nothing_else() -> None:
    by_word, by_meaning = candidate("word", use=0.2, lexical=9.0), candidate("meaning", use=0.7)
    asked = weights(["use", LEXICAL], "en", recommendation=True)
    assert list(fuse([by_word, by_meaning], asked)) == ["meaning", "word"]
    assert list(fuse([by_word, by_meaning], weights(["use", LEXICAL], "en"))) == ["word", "meaning"]
    assert weights([LEXICAL], "en", recommendation=True) == {LEXICAL: 1.0}


def test_each_list_is_scaled_before_it_is_summed() -> None:
    found = [candidate("a", use=0.9, lexical=4.0), candidate("b", use=0.5, lexical=8.0), candidate("c", use=0.7)]
    assert fuse(found, {"use": 1.0, LEXICAL: 1.0}) == pytest.approx({"a": 1.5, "b": 1.0, "c": 0.5})


def test_a_lexical_hit_of_zero_is_no_hit() -> None:
    assert fuse([candidate("a", lexical=0.0), candidate("b", lexical=2.0)], {LEXICAL: 1.0}) == {"b": 1.0, "a": 0.0}
    assert fuse([candidate("a", lexical=0.0), candidate("b", lexical=0.0)], {LEXICAL: 1.0}) == {"a": 0.0, "b": 0.0}


def test_only_the_top_of_a_list_counts() -> None:
    found = [candidate(f"{n:03}", use=1 - n / 1000) for n in range(150)]
    made = fuse(found, {"use": 1.0})
    assert made["099"] == 0.0
    assert made["098"] > 0
    assert {made[f"{n:03}"] for n in range(100, 150)} == {0.0}


def test_a_memory_in_another_language_is_not_pushed_down_by_the_embedder_that_cannot_read_it() -> None:
    chinese = candidate("zh", use=0.8)
    english = [candidate("en1", use=0.4, e5=0.80), candidate("en2", use=0.3, e5=0.78)]
    made = fuse([chinese, *english], {"use": 0.3, "e5": 1.0})
    assert next(iter(made)) == "zh"
    full = fuse([chinese, *english], {"use": 0.3, "e5": 1.0}, limit=2)
    assert full["zh"] == pytest.approx(0.3)


def test_equal_scores_are_ordered_by_id_in_every_run() -> None:
    assert list(fuse([candidate("b", use=0.5), candidate("a", use=0.5)], {"use": 1.0})) == ["a", "b"]
    assert fuse([], {"use": 1.0, LEXICAL: 1.0}) == {}
    assert fuse([candidate("a", use=0.5)], {}) == {"a": 0.0}


def test_a_persons_answer_inherits_half_of_its_question_and_an_assistants_nothing() -> None:
    scores = {"question": 1.0, "answer": 0.2}
    replies = [Reply("answer", "question", True), Reply("bot", "question", False), Reply("new", "question", True), Reply("x", "gone", True)]
    assert inherit(scores, replies) == {"question": 1.0, "answer": 0.7, "new": 0.5}


def test_what_is_inherited_is_not_inherited_again() -> None:
    assert inherit({"q": 1.0}, [Reply("a", "q", True), Reply("b", "a", True)]) == {"q": 1.0, "a": 0.5}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did I eat in May?", {(5, None)}),
        ("May I have tea?", set()),
        ("We march on", set()),
        ("on March 5th", {(3, 5)}),
        ("the 5th of March", {(3, 5)}),
        ("what happened in October and on 12 Nov.", {(10, None), (11, 12)}),
        ("五月我去了哪里", {(5, None)}),
        ("3月5日和十二月", {(3, 5), (12, None)}),
        ("3 月 5 号", {(3, 5)}),
        ("三个月前", set()),
        ("13月", set()),
        ("5月99日", {(5, None)}),
        ("", set()),
    ],
)
def test_months_and_days_named_in_a_question_are_heard(text: str, named: set[tuple[int, int | None]]) -> None:
    assert named_dates(text) == {NamedDate(month, day) for month, day in named}


def test_what_was_said_on_a_named_day_or_month_gets_the_bonus() -> None:
    assert date_bonus(named_dates("in May"), date(2026, 5, 3)) == DATE_BONUS
    assert date_bonus(named_dates("5 May"), date(2026, 5, 3)) == 0.0
    assert date_bonus(named_dates("5月3日"), date(2026, 1, 1), date(2025, 5, 3)) == DATE_BONUS
    assert date_bonus(named_dates("yesterday"), date(2026, 5, 3)) == 0.0


@pytest.mark.parametrize(
    ("query", "values", "evidence"),
    [
        ("我对青霉素过敏吗", ["青霉素"], 1.0),
        ("can I take penicillin", ["青霉素", "penicillin"], 1.0),
        ("想喝拿铁", ["燕麦拿铁"], 0.5 * 3 / 7),
        ("hello", ["oat latte"], 0.0),
        ("的", ["的"], 0.0),
        ("tea", [], 0.0),
    ],
)
def test_a_value_named_word_for_word_is_full_evidence(query: str, values: list[str], evidence: float) -> None:
    assert value_evidence(query, *values) == pytest.approx(evidence)


def test_a_value_named_word_for_word_is_near_enough_without_any_vector() -> None:
    assert calibrated({}, SCALE, 1.0) >= 0.85
    assert calibrated({}, SCALE, 0.5) < 0.85
    assert calibrated({"lexical": 30.0}, SCALE) == 0.0


def test_the_best_embedder_decides_on_the_common_scale() -> None:
    assert calibrated({"use": 0.9, "e5": 0.5}, SCALE) == SCALE["use"](0.9)
    assert calibrated({"use": 0.1, "e5": 0.9}, SCALE) == SCALE["e5"](0.9)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_likeness_or_more_evidence_never_lowers_the_score(use: float, e5: float, evidence: float, up: float, more: float) -> None:
    base = calibrated({"use": use, "e5": e5}, SCALE, evidence)
    assert 0 <= base <= 1
    assert calibrated({"use": use + up, "e5": e5}, SCALE, evidence) >= base - 1e-12
    assert calibrated({"use": use, "e5": e5}, SCALE, min(1.0, evidence + more)) >= base - 1e-12
