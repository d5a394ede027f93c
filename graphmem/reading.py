"""What callers read: lists, one memory, history, latest. Now from one bounded read; any other (as_of, known_at) from the user's rows."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.answers import Latest, Memory, MemoryFilter, Page
from graphmem.drift import blocked
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.memory import Status, to_ms, utc
from graphmem.ports import MemoryReader, Part
from graphmem.room import Room, check_time
from graphmem.scope import Scope
from graphmem.telling import Teller, visible
from graphmem.validity import Ledger, Ms, Pending, shown
from graphmem.writing import Snapshot

PAGE_MAX = 100


class Reading:
    """Answers for one scope at a time. Thread safe."""

    def __init__(self, room: Room, reader: MemoryReader) -> None:
        self._room, self._reader = room, reader

    def memories(self, scope: Scope, where: MemoryFilter, limit: int, cursor: str | None) -> Page:
        """A page of what is told at (as_of, known_at), or of every memory with the status asked for; newest first by that order."""
        check_limit(limit)
        after = _cursor(cursor)
        teller, pendings, rev = self._view(scope, where)
        found = [m for m in self._listed(teller, pendings, where) if _matches(m, where)]
        found.sort(key=lambda m: _place(m, where), reverse=True)
        rest = found if after is None else [m for m in found if _place(m, where) < after]
        items = rest[:limit]
        more = len(rest) > limit
        waiting = [m for m in self._shown(teller, pendings) if _matches(m, where)] if where.status is None else []
        return Page(tuple(items), tuple(waiting), _encode(_place(items[-1], where)) if more else None, more, len(found), rev)

    def listed(self, scope: Scope, where: MemoryFilter) -> tuple[list[Memory], Teller, int]:
        """All of what `memories` pages through, unordered, with who tells it (the moment) and the revision."""
        teller, pendings, rev = self._view(scope, where)
        return [m for m in self._listed(teller, pendings, where) if _matches(m, where)], teller, rev

    def everything(self, scope: Scope, as_of: datetime | None, known_at: datetime | None) -> list[Memory]:
        """Everything that is told at (as_of, known_at), in slot order, without pages."""
        where = MemoryFilter(as_of=as_of, known_at=known_at)
        teller, pendings, _ = self._view(scope, where)
        return self._listed(teller, pendings, where)

    def all_shown(self, scope: Scope) -> list[Memory]:
        """Every memory of the user with its status now, past and pending ones too; forgotten ones and ends are left out."""
        teller, pendings, _ = self.view(scope, None, None)
        kept = [p for p in pendings if p.row.tombstoned_at is None]
        waiting = [(p, teller.pending(p)) for p in kept]
        life = self._room.limits.pending_life
        lapsed = [replace(m, status=Status.EXPIRED) if p.open() and not shown(p, teller.t, teller.k, life) else m for p, m in waiting]
        return [teller.memory(r) for r in teller.ledger.rows if visible(r, teller.k)] + lapsed

    def latest(self, scope: Scope, key: str, subject: str | None, as_of: datetime | None, known_at: datetime | None) -> Latest:
        """What is told of a key (of everybody, or of one subject), newest first."""
        known = self._room.ontology.get(key)
        where = MemoryFilter(kind=known.kind if known else None, key=key, subject=subject, as_of=as_of, known_at=known_at)
        teller, pendings, rev = self._view(scope, where)
        items = sorted(
            (m for m in self._listed(teller, pendings, where) if _matches(m, where)), key=lambda m: _place(m, where), reverse=True
        )
        return Latest(tuple(items), tuple(m for m in self._shown(teller, pendings) if _matches(m, where)), rev)

    def memory(self, scope: Scope, mid: str, as_of: datetime | None, known_at: datetime | None) -> Memory:
        """One memory as it is for (as_of, known_at); NotFoundError for foreign, unknown, forgotten and not yet known ones."""
        snapshot = self._slot(scope, mid)
        t, k = when(snapshot.now, as_of, known_at)
        return self._one(snapshot, mid, t, k)

    def history(self, scope: Scope, mid: str) -> tuple[Memory, ...]:
        """All versions of the memory's slot, oldest first by start; forgotten ones are left out, pending ones come last."""
        snapshot = self._slot(scope, mid)
        self._one(snapshot, mid, snapshot.now, snapshot.now)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        rows = sorted((r for r in snapshot.rows if r.slot == snapshot.slot and r.tombstoned_at is None), key=lambda r: r.turn)
        pendings = sorted((p for p in snapshot.pendings if p.row.tombstoned_at is None), key=lambda p: p.row.recorded_at)
        return (*(teller.memory(r) for r in rows), *(teller.pending(p) for p in pendings))

    # --- views

    def view(self, scope: Scope, as_of: datetime | None, known_at: datetime | None) -> tuple[Teller, tuple[Pending, ...], int]:
        """Everything of a user at a past (as_of, known_at)."""
        check_time(known_at, "known_at")
        return self._viewed(self._reader.history(scope, None if known_at is None else to_ms(utc(known_at))), as_of, known_at)

    def _view(self, scope: Scope, where: MemoryFilter) -> tuple[Teller, tuple[Pending, ...], int]:
        if where.as_of is not None or where.known_at is not None or where.status not in (None, Status.PENDING):
            return self._past(scope, where)
        snapshot = self._reader.latest(scope, where.kind, where.key, where.subject)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now, bounded=True)
        return teller, snapshot.pendings, snapshot.rev

    def _past(self, scope: Scope, where: MemoryFilter) -> tuple[Teller, tuple[Pending, ...], int]:
        """As little of the past as decides the answer: of one key its rows, of what is told at as_of no older history."""
        check_time(where.as_of, "as_of")
        check_time(where.known_at, "known_at")
        listed = where.status not in (None, Status.ACTIVE, Status.PENDING)
        if where.key is None:
            return self.view(scope, where.as_of, where.known_at) if listed else self.told_view(scope, where.as_of, where.known_at)
        as_of, known_at = (None if at is None else to_ms(utc(at)) for at in (where.as_of, where.known_at))
        snapshot = self._reader.history(scope, known_at, Part(where.key, where.kind, None if listed else as_of))
        return self._viewed(snapshot, where.as_of, where.known_at)

    def told_view(self, scope: Scope, as_of: datetime | None, known_at: datetime | None) -> tuple[Teller, tuple[Pending, ...], int]:
        """What is told of a user at (as_of, known_at); rows that were over by then may be missing. A past known_at reads everything."""
        check_time(as_of, "as_of")
        if known_at is not None or as_of is None:
            return self.view(scope, as_of, known_at)
        return self._viewed(self._reader.history(scope, None, Part(since=to_ms(utc(as_of)))), as_of, None)

    def _viewed(self, snapshot: Snapshot, as_of: datetime | None, known_at: datetime | None) -> tuple[Teller, tuple[Pending, ...], int]:
        t, k = when(snapshot.now, as_of, known_at)
        return Teller(self._room.ontology, Ledger(snapshot.rows), t, k), snapshot.pendings, snapshot.rev

    def _listed(self, teller: Teller, pendings: Sequence[Pending], where: MemoryFilter) -> list[Memory]:
        if where.status is Status.PENDING:
            return self._shown(teller, pendings)
        if where.status is None:
            silent = blocked(pendings, teller.t, teller.k, self._room.limits)
            return [teller.tell(r) for r in teller.ledger.all_told(teller.t, teller.k) if r.slot not in silent]
        rows = [r for r in teller.ledger.rows if visible(r, teller.k) and teller.ledger.status(r, teller.t, teller.k) is where.status]
        decided = [teller.pending(p) for p in pendings if p.row.tombstoned_at is None and not p.open() and p.row.recorded_at <= teller.k]
        return [teller.memory(r) for r in rows] + [m for m in decided if m.status is where.status]

    def _shown(self, teller: Teller, pendings: Iterable[Pending]) -> list[Memory]:
        return [teller.pending(p) for p in pendings if shown(p, teller.t, teller.k, self._room.limits.pending_life)]

    def _slot(self, scope: Scope, mid: str) -> Snapshot:
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            raise NotFoundError("no memory of that id")
        return snapshot

    def _one(self, snapshot: Snapshot, mid: str, t: Ms, k: Ms) -> Memory:
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), t, k)
        for row in snapshot.rows:
            if row.mid == mid and row.tombstoned_at is None and row.recorded_at <= k:
                return teller.memory(row)
        for pending in snapshot.pendings:
            if pending.row.mid == mid and pending.row.tombstoned_at is None and pending.row.recorded_at <= k:
                return teller.pending(pending)
        raise NotFoundError("no memory of that id")


