"""Step four as the extractor uses it: times of a clause, their spans, and a statement's start and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from graphmem.memory import Span, Statement
from graphmem.pipeline.bound import bind
from graphmem.pipeline.said import Found
from graphmem.pipeline.timespan import TimeSpan
from graphmem.pipeline.when import find_times

Times = tuple[TimeSpan, ...]

UNDATED = frozenset(
    {
        "birthday",
        "id_expiry",
        "passport_expiry",
        "class_time_preference",
        "appointment_time_preference",
        "age",
        "time_available",
        "season_preference",
    }
)
"""Keys whose times are the value and date nothing."""


def times(text: str, said_at: datetime, zone: ZoneInfo) -> Times:
    """Every expression of time in a clause."""
    return find_times(text, said_at, zone)


BEHIND = 100_000
"""Added to the places of a later clause's times: no value of this clause lies there."""

TRAILING = frozenset({"until", "since", "from", "for", "before"})
"""What a time that stands in a clause of its own may say of the clause before it: …, until the end of June; …，住到月底为止."""

BESIDE = 4
"""Letters beside the times of such a clause: one small verb or none."""


def trailing(text: str, said_at: datetime, zone: ZoneInfo) -> Times:
    """The times of a clause that holds nothing else; their places lie behind the clause they belong to."""
    found = tuple(t for t in times(text, said_at, zone) if t.role in TRAILING)
    rest = sum(c.isalnum() for i, c in enumerate(text) if not any(a <= i < b for a, b in spans(found)))
    return tuple(replace(t, span=(t.span[0] + BEHIND, t.span[1] + BEHIND)) for t in found) if found and rest <= BESIDE else ()


def spans(found: Sequence[TimeSpan]) -> tuple[Span, ...]:
    """Their places."""
    return tuple(t.span for t in found)


def bound(found: Found, text: str, found_times: Times, said_at: datetime) -> Statement:
    """The statement with the start and end that its clause's times give."""
    statement = found.statement
    free = tuple(t for t in found_times if not (found.value_start <= t.span[0] and t.span[1] <= found.value_end))
    if not free or statement.key in UNDATED or "undated" in found.flags:
        return statement
    b = bind(text, free, said_at, past_event=found.past_event)
    return replace(statement, start=b.start, ends_at=b.ends_at, claims=b.claims)
