"""Answers of GraphQL fields beside memories themselves: made from the façade's values by attribute names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import strawberry

from api.nodes import First, Hop, Info, Kind, Memory, Node, Status, Text2, all_told, as_is, field, global_id, told
from graphmem import answers, people, relations
from graphmem.memory import from_ms
from graphmem.writing import StoredTurn


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


@strawberry.type(description="How many memories of a kind have a status now.")
class StatusCount:
    kind: Kind
    status: Status
    count: int


@strawberry.type(description="A key under which something is or was held; `told`: how many memories of it are told now.")
class KeyCount:
    key: str
    label: Text2
    kind: Kind
    count: int
    told: int


@strawberry.type(description="The user of the request at a glance. Somebody unknown is told like somebody who never said a thing.")
class User(Node):
    user_id: str
    first_recorded_at: datetime | None
    last_recorded_at: datetime | None
    session_count: int
    turn_count: int
    revision: int
    erased: bool
    erased_at: datetime | None
    profile: strawberry.Private[people.Profile]

    @field("How many memories there are of each kind and status; forgotten ones count nowhere.", list[StatusCount])
    def counts(self) -> Any:
        return self.profile.counts

    @field("The keys of what is or was held, by name.", list[KeyCount])
    def keys(self, first: First) -> Any:
        return self.profile.keys[:first]

    @classmethod
    def of(cls, user_id: str, found: people.Profile) -> User:
        return cls(
            id=strawberry.ID(global_id("user", user_id)),
            user_id=user_id,
            first_recorded_at=found.first_recorded_at,
            last_recorded_at=found.last_recorded_at,
            session_count=found.session_count,
            turn_count=found.turn_count,
            revision=found.revision,
            erased=found.erased_at is not None,
            erased_at=found.erased_at,
            profile=found,
        )


@strawberry.type(description="One turn of a session; what was forgotten of its words is blank.")
class SessionTurn:
    turn_id: str
    role: str
    text: str
    at: datetime
    zone: str
    language: str
    speaker: str | None
    answers: str | None

    @classmethod
    def of(cls, turn: StoredTurn) -> SessionTurn:
        given = {name: getattr(turn, name) for name in ("turn_id", "role", "text", "zone", "language", "speaker", "answers")}
        return cls(at=from_ms(turn.at), **given)


@strawberry.type(description="One conversation with the user.")
class Session(Node):
    session_id: str
    started_at: datetime
    last_at: datetime | None
    turn_count: int

    @field("Its last turns, newest first; one read for all sessions of an answer.")
    async def turns(self, info: Info, first: First) -> list[SessionTurn]:
        found: Sequence[StoredTurn] = await info.context.loaders.turns.load(self.session_id)
        return [SessionTurn.of(turn) for turn in found[:first]]

    @classmethod
    def of(cls, found: people.Session) -> Session:
        return cls(
            id=strawberry.ID(global_id("session", found.session_id)),
            session_id=found.session_id,
            started_at=found.started_at,
            last_at=found.last_at,
            turn_count=found.turn_count,
        )
