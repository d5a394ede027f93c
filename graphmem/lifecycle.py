"""The ends of life: retract, undelete, purge, and the sweep that tidies what reads already know (design section 5, Ends of life)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from graphmem.answers import Memory
from graphmem.book import Judgement
from graphmem.casework import Reads
from graphmem.errors import ConflictError, NotFoundError, RefusedError
from graphmem.ids import uuid7
from graphmem.memory import Kind, Statement, Verdict
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.purge import gone, purge_of
from graphmem.remember import whole
from graphmem.repeating import Route, done_before, operation_of
from graphmem.room import Room, check_id
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller
from graphmem.validity import Ledger, Ms, Row
from graphmem.writing import Changes, Decided, Known, Origin, Purge, book_of

BATCH = 50
"""Slots of one user that one write of the sweep tidies."""

SWEEP = Origin("sweep", "event", None, None, "sweep", "UTC")


@dataclass(frozen=True, slots=True)
class Due:
    """A slot to tidy, the things its rows are about, and the pending memories concerned."""

    tenant: str
    user: str
    kind: Kind
    slot: str
    things: tuple[str, ...] = ()
    mids: tuple[str, ...] = ()


class Sweeper(Protocol):
    """What is due in the graph, of one tenant or of all (None), in the order of slots."""

    def due_slots(self, tenant: str | None) -> Iterator[Due]: ...

    def due_pendings(self, tenant: str | None, life: Ms) -> Iterator[Due]: ...

    def tombstones(self, tenant: str | None) -> Iterator[Due]: ...


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did: slots tidied, pending memories ended, slots purged."""

    slots: int
    pendings: int
    purged: int


