"""Calls that schemathesis generates from both schemas, over the real store: answered or refused, never a fault of the service."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jwt
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.graphql import nodes
from starlette.testclient import TestClient

from api.main import create_app
from api.schema import make_schema
from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.scope import Scope
from graphmem.settings import Settings
from tests.conftest import new_tenant

DOCUMENT = Path(__file__).parents[2] / "api" / "openapi.json"
SECRET = "a-secret-of-thirty-two-bytes-and-more"
TIMES = ["2024-01-01T00:00:00Z", "2024-01-01", "x", "9999-12-31T23:59:59Z", ""]
schemathesis.graphql.scalar("DateTime", st.sampled_from(TIMES).map(nodes.String))
schemathesis.graphql.scalar("JSON", st.sampled_from(["x", ""]).map(nodes.String))
GRAPHQL: Any = schemathesis.graphql.from_file(make_schema().as_str()).as_strategy()
SHORT = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
LONG = settings(SHORT, max_examples=1_500)
MASKED = {"internal", "error", "configuration", "bad_pack", "bad_query_file", "unavailable", "overloaded"}


Case = schemathesis.Case[Any]


def rest() -> st.SearchStrategy[Case]:
    """One call of any operation of the document, that fits it or that does not."""
    document = schemathesis.openapi.from_path(str(DOCUMENT))
    every: list[Any] = [found.ok() for found in document.get_all_operations() if isinstance(found, Ok)]
    return st.one_of(*(op.as_strategy(mode) for op in every for mode in GenerationMode if op.path.startswith("/v1/")))


@dataclass(frozen=True)
class Door:
    """The service, somebody in it, and what was answered how often."""

    client: TestClient
    tenant: str
    mids: tuple[str, ...]
    seen: Counter[int]

    def headers(self, url: str) -> dict[str, str]:
        """The key of the tenant where the path names the user, else a token with every right."""
        now = time.time()
        claims = {"exp": now + 60, "tenant": self.tenant, "user": "ann", "auth_time": now, "rights": ["review", "cohort"]}
        bearer = "k" if "/v1/users/" in url else jwt.encode(claims, SECRET, "HS256")
        return {"Authorization": f"Bearer {bearer}"}


@pytest.fixture(scope="module")
def door(graphmem: Graphmem) -> Iterator[Door]:
    tenant = new_tenant()
    scope = Scope(tenant, "ann")
    done = [graphmem.remember(scope, Remember("hobby", value)) for value in ("chess", "围棋", "茶")]
    graphmem.drain()
    app = create_app(graphmem, Settings(token_secret=SecretStr(SECRET), rate_user="", rate_tenant=""), keys={"k": tenant})
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Door(client, tenant, tuple(d.memory.mid for d in done if d.memory is not None), Counter())
    graphmem.neo4j.implicit("outbox_clear", {"tenant_id": tenant, "batch": 1000})


def small(request: str) -> str:
    """The request with pages that are allowed: the others are refused before anything runs, which would try nothing."""
    return re.sub(r"depth: -?\d+", "depth: 2", re.sub(r"first: -?\d+", "first: 3", request))


def graphql_call(door: Door, case: Case, reached: bool) -> None:
    """reached: pages are allowed and ids are the user's own."""
    request = str(case.body)
    if reached:
        request = small(re.sub(r'(mid|Mid): "(?:[^"\\]|\\.)*"', rf'\1: "{door.mids[0]}"', request))
    sent = {"query": request.encode("utf-8", "replace").decode()}
    answer = door.client.post("/graphql", json=sent, headers=door.headers("/graphql"))
    assert answer.status_code in (200, 400, 422), (answer.text, request)
    codes = {e["extensions"]["code"] for e in answer.json().get("errors", ()) if "extensions" in e}
    assert not codes & MASKED, (codes, request)
    door.seen[answer.status_code] += 1


def rest_call(door: Door, case: Case, reached: bool) -> None:
    """reached: user and memory of the path are there."""
    sent = case.as_transport_kwargs(base_url="http://service")
    url = str(sent["url"]).removeprefix("http://service")
    if reached:
        url = re.sub(r"^/v1/users/[^/]*", "/v1/users/ann", url)
        url = re.sub(r"(/memories/)[^/:]*", lambda m: m[1] + quote(door.mids[-1]), url)
    given_ = {k: v for k, v in (sent.get("headers") or {}).items() if k.lower() not in ("authorization", "host", "content-length")}
    headers = {k: v for k, v in {**given_, **door.headers(url)}.items() if v.isascii() and v.isprintable()}
    body = {"content" if name == "data" else name: sent[name] for name in ("json", "data") if sent.get(name) is not None}
    answer = door.client.request(str(sent["method"]), url, params=sent.get("params") or None, headers=headers, **body)
    assert answer.status_code < 500, (answer.status_code, answer.text, sent)
    door.seen[answer.status_code] += 1


def tried(door: Door, calls: Any, call: Callable[[Door, Case, bool], None], amount: settings) -> Counter[int]:
    """How the calls were answered; each of them was, and was no fault."""

    @amount
    @given(case=calls, reached=st.booleans())
    def every(case: Case, reached: bool) -> None:
        call(door, case, reached)

    door.seen.clear()
    every()
    return door.seen


def test_no_generated_graphql_request_is_a_fault(door: Door) -> None:
    seen = tried(door, GRAPHQL, graphql_call, SHORT)
    assert seen.total() >= SHORT.max_examples and seen[200] >= seen.total() / 3, seen


def test_no_generated_rest_request_is_a_fault(door: Door) -> None:
    seen = tried(door, rest(), rest_call, SHORT)
    assert seen.total() >= SHORT.max_examples and seen[200] + seen[201] >= seen.total() / 20, seen


@pytest.mark.long
def test_none_of_1500_generated_graphql_requests_is_a_fault(door: Door) -> None:
    assert tried(door, GRAPHQL, graphql_call, LONG).total() >= LONG.max_examples


@pytest.mark.long
def test_none_of_1500_generated_rest_requests_is_a_fault(door: Door) -> None:
    assert tried(door, rest(), rest_call, LONG).total() >= LONG.max_examples
