"""Values that no lexicon holds: found by what they look like, and only where the second opinion is sure of the key."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from graphmem.errors import PackError
from graphmem.lexicon import load_lexicon
from graphmem.memory import Reason
from graphmem.ontology import PACKS, load_ontology
from graphmem.pipeline.built import classifier
from graphmem.pipeline.classify import Classifier
from graphmem.pipeline.normal import normalise
from graphmem.pipeline.opinion import Opinion
from graphmem.pipeline.prefix import PrefixReader
from graphmem.pipeline.propose import propose
from graphmem.pipeline.said import Found, Refused, Said
from graphmem.pipeline.shapes import load_shapes
from graphmem.pipeline.speech import load_speech
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.words import load_people


@lru_cache(maxsize=1)
def built() -> Classifier:
    speech, people = load_speech(PACKS / "speech.yaml"), load_people(PACKS / "subjects.yaml")
    return classifier(load_ontology(), load_lexicon(), speech, PrefixReader(people, speech.words, speech.acts["adjunct"]))


def said(text: str) -> Said:
    normal = normalise(text)
    return Said(normal.norm, tuple(built().recogniser.find(normal.norm)), (), normal.original)


FOUND = [
    ("phone", "老号停了，现在用15066320471", "15066320471"),
    ("phone", "ring the workshop, 020 7946 0018, ask for me", "020 7946 0018"),
    ("email", "he's at old.salt+1@harbour.example", "old.salt+1@harbour.example"),
    ("name", "登记成了佟雨霏", "佟雨霏"),
    ("name", "it's Meera Talwar on the form", "Meera Talwar"),
    ("birthday", "we blow out candles on 3rd of May", "3rd of May"),
    ("birthday", "腊月初八生下来的", "腊月初八"),
    ("age", "娃才八个月大", "八个月大"),
    ("home_address", "送到梧桐路18号3栋502", "梧桐路18号3栋502"),
    ("home_address", "the yellow one, 330 Juniper Ave", "330 Juniper Ave"),
    ("school", "打宁夏医科大毕业", "宁夏医科大"),
    ("school", "over to Broadoak College each morning", "Broadoak College"),
    ("employer", "人在宏远物流", "宏远物流"),
    ("employer", "payslips come from Meridian Foods", "Meridian Foods"),
    ("school_grade", "going into 10th standard this June", "10th standard"),
    ("income", "my package is 18 lakhs", "18 lakhs"),
    ("party_size", "there's four adults in the car", "four adults"),
    ("time_available", "got a half-hour before the bell", "half-hour"),
    ("price_preference", "体检预算都卡在五百以内", "五百以内"),
    ("appointment_time_preference", "checkups suit me after 5 pm", "after 5 pm"),
]


@pytest.mark.parametrize(("key", "text", "value"), FOUND)
def test_a_value_is_found_by_what_it_looks_like(key: str, text: str, value: str) -> None:
    one = said(text)
    found = built().shapes.find(key, one)
    assert found is not None
    assert one.original(found.start, found.end) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("name", "我来办证"),
        ("name", "Book it for Friday"),
        ("school", "Left the building early"),
        ("phone", "order 4471 is late"),
        ("email", "mail me at home"),
        ("age", "bus 58.20 left at 7:15"),
        ("food_preference", "18 of those please"),
    ],
)
def test_what_only_resembles_a_value_is_none(key: str, text: str) -> None:
    assert built().shapes.find(key, said(text)) is None


def sure_of(key: str, text: str, chance: float = 0.98) -> list[Found] | Refused | None:
    return propose(built(), Opinion({f"{key}+": chance, "none": 1 - chance}), said(text), Talk(built().reader.people), [])


def test_an_opinion_that_is_sure_of_the_key_takes_the_value_by_its_shape() -> None:
    found = sure_of("employer", "my payslips come from Meridian Foods")
    assert isinstance(found, list)
    assert [(f.statement.key, f.statement.value, f.statement.subject) for f in found] == [("employer", "Meridian Foods", "self")]


def test_an_opinion_that_is_unsure_or_finds_no_value_says_nothing() -> None:
    assert sure_of("employer", "my payslips come from Meridian Foods", 0.2) is None
    assert sure_of("employer", "my payslips come late") is None


def test_what_holds_of_people_in_general_is_nobodys() -> None:
    refused = sure_of("age", "most people retire at 65")
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.THIRD_PARTY


def test_every_shape_compiles_and_mistakes_in_the_pack_name_their_line(tmp_path: Path) -> None:
    for shapes in built().shapes.of.values():
        assert shapes
        for shape in shapes:
            re.compile(shape.source)
    for text, complaint in (
        ("wings: |\n  (?P<v>two)\n", "no key"),
        ("age: |\n  two\n", "no group v"),
        ("age: |\n  (?P<v>two) => loud\n", "no option"),
    ):
        pack = tmp_path / "shapes.yaml"
        pack.write_text(text, encoding="utf-8")
        with pytest.raises(PackError, match=complaint):
            load_shapes(pack, load_ontology(), frozenset())
