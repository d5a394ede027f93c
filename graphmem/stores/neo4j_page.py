"""What a page of memories needs beside its rows, from Neo4j: one statement for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.relations import Hop, RelationType
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.validity import Ms


class Neo4jPage:
    """See exploring.PageStore. Holds no state but the connection."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def relations(self, scope: Scope, mids: Sequence[str], as_of: Ms, known_at: Ms) -> dict[str, list[tuple[str, Hop]]]:
        """The other end and the relation, by mid, the heaviest first."""
        parameters = {"tenant_id": scope.tenant, "user_id": scope.user, "mids": list(mids), "as_of": as_of, "known_at": known_at}
        found: dict[str, list[tuple[str, Hop]]] = {}
        for r in self._neo4j.read_all("relations_of", parameters):
            hop = Hop(RelationType(r["type"]), r["from_mid"], r["to_mid"], float(r["weight"]), r["rid"])
            found.setdefault(r["mid"], []).append((r["other"], hop))
        return found

    def receipts(self, scope: Scope, most: int) -> list[str]:
        """The user's newest receipts as they are stored."""
        parameters = {"tenant_id": scope.tenant, "user_id": scope.user, "most": most}
        return [r["receipt"] for r in self._neo4j.read_all("newest_receipts", parameters)]


__all__ = ["Neo4jPage"]
