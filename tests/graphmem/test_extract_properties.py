"""What must hold of every text: what stands around a statement, how its characters are written and in what order things are said."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opencc import OpenCC

from graphmem.memory import Statement, Turn
from tests.graphmem.test_extract_rows import AT, ZONE, extractor

ZH = (
    "我对青霉素过敏", "我住在杭州", "我喜欢燕麦拿铁", "我不喝酒", "我妈妈有糖尿病", "我是一名护士", "我养了一只猫",
    "我平时坐地铁上班", "我坐飞机只坐靠窗的座位", "我的血型是O型", "我不吃香菜", "我每天吃二甲双胍",
    "我现在在机场", "我儿子对花生过敏", "我喜欢爵士乐", "我付款一般用支付宝", "我的爱好是钓鱼", "我今年三十二岁",
    "我身高175厘米", "我老婆是老师",
)  # fmt: skip
EN = (
    "I am allergic to penicillin", "I live in Dublin", "I prefer oat milk lattes", "I don't drink alcohol",
    "My mother has diabetes", "I am a nurse", "I have a cat", "I take the train to work",
    "I always book a window seat", "My blood type is O", "I hate cilantro", "I take metformin every day",
    "I'm at the airport right now", "My son is allergic to peanuts", "I love jazz", "I usually pay by credit card",
    "My hobby is fishing", "I am 32 years old", "I am 175 cm tall", "My wife is a teacher",
)  # fmt: skip
FILLERS = {
    "zh": ("你好。", "谢谢！", "今天天气怎么样？", "帮我查一下汇率。", "好的，明白了。", "稍等一下。", "哈哈哈。", "请问现在几点了？"),
    "en": (
        "Hello there. ",
        "Thanks! ",
        "How is the weather today? ",
        "Can you look up the exchange rate? ",
        "Okay, got it. ",
        "One moment. ",
        "Haha. ",
    ),
}
MARKS = {"zh": "。", "en": ". "}
SENTENCES = {"zh": ZH, "en": EN}

Short = tuple[str, str, str, str, bool]
languages = st.sampled_from(("zh", "en"))


def short(s: Statement) -> Short:
    return s.key, s.ckey, s.subject, s.polarity, s.is_end


@lru_cache(maxsize=4096)
def heard(text: str) -> tuple[Short, ...]:
    return tuple(sorted(short(s) for s in extractor().hear(Turn(text), AT, ZONE).statements))


def said(language: str, sentences: Sequence[str]) -> str:
    return "".join(s + MARKS[language] for s in sentences)


@pytest.mark.parametrize("text", (*ZH, *EN))
def test_every_sentence_of_this_file_says_something(text: str) -> None:
    assert heard(text)


@settings(max_examples=80, deadline=None)
@given(data=st.data(), language=languages)
def test_fillers_before_and_after_change_nothing(data: st.DataObject, language: str) -> None:
    sentence = data.draw(st.sampled_from(SENTENCES[language]))
    before, after = (data.draw(st.lists(st.sampled_from(FILLERS[language]), max_size=4)) for _ in range(2))
    assert heard("".join((*before, sentence + MARKS[language], *after))) == heard(sentence)


@settings(max_examples=80, deadline=None)
@given(data=st.data(), language=languages)
def test_the_order_of_independent_sentences_does_not_matter(data: st.DataObject, language: str) -> None:
    sentences = data.draw(st.lists(st.sampled_from(SENTENCES[language]), min_size=2, max_size=5, unique=True))
    shuffled = data.draw(st.permutations(sentences))
    once = tuple(sorted({one for s in sentences for one in heard(s)}))
    assert heard(said(language, shuffled)) == heard(said(language, sentences)) == once


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize("text", (*ZH, *EN))
def test_normal_forms_and_full_width_letters_say_the_same(text: str) -> None:
    for form in (unicodedata.normalize("NFD", text), unicodedata.normalize("NFKD", text), full_width(text)):
        assert heard(form) == heard(text), form


@pytest.mark.parametrize("text", ZH)
def test_traditional_characters_say_the_same(text: str) -> None:
    for variant in ("s2t", "s2tw", "s2hk"):
        assert heard(OpenCC(variant).convert(text)) == heard(text), variant


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200), at=st.integers(0, 200), which=st.sampled_from((*ZH, *EN))
)
def test_a_cited_span_is_the_very_text_that_was_sent(text: str, at: int, which: str) -> None:
    whole = f"{text[:at]}\n{which}\n{text[at:]}"
    done = extractor().hear(Turn(whole), AT, ZONE)
    for s in done.statements:
        assert s.span is not None and whole[slice(*s.span)] == s.text
        assert s.value is None or s.value in whole
    for n in done.not_stored:
        assert whole[slice(*n.span)] == n.text


def test_many_sentences_at_once_say_what_each_says() -> None:
    for language in ("zh", "en"):
        sentences = list(SENTENCES[language])
        random.Random(3).shuffle(sentences)
        assert set(heard(said(language, sentences))) == {one for s in sentences for one in heard(s)}
