"""The mutations of the GraphQL schema: one input each; what the caller can mend is told in `userErrors`, in both languages."""

from __future__ import annotations

from collections.abc import Iterator

import strawberry
from pydantic import ValidationError

from api.auth import vouches
from api.call import idempotency_key
from api.cases import ReviewDecision
from api.changes import AllQuery, ChangeIn
from api.errors import Problem, invalid, problem_of
from api.events import EventIn
from api.inputs import (
    ChangeInput,
    DecideReviewInput,
    ForgetAllInput,
    ForgetInput,
    InjectTurnInput,
    InjectTurnsInput,
    MemoryInput,
    RecordEventInput,
    RelateInput,
    RememberInput,
    TurnInput,
    UndeleteInput,
    UnrelateInput,
    given,
)
from api.loading import Context
from api.memories import accepted
from api.nodes import Info, as_is, field, maybe, told
from api.outcomes import Injected, Recorded, Remembered, StoredRelation
from api.payloads import (
    BatchTurn,
    DecideReviewPayload,
    ForgetAllPayload,
    ForgetPayload,
    InjectTurnPayload,
    InjectTurnsPayload,
    MemoryPayload,
    RecordEventPayload,
    RelatePayload,
    RememberPayload,
    tried,
    user_errors,
)
from api.relations import RelationIn
from api.reviews import DecisionIn
from api.types import BATCH_MAX, MemoryIn, TurnIn
from graphmem.answers import BatchItem, Memory
from graphmem.errors import ConflictError, GraphmemError, InvalidInputError
from graphmem.memory import Turn
from graphmem.relations import RelationType as Type
from graphmem.repeating import Route


@strawberry.type
class Hearing:
    @field("Hear one turn: what was stored, what is pending, what was not stored and why.")
    def inject_turn(self, info: Info, input: InjectTurnInput) -> InjectTurnPayload:  # noqa: A002
        def act() -> Injected:
            c = info.context
            turn = TurnIn.model_validate(given(input)).turn(c.zone, c.max_text)
            return Injected.of(c.graphmem.inject(c.scope, turn, key=idempotency_key(input.idempotency_key)))

        done, errors = tried(act)
        return InjectTurnPayload(turn=done, user_errors=errors)

    @field("Hear up to 500 turns in order; a bad one does not lose the others.")
    def inject_turns(self, info: Info, input: InjectTurnsInput) -> InjectTurnsPayload:  # noqa: A002
        done, errors = tried(lambda: list(_batch(info.context, input.turns)))
        return InjectTurnsPayload(items=done or [], user_errors=errors)

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

    @field("Record an event of the calling application, as typed memories.")
    def record_event(self, info: Info, input: RecordEventInput) -> RecordEventPayload:  # noqa: A002
        def act() -> Recorded:
            c = info.context
            body = EventIn.model_validate(given(input))
            vouches(c.scope, body.verified_by)
            return Recorded.of(c.graphmem.record(c.scope, body.event(c.zone), key=idempotency_key(input.idempotency_key)))

        done, errors = tried(act)
        return RecordEventPayload(event=done, user_errors=errors)

    @field("A new version of a memory; what is not named stays.")
    def change(self, info: Info, input: ChangeInput) -> RememberPayload:  # noqa: A002
        def act() -> Remembered:
            c = info.context
            if input.if_match is None and input.expected_version is None:
                raise InvalidInputError("a change names the version it is of", field="if_match", code="precondition_required")
            body = ChangeIn.model_validate({k: v for k, v in given(input).items() if k != "expected_version"})
            ask = body.change(c.zone, c.max_text)
            vouches(c.scope, body.verified_by)
            tag = seen(c, input.mid, input.if_match, input.expected_version)
            return Remembered.of(accepted(c.graphmem.change(c.scope, input.mid, ask, if_match=tag)))

        done, errors = tried(act)
        return RememberPayload(done=done, user_errors=errors)


@strawberry.type
class Settling:
    @field("The user's yes to a pending memory.")
    def confirm(self, info: Info, input: MemoryInput) -> RememberPayload:  # noqa: A002
        def act() -> Remembered:
            c, key = _asked(info.context, "confirm", input)
            return Remembered.of(accepted(c.graphmem.confirm(c.scope, input.mid, key=key)))

        done, errors = tried(act)
        return RememberPayload(done=done, user_errors=errors)

    @field("The user's no to a pending memory: what was held before stays.")
    def reject(self, info: Info, input: MemoryInput) -> MemoryPayload:  # noqa: A002
        def act() -> Memory:
            c, key = _asked(info.context, "reject", input)
            return c.graphmem.reject(c.scope, input.mid, key=key)

        done, errors = tried(act)
        return MemoryPayload(memory=maybe(done), user_errors=errors)

    @field("It was never so: what it had displaced holds again.")
    def retract(self, info: Info, input: MemoryInput) -> MemoryPayload:  # noqa: A002
        def act() -> Memory:
            c, key = _asked(info.context, "retract", input)
            return c.graphmem.retract(c.scope, input.mid, key=key)

        done, errors = tried(act)
        return MemoryPayload(memory=maybe(done), user_errors=errors)

    @field("Decide a review case; needs the right.")
    def decide_review(self, info: Info, input: DecideReviewInput) -> DecideReviewPayload:  # noqa: A002
        def act() -> ReviewDecision:
            c = info.context
            body = DecisionIn.model_validate({k: v for k, v in given(input).items() if k != "expected_version"})
            idempotency_key(input.idempotency_key)
            if input.expected_version is not None:
                held = c.graphmem.review(c.scope, input.case_id).held
                _expects(max((m.version or 0 for m in held), default=0), input.expected_version)
            return ReviewDecision.of(c.graphmem.decide_review(c.scope, input.case_id, body.decision, body.note))

        done, errors = tried(act)
        return DecideReviewPayload(decided=done, user_errors=errors)


