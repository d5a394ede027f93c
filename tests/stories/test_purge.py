"""What was forgotten 72 hours ago is gone from the graph; so is everything of a user. On the real graph and index."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from graphmem.answers import Ask, MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.memory import Status, Turn
from graphmem.ports import COLLECTIONS
from graphmem.scope import Scope
from tests.conftest import Neo4jServer
from tests.counting import CountingNeo4j, at_once, results
from tests.fakes_index import FakeIndex
from tests.graph_view import ago, census, edges
from tests.stories.forgetting import WORD, held, later, sound, told, values, written


def purge(g: Graphmem, scope: Scope) -> None:
    later(g, scope, 73)
    assert g.sweep(scope.tenant).purged > 0
    assert g.sweep(scope.tenant).purged == 0


def test_after_the_purge_no_property_of_the_graph_holds_the_words(graphmem: Graphmem, scope: Scope) -> None:
    memory = told(graphmem, scope)[WORD]
    secret = Remember("secret_project", "Operation Teacup", kind=memory.kind, arity="many", metadata={"a": "Teacup"})
    open_value = held(graphmem, scope, secret)
    for mid in (memory.mid, open_value.mid):
        graphmem.forget(scope, mid)
    purge(graphmem, scope)
    stays = written(graphmem, scope.tenant)
    assert all(word not in stays for word in (WORD, "peanut", "Teacup", "teacup"))
    assert {e.value for e in edges(graphmem, scope)} == {"猫"}
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].breaks == ()


def test_a_concept_goes_with_its_last_memory_and_stays_while_another_user_has_one(graphmem: Graphmem, scope: Scope) -> None:
    other = Scope(scope.tenant, "user-2")
    mine = [held(graphmem, scope, Remember("hobby", hobby)) for hobby in ("glass blowing", "chess")]
    held(graphmem, other, Remember("hobby", "chess"))
    for memory in mine:
        graphmem.forget(scope, memory.mid)
    purge(graphmem, scope)
    assert census(graphmem, scope.tenant)["Concept"] == 1
    assert "glass" not in written(graphmem, scope.tenant)
    assert values(graphmem, other, "hobby") == ["chess"]


def test_a_purged_row_between_remembered_ones_keeps_its_place_and_loses_its_name(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("home_city", "Bergen", said_at=ago(days=30)))
    oslo = held(graphmem, scope, Remember("home_city", "Kirkenes", said_at=ago(days=20)))
    held(graphmem, scope, Remember("home_city", "Tromsø", said_at=ago(days=10)))
    graphmem.forget(scope, oslo.mid)
    purge(graphmem, scope)
    assert "irkenes" not in written(graphmem, scope.tenant)
    assert [e.version for e in edges(graphmem, scope)] == [1, 2, 3]
    assert values(graphmem, scope, "home_city", as_of=ago(days=15)) == []
    assert values(graphmem, scope, "home_city", as_of=ago(days=25)) == ["Bergen"]
    sound(graphmem, scope)
    held(graphmem, scope, Remember("home_city", "Oslo"))
    sound(graphmem, scope)


def test_once_nothing_of_a_slot_is_remembered_its_empty_rows_go_too(graphmem: Graphmem, scope: Scope) -> None:
    first, second = (held(graphmem, scope, Remember("home_city", city, said_at=ago(days=d))) for city, d in (("Bergen", 9), ("Oslo", 5)))
    graphmem.forget(scope, second.mid)
    purge(graphmem, scope)
    assert len(edges(graphmem, scope)) == 2
    graphmem.forget(scope, first.mid)
    purge(graphmem, scope)
    assert edges(graphmem, scope) == []
    again = held(graphmem, scope, Remember("home_city", "Oslo"))
    assert again.version == 1
    sound(graphmem, scope)


def test_what_else_was_taken_from_the_very_words_keeps_its_value_and_not_the_clause(graphmem: Graphmem, scope: Scope) -> None:
    stored = told(graphmem, scope, "I like jazz and opera.")
    if len(stored) < 2:
        pytest.fail(f"the sentence was meant to hold two likings: {stored}")
    gone, kept = sorted(stored)
    graphmem.forget(scope, stored[gone].mid)
    purge(graphmem, scope)
    assert gone.lower() not in written(graphmem, scope.tenant).lower()
    assert graphmem.memory(scope, stored[kept].mid).value == kept


# --- everything of a user


def counts(g: Graphmem, scope: Scope) -> dict[str, Any]:
    return {
        "values": sorted(str(m.value) for m in g.memories(scope).items),
        "history": [[h.version for h in g.history(scope, m.mid)] for m in g.memories(scope).items],
        "points": sorted(h.ref for c in COLLECTIONS[:3] for h in g.index.ids(scope.tenant, c, g._pseudonym(scope)).items),
        "edges": sorted(e.mid for e in edges(g, scope) if "tombstoned_at" not in e.edge),
    }


def test_forgetting_everything_of_one_user_leaves_every_other_user_as_they_were(graphmem: Graphmem, scope: Scope) -> None:
    other = Scope(scope.tenant, "user-10")
    for who in (scope, other):
        for text in ("我对花生过敏。", "我住在南京。", "我养了一只猫。"):
            graphmem.inject(who, Turn(text, session_id="s", turn_id=text))
    graphmem.drain()
    before = counts(graphmem, other)
    assert len(before["points"]) == 3
    assert graphmem.forget_all(scope) == 3
    graphmem.drain()
    assert counts(graphmem, scope) == {"values": [], "history": [], "points": [], "edges": []}
    assert counts(graphmem, other) == before
    assert graphmem.forget_all(scope) == 0
    purge(graphmem, scope)
    assert edges(graphmem, scope) == []
    assert graphmem.check(scope.tenant)[0].breaks == ()


def test_forgetting_everything_takes_pending_past_planned_and_retracted_ones_along(graphmem: Graphmem, scope: Scope) -> None:
    told(graphmem, scope, "我喜欢爵士乐。")
    graphmem.inject(scope, Turn("我不喜欢爵士乐。", session_id="s", turn_id="2"))
    held(graphmem, scope, Remember("employer", "Mill"))
    wrong = held(graphmem, scope, Remember("employer", "Forge"))
    graphmem.retract(scope, wrong.mid)
    held(graphmem, scope, Remember("home_city", "Oslo", valid_from=ago(days=-9)))
    held(graphmem, scope, Remember("current_city", "Oslo", said_at=ago(days=60)))
    graphmem.forget_all(scope)
    for status in (None, *Status):
        page = graphmem.memories(scope, MemoryFilter(status=status))
        assert (page.items, page.pending) == ((), ())
    sound(graphmem, scope)
    assert values(graphmem, scope, "home_city", as_of=ago(days=-10)) == []


CROWD = """
  UNWIND range($first, $last) AS n
  MERGE (u:User {tenant_id: $t, user_id: 'user-' + n})
  WITH u, n
  UNWIND range(0, 999) AS i
  WITH u, i, 'm' + n + '-' + i AS mid, '1|' + $t + '|user-' + n + '|F|hobby|self|text:' + i AS slot
  CREATE (u)-[:FACT {mid: mid, slot: slot, thing: slot, key: 'hobby', ckey: 'text:' + i, subject: 'self', polarity: '+', version: 1,
    said_at: datetime(), valid_from: datetime(), recorded_at: datetime(), confidence: 1.0, until: 253402300799999, current_slot: slot}]->
    (:Memory {tenant_id: $t, user_id: u.user_id, mid: mid, value: '' + i})
