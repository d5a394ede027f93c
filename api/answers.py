"""Answers of api.md, field by field. Made from the façade's values by attribute names; times in UTC with milliseconds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.words import Told
from graphmem.memory import Kind, Polarity, Reason, SourceKind, Standing, Status, Verdict


class Answer(BaseModel):
    """What goes out; made from a value of graphmem.answers with `model_validate`."""

    model_config = ConfigDict(from_attributes=True)


class Text2Out(Answer):
    zh: str
    en: str


class SourceOut(Answer):
    kind: SourceKind
    ref: str | None


class MemoryOut(Answer):
    mid: str
    kind: Kind
    key: str
    label: Text2Out
    subject: str
    value: str | None
    concept: str | None
    polarity: Polarity
    status: Status
    version: int | None
    valid_from: Told | None
    valid_to: Told | None
    recorded_at: Told
    closed_at: Told | None
    observed_at: Told
    expires_at: Told | None
    confidence: float
    weight: float
    evidence_count: int
    standing: Standing
    owner_domain: str
    zone: str
    source: SourceOut
    verified_by: str | None
    supersedes: str | None
    superseded_by: str | None
    metadata: dict[str, Any]


class StoredOut(Answer):
    memory: MemoryOut
    verdict: Verdict
    supersedes: str | None


class PendingOut(Answer):
    """Kept and not told; `confirm` and `reject` are the links that settle it."""

    memory: MemoryOut
    reason: str
    question: Text2Out
    case: str | None
    confirm: str
    reject: str


class NotStoredOut(Answer):
    text: str
    span: tuple[int, int]
    reason: Reason
    rule: str


class FollowUpOut(Answer):
    candidate_id: str
    question: Text2Out


class InjectedOut(Answer):
    turn_id: str
    session_id: str | None
    at: Told
    replayed: bool
    stored: list[StoredOut]
    pending: list[PendingOut]
    not_stored: list[NotStoredOut]
    follow_up: list[FollowUpOut]
    notes: list[str]
    revision: int


class FieldErrorOut(Answer):
    field: str
    code: str
    message: str


class ProblemOut(Answer):
    """Problem details (RFC 9457); `traceId` equals the X-Request-Id header."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: list[FieldErrorOut]
    hint: str | None
    trace_id: str = Field(alias="traceId")


class BatchItemOut(Answer):
    """One turn of a batch. `retry`: the fault may pass, send the same turn again."""

    index: int
    turn_id: str | None
    outcome: Literal["done", "error", "retry"]
    result: InjectedOut | None = None
    error: ProblemOut | None = None


class BatchOut(Answer):
    items: list[BatchItemOut]


class RememberedOut(Answer):
    verdict: Verdict | None
    memory: MemoryOut | None
    supersedes: str | None
    replayed: bool
    pending: list[PendingOut]
    follow_up: list[FollowUpOut]
    reason: str | None
    revision: int


class RecordedOut(Answer):
    """What became of an event; `not_stored` names what a policy refused."""

    name: str
    replayed: bool
    stored: list[StoredOut]
    pending: list[PendingOut]
    not_stored: list[NotStoredOut]
    revision: int


class PageOut(Answer):
    items: list[MemoryOut]
    pending: list[MemoryOut]
    next: str | None
    has_next: bool
    total: int
    revision: int


class HitOut(Answer):
    memory: MemoryOut
    score: float
    reason: str


class FoundOut(Answer):
    """Answer of a search; `shortened`: the query was longer than what is used."""

    items: list[HitOut]
    degraded: list[str]
    shortened: bool
    revision: int


class HistoryOut(Answer):
    items: list[MemoryOut]
    archived: int


class ForgottenOut(Answer):
    forgotten: int


class LatestOut(Answer):
    items: list[MemoryOut]
    pending: list[MemoryOut]
    revision: int


class TriggerOut(Answer):
    rule: str
    phrase: str | None


class ShortTurnOut(Answer):
    role: str
    text: str
    at: Told | None
    turn_id: str | None
    why: str


class CheckOut(Answer):
    task: str
    finding: str
    severity: Literal["stop", "warn", "info"]
    memory_ids: list[str]
    verified: bool
    text: Text2Out


class InstructionOut(Answer):
    trait: str
    zh: str
    en: str


class ReceiptLineOut(Answer):
    mid: str
    scores: dict[str, float]
    told: bool
    reason: str


class ReceiptOut(Answer):
    receipt_id: str | None
    session_id: str | None
    tier: str
    trigger: TriggerOut
    at: Told | None
    lines: list[ReceiptLineOut]
    degraded: list[str]


class EvidenceTurnOut(Answer):
    turn_id: str
    session_id: str | None
    role: str
    score: float
    text: str
    at: Told | None


class RecalledOut(Answer):
    tier: Literal["L1", "L2", "L3"]
    trigger: TriggerOut
    memories: list[HitOut]
    turns: list[EvidenceTurnOut]
    short_term: list[ShortTurnOut]
    checks: list[CheckOut]
    instructions: list[InstructionOut]
    prompt: str
    pending: list[MemoryOut]
    degraded: list[str]
    receipt: ReceiptOut
    receipt_id: str | None
    revision: int | None


class ReadyCheckOut(Answer):
    name: str
    ok: bool
    detail: str


class ReadyOut(Answer):
    ready: bool
    checks: list[ReadyCheckOut]
