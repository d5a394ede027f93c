"""Answers of GraphQL fields beside memories themselves: made from the façade's values by attribute names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import strawberry

from api.derived import made, shows
from api.nodes import First, Info, Memory, Node, all_told, field, global_id, told
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


@shows(answers.Hit)
class Hit:
    @classmethod
    def of(cls, hit: answers.Hit) -> Hit:
        return made(cls, hit, memory=told(hit.memory))


@strawberry.type(description="`shortened`: the query was longer than what is used.")
class Found:
    nodes: list[Hit]
    degraded: list[str]
    shortened: bool
    revision: int

    @classmethod
    def of(cls, found: answers.Found) -> Found:
        return made(cls, found, nodes=[Hit.of(h) for h in found.items])


@shows(relations.Related, "A memory that is reached, by its best path.")
class Related:
    @classmethod
    def of(cls, reached: relations.Related) -> Related:
        return made(cls, reached, memory=told(reached.memory))


@strawberry.type(description="`told` false: the memory itself is not told then, so nothing stored leads on from it.")
class RelatedPage:
    mid: str
    told: bool
    nodes: list[Related]
    degraded: list[str]
    revision: int

    @classmethod
    def of(cls, page: relations.RelatedPage) -> RelatedPage:
        return made(cls, page, nodes=[Related.of(r) for r in page.items])


@shows(people.StatusCount, "How many memories of a kind have a status now.")
class StatusCount: ...


@shows(people.KeyCount, "A key under which something is or was held; `told`: how many memories of it are told now.")
class KeyCount: ...


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
        node = strawberry.ID(global_id("user", user_id))
        return made(cls, found, id=node, user_id=user_id, erased=found.erased_at is not None, profile=found)


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
        return made(cls, turn, at=from_ms(turn.at))


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
        return made(cls, found, id=strawberry.ID(global_id("session", found.session_id)))
