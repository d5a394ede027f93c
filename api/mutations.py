"""The mutations of the GraphQL schema: one input each; what the caller can mend is told in `userErrors`, in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

import strawberry
from pydantic import ValidationError
from strawberry.scalars import JSON

from api.answered import EnvironmentInput, Injected, Remembered, ReviewItem, SourceInput, as_is
from api.auth import vouches
from api.call import idempotency_key
from api.errors import FieldError, Problem, invalid, problem_of, row_code
from api.memories import accepted
from api.nodes import Info, Kind, Memory, RelationType, field, maybe, told
from api.relations import RelationIn
from api.reviews import DecisionIn
from api.types import MemoryIn, TurnIn
from api.words_zh import SAID
from graphmem.errors import GraphmemError
from graphmem.relations import RelationType as Type

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


@strawberry.type
class RememberPayload:
    done: Remembered | None
    user_errors: list[UserError]


@strawberry.type
class MemoryPayload:
    memory: Memory | None
    user_errors: list[UserError]


@strawberry.type
class ReviewDecision:
    item: ReviewItem
    memory: Memory | None
    supersedes: str | None
    replayed: bool
    revision: int


@strawberry.type
class DecideReviewPayload:
    decided: ReviewDecision | None
    user_errors: list[UserError]


@strawberry.type
class ForgetPayload:
    forgotten_mid: str | None
    user_errors: list[UserError]


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


@strawberry.type
class RelatePayload:
    relation: StoredRelation | None
    user_errors: list[UserError]


@strawberry.input
class InjectTurnInput:
    text: str
    role: str
    session_id: str | None = strawberry.UNSET
    turn_id: str | None = strawberry.UNSET
    at: datetime | None = strawberry.UNSET
    zone: str | None = strawberry.UNSET
    language: str | None = strawberry.UNSET
    answers: str | None = strawberry.UNSET
    environment: EnvironmentInput | None = strawberry.UNSET
    verified: bool | None = strawberry.UNSET
    source: SourceInput | None = strawberry.UNSET
    metadata: JSON | None = strawberry.UNSET
    idempotency_key: str | None = None


@strawberry.input(description="`value: null` ends what the slot holds; it must be said, not left out.")
class RememberInput:
    key: str
    value: str | None = strawberry.UNSET
    kind: Kind | None = strawberry.UNSET
    arity: str | None = strawberry.UNSET
    subject: str | None = strawberry.UNSET
    polarity: str | None = strawberry.UNSET
    valid_from: datetime | None = strawberry.UNSET
    valid_to: datetime | None = strawberry.UNSET
    zone: str | None = strawberry.UNSET
    confidence: float | None = strawberry.UNSET
    source: SourceInput | None = strawberry.UNSET
    verified_by: str | None = strawberry.UNSET
    verified: bool | None = strawberry.UNSET
    expected_version: int | None = strawberry.UNSET
    metadata: JSON | None = strawberry.UNSET
    idempotency_key: str | None = None


@strawberry.input
class MemoryInput:
    mid: str


@strawberry.input(description="`ifMatch`: the `etag` that was seen; another one by now is an error.")
class ForgetInput:
    mid: str
    if_match: str | None = None


@strawberry.input(description="`decision`: approve, reject or keep_both.")
class DecideReviewInput:
    case_id: str
    decision: str
    note: str | None = strawberry.UNSET


@strawberry.input
class RelateInput:
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float | None = strawberry.UNSET
    idempotency_key: str | None = None


@strawberry.type
class Mutation:
    @field("Hear one turn: what was stored, what is pending, what was not stored and why.")
    def inject_turn(self, info: Info, input: InjectTurnInput) -> InjectTurnPayload:  # noqa: A002
        def act() -> Injected:
            c = info.context
            turn = TurnIn.model_validate(given(input)).turn(c.zone, c.max_text)
            return Injected.of(c.graphmem.inject(c.scope, turn, key=idempotency_key(input.idempotency_key)))

        done, errors = tried(act)
        return InjectTurnPayload(turn=done, user_errors=errors)

    @field("State one memory; deliberate, so without a reversal window.")
    def remember(self, info: Info, input: RememberInput) -> RememberPayload:  # noqa: A002
        def act() -> Remembered:
            c = info.context
            body = MemoryIn.model_validate(given(input))
            ask = body.remember(c.zone, c.max_text)
            vouches(c.scope, body.verified_by)
            return Remembered.of(accepted(c.graphmem.remember(c.scope, ask, key=idempotency_key(input.idempotency_key))))

        done, errors = tried(act)
        return RememberPayload(done=done, user_errors=errors)

    @field("The user's yes to a pending memory.")
    def confirm(self, info: Info, input: MemoryInput) -> RememberPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: Remembered.of(accepted(c.graphmem.confirm(c.scope, input.mid))))
        return RememberPayload(done=done, user_errors=errors)

    @field("The user's no to a pending memory: what was held before stays.")
    def reject(self, info: Info, input: MemoryInput) -> MemoryPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: told(c.graphmem.reject(c.scope, input.mid)))
        return MemoryPayload(memory=done, user_errors=errors)

    @field("It was never so: what it had displaced holds again.")
    def retract(self, info: Info, input: MemoryInput) -> MemoryPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: told(c.graphmem.retract(c.scope, input.mid)))
        return MemoryPayload(memory=done, user_errors=errors)

    @field("Unreadable at once on every path.")
    def forget(self, info: Info, input: ForgetInput) -> ForgetPayload:  # noqa: A002
        def act() -> str:
            c = info.context
            c.graphmem.forget(c.scope, input.mid, if_match=input.if_match)
            return input.mid

        done, errors = tried(act)
        return ForgetPayload(forgotten_mid=done, user_errors=errors)

    @field("Decide a review case; needs the right.")
    def decide_review(self, info: Info, input: DecideReviewInput) -> DecideReviewPayload:  # noqa: A002
        def act() -> ReviewDecision:
            c = info.context
            body = DecisionIn.model_validate({k: v for k, v in given(input).items() if k != "case_id"})
            done = c.graphmem.decide_review(c.scope, input.case_id, body.decision, body.note)
            return ReviewDecision(
                item=as_is(done.item),
                memory=maybe(done.memory),
                supersedes=done.supersedes,
                replayed=done.replayed,
                revision=done.revision,
            )

        done, errors = tried(act)
        return DecideReviewPayload(decided=done, user_errors=errors)

    @field("Relate two memories of the user, from when both held.")
    def relate(self, info: Info, input: RelateInput) -> RelatePayload:  # noqa: A002
        def act() -> StoredRelation:
            c = info.context
            body = RelationIn.model_validate(given(input))
            key = idempotency_key(input.idempotency_key)
            made: StoredRelation = as_is(c.graphmem.relate(c.scope, Type(body.type), body.from_mid, body.to_mid, body.weight, key=key))
            return made

        done, errors = tried(act)
        return RelatePayload(relation=done, user_errors=errors)


def given(value: Any) -> dict[str, Any]:
    """The fields of an input that were sent, by the names of api.md; the idempotency key stays with the request."""
    return {
        f.name: _plain(getattr(value, f.name))
        for f in fields(value)
        if getattr(value, f.name) is not strawberry.UNSET and f.name != "idempotency_key"
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return given(value) if is_dataclass(value) and not isinstance(value, type) else value


def tried(act: Callable[[], T]) -> tuple[T | None, list[UserError]]:
    """The result, or what the caller can mend. Faults of the service itself (5xx) go on as errors of the field."""
    try:
        return act(), []
    except ValidationError as error:
        told = invalid(error.errors(include_url=False, include_input=False, include_context=False))
        return None, _user_errors(told, "invalid_input")
    except GraphmemError as error:
        told = problem_of(error)
        if told.status >= 500:
            raise
        return None, _user_errors(told, row_code(error))


def _user_errors(told: Problem, row: str) -> list[UserError]:
    """One for each field that is wrong, else one for the whole."""
    found = told.errors or (FieldError("", told.code, told.detail),)
    return [
        UserError(
            code=told.code if len(found) == 1 and not told.errors else e.code,
            path=_camel(e.field) or None,
            message_zh=f"{_camel(e.field)}:{SAID[row]}" if e.field else SAID[row],
            message_en=e.message,
        )
        for e in found
    ]


def _camel(path: str) -> str:
    """A path of api.md in the names of the schema: `valid_to` → `validTo`."""
    return re.sub(r"_([a-z])", lambda m: m[1].upper(), path)


__all__ = ["Mutation", "UserError", "given", "tried"]
