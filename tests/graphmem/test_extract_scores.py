"""The check half of the corpus, counted: what holds now as floors, rounded down, beside the targets they are on the way to.

Totals only: whoever reads the misses of this half has nothing left to measure with (tests/corpus/README.md). Raise a floor when it is
passed; never lower one to make a change fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from graphmem.evalreport import Report
from graphmem.evaluate import evaluate
from graphmem.lexicon import load_lexicon
from graphmem.ontology import load_ontology
from scripts.eval_extract import Plain
from scripts.scores import CORPUS, PAGE, read, sizes

CHECK, DIALOGUES = "utterances.check.jsonl", "dialogues.jsonl"

FLOORS = (
    # (score, floor; target of the project)
    ("type accuracy", 0.93),  # 0.97
    ("all right", 0.90),  # 0.90
    ("precision of stored", 0.93),  # 0.97
)
CEILINGS = (
    ("false memories from none", 0.045),  # 0.015
    ("safety wrong subject or polarity", 0.0),  # 0
)
SAFETY = 0.83
"""Recall of safety keys; target 0.97."""

OPENED = {"type accuracy": 0.97, "all right": 0.92, "precision of stored": 0.92}
OPENED_NONE = 0.035
"""What holds on the check half before this one (ids f-…), whose own floors were 0.87, 0.80, 0.80 while it was closed. Its ceiling stays."""

DEVELOP = {"type accuracy": 0.965, "all right": 0.94, "precision of stored": 0.94, "safety recall": 0.92}
"""What the rules and the second opinion reach on the half they were worked on with."""
NEWER = ("qz-", "qe-", "sz-", "se-", "oz-", "oe-", "r1-", "r2-", "r3-", "r4-", "r6-")
"""Ids of the sets that joined the develop half last: pairs, safety keys in every wording, everyday turns by domain."""
NEW = {"type accuracy": 0.93, "all right": 0.895, "precision of stored": 0.90, "safety recall": 0.83}
"""What they reach. They are harder than what came before, which keeps its own floors."""
LATER = ("g-", "j-", "k-", "n-", "t-", *NEWER)
"""Ids of the sets that were written to be hard and joined the develop half when they had been read."""


@lru_cache(maxsize=8)
def report(name: str, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Report:
    """The scores of a file, or of its labels whose ids begin so, or do not."""
    ontology = load_ontology()
    safety = frozenset(key.name for key in ontology.keys if key.safety)
    target = Plain(ontology, load_lexicon())
    suite = read(CORPUS / name)
    if only or without:
        labels = tuple(e for e in suite.labels if (not only or e.id.startswith(only)) and not (without and e.id.startswith(without)))
        suite = replace(suite, labels=labels)
    return evaluate(suite, target, safety=safety, canonical=target.canonical)


def rate(name: str, kind: str, score: str, group: str) -> float:
    found = report(name).score(kind, score, group).rate
    assert found is not None
    return found


@pytest.mark.parametrize("group", ["all", "zh", "en"])
@pytest.mark.parametrize(("score", "floor"), FLOORS)
def test_the_check_half_is_heard_at_least_this_well_in_each_language(score: str, floor: float, group: str) -> None:
    assert rate(CHECK, "label", score, group) >= floor


@pytest.mark.parametrize("group", ["all", "zh", "en"])
@pytest.mark.parametrize(("score", "ceiling"), CEILINGS)
def test_the_check_half_makes_no_more_wrong_memories_than_this_in_each_language(score: str, ceiling: float, group: str) -> None:
    assert rate(CHECK, "label", score, group) <= ceiling


@pytest.mark.parametrize("group", ["all", "zh", "en"])
def test_what_safety_depends_on_is_heard(group: str) -> None:
    assert rate(CHECK, "label", "safety recall", group) >= SAFETY


def _holds(found: Report, bounds: Mapping[str, float]) -> None:
    for score, floor in bounds.items():
        got = found.score("label", score, "all").rate
        assert got is not None
        assert got >= floor, score


def test_the_develop_half_is_heard_no_worse_than_before() -> None:
    for bounds, wrong, found in (
        (DEVELOP, 0.006, report("utterances.develop.jsonl", without=NEWER)),
        (NEW, 0.016, report("utterances.develop.jsonl", only=NEWER)),
    ):
        _holds(found, bounds)
        harm = found.score("label", "safety wrong subject or polarity", "all").rate
        assert harm is not None
        assert harm <= wrong


def test_no_safety_statement_of_the_first_sets_has_a_wrong_subject_or_polarity() -> None:
    found = report("utterances.develop.jsonl", without=LATER).score("label", "safety wrong subject or polarity", "all")
    assert found.rate == 0


def test_the_check_half_that_was_opened_keeps_its_bounds() -> None:
    opened = report("utterances.develop.jsonl", only=("f-",))
    _holds(opened, OPENED)
    none = opened.score("label", "false memories from none", "all").rate
    assert none is not None
    assert none <= OPENED_NONE


def test_the_dialogues_are_answered_and_never_stale() -> None:
    assert rate(DIALOGUES, "dialogue", "exact", "all") >= 0.99  # target 0.95
    assert rate(DIALOGUES, "dialogue", "stale told", "all") == 0  # target 0


def test_every_case_of_a_complaint_has_the_edges_it_must_have_and_none_it_must_not() -> None:
    assert rate("cases.jsonl", "case", "right", "all") == 1


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.jsonl")), ids=lambda p: p.name)
def test_the_page_of_scores_names_every_file_of_the_corpus_with_its_size(path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"## {path.name}\n\n{sizes(read(path))}\n" in page


def test_the_page_of_scores_tells_no_miss_of_the_check_half() -> None:
    texts = [label.text for label in read(CORPUS / CHECK).labels]
    page = PAGE.read_text(encoding="utf-8")
    assert [text for text in texts if text in page] == []
