"""The graph as plain lists: the same bounded reads as cypher/memory.cypher, for the pure middle. Held to the contract by tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graphmem.casework import Reads
from graphmem.errors import ConflictError
from graphmem.memory import Kind
from graphmem.ports import Operation
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.validity import Ledger, Ms, Pending, Row
from graphmem.writing import Changes, Done, Known, Written

WHOLE = -8_000_000_000_000_000


@dataclass
class ListGraph:
    """One user's rows. `clock` is the database's time; it never stands still between writes."""

    clock: Ms = 1_700_000_000_000
    rows: dict[str, Row] = field(default_factory=dict)
    pendings: dict[str, Pending] = field(default_factory=dict)
    done: dict[str, Done] = field(default_factory=dict)
    at: Ms = 0
    rev: int = 0

    def write(self, scope: Scope, operation: Operation, reads: Reads, decide: Callable[[Known], Changes]) -> Written:
        now = max(self.clock, self.at + 1)
        if (found := self.done.get(operation.op)) is not None:
            if found.request_hash != operation.request_hash:
                raise ConflictError("the idempotency key was used for another request", code="idempotency_key_reused")
            return Written(Known(now, self.rev, False, done=found), None, found.rev)
        known = self._known(scope, reads, now)
        changes = decide(known)
        self.at, self.rev = now, self.rev + 1
        copies = {c.mid: c for c in changes.copied}
        for row in (*changes.patched, *changes.created):
            assert row.mid in self.rows or row in changes.created
            seen = row.observations or (self.rows[row.mid].observations if row.mid in self.rows else ())
            self.rows[row.mid] = replace(row, observations=seen, more={})
            assert row.mid not in copies or row.observations is not None
        for pending in (*changes.pended, *changes.decided):
            self.pendings[pending.row.mid] = pending
        self._constraints()
        self.done[operation.op] = Done(operation.request_hash, changes.outcome, self.rev)
        return Written(known, changes, self.rev)

    def _known(self, scope: Scope, reads: Reads, now: Ms) -> Known:
        since = WHOLE if reads.whole else (now - 1 if reads.since is None or reads.since >= now else reads.since)
        named = {s for k in Kind for s in reads.slots.get(k, ())}
        things = {t for k in (Kind.FACT, Kind.PREFERENCE) for t in reads.things.get(k, ())}
        prefixes = tuple(p for k in Kind for p in reads.prefixes.get(k, ()))
        live = [r for r in self.rows.values() if r.until > since]
        slots = named | {r.slot for r in live if r.thing in things}
        slots |= {r.slot for r in self.rows.values() if (r.current or r.planned) and prefixes and r.slot.startswith(prefixes)}
        rows = [r for r in live if r.slot in slots]
        about = {r.thing for r in rows if r.ckey and r.kind is not Kind.CONTEXT}
        rivals = [r for r in live if r.thing in about and r.slot not in slots]
        kinds = {k for k in Kind if reads.slots.get(k) or reads.prefixes.get(k)}
        waiting = [p for p in self.pendings.values() if p.open() and p.row.kind in kinds and p.row.slot.startswith(slot_prefix(scope))]
        tops: dict[str, int] = {}
        for r in self.rows.values():
            if r.slot in slots:
                tops[r.slot] = max(tops.get(r.slot, 0), r.version)
        return Known(now, self.rev, False, tuple(sorted(slots)), tuple(rows), tuple(rivals), tops, tuple(waiting))

    def _constraints(self) -> None:
        current = [r.slot for r in self.rows.values() if r.current]
        assert len(current) == len(set(current)), "two current rows in one slot"
        versions = [(r.slot, r.version) for r in self.rows.values()]
        assert len(versions) == len(set(versions)), "a version stands twice"

    def told(self, t: Ms, k: Ms | None = None) -> list[tuple[str, str, str, str | None]]:
        """(key, subject, polarity, value) of everything told at (t, k), sorted."""
        ledger = Ledger(self.rows.values())
        found = ledger.all_told(t, self.at if k is None else k)
        return sorted((r.key, r.subject, r.polarity, r.value or "") for r in found)
