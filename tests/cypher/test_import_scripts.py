"""The scripts of cypher/import, run as they stand on the real server; what they write, `graphmem adopt` completes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.check import STRAY
from graphmem.relations import RelationType
from graphmem.scope import Scope
from graphmem.stores import cypher
from tests.conftest import Neo4jServer

FOLDER = cypher.folder() / "import"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.cypher"))
STRAYS = "MATCH (:User {tenant_id: $t})-[r:FACT|PREFERENCE|CONTEXT]->() WHERE r.mid IS NULL RETURN count(r) AS n"


@pytest.fixture
def files(neo4j_server: Neo4jServer) -> Iterator[Path]:
    """The server's import folder with the sample files in it."""
    assert neo4j_server.home is not None, "LOAD CSV reads the import folder of a server of the tests' own"
    folder = neo4j_server.home / "neo4j" / "import"
    for name in ("statements.csv", "relations.csv"):
        shutil.copy(FOLDER / name, folder / name)
    yield folder
    for name in ("statements.csv", "relations.csv"):
        (folder / name).unlink()


def run(g: Graphmem, name: str, tenant: str, **given: object) -> list[dict[str, Any]]:
    """A script's statement as Browser and cypher-shell send it, with the values of its `:param` lines unless others are given."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    values: dict[str, object] = {}
    for param, literal in re.findall(r"(?m)^:param (\w+) => (.*);$", text):
        values[param] = g.neo4j.text(f"RETURN {literal} AS value")[0]["value"]
    statement = re.sub(r"(?m)^(//|:param).*\n", "", text)
    with g.neo4j.driver.session(database=g.neo4j.database) as session:
        return [record.data() for record in session.run(statement, {**values, "tenant": tenant, **given})]


def loaded(g: Graphmem, tenant: str) -> Mapping[str, list[dict[str, Any]]]:
    return {name: run(g, name, tenant) for name in ("1_users_csv.cypher", "2_statements_csv.cypher", "3_relations_csv.cypher")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_says_what_it_is_for_and_is_one_statement_with_its_parameters(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.startswith("// ") and text.rstrip().endswith(";")
    body = re.sub(r"(?m)^(//|:param).*\n", "", text)
    assert body.count(";") == 1
    assert set(re.findall(r"\$(\w+)", body)) == set(re.findall(r"(?m)^:param (\w+) =>", text))


def test_the_scripts_load_a_csv_with_history_and_adoption_makes_memories_of_it(graphmem: Graphmem, scope: Scope, files: Path) -> None:
    tenant = scope.tenant
    said = loaded(graphmem, tenant)
    assert said["1_users_csv.cypher"] == [{"rows": 7}]
    assert said["2_statements_csv.cypher"] == [{"stored": True, "rows": 7, "first_line": 2, "last_line": 8, "error": None}]
    assert [r["stored"] for r in said["3_relations_csv.cypher"]] == [True]
    assert len(run(graphmem, "waiting.cypher", tenant)) == 7
    assert {b.kind for b in graphmem.check(tenant)[0].breaks} == {STRAY}
    done = graphmem.adopt(tenant)
    assert (done.found, done.asked, done.verdicts) == (7, 0, {"new": 6, "supersede": 1})
    maya, rain = Scope(tenant, "Maya"), Scope(tenant, "小雨")
    (city,) = graphmem.latest(maya, "home_city").items
    assert [(m.value, m.version) for m in graphmem.history(maya, city.mid)] == [("Oslo", 1), ("Bergen", 2)]
    (drug,) = graphmem.latest(rain, "medication").items
    found = graphmem.related(rain, drug.mid, types=[RelationType.CONTRADICTS]).items
    assert [(r.memory.value, r.path[0].weight) for r in found] == [("青霉素", 0.5)]
    graphmem.drain()
    assert graphmem.check(tenant)[0].clean and run(graphmem, "waiting.cypher", tenant) == []


def test_loaded_twice_nothing_is_held_twice(graphmem: Graphmem, scope: Scope, files: Path) -> None:
    for _ in range(2):
        loaded(graphmem, scope.tenant)
        graphmem.adopt(scope.tenant)
    maya = Scope(scope.tenant, "Maya")
    assert [len(graphmem.history(maya, m.mid)) for m in graphmem.latest(maya, "home_city").items] == [2]
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].clean


def test_a_block_with_a_bad_row_is_left_out_and_reported_with_its_lines(graphmem: Graphmem, scope: Scope, files: Path) -> None:
    lines = ["user_id,kind,key,value,at"] + [f"u,fact,home_city,town {n},2025-01-01T00:00:00Z" for n in range(600)]
    lines[550] = "u,fact,home_city,nowhere,soon"
    (files / "statements.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = loaded(graphmem, scope.tenant)["2_statements_csv.cypher"]
    assert [(r["stored"], r["rows"], r["first_line"], r["last_line"]) for r in said] == [(True, 500, 2, 501), (False, 100, 502, 601)]
    assert "soon" in said[1]["error"]
    assert graphmem.neo4j.text(STRAYS, {"t": scope.tenant})[0]["n"] == 500


def test_a_program_sends_rows_by_unwind(graphmem: Graphmem, scope: Scope) -> None:
    assert run(graphmem, "statements_unwind.cypher", scope.tenant) == [{"rows": 2}]
    assert graphmem.adopt(scope.tenant).verdicts == {"new": 2}
    assert [m.value for m in graphmem.latest(Scope(scope.tenant, "小雨"), "home_city").items] == ["青岛"]
