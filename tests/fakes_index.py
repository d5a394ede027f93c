"""A candidate index over plain lists, held to the contract test body of the real ones (tests/contract/test_candidate_index.py)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from graphmem.errors import UnavailableError
from graphmem.ports import COLLECTIONS, LEXICAL, Candidate, Collection, Held, HeldPage, IndexQuery, Point
from graphmem.recall.lexical import document_vector, query_vector
from graphmem.stores import qdrant_common as common


@dataclass
class Shelf:
    """What would be on disk: collection name -> its embedders and its points by id."""

    sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    points: dict[str, dict[str, Point]] = field(default_factory=dict)


class FakeIndex:
    """See ports.CandidateIndex. `down` makes every call fail as a stopped engine does; `calls` names the methods used."""

    def __init__(self, embedders: Mapping[str, int], shelf: Shelf | None = None) -> None:
        self._embedders = common.check_spec(embedders)
        self._shelf = shelf or Shelf()
        self.down = False
        self.calls: list[str] = []

    def ensure(self, tenant: str, *, fresh: bool = False) -> None:
        self._called("ensure")
        for collection in COLLECTIONS:
            name = common.collection_name(tenant, collection)
            if fresh:
                self._shelf.sizes.pop(name, None)
                self._shelf.points.pop(name, None)
            self._made(name)

    def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        self._called("upsert")
        checked = []
        for point in points:
            common.check_vectors(self._embedders, point.vectors)
            common.payload_of(point)
            checked.append((common.collection_name(tenant, point.collection), common.uuid_text(point.id), point))
        for name, identity, point in checked:
            self._made(name)[identity] = point

    def delete(self, tenant: str, collection: Collection, ids: Sequence[str]) -> None:
        self._called("delete")
        for doomed in [common.uuid_text(i) for i in ids]:
            self._held(tenant, collection).pop(doomed, None)

    def search(self, tenant: str, query: IndexQuery) -> list[Candidate]:
        self._called("search")
        common.check_vectors(self._embedders, query.vectors)
        gathered = common.Gathered(query)
        for collection in query.collections:
            points = self._held(tenant, collection)
            for name, vector in query.vectors.items():
                scores = {i: _cosine(vector, p.vectors[name]) for i, p in points.items() if name in p.vectors}
                _best(gathered, name, scores, points, query)
            _best(gathered, LEXICAL, _bm25(query.text, points), points, query)
        return gathered.candidates()

    def ids(self, tenant: str, collection: Collection, pseudonym: str | None = None, after: str | None = None) -> HeldPage:
        self._called("ids")
        mine = sorted((i, p) for i, p in self._of(tenant, collection, pseudonym).items() if after is None or i >= after)
        page = list(islice(mine, common.PAGE + 1))
        following = page[common.PAGE][0] if len(page) > common.PAGE else None
        return HeldPage(tuple(Held(i, p.ref, p.version) for i, p in page[: common.PAGE]), following)

    def count(self, tenant: str, collection: Collection, pseudonym: str | None = None) -> int:
        self._called("count")
        return len(self._of(tenant, collection, pseudonym))

    def health(self) -> None:
        self._called("health")

    def close(self) -> None:
        """Nothing to close."""

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.down:
            raise UnavailableError("the fake index is down", store="qdrant")

    def _made(self, name: str) -> dict[str, Point]:
        common.check_embedders(name, self._shelf.sizes.setdefault(name, dict(self._embedders)), self._embedders)
        return self._shelf.points.setdefault(name, {})

    def _held(self, tenant: str, collection: Collection) -> dict[str, Point]:
        name = common.collection_name(tenant, collection)
        return self._made(name) if name in self._shelf.sizes else {}

    def _of(self, tenant: str, collection: Collection, pseudonym: str | None) -> dict[str, Point]:
        return {i: p for i, p in self._held(tenant, collection).items() if pseudonym in (None, p.pseudonym)}


def _best(gathered: common.Gathered, name: str, scores: Mapping[str, float], points: Mapping[str, Point], query: IndexQuery) -> None:
    payloads = {i: common.payload_of(points[i]) for i in scores}
    fit = [i for i in scores if all(payloads[i].get(k) == v for k, v in common.wanted(query).items())]
    for i in sorted(fit, key=lambda i: -scores[i])[: query.limit]:
        gathered.add(points[i].collection, name, i, payloads[i], scores[i])


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b) or 1.0)


def _bm25(text: str, points: Mapping[str, Point]) -> dict[str, float]:
    asked = query_vector(text).indices
    held = {i: dict(zip(v.indices, v.values, strict=True)) for i, p in points.items() if (v := document_vector(p.text)).indices}
    scores = {}
    for i, weights in held.items():
        common_terms = [t for t in asked if t in weights]
        if common_terms:
            scores[i] = sum(weights[t] * _idf(sum(t in w for w in held.values()), len(held)) for t in common_terms)
    return scores


def _idf(holders: int, total: int) -> float:
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))
