"""Cohorts of a tenant: who holds something about a concept, now or at a moment. A right of its own, audited, paged by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Protocol

from graphmem.cursors import decode_key, encode
from graphmem.errors import InvalidInputError, RefusedError
from graphmem.memory import Kind, Standing, from_ms, to_ms, utc
from graphmem.reading import check_limit, when
from graphmem.room import Room, check_characters, check_id, check_time
from graphmem.scope import TenantScope
from graphmem.slot import part
from graphmem.validity import Ledger, Ms, Row

RIGHT = "cohort"
"""What a scope's rights must hold."""

SUBJECTS = 4
"""Rows read for each user of a page: a family history is held of several people."""


@dataclass(frozen=True, slots=True)
class CohortAsk:
    """Who: a key, the concept it is held about, and (or None) whom it is held of; a role finds all who have it."""

    kind: Kind
    key: str
    ckey: str
    subject: str | None


@dataclass(frozen=True, slots=True)
class Member:
    """One memory that makes a user belong. `place` is its slot."""

    user: str
    mid: str
    subject: str
    value: str | None
    standing: Standing
    since: datetime
    place: str = ""


@dataclass(frozen=True, slots=True)
class CohortUser:
    """A user of the cohort, with the memories that are the reason (several when several people are meant)."""

    user_id: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Cohort:
    """A page of users, each once. `slow`: a past date walks everything ever said about the concept."""

    key: str
    concept: str
    items: tuple[CohortUser, ...]
    next: str | None
    has_next: bool
    slow: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """A user who once stated it, with all rows of those slots and what opposes them."""

    user: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Then:
    """One page of users in the order of their ids, with the database's now."""

    now: Ms
    holders: tuple[Holder, ...]


class CohortStore(Protocol):
    """What cohorts ask of the graph."""

    def members(self, scope: TenantScope, ask: CohortAsk, after: str | None, limit: int) -> list[Member]: ...

    def holders(self, scope: TenantScope, ask: CohortAsk, as_of: Ms | None, known_at: Ms | None, after: str | None, limit: int) -> Then: ...

    def record(self, scope: TenantScope, outcome: Mapping[str, object]) -> None: ...


@dataclass(frozen=True, slots=True)
class CohortQuery:
    """A question about a tenant (`GET /v1/cohorts`). concept: a concept key (`drug:penicillin`) or words in either language."""

    key: str
    concept: str
    as_of: datetime | None = None
    known_at: datetime | None = None
    subject: str | None = None
    limit: int = 50
    cursor: str | None = None


class Cohorts:
    """Answers for a tenant. Thread safe."""

    def __init__(self, room: Room, store: CohortStore) -> None:
        self._room, self._store = room, store

    def cohort(self, scope: TenantScope, query: CohortQuery) -> Cohort:
        """A page of users of whom this is told at (as_of, known_at), audited. RefusedError (`forbidden`) without the right."""
        if RIGHT not in scope.rights:
            raise RefusedError("this credential may not ask for cohorts", code="forbidden", hint="use a key that has the right 'cohort'")
        ask = self._ask(query)
        after = decode_key(query.cursor)
        past = query.as_of is not None or query.known_at is not None
        if after is not None and not past and not after.startswith(f"1|{part(scope.tenant)}|"):
            raise InvalidInputError("that is no cursor of this list", field="cursor")
        users, last = self._then(scope, ask, query, after) if past else self._now(scope, ask, query.limit, after)
        self._store.record(scope, _audit(ask, query, len(users)))
        return Cohort(query.key, ask.ckey, tuple(users), None if last is None else encode(last), last is not None, past)

    def _ask(self, query: CohortQuery) -> CohortAsk:
        check_limit(query.limit)
        check_id(query.key, "key")
        check_id(query.subject, "subject")
        check_time(query.as_of, "as_of")
        check_time(query.known_at, "known_at")
        if not query.concept.strip():
            raise InvalidInputError("a cohort needs a concept", field="concept", code="blank_text")
        check_characters(query.concept, "concept")
        known = self._room.ontology.get(query.key)
        if known is None:
            raise InvalidInputError(f"'{query.key}' is no key of the ontology", field="key")
        return CohortAsk(known.kind, query.key, self._ckey(query.concept, known.types), query.subject)

    def _ckey(self, concept: str, types: Sequence[str]) -> str:
        if concept in self._room.lexicon.concepts or concept.startswith("text:"):
            return concept
        return self._room.lexicon.ckey(concept, types)

    def _now(self, scope: TenantScope, ask: CohortAsk, limit: int, after: str | None) -> tuple[list[CohortUser], str | None]:
        most, place = limit * SUBJECTS, after
        rows: list[Member] = []
        want = limit + 1  # one more than is told: the last user may go on, and whether there is another must be said
        while True:
            found = self._store.members(scope, ask, place, want)
            rows += found
            users = [CohortUser(user, tuple(held)) for user, held in groupby(rows, key=lambda m: m.user)]
            more = len(found) == want
            if not more or len(users) > limit or len(rows) >= most:
                break
            place = rows[-1].place
            want = min(most - len(rows), (limit + 1 - len(users)) * -(-len(rows) // len(users)))
        if more and len(users) > 1:
            users.pop()  # what was read may have cut it: it comes whole on the next page
        return users, _behind(scope.tenant, users[-1].user_id) if more and users else None

    def _then(self, scope: TenantScope, ask: CohortAsk, query: CohortQuery, after: str | None) -> tuple[list[CohortUser], str | None]:
        as_of = None if query.as_of is None else to_ms(utc(query.as_of))
        known_at = None if query.known_at is None else to_ms(utc(query.known_at))
        users: list[CohortUser] = []
        while True:
            then = self._store.holders(scope, ask, as_of if as_of is not None else known_at, known_at, after, query.limit)
            t, k = when(then.now, query.as_of, query.known_at)
            for holder in then.holders:
                if found := members_of(holder, ask, t, k):
                    if len(users) == query.limit:
                        return users, after
                    users.append(CohortUser(holder.user, found))
                after = holder.user
            if len(then.holders) < query.limit:
                return users, None


def members_of(holder: Holder, ask: CohortAsk, t: Ms, k: Ms) -> tuple[Member, ...]:
    """What of a user is told at (t, k) that makes the user belong, in slot order."""
    ledger = Ledger(holder.rows)
    told = (r for r in ledger.all_told(t, k) if (r.key, r.ckey, r.polarity) == (ask.key, ask.ckey, "+"))
    meant = (r for r in told if of_subject(r.subject, ask.subject))
    return tuple(Member(holder.user, r.mid, r.subject, r.value, r.standing, from_ms(r.valid_from), r.slot) for r in meant)


def of_subject(subject: str, wanted: str | None) -> bool:
    """A role finds everybody in it: friend → friend:小李."""
    return wanted is None or subject == wanted or subject.startswith(f"{wanted}:")


def _behind(tenant: str, user: str) -> str:
    """A place behind every slot of a user and before those of the next one: `}` follows `|`."""
    return f"1|{part(tenant)}|{part(user)}}}"


def _audit(ask: CohortAsk, query: CohortQuery, found: int) -> dict[str, object]:
    """Key, concept of the vocabulary and count. An open concept is somebody's words: only that there was one is kept."""
    concept = "text:" if ask.ckey.startswith("text:") else ask.ckey
    times = {name: None if at is None else utc(at).isoformat() for name, at in (("as_of", query.as_of), ("known_at", query.known_at))}
    return {"key": ask.key, "concept": concept, "found": found, **times}


__all__ = ["Cohort", "CohortAsk", "CohortQuery", "CohortUser", "Cohorts", "Member"]
