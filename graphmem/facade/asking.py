"""What comes out: recall, lists, one memory with its history, receipts, relations, cohorts, timeline, why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.answers import Ask, Found, Latest, Memory, MemoryFilter, Page, Recalled, Receipt
from graphmem.cohorts import Cohort, CohortQuery, Cohorts
from graphmem.errors import NotFoundError
from graphmem.explain import Timeline, Why
from graphmem.memory import Kind
from graphmem.ports import MemoryReader
from graphmem.reading import Reading
from graphmem.recall.afterwards import Afterwards, receipt_of
from graphmem.recall.recall import Recall
from graphmem.relating import Relations
from graphmem.relations import RelatedPage, Relating, Relation, RelationType
from graphmem.scope import Scope, TenantScope
from graphmem.timeline import TimelineQuery, Timelines

if TYPE_CHECKING:
    import networkx as nx


class Asking:
    """The façade's door for every question."""

    reader: MemoryReader
    _recall: Recall
    _reading: Reading
    _after: Afterwards
    _relations: Relations
    _cohorts: Cohorts
    _timelines: Timelines

    def recall(self, scope: Scope, ask: Ask) -> Recalled:
        """What may be told now, and why; see Recall.recall."""
        return self._recall.recall(scope, ask)

    def search(self, scope: Scope, q: str, *, limit: int = 10, kind: Kind | None = None) -> Found:
        """The user's valid memories by fused score; see Recall.search."""
        return self._recall.search(scope, q, limit, kind)

    def memories(self, scope: Scope, where: MemoryFilter | None = None, *, limit: int = 20, cursor: str | None = None) -> Page:
        """A page of memories; see Reading.memories."""
        return self._reading.memories(scope, where or MemoryFilter(), limit, cursor)

    def memory(self, scope: Scope, mid: str, *, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """One memory; NotFoundError for foreign and unknown ids alike."""
        return self._reading.memory(scope, mid, as_of, known_at)

    def history(self, scope: Scope, mid: str) -> tuple[Memory, ...]:
        """All versions of a memory's slot, oldest first."""
        return self._reading.history(scope, mid)

    def latest(
        self, scope: Scope, key: str, *, subject: str | None = None, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Latest:
        """What is told of a key."""
        return self._reading.latest(scope, key, subject, as_of, known_at)

    def receipt(self, scope: Scope, receipt_id: str) -> Receipt:
        """Why each candidate of a recall was told or not."""
        self._after.flush()
        stored = self.reader.receipt(scope, receipt_id)
        if stored is None:
            raise NotFoundError("no receipt of that id")
        return receipt_of(stored)

    def graph(self, scope: Scope, *, as_of: datetime | None = None, known_at: datetime | None = None) -> nx.MultiDiGraph[str]:
        """Everything that is told of a user at (as_of, known_at), with its relations, as a networkx graph; see network.memory_graph."""
        from graphmem.network import memory_graph

        told = self._reading.everything(scope, as_of, known_at)
        related = [r for m in told for r in self.related(scope, m.mid, as_of=as_of, known_at=known_at, limit=100).items]
        return memory_graph(scope.user, told, related)

    def relate(
        self, scope: Scope, kind: RelationType, from_mid: str, to_mid: str, weight: float = 1.0, *, key: str | None = None
    ) -> Relation:
        """Relate two memories of the user; see Relations.relate."""
        return self._relations.relate(scope, Relating(kind, from_mid, to_mid, weight), key)

    def unrelate(self, scope: Scope, rid: str) -> Relation:
        """End a relation now; see Relations.unrelate."""
        return self._relations.unrelate(scope, rid)

    def related(
        self,
        scope: Scope,
        mid: str,
        *,
        depth: int = 1,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        types: Collection[RelationType] | None = None,
        limit: int = 20,
    ) -> RelatedPage:
        """What is related to a memory, with the path; see Relations.related."""
        return self._relations.related(scope, mid, depth, (as_of, known_at), types, limit)

    def cohort(self, scope: TenantScope, query: CohortQuery) -> Cohort:
        """A page of the users of whom something is told; see Cohorts.cohort."""
        return self._cohorts.cohort(scope, query)

    def timeline(self, scope: Scope, query: TimelineQuery | None = None) -> Timeline:
        """What was held when, who wrote it and what changed it; see Timelines.timeline."""
        return self._timelines.timeline(scope, query or TimelineQuery())

    def why(self, scope: Scope, mid: str) -> Why:
        """Why a memory is held and (not) told now; see Timelines.why."""
        return self._timelines.why(scope, mid)

    def whys(self, scope: Scope, mids: Sequence[str]) -> dict[str, Why]:
        """The same for many memories at once; see Timelines.whys."""
        return self._timelines.whys(scope, mids)
