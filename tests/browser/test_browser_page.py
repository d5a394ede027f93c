"""Neo4j Browser in a real Chromium: opened by the link, styled and guided by the server's own settings, it draws what the graph holds."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from examples import browser_tour
from graphmem import browser
from graphmem.app import Graphmem
from graphmem.localdb import Server
from tests.browser.conftest import Seen
from tests.terminal import Terminal

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "browser-memory-map.png"
OUTSIDE = {"fonts.googleapis.com", "cdn.segment.com", "canny.io"}
"""Hosts that Browser's own page asks for: docs/how-to/look-at-the-graph.md names them."""
CRASHES = ".sentry.io"
"""Where Browser reports crashes, in some runs."""
PERSON = {"tenant_id": browser_tour.TENANT, "user_id": browser_tour.PERSON.user}

DRAWN = """
MATCH (n) WHERE elementId(n) IN $ids
OPTIONAL MATCH (n)-[r]->(o) WHERE elementId(o) IN $ids
RETURN count(DISTINCT n) AS nodes, count(DISTINCT r) AS edges
"""
"""Browser adds every relation between the nodes that a query returns."""


@pytest.fixture(scope="module", autouse=True)
def story(graphmem: Graphmem) -> None:
    """The tour's own story."""
    browser_tour.tell(graphmem)
    graphmem._after.flush()


