"""Why a memory is held and (not) told, and the entries of a timeline, in GraphQL."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.nodes import Memory, Source, Status, Text2, as_is, told
from graphmem import explain


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


@strawberry.type(description="Another version of the slot or of the opposite, and what it did. A forgotten one has no value.")
class Rival:
    mid: str
    did: str
    value: str | None
    polarity: str
    version: int | None
    valid_from: datetime
    status: Status


@strawberry.type(description="How the key may change, and how long a memory of it lives.")
class Policy:
    arity: str
    policy: str
    safety: bool
    lifetime_days: float | None


@strawberry.type(description="Why a memory waits, what was decided, and the review case it has.")
class Waiting:
    reason: str
    since: datetime
    decided_at: datetime | None
    outcome: str | None
    case: str | None


@strawberry.type(description="Why a memory is held and (not) told now. `because` names the reason, `text` says all of it in one paragraph.")
class Why:
    entry: Entry
    told: bool
    because: str
    rivals: list[Rival]
    policy: Policy | None
    waiting: Waiting | None
    text: Text2

    @classmethod
    def of(cls, found: explain.Why) -> Why:
        return cls(
            entry=Entry.of(found.entry),
            told=found.told,
            because=found.because,
            rivals=as_is(found.rivals),
            policy=as_is(found.policy),
            waiting=as_is(found.waiting),
            text=as_is(found.text),
        )
