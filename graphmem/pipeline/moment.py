"""From what an expression says (fields) to a local interval. Calendar arithmetic only: no text, no clock, no zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from graphmem.pipeline.localdays import Anchor, Local, add_months, days, month_days, shifted, unit_of
from graphmem.pipeline.lunar import festival, solar
from graphmem.pipeline.timepack import Fields

YEARS = range(1, 9999)
"""Years a memory may name: 1 to 9998, so that an exclusive end always exists."""

PARTS: dict[str, tuple[int, int]] = {
    "night": (0, 6),
    "morning": (6, 12),
    "noon": (11, 13),
    "noon_hour": (12, 13),
    "afternoon": (12, 18),
    "dusk": (17, 19),
    "evening": (18, 24),
    "late_evening": (22, 24),
    "midnight": (0, 1),
}
"""Parts of a day as hours, half-open."""

_PM = frozenset({"afternoon", "dusk", "evening", "late_evening"})
_TEN_DAYS = {"begin": (1, 10), "early": (1, 10), "middle": (11, 20), "late": (21, 31), "end": (31, 31)}
_MONTHS = {"begin": (1, 1), "early": (1, 3), "middle": (6, 7), "late": (10, 12), "end": (12, 12)}


def resolve(fields: Fields, at: Anchor) -> Local | None:
    """The interval the fields name, None where there is none (30 February, month 13, a year out of 1 to 9998)."""
    try:
        found = _resolve(dict(fields), at)
    except (ValueError, OverflowError, KeyError):
        return None
    if found is None or found.start.year not in YEARS or found.end.year not in YEARS or found.end <= found.start:
        return None
    return found


def _num(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, str) or value != int(value):
        raise ValueError(f"{name} is a whole number")
    return int(value)


def _amount(fields: Fields) -> float:
    return float(fields["amount"]) + float(fields.get("plus", 0))


def _resolve(f: Fields, at: Anchor) -> Local | None:
    if "unclear" in f:
        return None
    if "just_now" in f:
        return Local(at.said - timedelta(hours=1), at.said + timedelta(minutes=1), "hour")
    if "lasting" in f:
        return _stretch(f, at)
    if "every" in f:
        return _recurring(f, at)
    if "sign" in f and not _distance_as_shift(f):
        return _distance(f, at)
    if "first" in f:
        first, second = _num(f, "first") or 0, _num(f, "second") or 0
        f["month"], f["day"] = (second, first) if first > 12 else (first, second)
    whole = _day(f, at)
    return _within_day(f, whole, at)


def _stretch(f: Fields, at: Anchor) -> Local:
    unit, amount = str(f["unit"]), _amount(f)
    if float(f["lasting"]) > 0:
        return Local(at.said, shifted(at.said, amount, unit), unit)
    start = shifted(at.said, -amount, unit)
    if unit not in ("minute", "hour"):
        start = datetime.combine(start.date(), time())
    return Local(start, at.said, unit)


def _recurring(f: Fields, at: Anchor) -> Local:
    """A recurring time is neither start nor end; its span is the day, week, month or year of speaking."""
    unit = str(f["every"])
    if unit not in ("day", "week", "month", "quarter", "year"):
        unit = "day"
    return unit_of(at.today, unit, 0)


def _distance_as_shift(f: Fields) -> bool:
    """ "三年前的夏天": a distance in years or weeks beside a finer word is a shifted year or week."""
    finer = {"month", "season", "festival", "quarter", "half", "edge"} & f.keys()
    unit = str(f["unit"])
    if unit == "year" and finer:
        f["year_shift"] = int(_amount(f) * float(f["sign"]))
        return True
    if unit == "week" and "weekday" in f:
        f["week_shift"] = int(_amount(f) * float(f["sign"]))
        return True
    return False


def _distance(f: Fields, at: Anchor) -> Local | None:
    unit = str(f["unit"])
    moved = shifted(at.said, _amount(f) * float(f["sign"]), unit)
    if unit in ("minute", "hour"):
        moved = moved.replace(second=0, microsecond=0)
        return Local(moved, moved + timedelta(minutes=1), "minute")
    return _within_day(f, days(moved.date(), moved.date(), "day"), at)


def _nearest(make: Callable[[int], Local], at: Anchor, which: int | None = None) -> Local:
    """One occurrence a year: `which` -1 the last one over, 0 this year's, 1 the next one; None by direction (a running one counts)."""
    year = at.today.year
    if which == 0:
        return make(year)
    found = [make(y) for y in range(year - 2, year + 3)]
    if which is None:
        if at.direction < 0:
            return [x for x in found if x.start <= at.said][-1]
        return next(x for x in found if x.end > at.said)
    if which < 0:
        return [x for x in found if x.end <= at.said][which]
    return [x for x in found if x.start > at.said][which - 1]


