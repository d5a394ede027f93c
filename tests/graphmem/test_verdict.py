"""Clauses that only judge what the clauses before them named."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import Statement, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor

AT = datetime(2026, 3, 2, 10, tzinfo=UTC)


@lru_cache(maxsize=1)
def extractor() -> Extractor:
    return Extractor(load_ontology(), load_lexicon())


def heard(text: str) -> list[str]:
    def short(s: Statement) -> str:
        return f"{s.key}{'!' if s.is_end else s.polarity}{s.subject}={s.value}"

    return [short(s) for s in extractor().hear(Turn(text), AT, ZoneInfo("Asia/Shanghai")).statements]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("重金属吵得脑仁疼，实在欣赏不来", "music_preference-self=重金属"),
        ("芹菜给我挑出去，那味儿冲，我从小就烦它", "food_preference-self=芹菜"),
        ("恐怖片别放，我对象看不了", "movie_preference-spouse=恐怖片"),
        ("惊悚片就免了，我爸看不下去", "movie_preference-father=惊悚片"),
        ("订房记得挑高楼层，我睡觉轻，历来都是这么住的", "hotel_preference+self=高楼层"),
        ("普洱来一壶，多少年了都这么喝", "tea_preference+self=普洱"),
    ],
)
def test_a_taste_is_heard_when_a_later_clause_tells_it(text: str, expected: str) -> None:
    assert heard(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我爸不吃虾，过敏", "allergy+father=虾"),
        ("花粉？不过敏的，查过了", "allergy-self=花粉"),
        ("腰果千万挑出来，我闺女吃了会休克", "allergy+daughter=腰果"),
        ("要带一盒舍曲林过海关，我天天得吃的", "medication+self=舍曲林"),
        ("舅妈吃了卡托普利老是干咳，前天已经给她停了", "medication!aunt=卡托普利"),
        ("幽门螺杆菌是前年的事，早就根治了", "disease!self=幽门螺杆菌"),
    ],
)
def test_what_matters_to_safety_keeps_its_polarity_and_person_over_clauses(text: str, expected: str) -> None:
    assert expected in heard(text)


@pytest.mark.parametrize(
    "text",
    [
        "这杯绿茶泡过头了，我不喜欢",
        "在北京待了三年，不喜欢",
        "股票又跌了，今天好烦",
    ],
)
def test_a_verdict_on_one_example_a_place_or_the_day_is_no_taste(text: str) -> None:
    assert [s for s in heard(text) if "_preference" in s or s.startswith("likes")] == []
