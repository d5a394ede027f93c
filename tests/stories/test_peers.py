"""What comparable projects got wrong on a real server, each as a rule that holds here."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from graphmem.answers import Ask, MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.memory import Kind, Status, Turn, Verdict
from graphmem.scope import Scope
from tests.graph_view import ago, census, edges, points, waiting


def values(g: Graphmem, scope: Scope, key: str | None = None) -> list[str | None]:
    return sorted((m.value for m in g.memories(scope, MemoryFilter(key=key)).items), key=str)


# --- changes, likeness


def test_coffee_then_decaf_then_coffee_again_is_one_current_value_and_three_versions(graphmem: Graphmem, scope: Scope) -> None:
    for value in ("coffee", "decaf", "coffee"):
        graphmem.remember(scope, Remember("coffee_preference", value))
    found = edges(graphmem, scope)
    assert [(e.version, e.value, e.current) for e in found] == [(1, "coffee", False), (2, "decaf", False), (3, "coffee", True)]
    assert [m.value for m in graphmem.latest(scope, "coffee_preference").items] == ["coffee"]
    assert [m.version for m in graphmem.history(scope, found[0].mid)] == [1, 2, 3]
    graphmem.drain()
    assert points(graphmem, scope.tenant) == 1 and graphmem.check(scope.tenant)[0].clean


@pytest.mark.parametrize(
    ("key", "a", "b"),
    [
        ("medication", "metformin 5 mg", "metformin 15 mg"),
        ("medication", "二甲双胍5毫克", "二甲双胍15毫克"),
        ("pet", "cat", "cats'-eye snail"),
        ("vehicle", "ID.3", "ID.4"),
        ("employer", "Mill 1", "Mill 2"),
        ("shoe_size", "41", "41.5"),
    ],
)
def test_two_values_that_look_alike_are_never_merged(graphmem: Graphmem, scope: Scope, key: str, a: str, b: str) -> None:
    for value in (a, b):
        graphmem.remember(scope, Remember(key, value))
    found = edges(graphmem, scope)
    assert [e.value for e in found] == [a, b] and all(len(e.sources) == 1 for e in found)
    assert b in values(graphmem, scope, key)


def test_allergic_and_not_allergic_are_never_merged(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("allergy", "penicillin"))
    denied = graphmem.remember(scope, Remember("allergy", "penicillin", polarity="-"))
    found = edges(graphmem, scope)
    assert [e.edge["polarity"] for e in found] == ["+", "-"] and denied.verdict is Verdict.REVIEW
    assert [(m.value, m.polarity) for m in graphmem.latest(scope, "allergy").items] == [("penicillin", "+")]


# --- people


def test_two_users_with_the_same_words_share_nothing_and_lose_nothing(graphmem: Graphmem, scope: Scope) -> None:
    users = [scope, Scope(scope.tenant, "user-2")]
    for who in users:
        graphmem.remember(who, Remember("likes", "hiking"))
        graphmem.inject(who, Turn("我对花生过敏。", session_id="s-1", turn_id="t-1", at=ago(days=1)))
    graphmem.drain()
    mids = [{e.mid for e in edges(graphmem, who)} for who in users]
    assert len(mids[0]) == len(mids[1]) == 2 and mids[0].isdisjoint(mids[1])
    for who, own in zip(users, mids, strict=True):
        assert {h.memory.mid for h in graphmem.search(who, "hiking 花生").items} == own
    graphmem.forget(users[0], next(iter(mids[0])))
    assert len(graphmem.memories(users[1]).items) == 2 and len(graphmem.memories(users[0]).items) == 1


def test_what_one_user_said_of_a_friend_is_not_what_another_said_of_a_friend_of_that_name(graphmem: Graphmem, scope: Scope) -> None:
    """ten-01 at the façade: the same name in two graphs, searched and walked."""
    a, b = scope, Scope(scope.tenant, "user-2")
    graphmem.remember(a, Remember("likes", "苹果", subject="friend:小李"))
    graphmem.remember(b, Remember("likes", "篮球", subject="friend:小李"))
    graphmem.drain()
    for who, own in ((a, "苹果"), (b, "篮球")):
        assert [h.memory.value for h in graphmem.search(who, "小李喜欢什么").items] == [own]
        assert [m.value for m in graphmem.latest(who, "likes", subject="friend").items] == [own]
        assert [m.value for m in graphmem.history(who, edges(graphmem, who)[0].mid)] == [own]


USERS = [
    "*",
    "%",
    "alice ",
    " alice",
    "alice",
    "alice@example.org",
    "小明",
    "a/b|c~d%7C",
    "'; MATCH (n) DETACH DELETE n //",
    "nobody\u200b",
    "用" * 256,
]


def test_a_user_id_is_exact_whatever_it_looks_like(graphmem: Graphmem, scope: Scope) -> None:
    people = [Scope(scope.tenant, user) for user in USERS]
    for n, who in enumerate(people):
        graphmem.remember(who, Remember("hobby", f"puzzle {n}"))
    graphmem.drain()
    for n, who in enumerate(people):
        assert values(graphmem, who) == [f"puzzle {n}"]
        assert [h.memory.value for h in graphmem.search(who, "puzzle").items] == [f"puzzle {n}"]
    assert census(graphmem, scope.tenant)["User"] == len(USERS) and graphmem.check(scope.tenant)[0].clean


BAD_USERS: list[Any] = ["", "x" * 257, "x" * 10_000, "a\x00b", "a\ud83c", None, 7, ["u1", "u2"], {"ne": ""}]


@pytest.mark.parametrize("user", BAD_USERS)
def test_a_user_id_that_cannot_be_kept_exactly_is_refused_before_anything_is_written(graphmem: Graphmem, scope: Scope, user: Any) -> None:
    with pytest.raises(InvalidInputError):
        graphmem.remember(Scope(scope.tenant, user), Remember("hobby", "chess"))
    assert census(graphmem, scope.tenant) == {}


def test_an_unknown_user_has_nothing_and_reading_makes_no_user(graphmem: Graphmem, scope: Scope) -> None:
    """ten-02 at the façade."""
    graphmem.remember(scope, Remember("hobby", "chess"))
    graphmem.drain()
    before = census(graphmem, scope.tenant)
    for user in ("nobody", "*", "%", "user-1 ", "USER-1"):
        who = Scope(scope.tenant, user)
        assert graphmem.search(who, "chess").items == () and graphmem.memories(who).items == ()
        assert graphmem.latest(who, "hobby").items == () and graphmem.recall(who, Ask("chess", tier="L2")).memories == ()
        assert graphmem.memories(who, MemoryFilter(status=Status.SUPERSEDED)).items == ()
    graphmem._after.flush()
    assert census(graphmem, scope.tenant) == before


def test_a_filter_narrows_and_never_widens(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("hobby", "chess"))
    graphmem.remember(Scope(scope.tenant, "user-2"), Remember("hobby", "go"))
    for where in (MemoryFilter(subject="user-2"), MemoryFilter(key="*"), MemoryFilter(key="%"), MemoryFilter(subject="*")):
        assert graphmem.memories(scope, where).items == ()
    assert values(graphmem, scope) == ["chess"]


def test_ids_of_another_users_memory_read_change_and_delete_nothing(graphmem: Graphmem, scope: Scope) -> None:
    mid = edges_of(graphmem, scope)
    waits = graphmem.remember(scope, Remember("allergy", "penicillin", polarity="-")).memory
    assert waits is not None
    before = [e.edge for e in edges(graphmem, scope)]
    for thief in (Scope(scope.tenant, "user-2"), Scope("another-tenant", scope.user)):
        for act in (
            lambda who=thief: graphmem.memory(who, mid),
            lambda who=thief: graphmem.history(who, mid),
            lambda who=thief: graphmem.forget(who, mid),
            lambda who=thief: graphmem.forget(who, mid, if_match="*"),
            lambda who=thief: graphmem.confirm(who, waits.mid),
            lambda who=thief: graphmem.reject(who, waits.mid),
        ):
            with pytest.raises(NotFoundError):
                act()
    assert [e.edge for e in edges(graphmem, scope)] == before and census(graphmem, "another-tenant") == {}


def edges_of(g: Graphmem, scope: Scope) -> str:
    done = g.remember(scope, Remember("allergy", "penicillin"))
    assert done.memory is not None
    return done.memory.mid


def test_a_receipt_is_its_own_users(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("coffee_preference", "latte"))
    recalled = graphmem.recall(scope, Ask("what coffee do I drink?", tier="L2", session_id="s-1"))
    assert recalled.receipt_id is not None
    assert graphmem.receipt(scope, recalled.receipt_id).receipt_id == recalled.receipt_id
    with pytest.raises(NotFoundError):
        graphmem.receipt(Scope(scope.tenant, "user-2"), recalled.receipt_id)


# --- one millisecond


def test_two_turns_of_one_millisecond_are_two_memories(graphmem: Graphmem, scope: Scope) -> None:
    """col-01."""
    at = datetime(2026, 5, 1, 10, 0, 0, 123_000, tzinfo=timezone(timedelta(hours=8)))
    for text in ("我养了一只猫。", "我住在南京。"):
        graphmem.inject(scope, Turn(text, at=at))
    graphmem.drain()
    found = edges(graphmem, scope)
    assert len({e.mid for e in found}) == 2 and sorted(e.edge["key"] for e in found) == ["home_city", "pet"]
    assert points(graphmem, scope.tenant) == 2
    for e in found:
        assert graphmem.memory(scope, e.mid).value == e.value
        assert graphmem.search(scope, str(e.value)).items[0].memory.mid == e.mid


def test_forty_facts_of_one_millisecond_are_forty_memories(graphmem: Graphmem, scope: Scope) -> None:
    """col-02 in small: one instant, two users' writes interleaved."""
    at = ago(days=30)
    users = [scope, Scope(scope.tenant, "user-2")]
    for n in range(40):
        graphmem.remember(users[n % 2], Remember("hobby", f"puzzle {n}", said_at=at))
    found = [e for who in users for e in edges(graphmem, who)]
    assert len({e.mid for e in found}) == 40 and all(e.current for e in found)
    graphmem.drain()
    assert points(graphmem, scope.tenant) == 40 and graphmem.check(scope.tenant)[0].clean


