"""The user at a glance, sessions page by page, what was written since; and repeating what used its object up. On the whole service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.app import Graphmem
from graphmem.scope import Scope

USER = "/v1/users/alice"


@pytest.fixture
def door(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    with TestClient(create_app(graphmem, keys={"k": scope.tenant}), headers={"Authorization": "Bearer k"}) as client:
        yield client


def told(door: TestClient, path: str, **query: object) -> dict[str, Any]:
    answer = door.get(f"{USER}{path}", params={name: str(value) for name, value in query.items()})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def heard(door: TestClient, text: str, session: str) -> dict[str, Any]:
    answer = door.post(f"{USER}/turns", json={"role": "user", "text": text, "session_id": session})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def stated(door: TestClient, key: str, value: str) -> str:
    return str(door.post(f"{USER}/memories", json={"key": key, "value": value}).json()["memory"]["mid"])


def test_sessions_are_read_page_by_page_along_the_link(door: TestClient) -> None:
    for number in range(5):
        heard(door, "Is it raining?", f"s-{number}")
    path, seen = f"{USER}/sessions?limit=2", []
    while path:
        answer = door.get(path)
        seen += [s["session_id"] for s in answer.json()["items"]]
        link = answer.headers.get("link")
        assert (link is None) == (answer.json()["next"] is None)
        path = "" if link is None else link.removeprefix("<").partition(">")[0]
    assert seen == [f"s-{number}" for number in (4, 3, 2, 1, 0)]


def test_a_profile_counts_what_is_told_and_names_nobody_else(door: TestClient) -> None:
    heard(door, "I live in Leeds.", "s-1")
    stated(door, "allergy", "penicillin")
    found = told(door, "/profile")
    assert {k["key"]: (k["count"], k["told"]) for k in found["keys"]} == {"home_city": (1, 1), "allergy": (1, 1)}
    assert (found["session_count"], found["turn_count"]) == (1, 1)
    empty = door.get("/v1/users/nobody/profile").json()
    assert (empty["keys"], empty["revision"], empty["first_recorded_at"]) == ([], 0, None)


def test_what_was_written_since_a_revision_comes_once_and_in_order(door: TestClient) -> None:
    first = heard(door, "I live in Leeds.", "s-1")
    mid = stated(door, "employer", "Mill")
    every = told(door, "/changes")
    assert [(c["mid"], c["verdict"]) for c in every["items"]] == [(first["stored"][0]["memory"]["mid"], "new"), (mid, "new")]
    assert [c["mid"] for c in told(door, "/changes", since=first["revision"])["items"]] == [mid]
    assert told(door, "/changes", since=every["revision"]) == {"items": [], "revision": every["revision"], "more": False}


@pytest.mark.parametrize("path", ["/changes?since=-1", "/changes?since=x", "/sessions?limit=0", "/sessions?cursor=x", "/profile?limit=1"])
def test_a_question_that_is_wrong_is_refused(door: TestClient, path: str) -> None:
    assert door.get(f"{USER}{path}").status_code == 422


@pytest.mark.parametrize("act", ["retract", "forget", "undelete", "confirm", "reject"])
def test_what_used_its_object_up_may_be_repeated_under_the_same_key_and_is_not_done_twice(door: TestClient, act: str) -> None:
    if act in ("confirm", "reject"):
        heard(door, "I love sushi.", "s-1")
        mid = heard(door, "I hate sushi.", "s-1")["pending"][0]["memory"]["mid"]
    else:
        mid = stated(door, "employer", "Mill")
        if act == "undelete":
            door.delete(f"{USER}/memories/{mid}")

    def once(key: str) -> tuple[int, str]:
        headers = {"Idempotency-Key": key}
        path = f"{USER}/memories/{mid}"
        answer = door.delete(path, headers=headers) if act == "forget" else door.post(f"{path}:{act}", headers=headers)
        return answer.status_code, "" if act == "forget" else str(answer.json().get("mid") or answer.json().get("memory", {}).get("mid"))

    first = once("k-1")
    before = told(door, "/changes")["revision"]
    assert first[0] in (200, 204) and once("k-1") == first
    assert told(door, "/changes")["revision"] == before
    other = stated(door, "hobby", "chess")
    assert door.post(f"{USER}/memories/{other}:retract", headers={"Idempotency-Key": "k-2"}).status_code == 200
    assert door.post(f"{USER}/memories/{mid}:retract", headers={"Idempotency-Key": "k-2"}).status_code == 409
