"""Migrations run once, in order; a graph that does not fit the program refuses the start. Real server, versions nobody uses."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.errors import ConfigurationError, QueryFileError
from graphmem.stores import cypher, migrations
from graphmem.stores.neo4j_base import Neo4j

FIRST_OF_OURS = 9001


@pytest.fixture
def neo4j(graphmem: Graphmem) -> Iterator[Neo4j]:
    """The real graph; records of versions above 9000 are removed again."""
    try:
        yield graphmem.neo4j
    finally:
        graphmem.neo4j.text("MATCH (v:SchemaVersion) WHERE v.version > 9000 DELETE v")
        graphmem.neo4j.text("MATCH (n:ThrowAway) DELETE n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of cypher/ where the next migration is ours. Its number is 9001; the real ones before it count as a run without gap."""
    root = tmp_path / "cypher"
    shutil.copytree(cypher.folder() / "schema", root / "schema")
    real = migrations.files()

    def files(given: Path | None = None) -> list[migrations.Migration]:
        own = [m for m in listed(given or root) if m.version >= FIRST_OF_OURS]
        return [*real, *own]

    listed = _without_gaps
    monkeypatch.setattr(migrations, "files", files)
    return root


def _without_gaps(root: Path) -> list[migrations.Migration]:
    found = []
    for path in sorted((root / "schema").glob("V9*.cypher")):
        text = path.read_text(encoding="utf-8")
        number, _, name = path.stem.partition("__")
        found.append(migrations.Migration(int(number[1:]), name, _checksum(text), "waiting", tuple(cypher.statements(text))))
    return found


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, text: str, name: str = "V9001__throw_away.cypher") -> None:
    (folder / "schema" / name).write_text(text, encoding="utf-8")


STATEMENT = "MERGE (n:ThrowAway {id: 1}) ON CREATE SET n.runs = 1 ON MATCH SET n.runs = n.runs + 1"
ONE = f"// a comment; with a semicolon\n{STATEMENT};\n"


def states(neo4j: Neo4j, folder: Path) -> dict[int, str]:
    return {m.version: m.state for m in migrations.status(neo4j, folder)}


def recorded(neo4j: Neo4j) -> int:
    return int(neo4j.text("MATCH (v:SchemaVersion {version: 9001}) RETURN count(v) AS n")[0]["n"])


def test_the_graph_of_a_started_service_is_at_the_migrations_of_the_program(graphmem: Graphmem) -> None:
    assert {m.state for m in graphmem.migrate_status()} == {"applied"} and graphmem.migrate_apply() == []
    migrations.verify(graphmem.neo4j)


def test_a_migration_runs_once_however_often_it_is_applied(neo4j: Neo4j, folder: Path) -> None:
    write(folder, ONE)
    assert states(neo4j, folder)[9001] == "waiting"
    with pytest.raises(ConfigurationError) as early:
        migrations.verify(neo4j)
    assert "V9001" in early.value.detail and early.value.hint == "graphmem migrate apply"
    assert [m.version for m in migrations.apply(neo4j, root=folder)] == [9001]
    assert migrations.apply(neo4j, root=folder) == [] and recorded(neo4j) == 1
    assert states(neo4j, folder)[9001] == "applied"
    assert [r["runs"] for r in neo4j.text("MATCH (n:ThrowAway) RETURN n.runs AS runs")] == [1]


def test_a_migration_that_was_edited_after_it_ran_refuses_the_start_and_runs_nothing(neo4j: Neo4j, folder: Path) -> None:
    write(folder, ONE)
    migrations.apply(neo4j, root=folder)
    write(folder, ONE + "\n// an afterthought\n")
    write(folder, "CREATE (n:ThrowAway {id: 2});", "V9002__never.cypher")
    assert states(neo4j, folder) | {9001: "drifted", 9002: "waiting"} == states(neo4j, folder)
    with pytest.raises(ConfigurationError) as refused:
        migrations.verify(neo4j)
    assert "V9001" in refused.value.detail and "edited" in refused.value.detail
    with pytest.raises(ConfigurationError):
        migrations.apply(neo4j, root=folder)
    assert neo4j.text("MATCH (n:ThrowAway) WHERE n.id = 2 OR n.runs <> 1 RETURN count(n) AS n")[0]["n"] == 0


def test_a_graph_with_a_migration_the_program_does_not_know_refuses_the_start(neo4j: Neo4j, folder: Path) -> None:
    neo4j.write_one("record_migration", {"version": 9009, "name": "of_tomorrow", "checksum": "x"})
    assert states(neo4j, folder)[9009] == "unknown"
    with pytest.raises(ConfigurationError) as refused:
        migrations.verify(neo4j)
    assert "9009" in refused.value.detail
    with pytest.raises(ConfigurationError):
        migrations.apply(neo4j, root=folder)


@pytest.mark.parametrize("name", ["V0099__gap.cypher", "V1__short.cypher", "v0001__small.cypher", "V0002__twice.cypher"])
def test_a_misnamed_missing_or_doubled_migration_file_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(cypher.folder() / "schema", tmp_path / "schema")
    assert migrations.files(tmp_path)
    (tmp_path / "schema" / name).write_text("RETURN 1;", encoding="utf-8")
    with pytest.raises(QueryFileError):
        migrations.files(tmp_path)


def test_no_text_of_a_migration_is_cut_at_a_semicolon_in_a_comment() -> None:
    assert cypher.statements(ONE) == [STATEMENT]
