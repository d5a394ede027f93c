"""The archive: old preferences and contexts leave the graph for encrypted files of the user, and come back exactly. Facts never do.

A segment is written, synced, read back and verified before its rows leave the graph.
Killed anywhere, both hold them or the graph alone does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Protocol

from graphmem.ages import Ages, movable
from graphmem.casework import Reads
from graphmem.errors import ConflictError, NotFoundError
from graphmem.ids import uuid7
from graphmem.memory import Kind
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.validity import Ms, Row
from graphmem.writing import Changes, Known, Moved, Origin, book_of

SEGMENT_ROWS = 500
"""Rows of one segment: one transaction takes them out or puts them back."""

Record = Mapping[str, object]
"""Everything of one memory as it must come back: kind, edge, node, about, sources, links; JSON values only."""

ORIGIN = Origin("archive", "event", None, None, "archive", "UTC")


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the archive. user: a pseudonym. first, last: when its rows were said. sha256, bytes: of the file as it lies there.

    state: `written` (its rows are still in the graph, or were when the process died), `moved`, `restoring`.
    """

    id: str
    user: str
    rows: int
    slots: int
    first: datetime
    last: datetime
    written_at: datetime
    sha256: str
    bytes: int
    key_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Archived:
    """What one run moved."""

    users: int
    rows: int
    segments: tuple[Segment, ...]


class Vault(Protocol):
    """Segments of a tenant on disk, encrypted. One process at a time holds a tenant's lock."""

    def lock(self, tenant: str) -> AbstractContextManager[object]: ...

    def segments(self, tenant: str) -> list[Segment]:
        """What the manifest lists, oldest first."""
        ...

    def write(self, scope: Scope, segment: str, records: Sequence[Record]) -> Segment:
        """Write, sync, read back and verify a segment, then list it as `written`."""
        ...

    def read(self, tenant: str, segment: str) -> tuple[str, list[Record]]:
        """The user and records of a listed segment; ConfigurationError when the file is not what was written."""
        ...

    def mark(self, tenant: str, segment: str, state: str) -> None: ...

    def drop(self, tenant: str, segments: Collection[str]) -> None:
        """Take segments off the list and remove their files; files that no list names go too."""
        ...

    def pseudonym(self, scope: Scope) -> str: ...


class Shelf(Protocol):
    """What the archive reads of the graph."""

    def users(self, tenant: str, before: Ms) -> Iterator[str]:
        """Users who may have something to archive."""
        ...

    def records(self, scope: Scope, mids: Sequence[str]) -> list[Record]:
        """Everything of these memories, in a canonical form; those that are not there are left out."""
        ...

    def digest(self, records: Sequence[Record]) -> str:
        """SHA-256 of the canonical form."""
        ...

    def slots(self, scope: Scope, slots: Sequence[str]) -> dict[str, int]:
        """How many rows of these slots lie in the archive."""
        ...

    def rows(self, records: Sequence[Record]) -> list[Row]: ...


