"""Telephone numbers are told from other digits by the numbering plans of the countries our users live in."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.phones import standing


@lru_cache(maxsize=1)
def extractor() -> Extractor:
    return Extractor(load_ontology(), load_lexicon())


@pytest.mark.parametrize(
    "number",
    [
        "13800001234",
        "138 0000 1234",
        "010-62345678",
        "010-62345678转801",
        "一三八零零零零一二三四",
        "幺三八零零零零幺二三四",
        "+65 9123 4567",
        "087 123 4567",
    ],
)
def test_a_number_of_a_plan_is_valid_however_it_is_written(number: str) -> None:
    assert standing(number) == "valid"


@pytest.mark.parametrize("digits", ["12", "20260302101500123456", "+999 12345678"])
def test_digits_of_no_plan_are_no_number(digits: str) -> None:
    assert standing(digits) is None


def test_a_number_nobody_can_have_is_asked_for_and_not_stored() -> None:
    heard = extractor().hear(Turn("我的手机号码是 9999 99999 9999999"), datetime(2026, 3, 2, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))
    assert heard.statements == ()
    assert [f.statement.key for f in heard.follow_ups] == ["phone"]


def test_a_valid_number_is_stored_as_it_was_written() -> None:
    heard = extractor().hear(Turn("my mobile number is 087 123 4567"), datetime(2026, 3, 2, tzinfo=UTC), ZoneInfo("Europe/Dublin"))
    assert [(s.key, s.value) for s in heard.statements] == [("phone", "087 123 4567")]
