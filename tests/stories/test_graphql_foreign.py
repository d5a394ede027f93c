"""Ids of somebody else and ids of nobody are answered byte for byte alike, in every field of the schema that takes one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
from graphql import GraphQLField, GraphQLInputObjectType, GraphQLObjectType, get_named_type, introspection_from_schema, is_leaf_type
from pydantic import SecretStr
from starlette.testclient import TestClient

from api import schema
from api.main import create_app
from api.nodes import global_id
from graphmem.answers import Ask, Memory, Remember, Remembered
from graphmem.app import Graphmem
from graphmem.memory import Provenance, SourceKind, Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from graphmem.settings import Settings
from tests.conftest import new_tenant
from tests.graph_view import ago

SECRET = "a-secret-of-thirty-two-bytes-and-more"
IDS = re.compile(r"(^id$|^rid$|mid$|caseId$|receiptId$)", re.IGNORECASE)
"""Names of arguments that point at something; sessions and turns are named by the caller, each user has their own."""

WRITTEN: dict[str, Any] = {
    "type": "DERIVED_FROM", "decision": "approve", "code": "123456", "signature": "QUJD", "value": "茶", "ifMatch": "v1-0",
    "key": "hobby", "text": "你好", "role": "user", "confirm": "all", "name": "x", "turns": [],
}  # fmt: skip
"""What else an input needs, or what makes it go as far as it can."""

SWORN = "seven-secret-words"
"""Stands in everything of the others: it may appear in no answer."""


# --- which fields take ids: from introspection


def taking_ids() -> dict[tuple[str, str], list[str]]:
    """(type, field) → arguments that take ids; those of an input object by their path."""
    whole: Any = introspection_from_schema(schema.whole())
    types: dict[str, Any] = {t["name"]: t for t in whole["__schema"]["types"]}

    def named(kind: dict[str, Any]) -> str:
        while kind["ofType"] is not None:
            kind = kind["ofType"]
        return str(kind["name"])

    def paths(args: list[dict[str, Any]], within: str = "", seen: frozenset[str] = frozenset()) -> Iterator[str]:
        for arg in args:
            inner = types[named(arg["type"])]
            if inner["kind"] == "INPUT_OBJECT" and inner["name"] not in seen:
                yield from paths(inner["inputFields"], f"{within}{arg['name']}.", seen | {inner["name"]})
            elif IDS.search(arg["name"]) and inner["kind"] == "SCALAR":
                yield within + arg["name"]

    fields = [(t["name"], f) for t in types.values() if not t["name"].startswith("__") for f in t.get("fields") or ()]
    found = {(kind, f["name"]): list(paths(f["args"])) for kind, f in fields}
    return {at: given for at, given in found.items() if given}


TAKING = taking_ids()
ROOTS = {"Query": "query", "Mutation": "mutation"}


def test_the_fields_that_take_ids_are_roots_and_all_of_them_are_known() -> None:
    assert {kind for kind, _ in TAKING} == set(ROOTS)
    assert {name: [p.rpartition(".")[2] for p in given] for (_, name), given in TAKING.items()} == {
        "node": ["id"], "memory": ["mid"], "why": ["mid"], "history": ["mid"], "related": ["mid"], "receipt": ["id"], "review": ["caseId"],
        "change": ["mid"], "confirm": ["mid"], "reject": ["mid"], "retract": ["mid"], "forget": ["mid"], "undelete": ["mid"],
        "relate": ["fromMid", "toMid"], "unrelate": ["rid"], "decideReview": ["caseId"],
        "startProof": ["mid"], "submitCode": ["caseId"], "submitTotp": ["caseId"], "submitApproval": ["caseId"],
    }  # fmt: skip


# --- what somebody else has


@dataclass(frozen=True)
class World:
    """A user, and ids of everything that others have: in the same tenant, and in another one under the same user id."""

    client: TestClient
    me: Scope
    own: str
    others: tuple[Scope, ...]
    theirs: tuple[str, ...]
    cases_elsewhere: tuple[str, ...]


def remembered(g: Graphmem, scope: Scope, key: str, value: str, days: float, **given: Any) -> Remembered:
    return g.remember(scope, Remember(key, value, said_at=ago(days=days), **given))


def memory(done: Remembered) -> Memory:
    assert done.memory is not None
    return done.memory


def filled(g: Graphmem, scope: Scope) -> tuple[list[str], list[str]]:
    """One of everything that has an id; all ids, and those of review cases."""
    here = Scope(scope.tenant, scope.user, rights=frozenset({"fresh_proof"}))
    hobby, other = (memory(remembered(g, here, "hobby", f"{SWORN} {n}", 9)).mid for n in range(2))
    forgotten = memory(remembered(g, here, "hobby", f"{SWORN} gone", 9)).mid
    g.forget(here, forgotten)
    relation = g.relate(here, RelationType.DERIVED_FROM, hobby, other)
    remembered(g, here, "birthday", "1990-05-02", 2)
    waits = remembered(g, here, "birthday", "1991-05-02", 1)
    assert waits.pending is not None and waits.pending.case is not None
    document = Provenance(SourceKind.DOCUMENT, "contract-9", verified_by="staff:1")
    phone = memory(remembered(g, here, "phone", "13800138000", 3, source=document)).mid
    proof = g.start_proof(here, phone)
    g.inject(here, Turn(f"你好。{SWORN}", session_id=f"s-{scope.user}", turn_id="t-1"))
    g.drain()
    receipt = g.recall(here, Ask("my hobby", session_id=f"s-{scope.user}", tier="L2")).receipt_id
    assert receipt is not None
    g.receipt(here, receipt)
    mids = [hobby, forgotten, waits.pending.memory.mid, phone]
    nodes = [global_id("memory", hobby), global_id("receipt", receipt), global_id("session", f"s-{scope.user}"), global_id("user", "other")]
    return [*mids, relation.rid, waits.pending.case, proof.case_id, receipt, *nodes], [waits.pending.case]


@pytest.fixture(scope="module")
def world(graphmem: Graphmem) -> Iterator[World]:
    me = Scope(new_tenant(), "user-1")
    others = (Scope(me.tenant, "other"), Scope(new_tenant(), "user-1"))
    theirs = [filled(graphmem, other) for other in others]
    own = memory(remembered(graphmem, me, "hobby", "围棋", 9)).mid
    settings = Settings(token_secret=SecretStr(SECRET))
    with TestClient(create_app(graphmem, settings)) as client:
        yield World(client, me, own, others, tuple(one for found, _ in theirs for one in found), tuple(theirs[1][1]))
    for tenant in {me.tenant, *(o.tenant for o in others)}:
        graphmem.neo4j.implicit("outbox_clear", {"tenant_id": tenant, "batch": 1000})


def asked(world: World, query: str, variables: dict[str, Any], *rights: str) -> str:
    """The answer as it goes over the wire, without the id of the request."""
    now = time.time()
    claims = {"exp": now + 60, "tenant": world.me.tenant, "user": world.me.user, "auth_time": now, "rights": list(rights)}
    headers = {"Authorization": f"Bearer {jwt.encode(claims, SECRET, 'HS256')}"}
    answer = world.client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
    assert answer.status_code == 200, answer.text
    return re.sub(r'"traceId": "[^"]*"', '"traceId": ""', answer.text)


def selection(field: GraphQLField) -> str:
    """Some of what the field answers: plain values, and the codes of what could be mended."""
    kind = get_named_type(field.type)
    if not isinstance(kind, GraphQLObjectType):
        return "{ id }"
    names = [name for name, f in kind.fields.items() if is_leaf_type(get_named_type(f.type)) and not f.args]
    if "userErrors" in kind.fields:
        names.append("userErrors { code path messageZh messageEn }")
    return "{ __typename " + " ".join(names) + " }"


def called(kind: str, name: str, path: str, one: str, own: str) -> tuple[str, dict[str, Any]]:
    """The request with the id at one of the places that take one; another place gets one of the user's own."""
    operation, root = ROOTS[kind], schema.whole().get_type(kind)
    assert isinstance(root, GraphQLObjectType)
    field = root.fields[name]
    if path.startswith("input."):
        inner = get_named_type(field.args["input"].type)
        assert isinstance(inner, GraphQLInputObjectType)
        given = {f: value for f, value in WRITTEN.items() if f in inner.fields}
        given |= {p.rpartition(".")[2]: one if p == path else own for p in TAKING[kind, name]}
        return f"{operation}($i: {inner.name}!) {{ {name}(input: $i) {selection(field)} }}", {"i": given}
    more = ", first: 5" if "first" in field.args else ""
    return f"{operation}($id: {field.args[path].type}) {{ {name}({path}: $id{more}) {selection(field)} }}", {"id": one}


