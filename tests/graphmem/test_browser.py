"""The kit for Neo4j Browser: saved queries, style, guide, favourites, links, and the commands around them."""

from __future__ import annotations

import html
import io
import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from graphmem import browser, browserhost
from graphmem.browser import Place
from graphmem.commands import browser as commands
from graphmem.errors import InvalidInputError, QueryFileError
from graphmem.localdb import Server
from tests.terminal import Terminal

ROOT = Path(__file__).parents[2]
GUIDES = ("docs/how-to/look-at-the-graph.md", "docs/how-to/look-at-the-graph.zh-CN.md")
PLACE = Place("http://127.0.0.1:7474/browser/", "bolt://127.0.0.1:7687")

GOOD = """// 样例 · Sample
// en: a sample.
// zh: 一个样例。
// params: tenant_id = default, as_of =
MATCH p = (:User {tenant_id: $tenant_id})
WHERE $as_of = ''
RETURN p;
"""

BAD = {
    "no title": (GOOD.replace(" · Sample", ""), 1),
    "no Chinese": (GOOD.replace("// zh: 一个样例。\n", ""), 2),
    "a parameter that is not declared": (GOOD.replace("RETURN p", "AND $mid = '' RETURN p"), 4),
    "a parameter that is not used": (GOOD.replace("as_of =", "as_of =, mid ="), 4),
    "a parameter without a default": (GOOD.replace("as_of =", "as_of"), 4),
    "a second statement": (GOOD + "MATCH (n) DETACH DELETE n;\n", 5),
    "a character that a link cannot carry": (GOOD.replace("(:User", "(:User&Person"), 5),
}


# --- files


@pytest.mark.parametrize("why", list(BAD))
def test_a_bad_saved_query_is_refused_with_file_and_line(tmp_path: Path, why: str) -> None:
    text, line = BAD[why]
    (tmp_path / "sample.cypher").write_text(text, encoding="utf-8")
    with pytest.raises(QueryFileError) as refused:
        browser.load(tmp_path)
    assert (refused.value.file, refused.value.line) == ("sample.cypher", line)


def test_one_parameter_has_one_default_in_all_saved_queries(tmp_path: Path) -> None:
    (tmp_path / "a.cypher").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.cypher").write_text(GOOD.replace("default", "other"), encoding="utf-8")
    with pytest.raises(QueryFileError, match=r"b\.cypher:4: \$tenant_id has another default elsewhere"):
        browser.load(tmp_path)


def test_every_saved_query_names_its_tenant() -> None:
    assert len(browser.saved()) >= 15
    assert [one.name for one in browser.saved().values() if "tenant_id: $tenant_id" not in one.text] == []


def test_the_guide_holds_every_saved_query_in_both_languages() -> None:
    page = browser.guide()
    assert "{{" not in page
    for one in browser.saved().values():
        assert f"<b>{one.title.zh} · {one.title.en}</b>" in page and html.escape(one.statement, quote=False) in page
        assert html.escape(one.about.zh) in page and html.escape(one.about.en) in page
    assert page.count('class="pre-scrollable code runnable"') == len(browser.saved()) + 1


def test_the_favourites_are_a_folder_of_files_whose_first_line_is_the_title() -> None:
    with zipfile.ZipFile(io.BytesIO(browser.favourites())) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(found) == {f"graphmem/{name}.cypher" for name in browser.saved()}
    assert all(text.startswith("// ") and "·" in text.splitlines()[0] for text in found.values())
    assert browser.favourites() == browser.favourites()


def test_the_style_tells_the_kinds_apart_by_colour_and_by_width() -> None:
    style = browser.style()
    kinds = [style[f"relationship.{kind}"] for kind in ("FACT", "PREFERENCE", "CONTEXT")]
    assert len({kind["color"] for kind in kinds}) == 3
    widths = [int(kind["shaft-width"].removesuffix("px")) for kind in kinds]
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert {kind["caption"] for kind in kinds} == {"{status} {caption}"}
    assert style["node.Memory"]["caption"] == "{value}"


def test_the_server_loads_style_parameters_and_guide_by_commands_that_no_semicolon_cuts() -> None:
    commands = browserhost.conf(7474)["browser.post_connect_cmd"].split("; ")
    assert [command.split()[0] for command in commands] == ["style", "params", "play"]
    assert all(";" not in command and command.isascii() for command in commands)


# --- links


def editor(address: str) -> str:
    """What Browser puts into its editor: it decodes the address as a whole and reads the argument up to the next & or #."""
    found = re.search(r"[?&]arg=([^&#]*)", parse_qs(f"x={urlsplit(address).query}&", separator="\0")["x"][0])
    assert found is not None
    return found[1]


def test_a_link_names_server_user_and_database_and_carries_the_whole_query() -> None:
    one = browser.query("memory_map")
    address = browser.link(PLACE, browser.filled(one, {"tenant_id": "demo", "user_id": "阿宁"}))
    asked = parse_qs(urlsplit(address).query)
    assert address.startswith("http://127.0.0.1:7474/browser/?dbms=")
    assert (asked["dbms"], asked["db"], asked["cmd"]) == (["neo4j://neo4j@127.0.0.1:7687"], ["neo4j"], ["edit"])
    assert editor(address) == asked["arg"][0]
    assert asked["arg"][0].startswith("// 记忆地图 · Memory map\nMATCH p = (:User {tenant_id: 'demo', user_id: '阿宁'})")


