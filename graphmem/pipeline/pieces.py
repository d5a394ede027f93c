"""A turn cut finer than into clauses: what stands between two marks, for what looks at the words around a statement. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.pipeline.said import Cut
from graphmem.pipeline.slice import Sliced

_PARTS = ",，.。;；!！?？()（）\n\u241e"


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands between two marks: its place in the normal form and the sentence it belongs to."""

    start: int
    end: int
    sentence: int


Pieces = Sequence[Piece]


def pieces_of(sliced: Sliced) -> list[Piece]:
    """The turn's own words between marks, in order. Linear."""
    out: list[Piece] = []
    norm = sliced.normal.norm
    for clause in sliced.clauses:
        if clause.quoted:
            continue
        start = clause.start
        for i in range(clause.start, clause.end + 1):
            if i == clause.end or norm[i] in _PARTS:
                a, b = start, i
                while a < b and norm[a] == " ":
                    a += 1
                if a < b:
                    out.append(Piece(a, b, clause.sentence))
                start = i + 1
    return out


def within(pieces: Pieces, start: int, end: int) -> list[int]:
    """Numbers of the pieces that have a part in [start, end)."""
    at = max(bisect_right(pieces, start, key=lambda p: p.start) - 1, 0)
    out: list[int] = []
    while at < len(pieces) and pieces[at].start < end:
        if start < pieces[at].end:
            out.append(at)
        at += 1
    return out


def text_of(sliced: Sliced, p: Piece) -> str:
    """A piece's words in the normal form."""
    return sliced.normal.norm[p.start : p.end]


def cutter_of(sliced: Sliced, p: Piece) -> Cut:
    """Cuts a piece's words as they were sent."""
    return lambda a, b: sliced.normal.original(p.start + a, p.start + b)
