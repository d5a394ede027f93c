"""Receipts: every candidate once, with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphmem.answers import Trigger
from graphmem.lexicon import load_lexicon
from graphmem.memory import Environment, Status
from graphmem.recall.rank import rank, within
from graphmem.recall.receipt import Dropped, context_contradicts, receipt, why_not
from tests.graphmem.recall_samples import NOW, hit, memory

LEXICON = load_lexicon()


def test_every_candidate_stands_once_with_its_reason() -> None:
    hits = [
        hit("slot", "allergy", "milk", 0.1),
        hit("like", "likes", "jazz", 0.9),
        hit("more", "likes", "rock", 0.88),
        hit("low", "likes", "x", 0.2),
    ]
    ranked = within(rank(hits, NOW, 30, ["allergy"], (), 0.85), 2)
    told = receipt(
        "L2", Trigger("topic", "milk"), ranked, [Dropped("gone", "expired", 0.7), Dropped("low", "expired")], at=NOW, session_id="s"
    )
    assert [(line.mid, line.told, line.reason) for line in told.lines] == [
        ("slot", True, "slot_match"),
        ("like", True, "told"),
        ("more", False, "budget"),
        ("low", False, "below_threshold"),
        ("gone", False, "expired"),
    ]
    assert (told.tier, told.trigger.phrase, told.at, told.session_id) == ("L2", "milk", NOW, "s")


def test_a_receipt_line_gives_the_scores_that_ordered_it() -> None:
    line = receipt("L2", Trigger("topic"), rank([hit("a", "coffee_preference", "x", 0.9, age=30)], NOW, 30, (), (), 0.85)).lines[0]
    assert line.scores == {"calibrated": 0.9, "weight": 0.3679, "rank": 0.3311}


def test_a_receipt_holds_no_words_of_a_memory() -> None:
    assert "milk" not in repr(receipt("L2", Trigger("topic"), rank([hit("a", "allergy", "milk", 0.9)], NOW, 30, (), (), 0.85)))


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (Status.ACTIVE, None), (Status.SUPERSEDED, "superseded"), (Status.HISTORICAL, "superseded"), (Status.SCHEDULED, "scheduled"),
        (Status.PENDING, "pending"), (Status.EXPIRED, "expired"), (Status.TOMBSTONED, "tombstoned"), (Status.RETRACTED, "foreign_or_gone"),
        (Status.REJECTED, "foreign_or_gone"), (Status.ARCHIVED, "foreign_or_gone"),
    ],
)  # fmt: skip
def test_only_an_active_memory_is_told(status: Status, reason: str | None) -> None:
    assert why_not(replace(memory("a", "likes", "jazz"), status=status), None, LEXICON) == reason


def test_every_status_has_a_reason() -> None:
    for status in Status:
        why_not(replace(memory("a", "likes", "jazz"), status=status), None, LEXICON)


def test_an_end_and_an_opposed_memory_are_not_told() -> None:
    assert why_not(replace(memory("a", "pet", None), is_end=True), None, LEXICON) == "ended"
    assert why_not(memory("a", "likes", "jazz"), None, LEXICON, opposed=True) == "opposed"


@pytest.mark.parametrize(
    ("key", "value", "environment", "contradicts"),
    [
        ("current_city", "上海", Environment(city="Shanghai"), False),
        ("current_city", "上海", Environment(city="杭州"), True),
        ("current_city", "Shanghai", Environment(city="上海市"), False),
        ("current_city", "上海", Environment(), False),
        ("current_city", "上海", Environment(city="  "), False),
        ("current_city", "Little Wenham", Environment(city="Great Snoring"), True),
        ("current_city", "Little Wenham", Environment(city="某个镇"), False),
        ("current_location", "the library", Environment(city="Leeds"), False),
        ("device", "iPhone", Environment(device="iPhone 14"), False),
        ("device", "iPhone 14", Environment(device="iPhone14"), False),
        ("device", "iPad", Environment(device="Pixel 9"), True),
        ("network", "wifi", Environment(network="WiFi"), False),
        ("network", "wifi", Environment(network="cellular"), True),
        ("home_city", "上海", Environment(city="杭州"), False),
        ("mood", "happy", Environment(city="杭州"), False),
    ],
)
def test_the_environment_contradicts_a_context_by_meaning(key: str, value: str, environment: Environment, contradicts: bool) -> None:
    held = memory("a", key, value)
    assert context_contradicts(held, environment, LEXICON) is contradicts
    assert (why_not(held, environment, LEXICON) == "context_mismatch") is contradicts


def test_a_denied_place_is_contradicted_by_being_there() -> None:
    not_there = replace(memory("a", "current_city", "上海"), polarity="-")
    assert context_contradicts(not_there, Environment(city="Shanghai"), LEXICON)
    assert not context_contradicts(not_there, Environment(city="杭州"), LEXICON)


def test_another_persons_place_is_not_contradicted_by_the_users_device() -> None:
    assert not context_contradicts(memory("a", "current_city", "上海", subject="father"), Environment(city="杭州"), LEXICON)


def test_without_an_environment_nothing_is_contradicted() -> None:
    assert not context_contradicts(memory("a", "current_city", "上海"), None, LEXICON)
