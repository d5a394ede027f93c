"""The saved queries of Neo4j Browser on the real server, over a small story: each shows something and only reads what exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from neo4j import READ_ACCESS, NotificationMinimumSeverity, ResultSummary
from neo4j.graph import Path

from graphmem import browser
from graphmem.app import Graphmem
from graphmem.scope import Scope
from tests.browser_story import FORGOTTEN, tell
from tests.conftest import new_tenant
from tests.graph_view import ago

NAMES = list(browser.saved())

SNAPSHOT = """
MATCH (n) WHERE n.tenant_id = $tenant
RETURN elementId(n) AS id, labels(n) AS what, properties(n) AS held, [(n)-[r]->(o) | [type(r), properties(r), elementId(o)]] AS edges
ORDER BY id
"""


@pytest.fixture(scope="module")
def person(graphmem: Graphmem) -> Iterator[Scope]:
    """Somebody with the story, and an orphan beside them that only raw Cypher can make."""
    scope = Scope(new_tenant(), "阿宁 #1 & 'co'")
    tell(graphmem, scope)
    graphmem.neo4j.text("CREATE (:Memory {tenant_id: $tenant, mid: 'astray', value: '?'})", {"tenant": scope.tenant})
    yield scope
    graphmem.neo4j.implicit("outbox_clear", {"tenant_id": scope.tenant, "batch": 1000})


def values_for(one: browser.Saved, scope: Scope) -> dict[str, str]:
    """The parameters of a query for this person: names of the story, defaults else."""
    asked = {"as_of": f"{ago(days=6):%Y-%m-%d}"} if one.name == "as_of_map" else {}
    return {**one.params, **{k: v for k, v in {"tenant_id": scope.tenant, "user_id": scope.user, **asked}.items() if k in one.params}}


def run(graphmem: Graphmem, text: str, params: dict[str, str]) -> tuple[list[dict[str, Any]], ResultSummary]:
    """What a text returns to a session that may only read."""
    loud = NotificationMinimumSeverity.INFORMATION  # the service's own driver asks for no notifications
    database, driver = graphmem.neo4j.database, graphmem.neo4j.driver
    with driver.session(database=database, default_access_mode=READ_ACCESS, notifications_min_severity=loud) as session:
        result = session.run(text, params)
        rows = [record.data() | {"paths": [v for v in record.values() if isinstance(v, Path)]} for record in result]
        return rows, result.consume()


def paths(graphmem: Graphmem, scope: Scope, name: str, **asked: str) -> list[Path]:
    one = browser.query(name)
    rows, _ = run(graphmem, one.text, {**values_for(one, scope), **asked})
    return [path for row in rows for path in row["paths"]]


def shape(rows: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    """What was drawn, by the ids of the database."""
    found = [path for row in rows for path in row["paths"]]
    return sorted(([n.element_id for n in path.nodes], [r.element_id for r in path.relationships]) for path in found)


def values(found: list[Path]) -> set[str]:
    """The values of all memories that were drawn."""
    return {n["value"] for path in found for n in path.nodes if "Memory" in n.labels and "value" in n}


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_query_draws_at_least_one_path(graphmem: Graphmem, person: Scope, name: str) -> None:
    one = browser.query(name)
    rows, _ = run(graphmem, one.text, values_for(one, person))
    assert rows and any(row["paths"] for row in rows)
    with graphmem.neo4j.driver.session(database=graphmem.neo4j.database) as session:
        drawn = [v for record in session.run(one.text, values_for(one, person)) for v in record.values()]
    assert all(v is None or isinstance(v, Path) for v in drawn), "a column that is no path is not drawn"


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_query_only_reads_and_names_only_what_exists(graphmem: Graphmem, person: Scope, name: str) -> None:
    one = browser.query(name)
    _, summary = run(graphmem, f"EXPLAIN {one.text}", values_for(one, person))
    assert summary.query_type == "r"
    _, done = run(graphmem, one.text, values_for(one, person))
    assert not done.counters.contains_updates
    assert [s.gql_status for s in done.gql_status_objects if s.is_notification] == []


def test_all_saved_queries_together_leave_the_database_as_it_was(graphmem: Graphmem, person: Scope) -> None:
    before = graphmem.neo4j.text(SNAPSHOT, {"tenant": person.tenant})
    for name in NAMES:
        assert paths(graphmem, person, name)
    assert graphmem.neo4j.text(SNAPSHOT, {"tenant": person.tenant}) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_link_shows_the_same_as_the_query_with_parameters(graphmem: Graphmem, person: Scope, name: str) -> None:
    one = browser.query(name)
    given = values_for(one, person)
    rows, _ = run(graphmem, one.text, given)
    linked, _ = run(graphmem, browser.filled(one, given), {})
    assert shape(linked) == shape(rows) != []


@pytest.mark.parametrize("name", NAMES)
def test_another_tenant_sees_nothing_of_it(graphmem: Graphmem, person: Scope, name: str) -> None:
    assert paths(graphmem, Scope(new_tenant(), person.user), name) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_was_forgotten_is_drawn_by_no_saved_query(graphmem: Graphmem, person: Scope, name: str) -> None:
    stored = graphmem.neo4j.text("MATCH (m:Memory {tenant_id: $t, value: $v}) RETURN m.mid AS mid", {"t": person.tenant, "v": FORGOTTEN})
    assert len(stored) == 1, "it is still stored, until the purge"
    found = paths(graphmem, person, name)
    assert FORGOTTEN not in values(found)
    assert not [n for path in found for n in path.nodes if FORGOTTEN in str(n.get("text", ""))]


def test_the_map_shows_what_holds_and_what_waits_and_not_what_is_over(graphmem: Graphmem, person: Scope) -> None:
    shown = values(paths(graphmem, person, "memory_map"))
    assert {"燕麦拿铁", "杭州", "成都", "靠窗", "青霉素", "阿莫西林", "1990-05-02", "1991-05-02"} <= shown
    assert not {"美式", "厦门", "苏州"} & shown


def test_the_map_of_a_past_day_shows_what_was_so_on_it(graphmem: Graphmem, person: Scope) -> None:
    def coffee(**days: float) -> set[str]:
        day = f"{ago(**days):%Y-%m-%d}"
        return values(paths(graphmem, person, "as_of_map", as_of=day)) & {"美式", "燕麦拿铁"}

    assert (coffee(days=80), coffee(days=20), coffee(days=1)) == (set(), {"美式"}, {"燕麦拿铁"})


def test_the_chain_of_a_key_goes_from_the_newest_version_to_the_oldest(graphmem: Graphmem, person: Scope) -> None:
    found = paths(graphmem, person, "version_chain")
    links = {
        (p.start_node["value"], p.end_node["value"])
        for p in found
        if p.relationships[0].type == "SUPERSEDES" and p.start_node and p.end_node
    }
    assert links == {("燕麦拿铁", "美式")}


def test_why_shows_the_words_and_the_session_they_were_said_in(graphmem: Graphmem, person: Scope) -> None:
    peanut = next(m for m in graphmem.latest(person, "allergy").items if m.value == "花生")
    nodes = {label: n for path in paths(graphmem, person, "why_memory", mid=peanut.mid) for n in path.nodes for label in n.labels}
    assert nodes["Turn"]["text"] == "我对花生过敏。" and nodes["Session"]["session_id"] == "s-1"


def test_what_waits_stands_beside_what_holds_meanwhile(graphmem: Graphmem, person: Scope) -> None:
    assert {"1990-05-02", "1991-05-02", "寿司"} <= values(paths(graphmem, person, "pending_and_review"))


def test_orphans_shows_the_stray_memory_alone(graphmem: Graphmem, person: Scope) -> None:
    assert [n["mid"] for path in paths(graphmem, person, "orphans") for n in path.nodes] == ["astray"]


def test_heat_counts_how_often_a_session_used_a_memory(graphmem: Graphmem, person: Scope) -> None:
    used = {r["count"] for path in paths(graphmem, person, "access_heat") for r in path.relationships if r.type == "ACCESSED"}
    assert used == {1}


def test_fading_shows_what_was_last_said_long_ago(graphmem: Graphmem, person: Scope) -> None:
    shown = values(paths(graphmem, person, "fading"))
    assert "靠窗" in shown and "燕麦拿铁" not in shown