@strawberry.type
class Ending:
    @field("Unreadable at once on every path.")
    def forget(self, info: Info, input: ForgetInput) -> ForgetPayload:  # noqa: A002
        def act() -> str:
            c, key = info.context, idempotency_key(input.idempotency_key)
            again = key is not None and c.graphmem.repeated(c.scope, "forget", input.mid, key)
            tag = None if again else seen(c, input.mid, input.if_match, input.expected_version)
            c.graphmem.forget(c.scope, input.mid, if_match=tag, key=key)
            return input.mid

        done, errors = tried(act)
        return ForgetPayload(forgotten_mid=done, user_errors=errors)

    @field('Forget every memory of the user, archived ones too; `confirm: "all"` has to be said. Reaches no other user.')
    def forget_all(self, info: Info, input: ForgetAllInput) -> ForgetAllPayload:  # noqa: A002
        def act() -> int:
            AllQuery.model_validate(given(input))
            return info.context.graphmem.forget_all(info.context.scope)

        done, errors = tried(act)
        return ForgetAllPayload(forgotten=done, user_errors=errors)

    @field("Bring a forgotten memory back within 72 hours: the same row and version, current only if nothing newer holds.")
    def undelete(self, info: Info, input: UndeleteInput) -> MemoryPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: told(c.graphmem.undelete(c.scope, input.mid, key=idempotency_key(input.idempotency_key))))
        return MemoryPayload(memory=done, user_errors=errors)

    @field("Relate two memories of the user, from when both held.")
    def relate(self, info: Info, input: RelateInput) -> RelatePayload:  # noqa: A002
        def act() -> StoredRelation:
            c = info.context
            body = RelationIn.model_validate({k: v for k, v in given(input).items() if k != "expected_version"})
            key = idempotency_key(input.idempotency_key)
            expects(c, body.from_mid, input.expected_version)
            made: StoredRelation = as_is(c.graphmem.relate(c.scope, Type(body.type), body.from_mid, body.to_mid, body.weight, key=key))
            return made

        done, errors = tried(act)
        return RelatePayload(relation=done, user_errors=errors)

    @field("End a relation now; questions about before still find it.")
    def unrelate(self, info: Info, input: UnrelateInput) -> RelatePayload:  # noqa: A002
        def act() -> StoredRelation:
            ended: StoredRelation = as_is(info.context.graphmem.unrelate(info.context.scope, input.rid))
            return ended

        done, errors = tried(act)
        return RelatePayload(relation=done, user_errors=errors)


def expects(c: Context, mid: str, version: int | None) -> None:
    """ConflictError unless this is the highest version of the memory's slot now; without one nothing is asked."""
    if version is not None:
        _expects(max((m.version or 0 for m in c.graphmem.history(c.scope, mid)), default=0), version)


def seen(c: Context, mid: str, if_match: str | None, version: int | None) -> str | None:
    """The etag a write is conditional on; an expected version is checked against the state that this etag stands for."""
    if version is None:
        return if_match
    etag = c.graphmem.memory(c.scope, mid).etag
    expects(c, mid, version)
    return if_match or etag


def _expects(held: int, expected: int) -> None:
    if held != expected:
        raise ConflictError(f"the slot is at version {held}, not {expected}", code="version_conflict", current=f"v{held}")


def _asked(c: Context, route: Route, asked: MemoryInput) -> tuple[Context, str | None]:
    """The request and its key, once the version that is expected is there. What the key has done before is not checked again."""
    key = idempotency_key(asked.idempotency_key)
    if asked.expected_version is not None and not (key is not None and c.graphmem.repeated(c.scope, route, asked.mid, key)):
        expects(c, asked.mid, asked.expected_version)
    return c, key


# --- batches


def _batch(c: Context, turns: list[TurnInput]) -> Iterator[BatchTurn]:
    """Each turn's outcome, in order; those that cannot be read are never sent to the façade."""
    if not 1 <= len(turns) <= BATCH_MAX:
        raise InvalidInputError(f"a batch holds 1 to {BATCH_MAX} turns", field="turns")
    read = [_read(c, turn) for turn in turns]
    good = [turn for turn in read if isinstance(turn, Turn)]
    done = iter(c.graphmem.inject_batch(c.scope, good) if good else ())
    for index, (sent, turn) in enumerate(zip(turns, read, strict=True)):
        if isinstance(turn, Turn):
            yield _item(index, next(done))
        else:
            yield BatchTurn(index=index, turn_id=sent.turn_id or None, outcome="error", turn=None, user_errors=user_errors(turn))


def _read(c: Context, sent: TurnInput) -> Turn | Problem:
    try:
        return TurnIn.model_validate(given(sent)).turn(c.zone, c.max_text)
    except ValidationError as error:
        return invalid(error.errors(include_url=False, include_input=False, include_context=False))
    except GraphmemError as error:
        return problem_of(error)


def _item(index: int, item: BatchItem) -> BatchTurn:
    if item.result is not None:
        return BatchTurn(index=index, turn_id=item.turn_id, outcome="done", turn=Injected.of(item.result), user_errors=[])
    error = item.error or GraphmemError("neither a result nor an error")
    errors = user_errors(problem_of(error))
    return BatchTurn(index=index, turn_id=item.turn_id, outcome="retry" if item.retry else "error", turn=None, user_errors=errors)


__all__ = ["Ending", "Hearing", "Settling", "expects", "seen"]
