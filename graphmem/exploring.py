"""Memories as a graph to walk: the whole list of a moment, and for many memories at once their sources, relations and receipts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphmem.answers import Memory, MemoryFilter, Receipt
from graphmem.explain import Evidence
from graphmem.memory import from_ms
from graphmem.reading import Reading
from graphmem.recall.afterwards import receipt_of
from graphmem.relations import Hop
from graphmem.scope import Scope
from graphmem.timeline import HistoryStore
from graphmem.validity import Ms

RECEIPTS = 200
"""The newest receipts of a user that are looked at for what was told of a memory."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Every memory that answers a filter, unordered, and the moment it was read for: the same moment asked again gives the same list."""

    items: tuple[Memory, ...]
    as_of: Ms
    known_at: Ms
    revision: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored relation of a memory and the memory at its other end."""

    hop: Hop
    memory: Memory


class PageStore(Protocol):
    """What a page asks of the graph beside MemoryReader and HistoryStore."""

    def relations(self, scope: Scope, mids: Sequence[str], as_of: Ms, known_at: Ms) -> Mapping[str, Sequence[tuple[str, Hop]]]: ...

    def receipts(self, scope: Scope, most: int) -> Sequence[str]: ...


class Exploring:
    """Reads for one user at a time; each call is one statement. Thread safe."""

    def __init__(self, reading: Reading, history: HistoryStore, store: PageStore, flush: Callable[[], None]) -> None:
        self._reading, self._history, self._store, self._flush = reading, history, store, flush

    def listed(self, scope: Scope, where: MemoryFilter) -> Listed:
        """Everything that answers the filter at its moment; see Reading.listed."""
        items, teller, rev = self._reading.listed(scope, where)
        return Listed(tuple(items), teller.t, teller.k, rev)

    def sources(self, scope: Scope, mids: Sequence[str], known_at: Ms) -> dict[str, tuple[Evidence, ...]]:
        """Where each memory was said, as far as it was known then, the first first; foreign and unknown ids have none."""
        found, _ = self._history.explained(scope, mids, [])
        return {mid: tuple(e for e in given if e.recorded_at <= from_ms(known_at)) for mid, given in found.items()}

    def relations(self, scope: Scope, mids: Sequence[str], told: Listed) -> dict[str, tuple[Neighbour, ...]]:
        """The stored relations of each memory that held then, to and from what was told then."""
        ends = {m.mid: m for m in told.items}
        found = self._store.relations(scope, [mid for mid in mids if mid in ends], told.as_of, told.known_at)
        return {mid: tuple(Neighbour(hop, ends[other]) for other, hop in given if other in ends) for mid, given in found.items()}

    def receipts(self, scope: Scope, mids: Sequence[str]) -> dict[str, tuple[Receipt, ...]]:
        """Of the user's newest receipts those that weighed each memory, the newest first."""
        self._flush()
        wanted, found = set(mids), dict[str, list[Receipt]]()
        for receipt in map(receipt_of, self._store.receipts(scope, RECEIPTS)):
            for mid in wanted & {line.mid for line in receipt.lines}:
                found.setdefault(mid, []).append(receipt)
        return {mid: tuple(given) for mid, given in found.items()}


__all__ = ["Exploring", "Listed", "Neighbour", "PageStore"]
