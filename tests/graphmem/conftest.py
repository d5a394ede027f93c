"""What tests at the terminal share: a data home of the module, settings for it, and a terminal in a tenant of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.settings import Settings
from tests.conftest import Neo4jServer, new_tenant, settings_for
from tests.terminal import Terminal, environment


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("terminal-home")


@pytest.fixture(scope="module")
def chosen(graphmem: Graphmem, neo4j_server: Neo4jServer, home: Path) -> Settings:
    """Of a home of its own; the session's façade has put the schema into the graph."""
    return settings_for(neo4j_server, home)


@pytest.fixture
def terminal(neo4j_server: Neo4jServer, home: Path, chosen: Settings) -> Terminal:
    """A tenant of its own; the schema is in the graph."""
    return Terminal(environment(neo4j_server, home), new_tenant())
