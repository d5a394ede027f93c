"""The nouns: what is said, what is held, what is answered. Frozen values; times are aware UTC, cut to the millisecond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

Polarity = Literal["+", "-"]
Language = Literal["zh", "en"]


class Kind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    CONTEXT = "context"


class SourceKind(StrEnum):
    USER_STATED = "user_stated"
    RELATIVE_STATED = "relative_stated"
    DOCUMENT = "document"
    AGENT_INFERRED = "agent_inferred"
    EVENT = "event"
    IMPORT = "import"


class Standing(StrEnum):
    VERIFIED = "verified"
    STATED = "stated"
    REPORTED = "reported"


class Status(StrEnum):
    """Computed for the (as_of, known_at) asked."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    HISTORICAL = "historical"
    SCHEDULED = "scheduled"
    PENDING = "pending"
    REJECTED = "rejected"
    EXPIRED = "expired"
    RETRACTED = "retracted"
    TOMBSTONED = "tombstoned"
    ARCHIVED = "archived"


class Verdict(StrEnum):
    NEW = "new"
    REINFORCE = "reinforce"
    SUPERSEDE = "supersede"
    END = "end"
    SCHEDULE = "schedule"
    BACKFILL = "backfill"
    PENDING = "pending"
    REVIEW = "review"
    RETRACT = "retract"
    REFUSED = "refused"


class Reason(StrEnum):
    """Why something that was said is not stored (api.md)."""

    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"
    THIRD_PARTY = "third_party"
    ASSISTANT_TURN = "assistant_turn"
    COMMAND = "command"
    CHATTER = "chatter"
    LOW_CONFIDENCE = "low_confidence"
    UNKNOWN_VALUE = "unknown_value"
    NO_SOURCE = "no_source"
    REFUSED_BY_POLICY = "refused_by_policy"


Span = tuple[int, int]
"""Half-open character offsets into the text exactly as it was sent."""


@dataclass(frozen=True, slots=True)
class Text2:
    """One short text in both languages."""

    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory comes from. `verified_by` is the principal who vouches, from the credential."""

    kind: SourceKind = SourceKind.USER_STATED
    ref: str | None = None
    verified_by: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the request comes from, as the calling application senses it. Degrees for the position."""

    city: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    device: str | None = None
    network: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `at` None: the database clock dates it. `verified` is the calling application's own identity check."""

    text: str
    role: Literal["user", "assistant", "system", "tool"] = "user"
    session_id: str | None = None
    turn_id: str | None = None
    at: datetime | None = None
    zone: str | None = None
    language: Language | None = None
    answers: str | None = None
    speaker: str | None = None
    environment: Environment | None = None
    verified: bool | None = None
    source: Provenance | None = Provenance()
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing to remember, before it is judged. Made by the pipeline from words, or by a caller (`deliberate`).

    value       shortest phrase that carries the value, as it was written; None is an end without a value
    ckey        concept key: `drug:penicillin` from the lexicon, else `text:…` (slot.ckey_of_text); "" only where value is None
    choose      prefer / usually / only / 一般都 …: chooses and so replaces; False is a plain liking or disliking
    change      the words mark a change (改喝, 现在, from now on, no longer …): the reversal window lets another value pass
    hedged      certainty was lowered by a hedge
    is_end      the thing ended ("no longer have a dog"); value then names what ended, or None for the whole slot
    slip        the words take back what was said before ("说错了", "I misspoke")
    grounds     of a denial: test, professional, document or outgrown; None is a bare one
    whole_key   the denial is of the whole key ("no allergies")
    start       stated start; None is said_at
    ends_at     stated end (exclusive)
    claims      the words date the statement back: it claims the whole span from start to said_at
    old         ckey of the old value that a change names ("switched from A to B")
    replaces    the words put it in the place of what is held, also on a `many` key ("换成B了", "switched to B")
    """

    kind: Kind
    key: str
    value: str | None
    ckey: str = ""
    subject: str = "self"
    polarity: Polarity = "+"
    choose: bool = True
    change: bool = False
    hedged: bool = False
    is_end: bool = False
    slip: bool = False
    grounds: Literal["test", "professional", "document", "outgrown"] | None = None
    whole_key: bool = False
    start: datetime | None = None
    ends_at: datetime | None = None
    claims: bool = False
    old: str | None = None
    replaces: bool = False
    confidence: float = 1.0
    deliberate: bool = False
    sensed: bool = False
    text: str = ""
    span: Span | None = None
    rule: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotStored:
    """Something that was said and not stored, with its reason and the rule that said so."""

    text: str
    span: Span
    reason: Reason
    rule: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A candidate under the confidence to be stored, and the question that would settle it."""

    statement: Statement
    question: Text2


@dataclass(frozen=True, slots=True)
class Step:
    """One of the seven steps as it went: name, milliseconds, what it found (for `inject --explain`)."""

    name: str
    ms: float
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What the pure part of the pipeline made of one turn."""

    language: Language
    statements: tuple[Statement, ...] = ()
    not_stored: tuple[NotStored, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    steps: tuple[Step, ...] = ()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def utc(at: datetime) -> datetime:
    """The same instant in UTC, cut to the millisecond. Naive times are a programming error."""
    if at.tzinfo is None:
        raise ValueError("a naive time reached the core")
    at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def to_ms(at: datetime) -> int:
    """Epoch milliseconds."""
    return (at - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """Aware UTC time of epoch milliseconds."""
    return EPOCH + timedelta(milliseconds=ms)
