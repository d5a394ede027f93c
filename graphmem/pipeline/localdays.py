"""Local calendar arithmetic of the time grammar: intervals of days, months and units. No text, no clock, no zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
UNIT_TIME = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(1),
    "week": timedelta(7),
    "fortnight": timedelta(14),
}


@dataclass(frozen=True, slots=True)
class Local:
    """A half-open interval of naive local times."""

    start: datetime
    end: datetime
    grain: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """What relative words count from: the local time of speaking. `direction` of a date without a year: +1 the next, -1 the last."""

    said: datetime
    direction: int = -1
    weekday_direction: int = 1

    @property
    def today(self) -> date:
        return self.said.date()


def days(first: date, last: date, grain: str) -> Local:
    return Local(datetime.combine(first, time()), datetime.combine(last + timedelta(1), time()), grain)


def month_days(year: int, month: int, first: int = 1, last: int = 31) -> tuple[date, date]:
    end = add_months(date(year, month, 1), 1) - timedelta(1)
    return date(year, month, min(first, end.day)), min(date(year, month, min(last, end.day)), end)


def add_months(day: date, months: int) -> date:
    """The same day so many months on; the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for last in (day.day, 30, 29, 28):
        if last <= day.day:
            try:
                return date(year, month + 1, last)
            except ValueError:
                if last == 28:
                    raise
    raise ValueError("no such month")


def shifted(said: datetime, amount: float, unit: str) -> datetime:
    """`said` moved by an amount of a unit. Half a year is six months, half a month 15 days. ValueError or OverflowError out of range."""
    if abs(amount) > 10_000_000:
        raise ValueError("too far")
    if unit not in UNIT_MONTHS:
        return said + UNIT_TIME[unit] * amount
    months = amount * UNIT_MONTHS[unit]
    whole = int(months)
    day = add_months(said.date(), whole) + timedelta(round((months - whole) * 30))
    return datetime.combine(day, said.time())


def unit_of(day: date, unit: str, shift: int) -> Local:
    if unit == "day":
        return days(day + timedelta(shift), day + timedelta(shift), unit)
    if unit == "week":
        monday = day - timedelta(day.weekday()) + timedelta(7 * shift)
        return days(monday, monday + timedelta(6), unit)
    months = UNIT_MONTHS[unit]
    index = day.year * 12 + day.month - 1
    index = index - index % months + shift * months
    first = date(index // 12, index % 12 + 1, 1)
    return days(first, add_months(first, months) - timedelta(1), unit)
