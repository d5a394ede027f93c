"""Every refusal is a problem the caller can act on, and tells nothing it should not."""

from __future__ import annotations

import logging
import re
from typing import cast

import pytest
from starlette.testclient import TestClient

from api.errors import CLASSES, TABLE, Reader, problem_of, row_code
from api.main import create_app
from graphmem import errors
from graphmem.errors import (
    ConfigurationError,
    ConflictError,
    GraphmemError,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
    RefusedError,
    UnavailableError,
)
from graphmem.settings import Settings
from tests.api.conftest import KEYS
from tests.api.stub import StubGraphmem

USER = "/v1/users/alice"
MEMBERS = {"type", "title", "status", "detail", "instance", "code", "errors", "hint", "traceId"}
FAULTS: list[tuple[GraphmemError, int]] = [
    (InvalidInputError("is wrong", field="text", code="blank"), 422),
    (NotFoundError("no such memory"), 404),
    (ConflictError("moved on", code="version_conflict"), 409),
    (ConflictError("another request", code="idempotency_key_reused"), 409),
    (ConflictError("of a kind not listed", code="new_kind"), 409),
    (RefusedError("of another domain", code="not_owner"), 403),
    (RefusedError("prove it", code="verification_required"), 403),
    (UnavailableError("away", store="neo4j", retry_after=3), 503),
    (OverloadedError("full", store="queue"), 503),
    (ConfigurationError("bolt://somewhere: secret"), 500),
    (GraphmemError("something"), 500),
]


@pytest.mark.parametrize(("fault", "status"), FAULTS, ids=lambda x: getattr(x, "code", x))
def test_each_error_has_its_status_and_the_shape_of_a_problem(
    client: TestClient, stub: StubGraphmem, fault: GraphmemError, status: int
) -> None:
    stub.fault = fault
    told = client.get(f"{USER}/memories", headers={"X-Request-Id": "trace-7"})
    body = told.json()
    assert told.status_code == status
    assert told.headers["content-type"] == "application/problem+json"
    assert body.keys() >= MEMBERS
    assert (body["status"], body["instance"], body["traceId"]) == (status, f"{USER}/memories", "trace-7")
    assert body["code"] == fault.code
    assert client.get(body["type"]).json()["status"] == status
    assert ("retry-after" in told.headers) == (status == 503)


def test_every_error_class_and_every_documented_code_has_a_row() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, GraphmemError) and not c.__name__.startswith("_")]
    assert {c for c, _ in CLASSES} == set(classes)
    assert all(code in TABLE for _, code in CLASSES)
    for kind in (ConflictError, RefusedError):
        assert set(re.findall(r"`(\w+)`", kind.__doc__ or "")) <= set(TABLE)


def test_the_rows_of_classes_go_from_special_to_general() -> None:
    seen: list[type[GraphmemError]] = []
    for kind, _ in CLASSES:
        assert not any(issubclass(kind, earlier) for earlier in seen)
        seen.append(kind)


def test_a_wrong_field_is_told_with_its_code_and_words() -> None:
    told = problem_of(InvalidInputError("is before its start", field="turns/3/at", code="bad_time", hint="swap them"))
    assert told.body(Reader("/x", "t"))["errors"] == [{"field": "turns/3/at", "code": "bad_time", "message": "is before its start"}]
    assert (told.hint, row_code(InvalidInputError("x", code="bad_time"))) == ("swap them", "invalid_input")


def test_foreign_and_unknown_memories_look_the_same(client: TestClient) -> None:
    told = [client.get(f"/v1/users/{user}/memories/m-9").json() for user in ("alice", "nobody")]
    for body in told:
        body.pop("instance")
        body.pop("traceId")
    assert told[0] == told[1]


def test_what_the_operator_must_mend_is_not_told_to_the_caller(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = ConfigurationError("bolt://db.internal: password", hint="set the password")
    text = client.get(f"{USER}/memories").text
    assert "bolt" not in text
    assert "password" not in text


def test_an_unforeseen_fault_is_masked_and_logged_without_its_words(
    client: TestClient, stub: StubGraphmem, caplog: pytest.LogCaptureFixture
) -> None:
    stub.fault = RuntimeError("我对青霉素过敏")
    with caplog.at_level(logging.ERROR):
        told = client.post(f"{USER}/turns", json={"text": "我对青霉素过敏", "role": "user"})
    assert (told.status_code, told.json()["code"]) == (500, "internal")
    assert told.json()["traceId"] == told.headers["x-request-id"]
    assert "青霉素" not in told.text
    assert "青霉素" not in caplog.text
    assert told.headers["x-request-id"] in caplog.text
    assert "RuntimeError" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("PUT", f"{USER}/turns", 405),
        ("GET", "/static/none.js", 404),
        ("GET", "/errors/none", 404),
        ("GET", "/v1", 404),
    ],
)
def test_the_router_refuses_in_problems_too(client: TestClient, method: str, path: str, status: int) -> None:
    told = client.request(method, path)
    assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
    assert told.json().keys() >= MEMBERS
    assert ("allow" in told.headers) == (status == 405)


def test_every_answer_has_a_request_id_and_a_hostile_one_is_not_repeated(client: TestClient) -> None:
    assert client.get("/livez", headers={"X-Request-Id": "a-b_c.7"}).headers["x-request-id"] == "a-b_c.7"
    made = {client.get("/livez", headers={"X-Request-Id": bad}).headers["x-request-id"] for bad in ("", "x" * 65, "a b", "<script>")}
    assert len(made) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in made)


def test_a_validation_error_does_not_repeat_what_was_sent(client: TestClient) -> None:
    assert "青霉素" not in client.post(f"{USER}/turns", json={"role": "user", "text": ["青霉素"]}).text


@pytest.mark.parametrize("settings", [Settings(zone="Mars/Olympus"), Settings(zone="")])
def test_an_unknown_zone_refuses_the_start(settings: Settings) -> None:
    with pytest.raises(ConfigurationError):
        create_app(cast("None", StubGraphmem(settings)), settings, keys=KEYS)
