"""Change, retract, undelete and forget-all: their translation over the stub, and through the whole service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.answers import Remembered
from graphmem.app import Graphmem
from graphmem.change import Change
from graphmem.errors import ConflictError
from graphmem.memory import Provenance, SourceKind, Verdict
from graphmem.scope import Scope
from tests.api.stub import MEMORY, PENDING, StubGraphmem

USER = "/v1/users/alice"
ONE = f"{USER}/memories/m-1"
MATCH = {"If-Match": '"v2-7"'}


# --- translation


def test_a_change_without_if_match_is_a_428_and_nothing_is_asked(client: TestClient, stub: StubGraphmem) -> None:
    told = client.patch(ONE, json={"value": "latte"})
    assert (told.status_code, told.json()["code"]) == (428, "precondition_required")
    assert stub.asked == []


def test_a_change_of_a_version_that_moved_on_is_a_412(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = ConflictError("moved", code="version_conflict", current="v3-1")
    told = client.patch(ONE, json={"value": "latte"}, headers=MATCH)
    assert (told.status_code, told.json()["code"], told.json()["current"]) == (412, "precondition_failed", "v3-1")


def test_a_change_reaches_the_core_as_it_was_named(client: TestClient, stub: StubGraphmem) -> None:
    body = {
        "value": "latte",
        "valid_to": "2030-01-01T00:00:00",
        "metadata": {"a": 1, "b": None},
        "source": {"kind": "document", "ref": "f-7"},
    }
    told = client.patch(ONE, json=body, headers=MATCH)
    assert told.status_code == 200 and told.headers["etag"] == '"v2-7"'
    _, scope, asked = stub.asked[-1]
    mid, ask, tag = cast(tuple[str, Change, str], asked)
    assert (scope.user, mid, tag, ask.value, ask.polarity, ask.confidence) == ("alice", "m-1", "v2-7", "latte", None, None)
    assert ask.valid_to is not None and ask.valid_to.isoformat() == "2029-12-31T16:00:00+00:00"
    assert (dict(ask.metadata), ask.source) == ({"a": 1, "b": None}, Provenance(SourceKind.DOCUMENT, "f-7"))


def test_a_change_that_waits_is_a_202(client: TestClient, stub: StubGraphmem) -> None:
    stub.remembered = Remembered(Verdict.PENDING, PENDING.memory, None, False, 42, pending=PENDING, reason="dual")
    assert client.patch(ONE, json={"value": "1"}, headers=MATCH).status_code == 202


@pytest.mark.parametrize(
    "body",
    [{"value": None}, {"metadata": None}, {"value": " "}, {"key": "x"}, {"confidence": 2}, {"valid_from": "soon"}, {"verified": "yes"}],
    ids=str,
)
def test_a_change_that_says_nothing_clear_is_refused(client: TestClient, stub: StubGraphmem, body: dict[str, Any]) -> None:
    assert client.patch(ONE, json=body, headers=MATCH).status_code == 422
    assert stub.asked == []


def test_retract_and_undelete_answer_with_the_memory(client: TestClient, stub: StubGraphmem) -> None:
    assert client.post(f"{ONE}:retract").json()["status"] == "retracted"
    assert client.post(f"{ONE}:undelete").json()["mid"] == MEMORY.mid
    assert [(name, what) for name, _, what in stub.asked] == [("retract", "m-1"), ("undelete", "m-1")]


@pytest.mark.parametrize("query", ["", "?confirm=", "?confirm=yes", "?confirm=ALL", "?confirm=all&confirm=all", "?confirm=all&user_id=bob"])
def test_forgetting_everything_needs_the_literal_word(client: TestClient, stub: StubGraphmem, query: str) -> None:
    assert client.delete(f"{USER}/memories{query}").status_code == 422
    assert stub.asked == []
    assert client.delete(f"{USER}/memories?confirm=all").json() == {"forgotten": 7}
    assert [(name, scope.user) for name, scope, _ in stub.asked] == [("forget_all", "alice")]


@pytest.mark.parametrize("user", ["", "%00", "%C3%28"])
def test_forgetting_everything_of_nobody_forgets_nothing(client: TestClient, stub: StubGraphmem, user: str) -> None:
    assert client.delete(f"/v1/users/{user}/memories?confirm=all").status_code == 422
    assert client.delete("/v1/users/memories?confirm=all").status_code in (404, 405, 422)
    assert client.delete("/v1/me/memories?confirm=all").status_code == 403
    assert stub.asked == []


def test_history_says_how_many_older_versions_lie_in_the_archive(client: TestClient) -> None:
    told = client.get(f"{ONE}/history").json()
    assert (len(told["items"]), told["archived"]) == (2, 3)


# --- the whole service


@pytest.fixture
def door(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    with TestClient(create_app(graphmem, keys={"k": scope.tenant}), headers={"Authorization": "Bearer k"}) as client:
        yield client


def remembered(door: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    told = door.post(f"{USER}/memories", json=body)
    assert told.status_code == 201, told.text
    found: dict[str, Any] = told.json()["memory"]
    return {**found, "etag": told.headers["etag"]}


def patched(door: TestClient, memory: dict[str, Any], body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    told = door.patch(f"{USER}/memories/{memory['mid']}", json=body, headers={"If-Match": memory["etag"]})
    assert told.status_code == status, told.text
    found: dict[str, Any] = told.json()
    return found


def read(door: TestClient, mid: str) -> dict[str, Any]:
    found: dict[str, Any] = door.get(f"{USER}/memories/{mid}").json()
    return found


def test_a_staff_principal_changes_only_the_object_and_nothing_else_is_lost(door: TestClient) -> None:
    old = remembered(door, {"key": "allergy", "value": "花生", "metadata": {"source": "intake-form", "priority": "high"}})
    done = patched(door, old, {"value": "花生油", "verified_by": "staff:17"})
    new = done["memory"]
    assert (new["value"], new["metadata"], new["status"], new["standing"]) == ("花生油", old["metadata"], "active", "verified")
    assert (done["supersedes"], new["supersedes"]) == (old["mid"], old["mid"])
    before = read(door, old["mid"])
    assert (before["superseded_by"], before["recorded_at"], before["value"]) == (new["mid"], old["recorded_at"], "花生")
    assert before["valid_from"] < before["valid_to"] <= new["valid_from"]
    history = door.get(f"{USER}/memories/{old['mid']}/history").json()["items"]
    assert (history[0]["value"], history[0]["valid_to"], history[0]["metadata"]) == ("花生", before["valid_to"], old["metadata"])
    assert [m["value"] for m in door.get(f"{USER}/latest/allergy").json()["items"]] == ["花生油"]


def test_without_a_reviewer_the_end_of_the_old_allergy_waits_and_both_are_told(door: TestClient) -> None:
    old = remembered(door, {"key": "allergy", "value": "peanut"})
    done = patched(door, old, {"value": "sesame"}, 202)
    assert done["pending"][0]["reason"] == "denial"
    assert {m["value"] for m in door.get(f"{USER}/latest/allergy").json()["items"]} == {"peanut", "sesame"}


def test_a_new_value_keeps_metadata_unless_named_and_is_a_new_version_of_the_slot(door: TestClient) -> None:
    old = remembered(door, {"key": "employer", "value": "Mill", "metadata": {"a": 1, "b": 2, "c": 3}})
    new = patched(door, old, {"value": "Forge", "metadata": {"b": 9, "c": None}})["memory"]
    assert (new["version"], new["metadata"], new["supersedes"]) == (2, {"a": 1, "b": 9}, old["mid"])
    assert read(door, old["mid"])["superseded_by"] == new["mid"]
    # what was read before the change holds no more
    assert patched(door, old, {"value": "Bakery"}, 412)["code"] == "precondition_failed"


def test_metadata_alone_is_a_new_version_with_the_same_value_and_standing(door: TestClient) -> None:
    old = remembered(door, {"key": "employer", "value": "Mill", "source": {"kind": "document", "ref": "f-1"}, "metadata": {"a": 1}})
    new = patched(door, old, {"metadata": {"d": "x"}})["memory"]
    assert (new["version"], new["value"], new["standing"], new["metadata"]) == (2, "Mill", "verified", {"a": 1, "d": "x"})
    assert [m["mid"] for m in door.get(f"{USER}/latest/employer").json()["items"]] == [new["mid"]]


def test_a_start_can_be_corrected_and_an_end_be_named(door: TestClient) -> None:
    old = remembered(door, {"key": "employer", "value": "Mill"})
    new = patched(door, old, {"valid_from": "2019-03-01T00:00:00Z"})["memory"]
    assert new["valid_from"].startswith("2019-03-01") and read(door, old["mid"])["status"] == "retracted"
    now = {**new, "etag": door.get(f"{USER}/memories/{new['mid']}").headers["etag"]}
    patched(door, now, {"valid_to": "2024-03-01T00:00:00Z", "value": "Forge"}, 422)
    assert patched(door, now, {"valid_to": "2024-03-01T00:00:00Z"})["verdict"] in ("end", "backfill")
    assert door.get(f"{USER}/latest/employer").json()["items"] == []
    asked = door.get(f"{USER}/latest/employer", params={"as_of": "2023-01-01T00:00:00Z"}).json()["items"]
    assert [m["value"] for m in asked] == ["Mill"]


def test_a_proven_key_does_not_change_by_a_patch_alone(door: TestClient) -> None:
    old = remembered(door, {"key": "phone", "value": "+4712345678"})
    done = patched(door, old, {"value": "+4787654321"}, 202)
    assert done["pending"][0]["reason"] == "dual"
    assert [m["value"] for m in door.get(f"{USER}/latest/phone").json()["items"]] == ["+4712345678"]


def test_a_superseded_pending_forgotten_or_foreign_memory_is_not_changed(door: TestClient) -> None:
    old = remembered(door, {"key": "employer", "value": "Mill"})
    remembered(door, {"key": "employer", "value": "Forge"})
    was = {**old, "etag": door.get(f"{USER}/memories/{old['mid']}").headers["etag"]}
    patched(door, was, {"value": "Bakery"}, 412)
    assert door.patch(f"/v1/users/bob/memories/{old['mid']}", json={"value": "x"}, headers={"If-Match": "*"}).status_code == 404
    assert door.delete(f"{USER}/memories/{old['mid']}").status_code == 204
    patched(door, was, {"value": "Bakery"}, 404)
    assert door.post(f"{USER}/memories/{old['mid']}:undelete").json()["status"] == "superseded"


def test_deleting_one_of_three_and_then_all(door: TestClient) -> None:
    for text in ("我对花生过敏。", "我住在南京。", "我养了一只猫。"):
        for user in (USER, "/v1/users/bob"):
            assert door.post(f"{user}/turns", json={"text": text, "role": "user"}).status_code == 200
    one = door.get(f"{USER}/latest/allergy").json()["items"][0]["mid"]
    assert door.delete(f"{USER}/memories/{one}").status_code == 204
    assert door.get(f"{USER}/memories/{one}").status_code == 404
    assert door.get(f"{USER}/memories").json()["total"] == 2
    assert door.get(f"{USER}/memories", params={"q": "花生过敏"}).json()["items"] is not None
    assert one not in str(door.get(f"{USER}/memories", params={"q": "花生过敏"}).json())
    theirs = door.get("/v1/users/bob/memories").json()
    assert door.delete(f"{USER}/memories?confirm=all").json() == {"forgotten": 2}
    assert door.get(f"{USER}/memories").json()["total"] == 0
    assert door.get("/v1/users/bob/memories").json()["items"] == theirs["items"]
