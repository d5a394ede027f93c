"""Mutations over the real store: repeated with a key they are one operation, decided on an older version they are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.scope import Scope
from tests.graphql_client import data, held, opened

ERRORS = "userErrors { code path messageZh messageEn }"
ANSWERS = {
    "confirm": "done { verdict replayed memory { mid value status version } }",
    "reject": "memory { mid status }",
    "retract": "memory { mid status }",
    "undelete": "memory { mid status }",
    "forget": "forgottenMid",
}


@pytest.fixture
def client(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    with opened(graphmem, scope) as client:
        yield client


def act(client: TestClient, name: str, **given: Any) -> dict[str, Any]:
    """One mutation about a memory: its payload."""
    kind = {"forget": "ForgetInput", "undelete": "UndeleteInput"}.get(name, "MemoryInput")
    found: dict[str, Any] = data(client, f"mutation($i: {kind}!) {{ {name}(input: $i) {{ {ANSWERS[name]} {ERRORS} }} }}", {"i": given})[
        name
    ]
    return found


def codes(payload: dict[str, Any]) -> list[str]:
    return [e["code"] for e in payload["userErrors"]]


def pending(g: Graphmem, scope: Scope) -> str:
    """A memory that waits for the user's word."""
    g.inject(scope, Turn("我喜欢喝拿铁。"))
    (item,) = g.inject(scope, Turn("我不喜欢喝拿铁。")).pending
    return item.memory.mid


def subject_of(name: str, g: Graphmem, scope: Scope) -> str:
    """A memory that the mutation can be about."""
    if name in ("confirm", "reject"):
        return pending(g, scope)
    mid = held(g, scope, "hobby", "围棋").mid
    if name == "undelete":
        g.forget(scope, mid)
    return mid