# --- empty, special, long


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000", None, 123, []])
def test_a_blank_turn_is_refused_and_leaves_no_memory_and_no_vector(graphmem: Graphmem, scope: Scope, text: Any) -> None:
    """emp-01."""
    with pytest.raises(InvalidInputError) as refused:
        graphmem.inject(scope, Turn(text))
    assert refused.value.field == "text" and refused.value.code
    assert census(graphmem, scope.tenant) == {} and points(graphmem, scope.tenant) == 0


@pytest.mark.parametrize("q", ["", "   ", "\u3000", "\n\t"])
def test_a_blank_search_is_refused_in_every_form(graphmem: Graphmem, scope: Scope, q: str) -> None:
    """emp-02."""
    graphmem.remember(scope, Remember("hobby", "chess"))
    with pytest.raises(InvalidInputError) as refused:
        graphmem.search(scope, q)
    assert (refused.value.field, refused.value.code) == ("q", "blank_text")
    with pytest.raises(InvalidInputError):
        graphmem.recall(scope, Ask(q))


SPECIAL = [
    "由...组成的句子练习",
    "non-alcoholic beer",
    "R&B/Soul：90%的歌",
    "`反引号` 和 $dollar 符号",
    "x'}) DETACH DELETE (m //",
    'a "quoted" \\ backslash {in: $in}',
    "寿司🍣👍🏽",
    "line one\nline two",
]


