"""The whole service through its REST door: real façade, real Neo4j, real vector engine. Each test has its own tenant."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.app import Graphmem, open_graphmem
from graphmem.settings import Settings

if TYPE_CHECKING:
    from tests.conftest import Neo4jServer

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def graphmem(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graphmem]:
    settings = Settings(
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=SecretStr(neo4j_server.password),
        home=tmp_path_factory.mktemp("service"),
        zone="Asia/Shanghai",
    )
    with open_graphmem(settings, migrate=True) as opened:
        yield opened


@pytest.fixture
def service(graphmem: Graphmem) -> Iterator[TestClient]:
    """The doors with a key of a tenant of the test's own."""
    key = f"key-{uuid4()}"
    with TestClient(create_app(graphmem, keys={key: f"t-{uuid4()}"}), headers={"Authorization": f"Bearer {key}"}) as client:
        yield client


def user(name: str) -> str:
    return f"/v1/users/{quote(name, safe='')}"


def say(service: TestClient, name: str, text: str, **more: object) -> dict[str, Any]:
    told = service.post(f"{user(name)}/turns", json={"text": text, "role": "user", **more})
    assert told.status_code == 200, told.text
    answer: dict[str, Any] = told.json()
    return answer


def state(service: TestClient, name: str, key: str, value: str | None, **more: object) -> dict[str, Any]:
    told = service.post(f"{user(name)}/memories", json={"key": key, "value": value, **more})
    assert told.status_code in (200, 201), told.text
    answer: dict[str, Any] = told.json()
    return answer


def listed(service: TestClient, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = service.get(f"{user(name)}/memories", params={"limit": 100}).json()["items"]
    return items


def found(service: TestClient, name: str, query: str) -> list[str]:
    told = service.get(f"{user(name)}/memories", params={"q": query})
    assert told.status_code == 200, told.text
    return [hit["memory"]["value"] for hit in told.json()["items"]]


def total(service: TestClient, name: str) -> int:
    count: int = service.get(f"{user(name)}/memories").json()["total"]
    return count


def test_a_memory_goes_its_whole_way_through_the_doors(service: TestClient) -> None:
    heard = say(service, "alice", "我对青霉素过敏。", session_id="s-1", turn_id="t-1", at="2024-07-15T10:00:00+08:00")
    memory = heard["stored"][0]["memory"]
    assert (memory["kind"], memory["key"], memory["status"]) == ("fact", "allergy", "active")
    assert listed(service, "alice") == service.get(f"{user('alice')}/latest/allergy").json()["items"]
    read = service.get(f"{user('alice')}/memories/{memory['mid']}")
    assert read.json()["valid_from"] == "2024-07-15T02:00:00.000+00:00"
    history = service.get(f"{user('alice')}/memories/{memory['mid']}/history").json()["items"]
    assert [m["mid"] for m in history] == [memory["mid"]]
    recalled = service.post(f"{user('alice')}/recall", json={"message": "我之前说过我对什么过敏?", "language": "zh"}).json()
    assert memory["mid"] in [hit["memory"]["mid"] for hit in recalled["memories"]]
    if recalled["tier"] == "L3":
        assert service.get(f"{user('alice')}/receipts/{recalled['receipt_id']}").status_code == 200
    assert service.delete(f"{user('alice')}/memories/{memory['mid']}", headers={"If-Match": read.headers["etag"]}).status_code == 204
    for path in (f"memories/{memory['mid']}", f"memories/{memory['mid']}/history"):
        assert service.get(f"{user('alice')}/{path}").status_code == 404
    assert listed(service, "alice") == []
    assert service.get(f"{user('alice')}/latest/allergy").json()["items"] == []
    assert found(service, "alice", "青霉素") == []


def test_two_people_who_speak_of_the_same_friend_never_see_each_others_words(service: TestClient, graphmem: Graphmem) -> None:  # ten-01
    say(service, "a", "小李喜欢苹果。")
    say(service, "b", "小李喜欢篮球。")
    graphmem.drain()
    assert found(service, "a", "小李喜欢什么") == ["苹果"]
    assert found(service, "b", "小李喜欢什么") == ["篮球"]


def test_what_was_just_stored_is_found_before_it_is_projected(service: TestClient) -> None:
    state(service, "alice", "home_city", "上海")
    assert found(service, "alice", "上海") == ["上海"]


@pytest.mark.parametrize("who", ["nobody", "*", "%", "null", '["u1","u2"]', '{"ne":""}', "u1|u2", "u1 OR true", "u"])
def test_an_unknown_user_has_nothing_whatever_the_name_looks_like(service: TestClient, who: str) -> None:  # ten-02
    for name in ("u1", "u2"):
        state(service, name, "home_city", "上海")
    assert found(service, who, "上海") == []
    assert (listed(service, who), total(service, who)) == ([], 0)
    assert service.get("/v1/users//memories?q=x").status_code == 422
    assert service.get(f"{user('u1')}/memories?user=u2").status_code == 422


def test_ids_of_another_users_memory_read_change_and_delete_nothing(service: TestClient) -> None:
    mid = state(service, "alice", "home_city", "上海")["memory"]["mid"]
    for foreign in (mid, str(uuid4())):
        path = f"{user('mallory')}/memories/{foreign}"
        answers = [
            service.get(path),
            service.get(f"{path}/history"),
            service.delete(path),
            service.post(f"{path}:confirm"),
            service.post(f"{path}:reject"),
        ]
        assert [a.status_code for a in answers] == [404] * 5
    assert [m["mid"] for m in listed(service, "alice")] == [mid]


@pytest.mark.parametrize("text", [None, "", "   ", "\n\t", 123, [], "\u3000"], ids=repr)
def test_blank_text_leaves_nothing_behind(service: TestClient, text: object) -> None:  # emp-01
    for body in ({"text": text, "role": "user"}, {"role": "user"}):
        told = service.post(f"{user('alice')}/turns", json=body)
        assert (told.status_code, told.json()["errors"][0]["field"]) == (422, "text")
    assert total(service, "alice") == 0


@pytest.mark.parametrize("query", ["", "   ", "\u3000", "\n\t"], ids=repr)
def test_a_blank_search_is_refused_and_never_the_whole_store(service: TestClient, query: str) -> None:  # emp-02
    state(service, "alice", "home_city", "上海")
    told = service.get(f"{user('alice')}/memories", params={"q": query})
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, "q")


