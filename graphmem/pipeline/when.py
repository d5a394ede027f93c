"""Expressions of time in a text, resolved against the moment of speaking in the speaker's zone. The words are data: packs/time.yaml.

Choices: a week starts on Monday. "next Friday" / 下周五 is the Friday of the following week, "on Friday" / 周五 the coming one (the last
one beside words of the past), "last Friday" the most recent one, 上周五 the Friday of the week before. A month or day without a year is
the last one to begin, beside words of the future (will, 要, 将, 从…起, until) or with a time of the clock (an appointment) the next one.
月底 is the last day, 年底 December, 月初 the
first ten days. A distance ("三年前", "in two weeks") is the day so far from said_at. "after X" begins where X ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from graphmem.memory import utc
from graphmem.pipeline.bound import Bound as Bound
from graphmem.pipeline.bound import bind as bind
from graphmem.pipeline.chains import ABSOLUTE, YEAR, Chain, chains
from graphmem.pipeline.localdays import Anchor, Local
from graphmem.pipeline.moment import resolve
from graphmem.pipeline.timepack import Fields, TimePack, load
from graphmem.pipeline.timespan import CLOCK_GRAINS, Role, TimeSpan

__all__ = ["Bound", "TimeSpan", "bind", "find_times"]

_CLAUSE = re.compile(r"[。！？；，!?;\n]|, |\. ")
_SENTENCE = re.compile(r"[。！？；!?;\n]|\. ")
_REACH = 48
"""Characters looked at on each side of a date for words of the future or the past."""
_BEFORE = 24
_AHEAD = frozenset({"from", "until", "before", "after"})
"""Roles that look ahead where no word tells the tense; so does a date with a time of day (an appointment)."""
_YEARLESS = frozenset({"month", "day", "weekday", "festival", "season", "quarter", "half"})


@dataclass(frozen=True, slots=True)
class _Marked:
    """A chain with what the words around it make of it; start and end include those words."""

    chain: Chain
    role: Role
    start: int
    end: int


class _Reader:
    """One text, one moment: the state that every step needs."""

    def __init__(self, text: str, said_at: datetime, zone: ZoneInfo) -> None:
        self.pack: TimePack = load()
        self.text, self.folded = text, self.pack.folded(text)
        self.zone = zone
        self.said = utc(said_at).astimezone(zone).replace(tzinfo=None)

    def spans(self) -> Iterator[TimeSpan]:
        found: list[Chain] = []
        for chain in chains(self.pack, self.folded):
            if self._stands(chain) or (found and self._second_clock(found[-1], chain)):
                found.append(chain)
        done = i = 0
        last: TimeSpan | None = None
        while i < len(found):
            borders = [*(c.start for c in found[i + 1 : i + 3]), len(self.text), len(self.text)]
            marked = self._marked(found[i], done, borders[0])
            span, used = None, 1
            if i + 1 < len(found) and self._connected(marked, found[i + 1]):
                span, used = self._range(marked, found[i + 1], borders[1]), 2
            if span is None:
                span, used = self._single(marked), 1
            if span is not None:
                if last is not None and self._listed(last, span, found[i]):
                    span = replace(span, role="every")
                done, last = span.span[1], span
                yield span
            i += used

    def _listed(self, last: TimeSpan, span: TimeSpan, chain: Chain) -> bool:
        """ "every Monday and Thursday": the second day recurs as the first does."""
        plain = {"weekday", "part", "hour", "minute", "ampm"} >= chain.fields.keys() and span.role == "point"
        return plain and last.role == "every" and self.pack.lists.fullmatch(self.folded, last.span[1], span.span[0]) is not None

    def _stands(self, chain: Chain) -> bool:
        """Whether the expression has the company its atoms need."""
        if len(chain.atoms) > 1 or chain.atoms[0].needs == "":
            return True
        if chain.atoms[0].needs == "date":
            return False
        return bool(self.pack.preposition.search(self.folded[max(0, chain.start - _BEFORE) : chain.start])) or self._follows_range(chain)

    def _second_clock(self, first: Chain, second: Chain) -> bool:
        """ "下午三点到五点": the second of two times of day needs no more company than the first."""
        if second.dated or "hour" not in second.fields or "hour" not in first.fields or second.start > first.end + 12:
            return False
        return self.pack.connector.fullmatch(self.folded, first.end, second.start) is not None

    def _follows_range(self, chain: Chain) -> bool:
        before = self.folded[max(0, chain.start - 40) : chain.start]
        return bool(re.search(r"(?:from|between) [a-z0-9 ,]{2,24} (?:to|and|until|till|through) $", before))

    def _marked(self, chain: Chain, done: int, limit: int) -> _Marked:
        """`done` and `limit`: where the expressions before and after it end and begin."""
        chain = self._until_now(chain)
        fixed = _fixed_role(chain.fields)
        if fixed is not None:
            return _Marked(chain, fixed, chain.start, chain.end)
        low = max(done, chain.start - _BEFORE)
        before = self.pack.before.search(self.folded[low : chain.start])
        after = self.pack.after.match(self.folded, chain.end, chain.end + 16)
        if after and after.end() > limit:
            after = None
        first = self.pack.roles_before[before["en"] or before["zh"]] if before else None
        second = self.pack.roles_after[after["zh"] or after["en"]] if after else None
        if second == "from_on":
            second = "from" if first == "from" else None
        role = second if first in (None, "from") and second is not None else first
        start = low + before.start() if before else chain.start
        return _Marked(chain, _role(role), start, after.end() if after and second else chain.end)

    def _until_now(self, chain: Chain) -> Chain:
        """ "have lived here for two years", "haven't … in ten years": the length lasted until now."""
        if not {"within", "plain_for"} & chain.fields.keys() or not self.pack.perfect.search(self._around(chain, _CLAUSE)[0]):
            return chain
        kept = {field: value for field, value in chain.fields.items() if field != "within"}
        return replace(chain, fields=kept | {"lasting": -1})

    def _around(self, chain: Chain, borders: re.Pattern[str]) -> tuple[str, str]:
        left = borders.split(self.folded[max(0, chain.start - _REACH) : chain.start])[-1]
        right = borders.split(self.folded[chain.end : chain.end + _REACH], maxsplit=1)[0]
        return left, right

    def _tense(self, chain: Chain) -> tuple[bool, bool]:
        """Whether words of the future and of the past stand around the expression: in its clause, else in its sentence."""
        for borders in (_CLAUSE, _SENTENCE):
            sides = self._around(chain, borders)
            future = any(self.pack.future.search(side) for side in sides)
            past = any(self.pack.past.search(side) for side in sides)
            if future or past:
                return future, past
        return False, False

    def _anchor(self, chain: Chain, role: str) -> Anchor:
        if not _YEARLESS & chain.fields.keys():
            return Anchor(self.said)
        if role == "since":
            return Anchor(self.said, -1, -1)
        future, past = self._tense(chain)
        ahead = future or (not past and (role in _AHEAD or "hour" in chain.fields))
        return Anchor(self.said, 1 if ahead else -1, -1 if past and not future else 1)

    def _single(self, marked: _Marked) -> TimeSpan | None:
        if "within" in marked.chain.fields and self._tense(marked.chain) == (False, True):
            return None
        local = resolve(marked.chain.fields, self._anchor(marked.chain, marked.role))
        if local is None:
            return None
        if marked.role == "after":
            begin = local.start if local.grain in CLOCK_GRAINS else local.end
            local = Local(begin, begin + timedelta(1), local.grain)
        return self._span(marked.start, marked.end, local, "from" if marked.role == "after" else marked.role, dated=marked.chain.dated)

    def _connected(self, first: _Marked, second: Chain) -> bool:
        if first.role not in ("point", "since", "from", "during") or not first.chain.end < second.start <= first.chain.end + 12:
            return False
        if {"every", "lasting"} & (first.chain.fields.keys() | second.fields.keys()):
            return False
        link = self.pack.connector.fullmatch(self.folded, first.chain.end, second.start)
        if not link:
            return False
        links, before, after = self.pack.between
        lead = self.folded[max(0, first.chain.start - 12) : first.chain.start]
        return link[0].strip() not in links or lead.rstrip().endswith(before) or self.folded.startswith(after, second.end)

    def _range(self, first: _Marked, second: Chain, limit: int) -> TimeSpan | None:
        """From the first instant of one to the last of the other; what one leaves out the other lends."""
        one, two = dict(first.chain.fields), dict(second.fields)
        for field in YEAR & two.keys():
            if not ABSOLUTE & one.keys():
                one[field] = two[field]
        if not {"month", "festival", "weekday"} & one.keys() and {"day", "month"} <= two.keys() and "day" in one:
            one["month"] = two["month"]
        if "month" in one and "day" in two and not {"month", "month_shift", "first", "year"} & two.keys():
            two["month"] = one["month"]
        if not second.dated and "part" in one and not {"part", "ampm"} & two.keys():
            two["part"] = one["part"]
        anchor = self._anchor(first.chain, "point")
        start = resolve(one, anchor)
        if start is None:
            return None
        later = replace(anchor, said=start.start, direction=1, weekday_direction=1)
        by_first = not second.dated or (_YEARLESS & two.keys() and not ABSOLUTE & two.keys())
        end = resolve(two, later if by_first else anchor)
        if end is None or end.end <= start.start:
            return None
        tail = self._marked(second, second.start, limit)
        lead = self.folded[max(0, first.start - 8) : first.start]
        head = first.start - 8 if lead.endswith("between ") else first.start
        foot = tail.end if tail.role in ("until", "during") else second.end
        if self.folded.startswith(self.pack.between[2], foot):
            foot += len(self.pack.between[2])
        last = end.start if end.grain in CLOCK_GRAINS and end.start > start.start else end.end
        dated = first.chain.dated or second.dated
        return self._span(head, foot, Local(start.start, last, end.grain), "during" if dated else "every", dated=dated)

    def _span(self, start: int, end: int, local: Local, role: Role, *, dated: bool = True) -> TimeSpan | None:
        try:
            first, last = self._utc(local.start), self._utc(local.end)
        except (OverflowError, ValueError):
            return None
        if last <= first:
            last = first + timedelta(milliseconds=1)
        if not 1 <= first.year <= 9998 or not 1 <= last.year <= 9998:
            return None
        return TimeSpan((start, end), first, last, local.grain, role, self.text[start:end], dated)

    def _utc(self, local: datetime) -> datetime:
        """Ambiguous local times take the first, skipped ones shift forward (fold 0 gives both)."""
        return utc(local.replace(tzinfo=self.zone, fold=0).astimezone(UTC))


def _fixed_role(fields: Fields) -> Role | None:
    """The role that an expression has by itself."""
    if "every" in fields:
        return "every"
    if "until_day" in fields:
        return "during"
    if "lasting" not in fields:
        return None
    return "for" if float(fields["lasting"]) > 0 else "since"


def _role(word: str | None) -> Role:
    roles: dict[str, Role] = {"since": "since", "from": "from", "until": "until", "before": "before", "after": "after", "during": "during"}
    return roles.get(word or "", "point")


def find_times(text: str, said_at: datetime, zone: ZoneInfo, language_hint: str | None = None) -> tuple[TimeSpan, ...]:
    """Every expression of time in the text, in order, not overlapping; both languages are always read (the hint changes nothing).

    `said_at` is aware; starts and ends are aware UTC, whole milliseconds, end exclusive, years 1 to 9998. Impossible dates
    are no times. Linear in the length of the text; never raises on any text.
    """
    del language_hint
    return tuple(_Reader(text, said_at, zone).spans())
