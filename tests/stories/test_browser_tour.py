"""The example that leads through the graph in Neo4j Browser, run as its page says."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from examples import browser_tour
from graphmem.app import Graphmem
from tests.conftest import Neo4jServer
from tests.terminal import environment


def test_the_tour_writes_its_story_and_prints_a_link_for_each_stop_that_shows_something(
    graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable, value in environment(neo4j_server, tmp_path).items():
        monkeypatch.setenv(variable, value)
    browser_tour.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * len(browser_tour.STOPS) and lines[0] == "记忆地图 · Memory map"
    for title, address in zip(lines[::2], lines[1::2], strict=True):
        assert graphmem.neo4j.text(parse_qs(urlsplit(address.strip()).query)["arg"][0], {}), title
    graphmem.wipe(browser_tour.TENANT)
