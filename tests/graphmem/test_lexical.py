"""Words as numbers, Chinese and English alike."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest

from graphmem.recall.lexical import document_vector, lexical_scores, query_vector, term_id, terms


def test_han_text_becomes_characters_and_pairs_without_stop_words() -> None:
    assert terms("我喜欢喝茶") == ["喜", "欢", "喝", "茶", "我喜", "喜欢", "欢喝", "喝茶"]
    assert terms("的了吗") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café au lait", "cafe\u0301 AU LAIT"),
        ("ＡＢＣ１２３", "abc123"),
        ("iPhone 手机", "iPhone手机"),
        ("咖 啡", "咖啡"),
        ("cherries and boxes", "cherry box"),
        ("维生素（C）", "维生素(C)"),
        ("café", "cafe"),
    ],
)
def test_two_spellings_of_one_thing_have_the_same_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


def test_words_that_only_look_alike_stay_apart() -> None:
    assert set(terms("tea")).isdisjoint(terms("team"))
    assert set(terms("15 mg")) & set(terms("5 mg")) == {"mg"}
    assert set(terms("2015")).isdisjoint(terms("15"))
    assert terms("й") != terms("и")
    assert "bus" in terms("bus")
    assert "glass" in terms("glasses")


@pytest.mark.parametrize("text", ["C++", "R&B", "0532-0012345", "糖/盐", "🍣", "ﾃｽﾄ", "서울"])
def test_signs_numbers_and_other_scripts_are_found_again(text: str) -> None:
    assert lexical_scores(text, [f"我写 {text} 代码", "别的事"])[0] > 0
    assert lexical_scores(text, ["nothing in common"]) == [0.0]


@pytest.mark.parametrize("text", ["", "   ", "\u3000", "\ud83c", "...", "\x00", "🏽\ufe0f"])
def test_text_without_words_is_no_error(text: str) -> None:
    assert len(document_vector(text).indices) == len(query_vector(text).indices)
    assert lexical_scores(text, [text, "tea"])[1] == 0.0


def test_a_word_said_twice_weighs_more_but_less_than_twice() -> None:
    once = document_vector("tea for me please today").values
    twice = document_vector("tea tea for me today").values
    assert max(once) < max(twice) < 2 * max(once)


def test_sparse_ids_are_ascending_unique_and_the_same_in_every_process() -> None:
    vector = document_vector("I like oat latte 我爱喝燕麦拿铁")
    assert vector.indices == sorted(set(vector.indices))
    assert all(0 <= i < 2**32 for i in vector.indices)
    code = "from graphmem.recall.lexical import term_id; print(term_id('拿铁'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == term_id("拿铁")


def test_the_query_weighs_each_word_once() -> None:
    assert query_vector("tea tea 茶茶茶").values == [1.0] * len(query_vector("tea 茶茶").indices)


def test_the_rarer_word_decides_between_two_texts() -> None:
    scores = lexical_scores("saffron coffee", ["coffee with milk", "saffron with milk", "coffee with cake", "tea"])
    assert scores[1] > scores[0] > scores[3] == 0.0
    assert scores[0] == scores[2]


def test_a_longer_text_with_the_same_word_weighs_less() -> None:
    short, long = lexical_scores("latte", ["one latte", "one latte " + "with many other words about the long weather " * 5])
    assert short > long > 0


def test_every_normal_form_of_a_text_has_the_same_terms() -> None:
    text = "Crème brûlée ５ 深色模式 ㎏"
    forms = {tuple(terms(unicodedata.normalize(form, text))) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert len(forms) == 1
