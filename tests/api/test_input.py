"""What comes in is text, whole and bounded, or it is refused by name and nothing is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.envelope import BODY_MAX
from tests.api.stub import StubGraphmem

USER = "/v1/users/alice"
TURN: dict[str, Any] = {"text": "我喜欢寿司", "role": "user"}
STATEMENT: dict[str, Any] = {"key": "coffee_preference", "value": "latte"}
JSON = {"Content-Type": "application/json"}
DOORS = [("turns", "text", TURN), ("memories", "value", STATEMENT), ("recall", "message", {"message": "hi"})]


def refused(client: TestClient, path: str, body: dict[str, Any], field: str) -> None:
    told = client.post(f"{USER}/{path}", content=json.dumps(body), headers=JSON)
    assert told.status_code == 422, told.text
    assert told.headers["content-type"] == "application/problem+json"
    assert field in [e["field"] for e in told.json()["errors"]]


@pytest.mark.parametrize(("path", "field", "body"), DOORS, ids=[d[0] for d in DOORS])
@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000", "\u200b\ufeff", 123, [], {}, True, ["a"]], ids=repr)
def test_blank_or_other_than_text_is_refused(
    client: TestClient, stub: StubGraphmem, path: str, field: str, body: dict[str, Any], text: object
) -> None:
    refused(client, path, {**body, field: text}, field)
    assert stub.asked == []


@pytest.mark.parametrize("body", [{"role": "user"}, {**TURN, "text": None}])
def test_a_turn_without_text_is_refused(client: TestClient, body: dict[str, Any]) -> None:
    refused(client, "turns", body, "text")


@pytest.mark.parametrize(("path", "field", "body"), DOORS, ids=[d[0] for d in DOORS])
@pytest.mark.parametrize("bad", ["\ud83c", "\udf7d", "\x00", "\x07", "\x1b", "\x7f", "\x85"], ids=ascii)
def test_half_characters_and_controls_are_refused_in_every_text(
    client: TestClient, path: str, field: str, body: dict[str, Any], bad: str
) -> None:
    refused(client, path, {**body, field: f"我喜欢寿司{bad}"}, field)


def test_a_lone_surrogate_in_the_raw_body_names_its_field(client: TestClient, stub: StubGraphmem) -> None:
    told = client.post(f"{USER}/turns", content=b'{"role":"user","text":"\\u6211\\u559c\\u6b22\\u5bff\\u53f8\\ud83c"}', headers=JSON)
    assert (told.status_code, told.json()["errors"][0]["field"], told.json()["errors"][0]["code"]) == (422, "text", "lone_surrogate")
    assert stub.asked == []


@pytest.mark.parametrize(
    "more",
    [
        {"session_id": "s\ud83c"},
        {"turn_id": "a\nb"},
        {"turn_id": " "},
        {"turn_id": "x" * 257},
        {"answers": 7},
        {"environment": {"city": "\ud83c"}},
        {"environment": {"latitude": 91}},
        {"environment": {"latitude": True}},
        {"source": {"ref": "\x00"}},
        {"source": {"kind": "rumour"}},
        {"metadata": {"k": "\ud83c"}},
        {"metadata": {"\ud83c": 1}},
        {"metadata": {"": 1}},
        {"metadata": {"k": {"deep": 1}}},
        {"metadata": {"k": [[1]]}},
        {"metadata": {"k": 2**63}},
        {"metadata": {"k": "x" * 16_384}},
        {"metadata": []},
        {"role": "robot"},
        {"language": "fr"},
        {"verified": "yes"},
        {"verified": 1},
        {"at": 1721008800},
        {"at": "tomorrow"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"at": "9999-12-31T23:59:59-12:00"},
        {"zone": "Mars/Olympus"},
        {"zone": "../etc/passwd"},
        {"txet": "x"},
    ],
    ids=ascii,
)
def test_a_wrong_field_of_a_turn_is_named(client: TestClient, stub: StubGraphmem, more: dict[str, Any]) -> None:
    told = client.post(f"{USER}/turns", content=json.dumps({**TURN, **more}), headers=JSON)
    assert told.status_code == 422, told.text
    assert told.json()["errors"][0]["field"].split("/")[0] == next(iter(more))
    assert stub.asked == []


def test_a_field_whose_very_name_is_broken_is_refused(client: TestClient, stub: StubGraphmem) -> None:
    told = client.post(f"{USER}/turns", content=json.dumps({**TURN, "\ud83c": 1}), headers=JSON)
    assert (told.status_code, told.json()["errors"][0]["code"]) == (422, "lone_surrogate")
    assert stub.asked == []


@pytest.mark.parametrize(
    "more",
    [
        {"confidence": 1.5},
        {"confidence": "1"},
        {"expected_version": -1},
        {"expected_version": "1"},
        {"expected_version": True},
        {"polarity": "plus"},
        {"kind": "thought"},
        {"arity": "few"},
        {"key": ""},
        {"subject": ["self"]},
        {"verified_by": ""},
        {"valid_to": "2020-01-01T00:00:00Z", "valid_from": "2020-01-01T08:00:00+08:00"},
    ],
    ids=ascii,
)
def test_a_wrong_field_of_a_statement_is_named(client: TestClient, more: dict[str, Any]) -> None:
    refused(client, "memories", {**STATEMENT, **more}, next(iter(more)))


@pytest.mark.parametrize(
    "more", [{"limit": 0}, {"limit": 101}, {"limit": "5"}, {"tier": "L4"}, {"mode": "all"}, {"token_budget": 0}, {"explain": 1}]
)
def test_a_wrong_field_of_a_recall_is_named(client: TestClient, more: dict[str, Any]) -> None:
    refused(client, "recall", {"message": "hi", **more}, next(iter(more)))


@pytest.mark.parametrize("text", ["我喜欢寿司🍣👍🏽", "a\r\n\tb", "👩‍👩‍👧", "é", "é", "‮x", "  spaced  ", "'; MATCH (n) DETACH DELETE n //"])
def test_text_reaches_the_core_code_point_for_code_point(client: TestClient, stub: StubGraphmem, text: str) -> None:
    assert client.post(f"{USER}/turns", json={**TURN, "text": text}).status_code == 200
    asked: Any = stub.asked[-1][2]
    assert asked[0].text == text


@pytest.mark.parametrize(("path", "field", "body"), DOORS, ids=[d[0] for d in DOORS])
def test_text_above_the_maximum_is_refused_with_the_maximum(
    client: TestClient, stub: StubGraphmem, path: str, field: str, body: dict[str, Any]
) -> None:
    assert client.post(f"{USER}/{path}", json={**body, field: "好" * 1000}).status_code in (200, 201)
    asked = len(stub.asked)
    told = client.post(f"{USER}/{path}", json={**body, field: "好" * 1001})
    assert (told.status_code, told.json()["maximum"], told.json()["code"]) == (413, 1000, "text_too_long")
    assert len(stub.asked) == asked


def test_a_body_above_the_bound_is_refused_also_without_a_length(client: TestClient, stub: StubGraphmem) -> None:
    whole = client.post(f"{USER}/turns", content=b" " * (BODY_MAX + 1), headers=JSON)
    assert (whole.status_code, whole.json()["code"]) == (413, "too_large")
    parts = client.post(f"{USER}/turns", content=(b" " * 2**20 for _ in range(9)), headers=JSON)
    assert (parts.status_code, parts.json()["code"]) == (413, "too_large")
    assert stub.asked == []


@pytest.mark.parametrize("body", [b"", b"{", b"nope", b'{"text": NaN}', b'{"text": Infinity}', b"\xff\xfe", b'{"text":"\xe6\x88"}'])
def test_what_is_not_json_is_no_server_fault(client: TestClient, body: bytes) -> None:
    told = client.post(f"{USER}/turns", content=body, headers=JSON)
    assert told.status_code == (422 if body == b"" else 400)
    assert told.json()["errors"] or told.json()["code"] == "malformed_json"


@pytest.mark.parametrize("body", [b"[]", b"null", b"7", b'"text"'])
def test_json_that_is_no_object_is_refused(client: TestClient, body: bytes) -> None:
    assert client.post(f"{USER}/turns", content=body, headers=JSON).status_code == 422


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_endless_nesting_is_refused(client: TestClient, opening: bytes) -> None:
    body = b'{"role":"user","text":"hi","metadata":' + opening * 100_000
    assert client.post(f"{USER}/turns", content=body, headers=JSON).status_code in (400, 422)


def test_only_json_is_read(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        told = client.post(f"{USER}/turns", content=json.dumps(TURN), headers={"Content-Type": kind})
        assert (told.status_code, told.json()["code"]) == (415, "unsupported_media_type")
    for kind in ("application/json; charset=utf-8", "application/vnd.x+json"):
        assert client.post(f"{USER}/turns", content=json.dumps(TURN), headers={"Content-Type": kind}).status_code == 200
