"""Answers of GraphQL fields beside memories themselves, and the input of recall."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import strawberry
from strawberry.scalars import JSON

from api.nodes import (
    First,
    Hop,
    Kind,
    Memory,
    Reason,
    Receipt,
    Source,
    SourceKind,
    Standing,
    Text2,
    Trigger,
    Verdict,
    all_told,
    field,
    maybe,
    told,
)
from graphmem import answers, explain, relations


def as_is(value: Any) -> Any:
    """A value of the façade whose attributes carry the names of the schema: nothing is copied."""
    return value


@strawberry.type
class Latest:
    revision: int
    found: strawberry.Private[answers.Latest]

    @field("What is told, newest first.")
    def items(self, first: First) -> list[Memory]:
        return all_told(self.found.items[:first])

    @field("What waits and is not told.")
    def pending(self, first: First) -> list[Memory]:
        return all_told(self.found.pending[:first])


@strawberry.type
class History:
    items: list[Memory]
    total_count: int
    archived: int


@strawberry.type
class Hit:
    memory: Memory
    score: float
    reason: str

    @classmethod
    def of(cls, hit: answers.Hit) -> Hit:
        return cls(memory=told(hit.memory), score=hit.score, reason=hit.reason)


@strawberry.type(description="`shortened`: the query was longer than what is used.")
class Found:
    nodes: list[Hit]
    degraded: list[str]
    shortened: bool
    revision: int

    @classmethod
    def of(cls, found: answers.Found) -> Found:
        nodes = [Hit.of(h) for h in found.items]
        return cls(nodes=nodes, degraded=list(found.degraded), shortened=found.shortened, revision=found.revision)


@strawberry.type(description="A memory that is reached, by its best path.")
class Related:
    memory: Memory
    depth: int
    weight: float
    path: list[Hop]


@strawberry.type(description="`told` false: the memory itself is not told then, so nothing stored leads on from it.")
class RelatedPage:
    mid: str
    told: bool
    nodes: list[Related]
    degraded: list[str]
    revision: int

    @classmethod
    def of(cls, page: relations.RelatedPage) -> RelatedPage:
        nodes = [Related(memory=told(r.memory), depth=r.depth, weight=r.weight, path=as_is(r.path)) for r in page.items]
        return cls(mid=page.mid, told=page.told, nodes=nodes, degraded=list(page.degraded), revision=page.revision)


@strawberry.type(description="Something that happened to a memory: who, when, by which route.")
class Touch:
    what: str
    at: datetime
    actor: str | None
    route: str | None
    by: str | None


@strawberry.type(description="One version in a timeline, with what made it and what became of it.")
class Entry:
    memory: Memory
    verdict: str | None
    reason: str | None
    rule: str | None
    certainty: float | None
    sources: list[Source]
    touches: list[Touch]
    supersedes: str | None
    superseded_by: str | None

    @classmethod
    def of(cls, entry: explain.Entry) -> Entry:
        return cls(
            memory=told(entry.memory),
            verdict=entry.verdict,
            reason=entry.reason,
            rule=entry.rule,
            certainty=entry.certainty,
            sources=as_is(entry.sources),
            touches=as_is(entry.touches),
            supersedes=entry.supersedes,
            superseded_by=entry.superseded_by,
        )


@strawberry.type(description="One memory that makes a user belong.")
class Member:
    mid: str
    subject: str
    value: str | None
    standing: Standing
    since: datetime


@strawberry.type
class CohortUser:
    user_id: str
    members: list[Member]


@strawberry.type(description="A case as the inbox shows it: no value.")
class ReviewItem:
    case_id: str
    user_id: str
    state: str
    reason: str
    kind: Kind
    key: str
    label: Text2
    subject: str
    pending_mid: str
    proposed_by: str
    opened_at: datetime
    due_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decision: str | None
    note: str | None


@strawberry.type(description="Cases of one state, oldest first; `next` goes into `after`.")
class ReviewPage:
    items: list[ReviewItem]
    next: str | None
    has_next: bool


@strawberry.type
class HealthCheck:
    name: str
    ok: bool
    detail: str


@strawberry.type(description="`numbers`: projection lag, receipts waiting, uptime.")
class Health:
    ready: bool
    checks: list[HealthCheck]
    numbers: JSON

    @classmethod
    def of(cls, ready: answers.Readiness, numbers: dict[str, object]) -> Health:
        checks = [HealthCheck(name=name, ok=ok, detail=detail) for name, ok, detail in ready.checks]
        return cls(ready=ready.ready, checks=checks, numbers=JSON(numbers))


@strawberry.type
class ShortTurn:
    role: str
    text: str
    at: datetime | None
    turn_id: str | None
    why: str


@strawberry.type(description="A warning of a task: what was found, and whether to stop.")
class Check:
    task: str
    finding: str
    severity: str
    memory_ids: list[str]
    verified: bool
    text: Text2


@strawberry.type(description="How to answer this person.")
class Instruction:
    trait: str
    zh: str
    en: str


@strawberry.type
class EvidenceTurn:
    turn_id: str
    session_id: str | None
    role: str
    score: float
    text: str
    at: datetime | None


@strawberry.type(description="What may be told, and why. In L1 nothing was read: no receipt, no revision.")
class Recalled:
    tier: str
    trigger: Trigger
    memories: list[Hit]
    turns: list[EvidenceTurn]
    short_term: list[ShortTurn]
    checks: list[Check]
    instructions: list[Instruction]
    prompt: str
    degraded: list[str]
    receipt: Receipt
    receipt_id: str | None
    revision: int | None
    waiting: strawberry.Private[Sequence[answers.Memory]]

    @field("What waits and is not told.")
    def pending(self, first: First) -> list[Memory]:
        return all_told(self.waiting[:first])

    @classmethod
    def of(cls, found: answers.Recalled) -> Recalled:
        return cls(
            tier=found.tier,
            trigger=as_is(found.trigger),
            memories=[Hit.of(h) for h in found.memories],
            turns=as_is(found.turns),
            short_term=as_is(found.short_term),
            checks=as_is(found.checks),
            instructions=as_is(found.instructions),
            prompt=found.prompt,
            waiting=found.pending,
            degraded=list(found.degraded),
            receipt=Receipt.of(found.receipt),
            receipt_id=found.receipt_id,
            revision=found.revision,
        )


# --- what became of a write


@strawberry.type
class Stored:
    memory: Memory
    verdict: Verdict
    supersedes: str | None


@strawberry.type(description="Kept and not told; `confirm` and `reject` settle it.")
class Pending:
    memory: Memory
    reason: str
    question: Text2
    case: str | None

    @classmethod
    def of(cls, item: answers.PendingItem) -> Pending:
        return cls(memory=told(item.memory), reason=item.reason, question=as_is(item.question), case=item.case)


@strawberry.type
class NotStored:
    text: str
    span: list[int]
    reason: Reason
    rule: str


@strawberry.type
class FollowUp:
    candidate_id: str
    question: Text2


@strawberry.type(description="What became of one turn.")
class Injected:
    turn_id: str
    session_id: str | None
    at: datetime
    replayed: bool
    stored: list[Stored]
    pending: list[Pending]
    not_stored: list[NotStored]
    follow_up: list[FollowUp]
    notes: list[str]
    revision: int

    @classmethod
    def of(cls, done: answers.Injected) -> Injected:
        return cls(
            turn_id=done.turn_id,
            session_id=done.session_id,
            at=done.at,
            replayed=done.replayed,
            stored=[Stored(memory=told(s.memory), verdict=s.verdict, supersedes=s.supersedes) for s in done.stored],
            pending=[Pending.of(p) for p in done.pending],
            not_stored=as_is(done.not_stored),
            follow_up=as_is(done.follow_up),
            notes=list(done.notes),
            revision=done.revision,
        )


@strawberry.type(description="What became of a deliberate statement, or of a yes to a pending memory.")
class Remembered:
    verdict: Verdict | None
    memory: Memory | None
    supersedes: str | None
    replayed: bool
    pending: Pending | None
    follow_up: FollowUp | None
    revision: int

    @classmethod
    def of(cls, done: answers.Remembered) -> Remembered:
        return cls(
            verdict=done.verdict,
            memory=maybe(done.memory),
            supersedes=done.supersedes,
            replayed=done.replayed,
            pending=None if done.pending is None else Pending.of(done.pending),
            follow_up=as_is(done.follow_up),
            revision=done.revision,
        )


# --- inputs that queries and mutations share


@strawberry.input
class EnvironmentInput:
    city: str | None = strawberry.UNSET
    latitude: float | None = strawberry.UNSET
    longitude: float | None = strawberry.UNSET
    device: str | None = strawberry.UNSET
    network: str | None = strawberry.UNSET


@strawberry.input
class SourceInput:
    kind: SourceKind | None = strawberry.UNSET
    ref: str | None = strawberry.UNSET


@strawberry.input
class ShortTurnInput:
    role: str
    text: str
    at: datetime | None = strawberry.UNSET
    turn_id: str | None = strawberry.UNSET


@strawberry.input
class RecallInput:
    message: str
    session_id: str | None = strawberry.UNSET
    history: list[ShortTurnInput] | None = strawberry.UNSET
    task: str | None = strawberry.UNSET
    tier: str | None = strawberry.UNSET
    mode: str | None = strawberry.UNSET
    as_of: datetime | None = strawberry.UNSET
    known_at: datetime | None = strawberry.UNSET
    environment: EnvironmentInput | None = strawberry.UNSET
    limit: int | None = strawberry.UNSET
    token_budget: int | None = strawberry.UNSET
    language: str | None = strawberry.UNSET
    proof: str | None = strawberry.UNSET
    explain: bool | None = strawberry.UNSET
