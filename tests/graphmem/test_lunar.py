"""The lunar table and the festivals, against dates known from public calendars."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.pipeline.lunar import FESTIVALS, easter, festival, leap_month, nth_weekday, qingming, solar

NAMES = ("spring_festival", "lantern", "qingming", "dragon_boat", "qixi", "mid_autumn", "double_ninth", "laba")
DATES = {
    2023: "2023-01-22 2023-02-05 2023-04-05 2023-06-22 2023-08-22 2023-09-29 2023-10-23 2024-01-18",
    2024: "2024-02-10 2024-02-24 2024-04-04 2024-06-10 2024-08-10 2024-09-17 2024-10-11 2025-01-07",
    2025: "2025-01-29 2025-02-12 2025-04-04 2025-05-31 2025-08-29 2025-10-06 2025-10-29 2026-01-26",
    2026: "2026-02-17 2026-03-03 2026-04-05 2026-06-19 2026-08-19 2026-09-25 2026-10-18 2027-01-15",
    2027: "2027-02-06 2027-02-20 2027-04-05 2027-06-09 2027-08-08 2027-09-15 2027-10-08 2028-01-04",
}


@pytest.mark.parametrize("year", DATES)
def test_festivals_fall_on_their_days(year: int) -> None:
    assert [festival(name, year).isoformat() for name in NAMES] == DATES[year].split()


def test_new_years_eve_of_the_lunar_year_is_the_day_before_spring_festival() -> None:
    assert festival("new_years_eve_lunar", 2024) == date(2024, 2, 9)


def test_a_leap_month_follows_the_month_it_doubles() -> None:
    assert leap_month(2023) == 2
    assert leap_month(2024) == 0
    assert solar(2023, 2, 1) == date(2023, 2, 20)
    assert solar(2023, 2, 1, leap=True) == date(2023, 3, 22)
    assert solar(2023, 3, 1) == date(2023, 4, 20)


@pytest.mark.parametrize(
    ("year", "month", "day", "leap"),
    [(1899, 1, 1, False), (2100, 1, 1, False), (2024, 13, 1, False), (2024, 2, 1, True), (2024, 1, 31, False), (2024, 1, 0, False)],
)
def test_a_lunar_day_that_does_not_exist_is_refused(year: int, month: int, day: int, leap: bool) -> None:
    with pytest.raises(ValueError, match=r"lunar|no such"):
        solar(year, month, day, leap=leap)


@given(st.integers(1900, 2098))
def test_lunar_years_follow_each_other_without_a_gap(year: int) -> None:
    days = (solar(year + 1, 1, 1) - solar(year, 1, 1)).days
    assert days in ((383, 384, 385) if leap_month(year) else (353, 354, 355))
    assert date(year, 1, 20) <= solar(year, 1, 1) <= date(year, 2, 21)


@pytest.mark.parametrize(
    ("year", "day"),
    [(2000, "2000-04-23"), (2024, "2024-03-31"), (2025, "2025-04-20"), (2026, "2026-04-05"), (2027, "2027-03-28"), (2038, "2038-04-25")],
)
def test_easter_is_the_sunday_of_the_almanac(year: int, day: str) -> None:
    assert easter(year).isoformat() == day


@pytest.mark.parametrize(("year", "day"), [(1990, 5), (2000, 4), (2008, 4), (2023, 5), (2024, 4)])
def test_qingming_is_the_fourth_or_fifth_of_april(year: int, day: int) -> None:
    assert qingming(year) == date(year, 4, day)


def test_movable_western_days_are_counted_in_weekdays() -> None:
    assert festival("thanksgiving", 2025) == date(2025, 11, 27)
    assert festival("mothers_day", 2026) == date(2026, 5, 10)
    assert festival("fathers_day", 2026) == date(2026, 6, 21)
    assert festival("memorial_day", 2026) == date(2026, 5, 25)
    assert nth_weekday(2026, 12, 4, -1) == date(2026, 12, 31)


def test_an_unknown_festival_is_a_key_error() -> None:
    assert "christmas" in FESTIVALS
    with pytest.raises(KeyError):
        festival("nobody's day", 2026)
