"""Inputs of mutations: the bodies of api.md in the names of the schema. What is not sent is not looked at."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import strawberry

from api import types
from api.changes import ChangeIn
from api.derived import takes
from api.events import EventIn
from api.nodes import RelationType

OWN = frozenset({"idempotency_key", "mid", "case_id", "if_match"})
"""Fields that name what a mutation is about or how it is sent: they are no part of a body of api.md."""


@takes(types.EnvironmentIn)
class EnvironmentInput: ...


@takes(types.SourceIn)
class SourceInput: ...


@takes(types.TurnIn, "One turn, as in `injectTurn`.")
class TurnInput:
    turn_id: str | None


@strawberry.input
class InjectTurnInput(TurnInput):
    idempotency_key: str | None = None


@strawberry.input(description="Up to 500 turns in order, each an operation of its own: `turnId` makes it repeatable.")
class InjectTurnsInput:
    turns: list[TurnInput]


@takes(types.MemoryIn, "`value: null` ends what the slot holds; it must be said, not left out.")
class RememberInput:
    idempotency_key: str | None = None


@takes(EventIn, "Something that happened in the calling application; name and `ref` are its key where none is given.")
class RecordEventInput:
    idempotency_key: str | None = None


@strawberry.input
class _Seen:
    """The memory that a write is of, and what was seen of it."""

    mid: str
    if_match: str | None = None
    expected_version: int | None = None


@takes(ChangeIn, "What changes of a memory; what is not named stays. `ifMatch` or `expectedVersion` says what was seen.")
class ChangeInput(_Seen): ...


@strawberry.input(description="`expectedVersion`: the highest version of the slot when this was decided; another by now is an error.")
class MemoryInput:
    mid: str
    expected_version: int | None = None
    idempotency_key: str | None = None


@strawberry.input
class UndeleteInput:
    mid: str
    idempotency_key: str | None = None


@strawberry.input(description="`ifMatch`: the `etag` that was seen; another one by now is an error. `expectedVersion`: as in MemoryInput.")
class ForgetInput(_Seen):
    idempotency_key: str | None = None


@strawberry.input(description="`confirm` is the word `all`, so that no slip forgets a person.")
class ForgetAllInput:
    confirm: str


@strawberry.input(
    description="`decision`: approve, reject or keep_both. The same decision again gives the same answer, with a key or without one."
)
class DecideReviewInput:
    case_id: str
    decision: str
    note: str | None = strawberry.UNSET
    expected_version: int | None = None
    idempotency_key: str | None = None


@strawberry.input(description="`expectedVersion`: of the slot of `fromMid`.")
class RelateInput:
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float | None = strawberry.UNSET
    expected_version: int | None = None
    idempotency_key: str | None = None


@strawberry.input(description="Ending a relation twice gives the same answer.")
class UnrelateInput:
    rid: str


@strawberry.input(description="The memory whose change is to be proven.")
class ProofInput:
    mid: str


@strawberry.input(description="A code that was sent, or one of the authenticator.")
class CodeInput:
    case_id: str
    code: str


@strawberry.input(description="`signature`: Ed25519, base64, over `graphmem approve`, NUL, case id, NUL, change.")
class ApprovalInput:
    case_id: str
    signature: str


@strawberry.input(description="`publicKey`: Ed25519, 32 bytes, base64.")
class DeviceInput:
    public_key: str


def given(value: Any) -> dict[str, Any]:
    """The fields of an input that were sent, by the names of api.md, without those that are no part of a body."""
    return {
        f.name: _plain(getattr(value, f.name))
        for f in fields(value)
        if getattr(value, f.name) is not strawberry.UNSET and f.name not in OWN
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return given(value) if is_dataclass(value) and not isinstance(value, type) else value
