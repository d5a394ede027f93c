"""What callers ask and what they are told: requests and answers of the façade (graphmem.app.Graphmem), frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from graphmem.errors import GraphmemError
from graphmem.memory import (
    Environment,
    Kind,
    Language,
    NotStored,
    Polarity,
    Provenance,
    SourceKind,
    Standing,
    Status,
    Step,
    Text2,
    Verdict,
)

USER = Provenance()
"""The user said it, in a source without a name."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it is told for the (as_of, known_at) asked. Field names are those of api.md."""

    mid: str
    kind: Kind
    key: str
    label: Text2
    subject: str
    value: str | None
    concept: str | None
    polarity: Polarity
    status: Status
    version: int | None
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    closed_at: datetime | None
    observed_at: datetime
    expires_at: datetime | None
    confidence: float
    weight: float
    evidence_count: int
    standing: Standing
    owner_domain: str
    zone: str
    source: Provenance
    verified_by: str | None
    supersedes: str | None
    superseded_by: str | None
    said_at: datetime
    is_end: bool = False
    etag: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remember:
    """A deliberate statement (`POST memories`). value None is an end of the slot. arity is needed for keys outside the ontology.

    ends: this value ended ("no longer have the dog"), others of the key stay.
    """

    key: str
    value: str | None
    kind: Kind | None = None
    arity: Literal["one", "many", "pole"] | None = None
    subject: str = "self"
    polarity: Polarity = "+"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    said_at: datetime | None = None
    zone: str | None = None
    confidence: float = 1.0
    source: Provenance | None = USER
    verified: bool | None = None
    expected_version: int | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """What was kept of a turn. `span`: where it was said, half-open offsets into the text as sent."""

    memory: Memory
    verdict: Verdict
    supersedes: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PendingItem:
    """Kept and not told. reason: reversal_window, hedged, inferred, dual, review, denial, drift."""

    memory: Memory
    reason: str
    question: Text2
    case: str | None = None


@dataclass(frozen=True, slots=True)
class FollowUpItem:
    candidate_id: str
    question: Text2


@dataclass(frozen=True, slots=True)
class Injected:
    """What became of one turn. `notes` are machine-readable remarks such as `at_ahead_of_clock`."""

    turn_id: str
    session_id: str | None
    replayed: bool
    stored: tuple[Stored, ...]
    pending: tuple[PendingItem, ...]
    not_stored: tuple[NotStored, ...]
    follow_up: tuple[FollowUpItem, ...]
    revision: int
    at: datetime
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One turn of a batch: `result` when done, else `error`; `retry` says that the fault may pass."""

    turn_id: str | None
    result: Injected | None
    error: GraphmemError | None = None
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a deliberate statement. memory is None when only a follow-up question came out."""

    verdict: Verdict | None
    memory: Memory | None
    supersedes: str | None
    replayed: bool
    revision: int
    pending: PendingItem | None = None
    follow_up: FollowUpItem | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Narrows a list; it can never widen the scope. status None: what is told at (as_of, known_at)."""

    kind: Kind | None = None
    key: str | None = None
    subject: str | None = None
    status: Status | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    order: Literal["event", "recorded"] = "event"


@dataclass(frozen=True, slots=True)
class Page:
    """items newest first; `next` is the cursor of the following page; total counts the filtered set."""

    items: tuple[Memory, ...]
    pending: tuple[Memory, ...]
    next: str | None
    has_next: bool
    total: int
    revision: int


@dataclass(frozen=True, slots=True)
class Latest:
    items: tuple[Memory, ...]
    pending: tuple[Memory, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class History:
    """Versions of a slot, oldest first; `archived`: how many older ones lie in the archive."""

    items: tuple[Memory, ...]
    archived: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory with its fused score (0..1) and why it is here."""

    memory: Memory
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """Answer of a search. `shortened`: the query was longer than what is used."""

    items: tuple[Hit, ...]
    degraded: tuple[str, ...]
    shortened: bool
    revision: int


@dataclass(frozen=True, slots=True)
class ShortTurn:
    role: str
    text: str
    at: datetime | None = None
    turn_id: str | None = None
    why: str = "last_turns"


@dataclass(frozen=True, slots=True)
class Ask:
    """A recall request (api.md). history: turns of this session the caller already has."""

    message: str
    session_id: str | None = None
    history: tuple[ShortTurn, ...] = ()
    task: str | None = None
    tier: Literal["auto", "L1", "L2", "L3"] = "auto"
    mode: Literal["memories", "evidence"] = "memories"
    as_of: datetime | None = None
    known_at: datetime | None = None
    environment: Environment | None = None
    limit: int = 10
    token_budget: int | None = None
    language: Language | None = None
    proof: str | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Trigger:
    rule: str
    phrase: str | None = None


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """One candidate: its scores, and why it was told or not."""

    mid: str
    scores: Mapping[str, float]
    told: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Receipt:
    receipt_id: str | None
    tier: str
    trigger: Trigger
    lines: tuple[ReceiptLine, ...]
    at: datetime | None
    degraded: tuple[str, ...] = ()
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceTurn:
    turn_id: str
    session_id: str | None
    score: float
    text: str
    at: datetime | None
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Check:
    """A structured warning of a task, e.g. medication: finding allergy, severity stop | warn | info."""

    task: str
    finding: str
    severity: Literal["stop", "warn", "info"]
    memory_ids: tuple[str, ...]
    verified: bool
    text: Text2


@dataclass(frozen=True, slots=True)
class Instruction:
    """How to answer this person, from answer style preferences."""

    trait: str
    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Recalled:
    tier: Literal["L1", "L2", "L3"]
    trigger: Trigger
    memories: tuple[Hit, ...]
    short_term: tuple[ShortTurn, ...]
    checks: tuple[Check, ...]
    instructions: tuple[Instruction, ...]
    prompt: str
    pending: tuple[Memory, ...]
    degraded: tuple[str, ...]
    receipt: Receipt
    receipt_id: str | None
    revision: int | None
    turns: tuple[EvidenceTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Readiness:
    """ready is the conjunction of the checks; each has a name, whether it holds, and words that say what to do."""

    ready: bool
    checks: tuple[tuple[str, bool, str], ...]


__all__ = [
    "Ask",
    "BatchItem",
    "Check",
    "EvidenceTurn",
    "FollowUpItem",
    "Found",
    "Hit",
    "Injected",
    "Instruction",
    "Latest",
    "Memory",
    "MemoryFilter",
    "Page",
    "PendingItem",
    "Readiness",
    "Recalled",
    "Receipt",
    "ReceiptLine",
    "Remember",
    "Remembered",
    "ShortTurn",
    "SourceKind",
    "Stored",
    "Trigger",
]
