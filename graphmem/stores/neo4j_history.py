"""Evidence and records of writes from Neo4j, for explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from graphmem.explain import Evidence, Explained, change_of
from graphmem.memory import Span, from_ms
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_read import blanked
from graphmem.validity import Ms

Found = Mapping[str, object]


class Neo4jHistory:
    """What was said and who wrote it. Holds no state but the connection."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def explained(self, scope: Scope, mids: Sequence[str], times: Sequence[Ms]) -> Explained:
        """See timeline.HistoryStore: one statement."""
        parameters = {"tenant_id": scope.tenant, "user_id": scope.user, "mids": list(mids), "times": [from_ms(at) for at in times]}
        found = self._neo4j.read_one("explain_memories", parameters)
        if found is None:
            return {}, {}
        evidence: dict[str, list[Evidence]] = {}
        for e in sorted((_evidence(x) for x in found["evidence"]), key=lambda e: (not e.first, e.said_at, e.recorded_at, e.source_id)):
            evidence.setdefault(e.mid, []).append(e)
        changes = {c["at"]: change_of(c["op"], c["route"], c["actor"], c["at"], c["outcome"]) for c in found["changes"]}
        return evidence, changes


def _evidence(found: Found) -> Evidence:
    get = found.get
    span = _span(get("span"))
    return Evidence(
        mid=str(get("mid")),
        kind=str(get("kind")),
        source_id=str(get("source_id")),
        said_at=from_ms(cast(int, get("at"))),
        recorded_at=from_ms(cast(int, get("recorded_at"))),
        first=bool(get("first")),
        session_id=cast(str | None, get("session_id")),
        turn_id=cast(str | None, get("turn_id")),
        span=span,
        quote=_quote(cast(str | None, get("text")), get("blanks"), span),
    )


def _span(found: object) -> Span | None:
    return (found[0], found[1]) if isinstance(found, list) and len(found) == 2 else None


def _quote(text: str | None, blanks: object, span: Span | None) -> str | None:
    """The cited words; what was forgotten of them is blank."""
    if text is None or span is None:
        return None
    return blanked(text, blanks)[span[0] : span[1]]


__all__ = ["Neo4jHistory"]
