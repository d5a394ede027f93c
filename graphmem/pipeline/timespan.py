"""One expression of time as it was found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graphmem.memory import Span

Role = Literal["point", "since", "until", "before", "after", "from", "during", "for", "every"]

CLOCK_GRAINS = frozenset({"minute", "hour"})
"""A time of the clock is an instant: "until 8 pm" and "after 8 pm" both mean 20:00."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """What a text says about a time.

    span        half-open character offsets, words such as since, until, 从 and 起 included
    start, end  aware UTC, whole milliseconds, end exclusive: the named time itself ("since 2019": all of 2019)
    grain       minute, hour, part, day, weekend, week, month, season, quarter, half, year, decade
    role        point; since and from: begins with it; until: ends after it; before: ends at its start;
                during: begins and ends with it; for: lasts from start to end; every: recurring.
                "after X" comes out as `from` with a span that begins where X ends
    dated       False: a time of day alone ("at 7 am"); its day is taken to be the day of speaking
    """

    span: Span
    start: datetime
    end: datetime
    grain: str
    role: Role
    text: str
    dated: bool = True

    def holds(self, at: datetime) -> bool:
        """Whether the named time contains the instant."""
        return self.start <= at < self.end
