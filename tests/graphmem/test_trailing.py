"""A time that stands in a clause of its own says when the statement before it begins or ends."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import Statement, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor

AT, ZONE = datetime(2026, 3, 4, 2, tzinfo=UTC), ZoneInfo("Asia/Shanghai")


@lru_cache(maxsize=1)
def extractor() -> Extractor:
    return Extractor(load_ontology(), load_lexicon())


def one(text: str) -> Statement:
    (statement,) = extractor().hear(Turn(text), AT, ZONE).statements
    return statement


@pytest.mark.parametrize(
    "text", ["我在珠海上班，直到2026年6月30日", "我在珠海上班，上到2026年6月30日为止", "I work in Zhuhai, until 30 June 2026"]
)
def test_until_in_a_clause_of_its_own_ends_what_was_said_before_it(text: str) -> None:
    assert one(text).ends_at == datetime(2026, 6, 30, 16, tzinfo=UTC)


@pytest.mark.parametrize("text", ["我吃二甲双胍，从去年三月开始", "I take metformin, since March last year"])
def test_since_in_a_clause_of_its_own_begins_it(text: str) -> None:
    assert one(text).start == datetime(2025, 2, 28, 16, tzinfo=UTC)


def test_a_clause_that_tells_something_else_keeps_its_time() -> None:
    heard = extractor().hear(Turn("我住在深圳，到六月底我要写完论文"), AT, ZONE)
    assert [(s.key, s.ends_at) for s in heard.statements if s.key == "home_city"] == [("home_city", None)]
