"""Forget one memory, or all of a user: unreadable at once on every path, and still keeping its place and its opposition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from graphmem.book import Judgement
from graphmem.casework import Reads
from graphmem.errors import ConflictError, NotFoundError
from graphmem.ids import uuid7
from graphmem.memory import Kind, Statement, Verdict
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.remember import whole
from graphmem.repeating import done_before, operation_of
from graphmem.room import Room, check_id
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.validity import Row
from graphmem.writing import Changes, Decided, Known, Origin, Snapshot, book_of

BATCH = 100
"""Slots of one user that one write forgets."""

ROUNDS = 5
"""How often forget-all looks again for what was written meanwhile."""


class Forgetting:
    """Thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, drop_archive: Callable[[Scope], None]) -> None:
        self._room, self._writer, self._reader, self._drop_archive = room, writer, reader, drop_archive

    def forget(self, scope: Scope, mid: str, *, if_match: str | None = None, key: str | None = None) -> tuple[str, ...]:
        """Unreadable at once on every path, with the pending one it was confirmed from; no older value comes back.

        Twice: not found, but for the caller's own key, which makes the second time the same operation.
        """
        check_id(mid, "mid")
        if key is not None and done_before(self._writer, scope, operation_of(scope, "forget", mid, key, mid)) is not None:
            return (mid,)
        snapshot = self._reader.slot_of(scope, mid)
        rows = {} if snapshot is None else {r.mid: r for r in (*snapshot.rows, *(p.row for p in snapshot.pendings))}
        row = rows.get(mid)
        if snapshot is None or row is None or row.tombstoned_at is not None:
            raise NotFoundError("no memory of that id")
        check_match(row, if_match)
        mids = (mid, *_confirmed_from(row, snapshot))
        operation = operation_of(scope, "forget", mid, key, f"{mid}\x1f{etag_of(row)}")
        origin = Origin(f"op:{operation.op}", "user_stated", mid, scope.principal, scope.domain, "UTC")

        def decide(known: Known) -> Changes:
            held = next((r for r in (*known.rows, *known.rivals) if r.mid == mid), row)
            if held.tombstoned_at is not None:
                raise NotFoundError("no memory of that id")
            check_match(held, if_match)
            return self._forgotten(known, mids, Changes("", origin, forgotten=mids))

        self._writer.write(scope, operation, whole(row), decide)
        self._room.forget_sessions(scope)
        return mids

    def forget_all(self, scope: Scope) -> int:
        """Every memory of the user, pending and past ones too, and what lies in the archive; returns how many. Reaches no other user.

        One write a hundred slots. Turns stay, the words that memories cite are blank. Each memory may be brought back by its id
        within 72 h, the archived ones not.
        """
        total = 0
        for _ in range(ROUNDS):
            snapshot = self._reader.history(scope)
            rows = [r for r in (*snapshot.rows, *(p.row for p in snapshot.pendings)) if r.tombstoned_at is None]
            if not rows:
                break
            total += sum(self._forget_batch(scope, batch) for batch in _batches(rows))
        self._drop_archive(scope)
        self._room.forget_sessions(scope)
        return total

    def _forget_batch(self, scope: Scope, rows: list[Row]) -> int:
        mids = tuple(r.mid for r in rows)
        slots: dict[Kind, tuple[str, ...]] = {}
        things: dict[Kind, tuple[str, ...]] = {}
        for row in rows:
            slots[row.kind] = tuple(dict.fromkeys((*slots.get(row.kind, ()), row.slot)))
            if row.ckey:
                things[row.kind] = tuple(dict.fromkeys((*things.get(row.kind, ()), row.thing)))
        operation = Operation(operation_id(scope, "forget_all", uuid7()), "all", "forget_all", scope.principal)
        origin = Origin(f"op:{operation.op}", "user_stated", None, scope.principal, scope.domain, "UTC")

        def decide(known: Known) -> Changes:
            return self._forgotten(known, mids, Changes("", origin, forgotten=mids))

        self._writer.write(scope, operation, Reads(slots, things, {}, since=None, whole=True), decide)
        return len(mids)

    def _forgotten(self, known: Known, mids: Iterable[str], changes: Changes) -> Changes:
        """Rows and undecided pending ones marked in the book; decided ones are marked by the write itself."""
        book = book_of(known, iter(()))
        decided = []
        for mid in mids:
            if (pending := book.pendings.get(mid)) is not None:
                book.pendings[mid] = replace(pending, row=replace(pending.row, tombstoned_at=known.now))
                book.decide(book.pendings[mid], "rejected", known.now)
                decided.append(Decided(_statement(pending.row), Judgement(Verdict.RETRACT, mid)))
            elif (row := book.rows.get(mid)) is not None and row.tombstoned_at is None:
                book.put(replace(row, tombstoned_at=known.now))
                decided.append(Decided(_statement(row), Judgement(Verdict.RETRACT, mid)))
        return self._room.close(known, book, decided, changes, {}, "en")


def etag_of(row: Row) -> str:
    """`v2-7`: version and row revision."""
    return f"v{row.version}-{row.more.get('rowrev') or 0}"


def check_match(row: Row, if_match: str | None) -> None:
    """ConflictError unless the row is still the one that was read (None and `*` ask for nothing)."""
    etag = etag_of(row)
    if if_match is not None and if_match.strip('"') not in (etag, "*"):
        raise ConflictError("the memory changed since it was read", code="version_conflict", current=etag)


def _confirmed_from(row: Row, snapshot: Snapshot) -> tuple[str, ...]:
    """Pending memories of the slot that became this very value: the same words, kept once more."""
    if not row.version or row.is_end:
        return ()
    found = (p for p in snapshot.pendings if p.outcome == "confirmed" and p.row.tombstoned_at is None)
    return tuple(p.row.mid for p in found if (p.row.slot, p.row.ckey, p.row.polarity) == (row.slot, row.ckey, row.polarity))


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """All rows of a slot in one batch, at most BATCH slots at once."""
    by_slot: dict[str, list[Row]] = {}
    for row in rows:
        by_slot.setdefault(row.slot, []).append(row)
    slots = iter(sorted(by_slot))
    while some := list(islice(slots, BATCH)):
        yield [r for slot in some for r in by_slot[slot]]


def _statement(row: Row) -> Statement:
    return Statement(kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity)


__all__ = ["Forgetting", "check_match", "etag_of"]
