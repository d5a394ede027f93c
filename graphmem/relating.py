"""What callers ask about relations: relate, unrelate, related. Decisions under the user's lock; answers only what is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from graphmem.answers import Memory
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.ids import uuid7
from graphmem.memory import Kind, from_ms, to_ms, utc
from graphmem.ontology import Ontology
from graphmem.ports import MemoryReader, Operation
from graphmem.projection import words_of
from graphmem.reading import Reading, check_limit, when
from graphmem.recall.recall import MEMORIES, Seeing
from graphmem.relations import (
    DEPTH_MAX,
    STORED,
    DecideRelation,
    Hop,
    Related,
    RelatedPage,
    Relating,
    Relation,
    RelationType,
    Walked,
    best_paths,
    related_as,
    start_of,
    unrelated,
)
from graphmem.room import Room, check_id, check_key, check_time
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller, visible
from graphmem.validity import Ledger, Ms, Row

Likeness = Callable[[Scope, Memory], tuple[Mapping[str, float], tuple[str, ...]]]
"""Calibrated likeness (0..1) of the user's candidates to a memory, by mid, and what was degraded."""


class RelationStore(Protocol):
    """What relations ask of the graph."""

    def change(self, scope: Scope, operation: Operation, ask: Relating, decide: DecideRelation) -> Relation: ...

    def walk(self, scope: Scope, mid: str, types: Sequence[RelationType], depth: int, as_of: Ms | None, known_at: Ms | None) -> Walked: ...


