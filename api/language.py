"""Which language the messages of an answer are in: the better one of `Accept-Language` among Chinese and English."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en"]

LANGUAGE = "graphmem.language"
"""Where a request's scope holds it."""

DEFAULT: Language = "en"

RANGES_MAX = 100
"""Ranges of a header that are looked at; what follows cannot change much but the time it takes."""

_RANGE = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9*]{1,8})*\s*(?:;\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?")


def language_of(header: str | None) -> Language:
    """The language with the higher q-value (RFC 9110 section 12.5.4), the one named first where both are equal; English without a wish.

    `*` stands for the one that is not named; a range that is not well-formed says nothing; q=0 means "not this one".
    """
    wishes: dict[str, float] = {}
    for part in (header or "").split(",")[:RANGES_MAX]:
        found = _RANGE.fullmatch(part)
        if found is not None:
            name, q = found[1].lower(), float(found[2] or 1)
            wishes[name] = max(q, wishes.get(name, 0.0))
    rest = wishes.get("*", 0.0)
    order = [name for name in wishes if name in ("zh", "en")]
    zh, en = wishes.get("zh", rest), wishes.get("en", rest)
    if zh == en:
        return "zh" if zh > 0 and order[:1] == ["zh"] else DEFAULT
    return "zh" if zh > en else "en"


__all__ = ["LANGUAGE", "Language", "language_of"]