class Archive:
    """Thread safe; one process at a time works on a tenant."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, shelf: Shelf, vault: Vault, ages: Ages) -> None:
        self._room, self._writer, self._reader = room, writer, reader
        self._shelf, self._vault, self._ages = shelf, vault, ages

    def segments(self, tenant: str) -> list[Segment]:
        """What lies in a tenant's archive, oldest first."""
        return self._vault.segments(tenant)

    def count(self, scope: Scope, slot: str) -> int:
        """How many older versions of a slot lie in the archive."""
        return self._shelf.slots(scope, [slot]).get(slot, 0)

    def run(self, tenant: str, now: Ms, progress: Callable[[int], None] | None = None) -> Archived:
        """Move what is old enough, user by user; what an interrupted run left is settled first."""
        done: list[Segment] = []
        users = 0
        with self._vault.lock(tenant):
            self._settle(tenant)
            for user in self._shelf.users(tenant, now - min(self._ages.superseded, self._ages.expired)):
                moved = self._run_user(Scope(tenant, user, principal="archive"))
                users += bool(moved)
                done += moved
                if moved and progress is not None:
                    progress(sum(s.rows for s in done))
        return Archived(users, sum(s.rows for s in done), tuple(done))

    def _run_user(self, scope: Scope) -> list[Segment]:
        snapshot = self._reader.history(scope)
        rows = movable(snapshot.rows, snapshot.now, self._ages)
        done = []
        for part in _parts(rows):
            records = self._shelf.records(scope, [r.mid for r in part])
            if len(records) != len(part) or any(_unpurged(r) for r in records):
                continue
            segment = self._vault.write(scope, uuid7(), records)
            if not self._move(scope, part, records):
                self._vault.drop(scope.tenant, [segment.id])
                continue
            self._vault.mark(scope.tenant, segment.id, "moved")
            done.append(replace(segment, state="moved"))
        return done

    def _move(self, scope: Scope, part: Sequence[Row], records: Sequence[Record]) -> bool:
        """Take rows out of the graph if nothing touched them meanwhile; False: left as they are."""
        mids = tuple(r.mid for r in part)
        moved = Moved(mids, self._shelf.digest(records), _slots(part))
        leaving = set(mids)

        def decide(known: Known) -> Changes:
            held = (*known.rows, *known.rivals)
            if not leaving <= {r.mid for r in movable(held, known.now, self._ages)}:
                raise ConflictError("the slot moved on", code="version_conflict")
            left = replace(
                known,
                rows=tuple(r for r in known.rows if r.mid not in leaving),
                rivals=tuple(r for r in known.rivals if r.mid not in leaving),
            )
            changes = self._room.close(left, book_of(left, iter(())), [], Changes("", ORIGIN), {}, "en")
            return replace(changes, moved=moved)

        operation = Operation(operation_id(scope, "archive", uuid7()), "archive", "archive", "archive")
        try:
            self._writer.write(scope, operation, _reads(part), decide)
        except ConflictError:
            return False
        return True

    def _settle(self, tenant: str) -> None:
        """What a process that died left: a segment whose rows are still in the graph is dropped, one whose rows left is moved."""
        for segment in self._vault.segments(tenant):
            if segment.state == "moved":
                continue
            user, records = self._vault.read(tenant, segment.id)
            held = self._shelf.records(Scope(tenant, user), [mid_of(r) for r in records])
            if held:
                self._vault.drop(tenant, [segment.id])
            else:
                self._vault.mark(tenant, segment.id, "moved")
        self._vault.drop(tenant, ())

    # --- back

    def restore(self, tenant: str, segment: str | None = None) -> int:
        """Bring rows back as they were: all of the tenant, or one segment with its user's newer ones; returns how many.

        A slot's versions come back without a gap, so an older segment never comes alone. What is back already is left as it is.
        """
        with self._vault.lock(tenant):
            self._settle(tenant)
            listed = self._vault.segments(tenant)
            chosen = [s for s in listed if s.id == segment] if segment is not None else listed
            if segment is not None and not chosen:
                raise NotFoundError("no segment of that id in the archive")
            wanted = [s for s in listed if segment is None or (s.user == chosen[0].user and s.id >= chosen[0].id)]
            return sum(self._put_back(tenant, s) for s in sorted(wanted, key=lambda s: s.id, reverse=True))

    def _put_back(self, tenant: str, segment: Segment) -> int:
        user, records = self._vault.read(tenant, segment.id)
        scope = Scope(tenant, user, principal="archive")
        rows = self._shelf.rows(records)
        self._vault.mark(tenant, segment.id, "restoring")

        def decide(known: Known) -> Changes:
            have = {r.mid for r in (*known.rows, *known.rivals)}
            new = tuple(r for r in rows if r.mid not in have)
            again = replace(known, rows=(*known.rows, *new), slots=tuple(dict.fromkeys((*known.slots, *(r.slot for r in rows)))))
            changes = self._room.close(again, book_of(again, iter(())), [], Changes("", ORIGIN), {}, "en")
            back = {r.mid for r in new}
            return replace(changes, returned=tuple(r for r in records if mid_of(r) in back))

        operation = Operation(operation_id(scope, "restore", uuid7()), "restore", "restore", "archive")
        self._writer.write(scope, operation, _reads(rows), decide)
        self._vault.drop(tenant, [segment.id])
        return len(records)

    def forget(self, scope: Scope, forget_graph: Callable[[], None]) -> None:
        """Everything of a user in the archive goes for good, with the graph's notes of it."""
        mine = self._vault.pseudonym(scope)
        with self._vault.lock(scope.tenant):
            forget_graph()
            self._vault.drop(scope.tenant, [s.id for s in self._vault.segments(scope.tenant) if s.user == mine])


def mid_of(record: Record) -> str:
    edge = record["edge"]
    return str(edge["mid"]) if isinstance(edge, Mapping) else ""


def _unpurged(record: Record) -> bool:
    """Forgotten, but still with content: it must be purged first."""
    edge = record["edge"]
    return isinstance(edge, Mapping) and "tombstoned_at" in edge and "purged_at" not in edge


def _parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Whole slots together, about SEGMENT_ROWS rows at once."""
    part: list[Row] = []
    for _, slot in groupby(rows, key=lambda r: r.slot):
        part += slot
        if len(part) >= SEGMENT_ROWS:
            yield part
            part = []
    if part:
        yield part


def _slots(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """slot → (highest version, rows)."""
    found: dict[str, tuple[int, int]] = {}
    for r in rows:
        top, count = found.get(r.slot, (0, 0))
        found[r.slot] = (max(top, r.version), count + 1)
    return found


def _reads(rows: Sequence[Row]) -> Reads:
    slots = {k: tuple(sorted({r.slot for r in rows if r.kind is k})) for k in Kind}
    things = {k: tuple(sorted({r.thing for r in rows if r.kind is k and r.ckey})) for k in Kind}
    return Reads(slots, things, {}, since=None, whole=True)


__all__ = ["Archive", "Archived", "Record", "Segment", "Shelf", "Vault", "mid_of"]