def test_special_characters_are_kept_code_point_for_code_point(graphmem: Graphmem, scope: Scope) -> None:
    """spc-01 for statements."""
    for value in SPECIAL:
        done = graphmem.remember(scope, Remember("likes", value, metadata={value: value}))
        assert done.memory is not None and done.memory.value == value
    assert values(graphmem, scope) == sorted(SPECIAL)
    assert {str(m.metadata) for m in graphmem.memories(scope).items} == {str({v: v}) for v in SPECIAL}
    assert {e.kind for e in edges(graphmem, scope)} == {"PREFERENCE"}
    assert set(census(graphmem, scope.tenant)) <= {
        *("User", "Memory", "Concept", "Source", "Change", "Outbox"),
        *("PREFERENCE", "ABOUT", "FROM_SOURCE"),
    }
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].clean and points(graphmem, scope.tenant) == len(SPECIAL)


TURNS = [
    "我喜欢由...组成的句子练习。",
    "I don't drink non-alcoholic beer.",
    "我喜欢R&B/Soul：90%的歌。",
    "我喜欢 `反引号` 和 $dollar 符号。",
]


def test_turns_with_special_characters_are_stored_and_only_known_labels_and_types_appear(graphmem: Graphmem, scope: Scope) -> None:
    """spc-01."""
    for n, text in enumerate(TURNS):
        graphmem.inject(scope, Turn(text, session_id="s-1", turn_id=f"t-{n}", at=ago(days=3, minutes=-n)))
    assert [t.text for t in graphmem.reader.turns(scope, "s-1")] == TURNS
    stored = {e.value for e in edges(graphmem, scope)}
    assert "R&B/Soul：90%的歌" in stored and "non-alcoholic beer" in stored and any("`反引号`" in str(v) for v in stored)
    assert {e.kind for e in edges(graphmem, scope)} <= {"FACT", "PREFERENCE", "CONTEXT"}
    assert [e.edge["polarity"] for e in edges(graphmem, scope) if "beer" in str(e.value)] == ["-"]


