"""What reviewers and provers are told: answers of the façade about cases and proofs, frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.answers import Memory
from graphmem.memory import Kind, Text2
from graphmem.proofs import Factor, ProofState
from graphmem.review import Decision, State


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A case as the inbox shows it: no value. reason: review, denial, dual, drift. Open ones are decided until `due_at`."""

    case_id: str
    user_id: str
    state: State
    reason: str
    kind: Kind
    key: str
    label: Text2
    subject: str
    pending_mid: str
    proposed_by: str
    opened_at: datetime
    due_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    decision: Decision | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Cases of one state, oldest first; `next` is the cursor of the following page."""

    items: tuple[ReviewItem, ...]
    next: str | None
    has_next: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a memory comes from. quote: the clause of the turn, None where the source is no turn; forgotten parts are blank."""

    mid: str
    source: str
    kind: str
    at: datetime
    quote: str | None
    turn_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """Both sides of a case: what is held of the key and subject, and what waits (None when it was forgotten), with their evidence."""

    item: ReviewItem
    held: tuple[Memory, ...]
    pending: Memory | None
    question: Text2 | None
    evidence: tuple[Evidence, ...]
    decisions: tuple[Decision, ...]
    """What may still be decided; four eyes not looked at."""


@dataclass(frozen=True, slots=True)
class ReviewDecided:
    """What a decision did. memory: what was recorded, None when nothing was."""

    item: ReviewItem
    memory: Memory | None
    supersedes: str | None
    replayed: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Proof:
    """A verification case. missing: the factors it still needs; `applied`: what is told once both were shown."""

    case_id: str
    mid: str
    state: ProofState
    missing: tuple[Factor, ...]
    expires_at: datetime
    change: str
    """SHA-256 of the proposed change, 64 hex digits: a device signs `approval_message(case_id, change)`."""
    applied: Memory | None = None


@dataclass(frozen=True, slots=True)
class TotpEnrolled:
    """The secret is shown this once, as base32 and as a URI for an authenticator."""

    factor_id: str
    secret: str = field(repr=False)
    uri: str = field(repr=False)
    enrolled_at: datetime


@dataclass(frozen=True, slots=True)
class DeviceEnrolled:
    factor_id: str
    enrolled_at: datetime
