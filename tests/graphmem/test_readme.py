"""What the README and the how-to pages tell is so: commands exist, blocks run, both languages say the same."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.app import Graphmem, open_graphmem
from graphmem.settings import Settings
from scripts.reference import PAGES, commands
from tests.conftest import Neo4jServer, new_tenant
from tests.terminal import Terminal, environment

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")
PAIRS = (
    READMES,
    ("docs/how-to/recall-from-an-agent.md", "docs/how-to/recall-from-an-agent.zh-CN.md"),
    ("docs/how-to/look-at-the-graph.md", "docs/how-to/look-at-the-graph.zh-CN.md"),
    ("docs/how-to/bulk-import.md", "docs/how-to/bulk-import.zh-CN.md"),
    ("docs/how-to/graphql.md", "docs/how-to/graphql.zh-CN.md"),
    ("docs/how-to/rest.md", "docs/how-to/rest.zh-CN.md"),
    ("docs/how-to/packs.md", "docs/how-to/packs.zh-CN.md"),
    ("docs/tutorial/first-memory.md", "docs/tutorial/first-memory.zh-CN.md"),
    ("docs/explanation/doors.md", "docs/explanation/doors.zh-CN.md"),
    ("docs/explanation/lifetimes.md", "docs/explanation/lifetimes.zh-CN.md"),
    ("docs/explanation/hearing.md", "docs/explanation/hearing.zh-CN.md"),
    ("docs/explanation/calibration.md", "docs/explanation/calibration.zh-CN.md"),
)
TEXTS = tuple(name for pair in PAIRS for name in pair)


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", _text(name), re.MULTILINE | re.DOTALL)


def _lines(name: str) -> Iterator[list[str]]:
    """Every shell command of a page, as words; a continued line is one."""
    for block in _blocks(name, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            yield shlex.split(line)


def _options(path: tuple[str, ...]) -> str:
    return Terminal({}, "t").run(*path, "--help").data


@pytest.mark.parametrize("name", [name for name in TEXTS if _blocks(name, "sh")])
def test_every_graphmem_command_that_is_told_exists_with_its_options(name: str) -> None:
    known = {" ".join(path): path for path in commands()}
    told = [words[1:] for words in _lines(name) if words[0] == "graphmem"]
    assert told
    for words in told:
        command = next(" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in known)
        help_text = _options(known[command])
        missing = [word for word in words if re.fullmatch(r"--?[a-z-]+", word) and word not in help_text]
        assert missing == [], command


@pytest.mark.parametrize("name", READMES)
def test_every_make_target_that_is_told_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", _text("Makefile"), re.MULTILINE))
    told = set(re.findall(r"`?\bmake ([a-z-]+)", " ".join([*_blocks(name, "sh"), *re.findall(r"`(make [a-z-]+)`", _text(name))])))
    assert {"demo", "test"} <= told <= targets


@pytest.mark.parametrize("pair", PAIRS)
def test_both_languages_have_the_same_parts_commands_and_rows(pair: tuple[str, str]) -> None:
    def shape(name: str) -> tuple[list[int], int, list[list[str]], int]:
        text = _text(name)
        levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
        words = [[w for w in line if w.isascii() and " " not in w] for line in _lines(name)]
        return levels, len(re.findall(r"^\|", text, re.MULTILINE)), words, len(re.findall(r"^\d\. |^- ", text, re.MULTILINE))

    assert shape(pair[0]) == shape(pair[1])


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_that_is_linked_is_there(name: str) -> None:
    linked = re.findall(r"\]\((?!http)([^)#]+)\)", _text(name))
    assert [link for link in linked if not ((ROOT / name).parent / link).exists()] == []


@pytest.mark.parametrize("name", READMES)
def test_every_setting_that_is_told_is_one(name: str) -> None:
    known = {f"GRAPHMEM_{field.upper()}" for field in Settings.model_fields} | {"GRAPHMEM_MAVEN_URL"}
    assert set(re.findall(r"GRAPHMEM_[A-Z0-9_]+", _text(name))) <= known


@pytest.mark.parametrize("name", [name for name in TEXTS if "recall" in name or name in READMES])
def test_python_blocks_run(
    name: str, neo4j_server: Neo4jServer, home: Path, chosen: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable, value in environment(neo4j_server, home).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr("graphmem.app.open_graphmem", partial(open_graphmem, warm=False))  # plans are warmed once a session
    (block,) = _blocks(name, "python")
    exec(compile(block, name, "exec"), {})  # noqa: S102 - the page's own block
    said = capsys.readouterr().out
    assert said.startswith("stop " if name in READMES else "L2 vague_reference")
    with open_graphmem(chosen, warm=False) as g:
        g.wipe("clinic")
        g.wipe("cafe")


@pytest.mark.parametrize("name", READMES)
def test_the_requests_are_answered_as_the_page_promises(name: str, graphmem: Graphmem) -> None:
    requests = [words for words in _lines(name) if words[0] == "curl"]
    with TestClient(create_app(graphmem, keys={"k": new_tenant()})) as client:
        answers = []
        for words in requests:
            path = next(w for w in words if w.startswith("http")).split("8000", 1)[1]
            body = json.loads(words[words.index("-d") + 1])
            answers.append(client.post(path, json=body, headers={"Authorization": "Bearer k"}))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert {s["memory"]["key"] for s in answers[0].json()["stored"]} == {"home_city", "allergy"}
    assert [check["severity"] for check in answers[1].json()["checks"]] == ["stop"]


@pytest.mark.parametrize("name", list(PAGES))
def test_reference_pages_are_current(name: str) -> None:
    assert _text(name) == PAGES[name](), "run python scripts/reference.py"
