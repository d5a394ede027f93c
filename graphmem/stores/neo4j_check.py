"""What `graphmem check` reads of the graph: users in batches, each with all its rows, and the shapes no constraint holds."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_read import snapshot_of
from graphmem.stores.neo4j_strays import Neo4jStrays
from graphmem.writing import Snapshot

USERS = 200
"""Most users of one statement."""

ROWS = 5_000
"""Most rows of one statement, unless one user alone has more: about 15 MB on both sides of the wire."""

PAGE = 2_000
"""Users of one page of ids."""


class Neo4jCheck:
    """See check.Graph."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def snapshots(self, tenant: str) -> Iterator[tuple[str, Snapshot]]:
        """Each user with everything of theirs, by user id; the memory it takes is that of one batch."""
        for batch in self._batches(tenant):
            for found in self._neo4j.read_all("rows_of_users", {"tenant_id": tenant, "users": batch}):
                yield found["user_id"], snapshot_of(found)

    def _batches(self, tenant: str) -> Iterator[list[str]]:
        batch: list[str] = []
        rows = 0
        for user, memories in self._users(tenant):
            if batch and (len(batch) == USERS or rows + memories > ROWS):
                yield batch
                batch, rows = [], 0
            batch.append(user)
            rows += memories
        if batch:
            yield batch

    def _users(self, tenant: str) -> Iterator[tuple[str, int]]:
        after = ""
        while True:
            found = self._neo4j.read_one("users_page", {"tenant_id": tenant, "after": after, "limit": PAGE})
            users = [] if found is None else found["users"]
            yield from ((u["user_id"], u["memories"]) for u in users)
            if len(users) < PAGE:
                return
            after = users[-1]["user_id"]

    def broken(self, tenant: str, limit: int) -> list[tuple[str, str]]:
        """(ref, fault) of what is wrong by itself, whatever the rows say."""
        given = {"tenant_id": tenant, "limit": limit}
        return [(r["ref"], r["fault"]) for query in ("broken_shapes", "broken_links") for r in self._neo4j.read_all(query, given)]

    def strays(self, tenant: str, limit: int) -> list[tuple[str, str]]:
        """(element, whose) of what was written past the service."""
        strays = Neo4jStrays(self._neo4j)
        found = [(s.ref, "no user") for s in strays.homeless(tenant, "", limit)]
        for user, _ in strays.users(tenant):
            if len(found) >= limit:
                break
            found += [(s.ref, f"user {user}") for s in strays.page(Scope(tenant, user), "", limit - len(found))]
        return found


__all__ = ["Neo4jCheck"]
