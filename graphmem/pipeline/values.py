"""Values: from the words a rule caught to the shortest phrase that carries the value (packs/values.yaml). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.lexicon import Concept
from graphmem.pipeline.normal import is_han
from graphmem.pipeline.recognise import Mention
from graphmem.pipeline.rules import one_of, sections

GENERIC_MAX = 6
"""Generic words that may follow the head of a phrase."""

LEADS = frozenset("发打坐用走乘搭放寄")
"""Verbs that a name of the lexicon may begin with: 发|短信."""

LISTED = ("drug",)
"""Types of which names written together are several."""
LIST_MAX = 12
"""Items of one list."""
OPEN_MAX_HAN, OPEN_MAX_LATIN = 16, 60
"""Longest open value, characters."""


@dataclass(frozen=True, slots=True)
class Value:
    """norm[start:end] of the clause, with its concept when the lexicon has it."""

    start: int
    end: int
    concept: Concept | None = None


@dataclass(frozen=True, slots=True)
class Trims:
    """How values are trimmed, and what is none."""

    head: re.Pattern[str]
    tail: re.Pattern[str]
    stop: re.Pattern[str]
    generic: re.Pattern[str]
    cut: re.Pattern[str]
    separator: re.Pattern[str]
    extra: re.Pattern[str]
    limiting: re.Pattern[str]
    together: re.Pattern[str]


def load_trims(path: Path) -> Trims:
    """Read packs/values.yaml. PackError on mistakes."""
    names = ("head", "tail", "stop", "generic", "cut", "separator", "extra", "limiting", "together")
    fields = sections(path, names)
    return Trims(**{n: one_of(fields[n]) for n in names})


def items(text: str, a: int, b: int, mentions: Sequence[Mention], trims: Trims) -> list[tuple[int, int]]:
    """The parts of a list in text[a:b]; a separator inside a name does not part it."""
    cut = trims.cut.search(text, a + 1, b)
    if cut is not None and not any(m.start < cut.start() < m.end for m in mentions):
        b = cut.start()
    out: list[tuple[int, int]] = []
    at = a
    for m in trims.separator.finditer(text, a, b):
        if any(x.start < m.end() and m.start() < x.end and not (x.end - x.start <= m.end() - m.start()) for x in mentions):
            continue
        out.append((at, m.start()))
        at = m.end()
    out.append((at, b))
    parts = [t for x, y in out if (t := trimmed(text, x, y, trims))[0] < t[1]]
    return [one for x, y in parts for one in _run(text, x, y, mentions, trims)][:LIST_MAX]


def _run(text: str, x: int, y: int, mentions: Sequence[Mention], trims: Trims) -> list[tuple[int, int]]:
    """The names of a run without separators at the end of a part, of one character each: 葱姜蒜; or of medicines: 青霉素头孢."""
    m = trims.together.search(text, x, y)
    if m is not None and not any(k.start <= m.start() and k.end >= m.end() for k in mentions):
        starts = range(m.start() + 1, m.end())
        return [(x, m.start() + 1), *((k, k + 1) for k in starts)]
    names: list[Mention] = []
    while (at := names[-1].end if names else x) < y:
        here = [k for k in mentions if k.start == at and k.end <= y and k.of(LISTED) is not None]
        if not here:
            return [(x, y)]
        names.append(max(here, key=lambda k: k.end))
    return [(k.start, k.end) for k in names]


def trimmed(text: str, a: int, b: int, trims: Trims) -> tuple[int, int]:
    """text[a:b] without particles, articles and punctuation at its ends."""
    for _ in range(6):
        before = (a, b)
        while a < b and text[a] in " ,，.。、:：-\u241e~!！'\"":
            a += 1
        while a < b and text[b - 1] in " ,，.。、:：-\u241e~!！'\"…":
            b -= 1
        m = trims.head.match(text, a, b)
        if m is not None and m.end() < b:
            a = m.end()
        m = trims.tail.search(text, a, b)
        if m is not None and m.start() > a:
            b = m.start()
        if (a, b) == before:
            break
    return a, b


def named(text: str, a: int, b: int, types: Sequence[str], mentions: Sequence[Mention], trims: Trims) -> Value | None:
    """The longest name of these types in text[a:b] that is the head of the phrase: what follows it is generic."""
    best: Value | None = None
    for m in mentions:
        if m.start < a or m.end > b:
            continue
        concept = m.of(types)
        if concept is None or not _head(text, m.end, b, trims):
            continue
        if best is None or m.end - m.start > best.end - best.start:
            best = Value(m.start, m.end, concept)
    return best if best is None else _shortest(text, best, mentions, trims)


def _shortest(text: str, best: Value, mentions: Sequence[Mention], trims: Trims) -> Value:
    """支付宝 of 支付宝付款: a shorter name of the same concept, when what is left of the longer one in Chinese is generic."""
    for m in sorted(mentions, key=lambda m: m.end - m.start):
        if best.concept not in m.concepts or m.start < best.start or m.end > best.end:
            continue
        before, after = text[best.start : m.start], text[m.end : best.end]
        if not before and after and trims.extra.fullmatch(after) is not None:
            return Value(m.start, m.end, best.concept)
        if not after and before and (trimmed(text, best.start, m.end, trims)[0] == m.start or before in LEADS):
            return Value(m.start, m.end, best.concept)
    return best


def _head(text: str, end: int, b: int, trims: Trims) -> bool:
    """Whether a name that ends here is the head of its phrase: what follows in Chinese is generic to its end, in English begins so."""
    rest = text[end:b].strip()
    for _ in range(GENERIC_MAX):
        if not rest or not is_han(rest[0]):
            break
        m = trims.generic.match(rest)
        if m is None:
            return False
        rest = rest[m.end() :].strip()
    return not rest or trims.generic.match(rest) is not None


def open_value(text: str, a: int, b: int, trims: Trims) -> Value | None:
    """text[a:b] as an open value, or None when it looks like no value."""
    a, b = trimmed(text, a, b, trims)
    phrase = text[a:b]
    if not phrase or trims.stop.search(phrase):
        return None
    han = sum(map(is_han, phrase))
    if han > OPEN_MAX_HAN or len(phrase) > OPEN_MAX_LATIN:
        return None
    if not any(c.isalnum() for c in phrase):
        return None
    return Value(a, b)


def runs(text: str, mentions: Sequence[Mention], types: Sequence[str], trims: Trims) -> list[tuple[int, int, tuple[Value, ...]]]:
    """Names of these types, longest first where they overlap, and lists of them: (start, end, values), lists before their last names."""
    chosen: list[Value] = []
    for m in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        concept = m.of(types)
        if concept is not None and not any(m.start < v.end and v.start < m.end for v in chosen):
            chosen.append(Value(m.start, m.end, concept))
    chosen = sorted((_shortest(text, v, mentions, trims) for v in chosen), key=lambda v: v.start)
    out: list[tuple[int, int, tuple[Value, ...]]] = []
    at = 0
    while at < len(chosen):
        last = at
        while last + 1 < len(chosen) and _separated(text[chosen[last].end : chosen[last + 1].start], trims):
            last += 1
        out.append((chosen[at].start, chosen[last].end, tuple(chosen[at : last + 1])))
        at = last + 1
    return out


def _separated(between: str, trims: Trims) -> bool:
    m = trims.separator.fullmatch(between) or trims.separator.fullmatch(between.strip())
    return m is not None or between.strip() in (",", "、", "，", ", and", "and", "or", ", or")
