"""GraphQL's door: limits before anything runs, masked errors, the schema's snapshot, inputs in the words of api.md. Over the stub."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jwt
import pytest
from fastapi import FastAPI
from graphql import (
    GraphQLInputObjectType,
    GraphQLObjectType,
    build_schema,
    get_introspection_query,
    get_named_type,
)
from graphql.utilities import find_breaking_changes
from starlette.testclient import TestClient

from api.cost import ALIASES, DEPTH, FIELDS, NODES, PAIRS, TOKENS
from api.errors import TABLE
from api.graphql import prepared
from api.live import LIVE_USER
from api.main import create_app
from api.schema import core, make_schema
from api.service import STATIC
from api.words_zh import SAID
from graphmem.answers import Remember
from graphmem.errors import ConflictError, GraphmemError, NotFoundError, UnavailableError
from graphmem.memory import Turn
from graphmem.settings import Settings
from tests.api.conftest import KEYS, SECRET
from tests.api.stub import MEMORY, StubGraphmem

SNAPSHOT = Path(__file__).parents[2] / "api" / "schema.graphql"
ALICE = {"X-Graphmem-User": "alice"}


def ask(client: TestClient, query: str, variables: dict[str, Any] | None = None, user: str = "alice") -> dict[str, Any]:
    answer = client.post("/graphql", json={"query": query, "variables": variables}, headers={"X-Graphmem-User": user})
    assert answer.status_code in (200, 400), answer.text
    found: dict[str, Any] = answer.json()
    return found


# --- the schema


def test_the_committed_schema_is_what_is_served() -> None:
    assert make_schema().as_str() + "\n" == SNAPSHOT.read_text(encoding="utf-8")


def test_a_breaking_change_of_the_schema_is_red() -> None:
    committed = SNAPSHOT.read_text(encoding="utf-8")
    served = core(make_schema())
    assert find_breaking_changes(build_schema(committed), served) == []
    older = committed.replace("  ownerDomain: String!\n", "  ownerDomain: String!\n  ownerName: String\n")
    assert "ownerName was removed" in find_breaking_changes(build_schema(older), served)[0].description


def test_every_list_of_memories_takes_its_size() -> None:
    schema = core(make_schema())
    for name in ("memories", "timeline", "history", "search", "related", "cohort", "reviewQueue", "sessions"):
        assert schema.query_type is not None and str(schema.query_type.fields[name].args["first"].type) == "Int!"
    memory = schema.get_type("FactMemory")
    assert isinstance(memory, GraphQLObjectType)
    assert all(str(memory.fields[name].args["first"].type) == "Int!" for name in ("sources", "relations", "receipts"))


def test_the_schema_has_every_field_that_was_promised() -> None:
    schema = core(make_schema())
    roots = [root.fields for root in (schema.query_type, schema.mutation_type, schema.subscription_type) if root is not None]
    assert set(roots[0]) >= {
        "node", "user", "memories", "timeline", "latest", "recall", "receipt", "related", "cohort", "reviewQueue", "sessions",
        "health", "why",
    }  # fmt: skip
    assert set(roots[1]) >= {
        "injectTurn", "remember", "confirm", "reject", "decideReview", "retract", "forget", "relate", "undelete", "change", "startProof",
    }  # fmt: skip
    assert list(roots[2]) == ["memoryChanged"] and {"asOf", "knownAt", "orderBy", "where", "after"} <= set(roots[0]["memories"].args)


@pytest.mark.parametrize("name", ["confirm", "reject", "retract", "forget", "decideReview", "relate", "remember"])
def test_a_write_about_a_memory_takes_a_version_that_is_expected_and_a_key(name: str) -> None:
    schema = core(make_schema())
    assert schema.mutation_type is not None
    field = schema.mutation_type.fields[name]
    taken, told = get_named_type(field.args["input"].type), get_named_type(field.type)
    assert isinstance(taken, GraphQLInputObjectType) and isinstance(told, GraphQLObjectType) and list(field.args) == ["input"]
    assert {"expectedVersion", "idempotencyKey"} <= set(taken.fields)
    errors = get_named_type(told.fields["userErrors"].type)
    assert isinstance(errors, GraphQLObjectType) and list(errors.fields) == ["code", "path", "messageZh", "messageEn"]


# --- who asks


def test_nobody_without_a_credential(nobody: TestClient) -> None:
    answer = nobody.post("/graphql", json={"query": "{ health { ready } }"}, headers=ALICE)
    assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"


def test_an_api_key_names_its_user_in_the_header_percent_encoded(client: TestClient, stub: StubGraphmem) -> None:
    ask(client, '{ search(q: "茶", first: 3) { revision } }', user="%E5%B0%8F%E6%9D%8E")
    assert [(s.tenant, s.user, s.principal.split(":")[0]) for _, s, _ in stub.asked] == [("acme", "小李", "service")]


def test_an_api_key_that_names_no_user_reads_no_user(client: TestClient, stub: StubGraphmem) -> None:
    answer = client.post("/graphql", json={"query": '{ search(q: "茶", first: 3) { revision } health { ready } }'}).json()
    assert answer["errors"][0]["extensions"]["code"] == "forbidden" and answer["data"] == {"search": None, "health": {"ready": True}}
    assert stub.asked == []


def test_a_token_is_for_its_own_user_whatever_the_header_says(nobody: TestClient, stub: StubGraphmem) -> None:
    claims = {"exp": time.time() + 60, "tenant": "acme", "user": "bob"}
    bearer = {"Authorization": f"Bearer {jwt.encode(claims, SECRET, 'HS256')}"}
    query = {"query": '{ search(q: "茶", first: 3) { revision } }'}
    assert nobody.post("/graphql", json=query, headers=bearer).status_code == 200
    assert nobody.post("/graphql", json=query, headers={**bearer, **ALICE}).status_code == 403
    assert [s.user for _, s, _ in stub.asked] == ["bob"]


@pytest.mark.parametrize("user", ["", "%00", "a" * 257, "%FF"])
def test_a_header_that_is_no_user_id_is_refused(user: str, client: TestClient, stub: StubGraphmem) -> None:
    answer = client.post("/graphql", json={"query": "{ health { ready } }"}, headers={"X-Graphmem-User": user})
    assert answer.status_code == 422 and stub.asked == []


def test_answers_are_kept_by_no_cache(client: TestClient) -> None:
    assert client.post("/graphql", json={"query": "{ health { ready } }"}, headers=ALICE).headers["cache-control"] == "no-store"


def test_graphql_is_no_part_of_the_rest_document(client: TestClient) -> None:
    assert "/graphql" not in client.get("/openapi.json").json()["paths"]


# --- errors


def test_a_fault_is_masked_and_named_by_its_trace(client: TestClient, stub: StubGraphmem, caplog: pytest.LogCaptureFixture) -> None:
    stub.fault = RuntimeError("bolt://secret-host and 青霉素")
    answer = client.post("/graphql", json={"query": '{ search(q: "茶", first: 3) { revision } }'}, headers=ALICE)
    (error,) = answer.json()["errors"]
    assert error["message"] == "Unexpected error" and error["extensions"]["code"] == "internal" and error["path"] == ["search"]
    assert error["extensions"]["traceId"] == answer.headers["x-request-id"]
    assert "secret-host" not in answer.text + caplog.text and "青霉素" not in answer.text + caplog.text


def test_a_deliberate_error_keeps_its_code_and_its_hint(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = UnavailableError("Neo4j does not answer", store="neo4j")
    (error,) = ask(client, '{ search(q: "茶", first: 3) { revision } }')["errors"]
    assert (error["message"], error["extensions"]["code"], error["extensions"]["status"]) == ("Neo4j does not answer", "unavailable", 503)


@pytest.mark.parametrize(
    "query",
    [
        "{ memorie(first: 1) { totalCount } }",
        "{ memories(frist: 1, first: 1) { totalCount } }",
        "{ memories(first: 1, status: ACTIV) { totalCount } }",
        "query($w: MemoryWher) { memories(first: 1, where: $w) { totalCount } }",
        "query($w: MemoryWhere = {kye: {eq: 1}}) { memories(first: 1, where: $w) { totalCount } }",
    ],
)
def test_no_name_is_suggested_in_production(query: str, client: TestClient) -> None:
    assert "did you mean" not in str(ask(client, query)).lower()


def test_a_variable_is_told_no_name_either(client: TestClient) -> None:
    query = "query($w: MemoryWhere) { memories(first: 1, where: $w) { totalCount } }"
    found = ask(client, query, {"w": {"kye": {"eq": "x"}}})
    assert found["errors"] and "did you mean" not in str(found).lower()


@pytest.fixture
def developing(stub: StubGraphmem) -> Iterator[TestClient]:
    settings = Settings(zone="Asia/Shanghai", graphql_introspection=True)
    app: FastAPI = create_app(cast(Any, stub), settings, keys=KEYS)
    with TestClient(app, headers={"Authorization": "Bearer key-of-acme"}) as client:
        yield client


def test_development_may_ask_for_the_schema_and_is_told_names(developing: TestClient) -> None:
    found = ask(developing, "{ __schema { queryType { fields { name type { name ofType { name ofType { name } } } } } } }")
    assert "data" in ask(developing, get_introspection_query())
    assert {"name": "memories", "type": {"name": "MemoryConnection", "ofType": None}} in found["data"]["__schema"]["queryType"]["fields"]
    assert "Did you mean" in ask(developing, "{ memorie(first: 1) { totalCount } }")["errors"][0]["message"]


# --- reads and writes in the words of api.md


def test_a_memory_is_told_in_the_words_of_the_contract(client: TestClient) -> None:
    found = ask(
        client, '{ latest(key: "coffee_preference") { items(first: 5) { __typename id mid kind value validFrom label { zh } metadata } } }'
    )
    (item,) = found["data"]["latest"]["items"]
    assert item.pop("id") and item == {
        "__typename": "PreferenceMemory", "mid": "m-1", "kind": "PREFERENCE", "value": "燕麦拿铁",
        "validFrom": "2024-07-15T02:00:00.000+00:00", "label": {"zh": "咖啡口味"}, "metadata": {},
    }  # fmt: skip


def test_a_node_is_found_again_by_its_id_and_an_unknown_one_is_null(client: TestClient) -> None:
    node = ask(client, '{ latest(key: "k") { items(first: 1) { id } } }')["data"]["latest"]["items"][0]["id"]
    query = "query($id: ID!) { node(id: $id) { id ... on Memory { mid } } }"
    assert ask(client, query, {"id": node})["data"]["node"] == {"id": node, "mid": MEMORY.mid}
    for unknown in ("", "%%%", "bWVtb3J5Om0tOQ", "c2xvdDptLTE", "m-1"):
        assert ask(client, query, {"id": unknown}) == {"data": {"node": None}}


def test_a_turn_is_heard_with_its_key(client: TestClient, stub: StubGraphmem) -> None:
    query = (
        "mutation($i: InjectTurnInput!) { injectTurn(input: $i) "
        "{ turn { turnId stored { verdict memory { mid } } notStored { reason span } } userErrors { code } } }"
    )
    sent = {"text": "改喝燕麦拿铁了", "role": "user", "at": "2024-07-15T10:00:00", "idempotencyKey": "k-1", "environment": {"city": "上海"}}
    done = ask(client, query, {"i": sent})["data"]["injectTurn"]
    assert done["userErrors"] == [] and done["turn"]["stored"] == [{"verdict": "SUPERSEDE", "memory": {"mid": "m-1"}}]
    assert done["turn"]["notStored"] == [{"reason": "QUESTION", "span": [0, 4]}]
    ((_, _, what),) = stub.asked
    turn, key = cast(tuple[Turn, str], what)
    assert (turn.text, key, turn.zone, turn.environment and turn.environment.city) == (sent["text"], "k-1", "Asia/Shanghai", "上海")
    assert turn.at is not None and turn.at.isoformat() == "2024-07-15T02:00:00+00:00"


def test_a_statement_carries_its_expected_version_and_null_is_an_end(client: TestClient, stub: StubGraphmem) -> None:
    query = (
        "mutation($i: RememberInput!) { remember(input: $i) "
        "{ done { verdict memory { mid } } userErrors { code path messageZh messageEn } } }"
    )
    ask(client, query, {"i": {"key": "diet", "value": None, "expectedVersion": 3, "source": {"kind": "DOCUMENT", "ref": "form-7"}}})
    said = cast(tuple[Remember, str | None], stub.asked[0][2])[0]
    assert (said.value, said.expected_version, said.source and said.source.ref) == (None, 3, "form-7")
    (error,) = ask(client, query, {"i": {"key": "diet"}})["data"]["remember"]["userErrors"]
    assert (error["code"], error["path"]) == ("missing", "value") and error["messageZh"] and error["messageEn"]


def test_what_the_caller_can_mend_is_told_in_both_languages(client: TestClient, stub: StubGraphmem) -> None:
    query = 'mutation { forget(input: {mid: "m-1", ifMatch: "v1-1"}) { forgottenMid userErrors { code path messageZh messageEn } } }'
    stub.fault = ConflictError("it has version 2 by now", code="version_conflict")
    assert ask(client, query) == {
        "data": {
            "forget": {
                "forgottenMid": None,
                "userErrors": [
                    {
                        "code": "version_conflict",
                        "path": None,
                        "messageZh": SAID["version_conflict"],
                        "messageEn": "it has version 2 by now",
                    }
                ],
            }
        }
    }
    stub.fault = NotFoundError("no memory of that id")
    assert ask(client, query)["data"]["forget"]["userErrors"][0]["code"] == "not_found"
    stub.fault = None
    assert ask(client, query)["data"]["forget"] == {"forgottenMid": "m-1", "userErrors": []}


def test_every_path_of_a_user_error_is_a_field_of_the_input(client: TestClient) -> None:
    query = "mutation($i: RememberInput!) { remember(input: $i) { userErrors { code path } } }"
    sent = {"key": "diet", "value": "素食", "validFrom": "2024-02-02T00:00:00Z", "validTo": "2024-01-01T00:00:00Z"}
    assert ask(client, query, {"i": sent})["data"]["remember"]["userErrors"] == [{"code": "bad_time", "path": "validTo"}]


@pytest.mark.parametrize("code", [code for code, row in TABLE.items() if row.status not in (400, 500)])
def test_one_table_gives_rest_and_graphql_the_same_code_and_status(code: str, client: TestClient, stub: StubGraphmem) -> None:
    kind = UnavailableError("later", store="neo4j", code=code) if TABLE[code].status == 503 else GraphmemError("told as it is", code=code)
    stub.fault = kind
    rest = client.get("/v1/users/alice/latest/diet")
    (error,) = ask(client, '{ search(q: "茶", first: 3) { revision } }')["errors"]
    told = rest.json()
    assert (rest.status_code, told["code"], told["detail"], told["hint"]) == (
        error["extensions"]["status"], error["extensions"]["code"], error["message"], error["extensions"]["hint"],
    )  # fmt: skip
    assert (told["code"], rest.status_code) == (code, TABLE[code].status) and error["extensions"]["messageZh"] == SAID[code]
    query = 'mutation { forget(input: {mid: "m-1"}) { userErrors { code messageZh } } }'
    done = ask(client, query)
    if TABLE[code].status < 500:
        assert done["data"]["forget"]["userErrors"] == [{"code": code, "messageZh": SAID[code]}]
    else:
        assert done["errors"][0]["extensions"]["code"] == code


def test_every_code_is_said_in_chinese() -> None:
    assert set(SAID) == set(TABLE) and all(any("\u4e00" <= c <= "\u9fff" for c in said) for said in SAID.values())


@pytest.mark.parametrize("text", ["\ud800", "\u0000", "\u202e茶"])
def test_odd_text_is_answered_and_never_a_fault(text: str, client: TestClient) -> None:
    query = "mutation($m: String!) { forget(input: {mid: $m}) { forgottenMid } }"
    answer = client.post(
        "/graphql", content=json.dumps({"query": query, "variables": {"m": text}}), headers={**ALICE, "Content-Type": "application/json"}
    )
    assert answer.status_code == 200 and "errors" not in answer.json()


def test_a_where_of_more_than_a_hundred_comparisons_is_refused(client: TestClient, stub: StubGraphmem) -> None:
    query = "query($w: MemoryWhere) { memories(first: 1, where: $w) { totalCount } }"
    (error,) = ask(client, query, {"w": {"OR": [{"key": {"in": ["a"] * 60}}, {"NOT": {"value": {"in": ["b"] * 60}}}]}})["errors"]
    assert error["extensions"]["code"] == "invalid_input" and "100" in error["message"] and stub.asked == []


@pytest.mark.parametrize("name", ["graphql.md", "graphql.zh-CN.md"])
def test_the_requests_of_the_guide_are_within_the_limits(name: str) -> None:
    text = (SNAPSHOT.parents[1] / "docs" / "how-to" / name).read_text(encoding="utf-8")
    query, subscription = re.findall(r"```graphql\n(.*?)```", text, re.DOTALL)
    assert prepared(core(make_schema()), query, {}, None, False).definitions
    assert prepared(core(make_schema()), subscription, {}, None, False, live=True).definitions


@pytest.mark.parametrize("name", ["graphql.md", "graphql.zh-CN.md"])
def test_the_guide_names_every_field_and_every_limit(name: str) -> None:
    text = (SNAPSHOT.parents[1] / "docs" / "how-to" / name).read_text(encoding="utf-8")
    schema = core(make_schema())
    for root in (schema.query_type, schema.mutation_type, schema.subscription_type):
        assert root is not None and [field for field in root.fields if f"`{field}`" not in text and f"{field}(" not in text] == []
    limits = (DEPTH, ALIASES, FIELDS, f"{TOKENS:,}", f"{PAIRS:,}", f"{NODES:,}", LIVE_USER)
    assert [limit for limit in limits if not re.search(rf"(?<!\d){limit}(?!\d)", text)] == []


# --- the page


def test_the_page_is_there_for_development_only_and_asks_no_outside_host(developing: TestClient, client: TestClient) -> None:
    assert client.get("/graphiql").status_code == 404
    page = developing.get("/graphiql")
    asked = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert page.status_code == 200 and len(asked) == 6 and "://" not in page.text
    assert [address for address in asked if not address.startswith("static/graphiql/")] == []
    assert [address for address in asked if developing.get(f"/{address}").status_code != 200] == []
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "://" not in policy and "*" not in policy


def test_the_page_keeps_no_credential_in_the_browser() -> None:
    script = (STATIC / "graphiql" / "page.js").read_text(encoding="utf-8")
    assert "shouldPersistHeaders: false" in script and "://" not in script
    (query,) = re.findall(r"defaultQuery = `(.*?)`", script, re.DOTALL)
    assert prepared(core(make_schema()), query, {}, None, False).definitions


def test_the_page_s_files_are_what_was_vendored() -> None:
    folder = STATIC / "graphiql"
    rows = re.findall(r"\| `([^`]+)` \| `([0-9a-f]{64})` \|", (folder / "VENDOR.md").read_text(encoding="utf-8"))
    assert {name for name, _ in rows} == {p.name for p in folder.iterdir()} - {"VENDOR.md", "page.html", "page.css", "page.js"}
    for name, digest in rows:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