def _base_year(f: Fields, at: Anchor) -> int | None:
    if (short := _num(f, "short_year")) is not None:
        return 2000 + short if short <= at.today.year % 100 + 10 else 1900 + short
    if (shift := _num(f, "year_shift")) is not None:
        return at.today.year + shift
    return _num(f, "year")


def _yearly(f: Fields, at: Anchor, make: Callable[[int], Local]) -> Local:
    year = _base_year(f, at)
    return make(year) if year is not None else _nearest(make, at, _num(f, "which"))


def _day(f: Fields, at: Anchor) -> Local | None:
    """The span down to the day; None where no field names one."""
    if "festival" in f:
        name = str(f["festival"])
        return _yearly(f, at, lambda y: days(festival(name, y), festival(name, y), "day"))
    if "lunar" in f:
        return _lunar(f, at)
    if "day_shift" in f:
        same_day = add_months(at.today, 12 * (_num(f, "year_shift") or 0))
        return unit_of(same_day, "day", _num(f, "day_shift") or 0)
    if "month" in f or "month_shift" in f or "day" in f:
        return _month(f, at)
    if "season" in f:
        return _yearly(f, at, lambda y: _season(y, _num(f, "season") or 0))
    if "quarter" in f or "half" in f:
        return _part_of_year(f, at)
    if "quarter_shift" in f:
        return unit_of(at.today, "quarter", _num(f, "quarter_shift") or 0)
    if "decade" in f:
        return _decade(_num(f, "decade") or 0)
    if "edge" in f:
        return _edge(f, at)
    if "week_shift" in f or "weekday" in f or "weekend" in f:
        return _week(f, at)
    year = _base_year(f, at)
    return None if year is None else days(date(year, 1, 1), date(year, 12, 31), "year")


def _lunar(f: Fields, at: Anchor) -> Local:
    month, day = _num(f, "month") or 0, _num(f, "day")

    def make(year: int) -> Local:
        if day is not None:
            return days(solar(year, month, day), solar(year, month, day), "day")
        first = solar(year, month, 1)
        after = solar(year, month + 1, 1) if month < 12 else solar(year + 1, 1, 1)
        return days(first, after - timedelta(1), "month")

    return _yearly(f, at, make)


def _season(year: int, season: int) -> Local:
    """Meteorological: spring from March; the winter of a year runs to the end of the next February."""
    first = date(year, season * 3, 1)
    return days(first, add_months(first, 3) - timedelta(1), "season")


def _part_of_year(f: Fields, at: Anchor) -> Local:
    half = _num(f, "half")
    size, nth, grain = (6, half, "half") if half is not None else (3, _num(f, "quarter") or 0, "quarter")
    if not 1 <= nth <= 12 // size:
        raise ValueError("no such part of a year")

    def make(year: int) -> Local:
        first = date(year, (nth - 1) * size + 1, 1)
        return days(first, add_months(first, size) - timedelta(1), grain)

    if half is not None and _base_year(f, at) is None:
        return make(at.today.year)
    return _yearly(f, at, make)


def _decade(value: int) -> Local | None:
    if value % 10:
        return None
    first = value if value >= 1000 else (1900 + value if value >= 30 else 2000 + value)
    return days(date(first, 1, 1), date(first + 9, 12, 31), "decade")


def _edge(f: Fields, at: Anchor) -> Local | None:
    edge, of = str(f["edge"]), str(f.get("edge_of", ""))
    if of == "week" or "week_shift" in f:
        week = unit_of(at.today, "week", _num(f, "week_shift") or 0)
        first, last = {"begin": (0, 1), "early": (0, 1), "middle": (2, 2)}.get(edge, (5, 6))
        return days(week.start.date() + timedelta(first), week.start.date() + timedelta(last), "day")
    year = _base_year(f, at)
    if of == "month":
        return _month(f, at) if year is None else None
    if year is None and of != "year":
        return None
    low, high = _MONTHS[edge]
    year = at.today.year if year is None else year
    return days(date(year, low, 1), month_days(year, high)[1], "month")


