"""What a mutation answers: what became of it, and `userErrors` that name code, path and words in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import strawberry
from pydantic import ValidationError

from api.cases import ReviewDecision
from api.errors import FieldError, Problem, invalid, problem_of
from api.nodes import Memory
from api.outcomes import DeviceFactor, Injected, Proof, Recorded, Remembered, StoredRelation, TotpFactor
from api.words_zh import said
from graphmem.errors import GraphmemError

T = TypeVar("T")


@strawberry.type(description="Something the caller can mend. `path` names the field of the input, null when it is the whole of it.")
class UserError:
    code: str
    path: str | None
    message_zh: str
    message_en: str


@strawberry.type
class InjectTurnPayload:
    turn: Injected | None
    user_errors: list[UserError]


@strawberry.type(description="One turn of a batch. `outcome`: done, error, or retry after a fault that may pass.")
class BatchTurn:
    index: int
    turn_id: str | None
    outcome: str
    turn: Injected | None
    user_errors: list[UserError]


@strawberry.type
class InjectTurnsPayload:
    items: list[BatchTurn]
    user_errors: list[UserError]


@strawberry.type
class RememberPayload:
    done: Remembered | None
    user_errors: list[UserError]


@strawberry.type
class RecordEventPayload:
    event: Recorded | None
    user_errors: list[UserError]


@strawberry.type
class MemoryPayload:
    memory: Memory | None
    user_errors: list[UserError]


@strawberry.type
class DecideReviewPayload:
    decided: ReviewDecision | None
    user_errors: list[UserError]


@strawberry.type
class ForgetPayload:
    forgotten_mid: str | None
    user_errors: list[UserError]


@strawberry.type(description="`forgotten`: how many memories there were in the graph.")
class ForgetAllPayload:
    forgotten: int | None
    user_errors: list[UserError]


@strawberry.type
class RelatePayload:
    relation: StoredRelation | None
    user_errors: list[UserError]


@strawberry.type
class ProofPayload:
    proof: Proof | None
    user_errors: list[UserError]


@strawberry.type
class TotpPayload:
    factor: TotpFactor | None
    user_errors: list[UserError]


@strawberry.type
class DevicePayload:
    factor: DeviceFactor | None
    user_errors: list[UserError]


# --- errors that can be mended


def tried(act: Callable[[], T]) -> tuple[T | None, list[UserError]]:
    """The result, or what the caller can mend. Faults of the service itself (5xx) go on as errors of the field."""
    try:
        return act(), []
    except ValidationError as error:
        told = invalid(error.errors(include_url=False, include_input=False, include_context=False))
        return None, user_errors(told)
    except GraphmemError as error:
        told = problem_of(error)
        if told.status >= 500:
            raise
        return None, user_errors(told)


def user_errors(told: Problem) -> list[UserError]:
    """One for each field that is wrong, else one for the whole."""
    found = told.errors or (FieldError("", told.code, told.detail),)
    return [
        UserError(
            code=told.code if len(found) == 1 and not told.errors else e.code,
            path=_camel(e.field) or None,
            message_zh=f"{_camel(e.field)}:{said(told)}" if e.field else said(told),
            message_en=e.message,
        )
        for e in found
    ]


def _camel(path: str) -> str:
    """A path of api.md in the names of the schema: `valid_to` → `validTo`."""
    return re.sub(r"_([a-z])", lambda m: m[1].upper(), path)


__all__ = ["UserError", "tried", "user_errors"]
