"""Relations between memories, on the real store: made, carried, ended, walked; never across users, never to what is not told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from graphmem.answers import Memory, Remember
from graphmem.app import Graphmem
from graphmem.change import Change
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.memory import Provenance, SourceKind, Status, Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from tests.graph_view import ago, changes, edges, points

HAS, AFFECTS, AGAINST, FROM = (
    RelationType.HAS_CONDITION,
    RelationType.AFFECTS_MEDICATION,
    RelationType.CONTRADICTS,
    RelationType.DERIVED_FROM,
)
DOCUMENT = Provenance(SourceKind.DOCUMENT, "letter-1")

_RELATIONS = """
MATCH (:Memory {tenant_id: $tenant})-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(b:Memory)
RETURN type(x) AS type, startNode(x).mid AS a, b.mid AS b, properties(x) AS x ORDER BY x.recorded_at, x.rid
"""


def held(g: Graphmem, scope: Scope, key: str, value: str | None, days: float = 9, **given: Any) -> Memory:
    """A memory said some days ago."""
    done = g.remember(scope, Remember(key, value, said_at=ago(days=days), **given))
    assert done.memory is not None
    return done.memory


def stored(g: Graphmem, scope: Scope, kind: RelationType) -> list[tuple[str, str, bool]]:
    """(from, to, open) of all stored relations of a type."""
    found = g.neo4j.text(_RELATIONS, {"tenant": scope.tenant})
    return [(r["a"], r["b"], "valid_to" not in r["x"]) for r in found if r["type"] == kind.value]


def reached(g: Graphmem, scope: Scope, mid: str, depth: int = 1, **given: Any) -> list[str | None]:
    return [r.memory.value for r in g.related(scope, mid, depth=depth, **given).items]


# --- made


def test_two_memories_are_related_from_when_both_held_and_found_from_either_end(graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "employer", "Blue Mill", 9), held(graphmem, scope, "hobby", "chess", 4)
    made = graphmem.relate(scope, FROM, a.mid, b.mid, 0.4)
    assert (made.created, made.weight, made.valid_from) == (True, 0.4, b.valid_from)
    (there,) = graphmem.related(scope, a.mid).items
    (back,) = graphmem.related(scope, b.mid).items
    assert (there.memory.mid, back.memory.mid) == (b.mid, a.mid)
    assert there.path == back.path and (there.path[0].from_mid, there.path[0].to_mid, there.path[0].rid) == (a.mid, b.mid, made.rid)
    assert reached(graphmem, scope, a.mid, as_of=ago(days=3)) == ["chess"] and reached(graphmem, scope, a.mid, as_of=ago(days=5)) == []
    assert reached(graphmem, scope, a.mid, as_of=ago(days=3), known_at=b.recorded_at) == []
    assert changes(graphmem, scope)[-1]["route"] == "relate"


def test_the_same_request_is_one_relation_however_often_it_is_sent(graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: graphmem.relate(scope, FROM, a.mid, b.mid, key="k-1"), range(16)))
    assert len({m.rid for m in made}) == 1 and sum(not m.replayed for m in made) == 1
    again = graphmem.relate(scope, FROM, a.mid, b.mid)
    assert (again.rid, again.created) == (made[0].rid, False) and len(stored(graphmem, scope, FROM)) == 1
    with pytest.raises(ConflictError):
        graphmem.relate(scope, FROM, b.mid, a.mid, key="k-1")


def test_another_users_memory_is_unknown_at_either_end(graphmem: Graphmem, scope: Scope) -> None:
    other = Scope(scope.tenant, "user-2")
    mine, theirs = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, other, "employer", "Red Mill")
    for ends in ((mine.mid, theirs.mid), (theirs.mid, mine.mid), (mine.mid, "no-such")):
        with pytest.raises(NotFoundError):
            graphmem.relate(scope, FROM, *ends)
    with pytest.raises(NotFoundError):
        graphmem.related(scope, theirs.mid)
    assert stored(graphmem, scope, FROM) == []
    stranger = Scope(scope.tenant, "nobody")
    with pytest.raises(NotFoundError):
        graphmem.relate(stranger, FROM, mine.mid, theirs.mid)
    assert graphmem.neo4j.text("MATCH (u:User {tenant_id: $t, user_id: 'nobody'}) RETURN u", {"t": scope.tenant}) == []


def test_derived_types_wrong_weights_and_oneself_are_refused(graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    for kind, to, weight in (
        (RelationType.TEMPORAL_NEXT, b.mid, 1.0), (RelationType.SEMANTIC_SIMILAR, b.mid, 1.0), (FROM, a.mid, 1.0),
        (FROM, b.mid, 0.0), (FROM, b.mid, 1.5), (FROM, b.mid, float("nan")),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError):
            graphmem.relate(scope, kind, a.mid, to, weight)
    for depth in (0, 4):
        with pytest.raises(InvalidInputError):
            graphmem.related(scope, a.mid, depth=depth)


def test_a_relation_that_ended_is_still_found_for_before_and_its_end_again_is_the_same_answer(graphmem: Graphmem, scope: Scope) -> None:
    a, b = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    made = graphmem.relate(scope, FROM, a.mid, b.mid)
    ended = graphmem.unrelate(scope, made.rid)
    assert ended.valid_to is not None and graphmem.unrelate(scope, made.rid).replayed
    assert reached(graphmem, scope, a.mid) == [] and reached(graphmem, scope, a.mid, as_of=ago(days=2)) == ["chess"]
    assert reached(graphmem, scope, a.mid, as_of=ended.valid_to, known_at=ended.valid_to - timedelta(milliseconds=1)) == ["chess"]
    for rid in ("no-such", f"{a.mid}.000000000000"):
        with pytest.raises(NotFoundError):
            graphmem.unrelate(scope, rid)
    with pytest.raises(NotFoundError):
        graphmem.unrelate(Scope(scope.tenant, "user-2"), graphmem.relate(scope, FROM, a.mid, b.mid).rid)


# --- at a supersession


def test_conditions_and_medications_go_over_contradictions_end_and_origins_stay(graphmem: Graphmem, scope: Scope) -> None:
    old, other = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    for kind in (HAS, AFFECTS, AGAINST, FROM):
        graphmem.relate(scope, kind, old.mid, other.mid, 0.5)
    back = graphmem.relate(scope, HAS, other.mid, old.mid, 0.7)
    new = held(graphmem, scope, "employer", "Red Mill", 2)
    for kind in (HAS, AFFECTS):
        assert (old.mid, other.mid, False) in stored(graphmem, scope, kind) and (new.mid, other.mid, True) in stored(graphmem, scope, kind)
    assert stored(graphmem, scope, AGAINST) == [(old.mid, other.mid, False)]
    assert stored(graphmem, scope, FROM) == [(old.mid, other.mid, True)]
    assert (other.mid, new.mid, True) in stored(graphmem, scope, HAS)
    page = graphmem.related(scope, new.mid, types={HAS})
    assert [(r.memory.value, r.weight) for r in page.items] == [("chess", 0.7)] and page.items[0].path[0].rid != back.rid
    assert not graphmem.related(scope, old.mid).told
    assert reached(graphmem, scope, old.mid, as_of=ago(days=5)) == ["chess"] and reached(graphmem, scope, new.mid, as_of=ago(days=5)) == []


def test_a_relation_goes_over_version_after_version_and_stands_once(graphmem: Graphmem, scope: Scope) -> None:
    old, other = held(graphmem, scope, "employer", "Mill 0"), held(graphmem, scope, "hobby", "chess")
    graphmem.relate(scope, HAS, old.mid, other.mid)
    last = [held(graphmem, scope, "employer", f"Mill {n}", 8 - n) for n in range(1, 5)][-1]
    found = stored(graphmem, scope, HAS)
    assert len(found) == 5 and [pair for pair in found if pair[2]] == [(last.mid, other.mid, True)]


def test_two_related_memories_that_change_in_one_turn_are_related_once_new_to_new(graphmem: Graphmem, scope: Scope) -> None:
    city, job = held(graphmem, scope, "home_city", "Hangzhou"), held(graphmem, scope, "employer", "Blue Mill")
    graphmem.relate(scope, HAS, city.mid, job.mid)
    done = graphmem.inject(scope, Turn("I moved to Berlin. I now work at Siemens.", at=ago(days=1)))
    new = {s.memory.key: s.memory.mid for s in done.stored}
    assert set(new) == {"home_city", "employer"}
    assert [r for r in stored(graphmem, scope, HAS) if r[2]] == [(new["home_city"], new["employer"], True)]
    assert len(stored(graphmem, scope, HAS)) == 2


def test_a_change_of_concept_takes_the_relations_to_the_new_slot(graphmem: Graphmem, scope: Scope) -> None:
    old, other = held(graphmem, scope, "medication", "metformin"), held(graphmem, scope, "disease", "diabetes")
    graphmem.relate(scope, AFFECTS, other.mid, old.mid)
    new = graphmem.change(scope, old.mid, Change(value="aspirin", source=DOCUMENT)).memory
    assert new is not None and stored(graphmem, scope, AFFECTS) == [(other.mid, old.mid, False), (other.mid, new.mid, True)]
    assert reached(graphmem, scope, other.mid) == ["aspirin"]


def test_writers_of_memories_and_of_relations_never_lose_or_double_anything(graphmem: Graphmem, scope: Scope) -> None:
    other = held(graphmem, scope, "hobby", "chess")
    first = held(graphmem, scope, "employer", "Mill 0", 20)
    graphmem.relate(scope, HAS, first.mid, other.mid)

    def write(n: int) -> None:
        if n % 3:
            graphmem.remember(scope, Remember("employer", f"Mill {n}"))
        else:
            graphmem.relate(scope, FROM, held(graphmem, scope, "pet", f"cat {n}").mid, other.mid, key=f"k-{n % 6}-{n}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(1, 25)))
    now = graphmem.latest(scope, "employer").items[0]
    assert [r for r in stored(graphmem, scope, HAS) if r[2]] == [(now.mid, other.mid, True)]
    assert len(stored(graphmem, scope, HAS)) == 17 and len(stored(graphmem, scope, FROM)) == 8


def test_an_end_ends_the_relations_of_what_it_ends(graphmem: Graphmem, scope: Scope) -> None:
    job, other = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    graphmem.relate(scope, HAS, job.mid, other.mid)
    held(graphmem, scope, "employer", None, 2)
    assert stored(graphmem, scope, HAS) == [(job.mid, other.mid, False)] and reached(graphmem, scope, other.mid) == []
    assert reached(graphmem, scope, other.mid, as_of=ago(days=5)) == ["Blue Mill"]


def test_a_late_arrival_takes_no_relation_from_what_is_told_now(graphmem: Graphmem, scope: Scope) -> None:
    first, other = held(graphmem, scope, "employer", "Mill 1", 9), held(graphmem, scope, "hobby", "chess", 9)
    now = held(graphmem, scope, "employer", "Mill 2", 2)
    graphmem.relate(scope, HAS, first.mid, other.mid)
    graphmem.relate(scope, HAS, now.mid, other.mid)
    held(graphmem, scope, "employer", "Mill 1b", 5)
    assert stored(graphmem, scope, HAS) == [(first.mid, other.mid, True), (now.mid, other.mid, True)]


def test_a_version_taken_back_gives_its_relations_back(graphmem: Graphmem, scope: Scope) -> None:
    old, other = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    graphmem.relate(scope, HAS, old.mid, other.mid)
    wrong = held(graphmem, scope, "employer", "Red Mill", 2)
    graphmem.retract(scope, wrong.mid)
    assert reached(graphmem, scope, old.mid) == ["chess"] and reached(graphmem, scope, other.mid) == ["Blue Mill"]
    new = held(graphmem, scope, "employer", "Green Mill", 1)
    assert reached(graphmem, scope, new.mid) == ["chess"] and reached(graphmem, scope, other.mid) == ["Green Mill"]


def test_a_plan_takes_over_when_it_begins(graphmem: Graphmem, scope: Scope) -> None:
    old, other = held(graphmem, scope, "employer", "Blue Mill"), held(graphmem, scope, "hobby", "chess")
    graphmem.relate(scope, HAS, old.mid, other.mid)
    begins = datetime.now(UTC) + timedelta(days=3)
    plan = graphmem.remember(scope, Remember("employer", "Red Mill", valid_from=begins)).memory
    assert plan is not None and reached(graphmem, scope, other.mid) == ["Blue Mill"]
    assert reached(graphmem, scope, other.mid, as_of=begins + timedelta(days=1)) == ["Red Mill"]


# --- family history


@pytest.mark.parametrize("first", ["family_history", "disease"])
def test_a_family_history_leads_to_the_persons_own_condition_in_either_order(graphmem: Graphmem, scope: Scope, first: str) -> None:
    made = {}
    for key in (first, "disease" if first == "family_history" else "family_history"):
        made[key] = held(graphmem, scope, key, "糖尿病", subject="father" if key == "family_history" else "self")
    assert stored(graphmem, scope, HAS) == [(made["family_history"].mid, made["disease"].mid, True)]
    held(graphmem, scope, "family_history", "diabetes", 1, subject="father")
    assert len(stored(graphmem, scope, HAS)) == 1


def test_without_a_condition_of_ones_own_the_concept_alone_is_linked(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, "disease", "hypertension")
    held(graphmem, Scope(scope.tenant, "user-2"), "disease", "diabetes")
    held(graphmem, scope, "disease", "diabetes", subject="spouse")
    held(graphmem, scope, "family_history", "diabetes", subject="mother")
    assert stored(graphmem, scope, HAS) == []
    assert edges(graphmem, scope)[-1].about == ["disease:diabetes"]


# --- walked


def test_three_hops_are_walked_with_their_path_and_weights_and_no_further(graphmem: Graphmem, scope: Scope) -> None:
    chain = [held(graphmem, scope, "hobby", f"puzzle {n}") for n in range(5)]
    for a, b in pairwise(chain):
        graphmem.relate(scope, FROM, b.mid, a.mid, 0.5)
    for depth in (1, 2, 3):
        found = graphmem.related(scope, chain[0].mid, depth=depth).items
        assert [(r.memory.value, r.depth, r.weight) for r in found] == [(f"puzzle {n}", n, 0.5**n) for n in range(1, depth + 1)]
    assert [(h.from_mid, h.to_mid) for h in found[-1].path] == [(chain[n + 1].mid, chain[n].mid) for n in range(3)]
    assert reached(graphmem, scope, chain[0].mid, 3, types={HAS}) == []
    assert len(reached(graphmem, scope, chain[0].mid, 3, limit=2)) == 2


def test_nothing_is_reached_through_a_memory_that_is_forgotten_ended_or_expired(graphmem: Graphmem, scope: Scope) -> None:
    start, far = held(graphmem, scope, "hobby", "chess"), held(graphmem, scope, "hobby", "rowing")
    gone, over = held(graphmem, scope, "pet", "cat"), held(graphmem, scope, "vehicle", "ID.4", valid_to=ago(days=-1))
    stale = held(graphmem, scope, "drink_preference", "cola", 170)
    for middle in (gone, over, stale):
        graphmem.relate(scope, FROM, start.mid, middle.mid)
        graphmem.relate(scope, FROM, middle.mid, far.mid)
    assert sorted(map(str, reached(graphmem, scope, start.mid, 2))) == ["ID.4", "cat", "cola", "rowing"]
    graphmem.forget(scope, gone.mid)
    later = datetime.now(UTC) + timedelta(days=30)
    assert reached(graphmem, scope, start.mid, 2, as_of=later) == []
    assert "cat" not in reached(graphmem, scope, start.mid, 2) and "cat" not in reached(graphmem, scope, start.mid, 2, as_of=ago(days=1))


# --- worked out when asked for


def test_the_versions_beside_a_memory_are_named_with_their_status(graphmem: Graphmem, scope: Scope) -> None:
    one, two, three = (held(graphmem, scope, "employer", f"Mill {n}", 9 - n) for n in range(3))
    beside = graphmem.related(scope, two.mid, types={RelationType.TEMPORAL_NEXT}).items
    assert [(r.memory.mid, r.memory.status) for r in beside] == [(one.mid, Status.SUPERSEDED), (three.mid, Status.ACTIVE)]
    assert [(r.path[0].from_mid, r.path[0].to_mid) for r in beside] == [(one.mid, two.mid), (two.mid, three.mid)]
    graphmem.forget(scope, one.mid)
    assert [r.memory.mid for r in graphmem.related(scope, two.mid, types={RelationType.TEMPORAL_NEXT}).items] == [three.mid]
    assert graphmem.neo4j.text("MATCH (:Memory {tenant_id: $t})-[x:TEMPORAL_NEXT]->() RETURN x", {"t": scope.tenant}) == []


def test_memories_alike_in_words_are_found_through_the_index_and_only_while_they_are_told(graphmem: Graphmem, scope: Scope) -> None:
    a = held(graphmem, scope, "hobby", "playing chess in the evening")
    b = held(graphmem, scope, "hobby", "playing chess in the evenings with friends")
    held(graphmem, scope, "employer", "Blue Mill")
    graphmem.drain()
    for _ in range(10):  # on a shared server another process may have taken the records for its own index
        if points(graphmem, scope.tenant) < 3:
            graphmem.reindex(scope.tenant)
    found = graphmem.related(scope, a.mid, types={RelationType.SEMANTIC_SIMILAR})
    assert [r.memory.mid for r in found.items] == [b.mid] and found.items[0].weight >= graphmem.settings.recall_threshold
    graphmem.forget(scope, b.mid)
    assert graphmem.related(scope, a.mid, types={RelationType.SEMANTIC_SIMILAR}).items == ()
