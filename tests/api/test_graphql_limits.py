"""GraphQL's limits: what is too much is refused before any resolver runs. Over the stub."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest
from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema
from starlette.testclient import TestClient

from api.auth import Credential
from api.cost import ALIASES, DEPTH, FIELDS, NODES, PAIRS, TOKENS
from api.graphql import Refused, prepared, run
from api.loading import Context
from api.schema import core, make_schema
from tests.api.stub import StubGraphmem
from tests.api.test_graphql import ALICE, ask


@pytest.fixture
def counted() -> tuple[GraphQLSchema, list[str]]:
    """The schema with every resolver counted."""
    schema, ran = core(make_schema()), list[str]()
    for kind in list(schema.type_map.values()):
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) and not kind.name.startswith("__"):
            for name, one in kind.fields.items():
                inner = one.resolve

                def resolve(source: Any, info: Any, *, inner: Any = inner, name: str = name, **given: Any) -> Any:
                    ran.append(name)
                    return inner(source, info, **given) if inner is not None else getattr(source, name)

                one.resolve = resolve
    return schema, ran


BOMB = "query { ...f0 } " + " ".join(f"fragment f{i} on Query {{ ...f{i + 1} ...f{i + 1} }}" for i in range(60))
BOMB += ' fragment f60 on Query { a: latest(key: "k") { revision } }'
STEP = "relations(first: 1) {{ memory {{ {} }} }}"
DEEP = f"memories(first: 1) {{ edges {{ node {{ {STEP.format(STEP.format('relations(first: 1) { rid }'))} }} }} }}"
CIRCLE = "relations(first: 1) { memory { "
ATTACKS = {
    "3,000 aliases": ("{" + " ".join(f'a{i}: search(q: "茶", first: 1) {{ revision }}' for i in range(3000)) + "}", "token"),
    "16 aliases": ("{" + " ".join(f'a{i}: search(q: "茶", first: 1) {{ revision }}' for i in range(16)) + "}", "aliases"),
    "16 aliases of a mutation": (
        "mutation {" + " ".join(f'a{i}: forget(input: {{mid: "m-{i}"}}) {{ forgottenMid }}' for i in range(16)) + "}",
        "aliases",
    ),
    "aliases hidden in fragments": (BOMB, "number of fields"),
    "too deep": ("{" + DEEP + "}", "depth"),
    "too deep through fragments": (
        "{ ...a } fragment a on Query { memories(first: 1) { edges { node { ...b } } } } "
        "fragment b on Memory { relations(first: 1) { memory { relations(first: 1) { memory { relations(first: 1) { rid } } } } } }",
        "depth",
    ),
    "a fragment of itself": ("{ ...a } fragment a on Query { health { ready } ...a }", "holds itself"),
    "a ring of fragments": (
        "{ ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a }",
        "holds itself",
    ),
    "a ring that nothing uses": ("{ health { ready } } fragment a on Query { ...b } fragment b on Query { ...a }", "holds itself"),
    "a first above the cap": ("{ memories(first: 1000000) { totalCount } }", "between 1 and 100"),
    "a first of nothing": ("{ memories(first: 0) { totalCount } }", "between 1 and 100"),
    "no first": ("{ memories { totalCount } }", "`memories` needs the argument `first`"),
    "no first inside": ("{ memories(first: 1) { nodes { sources { quote } } } }", "`sources` needs the argument `first`"),
    "more nodes than the budget": ("{ memories(first: 100) { nodes { sources(first: 100) { quote } } } }", "number of nodes"),
    "introspection": ("{ __schema { types { name } } }", "introspection"),
    "introspection of a type": ('{ __type(name: "Query") { name } }', "introspection"),
    "a suggestion": ("{ memorie(first: 1) { totalCount } }", "Cannot query field"),
    "braces without end": ("{" * 900 + "}" * 900, ""),
    "a filter without end": (
        "{ memories(first: 1, where: " + "{NOT: " * 300 + "{}" + "}" * 300 + ") { totalCount } }",
        "nested too deeply",
    ),
    "a walk in a circle": (
        "{ memories(first: 1) { nodes { " + "relations(first: 1) { memory { " * 4 + "mid" + " } } " * 4 + " } } }",
        "depth",
    ),
    "one directive many times": ("{ health " + "@skip(if: false) " * 250 + "{ ready } }", "can only be used once"),
    "a directive of nobody many times": ("{ health " + "@deny " * 900 + "{ ready } }", "unknown directive"),
    "one field many times": ("{" + " health { ready }" * 480 + "}", "number of fields"),
    "one value many times": ("{ health {" + " ready" * 1900 + "} }", "number of fields"),
    "many fields under one name": (
        "{" + " ".join(f'search(q: "{i}", first: 1) {{ revision }}' for i in range(150)) + "}",
        "under one name",
    ),
    "many fragments beside each other": (
        "{"
        + "".join(f"...f{i} " for i in range(90))
        + "} "
        + " ".join(f"fragment f{i} on Query {{ health {{ ready }} }}" for i in range(90)),
        "under one name",
    ),
    "a chain of fragments used at each link": (
        "{"
        + "".join(f"...f{i} " for i in range(40))
        + "} "
        + " ".join(f"fragment f{i} on Query {{ ...f{i + 1} }}" for i in range(39))
        + " fragment f39 on Query { health { ready } }",
        "number of fields",
    ),
    "a schema asked for through a bomb": (
        "{ __schema { ...f0 } } "
        + " ".join(f"fragment f{i} on __Schema {{ ...f{i + 1} ...f{i + 1} }}" for i in range(60))
        + " fragment f60 on __Schema { description }",
        "number of fields",
    ),
    "a batch of turns that answers too much": (
        "mutation { injectTurns(input: {turns: [" + '{text: "a", role: "user"} ' * 60 + "]}) "
        "{ items { turn { stored { memory { relations(first: 20) { rid } } } } } } }",
        "number of nodes",
    ),
    "a subscription by POST": ("subscription { memoryChanged { mid } }", "web socket"),
    "a subscription beside a query": ("query q { health { ready } } subscription s { memoryChanged { mid } }", "web socket"),
}


def context(stub: StubGraphmem) -> Context:
    return Context(cast(Any, stub), Credential("acme", "service:1"), "alice", "Asia/Shanghai", 1000)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_before_any_resolver_runs(name: str, counted: tuple[GraphQLSchema, list[str]], stub: StubGraphmem) -> None:
    schema, ran = counted
    query, said = ATTACKS[name]
    began = time.perf_counter()
    with pytest.raises(Refused) as refused:
        run(schema, prepared(schema, query, {}, None, False), context(stub))
    assert (ran, stub.asked) == ([], []) and time.perf_counter() - began < 2
    told = " ".join(e.message for e in refused.value.errors)
    assert said.lower() in told.lower() and "did you mean" not in told.lower()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_over_http_is_a_400_that_asks_the_store_nothing(name: str, client: TestClient, stub: StubGraphmem) -> None:
    """[gql-01] unbounded lists, [gql-02] thousands of aliases, and more of their kind."""
    answer = client.post("/graphql", json={"query": ATTACKS[name][0]}, headers=ALICE)
    assert answer.status_code == 400 and "data" not in answer.json() and stub.asked == []
    assert answer.json()["errors"][0]["extensions"]["code"] == "invalid_query"


def test_the_counter_counts_what_is_allowed(counted: tuple[GraphQLSchema, list[str]], stub: StubGraphmem) -> None:
    schema, ran = counted
    query = "{" + " ".join(f'a{i}: search(q: "茶", first: 1) {{ revision }}' for i in range(5)) + "}"
    found = run(schema, prepared(schema, query, {}, None, False), context(stub))
    assert found.errors is None and ran.count("search") == 5 and len(stub.asked) == 5


def test_a_batch_is_refused(client: TestClient, stub: StubGraphmem) -> None:
    answer = client.post("/graphql", json=[{"query": '{ search(q: "茶", first: 1) { revision } }'}] * 2, headers=ALICE)
    assert answer.status_code == 422 and stub.asked == []


def test_queries_are_not_taken_from_an_address(client: TestClient) -> None:
    assert client.get("/graphql", params={"query": "{ health { ready } }"}, headers=ALICE).status_code == 405


def test_a_page_size_in_a_variable_counts_like_one_in_the_text(client: TestClient) -> None:
    query = "query($n: Int!, $m: Int! = 100) { memories(first: $n) { nodes { sources(first: $m) { quote } } } }"
    assert "number of nodes" in ask(client, query, {"n": 100})["errors"][0]["message"]
    assert "between 1 and 100" in ask(client, query, {"n": 101, "m": 1})["errors"][0]["message"]
    assert "between 1 and 100" in ask(client, "{ memories(first: true) { totalCount } }")["errors"][0]["message"]


def test_a_where_nested_without_end_is_refused(client: TestClient, stub: StubGraphmem) -> None:
    where: dict[str, Any] = {"key": {"eq": "hobby"}}
    for _ in range(200):
        where = {"NOT": where}
    query = "query($w: MemoryWhere) { memories(first: 1, where: $w) { totalCount } }"
    assert "levels" in ask(client, query, {"w": where})["errors"][0]["message"] and stub.asked == []


def test_the_limits_are_those_that_are_documented() -> None:
    assert (TOKENS, DEPTH, ALIASES, FIELDS, PAIRS, NODES) == (2000, 8, 15, 400, 2000, 5000)
