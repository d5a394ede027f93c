"""GraphQL over the real store: pages while a writer writes, one read for many memories, nobody else's memories by any field."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from starlette.testclient import TestClient

from graphmem.answers import Ask
from graphmem.app import Graphmem
from graphmem.memory import Kind, Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from tests.graph_view import ago
from tests.graphql_client import ask, data, held, noted, opened


@pytest.fixture
def client(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    with opened(graphmem, scope) as client:
        yield client


def hobbies(g: Graphmem, scope: Scope, count: int) -> list[str]:
    return [held(g, scope, "hobby", f"puzzle {n}").mid for n in range(count)]


# --- pages

PAGE = """query($first: Int!, $after: String, $where: MemoryWhere, $order: MemoryOrder! = EVENT_DESC) {
  memories(first: $first, after: $after, where: $where, orderBy: $order) {
    edges { cursor node { mid value } } nodes { mid } pageInfo { endCursor hasNextPage } totalCount } }"""


@pytest.mark.parametrize(
    ("order", "whole", "sizes"), [("EVENT_DESC", 250, [100, 100, 50]), ("RECORDED_ASC", 95, [*[10] * 9, 5]), ("EVENT_ASC", 10, [4, 4, 2])]
)
def test_pages_hold_the_starting_set_once_while_a_writer_adds_and_supersedes(
    order: str, whole: int, sizes: list[int], client: TestClient, graphmem: Graphmem, scope: Scope
) -> None:
    """[pag-01] 250 memories in 100, 100 and 50; others in ten pages, and in the other order."""
    size = sizes[0]
    starting = [*hobbies(graphmem, scope, whole - 1), held(graphmem, scope, "employer", "Mill 0").mid]
    stop, written, started = threading.Event(), list[str](), False

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            written.append(held(graphmem, scope, "hobby", f"game {n}", 1).mid)
            written.append(held(graphmem, scope, "employer", f"Mill {n}", 8 - n / 1000).mid)

    writer = threading.Thread(target=write)
    pages: list[list[str]] = []
    after: str | None = None
    try:
        while True:
            page = data(client, PAGE, {"first": size, "after": after, "order": order})["memories"]
            pages.append([n["mid"] for n in page["nodes"]])
            assert page["totalCount"] == whole
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                break
            if not started:
                writer.start()
                started = True
            so_far = len(written)
            while len(written) < so_far + 4:
                stop.wait(0.01)
    finally:
        stop.set()
        if started:
            writer.join()
    seen = [mid for page in pages for mid in page]
    assert [len(page) for page in pages] == sizes
    assert len(seen) == len(set(seen)) and set(seen) == set(starting) and len(written) >= 8


def test_a_filter_and_pages_combine_and_the_total_counts_what_is_filtered(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    """[pag-02] 45 active and 45 superseded, 20 a page."""
    for n in range(45):
        for value, days in ((f"old {n}", 9), (f"new {n}", 2)):
            held(graphmem, scope, f"note_{n}", value, days, kind=Kind.FACT, arity="one")
    query = """query($after: String, $status: Status!) { memories(first: 20, after: $after, status: $status) {
      nodes { value status } pageInfo { endCursor hasNextPage } totalCount } }"""
    for status, word in (("ACTIVE", "new"), ("SUPERSEDED", "old")):
        seen: list[str] = []
        page = {"pageInfo": {"endCursor": None, "hasNextPage": True}}
        sizes: list[int] = []
        while page["pageInfo"]["hasNextPage"]:
            page = data(client, query, {"after": page["pageInfo"]["endCursor"], "status": status})["memories"]
            assert page["totalCount"] == 45 and all(n["status"] == status for n in page["nodes"])
            sizes.append(len(page["nodes"]))
            seen += [n["value"] for n in page["nodes"]]
        assert sizes == [20, 20, 5] and sorted(seen) == sorted(f"{word} {n}" for n in range(45))


def test_a_cursor_of_another_order_or_of_nothing_is_refused(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    hobbies(graphmem, scope, 2)
    cursor = data(client, PAGE, {"first": 1})["memories"]["pageInfo"]["endCursor"]
    for after, order in ((cursor, "EVENT_ASC"), ("eA", "EVENT_DESC"), ("%%%", "EVENT_DESC")):
        found = ask(client, PAGE, {"first": 1, "after": after, "order": order})
        assert found["errors"][0]["extensions"]["code"] == "invalid_input" and found["data"] == {"memories": None}


def test_operators_narrow_a_list(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    old = held(graphmem, scope, "hobby", "chess", 9)
    held(graphmem, scope, "hobby", "围棋", 2)
    held(graphmem, scope, "employer", "Blue Mill", 5)
    pen = held(graphmem, scope, "allergy", "青霉素", 5)
    assert old.valid_from is not None

    def values(where: dict[str, Any]) -> list[str]:
        found = data(client, PAGE, {"first": 100, "where": where})["memories"]
        assert found["totalCount"] == len(found["nodes"])
        return sorted(e["node"]["value"] for e in found["edges"])

    assert values({"key": {"eq": "hobby"}}) == ["chess", "围棋"]
    assert values({"key": {"in": ["employer", "allergy"]}}) == sorted(["Blue Mill", "青霉素"])
    assert values({"value": {"startsWith": "青"}}) == ["青霉素"]
    assert values({"validFrom": {"lt": ago(days=6).isoformat()}}) == ["chess"]
    assert values({"validFrom": {"gte": old.valid_from.isoformat(), "lt": ago(days=6).isoformat()}}) == ["chess"]
    assert values({"validFrom": {"gt": old.valid_from.isoformat()}, "key": {"eq": "hobby"}}) == ["围棋"]
    assert values({"OR": [{"mid": {"eq": pen.mid}}, {"AND": [{"key": {"eq": "hobby"}}, {"NOT": {"value": {"eq": "chess"}}}]}]}) == sorted(
        ["青霉素", "围棋"]
    )
    assert values({"NOT": {"kind": {"eq": "FACT"}}, "key": {"eq": "allergy"}}) == []
    assert values({"validTo": {"lt": "2999-01-01T00:00:00Z"}}) == []
    assert values({"OR": []}) == []


# --- one read for many

WIDE = """{ memories(first: 100) { nodes { mid sources(first: 3) { kind saidAt quote }
  relations(first: 3) { type weight memory { mid value } } receipts(first: 2) { receiptId tier } } } }"""


def test_a_page_of_100_with_sources_relations_and_receipts_costs_at_most_four_queries(
    client: TestClient, graphmem: Graphmem, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    mids = hobbies(graphmem, scope, 100)
    for a, b in pairwise(mids[:8]):
        graphmem.relate(scope, RelationType.DERIVED_FROM, a, b, 0.5)
    graphmem.drain()
    recalled = graphmem.recall(scope, Ask("还是老样子,my hobby puzzle 7", session_id="s-1", tier="L2"))
    ran: list[str] = []
    for name in ("read_one", "read_all"):
        monkeypatch.setattr(graphmem.neo4j, name, noted(ran, getattr(graphmem.neo4j, name)))
    nodes = data(client, WIDE)["memories"]["nodes"]
    assert len(ran) <= 4 and len(set(ran)) == len(ran), ran
    by_mid = {n["mid"]: n for n in nodes}
    assert len(nodes) == 100 and all(len(n["sources"]) == 1 for n in nodes)
    assert [r["memory"]["mid"] for r in by_mid[mids[0]]["relations"]] == [mids[1]]
    assert {r["memory"]["mid"] for r in by_mid[mids[5]]["relations"]} == {mids[4], mids[6]} and by_mid[mids[50]]["relations"] == []
    lines = {line.mid for line in recalled.receipt.lines}
    assert lines and all(bool(n["receipts"]) == (n["mid"] in lines) for n in nodes)
    assert {r["receiptId"] for n in nodes for r in n["receipts"]} == {recalled.receipt_id}


def test_a_memory_shows_the_words_it_was_said_in(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("我对青霉素过敏。", session_id="s-1", turn_id="t-1"))
    (node,) = data(client, "{ memories(first: 5) { nodes { value sources(first: 1) { quote turnId sessionId first } } } }")["memories"][
        "nodes"
    ]
    (source,) = node["sources"]
    assert node["value"] == "青霉素" and "青霉素" in source["quote"] and (source["turnId"], source["sessionId"]) == ("t-1", "s-1")


def test_a_relation_is_told_only_to_what_was_told_then(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "employer", "Blue Mill", 9), held(graphmem, scope, "hobby", "chess", 4)
    graphmem.relate(scope, RelationType.DERIVED_FROM, a.mid, b.mid)
    query = "query($at: DateTime) { memories(first: 5, asOf: $at) { nodes { value relations(first: 5) { memory { value } } } } }"
    then = data(client, query, {"at": ago(days=6).isoformat()})["memories"]["nodes"]
    assert then == [{"value": "Blue Mill", "relations": []}]
    now = {n["value"]: [r["memory"]["value"] for r in n["relations"]] for n in data(client, query)["memories"]["nodes"]}
    assert now == {"Blue Mill": ["chess"], "chess": ["Blue Mill"]}
    graphmem.forget(scope, b.mid)
    assert data(client, query)["memories"]["nodes"] == [{"value": "Blue Mill", "relations": []}]


# --- nobody else's


def test_a_name_that_two_users_know_leads_each_to_their_own(client: TestClient, graphmem: Graphmem, scope: Scope) -> None:
    """[ten-01] through GraphQL: search, lists, relations of any depth, counts."""
    other = Scope(scope.tenant, "other")
    graphmem.inject(scope, Turn("小李喜欢苹果。"))
    graphmem.inject(other, Turn("小李喜欢篮球。"))
    graphmem.drain()
    query = """{ search(q: "小李喜欢什么", first: 10) { nodes { memory { value relations(first: 5) { memory { value } } } } }
      memories(first: 10, where: {subject: {startsWith: "friend:小李"}}) { totalCount nodes { mid value } } }"""
    for user, value in (("user-1", "苹果"), ("other", "篮球")):
        found = data(client, query, user=user)
        assert found["search"]["nodes"] == [{"memory": {"value": value, "relations": []}}]
        everything = data(client, "{ memories(first: 10) { totalCount nodes { mid value } } }", user=user)["memories"]
        assert (everything["totalCount"], [n["value"] for n in everything["nodes"]]) == (1, [value])
        for depth in (1, 2, 3):
            walk = "query($mid: String!, $depth: Int!) { related(mid: $mid, depth: $depth, first: 10) { nodes { memory { value } } } }"
            assert data(client, walk, {"mid": everything["nodes"][0]["mid"], "depth": depth}, user)["related"]["nodes"] == []
    assert data(client, query, user="nobody")["memories"] == {"totalCount": 0, "nodes": []}


# --- a story


def test_a_person_is_remembered_corrected_and_forgotten_through_graphql(client: TestClient) -> None:
    say = """mutation($t: String!) { injectTurn(input: {text: $t, role: "user"}) {
      turn { stored { verdict memory { mid etag value __typename } } } userErrors { code } } }"""
    (stored,) = data(client, say, {"t": "我对青霉素过敏。"})["injectTurn"]["turn"]["stored"]
    assert (stored["verdict"], stored["memory"]["value"], stored["memory"]["__typename"]) == ("NEW", "青霉素", "FactMemory")
    state = (
        """mutation($i: RememberInput!) { remember(input: $i) { done { verdict replayed memory { mid version } } userErrors { code } } }"""
    )
    sent = {"key": "employer", "value": "Blue Mill", "expectedVersion": 0, "idempotencyKey": "k-1"}
    first = data(client, state, {"i": sent})["remember"]["done"]
    assert (first["verdict"], first["replayed"]) == ("NEW", False)
    assert data(client, state, {"i": sent})["remember"]["done"] == {**first, "replayed": True}
    late = data(client, state, {"i": {**sent, "value": "Red Mill", "idempotencyKey": "k-2"}})["remember"]
    assert late == {"done": None, "userErrors": [{"code": "version_conflict"}]}
    relate = """mutation($a: String!, $b: String!) { relate(input: {type: DERIVED_FROM, fromMid: $a, toMid: $b, weight: 0.5}) {
      relation { rid weight created } userErrors { code } } }"""
    pair = {"a": first["memory"]["mid"], "b": stored["memory"]["mid"]}
    assert data(client, relate, pair)["relate"]["relation"]["created"] is True
    walk = "query($a: String!) { related(mid: $a, first: 5) { told nodes { depth weight path { type fromMid } memory { value } } } }"
    assert data(client, walk, {"a": pair["a"]})["related"] == {
        "told": True,
        "nodes": [{"depth": 1, "weight": 0.5, "path": [{"type": "DERIVED_FROM", "fromMid": pair["a"]}], "memory": {"value": "青霉素"}}],
    }
    query = """{ timeline(first: 10) { totalCount nodes { verdict memory { value } touches { what } sources { quote } } }
      latest(key: "employer") { items(first: 5) { value } } health { ready } }"""
    told = data(client, query)
    assert told["timeline"]["totalCount"] == 2 and told["latest"] == {"items": [{"value": "Blue Mill"}]} and told["health"]["ready"]
    gone = "mutation($m: String!, $e: String) { forget(input: {mid: $m, ifMatch: $e}) { forgottenMid userErrors { code } } }"
    assert data(client, gone, {"m": pair["b"], "e": "v9-9"})["forget"]["userErrors"] == [{"code": "version_conflict"}]
    assert data(client, gone, {"m": pair["b"], "e": None})["forget"] == {"forgottenMid": pair["b"], "userErrors": []}
    assert data(client, "{ memories(first: 9) { nodes { value } } }")["memories"]["nodes"] == [{"value": "Blue Mill"}]
