"""The corpus obeys its own rules: what is counted on it means something only as long as these hold."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from graphmem.evalfile import Label, State, Suite, Update, parse
from graphmem.ontology import load_ontology
from graphmem.slot import folded

CORPUS = Path(__file__).parent.parent / "corpus"
HALVES = ("develop", "check")
LANGUAGES: tuple[Literal["zh", "en"], ...] = ("zh", "en")
DOMAINS = {"medical", "government", "finance", "education", "travel", "shopping", "food"}
SUBJECTS = {"self", "father", "mother", "spouse", "son", "daughter", "child", "brother", "sister", "grandfather", "grandmother"} | {
    "uncle",
    "aunt",
    "cousin",
    "friend",
    "colleague",
    "superior",
    "subordinate",
}
COMPLAINTS = (
    "negation",
    "hypothetical-hedged",
    "third-party-subject",
    "quoted-or-pasted",
    "question-or-chatter",
    "assistant-turn",
    "cjk-emoji-mixed",
    "numeric-units",
    "unicode-normalization",
    "very-long-message",
    "prompt-injection-text",
    "future-relative-dates",
)
"""What people complain about that is decided by the words of a message alone."""


def read(name: str) -> Suite:
    with (CORPUS / name).open(encoding="utf-8") as lines:
        return parse(lines, name)


def labels(half: str) -> tuple[Label, ...]:
    return read(f"utterances.{half}.jsonl").labels


def families(half: str) -> set[str]:
    lines = (CORPUS / f"utterances.{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["family"] for line in lines}


EVERY = [label for half in HALVES for label in labels(half)]


def test_there_are_at_least_1500_utterances_to_work_with_and_400_to_check_half_of_them_in_each_language() -> None:
    assert len(labels("develop")) >= 1500 and len(labels("check")) >= 400
    for half in HALVES:
        counts = Counter(label.lang for label in labels(half))
        for language in LANGUAGES:
            assert counts[language] / counts.total() > 0.4


def test_about_one_third_stores_nothing_in_each_language_and_half() -> None:
    for half in HALVES:
        for language in LANGUAGES:
            some = [label for label in labels(half) if label.lang == language]
            none = sum(label.memory_type == "none" for label in some)
            assert 0.28 < none / len(some) < (0.42 if half == "develop" else 0.45), (half, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_domain_is_covered(language: str) -> None:
    counts = Counter(label.domain for label in EVERY if label.lang == language)
    assert set(counts) == DOMAINS
    assert min(counts.values()) >= 60


def test_a_value_stands_literally_in_its_text() -> None:
    assert [label.id for label in EVERY if label.value not in label.text] == []
    assert [label.id for label in EVERY if label.memory_type != "none" and not label.value] == []


def test_every_key_is_one_of_the_ontology_and_its_kind_is_the_memory_type() -> None:
    ontology = load_ontology()
    wrong = [e.id for e in EVERY if e.memory_type != "none" and ontology.key(e.predicate).kind.value != e.memory_type]
    assert wrong == []
    assert [other for label in EVERY for other in label.predicate_any if ontology.get(other) is None] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_is_heard_in_both_languages_in_the_develop_half_and_most_in_the_check_half(language: str) -> None:
    keys = {key.name for key in load_ontology().keys}
    develop, check = ({label.predicate for label in labels(half) if label.lang == language} for half in HALVES)
    assert keys - develop == set()
    assert len(keys & check) >= 0.7 * len(keys)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_subject_is_spoken_about(language: str) -> None:
    counts = Counter(label.subject for label in EVERY if label.lang == language and label.memory_type != "none")
    assert set(counts) - {"person"} == SUBJECTS, "in-laws, flatmates and neighbours are persons without a role of their own"
    assert 1 - counts["self"] / counts.total() > 0.15


def test_denials_and_dislikes_are_a_good_share() -> None:
    said = [label for label in EVERY if label.memory_type != "none"]
    assert sum(label.polarity == "-" for label in said) / len(said) > 0.15


def test_a_family_is_never_in_both_halves() -> None:
    assert families("develop") & families("check") == set()


def test_no_sentence_and_no_id_stands_twice() -> None:
    texts = Counter(folded(label.text) for label in EVERY)
    assert [text for text, count in texts.items() if count > 1] == []
    assert len({label.id for label in EVERY}) == len(EVERY)


def test_there_are_150_dialogues_in_both_languages_with_known_keys() -> None:
    dialogues = read("dialogues.jsonl").dialogues
    assert len(dialogues) >= 150
    assert len({d.dialogue for d in dialogues}) == len(dialogues)
    counts = Counter(d.lang for d in dialogues)
    assert min(counts["zh"], counts["en"]) >= 75
    ontology = load_ontology()
    assert [q.predicate for d in dialogues for q in d.queries if ontology.get(q.predicate) is None] == []


def test_a_dialogue_answer_was_said_in_the_dialogue_and_is_not_stale() -> None:
    for dialogue in read("dialogues.jsonl").dialogues:
        said = folded(" ".join(turn.text for session in dialogue.sessions for turn in session.turns if turn.role == "user"))
        for query in dialogue.queries:
            answer = query.answer
            values = [] if answer is None or query.about else [answer] if isinstance(answer, str) else list(answer)
            assert [v for v in values if folded(v) not in said] == [], (dialogue.dialogue, query.qid)
            assert not {folded(v) for v in values} & {folded(v) for v in query.stale}, (dialogue.dialogue, query.qid)
            assert query.about is None or folded(query.about) in said, (dialogue.dialogue, query.qid)


def test_answers_about_a_concept_are_words_of_the_format() -> None:
    ontology = load_ontology()
    for dialogue in read("dialogues.jsonl").dialogues:
        for query in dialogue.queries:
            if query.about is not None:
                words = ("yes", "no") if ontology.key(query.predicate).kind.value == "fact" else ("like", "dislike")
                assert query.answer in (*words, "pending", None), (dialogue.dialogue, query.qid)


def test_the_dialogues_ask_about_every_kind_of_change() -> None:
    asked = {query.category for dialogue in read("dialogues.jsonl").dialogues for query in dialogue.queries}
    assert asked >= {
        "as_of_past",
        "latest",
        "reversal_in_window",
        "change_in_window",
        "pending_confirmed",
        "pending_rejected",
        "pending_expired",
        "expiry",
        "late_arrival_past",
        "late_arrival_latest",
        "future_start",
        "until",
        "after_until",
        "dated_back",
        "overruled",
        "bare_denial",
        "grounded_denial",
        "relative",
        "relative_not_self",
        "stopped",
        "switched",
        "verified_change",
        "refused_change",
        "unproven_change",
        "corrected",
        "repeated",
        "nothing_said",
    }


def test_there_are_60_cases_and_each_expects_something_of_words_that_were_said() -> None:
    cases = read("cases.jsonl").cases
    assert len(cases) >= 60
    assert len({case.id for case in cases}) == len(cases)
    for case in cases:
        assert case.expect.must or case.expect.must_not, case.id
        said = folded(" ".join(turn.text for turn in case.turns))
        for edge in case.expect.must:
            assert any(folded(name) in said for name in edge.object_any), case.id


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_a_complaint_about_words_has_20_cases_in_both_languages_of_what_must_and_what_must_not_be_there(complaint: str) -> None:
    cases = [case for case in read("cases.jsonl").cases if case.kind == complaint]
    assert len(cases) >= 20
    counts = Counter(case.lang for case in cases)
    assert min(counts["zh"], counts["en"]) >= 10
    assert any(case.expect.must for case in cases) and any(case.expect.must_not for case in cases)


def test_no_case_says_what_another_case_of_its_kind_says() -> None:
    said = Counter((case.kind, folded(" ".join(turn.text for turn in case.turns))) for case in read("cases.jsonl").cases)
    assert [words for words, count in said.items() if count > 1] == []


def test_a_very_long_message_has_at_least_1000_characters() -> None:
    cases = [case for case in read("cases.jsonl").cases if case.kind == "very-long-message"]
    assert [case.id for case in cases if max(len(turn.text) for turn in case.turns) < 1000] == []


def test_a_question_of_the_retrieval_set_has_its_gold_among_the_turns_of_its_user() -> None:
    suite = read("retrieval.jsonl")
    turns = {(turn.user, turn.id) for turn in suite.turns}
    assert len(turns) == len(suite.turns) >= 110
    assert len({turn.user for turn in suite.turns}) == 3
    assert len(suite.questions) >= 40
    for question in suite.questions:
        assert bool(question.gold) == question.answerable, question.qid
        assert {(question.user, gold) for gold in question.gold} <= turns, question.qid


def test_the_updates_state_what_the_declared_operations_make() -> None:
    suite = read("updates.jsonl")
    assert len(suite.updates) >= 100 and len({update.user for update in suite.updates}) == 5
    for state in suite.states:
        held, ended = replayed(suite.updates, state)
        assert set(state.current) == held, state.qid
        assert set(state.stale) == ended - held, state.qid


def replayed(updates: tuple[Update, ...], state: State) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The (polarity, value) pairs held and ended in the state's key, by the plainest reading of the operations."""
    held: dict[str, str] = {}
    ended: set[tuple[str, str]] = set()
    before: datetime | None = None
    for update in (u for u in updates if u.user == state.user):
        assert before is None or before <= update.time
        before = update.time
        if update.key != state.key or update.time > state.as_of:
            continue
        if update.op != "add" and update.old_value is not None:
            ended.add((held.pop(update.old_value), update.old_value))
        if update.op != "delete" and update.value is not None:
            ended |= {(polarity, value) for value, polarity in held.items() if value == update.value and polarity != update.polarity}
            held[update.value] = update.polarity
    return {(polarity, value) for value, polarity in held.items()}, ended
