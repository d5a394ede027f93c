"""`graphmem demo` on a real server: the story holds, in both languages, and ends by itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem.app import open_graphmem
from graphmem.commands.frame import Exit
from graphmem.demo.people import people
from graphmem.scope import Scope
from tests.conftest import Neo4jServer
from tests.terminal import Terminal, environment, settings


def test_the_demo_has_eight_people_in_two_languages_over_weeks() -> None:
    now = datetime(2026, 6, 15, 12, tzinfo=UTC)
    said = people(now)
    by_language = {chinese: {s.user for s in said if s.chinese is chinese} for chinese in (True, False)}
    assert len(by_language[True]) == len(by_language[False]) == 4
    assert len(said) >= 120
    assert said[-1].at <= now
    assert said[-1].at - said[0].at > timedelta(weeks=5)
    assert len({(s.user, s.turn.session_id, s.turn.turn_id) for s in said}) == len(said)


def test_the_demo_tells_its_story_twice_and_every_promise_holds(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    chosen = settings(neo4j_server, tmp_path)
    terminal = Terminal(environment(neo4j_server, tmp_path), "demo")
    for _ in range(2):  # the second run begins from nothing like the first
        told = terminal.run("demo", "--yes")
        assert told.code == Exit.OK, told.data[-3000:] + told.talk
        assert len(re.findall("✓", told.data)) >= 20
        assert "✗" not in told.data
    assert "/docs" in told.talk
    assert "MATCH p = " in told.talk
    with open_graphmem(chosen, warm=False) as g:
        assert g.memories(Scope("demo", "阿宁")).total > 3
        assert g.wipe("demo") > 100
        assert g.memories(Scope("demo", "阿宁")).total == 0


def test_a_promise_that_does_not_hold_fails_the_demo(
    neo4j_server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(neo4j_server, tmp_path)
    monkeypatch.setattr("graphmem.demo.story.people", lambda now: [s for s in people(now) if "switched to flat whites" not in s.turn.text])
    told = Terminal(environment(neo4j_server, tmp_path), "demo").run("demo", "--yes")
    assert told.code == Exit.CHECK_FAILED
    assert "✗ Maya → flat whites, no longer oat lattes" in told.data
    assert "error:" in told.talk
