"""Sentences and what is heard in them: the table extract_rows.tsv, both languages, every key."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import FollowUp, Heard, Statement, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.stores.embedding import sentence_encoder

AT = datetime(2026, 3, 2, 10, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")


@lru_cache(maxsize=1)
def extractor() -> Extractor:
    return Extractor(load_ontology(), load_lexicon(), sentence_encoder())


def hear(text: str, *context: Turn) -> Heard:
    return extractor().hear(Turn(text), AT, ZONE, context)


def table() -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("extract_rows.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(text.replace("\\n", "\n"), expected) for text, expected in rows]


def short(statement: Statement) -> str:
    sign = "!" if statement.is_end else statement.polarity
    return f"{statement.key}{sign}{statement.subject}={'*' if statement.value is None else statement.value}"


def asked(follow_up: FollowUp) -> str:
    return f"{follow_up.statement.key}={follow_up.statement.value}"


def told(heard: Heard) -> str:
    if heard.statements:
        return "; ".join(map(short, heard.statements))
    return "? " + "; ".join(map(asked, heard.follow_ups)) if heard.follow_ups else "-"


@pytest.mark.parametrize(("text", "expected"), table())
def test_a_sentence_stores_what_it_says_and_nothing_else(text: str, expected: str) -> None:
    assert told(hear(text)) == expected


def test_the_table_covers_every_key_of_the_vocabulary() -> None:
    heard = " ".join(expected for _, expected in table())
    missing = {key.name for key in load_ontology().keys} - {"passport_number", "bank_account"}
    assert {name for name in missing if f"{name}+" not in heard and f"{name}-" not in heard and f"{name}!" not in heard} == set()


def test_values_and_spans_are_cut_from_the_text_as_sent() -> None:
    for text, _ in table():
        for statement in hear(text).statements:
            assert statement.span is not None
            start, end = statement.span
            assert text[start:end] == statement.text
            assert statement.value is None or statement.value in text
