"""Which known names stand in a message: longest first, from left to right, in any script. Pure; microseconds a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from opencc import OpenCC

from graphmem.lexicon import number_variants
from graphmem.slot import folded

HEAD, TAIL = 600, 400
"""Characters of a long message that are read: its start and its end (a request stands at one of them)."""

STEPS = 12
"""Word borders a name may span: 12 Han characters or six spaced words."""

_WORD = re.compile(r"[^\W\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "＇": "'", "`": "'"})


@lru_cache(maxsize=1)
def _simplified() -> OpenCC:
    return OpenCC("t2s")


def plain(message: str) -> str:
    """The message as rules read it: start and end of a long one, folded (slot.folded), simplified Chinese, straight apostrophes."""
    if len(message) > HEAD + TAIL:
        message = message[:HEAD] + "\n" + message[-TAIL:]
    text = folded(message.translate(_APOSTROPHES))
    return str(_simplified().convert(text)) if _HAN.search(text) else text


@dataclass(frozen=True, slots=True)
class Name:
    """One known name in a text: text[start:end], and the form under which the table knows it."""

    start: int
    end: int
    form: str


def names_in(text: str, known: Callable[[str], bool]) -> Iterator[Name]:
    """Names in a `plain` text that do not overlap, the longest first. An English plural also finds its singular."""
    borders = _borders(text)
    free = 0
    for k, start in enumerate(borders):
        if start < free or start == len(text) or text[start] == " ":
            continue
        for end in reversed(borders[k + 1 : k + 1 + STEPS]):
            form = _known_form(text[start:end], known) if text[end - 1] != " " else None
            if form is not None:
                free = end
                yield Name(start, end, form)
                break


def _known_form(surface: str, known: Callable[[str], bool]) -> str | None:
    if known(surface):
        return surface
    if surface[-1] != "s":
        return None
    return next((form for form in number_variants(surface) if len(form) < len(surface) and known(form)), None)


def _borders(text: str) -> list[int]:
    """Where a name may begin or end: nowhere inside a word of a spaced script, everywhere else."""
    inside = {i for word in _WORD.finditer(text) for i in range(word.start() + 1, word.end())}
    return [i for i in range(len(text) + 1) if i not in inside]


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None
