"""A reviewer at a terminal: the inbox, both sides, the decision; exit codes that mean something."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.commands.frame import Exit
from graphmem.scope import Scope
from tests.conftest import Neo4jServer
from tests.graph_view import ago
from tests.terminal import Answer, Terminal, environment


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("review-home")


@pytest.fixture
def terminal(graphmem: Graphmem, neo4j_server: Neo4jServer, home: Path, scope: Scope) -> Terminal:
    return Terminal(environment(neo4j_server, home), scope.tenant)


def told(answer: Answer) -> dict[str, Any]:
    assert answer.code == Exit.OK, answer.talk
    return cast(dict[str, Any], answer.json())


def test_a_case_is_listed_shown_and_decided_once(graphmem: Graphmem, scope: Scope, terminal: Terminal) -> None:
    graphmem.remember(scope, Remember("birthday", "1990-05-02", said_at=ago(days=2)))
    pending = graphmem.remember(scope, Remember("birthday", "1991-05-02", said_at=ago(days=1))).pending
    assert pending is not None and pending.case is not None
    tenant = ("--tenant", scope.tenant)
    listed = terminal.run("review", "list", *tenant)
    assert listed.code == Exit.OK and pending.case in listed.data and "birthday" in listed.data
    shown = terminal.run("review", "show", pending.case, *tenant)
    assert "1990-05-02" in shown.data and "1991-05-02" in shown.data and "approve|reject" in shown.talk
    decided = told(terminal.run("review", "decide", pending.case, "approve", "--as", "staff:7", "--note", "seen", *tenant, "-o", "json"))
    assert (decided["item"]["state"], decided["item"]["decided_by"], decided["memory"]["standing"]) == ("approved", "staff:7", "verified")
    assert told(terminal.run("review", "decide", pending.case, "approve", "--as", "staff:7", *tenant, "-o", "json"))["replayed"] is True
    late = terminal.run("review", "decide", pending.case, "reject", "--as", "staff:8", *tenant)
    assert late.code == Exit.REFUSED and "approved" in late.talk and late.data == ""
    assert terminal.run("review", "list", *tenant, "-o", "jsonl").data == ""
    assert terminal.run("review", "list", "--state", "approved", *tenant, "-o", "jsonl").lines()[0]["case_id"] == pending.case


def test_a_case_that_does_not_exist_and_a_word_that_is_no_decision_have_their_own_exit_codes(terminal: Terminal) -> None:
    assert terminal.run("review", "show", "no-such-case", "--tenant", terminal.tenant).code == Exit.NOT_FOUND
    assert terminal.run("review", "decide", "no-such-case", "perhaps", "--tenant", terminal.tenant).code == Exit.USAGE
