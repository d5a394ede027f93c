"""The candidate index is only a hint: empty, lying, stale or stopped, recall and search stay right, never foreign, never an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphmem.answers import Ask, Recalled, Remember
from graphmem.app import Graphmem, open_graphmem
from graphmem.errors import ConfigurationError, UnavailableError
from graphmem.memory import Turn
from graphmem.ports import Candidate, Collection, HeldPage, IndexQuery, Point
from graphmem.scope import Scope
from graphmem.stores import keys
from graphmem.stores.embedding import vectors_for
from graphmem.stores.qdrant_edge import EdgeIndex
from tests.conftest import Neo4jServer, new_tenant, settings_for
from tests.graph_view import ago, edges, points, waiting


class StoppedIndex:
    """An index that does not answer."""

    def ensure(self, tenant: str, *, fresh: bool = False) -> None:
        raise self._away()

    def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        raise self._away()

    def delete(self, tenant: str, collection: Collection, ids: Sequence[str]) -> None:
        raise self._away()

    def search(self, tenant: str, query: IndexQuery) -> list[Candidate]:
        raise self._away()

    def ids(self, tenant: str, collection: Collection, pseudonym: str | None = None, after: str | None = None) -> HeldPage:
        raise self._away()

    def count(self, tenant: str, collection: Collection, pseudonym: str | None = None) -> int:
        raise self._away()

    def health(self) -> None:
        raise self._away()

    @staticmethod
    def _away() -> UnavailableError:
        return UnavailableError("the index was stopped", store="qdrant")


def told(recalled: Recalled) -> set[str | None]:
    return {h.memory.value for h in recalled.memories}


@pytest.fixture
def two(graphmem: Graphmem, scope: Scope) -> tuple[Scope, Scope]:
    """Two users of one tenant who like different coffees and have different allergies; everything projected."""
    a, b = scope, Scope(scope.tenant, "user-2")
    for who, coffee, allergy in ((a, "latte", "penicillin"), (b, "espresso", "peanut")):
        graphmem.remember(who, Remember("coffee_preference", coffee, said_at=ago(days=4)))
        graphmem.remember(who, Remember("allergy", allergy, said_at=ago(days=4)))
        graphmem.inject(who, Turn(f"I drink {coffee}.", session_id="s-1", turn_id="t-1", at=ago(days=3)))
    graphmem.drain()
    assert not waiting(graphmem, scope.tenant)
    return a, b


def asked(g: Graphmem, who: Scope) -> tuple[set[str | None], set[str | None]]:
    """What a recall tells and what a search finds."""
    recalled = g.recall(who, Ask("what coffee do I usually drink?", tier="L2"))
    assert recalled.receipt.lines or not recalled.memories
    return told(recalled), {h.memory.value for h in g.search(who, "latte espresso penicillin peanut").items}


def test_with_an_emptied_index_recall_still_tells_what_the_graph_knows(graphmem: Graphmem, two: tuple[Scope, Scope]) -> None:
    for who, coffee, allergy in zip(two, ("latte", "espresso"), ("penicillin", "peanut"), strict=True):
        assert asked(graphmem, who) == ({coffee}, {coffee, allergy})
    graphmem.index.ensure(two[0].tenant, fresh=True)
    assert points(graphmem, two[0].tenant) == 0
    for who, coffee, allergy in zip(two, ("latte", "espresso"), ("penicillin", "peanut"), strict=True):
        assert asked(graphmem, who) == ({coffee}, {coffee, allergy})
    assert graphmem.recall(two[0], Ask("coffee", mode="evidence")).turns == ()
    report = graphmem.check(two[0].tenant)[0]
    assert {b.kind for b in report.breaks} == {"memory_without_point"}


def test_an_emptied_index_is_rebuilt_from_the_graph(graphmem: Graphmem, two: tuple[Scope, Scope]) -> None:
    before = points(graphmem, two[0].tenant)
    graphmem.index.ensure(two[0].tenant, fresh=True)
    graphmem.reindex(two[0].tenant)
    assert points(graphmem, two[0].tenant) == before == 4 and graphmem.check(two[0].tenant)[0].clean
    assert [t.text for t in graphmem.recall(two[0], Ask("latte", mode="evidence")).turns] == ["I drink latte."]


def test_an_index_full_of_another_users_ids_never_shows_a_foreign_memory(graphmem: Graphmem, two: tuple[Scope, Scope]) -> None:
    mine, other = two
    tenant = keys.tenant_key(graphmem._master, mine.tenant)
    lies = []
    for i, e in enumerate(edges(graphmem, other)):
        collection: Collection = "preference" if e.kind == "PREFERENCE" else "fact"
        lies.append(_lie(graphmem, collection, e.mid, keys.pseudonym(tenant, mine.user), str(e.value), i))
    for t in graphmem.reader.turns(other, "s-1"):
        lies.append(_lie(graphmem, "turn", t.ref, keys.pseudonym(tenant, mine.user), t.text, 9))
    lies.append(_lie(graphmem, "fact", "mid-of-nobody", keys.pseudonym(tenant, mine.user), "espresso", 10))
    graphmem.index.ensure(mine.tenant, fresh=True)
    graphmem.index.upsert(mine.tenant, lies)
    recalled = graphmem.recall(mine, Ask("espresso coffee", tier="L2", explain=True))
    assert told(recalled) <= {"latte"}
    foreign = {e.mid for e in edges(graphmem, other)}
    assert {x.mid for x in recalled.receipt.lines if x.told}.isdisjoint(foreign)
    assert "espresso" not in recalled.prompt and "peanut" not in recalled.prompt
    assert {h.memory.value for h in graphmem.search(mine, "espresso peanut").items} <= {"latte", "penicillin"}
    assert graphmem.recall(mine, Ask("espresso", mode="evidence")).turns == ()
    assert {b.kind for b in graphmem.check(mine.tenant)[0].breaks} >= {"point_without_memory"}


def _lie(g: Graphmem, collection: Collection, ref: str, pseudonym: str, text: str, n: int) -> Point:
    vectors = vectors_for(g._embedders, text, query=False)
    return Point(keys.point_id(f"lie-{n}", ["use"]), ref, collection, pseudonym, 1, vectors, text=text)


def test_a_stale_index_never_tells_a_superseded_or_forgotten_memory(graphmem: Graphmem, two: tuple[Scope, Scope]) -> None:
    mine, _ = two
    old = graphmem.latest(mine, "coffee_preference").items[0]
    allergy = graphmem.latest(mine, "allergy").items[0]
    graphmem.remember(mine, Remember("coffee_preference", "mocha"))
    graphmem.forget(mine, allergy.mid)  # nothing is drained: the index still holds both
    recalled = graphmem.recall(mine, Ask("latte", tier="L2"))
    assert "latte" not in told(recalled) and old.mid not in {x.mid for x in recalled.receipt.lines if x.told}
    assert {h.memory.value for h in graphmem.search(mine, "latte penicillin mocha").items} == {"mocha"}


def test_with_a_stopped_index_everything_is_told_marked_degraded_and_nothing_fails(graphmem: Graphmem, two: tuple[Scope, Scope]) -> None:
    stopped = Graphmem(graphmem.settings, graphmem.neo4j, StoppedIndex(), graphmem._embedders, graphmem._master)
    for who, coffee, allergy in zip(two, ("latte", "espresso"), ("penicillin", "peanut"), strict=True):
        assert asked(stopped, who) == ({coffee}, {coffee, allergy})
        recalled = stopped.recall(who, Ask("what coffee do I usually drink?", tier="L2"))
        assert recalled.degraded == ("vectors",) and recalled.receipt.degraded == ("vectors",)
        assert stopped.search(who, coffee).degraded == ("vectors",)
        assert stopped.recall(who, Ask("coffee", mode="evidence")).degraded == ("vectors",)
        l3 = stopped.recall(replace(who, rights=frozenset({"fresh_proof"})), Ask("everything about me", tier="L3"))
        assert told(l3) == {coffee, allergy} and l3.degraded == ("vectors",)
    done = stopped.remember(two[0], Remember("hobby", "chess"))
    assert done.memory is not None and stopped.drain() > 0 and waiting(graphmem, two[0].tenant) == {done.memory.mid}
    stopped._after.stop()


# --- sizes


def test_a_new_index_is_made_with_the_models_own_size(graphmem: Graphmem, scope: Scope) -> None:
    """dim-01 (a)."""
    graphmem.remember(scope, Remember("hobby", "chess"))
    graphmem.drain()
    assert [h.memory.value for h in graphmem.search(scope, "chess").items] == ["chess"]
    assert graphmem.health()["embedders"] == {"use": 512}


@pytest.fixture
def other_size(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[tuple[Graphmem, str]]:
    """A service whose tenant has collections of another size already, opened as `graphmem reindex` opens it."""
    tenant = new_tenant()
    made = EdgeIndex(tmp_path / "index", {"use": 1536})
    made.ensure(tenant)
    made.close()
    with open_graphmem(settings_for(neo4j_server, tmp_path), warm=False, check_index=False) as g:
        yield g, tenant


def test_a_collection_of_another_size_stops_the_start_and_the_message_names_both(
    neo4j_server: Neo4jServer, tmp_path: Path, other_size: tuple[Graphmem, str]
) -> None:
    """dim-01 (b): nothing is accepted meanwhile, and readiness of a service that runs says so too."""
    with pytest.raises(ConfigurationError) as refused:
        open_graphmem(settings_for(neo4j_server, tmp_path), warm=False)
    assert "1536" in refused.value.detail and "512" in refused.value.detail and "reindex" in (refused.value.hint or "")
    readiness = other_size[0].ready()
    assert not readiness.ready and [name for name, fine, _ in readiness.checks if not fine][:1] == ["dimensions"]


def test_a_collection_of_another_size_is_refused_with_both_sizes_and_nothing_is_written_into_it(other_size: tuple[Graphmem, str]) -> None:
    """dim-01 (b)."""
    g, tenant = other_size
    with pytest.raises(ConfigurationError) as refused:
        g.search(Scope(tenant, "user-1"), "chess")
    assert "1536" in refused.value.detail and "512" in refused.value.detail and "reindex" in (refused.value.hint or "")
    g.remember(Scope(tenant, "user-1"), Remember("hobby", "chess"))
    g.drain()
    assert len(waiting(g, tenant)) == 1  # kept for after the reindex, never dropped
    g.reindex(tenant)
    assert [h.memory.value for h in g.search(Scope(tenant, "user-1"), "chess").items] == ["chess"] and g.check(tenant)[0].clean


def test_a_configured_size_that_contradicts_the_model_refuses_the_start_with_both_numbers(
    neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    """dim-02."""
    settings = settings_for(neo4j_server, tmp_path).model_copy(update={"embedding_dimensions": {"use": 768}})
    with pytest.raises(ConfigurationError) as refused:
        open_graphmem(settings)
    assert "768" in refused.value.detail and "512" in refused.value.detail
    assert not (tmp_path / "index").exists()
