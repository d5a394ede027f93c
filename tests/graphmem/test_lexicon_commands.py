"""lexicon list, add, test; and the page that teaches a key in ten minutes, followed to the letter."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.commands.frame import Exit
from graphmem.events import Event, asks, load_events
from graphmem.ontology import load_ontology
from tests.conftest import Neo4jServer, new_tenant
from tests.terminal import Answer, Terminal, environment

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = ("packs.md", "packs.zh-CN.md")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, packs: str = "[]") -> Answer:
    return Terminal({"GRAPHMEM_PACKS": packs, "GRAPHMEM_DEBUG": ""}, "t").run("lexicon", *arguments)


def test_a_word_is_found_by_any_of_its_names_and_by_a_part_of_one() -> None:
    for word in ("penicillin", "青霉素", "盘尼西林"):
        assert [c["cid"] for c in run("list", word, "-o", "jsonl").lines()] == ["drug:penicillin"]
    assert "drug:penicillin" in [c["cid"] for c in run("list", "penicil", "-o", "jsonl").lines()]


def test_concepts_are_listed_by_type_and_an_unknown_type_names_the_known_ones() -> None:
    assert {c["type"] for c in run("list", "--type", "sport", "-o", "jsonl").lines()} == {"sport"}
    told = run("list", "--type", "sports")
    assert "types: activity, airline" in told.talk


@pytest.mark.parametrize("name", ["gym.tsv", "gym.csv"])
def test_a_row_is_added_to_a_pack_and_is_known_with_it(name: str) -> None:
    assert (
        run("add", name, "training:strength", "--zh", "举铁训练", "--en", "lifting, heavy", "--alias", "a b", "--tag", "x").code == Exit.OK
    )
    assert run("add", name, "training:interval", "--zh", "间歇训练").code == Exit.OK
    found = run("list", "--type", "training", "-o", "jsonl", packs=f'["{name}"]').lines()
    assert [(c["cid"], c["zh"], c["en"]) for c in found] == [
        ("training:strength", "举铁训练", "lifting, heavy"),
        ("training:interval", "间歇训练", ""),
    ]
    assert run("test", name).code == Exit.OK


def test_a_row_that_is_wrong_is_refused_with_file_and_line_and_leaves_the_file_as_it_was() -> None:
    run("add", "gym.tsv", "training:strength", "--zh", "举铁训练")
    before = Path("gym.tsv").read_bytes()
    told = run("add", "gym.tsv", "training:other", "--zh", "举铁训练")
    assert (told.code, "gym.tsv:3: '举铁训练' already names 'training:strength'" in told.talk) == (Exit.CHECK_FAILED, True)
    assert Path("gym.tsv").read_bytes() == before
    assert run("add", "new.tsv", "Training", "--zh", "x").code == Exit.CHECK_FAILED
    assert not Path("new.tsv").exists()
    assert run("add", "gym.yaml", "training:other", "--zh", "x").code == Exit.USAGE


def test_a_bad_pack_ends_with_3_and_names_file_and_line() -> None:
    Path("gym.yaml").write_text(
        "keys:\n  gym:\n    kind: fact\n    arity: single\n    label: {zh: a, en: b}\n    question: {zh: a, en: b}\n"
    )
    told = run("test", "gym.yaml")
    assert (told.code, told.data) == (Exit.CHECK_FAILED, "")
    assert "gym.yaml:4: 'arity' of 'gym' is 'single'; allowed: one, many, pole, chosen" in told.talk


@pytest.mark.parametrize("page", PAGES)
def test_the_page_teaches_a_key_that_is_then_heard(page: str, graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:yaml|sh)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    Path("gym.yaml").write_text(next(b for b in blocks if b.startswith("# gym.yaml")), encoding="utf-8")
    Path("gym.tsv").write_text(next(b for b in blocks if b.startswith("# type:")), encoding="utf-8")
    env = {**environment(neo4j_server, tmp_path / "home"), "GRAPHMEM_TENANT": new_tenant()}
    done = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for words in (shlex.split(line) for line in block.splitlines()):
            if words[0] == "export":
                name, _, value = words[1].partition("=")
                env[name] = value
            else:
                done.append(Terminal(env, "t").run(*words[1:]))
    assert [d.code for d in done] == [Exit.OK] * len(done)
    assert "training_preference: interval training" in done[-2].data
    assert "question" in done[-1].data
    with_pack = Terminal(env, "t").run("list", "-o", "jsonl").lines()
    assert [(m["key"], m["concept"]) for m in with_pack] == [("training_preference", "training:interval")]


@pytest.mark.parametrize("page", PAGES)
def test_the_events_of_the_page_are_known_with_its_pack(page: str) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    pack = Path("gym.yaml")
    pack.write_text("\n".join(b for b in blocks if b.startswith(("# gym.yaml", "events:"))), encoding="utf-8")
    events = load_events(load_ontology([pack]), [pack])
    assert [a.key for a in asks(Event("class_joined", data={"class": "间歇训练"}), events)] == ["training_preference", "gym_class"]
