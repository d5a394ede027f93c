"""Sensed places: distances on the globe, places that are none, and how far is too far."""

from __future__ import annotations

import math

import pytest

from graphmem import drift
from graphmem.book import Judgement, Limits, Trust
from graphmem.casework import Spoken, rule_of
from graphmem.drift import DRIFT, blocked, check_environment, distance_km, position_of, sensed, value_of
from graphmem.errors import InvalidInputError
from graphmem.memory import Environment, Kind, Statement, Verdict
from graphmem.ontology import load_ontology
from graphmem.review import case_id_of, cases_of, within_quota
from graphmem.scope import Scope
from graphmem.slot import ckey_of_text
from graphmem.validity import Ledger, Ms, Pending, Row
from graphmem.writing import Changes, Decided, Known, Origin, hear, settle

ONTOLOGY = load_ontology()
SCOPE = Scope("t-drift", "user-1")
HOUR: Ms = 3_600_000
DAY: Ms = 24 * HOUR
LIMITS = Limits(72 * HOUR, 30 * DAY)
SHANGHAI, BEIJING, SUZHOU = (31.23, 121.47), (39.904, 116.407), (31.299, 120.585)
ORIGIN = Origin("op:1", "user_stated", None, "user", "default", "UTC")
MIDS = [f"m{i:03}" for i in range(50)]


