"""The small model of kinds: trained the same everywhere, small, fast, calibrated, and only ever a second opinion."""

from __future__ import annotations

import time

import pytest

from graphmem.memory import Kind
from graphmem.pipeline.model import BOUND, CLASSES, COMMITTED, SEEDS, features, model, samples, second_opinion, train
from scripts.train import accuracy


def test_training_again_gives_the_committed_model_byte_for_byte() -> None:
    assert train(*samples()).dumps() == COMMITTED.read_text(encoding="utf-8")


def test_the_seeds_are_1200_sentences_of_both_languages_and_all_kinds() -> None:
    trained, held = samples()
    texts = {text for _, text in (*trained, *held)}
    assert len(texts) >= 1200
    assert {label for label, _ in trained} == {label for label, _ in held} == set(CLASSES)
    han = sum(any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts)
    assert 0.4 < han / len(texts) < 0.6
    assert SEEDS.exists() and COMMITTED.stat().st_size < 150_000


def test_sentences_of_templates_it_has_not_seen_are_mostly_told_apart() -> None:
    _, held = samples()
    assert accuracy(model(), held) >= 0.7


def test_probabilities_are_calibrated_on_what_was_held_out() -> None:
    _, held = samples()
    found = [(model().probabilities(text), label) for label, text in held]
    for low in (0.5, 0.7, 0.9):
        sure = [(max(p.values()), max(p, key=lambda c, p=p: p[c]) == label) for p, label in found if max(p.values()) >= low]  # type: ignore[misc]
        told, right = sum(p for p, _ in sure) / len(sure), sum(ok for _, ok in sure) / len(sure)
        assert abs(told - right) < 0.12, low


def test_a_text_takes_well_under_a_millisecond() -> None:
    began = time.perf_counter()
    for _ in range(200):
        model().probabilities("我平时喝燕麦拿铁，不加糖")
    assert (time.perf_counter() - began) / 200 < 0.001


def test_a_text_of_any_kind_has_probabilities_that_sum_to_one() -> None:
    for text in ("", "🙂", "x" * 10_000, "我 like 咖啡"):
        assert sum(model().probabilities(text).values()) == pytest.approx(1)
    assert features("我喜欢 tea 3杯")[:4] == ["^", "我", "喜", "欢"]


def test_only_an_unsure_rule_is_doubted_and_nothing_is_ever_made_surer() -> None:
    question, plain = "how do I cook tofu", "I'm allergic to celery"
    assert second_opinion(question, Kind.PREFERENCE, BOUND) == BOUND
    assert second_opinion(question, Kind.PREFERENCE, 0.88) < 0.85
    assert second_opinion(plain, Kind.FACT, 0.88) == 0.88
    assert second_opinion(plain, Kind.FACT, 0.5) == 0.5
