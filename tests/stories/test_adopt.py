"""What somebody wrote into the graph by Cypher is found, judged like everything else, or named with what is still to be said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.bulk import ImportAsk
from graphmem.check import STRAY
from graphmem.relations import RelationType
from graphmem.scope import Scope
from graphmem.strays import AdoptAsk, Question
from tests.conftest import Neo4jServer
from tests.graph_view import edges
from tests.terminal import Terminal, environment

START = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=90)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def drawn(g: Graphmem, scope: Scope, kind: str, edge: Mapping[str, object], node: Mapping[str, object] | None = None) -> str:
    """An edge as somebody draws it in Browser; its element id."""
    text = (
        "MERGE (u:User {tenant_id: $t, user_id: $u}) CREATE (u)-[r:$($k)]->(m:Memory) SET r = $edge, m = $node RETURN elementId(r) AS ref"
    )
    given = {"t": scope.tenant, "u": scope.user, "k": kind, "edge": dict(edge), "node": dict(node or {})}
    return str(g.neo4j.text(text, given)[0]["ref"])


def strays(g: Graphmem, tenant: str) -> list[str]:
    return [b.ref for b in g.check(tenant)[0].breaks if b.kind == STRAY]


def clean(g: Graphmem, tenant: str) -> bool:
    g.drain()
    return g.check(tenant)[0].clean


def told(g: Graphmem, scope: Scope, key: str) -> list[str | None]:
    return [m.value for m in g.latest(scope, key).items]


def by_reason(found: tuple[Question, ...]) -> dict[str, str]:
    return {q.value: f"{q.reason} / {q.option}" for q in found}


def test_an_edge_drawn_by_hand_is_found_by_check_told_to_nobody_and_told_once_it_is_adopted(graphmem: Graphmem, scope: Scope) -> None:
    ref = drawn(graphmem, scope, "FACT", {"key": "home_city", "at": day(0)}, {"value": "Oslo"})
    assert strays(graphmem, scope.tenant) == [ref]
    assert told(graphmem, scope, "home_city") == [] and graphmem.memories(scope).items == ()
    plan = graphmem.adopt_plan(scope.tenant)
    assert (plan.found, plan.ready, plan.verdicts) == (1, 1, {}) and strays(graphmem, scope.tenant) == [ref]
    done = graphmem.adopt(scope.tenant)
    assert (done.found, done.verdicts, done.asked) == (1, {"new": 1}, 0)
    (memory,) = graphmem.latest(scope, "home_city").items
    assert (memory.value, memory.version, memory.valid_from, memory.source.kind.value) == ("Oslo", 1, day(0), "import")
    assert clean(graphmem, scope.tenant)
    again = graphmem.adopt(scope.tenant)
    assert (again.found, again.verdicts) == (0, {}) and len(edges(graphmem, scope)) == 1


def test_edges_drawn_in_any_order_become_the_history_that_the_judge_makes_of_them(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Rome", said_at=day(20)))
    for city, said in (("Lima", day(30)), ("Oslo", day(0)), ("Rome", day(25))):
        drawn(graphmem, scope, "FACT", {"key": "home_city", "value": city, "said_at": said.isoformat()})
    drawn(graphmem, scope, "PREFERENCE", {"key": "likes", "at": day(3)}, {"value": "乌龙茶"})
    done = graphmem.adopt(scope.tenant)
    assert done.verdicts == {"backfill": 1, "new": 1, "reinforce": 1, "supersede": 1}
    values = [graphmem.latest(scope, "home_city", as_of=day(n)).items[0].value for n in (5, 22, 35)]
    assert values == ["Oslo", "Rome", "Lima"] and told(graphmem, scope, "likes") == ["乌龙茶"]
    assert len(edges(graphmem, scope)) == 4 and clean(graphmem, scope.tenant)


def test_what_nobody_can_know_is_asked_with_the_option_that_settles_it(graphmem: Graphmem, scope: Scope) -> None:
    drawn(graphmem, scope, "FACT", {"key": "motto", "value": "slowly"})
    drawn(graphmem, scope, "FACT", {"value": "nothing"})
    drawn(graphmem, scope, "PREFERENCE", {"key": "home_city", "value": "Bonn"})
    one = drawn(graphmem, scope, "FACT", {"key": "employer", "value": "Acme"})
    drawn(graphmem, scope, "FACT", {"key": "employer", "value": "Umbra"})
    graphmem.neo4j.text("CREATE (:Memory {tenant_id: $t, key: 'likes', value: 'tea'})", {"t": scope.tenant})
    plan = graphmem.adopt_plan(scope.tenant)
    asked = by_reason(plan.questions)
    assert (plan.found, plan.ready, plan.asked) == (6, 0, 6)
    assert asked["slowly"].endswith("/ --arity motto=one|many|pole")
    assert "needs a key" in asked["nothing"] and "is a fact key" in asked["Bonn"]
    assert "several values of 'employer' at one time: Acme, Umbra" in asked["Acme"] and f"--choose {one}" in asked["Acme"]
    assert asked["tea"] == "it hangs on no user / --user NAME"
    assert len(strays(graphmem, scope.tenant)) == 6
    known = AdoptAsk(user=scope.user, arities={"motto": "one"}, chosen=frozenset({one}))
    done = graphmem.adopt(scope.tenant, known)
    assert (done.found, done.verdicts, done.asked) == (6, {"new": 3}, 3)
    assert [told(graphmem, scope, key) for key in ("motto", "employer", "likes")] == [["slowly"], ["Acme"], ["tea"]]
    assert {q.value for q in done.questions} == {"nothing", "Bonn", "Umbra"}


def test_what_is_rejected_leaves_the_graph_and_is_kept_as_rows_that_an_import_reads(
    graphmem: Graphmem, scope: Scope, tmp_path: Path
) -> None:
    drawn(graphmem, scope, "PREFERENCE", {"key": "home_city", "value": "Bonn", "at": day(1)})
    drawn(graphmem, scope, "FACT", {"key": "home_city", "value": "Oslo", "at": day(2)})
    graphmem.neo4j.text("CREATE (:Memory {tenant_id: $t, value: 'tea'})", {"t": scope.tenant})
    kept = tmp_path / "rejects.jsonl"
    done = graphmem.adopt(scope.tenant, AdoptAsk(reject=True, rejects=kept))
    assert (done.found, done.verdicts, done.rejected, done.rejects) == (3, {"new": 1}, 2, str(kept))
    assert clean(graphmem, scope.tenant) and strays(graphmem, scope.tenant) == []
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert {r["value"] for r in rows} == {"Bonn", "tea"} and all(r["_reason"] for r in rows)
    (bonn,) = (r for r in rows if r["value"] == "Bonn")
    fixed = tmp_path / "fixed.jsonl"
    fixed.write_text(json.dumps(bonn | {"kind": "fact"}), encoding="utf-8")
    assert graphmem.import_file(scope.tenant, ImportAsk(fixed)).verdicts == {"backfill": 1}


def test_slots_versions_and_handles_that_somebody_wrote_are_not_believed(graphmem: Graphmem, scope: Scope) -> None:
    held = graphmem.remember(scope, Remember("home_city", "Rome", said_at=day(1))).memory
    assert held is not None
    slot = edges(graphmem, scope)[0].edge["slot"]
    false = {"key": "home_city", "at": day(2), "slot": slot, "version": 7, "status": "active", "planned_slot": slot, "confidence": 0.9}
    drawn(graphmem, scope, "FACT", false, {"value": "Lima"})
    done = graphmem.adopt(scope.tenant)
    assert done.verdicts == {"supersede": 1}
    assert [(m.value, m.version) for m in graphmem.history(scope, held.mid)] == [("Rome", 1), ("Lima", 2)]
    assert clean(graphmem, scope.tenant)


def test_relations_between_what_was_drawn_go_over_to_the_memories_and_concepts_stay(graphmem: Graphmem, scope: Scope) -> None:
    given = {"t": scope.tenant, "u": scope.user, "at": day(1)}
    graphmem.neo4j.text(
        "MERGE (u:User {tenant_id: $t, user_id: $u}) MERGE (c:Concept {tenant_id: $t, ckey: 'text:chess'})"
        " CREATE (u)-[:FACT {key: 'medication', at: $at}]->(a:Memory {value: 'warfarin'}),"
        " (u)-[:FACT {key: 'disease', at: $at}]->(b:Memory {value: 'atrial fibrillation'}), (b)-[:AFFECTS_MEDICATION]->(a),"
        " (u)-[:FACT {key: 'hobby', value: 'chess', at: $at}]->(c)",
        given,
    )
    done = graphmem.adopt(scope.tenant)
    assert done.found == 3 and sum(done.verdicts.values()) == 3 and done.asked == 0
    (disease,) = graphmem.latest(scope, "disease").items
    found = graphmem.related(scope, disease.mid, types=[RelationType.AFFECTS_MEDICATION]).items
    assert [r.memory.value for r in found] == ["warfarin"]
    assert graphmem.neo4j.text("MATCH (c:Concept {tenant_id: $t, ckey: 'text:chess'}) RETURN count(c) AS n", given)[0]["n"] == 1
    assert clean(graphmem, scope.tenant)


def test_a_phone_number_drawn_by_hand_waits_for_its_proofs_like_any_other(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("phone", "0532-0012345", said_at=day(1)))
    drawn(graphmem, scope, "FACT", {"key": "phone", "value": "0532-7654321", "at": day(2)})
    assert graphmem.adopt(scope.tenant).found == 1
    assert told(graphmem, scope, "phone") == ["0532-0012345"] and strays(graphmem, scope.tenant) == []


def test_forgetting_a_person_takes_along_what_was_drawn_of_them(graphmem: Graphmem, scope: Scope) -> None:
    drawn(graphmem, scope, "FACT", {"key": "home_city", "value": "Oslo", "at": day(1)})
    other = Scope(scope.tenant, "user-2")
    kept = drawn(graphmem, other, "FACT", {"key": "home_city", "value": "Rome", "at": day(1)})
    graphmem.remember(scope, Remember("hobby", "chess", said_at=day(1)))
    graphmem.forget_all(scope)
    assert strays(graphmem, scope.tenant) == [kept]


def test_an_export_leaves_out_what_was_not_adopted_and_a_wipe_does_not(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.remember(scope, Remember("home_city", "Rome", said_at=day(1)))
    drawn(graphmem, scope, "FACT", {"key": "home_city", "at": day(2), "recorded_at": day(2)}, {"value": "Lima", "tenant_id": scope.tenant})
    text = "".join(graphmem.export(scope.tenant))
    assert "Rome" in text and "Lima" not in text
    assert graphmem.timeline(scope).items
    graphmem.wipe(scope.tenant)
    assert graphmem.neo4j.text("MATCH (m:Memory) WHERE m.tenant_id = $t RETURN count(m) AS n", {"t": scope.tenant})[0]["n"] == 0


def test_strays_of_a_user_whom_nobody_can_be_called_stop_no_other(graphmem: Graphmem, scope: Scope) -> None:
    drawn(graphmem, scope, "FACT", {"key": "home_city", "value": "Oslo", "at": day(1)})
    text = "CREATE (:User {tenant_id: $t, user_id: $u})-[:FACT {key: 'home_city', value: 'Rome'}]->(:Memory)"
    graphmem.neo4j.text(text, {"t": scope.tenant, "u": "x" * 2000})
    done = graphmem.adopt(scope.tenant)
    assert (done.found, done.verdicts, done.asked) == (2, {"new": 1}, 1)
    assert "can be called so" in done.questions[0].reason
    graphmem.wipe(scope.tenant)


def test_the_command_line_plans_adopts_and_says_what_is_still_to_be_settled(
    neo4j_server: Neo4jServer, graphmem: Graphmem, scope: Scope, tmp_path: Path
) -> None:
    terminal = Terminal(environment(neo4j_server, tmp_path / "home"), scope.tenant)
    drawn(graphmem, scope, "FACT", {"key": "home_city", "value": "Oslo", "at": day(1)})
    drawn(graphmem, scope, "FACT", {"key": "motto", "value": "slowly"})
    tenant = ("--tenant", scope.tenant)
    plan = terminal.run("adopt", *tenant, "--dry-run")
    assert plan.code == 3 and "2 found, 1 can be adopted" in plan.talk and "motto" in plan.data
    assert terminal.run("adopt", *tenant, "--reject").code == 2 and terminal.run("adopt", *tenant, "--arity", "motto").code == 2
    done = terminal.run("adopt", *tenant, "--arity", "motto=many", "-o", "json")
    assert done.code == 0 and "2 adopted" in done.talk
    answer = done.json()
    assert isinstance(answer, dict) and answer["verdicts"] == {"new": 2}
    assert terminal.run("check", *tenant).code == 0
