"""What the sweep finds, and the purge, on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.lifecycle import Due
from graphmem.memory import Kind, from_ms
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_outbox import Neo4jOutbox
from graphmem.validity import Ms

PAGE = 500


class Neo4jSweeper:
    """See lifecycle.Sweeper."""

    def __init__(self, neo4j: Neo4j, outbox: Neo4jOutbox) -> None:
        self._neo4j, self._outbox = neo4j, outbox

    def due_slots(self) -> Iterator[Due]:
        after = ""
        while True:
            found = self._neo4j.read_one("due_slots", {"after": after, "limit": PAGE})
            slots = [] if found is None else found["slots"]
            for s in slots:
                yield Due(s["tenant_id"], s["user_id"], s["slot"], Kind(s["kind"].lower()), s["thing"])
            if len(slots) < PAGE:
                return
            after = slots[-1]["slot"]

    def due_pendings(self, older_than: Ms) -> Iterator[Due]:
        after = ""
        while True:
            found = self._neo4j.read_one("due_pendings", {"before": from_ms(older_than), "after": after, "limit": PAGE})
            rows = [] if found is None else found["pendings"]
            for p in rows:
                yield Due(p["tenant_id"], p["user_id"], p["slot"], Kind(p["kind"].lower()), p["thing"], p["mid"])
            if len(rows) < PAGE:
                return
            after = rows[-1]["mid"]

    def tombstones(self, tenant: str, older_than: Ms) -> Iterator[tuple[str, str]]:
        after = ""
        while True:
            found = self._neo4j.read_one(
                "tombstones", {"tenant_id": tenant, "before": from_ms(older_than), "after": after, "limit": PAGE}
            )
            rows = [] if found is None else found["rows"]
            yield from ((r["user_id"], r["mid"]) for r in rows)
            if len(rows) < PAGE:
                return
            after = rows[-1]["mid"]

    def purge(self, tenant: str, user: str, mid: str, older_than: Ms) -> bool:
        found = self._neo4j.write_one(
            "purge_memory", {"tenant_id": tenant, "user_id": user, "mid": mid, "before": from_ms(older_than)}
        )
        return found is not None and bool(found["purged"])

    def tenants(self) -> list[str]:
        return self._outbox.tenants()
