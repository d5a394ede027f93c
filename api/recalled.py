"""The answer of a recall in GraphQL, and its input."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import strawberry

from api.answered import Hit
from api.inputs import EnvironmentInput
from api.nodes import First, Memory, Receipt, Text2, Trigger, all_told, as_is, field
from graphmem import answers


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