def when(now: Ms, as_of: datetime | None, known_at: datetime | None) -> tuple[Ms, Ms]:
    """(t, k) of a question: both now by default; known_at alone sets as_of too."""
    check_time(as_of, "as_of")
    check_time(known_at, "known_at")
    k = now if known_at is None else to_ms(utc(known_at))
    t = to_ms(utc(as_of)) if as_of is not None else (k if known_at is not None else now)
    return t, k


def check_limit(limit: int) -> None:
    if not 1 <= limit <= PAGE_MAX:
        raise InvalidInputError(f"limit lies between 1 and {PAGE_MAX}", field="limit")


def _matches(m: Memory, where: MemoryFilter) -> bool:
    if where.kind is not None and m.kind is not where.kind:
        return False
    if where.key is not None and m.key != where.key:
        return False
    # a role finds everybody in it: friend → friend:小李
    return where.subject is None or m.subject == where.subject or m.subject.partition(":")[0] == where.subject


def _place(m: Memory, where: MemoryFilter) -> tuple[int, str]:
    at = m.recorded_at if where.order == "recorded" else (m.valid_from or m.said_at)
    return (to_ms(at), m.mid)


def _encode(place: tuple[int, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _cursor(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    try:
        at, mid = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError) as fault:
        raise InvalidInputError("that is no cursor of this list", field="cursor") from fault
    if not isinstance(at, int) or not isinstance(mid, str):
        raise InvalidInputError("that is no cursor of this list", field="cursor")
    return at, mid


__all__ = ["Reading", "when"]
