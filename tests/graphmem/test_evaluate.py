"""Scoring and reading of evaluation files, on tiny predictions made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from graphmem.evalfile import Answer, Case, Dialogue, EvalFileError, EvidenceTurn, Pair, Question, State, Suite, Update, parse
from graphmem.evalreport import Report
from graphmem.evalscore import Edge, Prediction
from graphmem.evaluate import evaluate
from graphmem.memory import Language

SAFETY = frozenset({"allergy"})

FOOD = {
    "kind": "label",
    "id": "x1",
    "lang": "zh",
    "domain": "food",
    "text": "藕我可从来不吃",
    "memory_type": "preference",
    "predicate": "food_preference",
    "value": "藕",
    "value_any": ["莲藕"],
    "polarity": "-",
    "subject": "self",
}
ALLERGY = {
    "kind": "label",
    "id": "x2",
    "lang": "en",
    "domain": "medical",
    "text": "My niece's teacher aside, it is my son who is allergic to kiwi.",
    "memory_type": "fact",
    "predicate": "allergy",
    "value": "kiwi",
    "polarity": "+",
    "subject": "son",
}
NONE = {"kind": "label", "id": "x3", "lang": "en", "domain": "food", "text": "Is kiwi a berry?", "memory_type": "none"}

DIALOGUE = {
    "dialogue": "d1",
    "lang": "en",
    "domain": "travel",
    "sessions": [{"session": "S1", "time": "2024-03-01T09:00:00+01:00", "turns": [{"role": "user", "text": "Aisle for me, always."}]}],
    "queries": [
        {
            "qid": "q1",
            "as_of": "2024-04-01T12:00:00+02:00",
            "category": "latest",
            "predicate": "seat_preference",
            "answer": "window",
            "answer_any": ["window seat"],
            "stale": ["aisle"],
        }
    ],
}
CASE = {
    "id": "c1",
    "lang": "en",
    "turns": [{"at": "2026-01-12T18:00:00+00:00", "role": "user", "text": "Fondue? Never again."}],
    "expect": {
        "must": [
            {
                "subject": "user",
                "kind": ["preference"],
                "object_any": ["fondue"],
                "polarity": "-",
                "status": "active",
                "valid_from": "2026-01-12T18:00:00Z",
                "count": 1,
            }
        ],
        "must_not": [{"subject": "user", "object_any": ["fondue"], "polarity": "+", "status": "active"}],
    },
}
FONDUE = Edge("self", "preference", "food_preference", "Fondue", "-", "active", datetime(2026, 1, 12, 18, tzinfo=UTC))
TURNS: list[dict[str, object]] = [
    {"kind": "turn", "user": "u1", "id": f"D1:{n}", "session": "D1", "time": None, "speaker": "Ode", "role": "user", "text": f"line {n}"}
    for n in range(1, 13)
]
QUESTION = {
    "kind": "question",
    "user": "u1",
    "qid": "q7",
    "text": "Which line?",
    "as_of": None,
    "gold": ["D1:2", "D1:9"],
    "category": "one",
}
UPDATE = {
    "kind": "update",
    "user": "u1",
    "id": "e1",
    "time": "2024-01-01T00:00:00+00:00",
    "key": "drink_preference",
    "polarity": "+",
    "value": "cold brew",
    "op": "add",
}
STATE = {
    "kind": "state",
    "user": "u1",
    "qid": "s1",
    "key": "drink_preference",
    "as_of": "2024-09-01T00:00:00+00:00",
    "current": [["+", "cold brew"]],
    "stale": [["+", "mocha"]],
}


@dataclass
class Told:
    """A target that says what it was told to say, and remembers what it was asked."""

    predictions: Mapping[str, Sequence[Prediction]] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    edges: Sequence[Edge] = ()
    ranked: Mapping[str, Sequence[str]] = field(default_factory=dict)
    current: Mapping[str, Iterable[Pair]] = field(default_factory=dict)
    stored: list[str] = field(default_factory=list)

    def label(self, text: str, lang: Language) -> Sequence[Prediction]:
        return self.predictions.get(text, ())

    def dialogue(self, dialogue: Dialogue) -> Mapping[str, Answer]:
        return self.answers

    def case(self, case: Case) -> Sequence[Edge]:
        return self.edges

    def retrieve(self, turns: Sequence[EvidenceTurn], questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
        self.stored += [turn.id for turn in turns]
        return self.ranked

    def updates(self, updates: Sequence[Update], states: Sequence[State]) -> Mapping[str, Iterable[Pair]]:
        return self.current


def suite(*lines: Mapping[str, object]) -> Suite:
    return parse([json.dumps(line, ensure_ascii=False) for line in lines], "made.jsonl")


def heard(*said: Prediction, line: Mapping[str, object] = FOOD) -> Report:
    return evaluate(suite(line), Told({str(line["text"]): said}), safety=SAFETY)


def test_a_perfect_prediction_scores_all_right_in_every_group() -> None:
    report = heard(Prediction("preference", "food_preference", "藕", "-", "self"))
    for group in ("all", "zh", "domain:food"):
        assert report.score("label", "all right", group).rate == 1
        assert report.score("label", "type accuracy", group).rate == 1
    assert report.misses == () and report.confusion == ()


def test_an_accepted_other_value_counts_after_folding() -> None:
    assert heard(Prediction("preference", "food_preference", " 莲藕 ", "-")).score("label", "all right").rate == 1
    full_width = heard(Prediction("fact", "allergy", "ＫＩＷＩ", "+", "son"), line=ALLERGY)
    assert full_width.score("label", "all right").rate == 1


def test_a_wrong_polarity_keeps_the_type_but_is_not_all_right() -> None:
    report = heard(Prediction("preference", "food_preference", "藕", "+"))
    assert report.score("label", "type accuracy").rate == 1
    assert report.score("label", "all right").rate == 0
    assert report.score("label", "precision of stored").rate == 0


def test_a_safety_memory_of_the_wrong_person_is_counted_apart_and_is_the_worst_miss() -> None:
    wrong = Prediction("fact", "allergy", "kiwi", "+", "self", rule="allergy.en")
    told = Told({str(ALLERGY["text"]): [wrong], str(FOOD["text"]): []})
    report = evaluate(suite(FOOD, ALLERGY), told, safety=SAFETY)
    assert report.score("label", "safety wrong subject or polarity").hits == 1
    assert report.score("label", "safety recall").rate == 0
    assert report.misses[0].id == "x2" and report.misses[0].rule == "allergy.en"


def test_a_named_friend_is_a_friend() -> None:
    line = {**ALLERGY, "subject": "friend"}
    assert heard(Prediction("fact", "allergy", "kiwi", "+", "friend:Ode"), line=line).score("label", "all right").rate == 1
    assert heard(Prediction("fact", "allergy", "kiwi", "+", "person:Ode"), line=line).score("label", "all right").rate == 0


def test_nothing_heard_is_a_miss_of_recall_but_costs_no_precision() -> None:
    report = heard(Prediction("none", rule="question"))
    assert report.score("label", "recall of memories").rate == 0
    assert report.confusion == (("preference/food_preference", "none", 1),)
    assert report.misses[0].rule == "question"
    with pytest.raises(KeyError):
        report.score("label", "precision of stored")


def test_a_memory_from_a_none_line_is_a_false_memory() -> None:
    report = heard(Prediction("preference", "food_preference", "kiwi"), line=NONE)
    assert report.score("label", "false memories from none").rate == 1
    assert report.score("label", "precision of stored").rate == 0
    assert heard(line=NONE).score("label", "false memories from none").rate == 0


def test_of_several_statements_the_first_of_the_strongest_type_counts() -> None:
    said = [
        Prediction("context", "mood", "happy"),
        Prediction("fact", "allergy", "kiwi", "+", "son"),
        Prediction("fact", "allergy", "plums", "+", "son"),
    ]
    assert heard(*said, line=ALLERGY).score("label", "all right").rate == 1


def test_an_accepted_other_key_brings_its_own_type() -> None:
    line = {**ALLERGY, "predicate": "hobby", "predicate_any": ["likes"], "value": "kiwi"}
    assert heard(Prediction("preference", "likes", "kiwi", "+", "son"), line=line).score("label", "all right").rate == 1


def test_a_dialogue_answer_may_be_any_accepted_name() -> None:
    for answer in ("Window", "window seat", ("window",)):
        report = evaluate(suite(DIALOGUE), Told(answers={"q1": answer}))
        assert report.score("dialogue", "exact", "category:latest").rate == 1
        assert report.score("dialogue", "stale told").hits == 0


def test_a_stale_value_told_is_counted_even_beside_the_right_one() -> None:
    report = evaluate(suite(DIALOGUE), Told(answers={"q1": ("window", "aisle")}))
    assert report.score("dialogue", "exact").rate == 0
    assert report.score("dialogue", "stale told").hits == 1
    assert report.misses[0].id == "d1/q1"


def test_an_empty_answer_is_right_only_where_nothing_is_known() -> None:
    query = {"qid": "q1", "as_of": "2024-04-01T12:00:00Z", "predicate": "mood", "answer": None}
    unknown = suite({**DIALOGUE, "queries": [query]})
    assert evaluate(unknown, Told(answers={"q1": None})).score("dialogue", "exact").rate == 1
    assert evaluate(unknown, Told(answers={"q1": "glad"})).score("dialogue", "exact").rate == 0
    assert evaluate(suite(DIALOGUE), Told()).score("dialogue", "exact").rate == 0


def test_a_list_answer_needs_every_value_and_no_other() -> None:
    query = {"qid": "q1", "as_of": "2024-04-01T12:00:00Z", "predicate": "pet", "answer": ["cat", "dog"], "answer_any": ["kitty"]}
    many = suite({**DIALOGUE, "queries": [query]})
    right = {("dog", "cat"): 1, ("dog", "kitty"): 1, ("dog",): 0, ("dog", "cat", "eel"): 0}
    for answer, rate in right.items():
        assert evaluate(many, Told(answers={"q1": answer})).score("dialogue", "exact").rate == rate


def test_answers_about_a_concept_are_counted_apart() -> None:
    query = {"qid": "q1", "as_of": "2024-04-01T12:00:00Z", "predicate": "allergy", "about": "kiwi", "answer": "pending"}
    report = evaluate(suite({**DIALOGUE, "queries": [query]}), Told(answers={"q1": "pending"}))
    assert report.score("dialogue", "exact about a concept").rate == 1


def test_a_case_is_right_when_its_edge_is_there_once_and_the_forbidden_one_is_not() -> None:
    assert evaluate(suite(CASE), Told(edges=[FONDUE])).score("case", "right", "en").rate == 1
    twice = [FONDUE, FONDUE]
    opposite = [FONDUE, Edge("self", "preference", "food_preference", "fondue", "+", "active")]
    late = [Edge("self", "preference", "food_preference", "fondue", "-", "active", datetime(2026, 1, 13, tzinfo=UTC))]
    for edges in ((), twice, opposite, late):
        assert evaluate(suite(CASE), Told(edges=edges)).score("case", "right").rate == 0


def test_a_case_matches_objects_through_the_alias_packs() -> None:
    alias = {"cheese fondue": "fondue", "fondue": "fondue"}
    edge = Edge("self", "preference", "food_preference", "cheese fondue", "-", "active", FONDUE.valid_from)
    assert evaluate(suite(CASE), Told(edges=[edge])).score("case", "right").rate == 0
    canonical = evaluate(suite(CASE), Told(edges=[edge]), canonical=lambda text: alias.get(text.casefold(), text))
    assert canonical.score("case", "right").rate == 1


def test_a_case_about_a_relative_is_not_met_by_the_user() -> None:
    expect = {"must": [{"subject": "son", "object_any": ["fondue"]}], "must_not": []}
    assert evaluate(suite({**CASE, "expect": expect}), Told(edges=[FONDUE])).score("case", "right").rate == 0


def test_retrieval_scores_share_of_gold_in_the_first_ten_and_the_first_place() -> None:
    ranked = [f"D1:{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 9)]
    told = Told(ranked={"q7": ranked})
    report = evaluate(suite(*TURNS, QUESTION), told)
    assert report.score("retrieval", "recall@10").rate == 0.5
    assert report.score("retrieval", "any@10").rate == 1
    assert report.score("retrieval", "MRR").rate == 0.5
    assert told.stored == [turn["id"] for turn in TURNS]


def test_a_question_without_an_answer_is_not_scored_but_is_predicted() -> None:
    report = evaluate(suite(*TURNS, {**QUESTION, "gold": [], "answerable": False}), Told(ranked={"q7": ["D1:1"]}))
    assert report.scores == ()
    assert report.predictions == ({"user": "u1", "qid": "q7", "ranked": ["D1:1"]},)


def test_users_of_one_file_never_see_each_others_turns() -> None:
    other = {**TURNS[0], "user": "u2", "id": "Z:1"}
    told = Told()
    evaluate(suite(*TURNS, other, QUESTION), told)
    assert "Z:1" not in told.stored


def test_a_state_is_an_exact_set_and_a_retired_value_is_stale() -> None:
    lines = suite(UPDATE, STATE)
    right = evaluate(lines, Told(current={"s1": [("+", "Cold Brew")]}))
    assert right.score("update", "exact set").rate == 1 and right.score("update", "stale told").hits == 0
    stale = evaluate(lines, Told(current={"s1": [("+", "cold brew"), ("+", "mocha")]}))
    assert stale.score("update", "exact set").rate == 0 and stale.score("update", "stale told").hits == 1
    turned = evaluate(lines, Told(current={"s1": [("-", "cold brew")]}))
    assert turned.score("update", "exact set").rate == 0


def test_predictions_are_written_in_the_files_own_format() -> None:
    told = Told({str(FOOD["text"]): [Prediction("preference", "food_preference", "藕", "-")]}, answers={"q1": ("a", "b")}, edges=[FONDUE])
    report = evaluate(suite(FOOD, NONE, DIALOGUE, CASE), told)
    said = {"id": "x1", "memory_type": "preference", "predicate": "food_preference", "value": "藕", "polarity": "-", "subject": "self"}
    assert report.predictions[:2] == (said, {"id": "x3", "memory_type": "none"})
    assert report.predictions[2] == {"dialogue": "d1", "qid": "q1", "answer": ["a", "b"]}
    assert json.loads(json.dumps(report.predictions[3]))["edges"][0]["valid_from"] == "2026-01-12T18:00:00+00:00"


def test_the_json_form_carries_counts_and_as_many_misses_as_asked() -> None:
    report = evaluate(suite(FOOD, ALLERGY), Told())
    plain = json.loads(json.dumps(report.to_json(misses=1)))
    assert {"kind": "label", "name": "all right", "group": "all", "hits": 0, "total": 2, "rate": 0} in plain["scores"]
    assert len(plain["misses"]) == 1 and report.to_json()["misses"] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{not json", "not JSON"),
        ("[1]", "one JSON object"),
        ('{"kind":"poem","id":"x"}', "unknown kind"),
        ('{"id":"x"}', "unknown kind"),
        (json.dumps({**FOOD, "lang": "fr"}), "lang"),
        (json.dumps({**FOOD, "polarity": "0"}), "polarity"),
        (json.dumps({**FOOD, "predicate": None}), "predicate"),
        (json.dumps({**DIALOGUE, "sessions": [{"session": "S1", "time": "soon", "turns": []}]}), "sessions/0/time"),
        (json.dumps({**UPDATE, "op": "modify"}), "old value"),
        (json.dumps({**CASE, "turns": []}), "turns"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(line: str, says: str) -> None:
    with pytest.raises(EvalFileError, match=says) as refused:
        parse([json.dumps(NONE), "", line], "made.jsonl")
    assert refused.value.line == 3
    assert str(refused.value).startswith("made.jsonl:3: ")


def test_a_time_without_an_offset_is_utc_and_null_is_no_time() -> None:
    turns = suite(TURNS[0], {**TURNS[1], "time": "2023-05-08T13:56:00"}).turns
    assert turns[0].time is None
    assert turns[1].time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