def _month(f: Fields, at: Anchor) -> Local | None:
    day, edge = _num(f, "day"), f.get("edge")
    month, last_day = _num(f, "month"), _num(f, "until_day") or day or 0

    def make(year: int, month: int) -> Local:
        if day is not None:
            return days(date(year, month, day), date(year, month, last_day), "day")
        first, last = _TEN_DAYS[str(edge)] if edge is not None else (1, 31)
        return days(*month_days(year, month, first, last), "month" if edge is None else "day")

    if month is not None and day is not None and "weekday" in f and _base_year(f, at) is None:
        return _on_weekday(month, day, _num(f, "weekday") or 0, at)
    if month is not None:
        return _yearly(f, at, lambda y: make(y, month)) if (month, day) != (2, 29) else _leap_day(f, at)
    shift = _num(f, "month_shift")
    if shift is None and day is not None:
        return _day_of_month(day, at)
    target = add_months(at.today.replace(day=1), shift or 0)
    return make(target.year, target.month)


def _on_weekday(month: int, day: int, weekday: int, at: Anchor) -> Local:
    """ "Friday, May 8": of the years around the one whose date falls on that weekday and lies nearest."""
    found = []
    for year in range(at.today.year - 6, at.today.year + 7):
        try:
            found.append(date(year, month, day))
        except ValueError:
            continue
    fitting = [d for d in found if d.isoweekday() == weekday]
    best = min(fitting, key=lambda d: abs(d - at.today))
    return days(best, best, "day")


def _leap_day(f: Fields, at: Anchor) -> Local:
    year = _base_year(f, at)
    years = [year] if year is not None else [at.today.year + at.direction * i for i in range(9)]
    for y in years:
        try:
            found = days(date(y, 2, 29), date(y, 2, 29), "day")
        except ValueError:
            continue
        if year is not None or (found.start <= at.said if at.direction < 0 else found.end > at.said):
            return found
    raise ValueError("no such day")


def _day_of_month(day: int, at: Anchor) -> Local | None:
    if not 1 <= day <= 31:
        return None
    for i in range(0, 13):
        first = add_months(at.today.replace(day=1), i * at.direction)
        try:
            found = days(first.replace(day=day), first.replace(day=day), "day")
        except ValueError:
            continue
        if found.start <= at.said if at.direction < 0 else found.end > at.said:
            return found
    return None


def _week(f: Fields, at: Anchor) -> Local:
    """`last Friday` is the most recent one, `this Friday` the coming one (today counts), `next Friday` the one of the following week."""
    weekday, which, shift = _num(f, "weekday"), _num(f, "which"), _num(f, "week_shift")
    if shift is None and weekday is not None and which == 1:
        shift = 1
    if shift is not None:
        week = unit_of(at.today, "week", shift)
        monday = week.start.date()
        if "weekend" in f:
            return days(monday + timedelta(5), monday + timedelta(6), "weekend")
        return week if weekday is None else days(monday + timedelta(weekday - 1), monday + timedelta(weekday - 1), "day")
    if weekday is None or not 1 <= weekday <= 7:
        raise ValueError("no such weekday")
    ahead = (weekday - at.today.isoweekday()) % 7
    if which == -1 or (which is None and at.weekday_direction < 0):
        ahead = ahead - 7
    elif which is None and ahead == 0:
        ahead = 7
    day = at.today + timedelta(ahead)
    return days(day, day, "day")


def _within_day(f: Fields, whole: Local | None, at: Anchor) -> Local | None:
    part, hour = f.get("part"), _num(f, "hour")
    if part is None and hour is None:
        return whole
    if whole is None:
        whole = unit_of(at.today, "day", 0)
    if whole.end - whole.start != timedelta(1):
        return None
    if hour is None:
        low, high = PARTS[str(part)]
        return Local(whole.start + timedelta(hours=low), whole.start + timedelta(hours=high), "part")
    minute = _num(f, "minute")
    hour = _hour(hour, None if part is None else str(part), f.get("ampm"))
    if not 0 <= hour <= 24 or not 0 <= (minute or 0) < 60:
        return None
    start = whole.start + timedelta(hours=hour, minutes=minute or 0)
    exact = minute is not None
    return Local(start, start + (timedelta(minutes=1) if exact else timedelta(hours=1)), "minute" if exact else "hour")


def _hour(hour: int, part: str | None, ampm: object) -> int:
    if ampm is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        return hour % 12 + (12 if ampm == "pm" else 0)
    if part in _PM and hour <= 12:
        return 24 if hour == 12 and part != "afternoon" else hour % 12 + 12 if hour != 12 else 12
    if part in ("noon", "noon_hour") and hour <= 2:
        return hour + 12
    if part == "night" and hour == 12:
        return 0
    return hour
