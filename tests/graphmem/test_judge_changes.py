"""The judge by example, questions 7 and 8 of design section 5: which changes wait, for a proof, a review or the window."""

from __future__ import annotations

import pytest

from graphmem.memory import Verdict
from tests.graphmem.life import NOW, Life
from tests.oracle_lines import DAY, HOUR, PENDING_LIFE


@pytest.fixture
def life() -> Life:
    return Life()


# --- 7 change policy


def test_a_first_phone_number_needs_no_proof_and_a_change_does(life: Life) -> None:
    assert life.tell("phone", "111", 380) is Verdict.NEW
    assert life.tell("phone", "222", 381) is Verdict.PENDING
    assert (life.told(NOW), life.pending()) == (["111"], ["222"])


def test_the_check_of_a_trusted_application_counts_as_the_proofs(life: Life) -> None:
    life.tell("phone", "111", 380)
    assert life.tell("phone", "222", 381, verified=True) is Verdict.SUPERSEDE


def test_a_proven_change_starts_when_it_was_said_and_never_overrules(life: Life) -> None:
    life.tell("phone", "111", 10)
    life.tell("phone", "222", 30, start=5, claims=True, verified=True)
    assert (life.told(12), life.told(30)) == (["111"], ["222"])


def test_a_name_changes_only_by_document_or_staff(life: Life) -> None:
    life.tell("name", "ann", 380)
    assert life.tell("name", "eve", 381) is Verdict.REVIEW
    assert life.tell("name", "eve", 382, vouched=True) is Verdict.SUPERSEDE
    assert life.told(NOW) == ["eve"]


def test_every_allergy_takes_effect_at_once(life: Life) -> None:
    life.say("allergy", "penicillin", 1)
    assert life.say("allergy", "peanut", 1.01) is Verdict.NEW
    assert life.told(NOW) == ["peanut", "penicillin"]


def test_a_hedged_allergy_waits(life: Life) -> None:
    assert life.say("allergy", "penicillin", 399, hedged=True) is Verdict.PENDING
    assert (life.told(NOW), life.pending()) == ([], ["penicillin"])


def test_a_bare_denial_of_an_allergy_goes_to_review(life: Life) -> None:
    life.say("allergy", "penicillin", 380)
    assert life.say("allergy", "-penicillin", 381) is Verdict.REVIEW
    assert life.told(NOW) == ["penicillin"]


def test_a_grounded_denial_of_an_allergy_is_told(life: Life) -> None:
    life.say("allergy", "penicillin", 380)
    assert life.say("allergy", "-penicillin", 381, grounds="test") is Verdict.SUPERSEDE
    assert life.told(NOW) == ["-penicillin"]


def test_no_allergies_is_not_told_any_more_once_one_is_affirmed() -> None:
    life = Life()
    life.say("allergy", None, 370, whole_key=True)
    assert len(life.told(375)) == 1
    life.say("allergy", "peanut", 380)
    assert life.told(385) == ["peanut"] and len(life.told(375)) == 1
    assert life.say("allergy", None, 390, whole_key=True) is Verdict.REVIEW


def test_no_allergies_goes_to_review_only_when_one_is_held(life: Life) -> None:
    assert life.say("allergy", None, 380, whole_key=True) is Verdict.NEW
    other = Life()
    other.say("allergy", "penicillin", 381)
    assert other.say("allergy", None, 382, whole_key=True) is Verdict.REVIEW


def test_a_grounded_no_allergies_denies_each_that_is_held(life: Life) -> None:
    life.say("allergy", "penicillin", 380)
    life.say("allergy", "peanut", 381)
    life.say("allergy", None, 382, whole_key=True, grounds="professional")
    assert life.told(NOW) == ["-", "-peanut", "-penicillin"]


# --- 8 the window


def test_the_opposite_within_72_hours_is_pending_whatever_the_wording(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    assert life.say("coffee_preference", "-latte", 393, change=True) is Verdict.PENDING
    assert (life.told(NOW), life.pending()) == (["latte"], ["-latte"])


def test_the_opposite_in_the_very_moment_is_pending_too(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    assert life.say("coffee_preference", "-latte", 390) is Verdict.PENDING
    assert life.told(NOW) == ["latte"]


def test_the_opposite_after_72_hours_is_told(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    assert life.say("coffee_preference", "-latte", 393 + 1 / DAY) is not Verdict.PENDING
    assert life.told(NOW) == ["-latte"]


def test_the_window_is_measured_from_the_last_observation(life: Life) -> None:
    life.say("coffee_preference", "latte", 380)
    life.say("coffee_preference", "latte", 392)
    assert life.say("coffee_preference", "-latte", 393) is Verdict.PENDING


def test_another_choice_within_the_window_waits_unless_the_words_mark_a_change(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    assert life.say("coffee_preference", "mocha", 391) is Verdict.PENDING
    assert life.say("coffee_preference", "decaf", 391.5, change=True) is Verdict.SUPERSEDE
    assert (life.told(NOW), life.pending()) == (["decaf"], [])


def test_choosing_what_was_disliked_an_hour_ago_waits_too(life: Life) -> None:
    life.say("coffee_preference", "-latte", 390)
    assert life.say("coffee_preference", "latte", 390 + HOUR / DAY) is Verdict.PENDING
    assert life.told(NOW) == ["-latte"]


def test_a_deliberate_statement_passes_the_window(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    assert life.tell("coffee_preference", "mocha", 391) is Verdict.SUPERSEDE


def test_facts_and_contexts_have_no_window(life: Life) -> None:
    life.say("home_city", "lyon", 390)
    assert life.say("home_city", "rome", 390.1) is Verdict.SUPERSEDE
    life.say("current_city", "lyon", 399)
    assert life.say("current_city", "nice", 399.1) is Verdict.SUPERSEDE


def test_after_an_end_nothing_is_reversed(life: Life) -> None:
    life.say("coffee_preference", "latte", 390)
    life.say("coffee_preference", None, 390.5)
    assert life.say("coffee_preference", "mocha", 391) is Verdict.NEW


def test_a_newer_pending_one_takes_the_place_of_the_older(life: Life) -> None:
    life.say("coffee_preference", "latte", 398)
    life.say("coffee_preference", "mocha", 399)
    life.say("coffee_preference", "decaf", 399.5)
    assert (life.pending(399.2), life.pending()) == (["mocha"], ["decaf"])


def test_one_said_before_the_pending_one_and_heard_after_it_is_overtaken_as_it_arrives(life: Life) -> None:
    life.say("coffee_preference", "latte", 398)
    life.say("coffee_preference", "mocha", 399)
    life.say("coffee_preference", "decaf", 398.5)
    assert (life.pending(398.7), life.pending()) == (["decaf"], ["mocha"])


def test_a_pending_one_is_shown_for_thirty_days(life: Life) -> None:
    life.say("coffee_preference", "latte", 300)
    life.say("coffee_preference", "mocha", 301)
    days = PENDING_LIFE / DAY
    assert (life.pending(301 + days - 1 / DAY), life.pending(301 + days)) == (["mocha"], [])
