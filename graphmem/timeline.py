"""What callers ask about the past: the timeline of a key or of a user, and why one memory is held and (not) told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from graphmem.cohorts import of_subject
from graphmem.cursors import Place, decode_place, encode
from graphmem.errors import NotFoundError
from graphmem.explain import (
    Entry,
    Explained,
    Policy,
    Timeline,
    Waiting,
    Why,
    because,
    because_pending,
    days,
    entry,
    moments,
    pending_entry,
    rivals,
    until,
)
from graphmem.memory import from_ms, to_ms, utc
from graphmem.ports import MemoryReader, Part
from graphmem.reading import check_limit, when
from graphmem.review import case_for
from graphmem.room import Room, check_id, check_time
from graphmem.saying import Told, paragraph
from graphmem.scope import Scope
from graphmem.telling import Teller
from graphmem.validity import OPEN, Ledger, Ms, Pending, Row
from graphmem.writing import Snapshot


class HistoryStore(Protocol):
    """What explanations ask of the graph beside MemoryReader."""

    def explained(self, scope: Scope, mids: Sequence[str], times: Sequence[Ms]) -> Explained:
        """The evidence of these memories and the records of the user's writes at these moments."""
        ...


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """Which versions: of a key, of a subject (a role finds all who have it), or all; as known at known_at, their status as of as_of."""

    key: str | None = None
    subject: str | None = None
    order: Literal["event", "recorded"] = "event"
    as_of: datetime | None = None
    known_at: datetime | None = None
    limit: int = 20
    cursor: str | None = None


class Timelines:
    """Explanations for one user at a time. Thread safe."""

    def __init__(self, room: Room, reader: MemoryReader, store: HistoryStore) -> None:
        self._room, self._reader, self._store = room, reader, store

    def timeline(self, scope: Scope, query: TimelineQuery) -> Timeline:
        """Every version, ends and pending ones included, forgotten ones not, newest first by event or by recorded time."""
        check_limit(query.limit)
        for text, name in ((query.key, "key"), (query.subject, "subject")):
            check_id(text, name)
        for at, name in ((query.as_of, "as_of"), (query.known_at, "known_at")):
            check_time(at, name)
        after = decode_place(query.cursor)
        snapshot = self._read(scope, query.key, None if query.known_at is None else to_ms(utc(query.known_at)))
        t, k = when(snapshot.now, query.as_of, query.known_at)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), t, k)
        kept: list[Row | Pending] = [r for r in snapshot.rows if _kept(r, query, k)]
        kept += [p for p in snapshot.pendings if _kept(p.row, query, k)]
        kept.sort(key=lambda x: _place(x, query.order), reverse=True)
        rest = kept if after is None else [x for x in kept if _place(x, query.order) < after]
        page, more = rest[: query.limit], len(rest) > query.limit
        return Timeline(
            tuple(self._entries(scope, teller, page)),
            encode(_place(page[-1], query.order)) if more else None,
            more,
            len(kept),
            snapshot.rev,
        )

    def why(self, scope: Scope, mid: str) -> Why:
        """Why this memory is held and (not) told now; NotFoundError for foreign, unknown and forgotten ones alike."""
        check_id(mid, "mid")
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            raise NotFoundError("no memory of that id")
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        row = next((r for r in snapshot.rows if r.mid == mid and r.tombstoned_at is None), None)
        if row is not None:
            return self._why(teller, row, *self._entries(scope, teller, [row]))
        pending = next((p for p in snapshot.pendings if p.row.mid == mid and p.row.tombstoned_at is None), None)
        if pending is None:
            raise NotFoundError("no memory of that id")
        return self._why_pending(teller, pending, *self._entries(scope, teller, [pending]))

    def whys(self, scope: Scope, mids: Sequence[str]) -> dict[str, Why]:
        """The same for many memories from two reads, by mid; foreign, unknown and forgotten ones have none.

        Of many the whole history is read, of one only its slot.
        """
        if len(set(mids)) == 1:
            try:
                return {mids[0]: self.why(scope, mids[0])}
            except NotFoundError:
                return {}
        snapshot, wanted = self._reader.history(scope), set(mids)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        rows = [r for r in snapshot.rows if r.mid in wanted and r.tombstoned_at is None]
        waiting = [p for p in snapshot.pendings if p.row.mid in wanted and p.row.tombstoned_at is None]
        entries = {e.memory.mid: e for e in self._entries(scope, teller, [*rows, *waiting])}
        found = {p.row.mid: self._why_pending(teller, p, entries[p.row.mid]) for p in waiting}
        return found | {r.mid: self._why(teller, r, entries[r.mid]) for r in rows}

    # --- inside

    def _read(self, scope: Scope, key: str | None, known_at: Ms | None) -> Snapshot:
        """The whole history of a key, or of the user: entries name what came before and after them."""
        if key is None:
            return self._reader.history(scope, known_at)
        known = self._room.ontology.get(key)
        return self._reader.history(scope, known_at, Part(key, known.kind if known is not None else None))

    def _entries(self, scope: Scope, teller: Teller, page: Iterable[Row | Pending]) -> list[Entry]:
        page = tuple(page)
        rows = [x for x in page if isinstance(x, Row)]
        pendings = [x for x in page if isinstance(x, Pending)]
        mids = [r.mid for r in rows] + [p.row.mid for p in pendings]
        evidence, changes = self._store.explained(scope, mids, moments(teller, rows, pendings))
        return [
            entry(teller, x, evidence.get(x.mid, ()), changes)
            if isinstance(x, Row)
            else pending_entry(teller, x, evidence.get(x.row.mid, ()), changes)
            for x in page
        ]

    def _why(self, teller: Teller, row: Row, found: Entry) -> Why:
        reason, others, policy = because(teller, row), rivals(teller, row), self._policy(row)
        ends = until(teller, row)
        told = Told(found, reason, from_ms(row.valid_from), None if ends is None or ends == OPEN else from_ms(ends), others, policy, None)
        return Why(found, reason == "told", reason, others, policy, None, paragraph(told))

    def _why_pending(self, teller: Teller, pending: Pending, found: Entry) -> Why:
        row = pending.row
        reason = because_pending(pending, teller.t, teller.k, self._room.limits.pending_life)
        others, policy = rivals(teller, row), self._policy(row)
        decided = None if pending.decided_at is None else from_ms(pending.decided_at)
        waiting = Waiting(pending.reason, from_ms(pending.pending_from), decided, pending.outcome, case_for(row.mid, pending.reason))
        told = Told(found, reason, from_ms(row.valid_from), None, others, policy, waiting)
        return Why(found, False, reason, others, policy, waiting, paragraph(told))

    def _policy(self, row: Row) -> Policy | None:
        """What the ontology says of the key; an open key has only its lifetime."""
        key = self._room.ontology.get(row.key)
        if key is None:
            return None
        return Policy(key.arity, key.policy, key.safety, days(row.lifetime))


def _kept(row: Row, query: TimelineQuery, k: Ms) -> bool:
    if row.tombstoned_at is not None or row.recorded_at > k:
        return False
    return (query.key is None or row.key == query.key) and of_subject(row.subject, query.subject)


def _place(x: Row | Pending, order: str) -> Place:
    row = x if isinstance(x, Row) else x.row
    return (row.recorded_at if order == "recorded" else row.valid_from, row.mid)


__all__ = ["HistoryStore", "TimelineQuery", "Timelines"]
