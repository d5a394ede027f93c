"""The command line on the tests' own server: its environment, and runs of it in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from graphmem.cli import app
from tests.conftest import Neo4jServer


def environment(server: Neo4jServer, home: Path) -> dict[str, str]:
    """Variables that point `graphmem` at this server and home; one small embedder."""
    return {
        "GRAPHMEM_NEO4J_URI": server.uri,
        "GRAPHMEM_NEO4J_USER": server.user,
        "GRAPHMEM_NEO4J_PASSWORD": server.password,
        "GRAPHMEM_HOME": str(home),
        "GRAPHMEM_EMBEDDERS": '["use"]',
        "GRAPHMEM_DEBUG": "",
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said. `data` is stdout, `talk` stderr."""

    code: int
    data: str
    talk: str

    def json(self) -> object:
        return json.loads(self.data)

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.data.splitlines()]


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs `graphmem …` for one tenant and user in this process."""

    env: dict[str, str]
    tenant: str
    user: str = "ann"

    def run(self, *arguments: str, **env: str) -> Answer:
        """A command as it is given."""
        done = CliRunner().invoke(app, list(arguments), env={"LC_ALL": "C.UTF-8", **self.env, **env})
        return Answer(done.exit_code, done.stdout, done.stderr)

    def mine(self, *arguments: str, user: str | None = None) -> Answer:
        """A command over the memory of this tenant and user."""
        return self.run(*arguments, "--tenant", self.tenant, "--user", user or self.user)
