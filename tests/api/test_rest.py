"""Translation: what the façade says, in HTTP words, and what is refused before it is asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from graphmem.answers import FollowUpItem, MemoryFilter, Remembered
from graphmem.errors import ConflictError, UnavailableError
from graphmem.memory import Environment, Kind, Provenance, SourceKind, Status, Verdict
from tests.api.stub import MEMORY, PENDING, QUESTION, REMEMBERED, StubGraphmem

USER = "/v1/users/alice"
TURN = {"text": "体检之后我改喝燕麦拿铁了", "role": "user"}
STATEMENT = {"key": "coffee_preference", "value": "燕麦拿铁"}
MEMORY_JSON = {
    "mid": "m-1",
    "kind": "preference",
    "key": "coffee_preference",
    "label": {"zh": "咖啡口味", "en": "coffee"},
    "subject": "self",
    "value": "燕麦拿铁",
    "concept": "drink:oat_latte",
    "polarity": "+",
    "status": "active",
    "version": 2,
    "valid_from": "2024-07-15T02:00:00.000+00:00",
    "valid_to": None,
    "recorded_at": "2024-07-15T02:00:00.000+00:00",
    "closed_at": None,
    "observed_at": "2024-07-15T02:00:00.000+00:00",
    "expires_at": None,
    "confidence": 0.97,
    "weight": 0.93,
    "evidence_count": 1,
    "standing": "stated",
    "owner_domain": "default",
    "zone": "Asia/Shanghai",
    "source": {"kind": "user_stated", "ref": "s-17/t-3"},
    "verified_by": "user",
    "supersedes": "m-0",
    "superseded_by": None,
    "metadata": {},
}


def asked(stub: StubGraphmem) -> Any:
    return stub.asked[-1][2]


def test_a_turn_is_heard_with_every_word_of_the_contract(client: TestClient, stub: StubGraphmem) -> None:
    body = {
        **TURN,
        "session_id": "s-17",
        "turn_id": "t-3",
        "at": "2024-07-15T10:00:00+08:00",
        "language": None,
        "answers": "t-2",
        "environment": {"city": "上海", "latitude": 31.23, "longitude": 121, "device": "iPhone14", "network": "wifi"},
        "verified": None,
        "source": {"kind": "user_stated", "ref": None},
        "metadata": {"n": [1, "x", None]},
    }
    told = client.post(f"{USER}/turns", json=body, headers={"Idempotency-Key": "once"})
    assert told.status_code == 200
    turn, key = asked(stub)
    assert (turn.text, turn.session_id, turn.turn_id, turn.answers, key) == (TURN["text"], "s-17", "t-3", "t-2", "once")
    assert (turn.at, turn.zone) == (datetime(2024, 7, 15, 2, tzinfo=UTC), None)
    assert turn.at.utcoffset() == timedelta(hours=8)
    assert (turn.environment, turn.source) == (Environment("上海", 31.23, 121, "iPhone14", "wifi"), Provenance())
    assert turn.metadata == {"n": [1, "x", None]}
    answer = told.json()
    assert answer["stored"] == [{"memory": MEMORY_JSON, "verdict": "supersede", "supersedes": "m-0"}]
    assert answer["pending"][0]["confirm"] == "/v1/users/alice/memories/m%2F2:confirm"
    assert answer["pending"][0]["question"] == {"zh": QUESTION.zh, "en": QUESTION.en}
    assert answer["not_stored"] == [{"text": "几点了?", "span": [0, 4], "reason": "question", "rule": "speech_act.question"}]
    assert answer["follow_up"] == [{"candidate_id": "c-1", "question": {"zh": QUESTION.zh, "en": QUESTION.en}}]
    assert (answer["turn_id"], answer["replayed"], answer["revision"]) == ("t-3", False, 42)


def test_the_link_of_a_pending_memory_settles_it(client: TestClient, stub: StubGraphmem) -> None:
    links = client.post(f"{USER}/turns", json=TURN).json()["pending"][0]
    assert client.post(links["confirm"]).status_code == 200
    assert stub.asked[-1][0::2] == ("confirm", "m/2")
    assert client.post(links["reject"]).json()["status"] == "rejected"
    assert stub.asked[-1][0::2] == ("reject", "m/2")


@pytest.mark.parametrize(
    ("at", "meant"),
    [
        ("2024-07-15T10:00:00", "2024-07-15T02:00:00.000+00:00"),
        ("2024-07-15T10:00:00.123456Z", "2024-07-15T10:00:00.123+00:00"),
        ("1990-09-16T01:30:00", "1990-09-15T16:30:00.000+00:00"),  # comes twice in Shanghai: the first, still in summer time
        ("1990-04-15T02:30:00", "1990-04-14T18:30:00.000+00:00"),  # is skipped there: half an hour after the jump
    ],
)
def test_a_time_without_offset_is_read_in_the_tenants_zone(client: TestClient, stub: StubGraphmem, at: str, meant: str) -> None:
    assert client.post(f"{USER}/turns", json={**TURN, "at": at}).status_code == 200
    assert asked(stub)[0].at.isoformat(timespec="milliseconds") == meant


def test_the_zone_a_speaker_names_is_kept_and_used(client: TestClient, stub: StubGraphmem) -> None:
    client.post(f"{USER}/turns", json={**TURN, "at": "2024-01-15T10:00:00", "zone": "Europe/Berlin"})
    assert (asked(stub)[0].at, asked(stub)[0].zone) == (datetime(2024, 1, 15, 9, tzinfo=UTC), "Europe/Berlin")
    client.post(f"{USER}/turns", json=TURN)
    assert (asked(stub)[0].at, asked(stub)[0].zone) == (None, None)
    client.post(f"{USER}/turns", json={**TURN, "at": "2024-01-15T10:00:00"})
    assert (asked(stub)[0].at, asked(stub)[0].zone) == (datetime(2024, 1, 15, 2, tzinfo=UTC), "Asia/Shanghai")


def test_a_batch_answers_for_each_turn_and_a_bad_one_does_not_lose_the_others(client: TestClient, stub: StubGraphmem) -> None:
    turns = [{**TURN, "turn_id": "a"}, {**TURN, "turn_id": "b", "text": " "}, 7, {**TURN, "text": "x" * 1001}, {**TURN, "turn_id": "c"}]
    told = client.post(f"{USER}/turns:batch", json={"turns": turns})
    assert told.status_code == 200
    items = told.json()["items"]
    assert [(i["index"], i["turn_id"], i["outcome"]) for i in items] == [
        (0, "a", "done"),
        (1, "b", "error"),
        (2, None, "error"),
        (3, None, "error"),
        (4, "c", "done"),
    ]
    assert [i["error"]["status"] for i in items[1:4]] == [422, 422, 413]
    assert items[1]["error"]["errors"][0]["field"] == "text"
    assert items[1]["error"]["traceId"] == told.headers["x-request-id"]
    assert [t.turn_id for t in asked(stub)] == ["a", "c"]


def test_a_batch_holds_at_most_five_hundred_turns(client: TestClient) -> None:
    assert client.post(f"{USER}/turns:batch", json={"turns": [TURN] * 500}).status_code == 200
    assert client.post(f"{USER}/turns:batch", json={"turns": [TURN] * 501}).status_code == 422
    assert client.post(f"{USER}/turns:batch", json={"turns": []}).status_code == 422


@pytest.mark.parametrize(
    ("remembered", "status"),
    [
        (REMEMBERED, 201),
        (replace(REMEMBERED, verdict=Verdict.SUPERSEDE, supersedes="m-0"), 201),
        (replace(REMEMBERED, verdict=Verdict.REINFORCE), 200),
        (replace(REMEMBERED, replayed=True), 200),
        (replace(REMEMBERED, verdict=Verdict.REVIEW, pending=replace(PENDING, reason="review", case="case-1")), 202),
        (Remembered(None, None, None, False, 42, follow_up=FollowUpItem("c-1", QUESTION)), 202),
    ],
    ids=["new", "supersede", "reinforce", "replayed", "review", "follow up"],
)
def test_the_status_says_what_became_of_a_statement(client: TestClient, stub: StubGraphmem, remembered: Remembered, status: int) -> None:
    stub.remembered = remembered
    told = client.post(f"{USER}/memories", json=STATEMENT)
    assert told.status_code == status
    answer = told.json()
    assert answer["verdict"] == remembered.verdict
    assert bool(answer["pending"]) == bool(remembered.pending)
    assert bool(answer["follow_up"]) == bool(remembered.follow_up)
    assert (answer["memory"] is None) == (remembered.memory is None)


@pytest.mark.parametrize(("reason", "status"), [("no_source", 422), ("erased", 403), ("refused_by_policy", 403), (None, 403)])
def test_a_refused_statement_is_no_success(client: TestClient, stub: StubGraphmem, reason: str | None, status: int) -> None:
    stub.remembered = Remembered(Verdict.REFUSED, None, None, False, 42, reason=reason)
    told = client.post(f"{USER}/memories", json=STATEMENT)
    assert (told.status_code, told.json()["code"]) == (status, reason or "refused_by_policy")


def test_a_statement_reaches_the_core_as_it_was_said(client: TestClient, stub: StubGraphmem) -> None:
    body = {
        "kind": "preference",
        "key": "coffee_preference",
        "value": " 燕麦拿铁\n",
        "subject": "self",
        "polarity": "-",
        "valid_from": "2024-07-15T10:00:00+08:00",
        "valid_to": None,
        "confidence": 1,
        "source": {"kind": "document", "ref": "intake-form-7"},
        "verified_by": "staff:17",
        "expected_version": 1,
        "metadata": {"priority": "high"},
    }
    told = client.post(f"{USER}/memories", json=body)
    assert told.status_code == 201
    assert (told.headers["etag"], told.headers["location"]) == ('"v2-7"', f"{USER}/memories/m-1")
    ask, _ = asked(stub)
    assert (ask.kind, ask.value, ask.polarity, ask.expected_version) == (Kind.PREFERENCE, " 燕麦拿铁\n", "-", 1)
    assert ask.source == Provenance(SourceKind.DOCUMENT, "intake-form-7", "staff:17")
    assert (ask.valid_from, ask.zone) == (datetime(2024, 7, 15, 2, tzinfo=UTC), None)


def test_an_end_is_said_and_not_left_out(client: TestClient, stub: StubGraphmem) -> None:
    assert client.post(f"{USER}/memories", json={"key": "pet", "value": None}).status_code == 201
    assert asked(stub)[0].value is None
    assert client.post(f"{USER}/memories", json={"key": "pet"}).status_code == 422


def test_a_recall_carries_what_is_told_and_why(client: TestClient, stub: StubGraphmem) -> None:
    body: dict[str, object] = {
        "message": "按老样子来一杯",
        "session_id": "s-18",
        "history": [{"role": "user", "text": "…"}],
        "task": None,
        "tier": "auto",
        "mode": "evidence",
        "as_of": None,
        "known_at": None,
        "environment": {},
        "limit": 100,
        "token_budget": None,
        "language": "zh",
        "proof": None,
        "explain": False,
    }
    told = client.post(f"{USER}/recall", json=body)
    assert told.status_code == 200
    assert (asked(stub).mode, asked(stub).limit, asked(stub).history[0].text) == ("evidence", 100, "…")
    answer = told.json()
    assert answer["memories"] == [{"memory": MEMORY_JSON, "score": 0.91, "reason": "slot match coffee_preference"}]
    assert answer["receipt"]["lines"] == [{"mid": "m-1", "scores": {"fused": 0.91}, "told": True, "reason": "told"}]
    assert answer["trigger"] == {"rule": "vague_reference", "phrase": "老样子"}
    names = "tier trigger memories short_term checks instructions prompt pending degraded receipt receipt_id revision turns"
    assert set(answer) == set(names.split())


def test_a_list_is_paged_by_an_opaque_cursor(client: TestClient, stub: StubGraphmem) -> None:
    stub.page = replace(stub.page, next="c/1=&", has_next=True, total=250)
    told = client.get(f"{USER}/memories", params={"kind": "preference", "limit": 100, "as_of": "2024-07-15T10:00:00+08:00"})
    answer = told.json()
    assert (answer["next"], answer["has_next"], answer["total"]) == ("c/1=&", True, 250)
    assert answer["items"] == [MEMORY_JSON]
    assert [m["status"] for m in answer["pending"]] == ["pending"]
    link = told.headers["link"]
    assert link.endswith('; rel="next"')
    assert client.get(link[1 : link.index(">")]).status_code == 200
    at = datetime(2024, 7, 15, 2, tzinfo=UTC)
    assert asked(stub) == (MemoryFilter(kind=Kind.PREFERENCE, as_of=at), 100, "c/1=&")


def test_the_last_page_has_no_next(client: TestClient) -> None:
    told = client.get(f"{USER}/memories?status=superseded&order=recorded&subject=father&key=allergy")
    assert "link" not in told.headers
    assert told.json()["next"] is None


def test_a_search_takes_a_query_a_kind_and_a_limit(client: TestClient, stub: StubGraphmem) -> None:
    told = client.get(f"{USER}/memories", params={"q": "C++", "kind": "fact", "limit": 3})
    assert asked(stub) == ("C++", 3, Kind.FACT)
    assert told.json() == {
        "items": [{"memory": MEMORY_JSON, "score": 0.5, "reason": "words"}],
        "degraded": [],
        "shortened": False,
        "revision": 42,
    }
    refused = client.get(f"{USER}/memories", params={"q": "x", "status": "superseded"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "status")


def test_a_blank_query_is_a_query_and_no_list(client: TestClient, stub: StubGraphmem) -> None:
    client.get(f"{USER}/memories?q=")
    assert stub.asked[-1][0] == "search"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=x",
        "kind=thought",
        "as_of=yesterday",
        "as_of=2024-07-15T10:00:00+08:00",
        "order=up",
        "lmit=3",
        "kind=fact&kind=context",
        "key=",
        "q=%00",
        "cursor=",
    ],
)
def test_a_wrong_query_is_refused_by_name(client: TestClient, stub: StubGraphmem, query: str) -> None:
    told = client.get(f"{USER}/memories?{query}")
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, query.split("=")[0])
    assert stub.asked == []


def test_a_memory_has_an_etag_and_is_not_sent_again_unchanged(client: TestClient) -> None:
    told = client.get(f"{USER}/memories/m-1")
    assert (told.json(), told.headers["etag"]) == (MEMORY_JSON, '"v2-7"')
    again = client.get(f"{USER}/memories/m-1", headers={"If-None-Match": '"v2-7"'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"{USER}/memories/m-1", headers={"If-None-Match": '"v1-1"'}).status_code == 200


def test_history_latest_and_receipt_are_read(client: TestClient, stub: StubGraphmem) -> None:
    assert [m["version"] for m in client.get(f"{USER}/memories/m-1/history").json()["items"]] == [1, 2]
    assert client.get(f"{USER}/latest/coffee_preference?subject=self&as_of=2024-07-15").json()["items"] == [MEMORY_JSON]
    assert asked(stub) == ("coffee_preference", "self", datetime(2024, 7, 14, 16, tzinfo=UTC), None)
    assert client.get(f"{USER}/receipts/r-1").json()["receipt_id"] == "r-1"


@pytest.mark.parametrize(("header", "passed"), [(None, None), ('"v2-7"', "v2-7"), ("*", None)])
def test_forgetting_may_name_the_version_seen(client: TestClient, stub: StubGraphmem, header: str | None, passed: str | None) -> None:
    told = client.delete(f"{USER}/memories/m-1", headers={"If-Match": header} if header else {})
    assert (told.status_code, told.content) == (204, b"")
    assert asked(stub) == ("m-1", passed)


def test_forgetting_another_version_than_seen_fails(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = ConflictError("the memory has moved on", code="version_conflict", current="v3-9")
    told = client.delete(f"{USER}/memories/m-1", headers={"If-Match": '"v2-7"'})
    assert (told.status_code, told.json()["code"], told.json()["current"]) == (412, "precondition_failed", "v3-9")
    assert client.delete(f"{USER}/memories/m-1").status_code == 409
    assert client.delete(f"{USER}/memories/m-1", headers={"If-Match": 'W/"v2-7"'}).status_code == 422


def test_ids_in_the_path_are_decoded_once(client: TestClient, stub: StubGraphmem) -> None:
    client.get(f"{USER}/latest/likes%2Fdis%2520likes")
    assert asked(stub)[0] == "likes/dis%20likes"
    for bad in ("%FF", "%00", "%20", "x" * 257):
        assert client.get(f"{USER}/memories/{bad}").status_code == 422


@pytest.mark.parametrize("key", [b"", b" ", b"x" * 256, "ключ".encode(), b"a\x80"])
def test_an_idempotency_key_is_visible_and_bounded(client: TestClient, stub: StubGraphmem, key: bytes) -> None:
    told = client.post(f"{USER}/turns", json=TURN, headers={b"Idempotency-Key": key})
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, "Idempotency-Key")
    assert stub.asked == []


def test_alive_ready_and_healthy_are_three_things(nobody: TestClient, stub: StubGraphmem) -> None:
    assert nobody.get("/livez").json() == {"live": True}
    assert nobody.get("/readyz").json() == {"ready": True, "checks": [{"name": "neo4j", "ok": True, "detail": "answers"}]}
    assert nobody.get("/healthz").json() == {"projection_lag": 0}
    stub.readiness = replace(stub.readiness, ready=False)
    stub.fault = UnavailableError("Neo4j does not answer", store="neo4j", retry_after=7)
    assert nobody.get("/livez").status_code == 200
    assert nobody.get("/readyz").status_code == 503
    away = nobody.get("/healthz")
    assert (away.status_code, away.headers["retry-after"]) == (503, "7")


def test_no_cache_on_the_way_keeps_what_is_told_about_a_person(client: TestClient) -> None:
    for path in (f"{USER}/memories", f"{USER}/memories/m-9", f"{USER}/latest/coffee_preference"):
        assert client.get(path).headers["cache-control"] == "no-store"
    assert "cache-control" not in client.get("/livez").headers


def test_metrics_name_routes_and_no_user(client: TestClient) -> None:
    client.get("/v1/users/somebody/memories/m-1")
    client.get("/v1/users/somebody/nowhere")
    text = client.get("/metrics").text
    assert 'route="/memories/{mid}",status="200"' in text
    assert 'route="unmatched",status="404"' in text
    assert "somebody" not in text


def test_a_memory_is_told_with_the_names_of_the_contract_only(client: TestClient) -> None:
    assert client.get(f"{USER}/memories/{MEMORY.mid}").json().keys() == MEMORY_JSON.keys()


def test_only_known_statuses_filter_a_list(client: TestClient, stub: StubGraphmem) -> None:
    for status in Status:
        assert client.get(f"{USER}/memories", params={"status": status}).status_code == 200
        assert asked(stub)[0].status is status
