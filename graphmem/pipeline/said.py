"""What passes between matching, deciding and binding: a clause as it is read, a place where a rule matched, what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphmem.memory import Reason, Span, Statement
from graphmem.pipeline.recognise import Mention
from graphmem.pipeline.values import Value

Choice = tuple[str, Value | None, tuple[str, ...], float]
"""Key, value, types and certainty factor of one reading of a match."""

Cut = Callable[[int, int], str]
"""The text as sent of a part of the clause."""


@dataclass(frozen=True, slots=True)
class Found:
    """A statement with its place in the clause, before times are bound."""

    statement: Statement
    start: int
    end: int
    value_start: int
    value_end: int
    score: float
    past_event: bool = False
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a rule matched: its named groups as spans, and the names of the lexicon it was tried with."""

    start: int
    end: int
    groups: dict[str, Span]
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a match stored nothing. `held`: what it would have said, had the words before it been understood."""

    reason: Reason
    rule: str
    held: Found | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One clause as the classifier reads it. `original` cuts text as sent; `masked` are times and places that prefixes may hold.

    `supposed`: the clause after it is a supposition (… if it tasted of anything else). `beside`: the key that its sentence has stated just
    before.
    """

    text: str
    mentions: tuple[Mention, ...]
    masked: tuple[Span, ...]
    original: Cut
    hedge: float = 1.0
    supposed: bool = False
    beside: frozenset[str] = frozenset()
