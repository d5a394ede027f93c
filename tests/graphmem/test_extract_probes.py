"""Invented sentences, written down with what they should store before they were tried: extract_probes.tsv."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graphmem.test_extract_rows import hear, told


def probes() -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("extract_probes.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(text.replace("\\n", "\n"), expected) for text, expected in rows]


@pytest.mark.parametrize(("text", "expected"), probes())
def test_an_invented_sentence_stores_what_it_says_and_nothing_else(text: str, expected: str) -> None:
    assert told(hear(text)) == expected


def test_the_probes_are_many_and_a_fifth_of_them_store_nothing() -> None:
    rows = probes()
    assert len(rows) >= 500
    assert sum(expected == "-" for _, expected in rows) * 5 >= len(rows)


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("我的降压药从氨氯地平换成缬沙坦了", "drug:amlodipine"),
        ("I switched from amlodipine to losartan", "drug:amlodipine"),
        ("I switched to losartan", None),
        ("我把奥迪换成了特斯拉", "car_brand:audi"),
    ],
)
def test_a_switch_stands_in_the_place_of_what_was_held(text: str, old: str | None) -> None:
    (statement,) = hear(text).statements
    assert statement.replaces
    assert statement.old == old


@pytest.mark.parametrize("text", ["说错了，我住在无锡", "Sorry, I meant I live in Leeds", "I misspoke, my shoe size is 43"])
def test_a_correction_of_oneself_is_a_slip(text: str) -> None:
    assert [s.slip for s in hear(text).statements] == [True]


@pytest.mark.parametrize(
    ("text", "grounds"),
    [
        ("复查了，我对虾不过敏", "test"),
        ("医生说我没有糖尿病", "professional"),
        ("I grew out of my milk allergy", "outgrown"),
        ("我对青霉素不过敏", None),
    ],
)
def test_a_denial_carries_its_ground(text: str, grounds: str | None) -> None:
    (statement,) = hear(text).statements
    assert (statement.polarity, statement.grounds) == ("-", grounds)
