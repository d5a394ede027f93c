"""What became of a write, in GraphQL: payloads with `userErrors` that name code, path and words in both languages."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import strawberry

from api.nodes import Memory, Reason, RelationType, Text2, Verdict, as_is, maybe, told
from graphmem import answers, events
from graphmem.cases import Proof as Case

T = TypeVar("T")


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


@strawberry.type(description="What became of an event; `notStored` names what a policy refused.")
class Recorded:
    name: str
    replayed: bool
    stored: list[Stored]
    pending: list[Pending]
    not_stored: list[NotStored]
    revision: int

    @classmethod
    def of(cls, done: events.Recorded) -> Recorded:
        return cls(
            name=done.name,
            replayed=done.replayed,
            stored=[Stored(memory=told(s.memory), verdict=s.verdict, supersedes=s.supersedes) for s in done.stored],
            pending=[Pending.of(p) for p in done.pending],
            not_stored=as_is(done.not_stored),
            revision=done.revision,
        )


@strawberry.type
class StoredRelation:
    rid: str
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float
    valid_from: datetime
    valid_to: datetime | None
    created: bool
    replayed: bool
    revision: int


@strawberry.type(description="Two proofs of a change. A device signs `change` (SHA-256) together with the case id.")
class Proof:
    case_id: str
    mid: str
    state: str
    missing: list[str]
    expires_at: datetime
    change: str
    applied: Memory | None

    @classmethod
    def of(cls, case: Case) -> Proof:
        return cls(
            case_id=case.case_id,
            mid=case.mid,
            state=case.state,
            missing=list(case.missing),
            expires_at=case.expires_at,
            change=case.change,
            applied=maybe(case.applied),
        )


@strawberry.type(description="An authenticator: its secret is shown this once.")
class TotpFactor:
    factor_id: str
    secret: str
    uri: str
    enrolled_at: datetime


@strawberry.type
class DeviceFactor:
    factor_id: str
    enrolled_at: datetime
