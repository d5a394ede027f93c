"""What is told first, what is left out, what a budget cuts."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.recall.rank import Ranked, about, rank, tokens_of, weighed, within
from tests.graphmem.recall_samples import NOW, hit, memory


def _mids(ranked: Ranked) -> list[str]:
    return [h.memory.mid for h in ranked.hits]


def test_a_fact_weighs_its_confidence_however_old() -> None:
    old = replace(memory("a", "home_city", "Leeds", age=4000), confidence=0.9)
    assert weighed(old, NOW, 30) == 0.9


@pytest.mark.parametrize("key", ["coffee_preference", "current_city"])
def test_preferences_and_contexts_fade_with_the_age_of_their_last_observation(key: str) -> None:
    assert weighed(memory("a", key, "x", age=30), NOW, 30) == pytest.approx(math.exp(-1))
    assert weighed(memory("a", key, "x", age=0), NOW, 30) == 1.0


def test_an_observation_after_the_time_asked_does_not_weigh_more_than_its_confidence() -> None:
    assert weighed(memory("a", "coffee_preference", "x", age=-5), NOW, 30) == 1.0


def test_an_exact_slot_comes_first_and_is_never_cut_by_the_threshold() -> None:
    ranked = rank(
        [hit("like", "likes", "jazz", 0.99), hit("slot", "coffee_preference", "mocha", 0.0)], NOW, 30, ["coffee_preference"], (), 0.85
    )
    assert _mids(ranked) == ["slot", "like"]
    assert ranked.hits[0].reason == "slot match coffee_preference"


def test_a_named_concept_is_an_exact_match_whoever_has_it() -> None:
    ranked = rank([hit("a", "allergy", "peanut", 0.1, concept="food:peanut", subject="daughter")], NOW, 30, (), ["food:peanut"], 0.85)
    assert _mids(ranked) == ["a"]


def test_an_open_value_matches_by_its_folded_text() -> None:
    assert _mids(rank([hit("a", "hobby", "Kite  Flying", 0.1)], NOW, 30, (), ["text:kite flying"], 0.85)) == ["a"]


def test_below_the_threshold_nothing_is_told_and_the_reason_is_kept() -> None:
    ranked = rank([hit("a", "likes", "jazz", 0.8499), hit("b", "likes", "rock", 0.85)], NOW, 30, (), (), 0.85)
    assert _mids(ranked) == ["b"]
    assert [(line.memory.mid, line.reason) for line in ranked.left] == [("a", "below_threshold")]


def test_age_ranks_and_never_deletes() -> None:
    ranked = rank([hit("old", "likes", "jazz", 0.95, age=170), hit("new", "likes", "rock", 0.86)], NOW, 30, (), (), 0.85)
    assert _mids(ranked) == ["new", "old"]
    assert 0 < ranked.hits[1].score < 0.01


def test_a_key_matches_for_the_user_unless_somebody_else_is_named() -> None:
    hits = [hit("me", "allergy", "milk", 0.0), hit("dad", "allergy", "egg", 0.0, subject="father")]
    assert _mids(rank(hits, NOW, 30, ["allergy"], (), 0.85)) == ["me"]
    assert _mids(rank(hits, NOW, 30, ["allergy"], (), 0.85, subjects=["father"])) == ["dad"]


def test_a_named_person_is_found_by_role_and_a_child_by_either_word() -> None:
    assert about("friend:小李", ["friend"])
    assert about("daughter", ["child"])
    assert about("child", ["son"])
    assert not about("father", [])
    assert not about("father", ["mother"])


def test_the_order_does_not_depend_on_the_order_of_candidates() -> None:
    hits = [hit(f"m{i}", "likes", "x", 0.9) for i in range(20)] + [hit(f"n{i}", "allergy", "x", 0.9) for i in range(20)]
    expected = _mids(rank(hits, NOW, 30, ["allergy"], (), 0.85))
    for seed in range(5):
        shuffled = random.Random(seed).sample(hits, len(hits))
        assert _mids(rank(shuffled, NOW, 30, ["allergy"], (), 0.85)) == expected


def test_a_candidate_found_twice_counts_once_with_its_best_score() -> None:
    ranked = rank([hit("a", "likes", "x", 0.2), hit("a", "likes", "x", 0.9)], NOW, 30, (), (), 0.85)
    assert [(line.calibrated, line.told) for line in ranked.lines] == [(0.9, True)]


def test_the_budget_in_items_cuts_the_last_and_says_so() -> None:
    ranked = within(rank([hit(f"m{i}", "likes", "x", 0.9 + i / 100) for i in range(5)], NOW, 30, (), (), 0.85), 2)
    assert _mids(ranked) == ["m4", "m3"]
    assert {line.reason for line in ranked.left} == {"budget"}


def test_guarded_safety_memories_are_never_cut() -> None:
    hits = [hit(f"a{i}", "allergy", "x" * 200, 0.0) for i in range(6)] + [hit("j", "likes", "jazz", 0.99)]
    ranked = within(rank(hits, NOW, 30, ["allergy"], (), 0.85), 3, 10, guard={"allergy"})
    assert _mids(ranked) == [f"a{i}" for i in range(6)]
    assert [line.memory.mid for line in ranked.left] == ["j"]


def test_a_token_budget_passes_over_what_does_not_fit() -> None:
    hits = [hit("long", "likes", "word " * 400, 0.99), hit("short", "likes", "jazz", 0.9)]
    assert _mids(within(rank(hits, NOW, 30, (), (), 0.85), 10, 60)) == ["short"]


def test_a_zero_limit_tells_nothing_but_what_is_guarded() -> None:
    hits = [hit("a", "allergy", "milk", 0.9), hit("j", "likes", "jazz", 0.9)]
    assert _mids(within(rank(hits, NOW, 30, (), (), 0.85), 0, guard={"allergy"})) == ["a"]


def test_tokens_are_estimated_high_for_both_scripts() -> None:
    assert tokens_of("燕麦拿铁") == 4
    assert tokens_of("oat latte") == 3
    assert tokens_of("喝latte, 5 mg") == 1 + 2 + 1 + 1 + 1
    assert tokens_of("") == 0


def test_the_weight_told_is_the_weight_of_now() -> None:
    told = rank([hit("a", "coffee_preference", "x", 0.9, age=15)], NOW + timedelta(days=15), 30, (), (), 0.85).hits[0]
    assert told.memory.weight == pytest.approx(math.exp(-1))
    assert told.score == pytest.approx(0.9 * math.exp(-1), abs=1e-6)
