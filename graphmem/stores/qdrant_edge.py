"""Candidate index in process: the Qdrant engine itself (qdrant-edge), one shard a collection.

An upsert that returned survives kill -9 (the engine's write-ahead log, runtime.md 5.1). Input is checked before the engine is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

import qdrant_edge as edge

from graphmem.ports import COLLECTIONS, LEXICAL, Candidate, Collection, HeldPage, IndexQuery, Point
from graphmem.recall.lexical import document_vector, query_vector
from graphmem.stores import qdrant_common as common
from graphmem.stores.edge_shards import Shards

MAX_OPEN = 64
"""Shards kept open; the least recently used idle one is closed beyond this."""


class EdgeIndex:
    """See ports.CandidateIndex. `embedders`: name -> dimension. Thread safe; one process a root, which it holds from the first use."""

    def __init__(self, root: Path, embedders: Mapping[str, int], *, max_open: int = MAX_OPEN) -> None:
        self._embedders = common.check_spec(embedders)
        self._shards = Shards(root, self._embedders, max_open)

    def ensure(self, tenant: str, *, fresh: bool = False) -> None:
        for collection in COLLECTIONS:
            name = common.collection_name(tenant, collection)
            if fresh:
                self._shards.drop(name)
            with self._shards.made(name):
                pass

    def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        sorted_out: dict[str, list[edge.Point]] = {}
        for point in points:
            common.check_vectors(self._embedders, point.vectors)
            sorted_out.setdefault(common.collection_name(tenant, point.collection), []).append(_engine_point(point))
        for name, made in sorted_out.items():
            with self._shards.made(name) as shard:
                for start in range(0, len(made), common.BATCH):
                    shard.update(edge.UpdateOperation.upsert_points(made[start : start + common.BATCH]))

    def delete(self, tenant: str, collection: Collection, ids: Sequence[str]) -> None:
        doomed = [UUID(common.uuid_text(i)) for i in ids]
        with self._shards.existing(common.collection_name(tenant, collection)) as shard:
            if shard is not None and doomed:
                shard.update(edge.UpdateOperation.delete_points(list(doomed)))

    def search(self, tenant: str, query: IndexQuery) -> list[Candidate]:
        common.check_vectors(self._embedders, query.vectors)
        lists = _lists(query)
        only = _filter(common.wanted(query))
        gathered = common.Gathered(query)
        for collection in query.collections:
            with self._shards.existing(common.collection_name(tenant, collection)) as shard:
                if shard is None:
                    continue
                for listed, nearest in lists.items():
                    for hit in shard.query(edge.QueryRequest(query.limit, query=nearest, filter=only, with_payload=True)):
                        gathered.add(collection, listed, str(hit.id), hit.payload, hit.score)
        return gathered.candidates()

    def ids(self, tenant: str, collection: Collection, pseudonym: str | None = None, after: str | None = None) -> HeldPage:
        offset = None if after is None else UUID(common.uuid_text(after))
        with self._shards.existing(common.collection_name(tenant, collection)) as shard:
            if shard is None:
                return HeldPage((), None)
            records, following = shard.scroll(
                edge.ScrollRequest(offset=offset, limit=common.PAGE, filter=_of(pseudonym), with_payload=True, with_vector=False)
            )
        items = tuple(common.held(str(record.id), record.payload) for record in records)
        return HeldPage(items, None if following is None else str(following))

    def count(self, tenant: str, collection: Collection, pseudonym: str | None = None) -> int:
        with self._shards.existing(common.collection_name(tenant, collection)) as shard:
            return 0 if shard is None else shard.count(edge.CountRequest(exact=True, filter=_of(pseudonym)))

    def health(self) -> None:
        self.verify()
        self._shards.take_root()

    def verify(self) -> None:
        """Raise ConfigurationError where what is stored was made for other embedders (both sizes in the message)."""
        self._shards.verify()

    def optimize(self, tenant: str) -> None:
        """Merge segments, build the vector graph and drop what was deleted. Slow (13 s for 10,000 points) and not needed for right answers:
        without it a user's points are searched exactly, in 0.2 ms at 100,000 points a shard (runtime.md 5.1)."""
        for collection in COLLECTIONS:
            with self._shards.existing(common.collection_name(tenant, collection)) as shard:
                if shard is not None:
                    shard.optimize()

    def drop(self, tenant: str) -> None:
        """Remove the tenant's collections; a missing one is fine."""
        for collection in COLLECTIONS:
            self._shards.drop(common.collection_name(tenant, collection))

    def close(self) -> None:
        """Close every shard and give the data home back; the next call opens it again."""
        self._shards.close()


def _engine_point(point: Point) -> edge.Point:
    vectors: dict[str, list[float] | edge.SparseVector | list[list[float]]] = {name: list(v) for name, v in point.vectors.items()}
    words = document_vector(point.text)
    if words.indices:
        vectors[LEXICAL] = edge.SparseVector(words.indices, words.values)
    return edge.Point(UUID(common.uuid_text(point.id)), vectors, dict(common.payload_of(point)))


def _lists(query: IndexQuery) -> dict[str, edge.Query]:
    lists = {name: edge.Query.Nearest(list(vector), name) for name, vector in query.vectors.items()}
    words = query_vector(query.text)
    if words.indices:
        lists[LEXICAL] = edge.Query.Nearest(edge.SparseVector(words.indices, words.values), LEXICAL)
    return lists


def _of(pseudonym: str | None) -> edge.Filter | None:
    return None if pseudonym is None else _filter({"user": pseudonym})


def _filter(equal: Mapping[str, str]) -> edge.Filter:
    return edge.Filter(must=[edge.FieldCondition(key=key, match=edge.MatchValue(value)) for key, value in equal.items()])
