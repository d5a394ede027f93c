"""Many writers at once: one current value, versions without gap, no retry, nothing twice; and the same without the lock, which fails."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from graphmem.answers import Remember, Remembered
from graphmem.app import Graphmem
from graphmem.book import Trust
from graphmem.casework import Spoken, reads, rule_of
from graphmem.errors import ConflictError, GraphmemError
from graphmem.ids import many, uuid7
from graphmem.memory import Kind, Statement, Verdict
from graphmem.ports import Operation
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.writing import Changes, Known, Origin, Written, hear
from tests.conftest import Neo4jServer
from tests.counting import CountingNeo4j, UnlockedNeo4j, at_once, counting, results
from tests.graph_view import ago, changes, edges, points, waiting

WRITERS = 50


@pytest.fixture(scope="module")
def counted(neo4j_server: Neo4jServer, graphmem: Graphmem) -> Iterator[Graphmem]:
    with counting(CountingNeo4j(neo4j_server), graphmem) as made:
        yield made


def attempts(g: Graphmem) -> int:
    assert isinstance(g.neo4j, CountingNeo4j)
    return g.neo4j.attempts


def reset(g: Graphmem) -> None:
    assert isinstance(g.neo4j, CountingNeo4j)
    g.neo4j.reset()


def remembering(g: Graphmem, scope: Scope, asks: list[Remember]) -> list[Callable[[], Remembered]]:
    return [partial(g.remember, scope, ask) for ask in asks]


def wrong(g: Graphmem, scope: Scope, writes: int, current: str | None = None) -> list[str]:
    """What of the promise does not hold after `writes` different values of one fact."""
    found = edges(g, scope)
    holding = [e for e in found if e.current]
    faults = []
    if [e.version for e in sorted(found, key=lambda e: e.version or 0)] != list(range(1, writes + 1)):
        faults.append("versions have a gap")
    if len(holding) != 1:
        faults.append(f"{len(holding)} current")
    elif current is not None and holding[0].value != current:
        faults.append(f"current is {holding[0].value}")
    if len(changes(g, scope)) != writes:
        faults.append("change records are missing")
    if not {e.mid for e in holding} <= waiting(g, scope.tenant):
        faults.append("the current memory has no outbox record")
    if attempts(g) != writes:
        faults.append(f"{attempts(g)} attempts")
    return faults


def sound(g: Graphmem, scope: Scope) -> None:
    """Nothing of what `graphmem check` proves of the graph is broken; this façade projects nothing."""
    (report,) = g.check(scope.tenant)
    assert report.memories > 0 and [b for b in report.breaks if b.kind != "memory_without_point"] == []


@pytest.mark.parametrize("run", range(10))
def test_fifty_writers_of_one_fact_leave_fifty_versions_and_one_current(counted: Graphmem, scope: Scope, run: int) -> None:
    reset(counted)
    done = results(at_once(remembering(counted, scope, [Remember("employer", f"Mill {i}") for i in range(WRITERS)]), WRITERS))
    assert wrong(counted, scope, WRITERS) == []
    assert sorted(m.memory.version or 0 for m in done if m.memory) == list(range(1, WRITERS + 1))
    last = max(edges(counted, scope), key=lambda e: e.version or 0)
    assert last.current and sorted(r["rev"] for r in changes(counted, scope)) == list(range(1, WRITERS + 1))
    # every write was current once: each left an outbox record
    assert waiting(counted, scope.tenant) == {e.mid for e in edges(counted, scope)}
    sound(counted, scope)


@pytest.mark.parametrize("run", range(10))
def test_fifty_writers_with_times_in_random_order_leave_the_latest_valid_current(counted: Graphmem, scope: Scope, run: int) -> None:
    reset(counted)
    first = ago(days=60)
    asks = [Remember("employer", f"Mill {i}", said_at=first + timedelta(days=i)) for i in range(WRITERS)]
    random.Random(run).shuffle(asks)
    results(at_once(remembering(counted, scope, asks), WRITERS))
    assert wrong(counted, scope, WRITERS, current=f"Mill {WRITERS - 1}") == []
    rows = sorted(edges(counted, scope), key=lambda e: e.edge["valid_from"])
    assert [e.value for e in rows] == [f"Mill {i}" for i in range(WRITERS)]
    assert [e.edge.get("valid_to") for e in rows] == [e.edge["valid_from"] for e in rows[1:]] + [None]
    sound(counted, scope)


@pytest.mark.parametrize("run", range(10))
def test_late_and_current_writers_mixed_leave_the_last_word_and_a_history_in_order(counted: Graphmem, scope: Scope, run: int) -> None:
    reset(counted)
    late = [Remember("employer", f"Forge {i}", said_at=ago(days=60 - i)) for i in range(25)]
    asks = [*late, *(Remember("employer", f"Mill {i}") for i in range(25))]
    random.Random(run).shuffle(asks)
    results(at_once(remembering(counted, scope, asks), WRITERS))
    found = edges(counted, scope)
    last = max((e for e in found if (e.value or "").startswith("Mill")), key=lambda e: e.edge["recorded_at"])
    assert wrong(counted, scope, WRITERS, current=last.value) == []
    rows = sorted(found, key=lambda e: e.edge["valid_from"])
    assert [e.value for e in rows[:25]] == [f"Forge {i}" for i in range(25)]
    assert [e.edge.get("valid_to") for e in rows] == [e.edge["valid_from"] for e in rows[1:]] + [None]
    sound(counted, scope)


def test_without_the_lock_the_same_race_goes_wrong(neo4j_server: Neo4jServer, graphmem: Graphmem, scope: Scope) -> None:
    with counting(UnlockedNeo4j(neo4j_server), graphmem) as unlocked:
        unlocked.remember(scope, Remember("employer", "Mill"))
        reset(unlocked)
        # twelve are enough to go wrong and are soon done; fifty wait long for each other's locks
        found = at_once(remembering(unlocked, scope, [Remember("employer", f"Mill {i}") for i in range(12)]), 12)
        refused = [f for f in found if isinstance(f, GraphmemError)]
        assert refused or attempts(unlocked) > 12 or wrong(unlocked, scope, 13)[:-1]


def test_eighty_changes_by_eight_workers_leave_one_current_and_eighty_past(counted: Graphmem, scope: Scope) -> None:
    reset(counted)
    counted.remember(scope, Remember("coffee_preference", "latte"))
    asks = [Remember("coffee_preference", f"house blend {i}") for i in range(80)]
    results(at_once(remembering(counted, scope, asks), 8))
    assert wrong(counted, scope, 81) == []
    assert len([e for e in edges(counted, scope) if not e.current]) == 80


def test_eight_identical_writes_at_once_leave_one_memory(counted: Graphmem, scope: Scope) -> None:
    done = results(at_once(remembering(counted, scope, [Remember("likes", "hiking")] * 8), 8))
    one = edges(counted, scope)
    assert len(one) == 1 and {d.memory.mid for d in done if d.memory} == {one[0].mid}
    assert sorted(d.verdict or "" for d in done) == sorted([Verdict.NEW] + [Verdict.REINFORCE] * 7)
    assert one[0].edge["evidence"] == 8 == len(one[0].sources)


@pytest.mark.parametrize("run", range(10))
def test_twenty_calls_under_one_key_have_one_effect_and_one_answer(counted: Graphmem, scope: Scope, run: int) -> None:
    ask = Remember("home_city", "Hangzhou", said_at=ago(days=2))
    done = results(at_once([partial(counted.remember, scope, ask, key="one-key")] * 20, 20))
    assert sum(not d.replayed for d in done) == 1
    assert all(replace(d, replayed=False) == replace(done[0], replayed=False) for d in done)
    assert len(edges(counted, scope)) == 1 and len(changes(counted, scope)) == 1
    sound(counted, scope)


def test_one_key_with_two_bodies_at_once_keeps_one_and_refuses_the_other(counted: Graphmem, scope: Scope) -> None:
    asks = [Remember("home_city", city) for city in ("Hangzhou", "Nanjing")] * 4
    found = at_once([partial(counted.remember, scope, ask, key="one-key") for ask in asks], 8)
    refused = [f for f in found if isinstance(f, ConflictError)]
    assert len(refused) == 4 and {f.code for f in refused} == {"idempotency_key_reused"}
    assert len(edges(counted, scope)) == 1


def test_twenty_users_writing_the_same_new_concepts_at_once_never_deadlock(counted: Graphmem, scope: Scope) -> None:
    for wave in range(3):
        reset(counted)
        concepts = [f"trail {wave}-{i}" for i in range(6)]
        rng = random.Random(wave)
        users = [(Scope(scope.tenant, f"user-{wave}-{n}"), rng.sample(concepts, 3)) for n in range(20)]
        results(at_once([partial(write_several, counted, who, chosen) for who, chosen in users], 20))
        assert attempts(counted) == 20
        for who, chosen in users:
            found = edges(counted, who)
            assert {e.value for e in found} == set(chosen) and all(e.current and len(e.about) == 1 for e in found)
            assert len(changes(counted, who)) == 1


def write_several(g: Graphmem, scope: Scope, liked: list[str]) -> Written:
    """One write of several memories, in the order given: what a turn that names them all does."""
    key = g.ontology.get("likes")
    assert key is not None
    said = [Statement(Kind.PREFERENCE, "likes", v, ckey=g.room.lexicon.ckey(v, ()), deliberate=True) for v in liked]
    spoken = [Spoken(scope, s, rule_of(key), Trust()) for s in said]
    op = Operation(operation_id(scope, "turn", uuid7()), "hash", "turn", "user")
    origin = Origin(f"op:{op.op}", "user_stated", None, None, "default", "UTC")
    mids = many(8)

    def decide(known: Known) -> Changes:
        book, decided = hear(known, spoken, g.room.limits, g.room.skew, mids)
        return g.room.close(known, book, decided, Changes("", origin), {}, "en")

    return g.writer.write(scope, op, reads(spoken), decide)


def test_parallel_adds_of_one_preference_are_one_memory_with_all_its_evidence_and_one_vector(
    graphmem: Graphmem, counted: Graphmem, scope: Scope
) -> None:
    """con-01: from two services that share the stores and nothing else."""
    ask = Remember("likes", "茶", said_at=ago(hours=1))
    done = results(at_once([partial((graphmem, counted)[i % 2].remember, scope, ask) for i in range(20)], 20))
    one = edges(graphmem, scope)
    assert len(one) == 1 and {d.memory.mid for d in done if d.memory} == {one[0].mid}
    assert one[0].edge["evidence"] == 20
    graphmem.drain()
    assert points(graphmem, scope.tenant) == 1


def test_hundreds_of_different_facts_written_at_once_are_all_there(graphmem: Graphmem, scope: Scope) -> None:
    """con-02, without import and sweep."""
    asks = [Remember("pet", f"parrot {i}") for i in range(100)] + [Remember("hobby", f"puzzle {i}") for i in range(100)]
    results(at_once(remembering(graphmem, scope, asks), 16))
    found = edges(graphmem, scope)
    assert sorted(e.value or "" for e in found) == sorted(a.value or "" for a in asks)
    assert all(e.current and e.version == 1 for e in found)
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].breaks == () and points(graphmem, scope.tenant) == 200
