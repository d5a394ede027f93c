"""Numerals of both languages are read whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.pipeline.numerals import number

CHINESE = [
    ("零", 0),
    ("两", 2),
    ("十", 10),
    ("十二", 12),
    ("二十", 20),
    ("二十三", 23),
    ("廿三", 23),
    ("卅", 30),
    ("一百零五", 105),
    ("百二", 120),
    ("两百", 200),
    ("两百五", 250),
    ("三千五", 3500),
    ("一千零五", 1005),
    ("两万三", 23000),
    ("一万零三", 10003),
    ("十五万", 150000),
    ("一亿两千万", 120000000),
    ("三万亿", 3 * 10**12),
    ("二〇二四", 2024),
    ("二零一九", 2019),
    ("壹佰贰拾叁", 123),
    ("1.5万", 15000),
    ("3千", 3000),
    ("五点三", 5.3),
    ("零点五", 0.5),
    ("百分之五十", 0.5),
    ("三分之一", 1 / 3),
    ("半", 0.5),
    ("１２", 12),
    ("1.1万", 11000),
    ("37.5", 37.5),
]
ENGLISH = [
    ("two", 2),
    ("an", 1),
    ("a", 1),
    ("twelve", 12),
    ("twenty", 20),
    ("twenty-five", 25),
    ("twenty five", 25),
    ("a hundred", 100),
    ("Ninety-nine", 99),
    ("two hundred and five", 205),
    ("three thousand two hundred", 3200),
    ("one million", 10**6),
    ("a couple of", 2),
    ("a couple", 2),
    ("half", 0.5),
    ("a dozen", 12),
    ("two and a half", 2.5),
    ("3rd", 3),
    ("21st", 21),
    ("third", 3),
    ("1,234", 1234),
    ("1,234.5", 1234.5),
    ("12", 12),
    ("0.25", 0.25),
]
NONE = [
    "",
    " ",
    "几",
    "几十",
    "一起",
    "abc",
    "a few",
    "several",
    "many",
    "and",
    "one two",
    "five twenty",
    "1.2.3",
    "12,34",
    "hundred",
    "-",
    "点五",
    "五点",
    "零分之一",
    "x" * 99,
]


@pytest.mark.parametrize(("text", "value"), CHINESE + ENGLISH)
def test_a_numeral_is_read_as_people_say_it(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_single_number_is_none(text: str) -> None:
    assert number(text) is None


def test_whole_numbers_are_whole() -> None:
    assert isinstance(number("1.5万"), int)
    assert isinstance(number("三十"), int)
    assert isinstance(number("五点三"), float)


def chinese(value: int) -> str:
    """The long standard form, written here independently: 一千零五, 一万零三百."""
    digits = "零一二三四五六七八九"
    if value >= 10000:
        high, low = divmod(value, 10000)
        rest = "" if not low else ("零" if low < 1000 else "") + chinese(low)
        return chinese(high) + "万" + rest
    out, zero = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // unit % 10
        if digit:
            out += ("零" if zero and out else "") + digits[digit] + name
            zero = False
        else:
            zero = True
    return out or "零"


@given(st.integers(0, 99_999_999))
def test_the_standard_chinese_form_of_every_number_is_read_back(value: int) -> None:
    assert number(chinese(value)) == value


@given(st.text(max_size=50))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert number(text) is None or isinstance(number(text), int | float)
