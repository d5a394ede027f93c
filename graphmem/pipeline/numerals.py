"""Numbers as people write them, Chinese and English, whole texts only: the caller cuts the span first."""

from __future__ import annotations

import re
from fractions import Fraction

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {c: i for i, c in enumerate("〇壹贰叁肆伍陆柒捌玖")}
_DIGITS |= {"○": 0, "两": 2, "俩": 2, "貳": 2, "兩": 2}
_SAID = {c: str(i) for c, i in _DIGITS.items()} | {"幺": "1"}
_TENS = {"廿": 20, "卅": 30}
_UNITS = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8, "萬": 10**4, "億": 10**8}
_SCALES = _UNITS | _MYRIADS
_HAN = frozenset(_DIGITS) | frozenset(_TENS) | frozenset(_SCALES)
_FULL_WIDTH = {0xFF10 + i: str(i) for i in range(10)} | {0xFF0E: ".", 0xFF0C: ","}

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_WORDS = {w: i for i, w in enumerate(_ONES.split())} | {"a": 1, "an": 1}
_WORDS |= {w: (i + 2) * 10 for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())}
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL = {w: i for i, w in enumerate(_ORDINALS.split())} | {"twentieth": 20, "thirtieth": 30}
_BIG = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_SET_PHRASES: dict[str, int | float] = {
    "a couple": 2,
    "a couple of": 2,
    "couple of": 2,
    "a pair of": 2,
    "half": 0.5,
    "half a": 0.5,
    "half an": 0.5,
}
_SET_PHRASES |= {"a dozen": 12, "half a dozen": 6, "one and a half": 1.5}

_DIGIT_TEXT = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)([万亿千百萬億]?)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_SUFFIXED = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_MAX = 40
"""Characters of the longest text read as a number; longer ones are None."""


def digits_of(text: str) -> str:
    """A number said digit by digit in digits: 一三八零零, 幺三八; other characters stay."""
    return "".join(_SAID.get(c, c) for c in text.translate(_FULL_WIDTH))


def number(text: str) -> int | float | None:
    """Value of a whole numeral ("二十三", "1.5万", "twenty-five", "a couple of", "3rd"); None where it is no single one ("几", "a few")."""
    text = text.strip().translate(_FULL_WIDTH)
    if not text or len(text) > _MAX:
        return None
    written = _written(text)
    if written is not None:
        return written
    if text.isascii():
        return _english(text.lower())
    return _chinese(text)


def _written(text: str) -> int | float | None:
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if m := _SUFFIXED.fullmatch(text.lower()):
        return int(m[1])
    if not (m := _DIGIT_TEXT.fullmatch(text)):
        return None
    scale = _SCALES.get(m[2], 1)
    return _plain(Fraction(m[1]) * scale) if "." in m[1] else int(m[1]) * scale


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _chinese(text: str) -> int | float | None:
    if text == "半":
        return 0.5
    if text.startswith("百分之"):
        part = number(text[3:])
        return None if part is None else part / 100
    if "分之" in text:
        below, _, above = text.partition("分之")
        low, high = number(below), number(above)
        return None if not low or high is None else high / low
    if "点" in text:
        return _decimal(*text.split("点", 1))
    if any(c not in _HAN for c in text):
        return None
    if all(c in _DIGITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    return _composed(text)


def _decimal(whole: str, digits: str) -> float | None:
    head = number(whole)
    if not isinstance(head, int) or not digits or any(c not in _DIGITS for c in digits):
        return None
    return float(f"{head}." + "".join(str(_DIGITS[c]) for c in digits))


def _composed(text: str) -> int | None:
    """Digits and units mixed. A last digit straight after 百, 千 or 万 counts in tens, hundreds, thousands of it (三千五 = 3500)."""
    total = part = 0
    digit: int | None = None
    scale = 1
    for c in text:
        if c in _TENS:
            part, digit, scale = part + _TENS[c], None, 10
        elif c in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[c]
        elif c in _UNITS:
            part, digit, scale = part + (1 if digit is None or digit == 0 else digit) * _UNITS[c], None, _UNITS[c]
        else:
            below = part + (digit or 0)
            total = (total + below) * _MYRIADS[c] if 0 < total < _MYRIADS[c] else total + (below or 1) * _MYRIADS[c]
            part, digit, scale = 0, None, _MYRIADS[c]
    last = digit or 0
    if last and scale >= 100 and text[-2] in _SCALES:
        last *= scale // 10
    return total + part + last


def _english(text: str) -> int | float | None:
    if text in _SET_PHRASES:
        return _SET_PHRASES[text]
    words = text.replace("-", " ").split()
    if words[-3:] == ["and", "a", "half"] and len(words) > 3:
        base = _english(" ".join(words[:-3]))
        return None if base is None else base + 0.5
    total = part = 0
    room = 100  # how large the next word may be: "twenty five" is one number, "five twenty" is two
    seen = False
    for i, word in enumerate(words):
        if word == "and" and seen and i + 1 < len(words):
            continue
        value = _WORDS.get(word, _ORDINAL.get(word) if i + 1 == len(words) else None)
        if value is not None:
            if value >= room:
                return None
            part, seen = part + value, True
            room = 10 if value >= 20 else 0
        elif word in _BIG and seen:
            scale = _BIG[word]
            part *= scale
            room = 100
            if scale > 100:
                total, part = total + part, 0
        else:
            return None
    return total + part if seen else None
