"""`graphmem demo` on a real server: the story holds, in both languages, and ends by itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.commands.frame import Exit
from graphmem.demo.page import Page
from graphmem.demo.people import people
from graphmem.scope import Scope
from graphmem.settings import Settings
from tests.conftest import Neo4jServer
from tests.terminal import Terminal, environment


def test_the_demo_has_eight_people_in_two_languages_over_weeks() -> None:
    now = datetime(2026, 6, 15, 12, tzinfo=UTC)
    said = people(now)
    by_language = {chinese: {s.user for s in said if s.chinese is chinese} for chinese in (True, False)}
    assert len(by_language[True]) == len(by_language[False]) == 4
    assert len(said) >= 120
    assert said[-1].at <= now
    assert said[-1].at - said[0].at > timedelta(weeks=5)
    assert len({(s.user, s.turn.session_id, s.turn.turn_id) for s in said}) == len(said)


def test_the_demo_begins_from_nothing_and_every_promise_holds(graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    graphmem.remember(Scope("demo", "Maya"), Remember("coffee_preference", "mocha"))  # what an earlier run left
    told = Terminal(environment(neo4j_server, tmp_path), "demo").run("demo", "--yes")
    assert told.code == Exit.OK, told.data[-3000:] + told.talk
    assert len(re.findall("✓", told.data)) >= 20
    assert "✗" not in told.data
    assert "/docs" in told.talk
    assert "MATCH p = " in told.talk
    assert graphmem.memories(Scope("demo", "阿宁")).total > 3
    assert graphmem.wipe("demo") > 100
    assert graphmem.memories(Scope("demo", "阿宁")).total == 0


def test_a_promise_that_does_not_hold_fails_the_demo(neo4j_server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Settings) -> list[str]:
        page = Page()
        page.expect("the sun rises", True)
        page.expect("the moon is made of cheese", False)
        return page.broken

    monkeypatch.setattr("graphmem.demo.story.tell_story", broken)
    told = Terminal(environment(neo4j_server, tmp_path), "demo").run("demo", "--yes")
    assert told.code == Exit.CHECK_FAILED
    assert "✗ the moon is made of cheese" in told.data
    assert "cause: the moon is made of cheese" in told.talk
