"""A client of the GraphQL door over the real store, for the stories told through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from api.main import create_app
from graphmem.answers import Memory, Remember
from graphmem.app import Graphmem
from graphmem.scope import Scope
from tests.graph_view import ago

KEY = "key-of-this-test"


@contextmanager
def opened(graphmem: Graphmem, scope: Scope) -> Iterator[TestClient]:
    """The service with the key of the scope's tenant."""
    app = create_app(graphmem, keys={KEY: scope.tenant})
    with TestClient(app, headers={"Authorization": f"Bearer {KEY}"}) as client:
        yield client


def ask(client: TestClient, query: str, variables: dict[str, Any] | None = None, user: str = "user-1") -> dict[str, Any]:
    """The whole answer: `data` and `errors`."""
    answer = client.post("/graphql", json={"query": query, "variables": variables}, headers={"X-Graphmem-User": quote(user)})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def data(client: TestClient, query: str, variables: dict[str, Any] | None = None, user: str = "user-1") -> dict[str, Any]:
    """The data of an answer without errors."""
    found = ask(client, query, variables, user)
    assert "errors" not in found, found["errors"]
    told: dict[str, Any] = found["data"]
    return told


def held(g: Graphmem, scope: Scope, key: str, value: str, days: float = 9, **given: Any) -> Memory:
    """A memory, stated some days ago."""
    done = g.remember(scope, Remember(key, value, said_at=ago(days=days), **given))
    assert done.memory is not None
    return done.memory


def noted(ran: list[str], read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """The same read, its name noted."""

    def reading(name: str, parameters: Any) -> Any:
        ran.append(name)
        return read(name, parameters)

    return reading