def address(server: Server, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    """What `graphmem browser` prints for this server."""
    monkeypatch.delenv("GRAPHMEM_NEO4J_URI", raising=False)
    terminal = Terminal({"GRAPHMEM_HOME": str(server.home)}, browser_tour.TENANT, browser_tour.PERSON.user)
    done = terminal.mine("browser", "--no-open", *options)
    assert done.code == 0, done.talk
    return done.data.strip()


def connect(page: Page, server: Server, where: str) -> None:
    """Open the address and log in; ends when the guide, the last of what the server preloads, is there."""
    page.goto(where)
    page.fill("[data-testid=username]", server.user, timeout=60_000)
    page.fill("[data-testid=password]", server.password)
    page.click("[data-testid=connect]")
    page.wait_for_selector("input[type=password]", state="detached", timeout=60_000)
    page.locator("[data-testid=frame]", has_text="guide.html").locator("text=用户记忆图谱").wait_for(timeout=60_000)


def run(page: Page) -> None:
    """Press Run and wait for the graph."""
    page.click("[data-testid=editor-Run]")
    page.wait_for_selector("g.node", timeout=60_000)


def held(graphmem: Graphmem, name: str) -> tuple[int, int]:
    """How many nodes and edges Browser must draw for a saved query about the person of the tour."""
    one = browser.query(name)
    values = {**one.params, **{k: v for k, v in PERSON.items() if k in one.params}}
    with graphmem.neo4j.driver.session(database=graphmem.neo4j.database) as session:
        paths = [path for record in session.run(one.text, values) for path in record.values() if path is not None]
        ids = sorted({node.element_id for path in paths for node in path.nodes})
        row = session.run(DRAWN, {"ids": ids}).single(strict=True)
    return row["nodes"], row["edges"]


def captions(page: Page, what: str) -> str:
    return " ".join(page.locator(f"{what} text").all_text_contents())


def test_the_link_opens_a_styled_map_of_what_the_graph_holds(
    graphmem: Graphmem, server: Server, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = seen.page
    connect(page, server, address(server, monkeypatch))
    run(page)
    nodes, edges = held(graphmem, "memory_map")
    assert nodes > 8 and edges > 8
    page.locator("[data-testid=vizInspector]", has_text=f"Displaying {nodes} nodes").wait_for()
    page.wait_for_selector(f":nth-match(g.relationship, {edges})", state="attached", timeout=60_000)
    assert (page.locator("g.node").count(), page.locator("g.relationship").count()) == (nodes, edges)

    style = browser.style()
    fills = {circle.get_attribute("fill") for circle in page.locator("g.node circle.b-outline").all()}
    assert {style[f"node.{label}"]["color"] for label in ("User", "Memory", "Concept")} == fills
    colours = {path.get_attribute("fill") for path in page.locator("g.relationship path.b-outline").all()}
    assert {style[f"relationship.{kind}"]["color"] for kind in ("FACT", "PREFERENCE", "ABOUT")} == colours
    assert all(value in captions(page, "g.node") for value in ("阿宁", "燕麦拿铁", "杭州", "青霉素", "香菜"))
    for words in ("active 咖啡偏好", "active 居住城市", "pending 食物偏好"):
        page.locator("g.relationship text", has_text=words).first.wait_for(state="attached")
    _picture(page)


def _picture(page: Page) -> None:
    """The picture that the README shows: the frame alone, as large as the window, everything in view."""
    page.locator("[data-testid=frame]").first.locator("button[title=Fullscreen]").click()
    page.locator("button[aria-label=zoom-to-fit]").first.click()
    page.wait_for_timeout(2_000)  # the drawing moves to its place
    PICTURE.parent.mkdir(exist_ok=True)
    page.screenshot(path=PICTURE)


def test_style_parameters_and_guide_come_by_the_servers_own_settings(server: Server, seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    page = seen.page
    connect(page, server, server.browser_url)
    # the page keeps its style a moment after it has taken it
    page.wait_for_function(
        "colour => (JSON.parse(localStorage.getItem('neo4j.grass')) ?? {})['node.User']?.color === colour",
        arg=browser.style()["node.User"]["color"],
        timeout=60_000,
    )
    kept: dict[str, Any] = page.evaluate("JSON.parse(localStorage.getItem('neo4j.grass'))")
    assert kept == browser.style()
    page.locator("[data-testid=frame]", has_text=":params").locator("text=coffee_preference").first.wait_for()
    asked = {url.split("/")[2] for url in seen.asked} - {f"127.0.0.1:{server.http_port}", f"127.0.0.1:{server.bolt_port}"}
    assert {host for host in asked if not host.endswith(CRASHES)} == OUTSIDE, "what the page asks for has changed: the docs name it"


def test_a_query_of_the_guide_runs_for_the_person_that_the_parameters_name(graphmem: Graphmem, server: Server, seen: Seen) -> None:
    page = seen.page
    connect(
        page,
        server,
        f"{server.browser_url}?cmd=params&arg=%7Btenant_id:%20%22tour%22,%20user_id:%20%22%E9%98%BF%E5%AE%81%22,%20key:%20%22coffee_preference%22%7D",
    )
    page.click("[data-testid=editor-Run]")
    page.locator("[data-testid=frame]").first.locator("text=tour").first.wait_for()
    guide = page.locator("[data-testid=frame]", has_text="guide.html")
    guide.locator("[data-testid=nextSlide]").first.click()
    guide.locator("pre.runnable", has_text="版本链").click()
    run(page)
    nodes, edges = held(graphmem, "version_chain")
    page.wait_for_selector(f":nth-match(g.relationship, {edges})", state="attached", timeout=60_000)
    assert (page.locator("g.node").count(), page.locator("g.relationship").count()) == (nodes, edges)


def test_the_archive_of_favourites_dropped_on_the_page_becomes_a_folder_with_every_query(server: Server, seen: Seen) -> None:
    page = seen.page
    connect(page, server, server.browser_url)
    dropped = page.evaluate_handle(
        """content => {
            const bytes = Uint8Array.from(atob(content), c => c.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], 'graphmem-favourites.zip', {type: 'application/zip'}));
            return carried;
        }""",
        base64.b64encode(browser.favourites()).decode(),
    )
    page.dispatch_event("[data-testid=main]", "drop", {"dataTransfer": dropped})
    page.click("[data-testid=navigationFavorites]")
    page.locator("text=graphmem").first.click()
    for one in browser.saved().values():
        page.locator(f"text={one.title.zh} · {one.title.en}").first.wait_for(state="attached")
