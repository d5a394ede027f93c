"""The outbox on Neo4j, and the pages of what must stand in the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from graphmem.ontology import Ontology
from graphmem.ports import Collection
from graphmem.projection import Lag, Record, State, words_of
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_read import blanked

PAGE = 2000
REFILL = 1000


class Neo4jOutbox:
    """See projection.Outbox."""

    def __init__(self, neo4j: Neo4j, ontology: Ontology) -> None:
        self._neo4j, self._ontology = neo4j, ontology

    def claim(self, worker: str, batch: int, lease_seconds: int) -> list[Record]:
        found = self._neo4j.write_one("outbox_claim", {"worker": worker, "batch": batch, "lease_seconds": lease_seconds})
        records = [] if found is None else found["records"]
        return [Record(r["oid"], r["ref"], r["kind"], r["tenant_id"], r["user_id"], r["fence"], r["tries"]) for r in records]

    def states(self, records: Sequence[Record]) -> list[State]:
        items = [{"oid": r.oid, "ref": r.ref, "tenant_id": r.tenant} for r in records]
        found = self._neo4j.read_one("outbox_state", {"items": items})
        by_oid = {} if found is None else {s["oid"]: s for s in found["states"]}
        return [self._state(r, by_oid.get(r.oid, {})) for r in records]

    def _state(self, record: Record, found: Mapping[str, Mapping[str, object] | None]) -> State:
        if record.kind == "turn":
            turn = found.get("turn") or {}
            text = blanked(str(turn.get("text") or ""), turn.get("blanks"))
            speaker = turn.get("speaker")
            said = f"{speaker}: {text}" if speaker else text
            blanks = turn.get("blanks")
            mark = len(blanks) if isinstance(blanks, list) else 0
            return State(record, bool(turn), "turn", said, said, 0, mark, str(turn.get("session_id") or ""))
        memory = found.get("memory") or {}
        kind = str(memory.get("kind") or "FACT").lower()
        key = self._ontology.get(str(memory.get("key")))
        # identifiers are never embedded (design section 7)
        secret = key is not None and key.sensitivity == "identifier"
        value, clause = cast(str | None, memory.get("value")), cast(str | None, memory.get("text"))
        embedded, words = words_of(self._ontology, str(memory.get("key")), str(memory.get("subject")), value, clause)
        live = bool(memory.get("live"))
        return State(
            record,
            live and not secret,
            cast(Collection, kind),
            embedded,
            words,
            cast(int, memory.get("version") or 0),
            cast(int, memory.get("rowrev") or 0) * 2 + int(live),
        )

    def done(self, states: Sequence[State]) -> int:
        items = [
            {
                "oid": s.record.oid,
                "fence": s.record.fence,
                "blanks": s.mark if s.record.kind == "turn" else 0,
                "rowrev": s.mark // 2,
                "live": bool(s.mark % 2),
            }
            for s in states
        ]
        found = self._neo4j.write_one("outbox_done", {"items": items})
        return 0 if found is None else cast(int, found["done"])

    def retry(self, record: Record, delay_seconds: int, max_tries: int, error: str) -> None:
        self._neo4j.write_one(
            "outbox_retry",
            {"oid": record.oid, "fence": record.fence, "delay_seconds": delay_seconds, "max_tries": max_tries, "error": error},
        )

    def lag(self) -> Lag:
        found = self._neo4j.read_one("outbox_lag", {})
        return Lag(0, None, 0) if found is None else Lag(found["pending"], found["oldest"], found["parked"])

    def refill(self, tenant: str) -> int:
        """Forget the tenant's old records and ask for everything again."""
        self._neo4j.implicit("outbox_clear", {"tenant_id": tenant, "batch": REFILL})
        counts = [self._neo4j.implicit(q, {"tenant_id": tenant, "batch": REFILL}) for q in ("outbox_refill", "outbox_refill_turns")]
        return sum(cast(int, c[0]["records"]) for c in counts if c)

    # --- what must stand in the index

    def tenants(self) -> list[str]:
        found = self._neo4j.read_one("tenants", {})
        return [] if found is None else sorted(found["tenants"])

    def memories(self, tenant: str) -> Iterator[Mapping[str, object]]:
        """mid, user_id, kind, key, version of everything current or planned, identifiers left out."""
        for row in self._pages("projected_memories", tenant, "mid"):
            key = self._ontology.get(str(row["key"]))
            if key is None or key.sensitivity != "identifier":
                yield row

    def turns(self, tenant: str) -> Iterator[Mapping[str, object]]:
        yield from self._pages("projected_turns", tenant, "ref")

    def _pages(self, query: str, tenant: str, key: str) -> Iterator[Mapping[str, object]]:
        after = ""
        while True:
            found = self._neo4j.read_one(query, {"tenant_id": tenant, "after": after, "limit": PAGE})
            rows = [] if found is None else found["rows"]
            yield from rows
            if len(rows) < PAGE:
                return
            after = rows[-1][key]
