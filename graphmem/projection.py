"""Drain the outbox into the candidate index: leased, idempotent, level-triggered, verified after the write (reliability.md 3.2)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphmem.background import Background
from graphmem.errors import GraphmemError, UnavailableError
from graphmem.ids import uuid7
from graphmem.ontology import Ontology
from graphmem.ports import CandidateIndex, Collection, Embedder, Point
from graphmem.telling import label_of

BATCH = 100
"""Records in one lease."""

MAX_TRIES = 10
"""After these a record is parked and `graphmem check` names it; nothing is dropped."""

IDLE_S = 0.25
"""How long the background thread rests when nothing is due."""


@dataclass(frozen=True, slots=True)
class Record:
    """One claimed outbox record: make the index equal to the graph for `ref`."""

    oid: str
    ref: str
    kind: str
    tenant: str
    user: str
    fence: int
    tries: int


@dataclass(frozen=True, slots=True)
class State:
    """What the graph says of a record's ref now. live False: no point may stand for it. `mark` changes when the ref does."""

    record: Record
    live: bool
    collection: Collection
    text: str
    words: str
    version: int
    mark: int
    session: str = ""


@dataclass(frozen=True, slots=True)
class Lag:
    pending: int
    oldest_ms: int | None
    parked: int


class Outbox(Protocol):
    """The outbox in the graph."""

    def claim(self, worker: str, batch: int, lease_seconds: int) -> list[Record]: ...

    def states(self, records: Sequence[Record]) -> list[State]: ...

    def done(self, states: Sequence[State]) -> int: ...

    def retry(self, record: Record, delay_seconds: int, max_tries: int, error: str) -> None: ...

    def lag(self) -> Lag: ...

    def refill(self, tenant: str) -> int: ...


def words_of(ontology: Ontology, key: str, subject: str, value: str | None, text: str | None) -> tuple[str, str]:
    """(what is embedded, what lexical search sees) of a memory: its own clause where it has one, else label and value."""
    label = label_of(ontology, key)
    said = text or ""
    zh = any("\u4e00" <= c <= "\u9fff" for c in said or value or "")
    named = f"{label.zh if zh else label.en}: {value or ''}"
    about = "" if subject == "self" else f"{subject.replace(':', ' ')} "
    embedded = f"{about}{said}" if value and value in said else f"{about}{named} {said}".strip()
    return embedded, f"{about}{label.zh} {label.en} {value or ''} {said}"


class Projection:
    """Any number of them may run, in any number of processes: leases and fences keep them apart."""

    def __init__(
        self,
        outbox: Outbox,
        index: CandidateIndex,
        embedders: Sequence[Embedder],
        vectors: Callable[[Sequence[Embedder], str], Mapping[str, Sequence[float]]],
        naming: Callable[[State], tuple[str, str, str]],
        lease_seconds: int,
    ) -> None:
        self._outbox, self._index, self._embedders, self._vectors = outbox, index, embedders, vectors
        self._naming, self._lease, self._worker = naming, lease_seconds, uuid7()
        self._background = Background("graphmem-projection", self._run)

    def step(self, batch: int = BATCH) -> int:
        """Claim and project one batch; returns how many records were claimed. UnavailableError when a store is away (leases run out)."""
        records = self._outbox.claim(self._worker, batch, self._lease)
        if not records:
            return 0
        by_tenant: dict[str, list[State]] = {}
        for state in self._outbox.states(records):
            by_tenant.setdefault(state.record.tenant, []).append(state)
        for tenant, states in by_tenant.items():
            self._project(tenant, states)
        return len(records)

    def _project(self, tenant: str, states: list[State]) -> None:
        try:
            self._index.upsert(tenant, [self._point(s) for s in states if s.live])
            gone: dict[Collection, list[str]] = {}
            for s in states:
                if not s.live:
                    gone.setdefault(s.collection, []).append(self._naming(s)[0])
            for collection, ids in gone.items():
                self._index.delete(tenant, collection, ids)
        except GraphmemError as fault:
            for s in states:
                self._outbox.retry(s.record, min(60, 2 ** min(s.record.tries, 6)), _tries(fault), f"{type(fault).__name__}: {fault.code}")
            return
        self._outbox.done(states)

    def _point(self, s: State) -> Point:
        point_id, pseudonym, session = self._naming(s)
        vectors = self._vectors(self._embedders, s.text)
        return Point(point_id, s.record.ref, s.collection, pseudonym, s.version, vectors, text=s.words, session=session)

    def drain(self, max_seconds: float | None = None) -> int:
        """Project until nothing is due (or the time is up); returns how many records were claimed."""
        end = None if max_seconds is None else time.monotonic() + max_seconds
        total = 0
        while (done := self.step()) and (end is None or time.monotonic() < end):
            total += done
        return total

    def start(self) -> None:
        """Project in a background thread until stop()."""
        self._background.start()

    def stop(self) -> None:
        self._background.stop()

    def _run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                busy = self.step() > 0
            except GraphmemError:
                busy = False  # a store is away: leases run out and the records come again
            if not busy:
                stop.wait(IDLE_S)


def _tries(fault: GraphmemError) -> int:
    # an index that is away is no fault of the record: it is never parked for that
    return 1_000_000 if isinstance(fault, UnavailableError) else MAX_TRIES


__all__ = ["Lag", "Outbox", "Projection", "Record", "State", "words_of"]
