"""From rows to the memories that are told: statuses, ends and weights computed for the (as_of, known_at) asked. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from graphmem.answers import Memory
from graphmem.memory import MILLISECOND, Kind, Provenance, SourceKind, Statement, Status, Text2, from_ms
from graphmem.ontology import Key, Ontology
from graphmem.validity import OPEN, Ledger, Ms, Pending, Row, counts, lapses
from graphmem.writing import Origin


def label_of(ontology: Ontology, key: str) -> Text2:
    """Words for a key; an open key is its own label."""
    known = ontology.get(key)
    return known.label if known is not None else Text2(key, key)


def caption(ontology: Ontology, row: Row, language: str, value: str | None) -> str:
    """What the edge says in Neo4j Browser: `coffee v2 · oat latte`."""
    label = label_of(ontology, row.key)
    words = label.zh if language == "zh" else label.en
    version = f" v{row.version}" if row.version else " ?"
    sign = "≠ " if row.polarity == "-" else ""
    subject = "" if row.subject == "self" else f" ({row.subject})"
    return f"{words}{subject}{version} · {sign}{value if value is not None else '—'}"


def weight(confidence: float, age: float, decay: float | None) -> float:
    """confidence × e^(−age / decay): it ranks, it never deletes. None does not decay.

    age: of the last observation, in the unit of `decay`; before the time asked it counts as 0 (design section 5).
    """
    return confidence if decay is None else confidence * math.exp(-max(age, 0) / decay)


class Teller:
    """Tells rows of one user at one (t, k)."""

    def __init__(self, ontology: Ontology, ledger: Ledger, t: Ms, k: Ms, *, bounded: bool = False) -> None:
        self.ontology, self.ledger, self.t, self.k, self.bounded = ontology, ledger, t, k, bounded
        self._heirs: dict[str | None, Row] | None = None

    def tell(self, row: Row) -> Memory:
        """A row from a full read, or from a bounded one (its neighbours are then in the caches)."""
        return self.current(row) if self.bounded else self.memory(row)

    def memory(self, row: Row) -> Memory:
        """A row as the memory it is for (t, k)."""
        until, by = self.ledger.end(row, self.k) if row.retracted_at is None or row.retracted_at > self.k else (OPEN, None)
        before = self.ledger.predecessor(row, self.k)
        closed = by.recorded_at if by is not None else (row.recorded_at if until != OPEN else row.retracted_at)
        return self._memory(
            row,
            self.ledger.status(row, self.t, self.k),
            valid_from=from_ms(row.valid_from),
            valid_to=_time(until if until != OPEN else None),
            closed_at=_time(closed),
            supersedes=before.mid if before is not None else row.prev_mid,
            superseded_by=self._successor(row, by),
        )

    def _successor(self, row: Row, by: Row | None) -> str | None:
        """What came after it: where the memory was changed into another concept that one, not the end that makes room for it."""
        if by is None or not by.is_end or by.slot != row.slot:
            return by.mid if by is not None else None
        if self._heirs is None:
            rows = (r for r in self.ledger.rows if r.prev_mid is not None and not r.is_end and counts(r, self.k))
            self._heirs = {r.prev_mid: r for r in rows}
        heir = self._heirs.get(row.mid)
        return heir.mid if heir is not None and heir.slot != row.slot and heir.recorded_at == by.recorded_at else by.mid

    def current(self, row: Row) -> Memory:
        """A current row from a bounded read, its neighbours taken from the caches."""
        status = self.ledger.status(row, self.t, self.k)
        return self._memory(
            row,
            status,
            valid_from=from_ms(row.valid_from),
            valid_to=_time(row.valid_to),
            closed_at=None,
            supersedes=row.prev_mid,
            superseded_by=row.next_mid,
        )

    def pending(self, pending: Pending) -> Memory:
        """A pending memory: no version, no start, never true."""
        status = Status.PENDING
        if pending.decided_at is not None and pending.decided_at <= self.k:
            status = {"confirmed": Status.SUPERSEDED, "overtaken": Status.SUPERSEDED, "expired": Status.EXPIRED}.get(
                pending.outcome or "", Status.REJECTED
            )
        return self._memory(
            pending.row, status, valid_from=None, valid_to=None, closed_at=_time(pending.decided_at), supersedes=None, superseded_by=None
        )

    def _memory(
        self,
        row: Row,
        status: Status,
        *,
        valid_from: datetime | None,
        valid_to: datetime | None,
        closed_at: datetime | None,
        supersedes: str | None,
        superseded_by: str | None,
    ) -> Memory:
        key: Key | None = self.ontology.get(row.key)
        decay = key.decay if key is not None else (None if row.kind is Kind.FACT else timedelta(days=30))
        observed = max(row.said_at, row.observed_at if row.observed_at <= self.t else row.said_at)
        more = row.more
        return Memory(
            mid=row.mid,
            kind=row.kind,
            key=row.key,
            label=label_of(self.ontology, row.key),
            subject=row.subject,
            value=row.value,
            concept=row.ckey or None,
            polarity=row.polarity,
            status=status,
            version=row.version or None,
            valid_from=valid_from,
            valid_to=valid_to,
            recorded_at=from_ms(row.recorded_at),
            closed_at=closed_at,
            observed_at=from_ms(observed),
            expires_at=_time(lapses(row, self.k)),
            confidence=row.confidence,
            weight=round(weight(row.confidence, self.t - observed, None if decay is None else decay // MILLISECOND), 6),
            evidence_count=cast(int, more["evidence"]) if self.bounded and "evidence" in more else 1 + len(row.observations),
            standing=row.standing,
            owner_domain=str(more.get("owner_domain", "default")),
            zone=str(more.get("zone", "UTC")),
            source=Provenance(SourceKind(str(more.get("source_kind", "user_stated"))), cast(str | None, more.get("source_ref"))),
            verified_by=cast(str | None, more.get("verified_by")),
            supersedes=supersedes,
            superseded_by=superseded_by,
            said_at=from_ms(row.said_at),
            is_end=row.is_end,
            etag=f"v{row.version}-{more.get('rowrev') or 0}",
            metadata=metadata_of(row),
        )


def with_origin(row: Row, origin: Origin) -> Row:
    """A row that was just made, with the words about its source that the graph now holds."""
    if "statement" not in row.more or "source_kind" in row.more:
        return row
    said: dict[str, object] = {
        "owner_domain": origin.domain,
        "zone": origin.zone,
        "source_kind": origin.kind,
        "source_ref": origin.ref,
        "verified_by": origin.verified_by,
    }
    return replace(row, more={**said, **row.more})


def metadata_of(row: Row) -> Mapping[str, object]:
    """What the caller stored beside the memory."""
    more = row.more
    stored = more.get("metadata")
    if isinstance(stored, str):
        return cast(Mapping[str, object], json.loads(stored))
    said = more.get("statement")
    return said.metadata if isinstance(said, Statement) else {}


def _time(ms: Ms | None) -> datetime | None:
    return None if ms is None else from_ms(ms)


def visible(row: Row, k: Ms) -> bool:
    """Whether lists may show the row at all: recorded by k, not forgotten, no end."""
    return row.recorded_at <= k and row.tombstoned_at is None and not row.is_end


__all__ = ["Teller", "caption", "label_of", "metadata_of", "visible", "weight", "with_origin"]