class Relations:
    """Relations of one user at a time. Thread safe."""

    def __init__(self, room: Room, store: RelationStore, reader: MemoryReader, reading: Reading, likeness: Likeness) -> None:
        self._room, self._store, self._reader, self._reading, self._likeness = room, store, reader, reading, likeness

    # --- write

    def relate(self, scope: Scope, ask: Relating, key: str | None) -> Relation:
        """Relate two memories of the user, from when both held. The same again is the same relation; another weight ends the old one."""
        check_key(key)
        check_id(ask.from_mid, "from_mid")
        check_id(ask.to_mid, "to_mid")
        if ask.type not in STORED:
            raise InvalidInputError("this relation is worked out when it is asked for and never stored", field="type")
        if ask.from_mid == ask.to_mid:
            raise InvalidInputError("a memory is not related to itself", field="to_mid")
        if isinstance(ask.weight, bool) or not 0 < ask.weight <= 1:
            raise InvalidInputError("weight lies above 0 and at most 1", field="weight")
        op = operation_id(scope, "relate", key if key is not None else uuid7())
        operation = Operation(op, self._room.hash_of(ask), "relate", scope.principal)
        return self._store.change(scope, operation, ask, lambda standing: related_as(ask, standing, from_ms))

    def unrelate(self, scope: Scope, rid: str) -> Relation:
        """End a relation now: what was asked of before still finds it. Twice is the same answer; NotFoundError for an unknown one."""
        check_id(rid, "rid")
        ask = Relating(None, start_of(rid), None, 1.0, rid)
        operation = Operation(operation_id(scope, "unrelate", rid), self._room.hash_of(ask), "unrelate", scope.principal)
        return self._store.change(scope, operation, ask, lambda standing: unrelated(standing, from_ms))

    # --- read

    def related(
        self,
        scope: Scope,
        mid: str,
        depth: int,
        moment: tuple[datetime | None, datetime | None],
        types: Collection[RelationType] | None,
        limit: int,
    ) -> RelatedPage:
        """What is related to a memory at (as_of, known_at), with the path: stored types by default, derived ones when they are named.

        Every memory on a path is told then. Only TEMPORAL_NEXT names versions beside it in its slot, told or not: their status says so.
        """
        check_limit(limit)
        check_id(mid, "mid")
        for at, name in zip(moment, ("as_of", "known_at"), strict=True):
            check_time(at, name)
        if not 1 <= depth <= DEPTH_MAX:
            raise InvalidInputError(f"depth lies between 1 and {DEPTH_MAX}", field="depth")
        wanted = STORED if types is None else frozenset(types)
        as_of, known_at = (None if at is None else to_ms(utc(at)) for at in moment)
        walked = self._store.walk(scope, mid, sorted(wanted & STORED), depth, as_of if as_of is not None else known_at, known_at)
        if not walked.owned:
            raise NotFoundError("no memory of that id")
        told = self._told(scope, {mid, *(m for p in walked.paths for m in p.mids)}, moment)
        # one that is not told is still named, unless it was forgotten: that needs its slot
        start = told[mid] if mid in told else self._reading.memory(scope, mid, *moment)
        holds = mid in told
        items = list(best_paths(mid, walked.paths, told, limit)) if holds else []
        degraded: tuple[str, ...] = ()
        if RelationType.SEMANTIC_SIMILAR in wanted:
            liking, degraded = self._likeness(scope, start)
            liking = {m: s for m, s in liking.items() if s >= self._room.settings.recall_threshold and m != mid}
            items += _alike(mid, liking, self._told(scope, liking, moment)) if holds else []
        if RelationType.TEMPORAL_NEXT in wanted:
            items += self._neighbours(scope, mid, moment)
        return RelatedPage(mid, holds, tuple(items[:limit]), degraded, walked.rev)

    def _told(self, scope: Scope, mids: Iterable[str], moment: tuple[datetime | None, datetime | None]) -> dict[str, Memory]:
        """Of these memories those that are told then: now from a bounded read, else from the user's rows."""
        wanted = set(mids)
        if moment != (None, None):
            teller, _, _ = self._reading.told_view(scope, *moment)
            rows: Iterable[Row] = (r for r in teller.ledger.rows if r.mid in wanted)
            tell = teller.memory
        else:
            found = self._reader.hydrate(scope, dict.fromkeys(Kind, sorted(wanted)), [], 0)
            teller = Teller(self._room.ontology, Ledger(found.rows), found.now, found.now)
            rows = (r for r in found.rows if r.mid in wanted and (r.current or r.planned))
            tell = teller.current
        return {r.mid: tell(r) for r in rows if teller.ledger.tells(r, teller.t, teller.k)}

    def _neighbours(self, scope: Scope, mid: str, moment: tuple[datetime | None, datetime | None]) -> list[Related]:
        """The versions before and after it in the order of its slot."""
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            return []
        t, k = when(snapshot.now, *moment)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), t, k)
        row = next((r for r in snapshot.rows if r.mid == mid), None)
        if row is None or not visible(row, k):
            return []
        found = []
        for other, later in ((teller.ledger.predecessor(row, k), False), (teller.ledger.follower(row, k), True)):
            if other is not None and visible(other, k):
                ends = (mid, other.mid) if later else (other.mid, mid)
                found.append(Related(teller.memory(other), 1, 1.0, (Hop(RelationType.TEMPORAL_NEXT, *ends, 1.0),)))
        return found


def _alike(mid: str, liking: Mapping[str, float], told: Mapping[str, Memory]) -> list[Related]:
    """Memories whose words are like this one's, the likest first."""
    best = sorted((m for m in liking if m in told), key=lambda m: (-liking[m], m))
    return [Related(told[m], 1, round(liking[m], 6), (Hop(RelationType.SEMANTIC_SIMILAR, mid, m, round(liking[m], 6)),)) for m in best]


def likeness(ontology: Ontology, seeing: Seeing, scope: Scope, memory: Memory) -> tuple[Mapping[str, float], tuple[str, ...]]:
    """How like the user's candidates are to a memory's own words, calibrated; a candidate found by words alone has no likeness."""
    text, _ = words_of(ontology, memory.key, memory.subject, memory.value, None)
    candidates, degraded = seeing.search(scope, text, MEMORIES)
    return {c.ref: seeing.calibrated(c, text, ()) for c in candidates}, degraded


__all__ = ["Likeness", "RelationStore", "Relations", "likeness"]
