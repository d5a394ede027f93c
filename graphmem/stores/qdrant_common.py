"""What both Qdrant adapters share: names, payloads, checks. No driver is imported here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.ports import ACTIVE, COLLECTIONS, LEXICAL, Candidate, Collection, Held, IndexQuery, Point
from graphmem.scope import TENANT

HNSW_M = 16
HNSW_EF_CONSTRUCT = 100
"""Design section 7."""

FULL_SCAN = 10_000
"""Filtered sets smaller than this (kB of vectors) are scanned exactly: one user's points always are."""

PAGE = 1000
"""Points in a page of `ids`."""

BATCH = 256
"""Points in one upsert (runtime.md 5.1)."""

KEYWORDS = ("user", "state", "kind", "session")
"""Filtered payload fields: each gets an index before the first data. The remaining fields are `ref` and `version`."""

_OPAQUE = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def collection_name(tenant: str, collection: Collection) -> str:
    """`tenant_{tid}_memory_fact_vectors` … `tenant_{tid}_turn_vectors`."""
    if not TENANT.fullmatch(tenant) or collection not in COLLECTIONS:
        raise InvalidInputError(f"no collection {collection!r} of tenant {tenant!r}", field="tenant")
    return f"tenant_{tenant}_turn_vectors" if collection == "turn" else f"tenant_{tenant}_memory_{collection}_vectors"


def is_ours(name: str) -> bool:
    """Whether a collection of the server bears one of our names."""
    return name.startswith("tenant_") and name.endswith("_vectors")


def uuid_text(value: str) -> str:
    """The id in its one spelling. Raises InvalidInputError for anything else than a UUID."""
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidInputError(f"a point id is a UUID, not {value!r}", field="id", hint="make it with stores.keys.point_id") from error


def payload_of(point: Point) -> dict[str, str | int]:
    """Opaque ids, keywords and a number; a ref, pseudonym or session that could be text is refused."""
    for name, value in (("ref", point.ref), ("pseudonym", point.pseudonym), ("state", point.state), ("session", point.session or "-")):
        if not _OPAQUE.fullmatch(value):
            raise InvalidInputError(f"{name} must be an opaque id, the index keeps no text", field=name)
    payload: dict[str, str | int] = {"user": point.pseudonym, "kind": point.collection, "state": point.state}
    payload |= {"ref": point.ref, "version": point.version}
    return payload | ({"session": point.session} if point.session else {})


def held(found: str, payload: Mapping[str, object] | None) -> Held:
    """A scrolled record as a Held; a payload without ref or version (written past us) reads as '' and 0."""
    ref, version = (payload or {}).get("ref"), (payload or {}).get("version")
    return Held(found, ref if isinstance(ref, str) else "", version if isinstance(version, int) else 0)


def wanted(query: IndexQuery) -> dict[str, str]:
    """The conditions of a search: this user's active points, of one session if asked."""
    return {"user": query.pseudonym, "state": ACTIVE} | ({} if query.session is None else {"session": query.session})


def check_vectors(embedders: Mapping[str, int], vectors: Mapping[str, Sequence[float]]) -> None:
    """Raise ConfigurationError naming both sides where a vector fits no embedder of this index."""
    for name, vector in vectors.items():
        if name not in embedders:
            raise ConfigurationError(f"embedder {name!r} is not of this index, which has {sorted(embedders)}", hint="graphmem reindex")
        if len(vector) != embedders[name]:
            raise ConfigurationError(
                f"embedder {name!r} gave a vector of {len(vector)} numbers, the index holds {embedders[name]}", hint="graphmem reindex"
            )


def check_embedders(name: str, held: Mapping[str, int], configured: Mapping[str, int]) -> None:
    """Raise ConfigurationError naming both sets and sizes where a collection was made for other embedders."""
    if dict(held) != dict(configured):
        raise ConfigurationError(
            f"collection {name} was made for {_spelled(held)}, this configuration has {_spelled(configured)}",
            code="embedders_changed",
            hint="run `graphmem reindex` to rebuild it, or configure the old embedders again",
        )


def check_spec(embedders: Mapping[str, int]) -> dict[str, int]:
    """The embedders of an index as it keeps them."""
    if not embedders or LEXICAL in embedders or any(size < 1 for size in embedders.values()):
        raise ConfigurationError(f"an index needs embedders with sizes, none called {LEXICAL!r}: {_spelled(embedders)}")
    return dict(embedders)


def _spelled(embedders: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({size} numbers)" for name, size in sorted(embedders.items())) or "none"


class Gathered:
    """Collects hits of several lists into candidates; a hit whose payload does not fit the query is dropped, whatever the filter did."""

    def __init__(self, query: IndexQuery) -> None:
        self._wanted = wanted(query)
        self._found: dict[str, tuple[str, Collection, int, dict[str, float]]] = {}

    def add(self, collection: Collection, listed: str, hit: str, payload: Mapping[str, object] | None, score: float) -> None:
        """Take one hit of the list `listed` (an embedder's name or LEXICAL)."""
        if payload is None or any(payload.get(k) != v for k, v in self._wanted.items()) or payload.get("kind") != collection:
            return
        ref, version = payload.get("ref"), payload.get("version")
        if isinstance(ref, str) and isinstance(version, int):
            self._found.setdefault(hit, (ref, collection, version, {}))[3][listed] = score

    def candidates(self) -> list[Candidate]:
        return [Candidate(i, ref, collection, version, scores) for i, (ref, collection, version, scores) in self._found.items()]