def unlike(name: str) -> str:
    """An id of the same shape that nobody has."""
    return name[:-4] + ("0000" if name[-4:] != "0000" else "1111")


PLACES = sorted((kind, name, path) for (kind, name), given in TAKING.items() for path in given)


@pytest.mark.parametrize(("kind", "name", "path"), PLACES)
def test_an_id_of_somebody_else_is_answered_like_one_of_nobody(kind: str, name: str, path: str, world: World, graphmem: Graphmem) -> None:
    before = [graphmem.people.profile(other) for other in world.others]
    for theirs in world.theirs:
        there, nowhere = (asked(world, *called(kind, name, path, one, world.own)) for one in (theirs, unlike(theirs)))
        assert there == nowhere, theirs
        assert SWORN not in there and theirs not in there
    assert [graphmem.people.profile(other) for other in world.others] == before


@pytest.mark.parametrize(("kind", "name"), [("Query", "review"), ("Mutation", "decideReview")])
def test_a_reviewer_of_one_tenant_finds_no_case_of_another(kind: str, name: str, world: World) -> None:
    (path,) = TAKING[kind, name]
    for case in world.cases_elsewhere:
        there, nowhere = (asked(world, *called(kind, name, path, one, world.own), "review") for one in (case, unlike(case)))
        assert there == nowhere and "not_found" in there and case not in there


def test_a_session_of_somebody_else_is_one_of_nobody(world: World) -> None:
    query = """query($s: String!) { recall(input: {message: "重复第一点", sessionId: $s}) { tier shortTerm { text } turns { text } prompt }
      sessions(first: 5) { totalCount } }"""
    there, nowhere = (asked(world, query, {"s": name}) for name in ("s-other", "s-nobody"))
    assert there == nowhere and SWORN not in there
