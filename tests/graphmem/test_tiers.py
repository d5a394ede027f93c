"""Which tier a message takes, from message, session and task alone."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

import pytest

from graphmem.answers import ShortTurn
from graphmem.errors import PackError
from graphmem.lexicon import Lexicon, load_lexicon
from graphmem.ontology import Ontology, load_ontology
from graphmem.recall.named import has_han
from graphmem.recall.phrases import load_phrases, phrases
from graphmem.recall.tasktable import load_tasks, task_table
from graphmem.recall.tiers import Tier, Tiering, choose


@lru_cache(maxsize=1)
def _packs() -> tuple[Ontology, Lexicon]:
    return load_ontology(), load_lexicon()


def _choose(message: str, *, task: str | None = None, forced: Tier | None = None) -> Tiering:
    ontology, lexicon = _packs()
    return choose(message, (), task, ontology, lexicon, "zh" if has_han(message) else "en", forced or "auto")


SESSION = [
    "repeat the third point", "Could you repeat that?", "say that again please", "What did you just say?", "go on", "continue",
    "Can you explain the second step again?", "Summarize this for me", "Shorten your answer",
    "what do you mean by that last sentence? repeat it",
    "translate that into French", "再说一遍", "刚才第二条是什么?", "你刚才说的第三点再解释一下", "继续", "没听懂，重新说一下",
    "重复一下最后一点",
    "总结一下上面的内容", "把你刚才的回答缩短一点", "第三点再详细说一下", "上面提到的方法是怎么实现的",
]  # fmt: skip

SMALL_TALK = [
    "hi", "Hello there!", "Good morning", "thanks!", "Thank you so much for the help", "ok", "Great, thanks. Bye!", "haha",
    "I like that, thanks!",
    "See you tomorrow", "who are you?", "tell me a joke", "Nice to meet you!", "How are you doing today?", "That makes sense",
    "你好", "早上好呀", "谢谢你的帮助！", "好的，明白了", "哈哈哈", "再见", "晚安", "我喜欢这个方案，就这么定吧。", "你是谁？",
    "讲个笑话吧", "嗯嗯", "辛苦了，拜拜",
    "没事了，谢谢", "太棒了！", "测试一下，你现在是哪个模型？",
]  # fmt: skip

GENERAL = [
    "What is the capital of France?", "Who invented penicillin?", "How do airplanes fly?", "Explain recursion",
    "write me a poem about the sea",
    "What is the difference between TCP and UDP?", "why is the sky blue?", "Can you pull up the orders for customer Marta Silva in Porto?",
    "convert 5 miles to km", "What is the history of coffee?", "Translate this into Chinese: I love my morning coffee",
    "Fix the grammar: 'he go to my school'", "write a python function that sorts a list", "how many planets are there?",
    "法国的首都是哪里？", "什么是递归", "天空为什么是蓝色的", "写一首关于大海的诗", "帮我翻译：我每天早上都喝咖啡",
    "青霉素是谁发明的", "光合作用是怎么回事", "计算 12*7",
    "茶的历史起源", "机器学习和深度学习有什么区别", "长城有多长", "润色一下这句话：“我的老师喜欢喝茶”",
]  # fmt: skip

ELSEWHERE = [
    "As I said in the meeting to my boss, the deadline is tight", "as we discussed with the client, the deadline moved",
    "business as usual here",
    "forget everything you know about me", "我跟老板说过这个截止日期了", "开会时说的那个截止日期很紧张", "上次世界杯冠军是谁",
]  # fmt: skip

VAGUE = [
    "as we said", "The usual, please", "my usual please", "same as last time", "Do it like last time", "as always",
    "as I told you, no onions",
    "book the hotel we talked about", "my favourite, please", "you know what I like", "pick up where we left off",
    "the one I mentioned to you",
    "Hi! Same again please", "按老样子来一杯", "老样子", "照旧", "跟上次一样", "上次说的那个", "像以前一样", "按我的习惯来",
    "我跟你说过的", "我们之前说好的", "你知道我的口味",
    "还是老规矩", "老地方见", "接着上次的说", "就照我平时喝的来", "给我来 the usual 就行", "same as 上次",
    "As I told you last week, 老样子",
]  # fmt: skip

REMEMBERED = [
    "Do you remember my name?", "what's my shoe size?", "Where do I live?", "what am I allergic to?", "who am I?",
    "Remind me which doctor I see",
    "How old is my daughter?", "Did I ever tell you about the accident?", "can I eat this?", "你还记得我叫什么吗",
    "我对什么过敏来着？", "我女儿几岁了",
    "我住在哪里？", "你知道我喜欢什么吗", "我能吃这个吗？", "再说一遍我对什么过敏", "我的会员号是多少", "我平时喝什么？",
]  # fmt: skip

TOPIC = [
    "I'd like a coffee", "what should I order for dinner?", "Book me a flight to Rome", "I need a doctor's appointment",
    "is ibuprofen safe?",
    "Can I take amoxicillin?", "find me a hotel in Berlin", "recommend a good restaurant nearby", "plan a trip for next week",
    "my cat is sick",
    "what's the weather like today?", "suggest a movie for tonight", "help with my homework", "I have a headache", "order sushi for me",
    "来杯咖啡", "帮我订张机票", "今晚吃什么", "推荐一家附近的餐厅", "我有点头疼，该吃什么药", "布洛芬能吃吗", "帮我挂个号",
    "给我女儿买双鞋", "订个靠窗的座位", "我想买件衣服", "明天天气怎么样",
    "推荐几本书", "给我推荐一个健身计划", "帮我看看理财产品", "打车去机场", "book 一张去北京的机票", "帮我order一杯latte",
    "過敏可以打疫苗嗎",
]  # fmt: skip

OWN = [
    "How is my project going?",
    "please water my plants schedule",
    "我的项目怎么样了",
    "What should I wear tomorrow?",
    "今天穿什么好",
    "给我妈选个礼物",
]

RECORDS = [
    "my claims of last month", "Show me all my orders from last year", "list everything you know about me", "export my data",
    "Download all of my records", "what did we talk about last month?", "Give me my complete medical history", "what do you know about me?",
    "how much did I spend last month?", "Compare my blood sugar readings over the last six months", "pull up my transactions since January",
    "把我去年所有的订单都列出来", "我上个月的理赔记录", "导出我的数据", "列出你知道的关于我的一切", "查一下我去年的体检报告",
    "我这几年的就诊记录", "关于我的所有信息都给我看看",
    "上个月我们聊了什么", "把我去年所有的报销都列出来", "我2023年的账单", "你都记得我哪些事",
    "请把我过去三个月的血糖记录整理一下", "export 我的所有聊天记录",
    "調出我上個月的賬單",
]  # fmt: skip


@pytest.mark.parametrize("message", SESSION + SMALL_TALK + GENERAL + ELSEWHERE)
def test_what_the_session_or_general_knowledge_answers_touches_no_memory(message: str) -> None:
    assert _choose(message).tier == "L1", _choose(message)


@pytest.mark.parametrize("message", VAGUE)
def test_a_vague_reference_asks_memory_and_names_its_phrase(message: str) -> None:
    tiering = _choose(message)
    assert (tiering.tier, tiering.trigger.rule) == ("L2", "vague_reference"), tiering
    assert tiering.trigger.phrase


@pytest.mark.parametrize("message", REMEMBERED + TOPIC + OWN)
def test_a_topic_of_the_person_or_a_question_about_them_asks_memory(message: str) -> None:
    assert _choose(message).tier == "L2", _choose(message)


@pytest.mark.parametrize("message", RECORDS)
def test_an_explicit_request_across_sessions_takes_the_tier_with_proof(message: str) -> None:
    tiering = _choose(message)
    assert (tiering.tier, tiering.trigger.rule) == ("L3", "cross_session"), tiering


def test_the_table_is_large_and_bilingual() -> None:
    messages = SESSION + SMALL_TALK + GENERAL + ELSEWHERE + VAGUE + REMEMBERED + TOPIC + OWN + RECORDS
    assert len(messages) >= 150
    assert 60 <= sum(map(has_han, messages)) <= len(messages) - 60


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("来杯咖啡", "coffee_preference"), ("I'd like a latte", "coffee_preference"), ("帮我订张机票", "seat_preference"),
        ("book me a flight", "seat_preference"),
        ("Can I take amoxicillin?", "allergy"), ("布洛芬能吃吗", "medication"), ("我女儿几年级", "school_grade"),
        ("deliver to my home address", "home_address"),
        ("帮我挂个号", "doctor_preference"), ("I need new running shoes", "shoe_size"), ("推荐几部电影", "movie_preference"),
        ("按老样子来一杯", "coffee_preference"),
    ],
)  # fmt: skip
def test_the_keys_a_message_speaks_of_are_named(message: str, key: str) -> None:
    assert key in _choose(message).keys


def test_a_thing_of_the_lexicon_is_named_by_its_concept_in_either_language() -> None:
    assert "drug:penicillin" in _choose("青霉素能打吗").ckeys
    assert "drug:penicillin" in _choose("is Penicillin safe for me?").ckeys


def test_a_city_counts_only_in_a_message_about_the_speaker() -> None:
    assert _choose("杭州").ckeys == ()
    assert "city:hangzhou" in _choose("我下周去杭州").ckeys


def test_a_single_character_inside_a_word_is_no_food() -> None:
    assert _choose("面试要准备什么").tier == "L1"
    assert _choose("这个页面打不开").tier == "L1"


@pytest.mark.parametrize(
    ("message", "nth"),
    [
        ("repeat the third point", 3), ("what was option 2 again?", 2), ("刚才第二条", 2), ("第十点再说说", 10),
        ("the last suggestion, once more", -1), ("倒数第二点是什么", -2), ("hello", None),
    ],
)  # fmt: skip
def test_the_point_asked_for_is_counted(message: str, nth: int | None) -> None:
    assert _choose(message).nth == nth


def test_people_named_are_told_apart_from_the_speaker() -> None:
    assert _choose("我爸能吃布洛芬吗").subjects == ("father",)
    assert _choose("can my daughter eat peanuts?").subjects == ("daughter",)
    assert _choose("can I eat peanuts?").subjects == ()


def test_a_task_hint_asks_memory_and_brings_its_keys() -> None:
    tiering = _choose("ok", task="medication")
    assert (tiering.tier, tiering.trigger.rule, tiering.trigger.phrase) == ("L2", "task_hint", "medication")
    assert {"allergy", "medication", "disease"} <= set(tiering.keys)


def test_a_forced_tier_wins_and_keeps_what_is_named() -> None:
    for tier in ("L1", "L2", "L3"):
        tiering = _choose("来杯咖啡", forced=tier)
        assert (tiering.tier, tiering.trigger.rule) == (tier, "forced")
        assert "coffee_preference" in tiering.keys


@pytest.mark.parametrize("message", ["", "   ", "\n", "?", "🙂", "\u200b"])
def test_nothing_said_touches_no_memory(message: str) -> None:
    assert _choose(message).tier == "L1"


def test_the_choice_takes_less_than_a_millisecond() -> None:
    messages = ["Could you order me the usual coffee from the place near my office, please?", "帮我按老样子订一杯燕麦拿铁，送到公司楼下"]
    for message in messages:
        _choose(message)
    rounds = []
    for _ in range(50):
        start = time.perf_counter()
        for message in messages:
            _choose(message)
        rounds.append((time.perf_counter() - start) / len(messages))
    assert min(rounds) < 0.001


def test_a_very_long_message_is_read_at_its_start_and_end() -> None:
    filler = "the report says that numbers rose in the second half. " * 2000
    start = time.perf_counter()
    assert _choose(filler + "Now the usual, please.").tier == "L2"
    assert time.perf_counter() - start < 0.2


def test_a_key_of_a_users_pack_is_a_topic_by_its_label(tmp_path: Path) -> None:
    pack = tmp_path / "mine.yaml"
    pack.write_text(
        "keys:\n  plant_preference: {kind: preference, arity: chosen, label: {zh: 绿植偏好, en: house plant},\n"
        "    question: {zh: '喜欢{value}吗？', en: 'Is it {value}?'}}\n",
        "utf-8",
    )
    tiering = choose("which house plant fits the kitchen", (), None, load_ontology([pack]), _packs()[1], "en")
    assert (tiering.tier, tiering.keys) == ("L2", ("plant_preference",))


def test_history_does_not_change_an_explicit_reference() -> None:
    ontology, lexicon = _packs()
    history = (ShortTurn("assistant", "1. tea\n2. coffee\n3. juice"),)
    assert choose("repeat the third point", history, None, ontology, lexicon, "en").nth == 3


def test_every_topic_and_task_key_is_a_key_of_the_ontology() -> None:
    ontology, _ = _packs()
    known = {key.name for key in ontology.keys}
    assert phrases().topic_keys <= known
    assert {key for use in phrases().types.values() for key in use.keys} <= known
    assert {key for task in task_table().tasks.values() for key in task.keys} <= known


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("rules:\n  repeat: ['(']\n", 2, "regular expression"),
        ("rules:\n  repeats: [a]\n", 2, "unknown field"),
        ("rules:\n  repeat:\n    - '%gone%'\n", 3, "fragment"),
        ("rules:\n  repeat: ['x*']\n", 2, "empty text"),
        ("rules: {}\ntopics:\n  allergy: [a, A]\n", 3, "twice"),
        ("topics: {}\n", 1, "lacks rules"),
        ("rules: [\n", 2, "not YAML"),
    ],
)
def test_a_bad_phrase_pack_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "recall.en.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(PackError, match=words) as caught:
        load_phrases({"en": path})
    assert (caught.value.file, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tasks:\n  a: {keys: [x], guard: [y]}\ntexts: {}\n", 2, "does not load"),
        ("tasks:\n  a: {keys: [x], as: b}\ntexts: {}\n", 2, "no task"),
        ("tasks: {}\ngroups:\n  g: {task: a, label: {zh: 甲, en: a}, members: [x], cross: [h]}\ntexts: {}\n", 3, "no group"),
        ("tasks: {}\ntexts: {}\ncautions:\n  - {key: k, names: [x], group: g, severity: warn, text: {zh: 甲, en: a}}\n", 4, "no group"),
        ("tasks: {}\ntexts: {}\n", 2, "lacks allergy"),
    ],
)
def test_a_bad_task_table_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(PackError, match=words) as caught:
        load_tasks(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
