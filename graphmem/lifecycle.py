"""The ends of life: retract, undelete, purge, and the sweep that tidies what reads already know (design section 5, Ends of life)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from graphmem.answers import Memory
from graphmem.book import Judgement
from graphmem.casework import Reads
from graphmem.errors import ConflictError, NotFoundError, RefusedError
from graphmem.ids import uuid7
from graphmem.memory import Kind, Statement, Verdict
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.remember import whole
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller
from graphmem.validity import Ledger, Ms, Row
from graphmem.writing import Changes, Decided, Known, Origin, book_of

UNDELETE_MS: Ms = 72 * 3600 * 1000
"""How long a forgotten memory may be brought back (design section 5)."""


@dataclass(frozen=True, slots=True)
class Due:
    """A slot to tidy, or a pending memory (`mid`) that is too old."""

    tenant: str
    user: str
    slot: str
    kind: Kind
    thing: str
    mid: str | None = None


class Sweeper(Protocol):
    """What the sweep finds in the graph, across tenants, page by page."""

    def due_slots(self) -> Iterator[Due]: ...

    def due_pendings(self, older_than: Ms) -> Iterator[Due]: ...

    def tombstones(self, tenant: str, older_than: Ms) -> Iterator[tuple[str, str]]: ...

    def purge(self, tenant: str, user: str, mid: str, older_than: Ms) -> bool: ...

    def tenants(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    slots: int
    pendings: int
    purged: int


class Lifecycle:
    """Thread safe; two sweepers at once are safe: each tidying is a write of its own under the user's lock."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, sweeper: Sweeper) -> None:
        self._room, self._writer, self._reader, self._sweeper = room, writer, reader, sweeper

    # --- one memory

    def retract(self, scope: Scope, mid: str) -> Memory:
        """It was never so: the row before it counts again (what it had overruled does not). Proven keys need a reviewer: 403."""
        row = self._row(scope, mid)
        key = self._room.ontology.get(row.key)
        if key is not None and (key.policy != "versioned" or key.safety) and "review" not in scope.rights:
            raise RefusedError("this key changes only by proof or review", code="verification_required", hint="ask for a review, or forget it")
        if row.retracted_at is not None:
            raise ConflictError("it was retracted already", code="decided")

        def act(rows: dict[str, Row], now: Ms) -> Row:
            return replace(rows[mid], retracted_at=now)

        return self._change(scope, row, "retract", act, Changes("", self._origin(scope, row, "retract")))

    def undelete(self, scope: Scope, mid: str) -> Memory:
        """Bring a forgotten memory back within 72 h: the same row and version, current only if nothing newer holds the slot."""
        row = self._row(scope, mid, forgotten=True)

        def act(rows: dict[str, Row], now: Ms) -> Row:
            gone = rows[mid].tombstoned_at
            if gone is None or now > gone + UNDELETE_MS:
                raise NotFoundError("no forgotten memory of that id that could still be brought back")
            return replace(rows[mid], tombstoned_at=None)

        return self._change(scope, row, "undelete", act, Changes("", self._origin(scope, row, "undelete"), restored=(mid,)))

    def _row(self, scope: Scope, mid: str, *, forgotten: bool = False) -> Row:
        snapshot = self._reader.slot_of(scope, mid)
        rows = () if snapshot is None else snapshot.rows
        row = next((r for r in rows if r.mid == mid and (r.tombstoned_at is not None) == forgotten), None)
        if row is None:
            raise NotFoundError("no memory of that id")
        return row

    def _origin(self, scope: Scope, row: Row, route: str) -> Origin:
        return Origin(f"op:{operation_id(scope, route, row.mid)}", "user_stated", row.mid, scope.principal, scope.domain, "UTC")

    def _change(self, scope: Scope, row: Row, route: str, act: Callable[[dict[str, Row], Ms], Row], changes: Changes) -> Memory:
        key = f"{row.mid}\x1f{row.more.get('rowrev') or 0}"
        operation = Operation(operation_id(scope, route, key), row.mid, route, scope.principal)
        ledger: list[Ledger] = []

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(()))
            if row.mid not in book.rows:
                raise NotFoundError("no memory of that id")
            book.put(act(book.rows, known.now))
            decided = [Decided(_statement(row), Judgement(Verdict.RETRACT if route == "retract" else Verdict.NEW, row.mid))]
            closed = self._room.close(known, book, decided, changes, {}, "en")
            ledger[:] = [book.ledger]
            return closed

        written = self._writer.write(scope, operation, whole(row), decide)
        self._room.forget_sessions(scope)
        if not ledger:
            raise ConflictError(f"{route} was done already", code="decided")
        now = written.known.now
        return Teller(self._room.ontology, ledger[0], now, now).memory(next(r for r in ledger[0].rows if r.mid == row.mid))

    # --- the sweep

    def sweep(self, now: Ms, progress: Callable[[int], None] | None = None) -> Swept:
        """Promote plans that are due, let go of lapsed rows and of pending ones past their life, purge what was forgotten 72 h ago."""
        slots = 0
        for due in self._sweeper.due_slots():
            self._tidy(due)
            slots += 1
            if progress is not None:
                progress(slots)
        pendings = 0
        for due in self._sweeper.due_pendings(now - self._room.limits.pending_life):
            self._tidy(due)
            pendings += 1
        purged = 0
        for tenant in self._sweeper.tenants():
            for user, mid in self._sweeper.tombstones(tenant, now - UNDELETE_MS):
                purged += self._sweeper.purge(tenant, user, mid, now - UNDELETE_MS)
        return Swept(slots, pendings, purged)

    def _tidy(self, due: Due) -> None:
        """One slot's caches as they must be now, or one pending memory's end; a write like any other."""
        scope = Scope(due.tenant, due.user, principal="sweep")
        reads = Reads({due.kind: (due.slot,)}, {due.kind: (due.thing,)}, {}, since=None, whole=True)

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(()))
            pending = book.pendings.get(due.mid or "")
            if pending is not None and pending.open() and known.now >= pending.row.said_at + self._room.limits.pending_life:
                book.decide(pending, "expired", pending.row.said_at + self._room.limits.pending_life)
            origin = Origin("sweep", "event", None, None, due.tenant, "UTC")
            return self._room.close(known, book, [], Changes("", origin), {}, "en")

        operation = Operation(operation_id(scope, "sweep", uuid7()), due.slot, "sweep", "sweep")
        self._writer.write(scope, operation, reads, decide)


def _statement(row: Row) -> Statement:
    return Statement(kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity)


__all__ = ["Due", "Lifecycle", "Sweeper", "Swept"]
