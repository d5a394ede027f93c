"""Subscriptions over the real store and a real web socket: writes of this process and of another, none twice, none lost, nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from api.main import create_app
from graphmem.answers import Memory, Remember
from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from tests.conftest import Neo4jServer
from tests.served import PATIENCE, Live, live, served

KEY = "key-of-this-test"
CHANGES = """subscription($since: Int) { memoryChanged(since: $since) {
  mid verdict supersedes reason route actor revision memory { mid key value status relations(first: 3) { memory { value } } } } }"""


@pytest.fixture
def port(graphmem: Graphmem, scope: Scope) -> Iterator[int]:
    app = create_app(graphmem, keys={KEY: scope.tenant})
    with served(app) as port:
        yield port


@pytest.fixture
def wire(port: int, scope: Scope) -> Iterator[Live]:
    """A socket of the user that is admitted."""
    with live(port, headers={"Authorization": f"Bearer {KEY}", "X-Graphmem-User": scope.user}) as wire:
        yield wire.begin()


def held(g: Graphmem, scope: Scope, key: str, value: str) -> Memory:
    done = g.remember(scope, Remember(key, value))
    assert done.memory is not None
    return done.memory


def told(wire: Live) -> dict[str, Any]:
    heard = wire.heard()
    assert heard["type"] == "next" and "errors" not in heard["payload"], heard
    found: dict[str, Any] = heard["payload"]["data"]["memoryChanged"]
    return found


def test_what_happens_to_a_memory_is_told_as_it_happens(wire: Live, graphmem: Graphmem, scope: Scope) -> None:
    first = held(graphmem, scope, "employer", "Blue Mill")
    wire.subscribe(CHANGES, since=0)
    new = told(wire)
    assert (new["mid"], new["verdict"], new["route"], new["memory"]["value"]) == (first.mid, "new", "remember", "Blue Mill")
    second = held(graphmem, scope, "employer", "Red Mill")
    moved = told(wire)
    assert (moved["mid"], moved["verdict"], moved["supersedes"]) == (second.mid, "supersede", first.mid)
    hobby = held(graphmem, scope, "hobby", "围棋")
    assert told(wire)["memory"]["value"] == "围棋"
    graphmem.relate(scope, RelationType.DERIVED_FROM, second.mid, hobby.mid)
    related = [told(wire), told(wire)]
    assert {r["mid"] for r in related} == {second.mid, hobby.mid} and {r["route"] for r in related} == {"relate"}
    assert related[0]["memory"]["relations"] != []
    graphmem.forget(scope, hobby.mid)
    gone = told(wire)
    assert (gone["mid"], gone["route"], gone["memory"]) == (hobby.mid, "forget", None)
    graphmem.undelete(scope, hobby.mid)
    back = told(wire)
    assert (back["mid"], back["route"], back["memory"]["value"]) == (hobby.mid, "undelete", "围棋")
    assert [new["revision"], moved["revision"], gone["revision"], back["revision"]] == [1, 2, 5, 6]


def test_a_no_to_a_pending_memory_is_told_too(wire: Live, graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("我喜欢喝拿铁。"))
    (pending,) = graphmem.inject(scope, Turn("我不喜欢喝拿铁。")).pending
    wire.subscribe(CHANGES, since=graphmem.people.profile(scope).revision)
    graphmem.reject(scope, pending.memory.mid)
    said_no = told(wire)
    assert (said_no["mid"], said_no["verdict"], said_no["reason"], said_no["route"]) == (
        pending.memory.mid,
        "refused",
        "rejected",
        "reject",
    )
    assert said_no["memory"]["status"] == "REJECTED"


def test_nobody_is_told_of_somebody_else(wire: Live, graphmem: Graphmem, scope: Scope) -> None:
    wire.subscribe(CHANGES, since=0)
    for other in (Scope(scope.tenant, "other"), Scope(f"{scope.tenant}-2", scope.user)):
        held(graphmem, other, "hobby", "chess")
    mine = held(graphmem, scope, "hobby", "围棋")
    assert told(wire)["mid"] == mine.mid


def test_who_comes_back_with_the_last_revision_misses_nothing_and_hears_nothing_twice(
    port: int, wire: Live, graphmem: Graphmem, scope: Scope
) -> None:
    written: list[str] = []
    writer = Thread(target=lambda: written.extend(held(graphmem, scope, "hobby", f"puzzle {n}").mid for n in range(60)))
    writer.start()
    heard: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {KEY}", "X-Graphmem-User": scope.user}
    while len(heard) < 60:
        with live(port, headers=headers) as again:
            again.begin().subscribe(CHANGES, since=heard[-1]["revision"] if heard else 0)
            heard += [told(again) for _ in range(15)]
    writer.join(PATIENCE)
    assert [h["mid"] for h in heard] == written and len(set(written)) == 60
    assert [h["revision"] for h in heard] == sorted({h["revision"] for h in heard})


def test_a_revision_that_is_none_is_refused(wire: Live) -> None:
    wire.subscribe(CHANGES, since=-1)
    heard = wire.heard()
    assert heard["type"] == "error" and heard["payload"][0]["extensions"]["code"] == "invalid_input"


def test_the_erasure_of_a_user_ends_it(wire: Live, graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, "hobby", "围棋")
    wire.subscribe(CHANGES, since=0)
    told(wire)
    graphmem.wipe(scope.tenant)
    heard = wire.heard()
    assert (heard["type"], heard["payload"][0]["extensions"]["code"]) == ("error", "erased")


WRITER = """
import os, sys
from pathlib import Path
from graphmem.answers import Remember
from graphmem.app import open_graphmem
from graphmem.scope import Scope
from graphmem.settings import Settings
home, tenant, user = sys.argv[1:]
with open_graphmem(Settings(home=Path(home), embedders=("use",)), migrate=False, warm=False) as g:
    print(g.remember(Scope(tenant, user), Remember("hobby", "chess of another process")).memory.mid)
"""


def test_a_write_of_another_process_is_told(wire: Live, neo4j_server: Neo4jServer, scope: Scope, tmp_path: Path) -> None:
    wire.subscribe(CHANGES)
    given = {"URI": neo4j_server.uri, "USER": neo4j_server.user, "PASSWORD": neo4j_server.password}
    told_to = {f"GRAPHMEM_NEO4J_{name}": value for name, value in given.items()}
    command = [sys.executable, "-c", WRITER, str(tmp_path), scope.tenant, scope.user]
    done = subprocess.run(command, env={**os.environ, **told_to}, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = told(wire)
    assert (found["mid"], found["memory"]["value"]) == (done.stdout.strip(), "chess of another process")
