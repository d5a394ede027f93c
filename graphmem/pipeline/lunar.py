"""The Chinese lunar calendar from 1900 to 2099 and the festivals of both worlds, as plain dates. Pure tables, no clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

BASE = date(1900, 1, 31)
"""First day of the first lunar month of 1900."""

FIRST, LAST = 1900, 2099
"""Lunar years of the table."""

# One hex word a lunar year: leap month << 16 | bit i set when the i-th month has 30 days (source: libraries.md section 5).
_TABLE = tuple(
    int(word, 16)
    for word in """
816d2 752 ea5 5164a 64b a9b 41556 56a b59 21752 752 61b25 b25 a4b 514ab 2ad 56b 20b69 da9 71d92 e92 d25 51a4d a56 2b6 415b5 6d4 ea9
21e92 e92 60d26 52b a57 512b6 b5a 6d4 30ec9 749 71693 a93 52b 60a5b aad 56a 41b55 ba4 b49 21a93 a95 7152d 536 aad 515aa 5b2 da5 31d4a
d4a 80a95 a97 556 60ab5 ad5 6d2 40ea5 ea5 64a 30c97 a9b 7155a 56a b69 51752 b52 b25 4164b a4b 814ab 2ad 56d 60b69 da9 d92 41d25 d25
a1a4d a56 2b6 605b5 6d5 ea9 51e92 e92 d26 30a56 a57 814d6 35a 6d5 516c9 749 693 4152b 52b a5b 2155a 56a 71b55 ba4 b49 51a93 a95 52d
40aad ab5 915aa 5d2 da5 61d4a d4a c95 4152e 556 ab5 215b2 6d2 60ea5 725 64b 50c97 cab 55a 30ad6 b69 b1752 b52 b25 61a4b a4b 4ab 5055b
5ad b6a 21b52 d92 71d25 d25 a55 514ad 4b6 5b5 30daa ec9 81e92 e92 d26 60a56 a57 4d6 406d5 755 749 30e93 693 7152b 52b a5b 5155a 56a
b65 4174a b4a 81a95 a95 52d 60aad ab5 5aa 40ba5 da5 d4a 31c95 c96 7194e 556 ab5 515b2 6d2 ea5 40e4a 64b 80c97 4ab 55b 60ad6 b6a 752
41725 b25 a8b 2149b
""".split()
)


def _days(word: int) -> int:
    return 29 * (12 + bool(word >> 16)) + (word & 0xFFFF).bit_count()


def _new_years() -> tuple[date, ...]:
    starts = [BASE]
    for word in _TABLE:
        starts.append(starts[-1] + timedelta(_days(word)))
    return tuple(starts)


_NEW_YEAR = _new_years()


def leap_month(year: int) -> int:
    """Number of the month that is doubled in this lunar year, 0 for none. ValueError outside the table."""
    return _word(year) >> 16


def _word(year: int) -> int:
    if not FIRST <= year <= LAST:
        raise ValueError(f"lunar years run from {FIRST} to {LAST}")
    return _TABLE[year - FIRST]


def solar(year: int, month: int, day: int, *, leap: bool = False) -> date:
    """The solar date of a lunar one. ValueError: no such year, month, leap month or day."""
    word = _word(year)
    doubled = word >> 16
    if not 1 <= month <= 12 or (leap and month != doubled):
        raise ValueError("no such lunar month")
    at = month - 1 + (1 if doubled and (month > doubled or leap) else 0)
    if not 1 <= day <= 29 + (word >> at & 1):
        raise ValueError("no such lunar day")
    return _NEW_YEAR[year - FIRST] + timedelta(sum(29 + (word >> i & 1) for i in range(at)) + day - 1)


def qingming(year: int) -> date:
    """Tomb-sweeping day by the common formula for the 20th and 21st century. ValueError outside 1900 to 2099."""
    _word(year)
    in_century = year % 100
    return date(year, 4, int(in_century * 0.2422 + (4.81 if year >= 2000 else 5.59)) - in_century // 4)


def easter(year: int) -> date:
    """Western Easter Sunday (Gregorian computus)."""
    golden, century, rest = year % 19, year // 100, year % 100
    correction = (century + 8) // 25
    epact = (19 * golden + century - century // 4 - (century - correction + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth Monday (1) to Sunday (7) of a month; nth -1 is the last one."""
    if nth > 0:
        first = date(year, month, 1)
        return first + timedelta((weekday - first.isoweekday()) % 7 + 7 * (nth - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(1)
    return last - timedelta((last.isoweekday() - weekday) % 7)


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _lunar(month: int, day: int) -> Callable[[int], date]:
    return lambda year: solar(year, month, day)


def _nth(month: int, weekday: int, nth: int) -> Callable[[int], date]:
    return lambda year: nth_weekday(year, month, weekday, nth)


FESTIVALS: dict[str, Callable[[int], date]] = {
    "spring_festival": _lunar(1, 1),
    "lantern": _lunar(1, 15),
    "qingming": qingming,
    "dragon_boat": _lunar(5, 5),
    "qixi": _lunar(7, 7),
    "mid_autumn": _lunar(8, 15),
    "double_ninth": _lunar(9, 9),
    "laba": _lunar(12, 8),
    "new_years_eve_lunar": lambda year: solar(year, 1, 1) - timedelta(1),
    "new_year": _fixed(1, 1),
    "valentine": _fixed(2, 14),
    "womens_day": _fixed(3, 8),
    "labour_day": _fixed(5, 1),
    "childrens_day": _fixed(6, 1),
    "independence_day": _fixed(7, 4),
    "teachers_day": _fixed(9, 10),
    "national_day": _fixed(10, 1),
    "halloween": _fixed(10, 31),
    "singles_day": _fixed(11, 11),
    "christmas_eve": _fixed(12, 24),
    "christmas": _fixed(12, 25),
    "boxing_day": _fixed(12, 26),
    "new_years_eve": _fixed(12, 31),
    "mothers_day": _nth(5, 7, 2),
    "memorial_day": _nth(5, 1, -1),
    "fathers_day": _nth(6, 7, 3),
    "labor_day_us": _nth(9, 1, 1),
    "thanksgiving": _nth(11, 4, 4),
    "easter": easter,
}
"""Name of a festival → its date in a year. Lunar ones of "2023" belong to the lunar year 2023: 腊八 of 2023 is in January 2024;
除夕 of a year is the day before that year's 春节."""


def festival(name: str, year: int) -> date:
    """The day of a festival. KeyError: unknown name. ValueError: the table does not reach that year."""
    return FESTIVALS[name](year)
