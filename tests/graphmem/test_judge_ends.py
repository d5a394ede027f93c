"""The judge by example, question 9 of design section 5, and what overrules, retracts or forgets a row that was held."""

from __future__ import annotations

import pytest

from graphmem.memory import Verdict
from tests.driver import slot_of
from tests.graphmem.life import NOW, Life
from tests.oracle_lines import DAY, Line


@pytest.fixture
def life() -> Life:
    return Life()


# --- 9 new, end, supersede, schedule


def test_a_new_value_replaces_the_old_and_the_old_is_still_told_of_its_time(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    assert life.tell("home_city", "rome", 10) is Verdict.SUPERSEDE
    assert (life.told(9), life.told(10)) == (["lyon"], ["rome"])


def test_at_equal_start_the_later_recorded_wins(life: Life) -> None:
    life.tell("home_city", "lyon", 10)
    life.tell("home_city", "rome", 10)
    assert life.told(10) == ["rome"]


def test_a_plan_is_told_from_its_start_on(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    assert life.tell("home_city", "rome", 10, start=NOW + 5) is Verdict.SCHEDULE
    assert (life.told(NOW + 4), life.told(NOW + 5)) == (["lyon"], ["rome"])


def test_a_plan_that_is_due_needs_no_sweep_and_the_next_write_finds_one_current(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 10, start=NOW + 5)
    life.wait(10)
    life.tell("home_city", "nice")
    assert life.told(NOW + 5) == ["rome"]
    assert [r.value for r in life.product.graph.rows.values() if r.current] == ["nice"]


def test_an_end_holds_the_slot_and_is_never_told(life: Life) -> None:
    life.tell("hobby", "chess", 1)
    assert life.tell("hobby", "chess", 10, is_end=True) is Verdict.END
    assert (life.told(9), life.told(10)) == (["chess"], [])


def test_an_end_is_recorded_even_if_nothing_was_held(life: Life) -> None:
    life.tell("home_city", None, 10)
    life.tell("home_city", "lyon", 5)
    assert (life.told(9), life.told(10)) == (["lyon"], [])


def test_an_end_that_names_the_start_begins_a_millisecond_after_it(life: Life) -> None:
    life.tell("home_city", "lyon", 10)
    life.tell("home_city", None, 20, start=10)
    assert (life.told(10), life.told(10 + 1 / DAY)) == (["lyon"], [])


def test_a_value_wins_over_an_end_at_equal_start(life: Life) -> None:
    life.tell("home_city", None, 10)
    life.tell("home_city", "lyon", 10)
    assert life.told(10) == ["lyon"]


def test_until_leaves_the_slot_empty_and_no_older_value_returns(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 10, ends_at=20)
    assert (life.told(19), life.told(20)) == (["rome"], [])


def test_a_denial_opposes_without_a_second_write(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "-lyon", 10)
    assert (life.told(9), life.told(10)) == (["lyon"], ["-lyon"])


def test_an_opposed_value_does_not_return_when_the_dislike_has_run_out(life: Life) -> None:
    life.tell("coffee_preference", "latte", 1)
    life.tell("coffee_preference", "-latte", 100, ends_at=120)
    assert (life.told(110), life.told(121)) == (["-latte"], [])


def test_an_end_of_a_dislike_opposes_nothing(life: Life) -> None:
    life.tell("food_preference", "-tofu", 1)
    life.tell("food_preference", "tofu", 10, is_end=True)
    life.tell("coffee_preference", "tofu", 20)
    assert life.told(30) == ["tofu"]


def test_the_end_of_a_liking_in_one_key_leaves_the_dislike_in_another(life: Life) -> None:
    life.tell("coffee_preference", "-tofu", 1)
    life.tell("food_preference", "tofu", 10, is_end=True)
    assert life.told(20) == ["-tofu"]


def test_a_dislike_in_one_preference_key_opposes_the_choice_in_another(life: Life) -> None:
    life.tell("coffee_preference", "latte", 1)
    life.tell("tea_preference", "-latte", 10)
    assert life.told(10) == ["-latte"]


# --- claims, retraction, forgetting


def test_a_statement_dated_back_overrules_what_began_inside_its_span(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 20)
    life.tell("home_city", "nice", 30, start=10, claims=True)
    assert (life.told(9), life.told(10), life.told(25)) == (["lyon"], ["nice"], ["nice"])


def test_what_was_said_inside_a_claimed_span_is_overruled_also_when_it_arrives_late(life: Life) -> None:
    life.tell("home_city", "nice", 30, start=10, claims=True)
    life.tell("home_city", "rome", 20)
    assert life.told(25) == ["nice"]


def test_a_repetition_dated_back_overrules_a_period_inside_its_span(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 50, start=20, ends_at=30)
    life.tell("home_city", "lyon", 60, start=10, claims=True)
    assert life.told(25) == ["lyon"]


def test_a_past_event_without_a_claim_leaves_what_was_said_after_it(life: Life) -> None:
    life.tell("home_city", "rome", 20)
    life.tell("home_city", "nice", 30, start=10)
    assert (life.told(15), life.told(NOW)) == (["nice"], ["rome"])


def test_retracting_brings_the_row_before_it_back_and_the_past_belief_stays(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 10)
    before = life.learnt
    life.decide("retract", "rome")
    assert (life.told(20), life.told(20, known=before)) == (["lyon"], ["rome"])


def test_retracting_a_dislike_frees_what_it_opposed(life: Life) -> None:
    life.tell("coffee_preference", "latte", 390)
    life.tell("tea_preference", "-latte", 395)
    life.product.decide("retract", _line(life, "-"))
    assert life.told(NOW) == ["latte"]
    assert [r.value for r in life.product.graph.rows.values() if r.current] == ["latte"]


def _line(life: Life, polarity: str) -> Line:
    row = next(r for r in life.product.graph.rows.values() if r.polarity == polarity)
    return Line(slot_of(row), row.kind.value, row.value, row.polarity, row.version, row.said_at, row.valid_from, row.recorded_at)


def test_an_overruled_dislike_frees_the_liking_for_the_next_write_and_the_caches(life: Life) -> None:
    life.tell("tea_preference", "-decaf", 300)
    life.tell("tea_preference", "decaf", 301)
    life.tell("tea_preference", "latte", 304, start=301, claims=True)
    assert life.told(NOW) == ["-decaf", "latte"]
    assert sorted(r.polarity for r in life.product.graph.rows.values() if r.current) == ["+", "-"]
    assert life.tell("tea_preference", "-decaf", 350) is Verdict.REINFORCE


def test_forgetting_is_for_every_as_of_and_known_at_and_no_older_value_returns(life: Life) -> None:
    life.tell("home_city", "lyon", 1)
    life.tell("home_city", "rome", 10)
    before = life.learnt
    life.decide("forget", "rome")
    assert (life.told(5), life.told(20), life.told(20, known=before)) == (["lyon"], [], [])


def test_what_was_forgotten_is_not_told_again_by_a_late_arrival(life: Life) -> None:
    life.tell("home_city", "rome", 1)
    life.tell("home_city", "rome", 50)
    life.decide("forget", "rome")
    life.tell("home_city", "lyon", 10)
    assert (life.told(20), life.told(60)) == (["lyon"], [])


def test_what_was_forgotten_still_opposes(life: Life) -> None:
    life.tell("coffee_preference", "latte", 390)
    life.tell("tea_preference", "-latte", 395)
    life.product.decide("forget", _line(life, "-"))
    assert life.told(NOW) == []


# --- two times


def test_an_at_five_minutes_ahead_is_now_and_further_ahead_is_a_start(life: Life) -> None:
    life.tell("home_city", "lyon", NOW + 5 / 1440)
    assert life.told(NOW + 1 / 1440) == ["lyon"]
    life.tell("home_city", "rome", NOW + 1)
    assert (life.told(NOW + 0.9), life.told(NOW + 1)) == (["lyon"], ["rome"])