"""


DISPERSE = "MATCH (u:User {tenant_id: $t, user_id: $user}) OPTIONAL MATCH (u)-->(m:Memory) DETACH DELETE u, m"


@pytest.mark.long
def test_a_thousand_memories_among_two_hundred_thousand_are_forgotten_in_five_seconds(graphmem: Graphmem, scope: Scope) -> None:
    for first in range(0, 200, 20):
        graphmem.neo4j.text(CROWD, {"t": scope.tenant, "first": first, "last": first + 19})
    user, other = Scope(scope.tenant, "user-77"), Scope(scope.tenant, "user-7")
    began = time.monotonic()
    assert graphmem.forget_all(user) == 1000
    assert time.monotonic() - began < 5
    assert graphmem.memories(user).total == 0
    text = "MATCH (:User {tenant_id: $t, user_id: 'user-77'})-[r]->() SET r.tombstoned_at = r.tombstoned_at - duration('P4D')"
    graphmem.neo4j.text(text, {"t": scope.tenant})
    graphmem.sweep(scope.tenant)
    assert edges(graphmem, user) == []
    assert graphmem.memories(other).total == 1000
    for n in range(200):
        graphmem.neo4j.text(DISPERSE, {"t": scope.tenant, "user": f"user-{n}"})


def test_the_sweep_of_one_tenant_leaves_the_others_alone(graphmem: Graphmem, scope: Scope) -> None:
    other = Scope(f"{scope.tenant}-2", scope.user)
    for who in (scope, other):
        graphmem.forget(who, held(graphmem, who, Remember("hobby", "chess")).mid)
        later(graphmem, who, timedelta(days=4).total_seconds() / 3600)
    purge_one = graphmem.sweep(scope.tenant).purged
    assert (purge_one, len(edges(graphmem, scope)), len(edges(graphmem, other))) == (1, 0, 1)


def test_another_process_of_the_home_does_not_go_on_holding_the_words(graphmem: Graphmem, neo4j_server: Neo4jServer, scope: Scope) -> None:
    connection, index = CountingNeo4j(neo4j_server), FakeIndex({"none": 1})
    with Graphmem(graphmem.settings, connection, index, (), graphmem._master) as other:
        memory = told(graphmem, scope)[WORD]
        told(other, scope, "今天天气不错。", "2")
        assert WORD in str(other.recall(scope, Ask("谢谢", session_id="s", tier="L1")))
        graphmem.forget(scope, memory.mid)
        assert WORD not in str(other.recall(scope, Ask("谢谢", session_id="s", tier="L1")))


@pytest.mark.parametrize("run", range(3))
def test_a_concept_that_goes_and_comes_at_once_is_never_lost(graphmem: Graphmem, scope: Scope, run: int) -> None:
    users = [Scope(scope.tenant, f"user-{n}") for n in range(4)]

    def come_and_go(who: Scope) -> None:
        for _ in range(4):
            memory = held(graphmem, who, Remember("hobby", "glass blowing"))
            graphmem.forget(who, memory.mid)
            later(graphmem, who, 73, user=who.user)
            graphmem.sweep(scope.tenant)
        held(graphmem, who, Remember("hobby", "glass blowing"))

    results(at_once([partial(come_and_go, who) for who in users], len(users)))
    for who in users:
        assert [e.about for e in edges(graphmem, who)] == [["text:glass blowing"]]