def test_an_ellipsis_inside_a_phrase_belongs_to_the_phrase(graphmem: Graphmem, scope: Scope) -> None:
    """spc-01, first turn: the object's text is kept."""
    done = graphmem.inject(scope, Turn(TURNS[0], session_id="s-1", turn_id="t-1", at=ago(days=3)))
    assert [s.memory.value for s in done.stored] == ["由...组成的句子练习"]


def test_operators_of_query_languages_are_words_like_others_in_a_search(graphmem: Graphmem, scope: Scope) -> None:
    """spc-02."""
    graphmem.remember(scope, Remember("likes", "糖/盐焗的菜"))
    graphmem.remember(scope, Remember("hobby", "写C++"))
    graphmem.drain()
    asked = '糖/盐;C++;c++ AND;"C++;(糖;糖~;糖^2;糖:盐;糖*;?;\\;&&;||;[1 TO;{;NOT'.split(";")
    found = {q: [h.memory.value for h in graphmem.search(scope, q).items] for q in asked}
    assert found["糖/盐"][0] == "糖/盐焗的菜" and all(found[q][0] == "写C++" for q in asked[1:4])
    assert all(graphmem.search(scope, q).degraded == () for q in asked)


def test_a_very_long_search_is_shortened_and_says_so(graphmem: Graphmem, scope: Scope) -> None:
    """lng-02."""
    graphmem.remember(scope, Remember("allergy", "花生"))
    graphmem.drain()
    query = "我想找一下之前说过的过敏的事情，" * 1250
    assert len(query) == 20_000
    found = graphmem.search(scope, query)
    assert found.shortened and [h.memory.value for h in found.items] == ["花生"]
    assert not graphmem.search(scope, "过敏").shortened
    assert graphmem.recall(scope, Ask(query, tier="L2")).tier in ("L1", "L2")


def test_a_long_turn_gives_up_its_one_memory_and_where_it_stands(graphmem: Graphmem, scope: Scope) -> None:
    """lng-01."""
    chatter = "今天天气不错。" * 4286
    done = graphmem.inject(scope, Turn(f"{chatter}我对碘伏过敏。{chatter}", session_id="s-1", turn_id="t-1", at=ago(days=2)))
    assert [(s.memory.key, s.memory.value, s.memory.kind) for s in done.stored] == [("allergy", "碘伏", Kind.FACT)]
    span = graphmem.neo4j.text(
        "MATCH (:Memory {tenant_id: $tenant, mid: $mid})-[f:FROM_SOURCE]->(:Turn) RETURN f.span AS span",
        {"tenant": scope.tenant, "mid": done.stored[0].memory.mid},
    )[0]["span"]
    assert len(chatter) <= span[0] < span[1] <= len(chatter) + len("我对碘伏过敏。")


def test_a_value_of_ten_thousand_characters_is_kept_whole_and_a_longer_one_refused(graphmem: Graphmem, scope: Scope) -> None:
    long = "长" * 10_000
    graphmem.remember(scope, Remember("hobby", long))
    graphmem.remember(scope, Remember("hobby", long[:-1] + "短"))
    assert values(graphmem, scope) == sorted([long, long[:-1] + "短"])
    with pytest.raises(InvalidInputError):
        graphmem.remember(scope, Remember("hobby", long + "长"))
    graphmem.drain()
    assert not waiting(graphmem, scope.tenant) and graphmem.check(scope.tenant)[0].clean