def test_one_sentence_in_sixty_thousand_characters_is_found(service: TestClient) -> None:  # lng-01
    text = "今天天气不错。" * 4286 + "我对碘伏过敏。" + "今天天气不错。" * 4286
    heard = say(service, "alice", text)
    assert ("allergy", "碘伏") in [(s["memory"]["key"], s["memory"]["value"]) for s in heard["stored"]]


def test_a_text_above_the_maximum_is_refused_whole(service: TestClient) -> None:
    told = service.post(f"{user('alice')}/turns", json={"text": "我对碘伏过敏。" * 20_000, "role": "user"})
    assert (told.status_code, told.json()["maximum"]) == (413, 100_000)
    assert total(service, "alice") == 0


def test_a_very_long_search_is_shortened_and_says_so(service: TestClient) -> None:  # lng-02; the client's own bound is 64 kB of URL
    say(service, "alice", "我对碘伏过敏。")
    told = service.get(f"{user('alice')}/memories", params={"q": "我想找一下之前说过的过敏的事情，" * 400})
    assert (told.status_code, told.json()["shortened"]) == (200, True)


def test_emoji_are_kept_whole_and_half_characters_refused(service: TestClient, graphmem: Graphmem) -> None:  # cjk-05
    value = state(service, "alice", "likes", "寿司🍣👍🏽", polarity="+")["memory"]["value"]
    assert value == "寿司🍣👍🏽"
    say(service, "alice", "我喜欢寿司🍣👍🏽", turn_id="t-1")
    graphmem.drain()
    turns = service.post(f"{user('alice')}/recall", json={"message": "寿司", "mode": "evidence"}).json()["turns"]
    assert [t["text"] for t in turns] == ["我喜欢寿司🍣👍🏽"]
    before = total(service, "alice")
    told = service.post(
        f"{user('alice')}/turns", content=b'{"role":"user","text":"\\u6211\\u559c\\u6b22\\u5bff\\u53f8\\ud83c"}', headers=JSON
    )
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, "text")
    assert total(service, "alice") == before


@pytest.mark.parametrize(
    ("query", "value"),
    [("糖/盐", "糖/盐焗"), ("C++", "C++"), ("c++ AND", "C++"), ('"C++', "C++")]
    + [(q, None) for q in ("(糖", "糖~", "糖^2", "糖:盐", "糖*", "?", "\\", "&&", "||", "[1 TO", "{", "NOT")],
)
def test_no_character_of_a_query_is_an_operator(service: TestClient, graphmem: Graphmem, query: str, value: str | None) -> None:  # spc-02
    for text in ("我喜欢糖/盐焗的菜", "我写C++"):
        say(service, "alice", text)
    graphmem.drain()
    values = found(service, "alice", query)
    assert value is None or any(value in v for v in values)


@pytest.mark.parametrize("name", ["*", "alice ", "alice", "wang.li@example.org", "王丽", "a/b", "%2F", "👩‍👩‍👧", "x" * 256])
def test_user_ids_are_exact(service: TestClient, name: str) -> None:
    state(service, name, "home_city", "上海")
    assert [m["value"] for m in listed(service, name)] == ["上海"]
    for other in {"*", "alice ", "alice", "Alice", "王", "a"} - {name}:
        assert listed(service, other) == []


