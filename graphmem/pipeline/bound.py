"""When a statement begins and ends: the rules "Start and end" of design.md section 5. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.memory import utc
from graphmem.pipeline.timepack import load
from graphmem.pipeline.timespan import CLOCK_GRAINS, TimeSpan


@dataclass(frozen=True, slots=True)
class Bound:
    """Start and end of a statement as its words give them.

    start     None: said_at
    ends_at   exclusive; None: open. At or before said_at the statement was over when said (an inset)
    claims    the words date it back: it claims the whole span from start to said_at
    used      the expressions that decided
    """

    start: datetime | None = None
    ends_at: datetime | None = None
    claims: bool = False
    used: tuple[TimeSpan, ...] = ()


_UNKNOWN_LENGTH = {"minute": 1, "hour": 1, "part": 1, "day": 1, "weekend": 7, "week": 7, "month": 31, "quarter": 92, "season": 92}
"""Days that a state is taken to have lasted before an end whose start nobody told; other grains count a year."""


def bind(clause_text: str, times: tuple[TimeSpan, ...], said_at: datetime, *, past_event: bool, over: bool | None = None) -> Bound:
    """Start and end that the clause's expressions of time give a statement.

    `past_event`: the clause tells an event that lasts on (moved, was diagnosed, 搬到, 查出): it starts with its time.
    `over`: the clause tells a state that is over (used to live, 住在 beside a past year); None asks the pack's words.
    A past time beside neither is no border: the statement is of said_at. A time that contains said_at is neither start nor end;
    nor, but for events, is a time of day without a day ("not after 8 pm" is a habit).
    """
    said = utc(said_at)
    bound = Bound()
    ended = load().over.search(load().folded(clause_text)) is not None if over is None else over
    for span in times:
        found = _of(span, said, past_event=past_event, over=ended and not past_event)
        if found is not None:
            bound = _merged(bound, found)
    return _checked(bound, said)


def _of(span: TimeSpan, said: datetime, *, past_event: bool, over: bool) -> Bound | None:
    if span.role == "every" or (not span.dated and not past_event):
        return None
    if span.role == "for":
        return None if past_event or over else Bound(ends_at=span.end, used=(span,))
    if span.role in ("until", "before"):
        return _ended(span, said, over=over)
    if span.role in ("since", "from"):
        dated_back = span.role == "since" and span.grain not in ("minute", "hour", "part", "day")
        if span.holds(said) and not dated_back:
            return None
        return Bound(start=span.start, claims=span.start < said, used=(span,))
    if span.role == "during" and not past_event:
        return Bound(start=span.start, ends_at=span.end, claims=span.start < said < span.end, used=(span,))
    return _named(span, said, past_event=past_event, over=over)


def _ended(span: TimeSpan, said: datetime, *, over: bool) -> Bound | None:
    if span.role == "until" and span.grain == "day" and span.holds(said):
        return None
    ends_at = span.end if span.role == "until" and span.grain not in CLOCK_GRAINS else span.start
    if ends_at > said:
        return Bound(ends_at=ends_at, used=(span,))
    if not over:
        return None
    start = span.start if span.role == "until" else ends_at - timedelta(_UNKNOWN_LENGTH.get(span.grain, 365))
    return Bound(start=start, ends_at=ends_at, used=(span,))


def _named(span: TimeSpan, said: datetime, *, past_event: bool, over: bool) -> Bound | None:
    if span.holds(said):
        return None
    if span.start > said:
        return Bound(start=span.start, used=(span,))
    if past_event:
        return Bound(start=span.start, claims=True, used=(span,))
    return Bound(start=span.start, ends_at=span.end, used=(span,)) if over else None


def _merged(old: Bound, new: Bound) -> Bound:
    """The first start and the first end count; an end told before its start waits for it."""
    start = old.start if old.start is not None else new.start
    ends_at = old.ends_at if old.ends_at is not None else new.ends_at
    return Bound(start, ends_at, old.claims or new.claims, old.used + new.used)


def _checked(bound: Bound, said: datetime) -> Bound:
    """An end at or before its start is none; only a start before said_at, not over when said, claims the time between."""
    ends_at = bound.ends_at
    if ends_at is not None and ends_at <= (bound.start or said):
        ends_at = None
    claims = bound.claims and bound.start is not None and bound.start < said and (ends_at is None or ends_at > said)
    return replace(bound, ends_at=ends_at, claims=claims)
