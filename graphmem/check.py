"""`graphmem check`: what no constraint of Community can hold, proven by a look; and both stores compared in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from graphmem.caches import recached
from graphmem.ports import COLLECTIONS, CandidateIndex
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.validity import Ledger, Ms, Row, counts, lapses
from graphmem.writing import Snapshot

MOST = 1000
"""Breaks that are listed; the count goes on."""

STRAY = "written_past_the_service"
"""An edge or a memory that lacks an id, a slot, a version or a time of recording: `graphmem adopt` makes a memory of it."""


@dataclass(frozen=True, slots=True)
class Break:
    """One thing that is wrong. kind is a stable name; `ref` the memory, turn or point concerned."""

    kind: str
    tenant: str
    ref: str
    detail: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was looked at, and every break found."""

    memories: int
    points: int
    users: int
    waiting: int
    breaks: tuple[Break, ...]

    @property
    def clean(self) -> bool:
        return not self.breaks


class Graph(Protocol):
    """What check needs of the graph itself."""

    def snapshots(self, tenant: str) -> Iterator[tuple[str, Snapshot]]: ...

    def broken(self, tenant: str, limit: int) -> list[tuple[str, str]]: ...

    def strays(self, tenant: str, limit: int) -> list[tuple[str, str]]:
        """(element, whose) of what was written past the service."""
        ...


class Projected(Protocol):
    """What must stand in the index."""

    def memories(self, tenant: str) -> Iterator[Mapping[str, object]]: ...

    def turns(self, tenant: str) -> Iterator[Mapping[str, object]]: ...


class Checker:
    """Reads only; changes nothing."""

    def __init__(self, graph: Graph, projected: Projected, index: CandidateIndex, naming: Callable[[str, str], str]) -> None:
        self._graph, self._projected, self._index, self._naming = graph, projected, index, naming

    def check(self, tenant: str, waiting: int, progress: Callable[[int], None] | None = None) -> CheckReport:
        """Prove the invariants of one tenant. `waiting`: outbox records that are still to be projected (their refs may differ)."""
        found = [Break(kind, tenant, ref, kind.replace("_", " ")) for ref, kind in self._graph.broken(tenant, MOST)]
        found += [Break(STRAY, tenant, ref, f"of {whose}: `graphmem adopt`") for ref, whose in self._graph.strays(tenant, MOST)]
        users = memories = 0
        for user, snapshot in self._graph.snapshots(tenant):
            users += 1
            found += _foreign(Scope(tenant, user), snapshot)
            memories += len(snapshot.rows) + len(snapshot.pendings)
            found += slot_breaks(tenant, snapshot)
            if progress is not None and users % 100 == 0:
                progress(users)
        points, differing = self._compare(tenant)
        return CheckReport(memories, points, users, waiting, tuple((found + differing)[:MOST]))

    def _compare(self, tenant: str) -> tuple[int, list[Break]]:
        wanted: dict[str, tuple[str, str, int]] = {}
        for row in self._projected.memories(tenant):
            mid = str(row["mid"])
            wanted[self._naming(tenant, mid)] = (str(row["kind"]).lower(), mid, int(str(row["version"] or 0)))
        for row in self._projected.turns(tenant):
            ref = str(row["ref"])
            wanted[self._naming(tenant, ref)] = ("turn", ref, 0)
        points, found = 0, []
        for collection in COLLECTIONS:
            after: str | None = None
            while True:
                page = self._index.ids(tenant, collection, None, after)
                points += len(page.items)
                for held in page.items:
                    want = wanted.pop(held.id, None)
                    if want is None or want[0] != collection:
                        found.append(Break("point_without_memory", tenant, held.ref or held.id, f"{collection} point {held.id}"))
                    elif want[2] != held.version:
                        found.append(Break("point_of_other_version", tenant, want[1], f"index v{held.version}, graph v{want[2]}"))
                after = page.after
                if after is None:
                    break
        found += [Break("memory_without_point", tenant, ref, f"{kind} v{version}") for kind, ref, version in wanted.values()]
        return points, found


