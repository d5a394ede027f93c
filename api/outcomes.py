"""What became of a write, in GraphQL: payloads with `userErrors` that name code, path and words in both languages."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.derived import made, shows
from api.nodes import Memory, Verdict, maybe, told
from graphmem import answers, cases, events, memory, relations


@shows(answers.Stored, leave=("span",))
class Stored:
    @classmethod
    def of(cls, item: answers.Stored) -> Stored:
        return made(cls, item, memory=told(item.memory))


@shows(answers.PendingItem, "Kept and not told; `confirm` and `reject` settle it.")
class Pending:
    @classmethod
    def of(cls, item: answers.PendingItem) -> Pending:
        return made(cls, item, memory=told(item.memory))


@shows(memory.NotStored)
class NotStored: ...


@shows(answers.FollowUpItem)
class FollowUp: ...


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
        return made(cls, done, stored=[Stored.of(s) for s in done.stored], pending=[Pending.of(p) for p in done.pending])


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
        waits = None if done.pending is None else Pending.of(done.pending)
        return made(cls, done, memory=maybe(done.memory), pending=waits)


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
        return made(cls, done, stored=[Stored.of(s) for s in done.stored], pending=[Pending.of(p) for p in done.pending])


@shows(relations.Relation)
class StoredRelation: ...


@shows(cases.Proof, "Two proofs of a change. A device signs `change` (SHA-256) together with the case id.")
class Proof:
    @classmethod
    def of(cls, case: cases.Proof) -> Proof:
        return made(cls, case, applied=maybe(case.applied))


@shows(cases.TotpEnrolled, "An authenticator: its secret is shown this once.")
class TotpFactor: ...


@shows(cases.DeviceEnrolled)
class DeviceFactor: ...
