"""Rows as archive records and back, on Neo4j: canonical JSON values, so that equality is equality of text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from neo4j import ManagedTransaction
from neo4j.time import DateTime

from graphmem.archive import Record, mid_of
from graphmem.errors import ConflictError
from graphmem.memory import from_ms, to_ms, utc
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_lifecycle import drop_lonely
from graphmem.stores.neo4j_rows import row_of
from graphmem.stores.neo4j_times import instant_of
from graphmem.validity import Ms, Row
from graphmem.writing import Moved

PAGE = 2000

TIME = "$time"
"""Marks a point in time among JSON values: `{"$time": "2024-07-15T02:00:00.000000000+00:00"}`."""


class Neo4jShelf:
    """See archive.Shelf."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def users(self, tenant: str, before: Ms) -> Iterator[str]:
        after = ""
        while True:
            asked = {"tenant_id": tenant, "before": from_ms(before), "after": after, "limit": PAGE}
            found = self._neo4j.read_one("archive_users", asked)
            users = [] if found is None else found["users"]
            yield from (u["user_id"] for u in users if u["due"])
            if len(users) < PAGE:
                return
            after = users[-1]["user_id"]

    def records(self, scope: Scope, mids: Sequence[str]) -> list[Record]:
        found = self._neo4j.read_one("archive_rows", {"tenant_id": scope.tenant, "user_id": scope.user, "mids": list(mids)})
        return [] if found is None else canonical(found["records"])

    def digest(self, records: Sequence[Record]) -> str:
        return digest(records)

    def slots(self, scope: Scope, slots: Sequence[str]) -> dict[str, int]:
        found = self._neo4j.read_one("archived_slots", {"tenant_id": scope.tenant, "user_id": scope.user, "slots": list(slots)})
        return {} if found is None else {s["slot"]: s["rows"] for s in found["slots"]}

    def rows(self, records: Sequence[Record]) -> list[Row]:
        return [_row(r) for r in records]

    def forget(self, scope: Scope) -> None:
        """Nothing of the user lies in the archive any more."""
        self._neo4j.write_one("archive_forgotten", {"tenant_id": scope.tenant, "user_id": scope.user})


def move(neo4j: Neo4j, tx: ManagedTransaction, scope: Scope, moved: Moved) -> None:
    """Inside a write: rows leave if they still are what was archived; ConflictError otherwise, and nothing is done."""
    person = {"tenant_id": scope.tenant, "user_id": scope.user}
    held = canonical(neo4j.run(tx, "archive_rows", {**person, "mids": list(moved.mids)})["records"])
    if digest(held) != moved.digest:
        raise ConflictError("a memory changed while it was archived", code="version_conflict")
    found = neo4j.run(tx, "archive_drop", {**person, "mids": list(moved.mids)})
    notes = [{"slot": slot, "top": top, "rows": rows} for slot, (top, rows) in sorted(moved.slots.items())]
    neo4j.run(tx, "archive_noted", {**person, "slots": notes})
    drop_lonely(neo4j, tx, scope, found["ckeys"])


def put_back(neo4j: Neo4j, tx: ManagedTransaction, scope: Scope, records: Sequence[Record]) -> None:
    """Inside a write: records become rows again, with their links to whatever of the user is there."""
    person = {"tenant_id": scope.tenant, "user_id": scope.user}
    back = [cast(dict[str, object], decoded(r)) for r in records]
    ckeys = sorted({str(c) for r in back for c in cast(list[object], r["about"])})
    links = {_text(link): link for r in records for link in cast(list[object], r["links"])}
    rows = sorted(back, key=lambda r: _text(r["about"]))
    asked = {**person, "ckeys": ckeys, "records": rows, "links": [decoded(links[key]) for key in sorted(links)]}
    neo4j.run(tx, "archive_put_back", asked)
    counts: dict[str, int] = {}
    for record in records:
        slot = str(cast(Mapping[str, object], record["edge"])["slot"])
        counts[slot] = counts.get(slot, 0) + 1
    neo4j.run(tx, "archive_noted", {**person, "slots": [{"slot": s, "top": 0, "rows": -n} for s, n in sorted(counts.items())]})


def canonical(found: Sequence[Mapping[str, object]]) -> list[Record]:
    """Records of a query in one order, lists sorted, times as text."""
    records = []
    for raw in found:
        record = cast(dict[str, object], encoded(raw))
        for name in ("about", "sources", "links"):
            record[name] = sorted(cast(list[object], record[name]), key=_text)
        records.append(record)
    return sorted(records, key=mid_of)


def digest(records: Sequence[Record]) -> str:
    """SHA-256 over the records' canonical JSON."""
    return hashlib.sha256("\n".join(_text(r) for r in sorted(records, key=mid_of)).encode()).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def encoded(value: object) -> object:
    """Values of the driver as JSON values, times marked by TIME."""
    if isinstance(value, DateTime):
        return {TIME: value.iso_format()}
    if isinstance(value, Mapping):
        return {str(k): encoded(v) for k, v in value.items()}
    return [encoded(v) for v in value] if isinstance(value, list | tuple) else value


def decoded(value: object) -> object:
    """The other way round."""
    if isinstance(value, Mapping):
        return instant_of(str(value[TIME])) if set(value) == {TIME} else {str(k): decoded(v) for k, v in value.items()}
    return [decoded(v) for v in value] if isinstance(value, list | tuple) else value


def _row(record: Record) -> Row:
    edge, node = cast(Mapping[str, object], record["edge"]), cast(Mapping[str, object], record["node"])
    flat = {name: _ms(value) for name, value in edge.items()}
    observed = [cast(Mapping[str, object], s["link"]) for s in cast(list[Mapping[str, object]], record["sources"])]
    obs = [[_ms(o["at"]), _ms(o["recorded_at"]), _ms(o.get("since"))] for o in observed if not o.get("first")]
    flat |= {"kind": record["kind"], "value": node.get("value"), "metadata": node.get("metadata"), "obs": obs}
    return row_of({**flat, "current": "current_slot" in edge, "planned": "planned_slot" in edge})


def _ms(value: object) -> object:
    if isinstance(value, Mapping) and set(value) == {TIME}:
        return to_ms(utc(DateTime.from_iso_format(value[TIME]).to_native()))
    return value
