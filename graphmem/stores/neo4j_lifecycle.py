"""What the sweep finds, and the purge, on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from neo4j import ManagedTransaction

from graphmem.lifecycle import Due
from graphmem.memory import Kind, from_ms
from graphmem.purge import UNDELETE_MS
from graphmem.scope import Scope
from graphmem.slot import part
from graphmem.stores.neo4j_base import Neo4j
from graphmem.validity import Ms
from graphmem.writing import Purge

PAGE = 500


class Neo4jSweeper:
    """See lifecycle.Sweeper. What is due is decided by the database's clock."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def due_slots(self, tenant: str | None) -> Iterator[Due]:
        for s in self._pages("due_slots", "slots", {"prefix": _prefix(tenant)}):
            yield _due(s)

    def due_pendings(self, tenant: str | None, life: Ms) -> Iterator[Due]:
        for p in self._pages("due_pendings", "pendings", {"prefix": _prefix(tenant), "life": life}):
            yield _due(p, (p["mid"],))

    def tombstones(self, tenant: str | None) -> Iterator[Due]:
        for s in self._pages("tombstones", "slots", {"prefix": _prefix(tenant), "life": UNDELETE_MS}):
            yield _due(s, tuple(s["pendings"]))

    def _pages(self, query: str, name: str, parameters: Mapping[str, object]) -> Iterator[dict[str, str]]:
        after = ""
        while True:
            found = self._neo4j.read_one(query, {**parameters, "after": after, "limit": PAGE})
            page = [] if found is None else found[name]
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1]["slot"] + page[-1].get("mid", "")


def _prefix(tenant: str | None) -> str:
    """Start of all slots, or of a tenant's."""
    return "1|" if tenant is None else f"1|{part(tenant)}|"


def _due(found: Mapping[str, str], mids: tuple[str, ...] = ()) -> Due:
    kind = Kind(found["kind"].lower())
    return Due(found["tenant_id"], found["user_id"], kind, found["slot"], tuple(found["things"]), mids)


def purge(neo4j: Neo4j, tx: ManagedTransaction, scope: Scope, plan: Purge, now: Ms) -> None:
    """Empty, strip and drop what was forgotten at least 72 hours before now; concepts that nothing is about any more go too."""
    found = neo4j.run(
        tx,
        "purge_rows",
        {
            "tenant_id": scope.tenant,
            "user_id": scope.user,
            "emptied": list(plan.emptied),
            "stripped": list(plan.stripped),
            "dropped": list(plan.dropped),
            "now": from_ms(now),
            "before": from_ms(now - UNDELETE_MS),
        },
    )
    drop_lonely(neo4j, tx, scope, found["ckeys"])


def drop_lonely(neo4j: Neo4j, tx: ManagedTransaction, scope: Scope, ckeys: list[str]) -> None:
    """Remove those of these concepts that nothing is about; in sorted order, so that two users never wait for each other in turn."""
    if ckeys:
        neo4j.run(tx, "drop_lonely", {"tenant_id": scope.tenant, "ckeys": sorted(set(ckeys))})