@pytest.mark.parametrize("name", ANSWERS)
def test_a_repeated_write_with_a_key_is_answered_again_and_without_one_it_is_used_up(
    name: str, client: TestClient, graphmem: Graphmem, scope: Scope
) -> None:
    mid = subject_of(name, graphmem, scope)
    first = act(client, name, mid=mid, idempotencyKey="k-1")
    revision = graphmem.people.profile(scope).revision
    again = act(client, name, mid=mid, idempotencyKey="k-1")
    assert codes(first) == [] and graphmem.people.profile(scope).revision == revision
    if name == "confirm":
        assert again["done"].pop("replayed") is True and first["done"].pop("replayed") is False
    assert again == first
    assert codes(act(client, name, mid=mid)) in (["decided"], ["not_found"])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_key_of_one_write_is_refused_for_another(name: str, client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    mid, other = subject_of(name, graphmem, scope), held(graphmem, scope, "hobby", "chess").mid
    assert codes(act(client, name, mid=mid, idempotencyKey="k-1")) == []
    assert codes(act(client, name, mid=other, idempotencyKey="k-1")) == ["idempotency_key_reused"]
    assert codes(act(client, name, mid=other, idempotencyKey="老")) == ["invalid_input"]


@pytest.mark.parametrize("name", ["confirm", "reject", "retract", "forget"])
def test_what_was_decided_on_an_older_version_is_refused(name: str, client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    mid = subject_of(name, graphmem, scope)
    held_version = max(m.version or 0 for m in graphmem.history(scope, mid))
    late = act(client, name, mid=mid, expectedVersion=held_version + 1, idempotencyKey="k-1")
    assert codes(late) == ["version_conflict"] and late["userErrors"][0]["messageZh"]
    done = act(client, name, mid=mid, expectedVersion=held_version, idempotencyKey="k-1")
    assert codes(done) == []
    again = act(client, name, mid=mid, expectedVersion=held_version, idempotencyKey="k-1")
    assert codes(again) == []


CHANGE = f"mutation($i: ChangeInput!) {{ change(input: $i) {{ done {{ memory {{ mid value version etag }} }} {ERRORS} }} }}"


def test_a_change_needs_the_version_it_is_of(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    old = held(graphmem, scope, "employer", "Blue Mill")
    assert codes(data(client, CHANGE, {"i": {"mid": old.mid, "value": "Red Mill"}})["change"]) == ["precondition_required"]
    for stale in ({"ifMatch": "v9-9"}, {"expectedVersion": 9}):
        assert codes(data(client, CHANGE, {"i": {"mid": old.mid, "value": "Red Mill", **stale}})["change"]) == ["version_conflict"]
    done = data(client, CHANGE, {"i": {"mid": old.mid, "value": "Red Mill", "expectedVersion": 1, "metadata": {"from": "form"}}})["change"]
    assert (done["done"]["memory"]["value"], done["done"]["memory"]["version"]) == ("Red Mill", 2)
    seen = {"mid": done["done"]["memory"]["mid"], "ifMatch": done["done"]["memory"]["etag"]}
    assert data(client, CHANGE, {"i": {**seen, "value": "Grey Mill"}})["change"]["done"]["memory"]["version"] == 3
    assert codes(data(client, CHANGE, {"i": {**seen, "value": None}})["change"]) == ["null"]


def test_a_batch_of_turns_loses_no_good_one_to_a_bad_one(client: TestClient) -> None:
    query = f"""mutation($i: InjectTurnsInput!) {{ injectTurns(input: $i) {{
      items {{ index turnId outcome turn {{ replayed stored {{ memory {{ value }} }} }} userErrors {{ code path }} }} {ERRORS} }} }}"""
    turns = [
        {"text": "我对青霉素过敏。", "role": "user", "turnId": "t-1", "sessionId": "s-1"},
        {"text": "", "role": "user", "turnId": "t-2", "sessionId": "s-1"},
        {"text": "我住在上海。", "role": "narrator", "turnId": "t-3", "sessionId": "s-1"},
        {"text": "我喜欢围棋。", "role": "user", "turnId": "t-4", "sessionId": "s-1"},
    ]
    items = data(client, query, {"i": {"turns": turns}})["injectTurns"]["items"]
    assert [(i["turnId"], i["outcome"]) for i in items] == [("t-1", "done"), ("t-2", "error"), ("t-3", "error"), ("t-4", "done")]
    assert items[0]["turn"]["stored"][0]["memory"]["value"] == "青霉素" and [e["path"] for e in items[1]["userErrors"]] == ["text"]
    again = data(client, query, {"i": {"turns": turns[:1]}})["injectTurns"]["items"]
    assert again[0]["turn"]["replayed"] is True
    assert codes(data(client, query, {"i": {"turns": []}})["injectTurns"]) == ["invalid_input"]


def test_a_relation_is_ended_and_everything_forgotten_by_its_word_alone(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "hobby", "chess").mid, held(graphmem, scope, "employer", "Blue Mill").mid
    relate = f"mutation($i: RelateInput!) {{ relate(input: $i) {{ relation {{ rid }} {ERRORS} }} }}"
    sent = {"type": "DERIVED_FROM", "fromMid": a, "toMid": b}
    assert codes(data(client, relate, {"i": {**sent, "expectedVersion": 7}})["relate"]) == ["version_conflict"]
    made = data(client, relate, {"i": {**sent, "expectedVersion": 1}})["relate"]
    end = f"mutation($rid: String!) {{ unrelate(input: {{rid: $rid}}) {{ relation {{ rid validTo }} {ERRORS} }} }}"
    ended = data(client, end, {"rid": made["relation"]["rid"]})["unrelate"]["relation"]
    assert ended["validTo"] is not None and data(client, end, {"rid": ended["rid"]})["unrelate"]["relation"] == ended
    every = f"mutation($word: String!) {{ forgetAll(input: {{confirm: $word}}) {{ forgotten {ERRORS} }} }}"
    assert codes(data(client, every, {"word": "yes"})["forgetAll"]) == ["unknown_value"]
    assert data(client, every, {"word": "all"})["forgetAll"] == {"forgotten": 2, "userErrors": []}
    assert data(client, "{ memories(first: 5) { totalCount } }")["memories"]["totalCount"] == 0


def test_an_event_and_a_review_go_through_graphql_too(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    query = f"mutation($i: RecordEventInput!) {{ recordEvent(input: $i) {{ event {{ name replayed stored {{ verdict }} }} {ERRORS} }} }}"
    unknown = data(client, query, {"i": {"name": "nothing_of_this_name", "data": {}}})["recordEvent"]
    assert unknown["event"] is None and codes(unknown) != []
    refused = data(client, f"mutation {{ enrolTotp {{ factor {{ factorId }} {ERRORS} }} }}")["enrolTotp"]
    assert codes(refused) == ["verification_required"]
