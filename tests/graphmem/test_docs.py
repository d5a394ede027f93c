"""The documentation: sorted in four kinds, the same in both languages, every link leads somewhere, what the tutorial says happens."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.commands.frame import Exit
from tests.conftest import Neo4jServer, new_tenant, settings_for
from tests.terminal import Answer, Terminal, environment

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KINDS = {"tutorial", "how-to", "reference", "explanation"}
ONE_LANGUAGE = {"docs/reference/cli.md", "docs/reference/settings.md", "docs/reference/scores.md"}
"""Made from the program: names, numbers and help texts."""

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
ZH = ".zh-CN.md"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page: str) -> Iterator[tuple[str, str]]:
    """(file, anchor) of every link into this repository."""
    for target in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", text(page)):
        file, _, anchor = target.partition("#")
        yield ((ROOT / page).parent / file).resolve().relative_to(ROOT).as_posix() if file else page, anchor


def test_every_page_is_of_one_of_four_kinds() -> None:
    inside = [Path(name).relative_to("docs") for name in PAGES if name.startswith("docs/")]
    assert {path.parts[0] for path in inside if len(path.parts) > 1} == KINDS
    assert {path.name for path in inside if len(path.parts) == 1} == {"README.md", "README.zh-CN.md"}


@pytest.mark.parametrize("page", [p for p in PAGES if p.startswith("docs/") and p not in ONE_LANGUAGE])
def test_every_page_is_there_in_both_languages_and_each_leads_to_the_other(page: str) -> None:
    twin = page.removesuffix(ZH) + ".md" if page.endswith(ZH) else page.removesuffix(".md") + ZH
    assert (twin, "") in set(links(page))
    assert [len(marks) for marks in re.findall(r"^(#+) ", text(page), re.MULTILINE)] == [
        len(marks) for marks in re.findall(r"^(#+) ", text(twin), re.MULTILINE)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: str) -> None:
    for file, anchor in links(page):
        assert (ROOT / file).exists(), file
        assert not anchor or anchor in anchors(file), f"{file}#{anchor}"


@pytest.mark.parametrize("index", ["docs/README.md", "docs/README.zh-CN.md"])
def test_the_index_names_every_page_of_its_language(index: str) -> None:
    wanted = {p for p in PAGES if p.startswith("docs/") and p.endswith(ZH) == index.endswith(ZH)} | ONE_LANGUAGE
    assert wanted - {index} <= {file for file, _ in links(index)}


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_readme_leads_to_the_index_and_names_every_example(readme: str) -> None:
    assert readme.replace("README", "docs/README") in {file for file, _ in links(readme)}
    assert [p.name for p in (ROOT / "examples").glob("*.py") if f"examples/{p.name}" not in text(readme)] == []


# --- the tutorial, followed


class Reader:
    """Who follows the page: types its lines into a terminal, one after the other."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self.mid = terminal, ""

    def types(self, line: str) -> Answer | None:
        """One line; `MID=$(graphmem … | python3 …)` takes the id of the first row."""
        if found := re.match(r"MID=\$\((graphmem [^|]+)\|", line):
            told = self._run(shlex.split(found[1]))
            self.mid = str(told.lines()[0]["mid"])
            return told
        words = [self.mid if word == "$MID" else word for word in shlex.split(line)]
        return None if words == ["graphmem", "up"] else self._run(words)

    def _run(self, words: list[str]) -> Answer:
        assert words[0] == "graphmem"
        told = self.terminal.run(*words[1:], GRAPHMEM_TENANT=self.terminal.tenant)
        assert told.code == Exit.OK, (words, told.talk)
        return told


@pytest.mark.parametrize(
    ("page", "values"),
    [
        ("docs/tutorial/first-memory.md", ("Leeds", "Hull", "flat whites")),
        ("docs/tutorial/first-memory.zh-CN.md", ("杭州", "苏州", "拿铁")),
    ],
)
def test_the_tutorial_goes_as_it_says(
    page: str, values: tuple[str, str, str], graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    settings_for(neo4j_server, tmp_path)
    reader = Reader(Terminal(environment(neo4j_server, tmp_path), new_tenant()))
    told = [
        (line, answer)
        for block in re.findall(r"^```sh\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
        if (answer := reader.types(line)) is not None
    ]
    first, second, coffee = values

    def said(part: str, n: int = 0) -> str:
        return [answer.data for line, answer in told if part in line][n]

    assert "not stored" in said("inject", 1) and "new" not in said("inject", 1)
    assert first in said(" list ") and coffee in said(" list ")
    assert second in said(" latest home_city") and first not in said(" latest home_city")
    assert first in said(" timeline ") and second in said(" timeline ") and "superseded" in said(" timeline ")
    assert coffee in said(" recall ") and coffee not in said(" recall ", 1)
    assert coffee in said(" why ")
    assert json.loads(said("MID="))["value"] == coffee
