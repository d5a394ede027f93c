"""`graphmem check` names each kind of break: every one is planted by plain Cypher (or in the index) in a sound tenant of its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.ports import Point
from graphmem.scope import Scope
from graphmem.stores import keys
from tests.graph_view import ago, edges

OF = "MATCH (u:User {tenant_id: $t, user_id: $u})-[r]->(m:Memory) "
LATTE, BERGEN, OSLO, MILL, WRONG = (OF + f"WHERE m.value = '{v}' " for v in ("latte", "Bergen", "Oslo", "Mill", "Lima"))
PENDING = OF + "WHERE r.version IS NULL "
HELD = OF + "WHERE r.key = 'allergy' AND r.version = 1 "
BESIDE = "CREATE (x:User {tenant_id: $t, user_id: 'user-2'})-[q:PREFERENCE]->(n:Memory {tenant_id: $t, user_id: 'user-2', mid: 'm-2'})"
"""A second user's memory, sound but for what a planted line adds; m is the first user's latte, s its source."""
COPY = (
    LATTE + "MATCH (m)-[:FROM_SOURCE]->(s) MATCH (m)-[:ABOUT]->(c) " + BESIDE + "-[:FROM_SOURCE]->(s) CREATE (n)-[:ABOUT]->(c) "
    "SET q = r {.*, mid: 'm-2', slot: replace(r.slot, '|user-1|', '|user-2|'), thing: replace(r.thing, '|user-1|', '|user-2|'),"
    " current_slot: replace(r.slot, '|user-1|', '|user-2|'), is_end: true, owner: replace(r.owner, '|user-1|', '|user-2|')} "
)

PLANTED = {
    "memory_without_edge": LATTE + "DELETE r",
    "memory_with_two_edges": LATTE + "CREATE (u)-[q:PREFERENCE]->(m) SET q = r {.*, slot: r.slot + '2', current_slot: null}",
    "memory_of_another_user": LATTE + "SET m.user_id = 'user-2'",
    "mid_differs": LATTE + "SET r.mid = r.mid + 'x'",
    "edge_lacks_property": LATTE + "REMOVE r.said_at",
    "memory_without_source": LATTE + "MATCH (m)-[f:FROM_SOURCE]->() DELETE f",
    "memory_without_concept": LATTE + "MATCH (m)-[a:ABOUT]->() DELETE a",
    "handle_of_another_slot": LATTE + "SET r.current_slot = r.slot + '2'",
    "slot_of_another_user": LATTE
    + "SET r.slot = replace(r.slot, '|user-1|', '|user-2|'), r.current_slot = replace(r.slot, '|user-1|', '|user-2|')",
    "wrong_owner": LATTE + "SET r.owner = replace(r.owner, '|user-1|', '|user-2|')",
    "slot_of_two_keys": BERGEN + "SET r.key = 'work_city'",
    "version_gap": OSLO + "SET r.version = 7",
    "wrong_end": BERGEN + "SET r.valid_to = r.valid_to + duration({days: 1})",
    "wrong_expiry": LATTE + "SET r.expires_at = r.expires_at + duration({days: 1})",
    "current_but_not_holding": OSLO + "REMOVE r.current_slot WITH u MATCH (u)-[q]->(:Memory {value: 'Bergen'}) SET q.current_slot = q.slot",
    "holding_but_not_current": OSLO + "REMOVE r.current_slot",
    "inset_not_over": MILL + "SET r.ends_at = r.said_at + duration({days: 1})",
    "retracted_before_recorded": WRONG + "SET r.retracted_at = r.recorded_at - duration({days: 1})",
    "pending_is_current": HELD + "REMOVE r.current_slot WITH u MATCH (u)-[q]->() WHERE q.version IS NULL SET q.current_slot = q.slot",
    "pending_without_handle": PENDING + "REMOVE r.pending_slot",
    "decision_half_written": PENDING + "SET r.decided_at = r.recorded_at",
    "relation_between_two_users": COPY + "CREATE (m)-[:CONTRADICTS {rid: 'x'}]->(n)",
    "review_without_pending": PENDING + "MATCH (v:Review {tenant_id: $t}) SET v.pending_mid = 'nobody'",
    "outbox_parked": LATTE
    + "CREATE (:Outbox {oid: randomUUID(), ref: m.mid, kind: 'memory', tenant_id: $t, user_id: $u, parked_at: r.said_at})",
    "point_without_memory": LATTE + "DETACH DELETE m",
    "point_of_other_version": LATTE + "SET r.version = 2",
}
"""Kind of break → the statement that makes it."""

FOLLOWING = {
    "memory_without_edge": {"point_without_memory"},
    "memory_with_two_edges": {"holding_but_not_current", "wrong_end"},
    "slot_of_another_user": {"wrong_owner"},
    "inset_not_over": {"wrong_end"},
    "current_but_not_holding": {"holding_but_not_current", "point_without_memory", "memory_without_point"},
    "holding_but_not_current": {"point_without_memory"},
    "version_gap": {"point_of_other_version"},
    "pending_is_current": {"holding_but_not_current", "point_without_memory", "memory_without_point"},
    "pending_without_handle": {"review_without_pending"},
}
"""What the same statement breaks besides."""


def sound(g: Graphmem, scope: Scope) -> None:
    """A tenant that holds one of everything and in which nothing is wrong."""
    for city, days in (("Bergen", 40), ("Oslo", 9)):
        g.remember(scope, Remember("home_city", city, said_at=ago(days=days)))
    g.remember(scope, Remember("coffee_preference", "latte", said_at=ago(days=5)))
    g.remember(scope, Remember("employer", "Mill", valid_from=ago(days=900), valid_to=ago(days=700), said_at=ago(days=5)))
    g.remember(scope, Remember("allergy", "penicillin", said_at=ago(days=5)))
    g.remember(scope, Remember("allergy", "penicillin", polarity="-", said_at=ago(days=1)))
    wrong = g.remember(scope, Remember("pet", "Lima")).memory
    assert wrong is not None
    g.retract(scope, wrong.mid)
    g.inject(scope, Turn("I like hiking.", session_id="s", turn_id="1", at=ago(days=2)))
    g.drain()
    (report,) = g.check(scope.tenant)
    assert report.breaks == () and report.memories == len(edges(g, scope)) == 8
    assert {e.version is None for e in edges(g, scope)} == {True, False} and any(e.edge.get("inset") for e in edges(g, scope))


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_break_is_found_by_its_name_and_nothing_else_is_blamed(graphmem: Graphmem, scope: Scope, kind: str) -> None:
    sound(graphmem, scope)
    graphmem.neo4j.text(PLANTED[kind], {"t": scope.tenant, "u": scope.user})
    (report,) = graphmem.check(scope.tenant)
    found = {b.kind for b in report.breaks}
    assert kind in found and found <= {kind} | FOLLOWING.get(kind, set()), report.breaks
    assert all(b.tenant == scope.tenant and b.ref for b in report.breaks)
    graphmem.wipe(scope.tenant)
    assert graphmem.check(scope.tenant)[0].breaks == ()


def test_a_point_that_is_missing_and_one_too_many_are_named_with_their_memory(graphmem: Graphmem, scope: Scope) -> None:
    sound(graphmem, scope)
    (latte,) = [e for e in edges(graphmem, scope) if e.value == "latte"]
    names = [e.name for e in graphmem._embedders]
    graphmem.index.delete(scope.tenant, "preference", [keys.point_id(latte.mid, names)])
    (found,) = graphmem.check(scope.tenant)[0].breaks
    assert (found.kind, found.ref) == ("memory_without_point", latte.mid)
    stranger = keys.point_id("nobody", names)
    graphmem.index.upsert(scope.tenant, [Point(stranger, "nobody", "fact", "someone", 1, {})])
    assert {(b.kind, b.ref) for b in graphmem.check(scope.tenant)[0].breaks} == {
        ("memory_without_point", latte.mid),
        ("point_without_memory", "nobody"),
    }
    graphmem.reindex(scope.tenant)
    assert graphmem.check(scope.tenant)[0].breaks == ()


def test_check_reads_many_users_in_batches_and_names_the_one_that_is_broken(graphmem: Graphmem, scope: Scope) -> None:
    scopes = [Scope(scope.tenant, f"user-{n:03}") for n in range(30)]
    for one in scopes:
        graphmem.remember(one, Remember("home_city", "Oslo"))
    graphmem.drain()
    (bad,) = edges(graphmem, scopes[17])
    later = bad.edge["valid_from"] + timedelta(days=1)
    graphmem.neo4j.text("MATCH ()-[r:FACT {mid: $mid}]->() SET r.valid_to = $at", {"mid": bad.mid, "at": later})
    (report,) = graphmem.check(scope.tenant)
    assert (report.users, report.memories) == (30, 30)
    assert [(b.kind, b.ref) for b in report.breaks] == [("wrong_end", bad.mid)]
