"""graphmem as a component of a spaCy pipeline."""

from __future__ import annotations

import pytest
import spacy

import graphmem.spacy_pipe as pipe
from graphmem.memory import Heard


@pytest.mark.parametrize(
    ("language", "text", "label", "words"),
    [
        ("en", "Just so you know, I'm allergic to penicillin.", "allergy", "penicillin"),
        ("zh", "我对青霉素过敏。", "allergy", "青霉素"),
    ],
)
def test_what_is_heard_stands_as_spans_beside_the_users_own_entities(language: str, text: str, label: str, words: str) -> None:
    nlp = spacy.blank(language)
    nlp.add_pipe("graphmem", config={"zone": "Asia/Shanghai"})
    doc = nlp(text)
    (span,) = doc.spans[pipe.SPANS]
    assert (span.label_, span.id_) == (label, "drug:penicillin") and words in span.text
    heard = doc._.graphmem
    assert isinstance(heard, Heard) and heard.statements[0].key == label


def test_a_question_leaves_no_span_and_says_why() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("graphmem")
    doc = nlp("Am I allergic to anything?")
    assert not doc.spans[pipe.SPANS] and doc._.graphmem.not_stored[0].reason.value == "question"