@pytest.mark.parametrize("name", ["", "x" * 10_000, "a\x00b"], ids=["empty", "10,000 characters", "NUL"])
def test_what_is_no_user_id_is_refused(service: TestClient, name: str) -> None:
    told = service.post(f"{user(name)}/memories", json={"key": "home_city", "value": "上海"})
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, "user_id")


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("turns", {"text": "我对青霉素过敏。", "role": "user"}, {"text": "我对花生过敏。", "role": "user"}),
        ("memories", {"key": "home_city", "value": "上海"}, {"key": "home_city", "value": "北京"}),
    ],
    ids=["turn", "statement"],
)
def test_a_repeated_request_is_one_operation(service: TestClient, path: str, body: dict[str, Any], other: dict[str, Any]) -> None:
    once = {"Idempotency-Key": "once"}
    first = service.post(f"{user('alice')}/{path}", json=body, headers=once)
    again = service.post(f"{user('alice')}/{path}", json=body, headers=once)
    assert first.status_code in (200, 201), first.text
    assert (first.json()["replayed"], again.json()["replayed"], again.status_code) == (False, True, 200)
    assert mids(first.json()) == mids(again.json())
    told = service.post(f"{user('alice')}/{path}", json=other, headers=once)
    assert (told.status_code, told.json()["code"]) == (409, "idempotency_key_reused")
    assert total(service, "alice") == 1
    assert service.post(f"{user('bob')}/{path}", json=other, headers=once).status_code in (200, 201)


def mids(answer: dict[str, Any]) -> list[str]:
    stored = answer.get("stored", [answer])
    return [s["memory"]["mid"] for s in stored]


def test_two_hundred_and_fifty_memories_are_read_in_pages_of_a_hundred(service: TestClient) -> None:
    turns = [{"key": "likes", "value": f"song {n}"} for n in range(250)]
    for body in turns:
        assert service.post(f"{user('alice')}/memories", json=body).status_code == 201
    seen, sizes, path = [], [], f"{user('alice')}/memories?limit=100"
    while path:
        told = service.get(path)
        page = told.json()
        assert page["total"] == 250
        seen += [m["value"] for m in page["items"]]
        sizes.append((len(page["items"]), page["has_next"]))
        link = told.headers.get("link", "")
        path = link[1 : link.index(">")] if link else ""
    assert sizes == [(100, True), (100, True), (50, False)]
    assert sorted(seen) == sorted(body["value"] for body in turns)


def test_a_batch_stores_the_good_turns_and_names_the_bad_one(service: TestClient) -> None:
    turns = [
        {"text": "我对青霉素过敏。", "role": "user", "session_id": "s", "turn_id": "1"},
        {"text": "", "role": "user", "session_id": "s", "turn_id": "2"},
        {"text": "我住在上海。", "role": "user", "session_id": "s", "turn_id": "3"},
    ]
    items = service.post(f"{user('alice')}/turns:batch", json={"turns": turns}).json()["items"]
    assert [i["outcome"] for i in items] == ["done", "error", "done"]
    assert {m["key"] for m in listed(service, "alice")} == {"allergy", "home_city"}
    turns[1]["text"] = "我对花生过敏。"
    again = service.post(f"{user('alice')}/turns:batch", content=json.dumps({"turns": turns}), headers=JSON).json()["items"]
    assert [i["result"]["replayed"] for i in again] == [True, False, True]


def test_with_neo4j_away_the_doors_answer_503_with_a_time_to_come_back(tmp_path: Path) -> None:
    settings = Settings(neo4j_uri="bolt://127.0.0.1:1", home=tmp_path)
    with TestClient(create_app(settings=settings, keys={"key": "away"}), headers={"Authorization": "Bearer key"}) as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 503
        calls: list[Callable[[], Any]] = [
            lambda: client.get("/v1/users/alice/memories"),
            lambda: client.post("/v1/users/alice/turns", json={"text": "我对青霉素过敏。", "role": "user"}),
        ]
        for call in calls:
            told = call()
            assert (told.status_code, told.json()["code"]) == (503, "unavailable")
            assert int(told.headers["retry-after"]) >= 1


def test_a_time_without_offset_is_read_in_the_tenants_zone_and_orders_with_one_that_has_it(service: TestClient) -> None:
    """[tz-02]"""
    first = say(service, "u1", "我住在无锡。", at="2026-05-01T10:00:00")
    assert first["stored"][0]["memory"]["valid_from"] == "2026-05-01T02:00:00.000+00:00"
    say(service, "u1", "我住在常州。", at="2026-05-01T10:30:00+08:00")
    assert [m["value"] for m in service.get(f"{user('u1')}/memories").json()["items"]] == ["常州"]
    past = service.get(f"{user('u1')}/memories", params={"as_of": "2026-05-01T10:15:00"}).json()["items"]
    assert [m["value"] for m in past] == ["无锡"]
    history = service.get(f"{user('u1')}/memories/{first['stored'][0]['memory']['mid']}/history").json()["items"]
    assert [m["value"] for m in history] == ["无锡", "常州"]
