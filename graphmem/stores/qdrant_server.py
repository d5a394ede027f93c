"""Candidate index on a Qdrant server over REST. Import this module only where an address is configured: the client takes a second to load.

Every write waits until it is applied. The client's faults are told apart by class and status, never by text.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from graphmem.errors import ConfigurationError, GraphmemError, UnavailableError
from graphmem.ports import COLLECTIONS, LEXICAL, Candidate, Collection, HeldPage, IndexQuery, Point
from graphmem.recall.lexical import document_vector, query_vector
from graphmem.stores import qdrant_common as common

TIMEOUT_S = 5
"""Seconds for one call; it holds against a frozen server too (stack.md section 5)."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class _MissingError(Exception):
    """The collection is not there."""


class ServerIndex:
    """See ports.CandidateIndex. `embedders`: name -> dimension. Thread safe, any number of processes."""

    def __init__(self, url: str, api_key: str | None, embedders: Mapping[str, int], *, timeout: int = TIMEOUT_S) -> None:
        self._embedders = common.check_spec(embedders)
        self._url = url
        with warnings.catch_warnings():
            if urlsplit(url).hostname in _LOOPBACK:  # elsewhere the client's warning about a key in plain text is right
                warnings.simplefilter("ignore", UserWarning)
            self._client = QdrantClient(url=url, api_key=api_key, timeout=timeout, check_compatibility=False)
        self._ensured: set[str] = set()
        self._lock = threading.Lock()

    def ensure(self, tenant: str, *, fresh: bool = False) -> None:
        for collection in COLLECTIONS:
            name = common.collection_name(tenant, collection)
            with self._lock, self._translated():
                if fresh:
                    self._client.delete_collection(name)
                self._make(name)

    def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        sorted_out: dict[str, list[models.PointStruct]] = {}
        for point in points:
            common.check_vectors(self._embedders, point.vectors)
            sorted_out.setdefault(common.collection_name(tenant, point.collection), []).append(_struct(point))
        for name, made in sorted_out.items():
            self._known(name)
            for start in range(0, len(made), common.BATCH):
                self._put(name, made[start : start + common.BATCH])

    def delete(self, tenant: str, collection: Collection, ids: Sequence[str]) -> None:
        doomed: list[models.ExtendedPointId] = [common.uuid_text(i) for i in ids]
        with self._empty_if_missing():
            if doomed:
                self._client.delete(common.collection_name(tenant, collection), models.PointIdsList(points=doomed), wait=True)

    def search(self, tenant: str, query: IndexQuery) -> list[Candidate]:
        common.check_vectors(self._embedders, query.vectors)
        listed, requests = _requests(query)
        gathered = common.Gathered(query)
        for collection in query.collections if requests else ():
            with self._empty_if_missing():
                answers = self._client.query_batch_points(common.collection_name(tenant, collection), requests)
                for name, answer in zip(listed, answers, strict=True):
                    for hit in answer.points:
                        gathered.add(collection, name, str(hit.id), hit.payload, hit.score)
        return gathered.candidates()

    def ids(self, tenant: str, collection: Collection, pseudonym: str | None = None, after: str | None = None) -> HeldPage:
        offset = None if after is None else common.uuid_text(after)
        with self._empty_if_missing():
            name = common.collection_name(tenant, collection)
            only = _of(pseudonym)
            records, following = self._client.scroll(name, scroll_filter=only, limit=common.PAGE, offset=offset, with_payload=True)
            items = tuple(common.held(str(record.id), record.payload) for record in records)
            return HeldPage(items, None if following is None else str(following))
        return HeldPage((), None)

    def count(self, tenant: str, collection: Collection, pseudonym: str | None = None) -> int:
        with self._empty_if_missing():
            return self._client.count(common.collection_name(tenant, collection), count_filter=_of(pseudonym), exact=True).count
        return 0

    def health(self) -> None:
        self.verify()

    def verify(self) -> None:
        """Raise ConfigurationError where what is stored was made for other embedders (both sizes in the message)."""
        with self._translated():
            for found in self._client.get_collections().collections:
                if common.is_ours(found.name):
                    info = self._client.get_collection(found.name)
                    common.check_embedders(found.name, _held_sizes(info.config.params), self._embedders)

    def drop(self, tenant: str) -> None:
        """Remove the tenant's collections; a missing one is fine."""
        for collection in COLLECTIONS:
            name = common.collection_name(tenant, collection)
            with self._lock, self._translated():
                self._client.delete_collection(name)
            self._ensured.discard(name)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _put(self, name: str, points: list[models.PointStruct]) -> None:
        try:
            with self._translated():
                self._client.upsert(name, points, wait=True)
        except _MissingError:  # dropped behind our back: make it again, once
            self._ensured.discard(name)
            self._known(name)
            with self._empty_if_missing():
                self._client.upsert(name, points, wait=True)

    def _known(self, name: str) -> None:
        if name not in self._ensured:
            with self._lock, self._translated():
                self._make(name)

    def _make(self, name: str) -> None:
        """Make the collection and its payload indexes where they are missing, so that a process that died in between is made good."""
        if not self._client.collection_exists(name):
            self._create(name)
        info = self._client.get_collection(name)
        common.check_embedders(name, _held_sizes(info.config.params), self._embedders)
        for key in common.KEYWORDS:  # before the first data
            if key not in info.payload_schema:
                schema = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=key == "user")
                self._client.create_payload_index(name, key, field_schema=schema, wait=True)
        self._ensured.add(name)

    def _create(self, name: str) -> None:
        try:
            self._client.create_collection(
                name,
                vectors_config={n: models.VectorParams(size=s, distance=models.Distance.COSINE) for n, s in self._embedders.items()},
                sparse_vectors_config={LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                hnsw_config=models.HnswConfigDiff(
                    m=common.HNSW_M, ef_construct=common.HNSW_EF_CONSTRUCT, full_scan_threshold=common.FULL_SCAN
                ),
            )
        except UnexpectedResponse as error:
            if error.status_code != 409:  # another process was first
                raise

    @contextmanager
    def _empty_if_missing(self) -> Iterator[None]:
        """A collection that is not there holds nothing."""
        try:
            with self._translated():
                yield
        except _MissingError:
            return

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (GraphmemError, _MissingError):
            raise
        except UnexpectedResponse as error:
            raise self._fault(error) from error
        except ResourceExhaustedResponse as error:
            wait = int(error.retry_after_s)
            raise UnavailableError(f"Qdrant at {self._url} limits our rate", store="qdrant", retry_after=wait) from error
        except ApiException as error:
            raise UnavailableError(f"Qdrant at {self._url} does not answer: {error}", store="qdrant") from error

    def _fault(self, error: UnexpectedResponse) -> Exception:
        status = error.status_code or 500
        if status == 404:
            return _MissingError()
        if status in (401, 403):
            return ConfigurationError(f"Qdrant at {self._url} refuses our key ({status})", hint="set GRAPHMEM_QDRANT_API_KEY")
        if status in (400, 422):
            return ConfigurationError(f"Qdrant at {self._url} refuses the request: {error}", hint="graphmem reindex")
        return UnavailableError(f"Qdrant at {self._url} failed with status {status}", store="qdrant")


def _held_sizes(params: models.CollectionParams) -> dict[str, int]:
    if isinstance(params.vectors, models.VectorParams):
        return {"(unnamed)": params.vectors.size}
    return {name: vector.size for name, vector in (params.vectors or {}).items()}


def _struct(point: Point) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {name: list(vector) for name, vector in point.vectors.items()}
    words = document_vector(point.text)
    if words.indices:
        vectors[LEXICAL] = models.SparseVector(indices=words.indices, values=words.values)
    return models.PointStruct(id=common.uuid_text(point.id), vector=vectors, payload=dict(common.payload_of(point)))


def _requests(query: IndexQuery) -> tuple[list[str], list[models.QueryRequest]]:
    """One request a list, and the lists' names in the same order."""
    nearest: dict[str, list[float] | models.SparseVector] = {name: list(vector) for name, vector in query.vectors.items()}
    words = query_vector(query.text)
    if words.indices:
        nearest[LEXICAL] = models.SparseVector(indices=words.indices, values=words.values)
    only = _filter(common.wanted(query))
    made = [models.QueryRequest(query=q, using=name, filter=only, limit=query.limit, with_payload=True) for name, q in nearest.items()]
    return list(nearest), made


def _of(pseudonym: str | None) -> models.Filter | None:
    return None if pseudonym is None else _filter({"user": pseudonym})


def _filter(equal: Mapping[str, str]) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key=k, match=models.MatchValue(value=v)) for k, v in equal.items()])
