"""One real Neo4j for the whole session. A server that should be there and is not is a failure, never a skip."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
import pytest
from pydantic import SecretStr

from graphmem import localdb
from graphmem.app import Graphmem, open_graphmem
from graphmem.jars import model_jar
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores.neo4j_probe import probe

# `make test` tries the same examples every time: a red run is the change's own. GRAPHMEM_HYPOTHESIS=random looks for new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True)
if os.environ.get("GRAPHMEM_HYPOTHESIS") != "random":
    hypothesis.settings.load_profile("repeatable")


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """Where the tests' server is and how to log in. `home` is its data home, None when the server was given from outside."""

    uri: str
    user: str
    password: str = field(repr=False)
    home: Path | None = None

    @property
    def auth(self) -> tuple[str, str]:
        return self.user, self.password


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """The server named by GRAPHMEM_NEO4J_URI, _USER and _PASSWORD, else one of its own in a temporary home, stopped at the end."""
    if uri := os.environ.get("GRAPHMEM_NEO4J_URI"):
        given = Neo4jServer(uri, os.environ.get("GRAPHMEM_NEO4J_USER", "neo4j"), os.environ.get("GRAPHMEM_NEO4J_PASSWORD", ""))
        assert probe(given.uri, given.password) == "ready", f"the Neo4j at {uri} (GRAPHMEM_NEO4J_URI) does not answer"
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="graphmem-tests-", ignore_cleanup_errors=True) as home:
        try:
            server = localdb.up(home, probe=probe, profile="test")
            yield Neo4jServer(server.uri, server.user, server.password, server.home)
        finally:
            localdb.down(home)


@pytest.fixture(scope="session", autouse=True)
def _english_encoder() -> None:
    """What is heard of English depends on its encoder (graphmem/stores/embedding.py): every test finds its archive on the machine."""
    model_jar()


@pytest.fixture(autouse=True)
def _server_outlives_the_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that uses the server fails, also if it would have passed, when the server has died meanwhile."""
    if "neo4j_server" not in request.fixturenames:
        yield
        return
    server: Neo4jServer = request.getfixturevalue("neo4j_server")
    _assert_runs(server, "before")
    yield
    _assert_runs(server, "during")


def _assert_runs(server: Neo4jServer, when: str) -> None:
    if server.home is not None and localdb.status(server.home) is None:
        said = (server.home / "neo4j" / "console.log").read_text(encoding="utf-8", errors="replace")
        pytest.fail(f"the tests' Neo4j ended {when} this test; its last words:\n{said[-1500:]}")


@pytest.fixture(scope="session")
def graphmem(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graphmem]:
    """One façade for the whole session, in a home of its own, over the real graph and the real vector engine. Nothing runs behind it."""
    settings = settings_for(neo4j_server, tmp_path_factory.mktemp("home"))
    with open_graphmem(settings, migrate=True) as opened:
        yield opened


@pytest.fixture
def scope(request: pytest.FixtureRequest) -> Iterator[Scope]:
    """A user in a tenant that no other test has. What the test left unprojected is forgotten, so that no later test's drain pays for it."""
    made = Scope(new_tenant(), "user-1")
    yield made
    if "graphmem" in request.fixturenames:
        opened: Graphmem = request.getfixturevalue("graphmem")
        opened.neo4j.implicit("outbox_clear", {"tenant_id": made.tenant, "batch": 1000})


def new_tenant() -> str:
    return f"t-{uuid.uuid4().hex[:16]}"


def settings_for(server: Neo4jServer, home: Path) -> Settings:
    """The small set-up of the tests: the given server, one embedder, short leases, no limits of requests."""
    return Settings(
        home=home,
        neo4j_uri=server.uri,
        neo4j_user=server.user,
        neo4j_password=SecretStr(server.password),
        embedders=("use",),
        lease_seconds=1,
        rate_user="",
        rate_tenant="",
    )
