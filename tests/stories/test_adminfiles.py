"""CSV files for `neo4j-admin database import`: well formed, complete, and the same graph once the importer has read them."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphmem import jars, localdb
from graphmem.adminfiles import ARGUMENTS, LINKS, NODES
from graphmem.app import Graphmem, open_graphmem
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.java import find_java
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores.neo4j_probe import probe
from tests.conftest import Neo4jServer
from tests.stories.test_import import dump, lived
from tests.terminal import Terminal, environment

TYPES = {"string", "long", "double", "boolean", "datetime", "string[]", "long[]", "double[]"}


def table(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    return header, rows


def test_every_file_has_typed_headers_whole_rows_and_ends_that_another_file_has(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    lived(graphmem, scope.tenant)
    folder = tmp_path / "out"
    counts = graphmem.export_files(scope.tenant, folder)
    assert {p.name for p in folder.iterdir()} == {f"{name}.csv" for name in counts} | {ARGUMENTS}
    assert counts["users"] == 2 and counts["memories"] == sum(counts.get(k, 0) for k in ("facts", "preferences", "contexts"))
    ids: dict[str, set[str]] = {}
    ends: list[tuple[str, str]] = []
    for name in counts:
        header, rows = table(folder / f"{name}.csv")
        assert len(rows) == counts[name] and all(len(row) == len(header) for row in rows)
        places = [h for h in header if h.startswith(":")]
        assert places == header[: len(places)] and {h.split(":")[1] for h in header[len(places) :]} <= TYPES
        for n, place in enumerate(places):
            group = place[place.index("(") + 1 : -1]
            if place.startswith(":ID"):
                ids.setdefault(group, set()).update(row[n] for row in rows)
            else:
                ends += [(group, row[n]) for row in rows]
    assert ends and all(end in ids[group] for group, end in ends)
    arguments = (folder / ARGUMENTS).read_text(encoding="utf-8").splitlines()
    assert sum(a.startswith("--nodes=") for a in arguments) == len(set(counts) & set(NODES))
    assert sum(a.startswith("--relationships=") for a in arguments) == len(set(counts) & set(LINKS))
    header, rows = table(folder / "facts.csv")
    slots = [row[header.index("slot:string")] for row in rows]
    assert all(slot.startswith(f"1|{scope.tenant}|") for slot in slots)


def test_one_user_is_exported_alone_and_never_over_other_files(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    lived(graphmem, scope.tenant)
    folder = tmp_path / "out"
    assert graphmem.export_files(scope.tenant, folder, "Ann")["users"] == 1
    assert "李雷" not in "".join(p.read_text(encoding="utf-8") for p in folder.iterdir())
    with pytest.raises(InvalidInputError, match="not empty"):
        graphmem.export_files(scope.tenant, folder)
    with pytest.raises(NotFoundError):
        graphmem.export_files(scope.tenant, tmp_path / "other", "nobody")


def test_the_command_line_names_the_folder_and_what_to_run_in_it(
    neo4j_server: Neo4jServer, graphmem: Graphmem, scope: Scope, tmp_path: Path
) -> None:
    lived(graphmem, scope.tenant)
    terminal = Terminal(environment(neo4j_server, tmp_path / "home"), scope.tenant)
    asked = ("export", "--tenant", scope.tenant, "--format", "neo4j-admin")
    assert terminal.run(*asked).code == 2
    done = terminal.run(*asked, "--to", str(tmp_path / "out"))
    assert done.code == 0 and f"neo4j-admin database import full neo4j @{ARGUMENTS}" in done.talk
    assert (tmp_path / "out" / "memories.csv").exists()


@pytest.mark.long
def test_the_importer_makes_the_same_graph_of_the_files(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    lived(graphmem, scope.tenant)
    text = dump(graphmem, scope.tenant)
    folder, home = tmp_path / "out", tmp_path / "home"
    graphmem.export_files(scope.tenant, folder)
    try:
        localdb.up(home, probe=probe, profile="test")
        localdb.down(home)
        neo4j = home / "neo4j"
        command = [str(find_java().program), "-Xmx512m", "-cp", f"{jars.neo4j_jars()}/*", "org.neo4j.cli.AdminTool"]
        command += ["database", "import", "full", "neo4j", "--overwrite-destination=true", f"@{ARGUMENTS}"]
        env = {**os.environ, "NEO4J_HOME": str(neo4j), "NEO4J_CONF": str(neo4j / "conf")}
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
        server = localdb.up(home, probe=probe, profile="test")
        settings = Settings(home=home, neo4j_uri=server.uri, neo4j_password=SecretStr(server.password), embedders=("use",))
        with open_graphmem(settings, migrate=True) as other:
            assert dump(other, scope.tenant) == text
            other.reindex(scope.tenant)
            assert other.check(scope.tenant)[0].clean
    finally:
        localdb.down(home)
