"""Atoms that stand side by side become one expression: year, month, day, part of the day and clock, in any order English allows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphmem.pipeline.timepack import Atom, Fields, TimePack

_LEVELS = {
    0: ("year", "short_year", "year_shift", "decade"),
    1: ("season", "quarter", "half", "quarter_shift", "festival"),
    2: ("month", "month_shift", "first"),
    3: ("edge",),
    4: ("week_shift",),
    5: ("day", "day_shift", "weekday", "weekend", "second", "amount", "just_now"),
    6: ("part", "ampm"),
    7: ("hour", "minute"),
}
_LEVEL = {field: level for level, fields in _LEVELS.items() for field in fields}
_GAP_MAX = 12
_BETWEEN = r",? ?(?:(?:of|in|on|at|around|about{}) )?(?:the )?|-| ?的? ?{}"
_GAP = re.compile(_BETWEEN.format("", ""))
_GAP_BEFORE_CLOCK = re.compile(_BETWEEN.format("|from", "从?"))
YEAR = frozenset(_LEVELS[0])
ABSOLUTE = YEAR | {"which", "week_shift", "month_shift", "day_shift", "quarter_shift", "sign", "just_now"}
_IN_YEAR = frozenset({"season", "festival", "quarter", "half", "month", "edge"})
_CLOCK = frozenset({"part", "ampm", "hour", "minute"})
_COMPANY: dict[str, frozenset[str]] = {
    "day_shift": _CLOCK | {"weekday", "year_shift"},
    "first": _CLOCK | {"second", "year", "weekday"},
    "just_now": frozenset(),
    "quarter_shift": frozenset({"edge"}),
    "week_shift": _CLOCK | {"weekday", "weekend", "edge"},
    "edge": YEAR | {"month", "month_shift", "week_shift", "season", "edge_of", "lunar", "which", "amount", "unit", "sign"},
    "decade": frozenset({"edge"}),
    "season": YEAR | {"every", "edge", "which", "amount", "unit", "sign"},
    "quarter": YEAR | {"edge", "which", "amount", "unit", "sign"},
    "half": YEAR | {"edge", "which", "amount", "unit", "sign"},
    "festival": YEAR | _CLOCK | {"every", "which", "weekday", "amount", "unit", "sign"},
    "amount": _CLOCK | _IN_YEAR | {"unit", "sign", "plus", "lasting", "plain_for", "weekday", "day", "lunar", "which", "edge_of"},
    "every": _CLOCK | {"weekday", "festival", "month", "day", "amount", "season"},
}
"""Which fields may stand beside a field in one expression; fields that are not listed mind nobody."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Neighbouring atoms that make one expression."""

    start: int
    end: int
    fields: Fields
    atoms: tuple[Atom, ...]
    english: bool

    @property
    def dated(self) -> bool:
        """Whether it names a day or more, not a time of day alone."""
        return not self.fields.keys() <= _CLOCK

    @property
    def levels(self) -> frozenset[int]:
        return frozenset(_LEVEL[f] for f in self.fields if f in _LEVEL)


def chains(pack: TimePack, folded: str) -> list[Chain]:
    """Expressions of a folded text in order. One look back an atom: linear."""
    found: list[Chain] = []
    for match in pack.matches(folded):
        read = pack.fields(match)
        if read is None:
            continue
        atom, fields = read
        new = Chain(match.start(), match.end(), fields, (atom,), atom.english)
        joined = _join(found[-1], new, folded) if found else None
        if joined is not None:
            found[-1] = joined
        else:
            found.append(new)
    return found


def _join(old: Chain, new: Chain, folded: str) -> Chain | None:
    gap = _GAP if new.dated or not old.dated else _GAP_BEFORE_CLOCK
    if new.start - old.end > _GAP_MAX or not gap.fullmatch(folded, old.end, new.start):
        return None
    both = old.fields | new.fields
    if not _may_meet(old, new, both):
        return None
    free = {"amount", "every"} & old.fields.keys() or old.english or new.english
    if not free and old.levels and new.levels and max(old.levels) > min(new.levels):
        return None
    return Chain(old.start, new.end, both, old.atoms + new.atoms, old.english or new.english)


def _may_meet(old: Chain, new: Chain, both: Fields) -> bool:
    if old.fields.keys() & new.fields.keys() - {"edge_of"} or "amount" in new.fields:
        return False
    if any(field in both and not both.keys() <= company | {field} for field, company in _COMPANY.items()):
        return False
    if old.levels & new.levels - ({5} if "weekday" in both and "which" not in both else frozenset()):
        return False
    if {"day_shift", "year_shift"} <= both.keys() and (old.english or new.english):
        return False
    return "weekday" not in both or _dated_weekday(both)


def _dated_weekday(fields: Fields) -> bool:
    """A weekday stands in a week or beside the day it names, not in a year or a month."""
    return "day" in fields or "day_shift" in fields or "second" in fields or not {"month", "month_shift", "season", *YEAR} & fields.keys()
