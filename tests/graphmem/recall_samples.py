"""Memories for the tests of recall."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphmem.answers import Hit, Memory
from graphmem.memory import Kind, Provenance, Standing, Status
from graphmem.ontology import load_ontology

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_ONTOLOGY = load_ontology()
_BASE = Memory(
    mid="m", kind=Kind.FACT, key="allergy", label=_ONTOLOGY.key("allergy").label, subject="self", value="", concept=None, polarity="+",
    status=Status.ACTIVE, version=1, valid_from=NOW - timedelta(days=10), valid_to=None, recorded_at=NOW - timedelta(days=10),
    closed_at=None,
    observed_at=NOW - timedelta(days=10), expires_at=None, confidence=1.0, weight=1.0, evidence_count=1, standing=Standing.STATED,
    owner_domain="default", zone="UTC", source=Provenance(), verified_by=None, supersedes=None, superseded_by=None,
    said_at=NOW - timedelta(days=10),
)  # fmt: skip


def memory(mid: str, key: str, value: str | None, concept: str | None = None, subject: str = "self", age: float = 0.0) -> Memory:
    """An active memory of that key, observed `age` days before NOW; other fields by dataclasses.replace."""
    known = _ONTOLOGY.key(key)
    return replace(
        _BASE, mid=mid, kind=known.kind, key=key, label=known.label, value=value, concept=concept, subject=subject,
        observed_at=NOW - timedelta(days=age),
    )  # fmt: skip


def hit(mid: str, key: str, value: str, score: float, *, concept: str | None = None, subject: str = "self", age: float = 0.0) -> Hit:
    return Hit(memory(mid, key, value, concept, subject, age), score, "candidate")