class Lifecycle:
    """Thread safe; two sweepers at once are safe: each tidying is a write of its own under the user's lock."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, sweeper: Sweeper) -> None:
        self._room, self._writer, self._reader, self._sweeper = room, writer, reader, sweeper

    # --- one memory

    def retract(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """It was never so: the row before it counts again (what it had overruled does not). Proven keys need a reviewer: 403."""
        if (told := self._told_again(scope, "retract", mid, key)) is not None:
            return told
        row = self._row(scope, mid)
        known = self._room.ontology.get(row.key)
        if known is not None and (known.policy != "versioned" or known.safety) and "review" not in scope.rights:
            hint = "ask for a review, or forget it"
            raise RefusedError("this key changes only by proof or review", code="verification_required", hint=hint)

        def act(held: Row, now: Ms) -> Row:
            if held.retracted_at is not None:
                raise ConflictError("it was retracted already", code="decided")
            if held.tombstoned_at is not None:
                raise NotFoundError("no memory of that id")
            return replace(held, retracted_at=now)

        return self._change(scope, row, self._operation(scope, "retract", row, key), act, Changes("", self._origin(scope, row, "retract")))

    def undelete(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """Bring a forgotten memory back within 72 h: the same row and version, current only if nothing newer holds the slot."""
        if (told := self._told_again(scope, "undelete", mid, key)) is not None:
            return told
        row = self._row(scope, mid, forgotten=True)

        def act(held: Row, now: Ms) -> Row:
            if held.tombstoned_at is None or gone(held, now):
                raise NotFoundError("no forgotten memory of that id that could still be brought back")
            return replace(held, tombstoned_at=None)

        changes = Changes("", self._origin(scope, row, "undelete"), restored=(mid,))
        return self._change(scope, row, self._operation(scope, "undelete", row, key), act, changes)

    def _row(self, scope: Scope, mid: str, *, forgotten: bool = False) -> Row:
        check_id(mid, "mid")
        snapshot = self._reader.slot_of(scope, mid)
        rows: list[Row] = [] if snapshot is None else [*snapshot.rows]
        if snapshot is not None and forgotten:
            rows += [p.row for p in snapshot.pendings]
        row: Row | None = next((r for r in rows if r.mid == mid and (r.tombstoned_at is not None) == forgotten), None)
        if row is None or snapshot is None or gone(row, snapshot.now):
            raise NotFoundError("no memory of that id")
        return row

    def _origin(self, scope: Scope, row: Row, route: str) -> Origin:
        return Origin(f"op:{operation_id(scope, route, row.mid)}", "user_stated", row.mid, scope.principal, scope.domain, "UTC")

    def _operation(self, scope: Scope, route: Route, row: Row, key: str | None) -> Operation:
        return operation_of(scope, route, row.mid, key, f"{row.mid}\x1f{row.more.get('rowrev') or 0}")

    def _told_again(self, scope: Scope, route: Route, mid: str, key: str | None) -> Memory | None:
        """The memory as it is now, when the caller's key has done this before."""
        check_id(mid, "mid")
        if key is None or done_before(self._writer, scope, operation_of(scope, route, mid, key, mid)) is None:
            return None
        return self._as_now(scope, mid)

    def _change(self, scope: Scope, row: Row, operation: Operation, act: Callable[[Row, Ms], Row], changes: Changes) -> Memory:
        def decide(known: Known) -> Changes:
            book = book_of(known, iter(()))
            if row.version:
                if row.mid not in book.rows:
                    raise NotFoundError("no memory of that id")
                book.put(act(book.rows[row.mid], known.now))
            else:  # a decided pending memory is in no slot's order: only its mark changes
                act(row, known.now)
            decided = [Decided(_statement(row), Judgement(Verdict.RETRACT if operation.route == "retract" else Verdict.NEW, row.mid))]
            return self._room.close(known, book, decided, changes, {}, "en")

        # done before by a parallel double click: the same answer
        self._writer.write(scope, operation, whole(row), decide)
        self._room.forget_sessions(scope)
        return self._as_now(scope, row.mid)

    def _as_now(self, scope: Scope, mid: str) -> Memory:
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            raise NotFoundError("no memory of that id")
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        found = [teller.memory(r) for r in snapshot.rows if r.mid == mid and r.tombstoned_at is None]
        found += [teller.pending(p) for p in snapshot.pendings if p.row.mid == mid and p.row.tombstoned_at is None]
        if not found:
            raise NotFoundError("no memory of that id")
        return found[0]

    # --- the sweep

    def sweep(self, tenant: str | None = None, progress: Callable[[int], None] | None = None) -> Swept:
        """Promote plans that are due, let go of lapsed rows and of pending ones past their life, purge what was forgotten 72 h ago.

        Of one tenant, or of all. Each step is a write of its own: stopped anywhere, the next sweep goes on; answers never depend on it.
        """
        counts = {"slots": 0, "pendings": 0, "purged": 0}
        found = (
            ("slots", self._sweeper.due_slots(tenant), self._tidied),
            ("pendings", self._sweeper.due_pendings(tenant, self._room.limits.pending_life), self._tidied),
            ("purged", self._sweeper.tombstones(tenant), self._purged),
        )
        for name, dues, decide in found:
            for batch in batches(dues):
                counts[name] += self._write(batch, decide)
                if progress is not None:
                    progress(sum(counts.values()))
        return Swept(**counts)

    def _write(self, batch: Sequence[Due], decide: Callable[[Known, Sequence[Due]], Changes]) -> int:
        """One write over some slots of one user; 0 when another sweep or a write did it already."""
        scope = Scope(batch[0].tenant, batch[0].user, principal="sweep")
        slots: dict[Kind, tuple[str, ...]] = {}
        things: dict[Kind, tuple[str, ...]] = {}
        for due in batch:
            slots[due.kind] = (*slots.get(due.kind, ()), due.slot)
            things[due.kind] = (*things.get(due.kind, ()), *due.things)
        reads = Reads(slots, things, {}, since=None, whole=True)
        operation = Operation(operation_id(scope, "sweep", uuid7()), "sweep", "sweep", "sweep")
        try:
            self._writer.write(scope, operation, reads, lambda known: decide(known, batch))
        except _NothingToDo:
            return 0
        except RefusedError:  # erased meanwhile
            return 0
        return len(batch)

    def _tidied(self, known: Known, batch: Sequence[Due]) -> Changes:
        """Caches as they must be now, and the ends of pending memories past their life."""
        book = book_of(known, iter(()))
        for mid in (mid for due in batch for mid in due.mids):
            pending = book.pendings.get(mid)
            if pending is not None and pending.open() and known.now >= pending.row.said_at + self._room.limits.pending_life:
                book.decide(pending, "expired", pending.row.said_at + self._room.limits.pending_life)
        changes = self._room.close(known, book, [], Changes("", SWEEP), {}, "en")
        if not changes.patched and not changes.decided:
            raise _NothingToDo
        return changes

    def _purged(self, known: Known, batch: Sequence[Due]) -> Changes:
        plan = purge_of((*known.rows, *known.rivals), {due.slot for due in batch}, known.now)
        pendings = tuple(mid for due in batch for mid in due.mids)
        plan = replace(plan, emptied=(*plan.emptied, *pendings), dropped=(*plan.dropped, *pendings))
        if not plan.emptied:
            raise _NothingToDo
        left = replace(known, rows=_left(known.rows, plan), rivals=_left(known.rivals, plan))
        changes = self._room.close(left, book_of(left, iter(())), [], Changes("", SWEEP), {}, "en")
        return replace(changes, purge=plan)


class _NothingToDo(Exception):  # noqa: N818 - ends a write without a trace, never leaves this module
    """Another sweep was here, or a write promoted what was due: nothing is stored."""


def _left(rows: Sequence[Row], plan: Purge) -> tuple[Row, ...]:
    """The rows that stay, as they will be named."""
    stripped = set(plan.stripped)
    kept = [r for r in rows if r.mid not in plan.dropped]
    return tuple(replace(r, ckey="", thing=r.slot) if r.mid in stripped else r for r in kept)


def batches(dues: Iterable[Due]) -> Iterator[list[Due]]:
    """Slots of one user that follow each other, at most BATCH at once."""
    batch: list[Due] = []
    for due in dues:
        if batch and ((due.tenant, due.user) != (batch[0].tenant, batch[0].user) or len(batch) == BATCH):
            yield batch
            batch = []
        batch.append(due)
    if batch:
        yield batch


def _statement(row: Row) -> Statement:
    return Statement(kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity)


__all__ = ["Due", "Lifecycle", "Sweeper", "Swept", "batches"]
