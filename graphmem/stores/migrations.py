"""Schema migrations: `cypher/schema/V0001__name.cypher` run once, in order, under a lock, with a checksum in the graph; never edited."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import ConfigurationError, QueryFileError
from graphmem.stores import cypher
from graphmem.stores.neo4j_base import Neo4j, UniqueFault

_NAME = re.compile(r"V(\d{4})__([a-z0-9_]+)\.cypher")


@dataclass(frozen=True, slots=True)
class Migration:
    """state: applied, waiting, drifted (the file was edited after it ran) or unknown (ran here, its file is gone)."""

    version: int
    name: str
    checksum: str
    state: str
    statements: tuple[str, ...] = ()


def files(root: Path | None = None) -> list[Migration]:
    """The migrations on disk, in order, all waiting. Raises QueryFileError for a bad name or a gap."""
    found = []
    for path in sorted(((root or cypher.folder()) / "schema").glob("*.cypher")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise QueryFileError("a migration is called V0001__snake_case.cypher", file=str(path.name), line=1)
        text = path.read_text(encoding="utf-8")
        checksum = hashlib.sha256(text.encode()).hexdigest()
        found.append(Migration(int(match[1]), match[2], checksum, "waiting", tuple(cypher.statements(text))))
    for expected, migration in enumerate(found, start=1):
        if migration.version != expected:
            raise QueryFileError(f"migration {expected} is missing or stands twice", file="schema", line=1)
    return found


def status(neo4j: Neo4j, root: Path | None = None) -> list[Migration]:
    """Every migration of the disk and the graph with its state."""
    rows = neo4j.read_all("schema_versions", {})
    done = {r["version"]: r["checksum"] for r in rows if r["checksum"] is not None}
    found = []
    for m in files(root):
        if m.version in done:
            state = "applied" if done.pop(m.version) == m.checksum else "drifted"
            m = Migration(m.version, m.name, m.checksum, state, m.statements)
        found.append(m)
    found += [Migration(v, "?", c, "unknown") for v, c in sorted(done.items())]
    return found


def verify(neo4j: Neo4j) -> None:
    """Raise ConfigurationError unless the graph is exactly at the migrations of this program."""
    for m in status(neo4j):
        if m.state == "drifted":
            raise ConfigurationError(
                f"migration V{m.version:04d} was edited after it ran", hint="restore the file; changes go into a new migration"
            )
        if m.state == "unknown":
            raise ConfigurationError(
                f"the graph has migration {m.version}, this program does not know it", hint="install the graphmem version that made it"
            )
        if m.state == "waiting":
            raise ConfigurationError(f"migration V{m.version:04d} has not run", hint="graphmem migrate apply")


def apply(neo4j: Neo4j, progress: Callable[[Migration], None] | None = None, root: Path | None = None) -> list[Migration]:
    """Run what is waiting, in order; safe from several processes at once (each statement is idempotent, the record is unique)."""
    ran = []
    neo4j.text("CREATE CONSTRAINT schema_version IF NOT EXISTS FOR (v:SchemaVersion) REQUIRE v.version IS UNIQUE")
    for m in status(neo4j, root):
        if m.state in ("drifted", "unknown"):
            raise ConfigurationError(
                f"migration V{m.version:04d} is {m.state}; nothing was run", hint="graphmem migrate status shows what differs"
            )
        if m.state == "waiting":
            for statement in m.statements:
                neo4j.text(statement)
            try:
                neo4j.write_one("record_migration", {"version": m.version, "name": m.name, "checksum": m.checksum})
            except UniqueFault:  # another process ran the same one meanwhile
                continue
            ran.append(m)
            if progress is not None:
                progress(m)
    neo4j.text("CALL db.awaitIndexes(120)")
    return ran
