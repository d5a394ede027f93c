"""Generated requests over the real store: answered or refused, never a fault of the service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import hypothesis_graphql
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import nodes
from starlette.testclient import TestClient

from api.main import create_app
from api.schema import make_schema
from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.scope import Scope
from tests.conftest import new_tenant

TIMES = ["2024-01-01T00:00:00Z", "2024-01-01", "x", "9999-12-31T23:59:59Z", ""]
REQUESTS: Any = hypothesis_graphql.from_schema(
    make_schema().as_str(),
    custom_scalars={"DateTime": st.sampled_from(TIMES).map(nodes.String), "JSON": st.sampled_from(["x", ""]).map(nodes.String)},
)
ANY = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
MASKED = {"internal", "error", "configuration", "unavailable", "overloaded"}


@pytest.fixture(scope="module")
def client(graphmem: Graphmem) -> Iterator[TestClient]:
    """A user with two memories, in a tenant of its own."""
    scope = Scope(new_tenant(), "ann")
    for value in ("chess", "围棋"):
        graphmem.remember(scope, Remember("hobby", value))
    graphmem.drain()
    headers = {"Authorization": "Bearer k", "X-Graphmem-User": "ann", "Content-Type": "application/json"}
    with TestClient(create_app(graphmem, keys={"k": scope.tenant}), headers=headers) as client:
        yield client


def small(request: str) -> str:
    """The request with pages that are allowed: the others are refused before anything runs, which would try nothing."""
    return re.sub(r"depth: -?\d+", "depth: 2", re.sub(r"first: -?\d+", "first: 3", request))


def answered(client: TestClient, request: str) -> int:
    answer = client.post("/graphql", content=json.dumps({"query": request}).encode("utf-8", "replace"))
    assert answer.status_code in (200, 400, 422), answer.text
    codes = {e["extensions"]["code"] for e in answer.json().get("errors", ()) if "extensions" in e}
    assert not codes & MASKED, (codes, request)
    return answer.status_code


@ANY
@given(request=REQUESTS)
def test_no_generated_request_is_a_fault(client: TestClient, request: str) -> None:
    answered(client, small(request))


@pytest.mark.long
@settings(ANY, max_examples=2000)
@given(request=REQUESTS)
def test_none_of_two_thousand_generated_requests_is_a_fault(client: TestClient, request: str) -> None:
    answered(client, request)
    answered(client, small(request))
