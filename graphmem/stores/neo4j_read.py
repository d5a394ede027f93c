"""MemoryReader on Neo4j: one statement a read, one record an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from neo4j import Record

from graphmem.memory import Kind
from graphmem.ports import Part
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_rows import is_pending, pending_of, row_of
from graphmem.validity import OPEN, Ms, Row
from graphmem.writing import Hydrated, Snapshot, StoredTurn

NOTHING = "\x00"
"""A prefix no slot begins with: a kind that is not asked for costs one empty index range."""

WHOLE = -8_000_000_000_000_000
"""Before every `until` of a row, and after that of a pending one."""

BLANK = "░"
"""Stands for each blanked character of a turn, so that spans stay true."""


class Neo4jReader:
    """Reads of one user. Holds no state but the connection."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def latest(self, scope: Scope, kind: Kind | None = None, key: str | None = None, subject: str | None = None) -> Snapshot:
        # a subject filter without its key, or a role that stands for role:name, is narrower than an index range: the caller filters
        prefix = {k.name: slot_prefix(scope, k, key) if kind in (None, k) else NOTHING for k in Kind}
        planned = {k.name: slot_prefix(scope, k) if kind in (None, k) else NOTHING for k in Kind}
        name = "latest_preferences" if kind is Kind.PREFERENCE else "latest"
        return snapshot_of(self._neo4j.read_one(name, {**_scope(scope), "prefix": prefix, "planned": planned}))

    def hydrate(self, scope: Scope, mids: Mapping[Kind, Sequence[str]], keys: Sequence[tuple[Kind, str]], fresh: int = 50) -> Hydrated:
        prefixes = {k.name: [slot_prefix(scope, k, key) for kind, key in keys if kind is k] for k in Kind}
        planned = {k.name: slot_prefix(scope, k) for k in Kind}
        by_kind = {k.name: list(mids.get(k, ())) for k in Kind}
        found = self._neo4j.read_one(
            "hydrate", {**_scope(scope), "mids": by_kind, "prefixes": prefixes, "planned": planned, "fresh": fresh}
        )
        snapshot = snapshot_of(found)
        return Hydrated(snapshot.now, snapshot.rev, snapshot.rows, snapshot.pendings)

    def history(self, scope: Scope, known_at: Ms | None = None, part: Part | None = None) -> Snapshot:
        known = OPEN if known_at is None else known_at
        if part is None or (part.key is None and part.since is None):
            return snapshot_of(self._neo4j.read_one("rows_of_user", {**_scope(scope), "known_at": known}))
        # what was retracted meanwhile is left out of a part that begins somewhere: a past known_at needs all
        since = WHOLE if part.since is None or known_at is not None else part.since
        if part.key is None:
            owner = slot_prefix(scope)
            found = self._neo4j.read_one("rows_of_user_since", {**_scope(scope), "owner": owner, "since": since, "known_at": known})
            return snapshot_of(found)
        prefix = {k.name: slot_prefix(scope, k, part.key) if part.kind in (None, k) else NOTHING for k in Kind}
        found = self._neo4j.read_one("rows_of_key", {**_scope(scope), "prefix": prefix, "since": since, "known_at": known})
        return snapshot_of(found, [] if found is None else [*found["rows"], *found["rivals"]])

    def slot_of(self, scope: Scope, mid: str) -> Snapshot | None:
        found = self._neo4j.read_one("rows_of_slot", {**_scope(scope), "mid": mid})
        if found is None or found["slot"] is None:
            return None
        return snapshot_of(found, [*found["rows"], *found["rivals"]])

    def turns(self, scope: Scope, session_id: str, limit: int = 12) -> list[StoredTurn]:
        found = self._neo4j.read_one("session_turns", {**_scope(scope), "session_id": session_id, "limit": limit})
        return [] if found is None else [turn_of(t) for t in reversed(found["turns"])]

    def turns_by_ref(self, scope: Scope, refs: Sequence[str]) -> list[StoredTurn]:
        found = self._neo4j.read_one("turns_by_ref", {**_scope(scope), "refs": list(refs)})
        return [] if found is None else [turn_of(t) for t in found["turns"]]

    def receipt(self, scope: Scope, receipt_id: str) -> str | None:
        found = self._neo4j.read_one("receipt", {**_scope(scope), "receipt_id": receipt_id})
        return None if found is None else cast(str, found["receipt"])


def _scope(scope: Scope) -> dict[str, object]:
    return {"tenant_id": scope.tenant, "user_id": scope.user}


def _maps(found: object) -> list[Mapping[str, object]]:
    return cast(list[Mapping[str, object]], found)


def snapshot_of(found: Record | None, maps: Sequence[Mapping[str, object]] | None = None) -> Snapshot:
    """A record of {now, rev, rows} as a Snapshot; `maps` stand for its rows."""
    if found is None:
        return Snapshot(0, 0, ())
    rows = _maps(found["rows"]) if maps is None else maps
    kept: dict[str, Row] = {}
    for r in rows:
        if not is_pending(r):
            row = row_of(r)
            kept.setdefault(row.mid, row)
    pendings = tuple(pending_of(r) for r in rows if is_pending(r))
    return Snapshot(found["now"], found["rev"] or 0, tuple(kept.values()), pendings, found.get("slot") or "")


def blanked(text: str, blanks: object) -> str:
    """The text with its forgotten spans (`mid|start|end` each) blanked out."""
    if not isinstance(blanks, list) or not blanks:
        return text
    letters = list(text)
    for _, start, end in (str(b).rsplit("|", 2) for b in blanks):
        letters[int(start) : int(end)] = BLANK * len(letters[int(start) : int(end)])
    return "".join(letters)


def turn_of(found: Mapping[str, object]) -> StoredTurn:
    get = found.get
    return StoredTurn(
        ref=str(get("ref")),
        turn_id=str(get("turn_id")),
        session_id=str(get("session_id")),
        role=str(get("role")),
        text=blanked(str(get("text")), get("blanks")),
        at=cast(int, get("at")),
        seq=cast(int, get("seq") or 0),
        zone=str(get("zone") or "UTC"),
        language=str(get("language") or "en"),
        speaker=cast(str | None, get("speaker")),
        answers=cast(str | None, get("answers")),
        waiting=cast(str | None, get("waiting")),
    )
