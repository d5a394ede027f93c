"""A real Neo4j with Browser, and a real Chromium that reaches no outside host."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graphmem import localdb
from graphmem.app import Graphmem, open_graphmem
from graphmem.localdb import Server
from graphmem.stores.neo4j_probe import probe
from tests.conftest import Neo4jServer, settings_for

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

FLAGS = ("--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost")
"""Every outside host is unknown to this Chromium: what the page would ask for shows in its log, and that it works without."""


@dataclass
class Seen:
    """A page, and every address it has asked for."""

    page: Page
    asked: list[str] = field(default_factory=list)

    def note(self, request: Request) -> None:
        self.asked.append(request.url)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of one's own: only such a one is configured with the kit."""
    home = tmp_path_factory.mktemp("browser")
    try:
        yield localdb.up(home, probe=probe, profile="test")
    finally:
        localdb.down(home)


@pytest.fixture(scope="module")
def graphmem(server: Server) -> Iterator[Graphmem]:
    given = Neo4jServer(server.uri, server.user, server.password, server.home)
    with open_graphmem(settings_for(given, server.home), migrate=True, warm=False) as opened:
        yield opened


@pytest.fixture
def seen() -> Iterator[Seen]:
    """A fresh page of Debian's Chromium (GRAPHMEM_CHROMIUM names another one)."""
    from playwright.sync_api import sync_playwright  # of its own lock: the other tests run without it

    program = os.environ.get("GRAPHMEM_CHROMIUM") or shutil.which("chromium")
    assert program and Path(program).exists(), "no Chromium: apt-get install chromium fonts-wqy-microhei, or set GRAPHMEM_CHROMIUM"
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=list(FLAGS))
        page = chromium.new_page(viewport={"width": 1200, "height": 760}, device_scale_factor=1.5, locale="en-GB")
        watched = Seen(page)
        page.on("request", watched.note)
        yield watched
        chromium.close()
