"""The user at a glance, sessions with their turns, and why: through GraphQL, over the real store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from graphmem.answers import Ask
from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.scope import Scope
from tests.graph_view import ago
from tests.graphql_client import ask, data, held, noted, opened

USER = """{ user { id userId counts { kind status count } keys(first: 100) { key count told label { zh en } } firstRecordedAt lastRecordedAt
  sessionCount turnCount revision erased erasedAt } }"""


@pytest.fixture
def client(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    with opened(graphmem, scope) as client:
        yield client


# --- the user


def test_a_user_at_a_glance_counts_what_is_held_and_leaves_out_what_was_forgotten(
    client: TestClient, graphmem: Graphmem, scope: Scope
) -> None:
    graphmem.inject(scope, Turn("我喜欢喝拿铁。", session_id="s-1", turn_id="t-1"))
    graphmem.inject(scope, Turn("我不喜欢喝拿铁。", session_id="s-1", turn_id="t-2"))
    held(graphmem, scope, "employer", "Blue Mill", 9)
    held(graphmem, scope, "employer", "Red Mill", 4)
    held(graphmem, scope, "hobby", "围棋")
    graphmem.forget(scope, held(graphmem, scope, "hobby", "chess").mid)
    user = data(client, USER)["user"]
    assert {(c["kind"], c["status"]): c["count"] for c in user["counts"]} == {
        ("FACT", "ACTIVE"): 2, ("FACT", "SUPERSEDED"): 1, ("PREFERENCE", "ACTIVE"): 1, ("PREFERENCE", "PENDING"): 1,
    }  # fmt: skip
    assert {k["key"]: (k["count"], k["told"]) for k in user["keys"]} == {
        "coffee_preference": (2, 1), "employer": (2, 1), "hobby": (1, 1),
    }  # fmt: skip
    assert (user["userId"], user["sessionCount"], user["turnCount"], user["erased"]) == (scope.user, 1, 2, False)
    assert user["firstRecordedAt"] < user["lastRecordedAt"] and user["revision"] == 7
    query = "query($id: ID!) { node(id: $id) { __typename id ... on User { userId revision } } }"
    assert data(client, query, {"id": user["id"]})["node"] == {
        "__typename": "User", "id": user["id"], "userId": scope.user, "revision": 7,
    }  # fmt: skip
    assert data(client, query, {"id": user["id"]}, "other")["node"] is None


def test_somebody_unknown_is_told_like_somebody_who_never_said_a_thing(client: TestClient) -> None:
    user = data(client, USER, user="nobody")["user"]
    assert (user["userId"], user["counts"], user["keys"], user["firstRecordedAt"], user["revision"]) == ("nobody", [], [], None, 0)


# --- sessions

SESSIONS = """query($first: Int!, $after: String) { sessions(first: $first, after: $after) { totalCount pageInfo { endCursor hasNextPage }
  nodes { id sessionId startedAt lastAt turnCount turns(first: 2) { turnId role text } } } }"""


def test_sessions_come_newest_first_with_their_last_turns_and_one_read_for_all(
    client: TestClient, graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in range(5):
        for turn in range(session + 1):
            graphmem.inject(scope, Turn(f"早上好 {turn}", session_id=f"s-{session}", turn_id=f"t-{turn}", at=ago(days=9 - session)))
    graphmem.inject(Scope(scope.tenant, "other"), Turn("你好", session_id="s-0"))
    ran: list[str] = []
    monkeypatch.setattr(graphmem.neo4j, "read_all", noted(ran, graphmem.neo4j.read_all))
    first = data(client, SESSIONS, {"first": 3})["sessions"]
    assert ran == ["turns_of_sessions"]
    graphmem.inject(scope, Turn("新的一天", session_id="s-9"))
    second = data(client, SESSIONS, {"first": 3, "after": first["pageInfo"]["endCursor"]})["sessions"]
    assert [s["sessionId"] for s in first["nodes"] + second["nodes"]] == ["s-4", "s-3", "s-2", "s-1", "s-0"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"], second["pageInfo"]["hasNextPage"]) == (5, True, False)
    assert first["nodes"][0]["turnCount"] == 5 and [t["turnId"] for t in first["nodes"][0]["turns"]] == ["t-4", "t-3"]
    node = data(client, "query($id: ID!) { node(id: $id) { ... on Session { sessionId } } }", {"id": first["nodes"][1]["id"]})
    assert node["node"] == {"sessionId": "s-3"}


def test_what_was_forgotten_is_blank_in_the_turns_of_a_session(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    (stored,) = graphmem.inject(scope, Turn("我对青霉素过敏。", session_id="s-1")).stored
    graphmem.forget(scope, stored.memory.mid)
    ((turn,),) = [s["turns"] for s in data(client, SESSIONS, {"first": 1})["sessions"]["nodes"]]
    assert "青霉素" not in turn["text"] and turn["role"] == "user"


def test_a_cursor_that_is_none_of_sessions_is_refused(client: TestClient) -> None:
    found = ask(client, SESSIONS, {"first": 3, "after": "%%%"})
    assert found["errors"][0]["extensions"]["code"] == "invalid_input" and found["data"] == {"sessions": None}


# --- why

WHY = """told because text { zh en } rivals { mid did value } policy { arity policy safety } waiting { reason }
  entry { verdict rule memory { mid value } sources { quote } touches { what route } }"""


def test_why_is_told_as_by_rest(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("我对青霉素过敏。", session_id="s-1"))
    first = held(graphmem, scope, "employer", "Blue Mill", 9)
    held(graphmem, scope, "employer", "Red Mill", 4)
    for mid in (first.mid, data(client, '{ latest(key: "allergy") { items(first: 1) { mid } } }')["latest"]["items"][0]["mid"]):
        why = data(
            client, f"query($mid: String!) {{ why(mid: $mid) {{ {WHY} }} memory(mid: $mid) {{ mid why {{ {WHY} }} }} }}", {"mid": mid}
        )
        rest = client.get(f"/v1/users/{scope.user}/memories/{mid}/why").json()
        assert why["why"] == why["memory"]["why"] and why["memory"]["mid"] == mid
        told = why["why"]
        assert (told["told"], told["because"], told["text"]) == (rest["told"], rest["because"], rest["text"])
        assert [(r["mid"], r["did"], r["value"]) for r in told["rivals"]] == [(r["mid"], r["did"], r["value"]) for r in rest["rivals"]]
        assert {k: rest["policy"][k] for k in told["policy"]} == told["policy"] and told["waiting"] == rest["waiting"]
        assert told["entry"]["verdict"] == rest["entry"]["verdict"] and told["entry"]["rule"] == rest["entry"]["rule"]
        assert [s["quote"] for s in told["entry"]["sources"]] == [s["quote"] for s in rest["entry"]["sources"]]
    assert told["because"] == "told" and "青霉素" in told["entry"]["sources"][0]["quote"]


def test_why_of_a_page_of_memories_costs_two_reads(
    client: TestClient, graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(20):
        held(graphmem, scope, "hobby", f"puzzle {n}")
    ran: list[str] = []
    monkeypatch.setattr(graphmem.neo4j, "read_one", noted(ran, graphmem.neo4j.read_one))
    nodes = data(client, "{ memories(first: 20) { nodes { mid why { told because entry { memory { mid } } } } } }")["memories"]["nodes"]
    assert len(ran) <= 3 and len(nodes) == 20
    assert all(n["why"]["told"] and n["why"]["entry"]["memory"]["mid"] == n["mid"] for n in nodes)


def test_one_memory_is_told_for_the_moment_that_was_asked(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    old = held(graphmem, scope, "employer", "Blue Mill", 9)
    held(graphmem, scope, "employer", "Red Mill", 4)
    query = "query($mid: String!, $at: DateTime) { memory(mid: $mid, asOf: $at) { status value } }"
    assert data(client, query, {"mid": old.mid})["memory"] == {"status": "SUPERSEDED", "value": "Blue Mill"}
    assert data(client, query, {"mid": old.mid, "at": ago(days=6).isoformat()})["memory"]["status"] == "ACTIVE"


def test_a_receipt_is_found_again_with_its_lines(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, "hobby", "围棋")
    graphmem.drain()
    name = graphmem.recall(scope, Ask("my hobby", session_id="s-1", tier="L2")).receipt_id
    told = data(client, "query($id: String!) { receipt(id: $id) { tier sessionId lines(first: 5) { mid told reason } } }", {"id": name})
    assert told["receipt"]["tier"] == "L2" and told["receipt"]["lines"]