def test_no_value_leaves_its_literal_or_cuts_the_link() -> None:
    nasty = "a'}) DETACH DELETE u //\\' &cmd=edit#\n%26+?arg=x"
    text = browser.filled(browser.query("cohort"), {"ckey": nasty})
    literal = text.split("ckey: ")[1].split("})<-")[0]
    assert literal == r"'a\'}) DETACH DELETE u //\\\' \u0026cmd=edit\u0023\n%26+?arg=x'"
    assert editor(browser.link(PLACE, text)) == text


def test_an_unknown_query_or_parameter_is_told_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError) as unknown:
        browser.query("map_of_memories")
    assert "memory_map" in (unknown.value.hint or "")
    with pytest.raises(InvalidInputError) as unused:
        browser.filled(browser.query("outbox"), {"user_id": "ann"})
    assert (unused.value.field, unused.value.hint) == ("user_id", "it takes tenant_id.")


# --- commands


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal whose own server is at known ports."""
    server = Server(1, 7687, 7474, tmp_path, "secret")
    monkeypatch.delenv("GRAPHMEM_NEO4J_URI", raising=False)
    monkeypatch.setattr(commands, "bring_up", lambda chosen: server)
    monkeypatch.setattr("graphmem.localdb.status", lambda home: server)
    monkeypatch.setattr("graphmem.browserhost.serves_kit", lambda port: True)
    return Terminal({"GRAPHMEM_HOME": str(tmp_path)}, "demo", "阿宁")


def test_browser_prints_the_address_of_the_local_server_with_the_query_of_the_user(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.mine("browser", "--query", "version_chain", "--param", "key=home_city", "--no-open")
    wanted = browser.filled(browser.query("version_chain"), {"tenant_id": "demo", "user_id": "阿宁", "key": "home_city"})
    assert done.code == 0, done.talk
    assert done.data.strip() == browser.link(PLACE, wanted)
    assert str(tmp_path / "neo4j" / "password") in done.talk and "secret" not in done.data + done.talk


def test_browser_opens_what_it_prints_unless_told_not_to(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", open_)
    quiet, loud = terminal.mine("browser", "--no-open"), terminal.mine("browser")
    assert opened == [loud.data.strip()] == [quiet.data.strip()]


def test_browser_goes_to_the_server_that_one_runs_oneself(terminal: Terminal) -> None:
    done = terminal.run("browser", "--no-open", GRAPHMEM_NEO4J_URI="neo4j+s://graph.example:7687", GRAPHMEM_NEO4J_USER="reader")
    assert done.data.startswith("http://graph.example:7474/browser/?dbms=neo4j%2Bs%3A%2F%2Freader%40graph.example%3A7687&db=neo4j&cmd=edit")
    assert "not loaded there by themselves" in done.talk
    named = terminal.run("browser", "--no-open", "--page", "https://b.example/browser/", GRAPHMEM_NEO4J_URI="bolt://graph.example:7687")
    assert named.data.startswith("https://b.example/browser/?dbms=neo4j%3A%2F%2Fneo4j%40graph.example%3A7687")


@pytest.mark.parametrize(
    ("options", "cause"),
    [(("--query", "nope"), "no saved query 'nope'"), (("--param", "key"), "no '='"), (("--param", "a=b"), "takes no a")],
)
def test_a_wrong_query_or_parameter_is_a_usage_error(terminal: Terminal, options: tuple[str, ...], cause: str) -> None:
    done = terminal.run("browser", "--no-open", *options)
    assert (done.code, done.data) == (2, "") and cause in done.talk


def test_queries_lists_every_saved_query(terminal: Terminal) -> None:
    assert [row["name"] for row in terminal.run("browser", "queries", "-o", "jsonl").lines()] == list(browser.saved())
    assert "记忆地图 · Memory map" in terminal.run("browser", "queries").data


def test_favourites_are_written_once_and_never_over_another_file(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "kept.zip"
    assert terminal.run("browser", "favourites", str(file)).code == 0 and file.read_bytes() == browser.favourites()
    file.write_text("mine", encoding="utf-8")
    assert terminal.run("browser", "favourites", str(file)).code == 2 and file.read_text(encoding="utf-8") == "mine"
    assert terminal.run("browser", "favourites", str(file), "--force").code == 0 and file.read_bytes() == browser.favourites()


# --- pages


@pytest.mark.parametrize("name", GUIDES)
def test_the_page_lists_exactly_the_saved_queries(name: str) -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \|", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == list(browser.saved())


# --- what the local server serves


def test_the_kit_stands_beside_browsers_own_files_and_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    assert browserhost.pages(lib) is None, "no Browser among the archives, nothing to stand beside"
    with zipfile.ZipFile(lib / "neo4j-browser-9.9.9.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "")
        jar.writestr("browser/index.html", "<html>")
    root = browserhost.pages(lib)
    assert root is not None and sorted(p.name for p in root.iterdir()) == ["browser"]
    assert (root / "browser" / "index.html").read_text(encoding="utf-8") == "<html>"
    kit = root / browserhost.KIT
    assert {p.name: p.read_bytes() for p in kit.iterdir()} == browserhost.files()
    before = (kit / browserhost.STYLE).stat().st_mtime_ns
    monkeypatch.setattr(browser, "guide", lambda: "another guide")
    assert browserhost.pages(lib) == root
    assert (kit / browserhost.GUIDE).read_text(encoding="utf-8") == "another guide"
    assert (kit / browserhost.STYLE).stat().st_mtime_ns == before, "what did not change is left alone"
