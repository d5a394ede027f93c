"""The examples run as they are, each as a program of its own against the real server, and say what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from api.main import create_app
from graphmem.app import Graphmem
from tests.conftest import Neo4jServer, new_tenant
from tests.served import served
from tests.terminal import environment

ROOT = Path(__file__).parents[2]


def said(name: str, server: Neo4jServer, home: Path, **more: str) -> list[str]:
    """The lines an example prints. It must end well and say nothing on stderr."""
    env = {**os.environ, **environment(server, home), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}
    done = subprocess.run([sys.executable, f"examples/{name}"], cwd=ROOT, env=env, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture
def home(graphmem: Graphmem, tmp_path: Path) -> Path:
    """Of its own; the session's façade has put the schema into the graph."""
    return tmp_path


def test_the_quick_start_hears_changes_tells_explains_and_forgets(neo4j_server: Neo4jServer, home: Path) -> None:
    lines = said("quick_start.py", neo4j_server, home)
    assert [line.strip() for line in lines if line.startswith("  ")] == [
        "new: home_city = Leeds",
        "new: coffee_preference = flat whites",
        "not stored: question",
        "supersede: home_city = Hull",
    ]
    assert "told      flat whites (L2: vague_reference)" in lines
    assert ["version 2 Hull: active", "version 1 Leeds: superseded"] == [line for line in lines if line.startswith("version")]
    assert lines[-1] == "forgotten; left: home_city"
    assert any(line.startswith("why       coffee preference of user") for line in lines)


def test_a_csv_with_history_becomes_versions_and_is_stored_once(neo4j_server: Neo4jServer, home: Path) -> None:
    lines = said("bulk_import_history.py", neo4j_server, home)
    assert lines[:2] == [
        "first time: 9 rows of 2 users, 1 rejected, 0 known before",
        "second time: 9 rows of 2 users, 1 rejected, 8 known before",
    ]
    assert lines[2].startswith("10,value,")
    assert [line for line in lines if line.startswith("m-101 home_city")] == [
        "m-101 home_city: York since 2026-08-20, active",
        "m-101 home_city: Hull since 2026-01-15, superseded",
        "m-101 home_city: Leeds since 2025-02-03, superseded",
    ]
    assert "m-102 employer: Kiln, Sons & Co since 2025-05-01, superseded" in lines
    assert lines[-1] == "exported again: 5 memories are told now"


def test_the_clinic_stops_the_medicine_and_lets_the_denial_wait(neo4j_server: Neo4jServer, home: Path) -> None:
    lines = said("medical_zh.py", neo4j_server, home)
    assert "  记下：家族病史（father） 高血压" in lines
    assert "  没有记：question" in lines
    assert any(line.startswith("  等待：过敏 青霉素") for line in lines)
    assert any(re.match(r"  stop：.*青霉素", line) for line in lines)
    assert lines[-1] == "仍然引用：过敏 青霉素"


def test_the_graphql_client_writes_and_reads_page_by_page(graphmem: Graphmem, neo4j_server: Neo4jServer, home: Path) -> None:
    with served(create_app(graphmem, keys={"key-of-example": new_tenant()})) as port:
        lines = said("graphql_client.py", neo4j_server, home, GRAPHMEM_URL=f"http://127.0.0.1:{port}", GRAPHMEM_KEY="key-of-example")
    assert "NEW: allergy = 青霉素" in lines and lines[-1] == "4 in all"
    assert [line.split()[0] for line in lines[4:8]] == ["PreferenceMemory", "PreferenceMemory", "FactMemory", "FactMemory"]
    assert any(line.endswith("“我对青霉素过敏”") for line in lines)


def test_the_browser_tour_gives_a_link_for_each_stop(neo4j_server: Neo4jServer, home: Path) -> None:
    lines = said("browser_tour.py", neo4j_server, home)
    assert len([line for line in lines if "http://" in line]) >= 5
