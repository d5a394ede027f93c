"""The check half of the corpus, counted: what holds now as floors, rounded down, beside the targets they are on the way to.

Totals only: whoever reads the misses of this half has nothing left to measure with (tests/corpus/README.md). Raise a floor when it is
passed; never lower one to make a change fit.
"""

from __future__ import annotations

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
    ("type accuracy", 0.87),  # 0.97
    ("all right", 0.80),  # 0.90
    ("precision of stored", 0.80),  # 0.97
)
CEILINGS = (
    ("false memories from none", 0.035),  # 0.015
    ("safety wrong subject or polarity", 0.0),  # 0
)
SAFETY = 0.80
"""Recall of safety keys; target 0.97. The check half has 17 such sentences: one is six points."""

DEVELOP = {"type accuracy": 0.95, "all right": 0.92, "precision of stored": 0.93, "safety recall": 0.91}
"""What the rules reach on the half they were worked on with."""


@lru_cache(maxsize=4)
def report(name: str) -> Report:
    ontology = load_ontology()
    safety = frozenset(key.name for key in ontology.keys if key.safety)
    target = Plain(ontology, load_lexicon())
    return evaluate(read(CORPUS / name), target, safety=safety, canonical=target.canonical)


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


def test_the_develop_half_is_heard_no_worse_than_before() -> None:
    for score, floor in DEVELOP.items():
        assert rate("utterances.develop.jsonl", "label", score, "all") >= floor, score
    assert rate("utterances.develop.jsonl", "label", "safety wrong subject or polarity", "all") == 0


def test_the_dialogues_are_answered_and_hardly_ever_stale() -> None:
    assert rate(DIALOGUES, "dialogue", "exact", "all") >= 0.96  # target 0.95
    assert rate(DIALOGUES, "dialogue", "stale told", "all") <= 0.01  # target 0


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.jsonl")), ids=lambda p: p.name)
def test_the_page_of_scores_names_every_file_of_the_corpus_with_its_size(path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"## {path.name}\n\n{sizes(read(path))}\n" in page


def test_the_page_of_scores_tells_no_miss_of_the_check_half() -> None:
    texts = [label.text for label in read(CORPUS / CHECK).labels]
    page = PAGE.read_text(encoding="utf-8")
    assert [text for text in texts if text in page] == []