def _foreign(scope: Scope, snapshot: Snapshot) -> list[Break]:
    """Rows whose slot is not one of the user they hang on."""
    prefix = slot_prefix(scope)
    rows = (*snapshot.rows, *(p.row for p in snapshot.pendings))
    return [Break("slot_of_another_user", scope.tenant, r.mid, r.slot) for r in rows if not r.slot.startswith(prefix)]


def slot_breaks(tenant: str, snapshot: Snapshot) -> list[Break]:
    """Breaks among the rows of one user: versions, currency, caches, intervals."""
    ledger = Ledger(snapshot.rows)
    found: list[Break] = []
    # a plan that is due ends and opposes others before a write or the sweep says so in their caches
    due = [r for r in ledger.rows if r.planned and r.valid_from <= snapshot.now]
    stirred = {r.slot for r in due} | {x.slot for r in due for x in ledger.by_thing[r.thing]}
    for slot, rows in ledger.by_slot.items():
        found += _versions(tenant, slot, rows)
        if len({r.key for r in rows}) > 1 or len({r.subject for r in rows}) > 1 or len({r.kind for r in rows}) > 1:
            found.append(Break("slot_of_two_keys", tenant, rows[0].mid, slot))
        current = [r for r in rows if r.current]
        if len(current) > 1:
            found.append(Break("two_current", tenant, current[0].mid, f"{len(current)} current rows in {slot}"))
        for right in recached(ledger, [slot], snapshot.now):
            found += _caches(tenant, next(r for r in rows if r.mid == right.mid), right, snapshot.now, lags=slot in stirred)
    for pending in snapshot.pendings:
        if pending.open() and pending.row.current:
            found.append(Break("pending_is_current", tenant, pending.row.mid, pending.row.slot))
        if (pending.decided_at is None) != (pending.outcome is None):
            found.append(Break("decision_half_written", tenant, pending.row.mid, pending.row.slot))
    return found


def _versions(tenant: str, slot: str, rows: list[Row]) -> list[Break]:
    versions = sorted(r.version for r in rows)
    # a purge removes a slot's oldest rows first: what is left has no gap
    if versions != list(range(versions[0], versions[0] + len(versions))):
        return [Break("version_gap", tenant, rows[0].mid, f"versions {versions} in {slot}")]
    return []


def _caches(tenant: str, row: Row, right: Row, now: Ms, *, lags: bool) -> list[Break]:
    found = []
    if row.inset and (row.ends_at is None or row.ends_at > row.said_at):
        found.append(Break("inset_not_over", tenant, row.mid, row.slot))
    if row.retracted_at is not None and row.retracted_at < row.recorded_at:
        found.append(Break("retracted_before_recorded", tenant, row.mid, row.slot))
    end = lapses(right, now)
    lapsed = row.current and not right.current and end is not None and end <= now
    if not (lags or lapsed):  # a plan that is due, a lapsed or ended row: caches may lag until the next write or sweep
        if row.current and not right.current:
            found.append(Break("current_but_not_holding", tenant, row.mid, row.slot))
        if right.current and not row.current and counts(row, now):
            found.append(Break("holding_but_not_current", tenant, row.mid, row.slot))
    if row.until < right.until or row.valid_to != right.valid_to:  # read longer than needed is no break
        found.append(
            Break("wrong_end", tenant, row.mid, f"until {row.until}, must be {right.until}; ends {row.valid_to}, must be {right.valid_to}")
        )
    if row.expires_at != right.expires_at and row.current and right.current:
        found.append(Break("wrong_expiry", tenant, row.mid, f"expires {row.expires_at}, must be {right.expires_at}"))
    return found


__all__ = ["Break", "CheckReport", "Checker", "slot_breaks"]
