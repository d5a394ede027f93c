"""A user at a glance, and the user's sessions: what is held by kind and status, under which keys, since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from graphmem.answers import Memory
from graphmem.cursors import decode_place, encode
from graphmem.errors import NotFoundError
from graphmem.memory import Kind, Status, Text2, from_ms, to_ms
from graphmem.reading import Reading, check_limit
from graphmem.scope import Scope
from graphmem.validity import Ms
from graphmem.writing import StoredTurn

TURNS_MAX = 100
"""Turns of one session that are read at once."""


@dataclass(frozen=True, slots=True)
class Person:
    """The node of a user in the graph."""

    revision: int
    sessions: int
    turns: int
    erased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StatusCount:
    kind: Kind
    status: Status
    count: int


@dataclass(frozen=True, slots=True)
class KeyCount:
    """A key under which something is or was held. told: how many memories of it are told now."""

    key: str
    label: Text2
    kind: Kind
    count: int
    told: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A user at a glance. Forgotten memories count nowhere; somebody unknown is told like somebody who never said a thing."""

    counts: tuple[StatusCount, ...]
    keys: tuple[KeyCount, ...]
    first_recorded_at: datetime | None
    last_recorded_at: datetime | None
    session_count: int
    turn_count: int
    revision: int
    erased_at: datetime | None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. started_at: when it was first heard of; last_at: its last turn, None when it has none."""

    session_id: str
    started_at: datetime
    last_at: datetime | None
    turn_count: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, the newest first; `next` is the cursor of the following page."""

    items: tuple[Session, ...]
    next: str | None
    has_next: bool
    total: int


class PeopleStore(Protocol):
    """What this asks of the graph beside Reading."""

    def person(self, scope: Scope) -> Person | None: ...

    def sessions(self, scope: Scope) -> Sequence[Session]: ...

    def turns(self, scope: Scope, sessions: Sequence[str], most: int) -> Mapping[str, Sequence[StoredTurn]]: ...


class People:
    """Reads of one user at a time. Thread safe."""

    def __init__(self, reading: Reading, store: PeopleStore) -> None:
        self._reading, self._store = reading, store

    def profile(self, scope: Scope) -> Profile:
        """The user of the scope; never an error for an unknown one."""
        person = self._store.person(scope) or Person(0, 0, 0)
        held = self._reading.all_shown(scope)
        moments = [m.recorded_at for m in held]
        return Profile(
            counts=counted(held),
            keys=keys_of(held),
            first_recorded_at=min(moments, default=None),
            last_recorded_at=max(moments, default=None),
            session_count=person.sessions,
            turn_count=person.turns,
            revision=person.revision,
            erased_at=person.erased_at,
        )

    def sessions(self, scope: Scope, limit: int, cursor: str | None = None) -> SessionPage:
        """A page of sessions by when they began, newest first: one that begins between two pages stands before them."""
        check_limit(limit)
        after = decode_place(cursor)
        found = sorted(self._store.sessions(scope), key=_place, reverse=True)
        rest = found if after is None else [s for s in found if _place(s) < after]
        page, more = rest[:limit], len(rest) > limit
        return SessionPage(tuple(page), encode(_place(page[-1])) if more else None, more, len(found))

    def session(self, scope: Scope, session_id: str) -> Session:
        """One session; NotFoundError for a foreign or unknown one."""
        found = next((s for s in self._store.sessions(scope) if s.session_id == session_id), None)
        if found is None:
            raise NotFoundError("no session of that id")
        return found

    def turns(self, scope: Scope, sessions: Sequence[str]) -> Mapping[str, Sequence[StoredTurn]]:
        """The last turns of each session, newest first; what was forgotten of them is blank."""
        return self._store.turns(scope, sessions, TURNS_MAX)


def counted(held: Iterable[Memory]) -> tuple[StatusCount, ...]:
    """How many of each kind and status, by name."""
    found = Counter((m.kind, m.status) for m in held)
    return tuple(StatusCount(kind, status, n) for (kind, status), n in sorted(found.items(), key=lambda x: (x[0][0].value, x[0][1].value)))


def keys_of(held: Iterable[Memory]) -> tuple[KeyCount, ...]:
    """Every key of what is or was held, by name."""
    found: dict[str, list[Memory]] = {}
    for memory in held:
        found.setdefault(memory.key, []).append(memory)
    return tuple(
        KeyCount(key, some[0].label, some[0].kind, len(some), sum(m.status is Status.ACTIVE for m in some))
        for key, some in sorted(found.items())
    )


def _place(session: Session) -> tuple[Ms, str]:
    return to_ms(session.started_at), session.session_id


def moment(at: Ms | None) -> datetime | None:
    """Milliseconds as a time."""
    return None if at is None else from_ms(at)


__all__ = ["KeyCount", "People", "PeopleStore", "Person", "Profile", "Session", "SessionPage", "StatusCount", "moment"]
