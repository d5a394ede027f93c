"""Months and days that a question names: a bonus for what was said or began then (retrieval.md: +.024). Pure; names: packs/months.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from importlib import resources

import yaml

from graphmem.slot import folded

DATE_BONUS = 0.2
"""Added to a fused score (each list reaches at most its weight): enough to order near equals, not to carry a stranger to the top."""


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A month, and its day where one is named."""

    month: int
    day: int | None = None


@dataclass(frozen=True, slots=True)
class _Grammar:
    english: re.Pattern[str]
    names: dict[str, int]
    ambiguous: frozenset[str]
    chinese: re.Pattern[str]
    numbers: dict[str, int]


def named_dates(text: str) -> frozenset[NamedDate]:
    """The months and days a text names: "in May", "5 March", "March 5th", 五月, 3月5日. Impossible days count as the month alone."""
    grammar, text = _grammar(), folded(text)
    found = set()
    for match in grammar.english.finditer(text):
        day = match["day_before"] or match["day_after"]
        if day or match["before"] or match["name"] not in grammar.ambiguous:
            found.add(_named(grammar.names[match["name"]], day))
    for match in grammar.chinese.finditer(text):
        number = match["month"]
        month = grammar.numbers.get(number) or (int(number) if number.isdecimal() else 0)
        if 1 <= month <= 12:
            found.add(_named(month, match["day"]))
    return frozenset(found)


def date_bonus(named: Iterable[NamedDate], *when: date) -> float:
    """DATE_BONUS where one of the dates (local to the speaker) falls on a named month or day, else 0."""
    hit = any(d.month == n.month and n.day in (None, d.day) for n in named for d in when)
    return DATE_BONUS if hit else 0.0


def _named(month: int, day: str | None) -> NamedDate:
    return NamedDate(month, int(day) if day and 1 <= int(day) <= 31 else None)


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    data = yaml.safe_load(resources.files("graphmem").joinpath("packs/months.yaml").read_text("utf-8"))
    names, zh = data["en"], data["zh"]
    english = (
        rf"(?:\b(?P<before>{'|'.join(data['before'])})\s+|\b(?P<day_before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?"
        rf"\b(?P<name>{_longest(names)})\b\.?(?:\s+(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*:))?"
    )
    chinese = (
        rf"(?<![\d几])(?P<month>\d{{1,2}}|{_longest(zh['months'])}){zh['month']}(?:{zh['month_tail']})?"
        rf"(?:(?P<day>\d{{1,2}})(?:{'|'.join(zh['day'])}))?"
    )
    return _Grammar(re.compile(english), dict(names), frozenset(data["ambiguous"]), re.compile(chinese), dict(zh["months"]))


def _longest(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