class Memories:
    """The rows of one user, written by the real judge, read whole each time."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.pendings: dict[str, Pending] = {}
        self.mids = iter(f"m{i:04}" for i in range(1000))
        self.cases: list[tuple[str, str]] = []
        self.now: Ms = 0

    def say(self, at: Ms, *statements: Statement) -> list[Decided]:
        spoken = [Spoken(SCOPE, s, rule_of(ONTOLOGY.key(s.key)), Trust(), at) for s in statements]
        tops: dict[str, int] = {}
        for row in self.rows.values():
            tops[row.slot] = max(tops.get(row.slot, 0), row.version)
        self.now = max(self.now, at)
        waiting = tuple(p for p in self.pendings.values() if p.open())
        known = Known(self.now, 0, False, tuple(tops), tuple(self.rows.values()), (), tops, waiting)
        book, decided = hear(known, spoken, LIMITS, 0, [next(self.mids) for _ in range(20)])
        changes = settle(known, book, Changes("", ORIGIN))
        self.rows |= book.rows
        self.pendings |= book.pendings
        self.cases += [(c.case_id, c.state) for c in cases_of(changes, book, LIMITS.pending_life)]
        return decided

    def sense(self, at: Ms, where: tuple[float, float], city: str | None = None) -> list[Judgement]:
        ckey = ckey_of_text(city or "")
        return [d.judgement for d in self.say(at, *sensed(Environment(city, *where), ckey))]

    def told(self, key: str, t: Ms) -> list[str | None]:
        silent = blocked(self.pendings.values(), t, t, LIMITS)
        return [r.value for r in Ledger(self.rows.values()).all_told(t, t) if r.key == key and r.slot not in silent]


def stated(city: str) -> Statement:
    return Statement(Kind.CONTEXT, "current_city", city, ckey_of_text(city))


def east_of(start: tuple[float, float], km: float) -> tuple[float, float]:
    """A place so many kilometres north of another: one degree of latitude is the same everywhere."""
    return (start[0] + math.degrees(km / drift.EARTH_KM), start[1])


def test_a_quarter_of_a_meridian_is_ten_thousand_kilometres_and_a_place_is_no_way_from_itself() -> None:
    assert distance_km((0, 0), (90, 0)) == pytest.approx(math.pi / 2 * drift.EARTH_KM)
    assert distance_km((0, 179.5), (0, -179.5)) == pytest.approx(111.2, abs=0.1)  # over the date line, not around the globe
    assert distance_km(SHANGHAI, SHANGHAI) == 0
    assert distance_km((0, 0), (0, 180)) == pytest.approx(math.pi * drift.EARTH_KM)
    assert distance_km(SHANGHAI, BEIJING) == pytest.approx(1068, abs=5)


@pytest.mark.parametrize(
    ("latitude", "longitude", "field"),
    [
        (90.001, 0.0, "latitude"),
        (-91.0, 0.0, "latitude"),
        (0.0, 180.5, "longitude"),
        (0.0, -999.0, "longitude"),
        (math.nan, 0.0, "latitude"),
        (0.0, math.inf, "longitude"),
        (12.0, None, "longitude"),
        (None, 12.0, "latitude"),
    ],
)
def test_a_position_that_no_place_has_is_refused_by_the_name_of_its_field(
    latitude: float | None, longitude: float | None, field: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        check_environment(Environment(latitude=latitude, longitude=longitude))
    assert refused.value.field == f"environment/{field}" and refused.value.code == "bad_position"


def test_the_poles_the_date_line_and_no_position_are_fine() -> None:
    corners = [Environment(latitude=90, longitude=180), Environment(latitude=-90, longitude=-180)]
    for environment in (None, Environment(), Environment("上海"), *corners):
        check_environment(environment)


def test_a_position_is_stored_rounded_and_read_back_and_words_are_no_position() -> None:
    assert value_of((31.23049, 121.4737)) == "31.230,121.474"
    assert value_of((-0.00001, 0.0)) == "-0.000,0.000"
    assert position_of("31.230,121.474") == (31.23, 121.474)
    assert [position_of(v) for v in (None, "咖啡店", "12", "1,2,3", "95,10", "here,there")] == [None] * 6


def test_an_environment_says_a_position_and_a_city_only_where_it_has_them() -> None:
    assert sensed(None, "") == () and sensed(Environment(device="iPhone"), "") == ()
    both = sensed(Environment("上海", *SHANGHAI), "city:shanghai")
    assert [(s.key, s.value, s.sensed, s.deliberate) for s in both] == [
        ("current_location", "31.230,121.470", True, True),
        ("current_city", "上海", True, True),
    ]


@pytest.mark.parametrize(("km", "waits"), [(1, False), (499, False), (501, True), (5_000, True)])
def test_more_than_500_km_within_a_day_waits_and_less_supersedes(km: float, waits: bool) -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI)
    verdict = m.sense(DAY + HOUR, east_of(SHANGHAI, km))[0]
    assert (verdict.verdict is Verdict.PENDING, verdict.reason == DRIFT) == (waits, waits)
    assert m.told("current_location", DAY + HOUR) == ([] if waits else [value_of(east_of(SHANGHAI, km))])


@pytest.mark.parametrize(("hours", "waits"), [(23.9, True), (24, True), (24.01, False), (100, False)])
def test_a_day_after_the_last_sensed_position_any_distance_supersedes(hours: float, waits: bool) -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI)
    verdict = m.sense(DAY + int(hours * HOUR), BEIJING)[0]
    assert verdict.verdict is (Verdict.PENDING if waits else Verdict.SUPERSEDE)


def test_the_day_counts_from_when_the_position_was_last_sensed_not_first() -> None:
    m = Memories()
    for hour in (0, 10, 20):
        m.sense(DAY + hour * HOUR, SHANGHAI)
    assert m.sense(DAY + 40 * HOUR, BEIJING)[0].verdict is Verdict.PENDING


def test_a_drift_silences_the_old_city_too_and_opens_a_case_for_each() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI, "上海")
    assert m.told("current_city", DAY) == ["上海"]
    found = m.sense(DAY + HOUR, BEIJING, "北京")
    assert [j.reason for j in found] == [DRIFT, DRIFT]
    assert m.told("current_city", DAY + HOUR) == [] and m.told("current_location", DAY + HOUR) == []
    assert m.cases == [(case_id_of(j.mid or ""), "open") for j in found]
    assert m.told("current_city", DAY + HOUR - 1) == ["上海"]  # asked for a moment before, it was told


def test_places_near_each_other_wait_once_so_a_traveller_opens_one_case_and_not_one_a_turn() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI)
    first = m.sense(DAY + HOUR, BEIJING)[0]
    assert {m.sense(DAY + HOUR + n, east_of(BEIJING, n * 20))[0].mid for n in range(1, 20)} == {first.mid}
    assert len(m.pendings) == len(m.cases) == 1


def test_the_same_far_place_sensed_again_waits_once_and_another_one_takes_its_turn() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI)
    first = m.sense(DAY + HOUR, BEIJING)[0]
    again = m.sense(DAY + 2 * HOUR, BEIJING)[0]
    other = m.sense(DAY + 3 * HOUR, (22.54, 114.06))[0]
    assert again.mid == first.mid and other.mid != first.mid
    assert [(p.outcome, p.blocks) for p in m.pendings.values()] == [("overtaken", True), (None, True)]
    assert [state for _, state in m.cases] == ["open", "open", "overtaken"]


def test_the_users_word_that_they_are_there_settles_both_and_what_was_sensed_holds() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI, "上海")
    m.sense(DAY + HOUR, BEIJING, "北京")
    m.say(DAY + 2 * HOUR, stated("北京"))
    assert m.told("current_city", DAY + 2 * HOUR) == ["北京"]
    assert m.told("current_location", DAY + 2 * HOUR) == [value_of(BEIJING)]
    assert all(not p.open() for p in m.pendings.values())


def test_the_users_word_that_they_are_still_at_home_settles_both_and_what_was_held_is_told_again() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI, "上海")
    m.sense(DAY + HOUR, BEIJING, "北京")
    m.say(DAY + 2 * HOUR, stated("上海"))
    assert m.told("current_city", DAY + 2 * HOUR) == ["上海"]
    assert m.told("current_location", DAY + 2 * HOUR) == [value_of(SHANGHAI)]
    assert [p.outcome for p in m.pendings.values()] == ["rejected", "rejected"]


def test_a_word_about_something_else_settles_no_drift() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI, "上海")
    m.sense(DAY + HOUR, BEIJING, "北京")
    m.say(DAY + 2 * HOUR, Statement(Kind.CONTEXT, "device", "iPhone", ckey_of_text("iPhone")))
    assert m.told("current_city", DAY + 2 * HOUR) == [] and all(p.open() for p in m.pendings.values())


def test_a_position_that_arrives_late_never_waits() -> None:
    m = Memories()
    m.sense(DAY, SHANGHAI)
    m.sense(DAY + 10 * HOUR, SUZHOU)
    assert m.sense(DAY + 5 * HOUR, BEIJING)[0].verdict is Verdict.BACKFILL


def test_one_statement_more_than_the_quota_is_refused_and_the_others_are_kept() -> None:
    m = Memories()
    names = ["birthday", "gender", "name"]
    for key in names:
        m.say(DAY, Statement(Kind.FACT, key, "one", ckey_of_text("one")))
    changed = [Statement(Kind.FACT, key, "two", ckey_of_text("two")) for key in names]
    spoken = [Spoken(SCOPE, s, rule_of(ONTOLOGY.key(s.key)), Trust(), DAY + HOUR) for s in changed]
    known = Known(DAY + HOUR, 0, False, (), tuple(m.rows.values()), (), {}, ())
    book, decided = hear(known, spoken, LIMITS, 0, MIDS)
    kept = within_quota(book, decided, (), 2, LIMITS.pending_life)
    assert [d.judgement.verdict for d in kept] == [Verdict.REVIEW, Verdict.REVIEW, Verdict.REFUSED]
    assert [p.row.key for p in book.pendings.values()] == ["birthday", "gender"] and len(book.pended) == 2
