"""The answer of a recall in GraphQL, and its input."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import strawberry

from api import types
from api.answered import Hit
from api.derived import made, shows, takes
from api.nodes import First, Memory, Receipt, Trigger, all_told, field
from graphmem import answers


@shows(answers.ShortTurn)
class ShortTurn: ...


@shows(answers.Check, "A warning of a task: what was found, and whether to stop.")
class Check: ...


@shows(answers.Instruction, "How to answer this person.")
class Instruction: ...


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
        memories, receipt = [Hit.of(h) for h in found.memories], Receipt.of(found.receipt)
        return made(cls, found, memories=memories, receipt=receipt, waiting=found.pending)


@takes(types.ShortTurnIn)
class ShortTurnInput: ...


@takes(types.RecallIn)
class RecallInput: ...
