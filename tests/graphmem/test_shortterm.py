"""Short-term memory from the request alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.answers import ShortTurn
from graphmem.recall.shortterm import points, short_term
from tests.graphmem.recall_samples import NOW, memory


def _turns(*texts: str) -> list[ShortTurn]:
    return [ShortTurn("user" if i % 2 == 0 else "assistant", text, NOW + timedelta(seconds=i), f"t{i}") for i, text in enumerate(texts)]


def test_the_last_three_turns_come_word_for_word_in_order() -> None:
    told = short_term("so?", _turns("alpha", "beta", "gamma", "delta", "epsilon"), ())
    assert [(t.text, t.why) for t in told] == [("gamma", "last_turns"), ("delta", "last_turns"), ("epsilon", "last_turns")]


def test_the_message_itself_is_not_told_back() -> None:
    assert [t.text for t in short_term("and now", _turns("one", "two", " and now "), ())] == ["one", "two"]


def test_at_most_three_confirmed_facts_of_the_session_the_latest() -> None:
    facts = [memory(f"m{i}", "allergy", value, age=9 - i) for i, value in enumerate(["milk", "egg", "虾", "花生"])]
    told = short_term("hi", (), facts)
    assert [(t.text, t.why, t.role) for t in told] == [
        ("allergy: egg", "confirmed", "memory"),
        ("过敏: 虾", "confirmed", "memory"),
        ("过敏: 花生", "confirmed", "memory"),
    ]


def test_a_confirmed_denial_or_dislike_keeps_its_polarity() -> None:
    denied = replace(memory("a", "allergy", "milk"), polarity="-")
    disliked = replace(memory("b", "food_preference", "香菜"), polarity="-")
    assert [t.text for t in short_term("hi", (), [denied, disliked])] == ["allergy: not milk", "食物偏好: 不喜欢/避免 香菜"]


def test_an_older_turn_that_is_alike_comes_back_before_the_last_ones() -> None:
    told = short_term(
        "that hotel in Porto", _turns("a hotel in Porto by the river", "noted", "what about trains", "sure", "and taxis", "sure"), ()
    )
    assert (told[0].text, told[0].why) == ("a hotel in Porto by the river", "alike")
    assert len([t for t in told if t.why == "alike"]) == 1


def test_an_older_chinese_turn_is_found_by_its_words() -> None:
    told = short_term("那家靠海的酒店叫什么", _turns("我看中了一家靠海的酒店", "好的", "高铁几点", "九点", "打车呢", "可以"), ())
    assert [t.text for t in told if t.why == "alike"] == ["我看中了一家靠海的酒店"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Try this:\n1. Sleep early\n2. Drink water\n3. Walk 30 minutes\n\nGood luck!", ("Sleep early", "Drink water", "Walk 30 minutes")),
        ("建议如下：1、早睡；2、多喝水；3、每天走1.5公里。", ("早睡", "多喝水", "每天走1.5公里。")),
        ("（1）早睡（2）多喝水（3）散步", ("早睡", "多喝水", "散步")),
        ("①早睡 ②多喝水 ③散步", ("早睡", "多喝水", "散步")),
        ("一、早睡\n二、多喝水\n三、散步", ("早睡", "多喝水", "散步")),
        ("第一，早睡；第二，多喝水；第三，散步。", ("早睡", "多喝水", "散步。")),
        ("首先早睡，其次多喝水，最后散步。", ("早睡", "多喝水", "散步。")),
        ("- Sleep early\n- Drink water\n* Walk", ("Sleep early", "Drink water", "Walk")),
        ("First, sleep early. Second, drink water. Finally, walk.", ("sleep early.", "drink water.", "walk.")),
        ("In 2024. there were 3. No list here.", ()),
        ("Prices went from 1.5 to 2.5 and 3.5.", ()),
        ("", ()),
    ],
)
def test_the_points_of_a_list_are_told_apart(text: str, expected: tuple[str, ...]) -> None:
    assert points(text) == expected


def test_the_third_point_is_found_and_brought_back_from_further_up() -> None:
    history = _turns("tips?", "1. tea\n2. coffee\n3. juice", "ok", "fine", "hm", "yes", "and", "well")
    told = short_term("repeat the third point", history, (), 3)
    assert (told[0].text, told[0].why, told[0].turn_id) == ("juice", "point", "t1")


def test_the_newest_list_that_has_the_point_is_meant() -> None:
    history = _turns("a", "1. one\n2. two\n3. three", "b", "1. uno\n2. dos")
    assert short_term("point 2", history, (), 2)[0].text == "dos"
    assert short_term("point 3", history, (), 3)[0].text == "three"
    assert short_term("last point", history, (), -1)[0].text == "dos"


def test_a_point_that_no_list_has_is_not_invented() -> None:
    assert all(t.why != "point" for t in short_term("point 9", _turns("a", "1. one\n2. two"), (), 9))
    assert short_term("point 1", (), (), 1) == ()
