"""What stands in the graph, looked at past the service: edges, links and counts of one user or tenant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.app import Graphmem
from graphmem.memory import utc
from graphmem.scope import Scope

_EDGES = """
MATCH (u:User {tenant_id: $tenant, user_id: $user})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
RETURN type(r) AS kind, properties(r) AS edge, properties(m) AS node,
       [(m)-[:ABOUT]->(c:Concept) | c.ckey] AS about, [(m)-[:SUPERSEDES]->(p:Memory) | p.mid] AS supersedes,
       [(m)-[f:FROM_SOURCE]->(s:Source) | s.source_id] AS sources
ORDER BY r.recorded_at, r.version
"""

_CENSUS = """
MATCH (n) WHERE n.tenant_id = $tenant
UNWIND labels(n) AS label
RETURN label, count(*) AS held
UNION ALL
MATCH (n)-[r]->() WHERE n.tenant_id = $tenant
RETURN type(r) AS label, count(*) AS held
"""


@dataclass(frozen=True, slots=True)
class Edge:
    """One memory as it is stored."""

    kind: str
    edge: Mapping[str, Any]
    node: Mapping[str, Any]
    about: list[str]
    supersedes: list[str]
    sources: list[str]

    @property
    def mid(self) -> str:
        return str(self.edge["mid"])

    @property
    def version(self) -> int | None:
        return self.edge.get("version")

    @property
    def value(self) -> str | None:
        return self.node.get("value")

    @property
    def current(self) -> bool:
        return "current_slot" in self.edge


def edges(g: Graphmem, scope: Scope) -> list[Edge]:
    """All memories of a user in the order of recording."""
    found = g.neo4j.text(_EDGES, {"tenant": scope.tenant, "user": scope.user})
    return [Edge(r["kind"], r["edge"], r["node"], r["about"], r["supersedes"], r["sources"]) for r in found]


def census(g: Graphmem, tenant: str) -> dict[str, int]:
    """How many nodes a label and relationships a type a tenant has."""
    return {r["label"]: r["held"] for r in g.neo4j.text(_CENSUS, {"tenant": tenant})}


def changes(g: Graphmem, scope: Scope) -> list[Mapping[str, Any]]:
    """The change records of a user in the order of their revision."""
    text = "MATCH (c:Change {tenant_id: $tenant, user_id: $user}) RETURN properties(c) AS c ORDER BY c.rev"
    return [r["c"] for r in g.neo4j.text(text, {"tenant": scope.tenant, "user": scope.user})]


def waiting(g: Graphmem, tenant: str) -> set[str]:
    """Refs with an outbox record that is not projected yet."""
    return {r["ref"] for r in g.neo4j.text("MATCH (o:Outbox {tenant_id: $tenant}) RETURN o.ref AS ref", {"tenant": tenant})}


def points(g: Graphmem, tenant: str) -> int:
    """Vectors of memories in the index."""
    return sum(g.index.count(tenant, c) for c in ("fact", "preference", "context"))


def ago(**given: float) -> datetime:
    """A moment before now, cut as the graph cuts it."""
    return utc(datetime.now(UTC) - timedelta(**given))
