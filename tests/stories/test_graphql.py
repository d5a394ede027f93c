"""GraphQL over the real store: pages while a writer writes, one read for many memories, nobody else's memories by any field."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from graphql import GraphQLArgument, GraphQLField, GraphQLInputObjectType, GraphQLObjectType, get_named_type, is_leaf_type
from starlette.testclient import TestClient

from api import schema
from api.main import create_app
from api.nodes import global_id
from graphmem.answers import Ask, Memory, Remember
from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from tests.graph_view import ago

KEY = "key-of-this-test"


@pytest.fixture
def client(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    app = create_app(graphmem, keys={KEY: scope.tenant})
    with TestClient(app, headers={"Authorization": f"Bearer {KEY}"}) as client:
        yield client


def ask(client: TestClient, query: str, variables: dict[str, Any] | None = None, user: str = "user-1") -> dict[str, Any]:
    answer = client.post("/graphql", json={"query": query, "variables": variables}, headers={"X-Graphmem-User": quote(user)})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def data(client: TestClient, query: str, variables: dict[str, Any] | None = None, user: str = "user-1") -> dict[str, Any]:
    found = ask(client, query, variables, user)
    assert "errors" not in found, found["errors"]
    told: dict[str, Any] = found["data"]
    return told


def held(g: Graphmem, scope: Scope, key: str, value: str, days: float = 9, **given: Any) -> Memory:
    done = g.remember(scope, Remember(key, value, said_at=ago(days=days), **given))
    assert done.memory is not None
    return done.memory


def hobbies(g: Graphmem, scope: Scope, count: int) -> list[str]:
    return [held(g, scope, "hobby", f"puzzle {n}").mid for n in range(count)]


# --- pages

PAGE = """query($first: Int!, $after: String, $where: MemoryWhere, $order: MemoryOrder! = EVENT_DESC) {
  memories(first: $first, after: $after, where: $where, orderBy: $order) {
    edges { cursor node { mid value } } nodes { mid } pageInfo { endCursor hasNextPage } totalCount } }"""


@pytest.mark.parametrize(("order", "size"), [("EVENT_DESC", 100), ("RECORDED_ASC", 4)])
def test_250_memories_come_in_100_100_and_50_while_a_writer_adds_and_supersedes(
    order: str, size: int, client: TestClient, graphmem: Graphmem, scope: Scope
) -> None:
    """The other order with 10 in 4, 4 and 2."""
    whole = size * 5 // 2
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
    assert [len(page) for page in pages] == [size, size, size // 2]
    assert len(seen) == len(set(seen)) and set(seen) == set(starting) and len(written) >= 8


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


def noted(ran: list[str], read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """The same read, its name noted."""

    def reading(name: str, parameters: Any) -> Any:
        ran.append(name)
        return read(name, parameters)

    return reading


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


IDS = re.compile(r"(^id$|mid$|^caseId$|^answers$|^sessionId$)", re.IGNORECASE)


def id_arguments(field: GraphQLField) -> list[str]:
    """The names under which a field takes ids: arguments of its own, or fields of its one input."""
    found = [name for name in field.args if IDS.search(name)]
    kind: GraphQLArgument | None = field.args.get("input")
    inner = get_named_type(kind.type) if kind is not None else None
    return found + ([name for name in inner.fields if IDS.search(name)] if isinstance(inner, GraphQLInputObjectType) else [])


def selection(field: GraphQLField) -> str:
    """Some of what the field answers: plain values, and the codes of what could be mended."""
    kind = get_named_type(field.type)
    if not isinstance(kind, GraphQLObjectType):
        return "{ id }"
    names = [name for name, f in kind.fields.items() if is_leaf_type(get_named_type(f.type)) and not f.args]
    if "userErrors" in kind.fields:
        names.append("userErrors { code path messageZh messageEn }")
    return "{ __typename " + " ".join(names) + " }"


WRITTEN = {"type": "DERIVED_FROM", "decision": "approve"}
"""What else an input needs that takes ids."""

TAKING_IDS = sorted(
    (operation, name)
    for operation, root in (("query", schema.whole().query_type), ("mutation", schema.whole().mutation_type))
    if root is not None
    for name, field in root.fields.items()
    if set(id_arguments(field)) - {"answers", "sessionId"}
)


def test_every_field_that_takes_an_id_is_among_those_tried() -> None:
    assert {name for _, name in TAKING_IDS} == {
        "node", "history", "receipt", "related", "confirm", "reject", "retract", "forget", "decideReview", "relate",
    }  # fmt: skip


@pytest.mark.parametrize(("operation", "name"), TAKING_IDS)
def test_a_foreign_id_is_answered_like_an_unknown_one(
    operation: str, name: str, client: TestClient, graphmem: Graphmem, scope: Scope
) -> None:
    other = Scope(scope.tenant, "other")
    foreign, mine = held(graphmem, other, "hobby", "chess"), held(graphmem, scope, "hobby", "围棋")
    graphmem.drain()
    receipt = graphmem.recall(other, Ask("my hobby", tier="L2")).receipt_id
    assert receipt is not None
    graphmem.receipt(other, receipt)
    root = schema.whole().query_type if operation == "query" else schema.whole().mutation_type
    assert root is not None
    field = root.fields[name]
    pairs = {
        "node": [(global_id("memory", foreign.mid), global_id("memory", unlike(foreign.mid))),
                 (global_id("receipt", receipt), global_id("receipt", unlike(receipt)))],
        "receipt": [(receipt, unlike(receipt))],
    }.get(name, [(foreign.mid, unlike(foreign.mid))])  # fmt: skip
    for there, nowhere in pairs:
        answers = [without_trace(ask(client, *called(operation, name, field, one, mine.mid))) for one in (there, nowhere)]
        assert answers[0] == answers[1]
        assert "chess" not in str(answers[0]) and there not in str(answers[0])
    assert graphmem.memory(other, foreign.mid).status.value == "active"


def unlike(name: str) -> str:
    """An id of the same shape that nobody has."""
    return name[:-4] + ("0000" if name[-4:] != "0000" else "1111")


def called(operation: str, name: str, field: GraphQLField, one: str, mine: str) -> tuple[str, dict[str, Any]]:
    """The request with the id at every place that takes one; a second place gets one of the user's own."""
    if "input" in field.args:
        inner = get_named_type(field.args["input"].type)
        assert isinstance(inner, GraphQLInputObjectType)
        given = {f: value for f, value in WRITTEN.items() if f in inner.fields}
        ids = id_arguments(field)
        given |= {f: one if n == 0 else mine for n, f in enumerate(ids)}
        return f"{operation}($i: {inner.name}!) {{ {name}(input: $i) {selection(field)} }}", {"i": given}
    (argument,) = id_arguments(field)
    more = ", first: 5" if "first" in field.args else ""
    return f"{operation}($id: {field.args[argument].type}) {{ {name}({argument}: $id{more}) {selection(field)} }}", {"id": one}


def without_trace(found: dict[str, Any]) -> dict[str, Any]:
    for error in found.get("errors", ()):
        error["extensions"].pop("traceId")
    return found


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
