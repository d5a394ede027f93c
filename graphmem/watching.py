"""What was written about a user, in the order of the writes: read by revision, so that nothing is missed and nothing told twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from graphmem.errors import InvalidInputError
from graphmem.explain import change_of
from graphmem.memory import from_ms
from graphmem.scope import Scope
from graphmem.validity import Ms

MOST = 100
"""Writes that are read at once; the rest follows."""

REVISION_MAX = 2**53
"""Above every revision of a user."""

UserKey = tuple[str, str]
"""(tenant, user)."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a write did to one memory. verdict: as in api.md; for a relation `relate` or `unrelate`. revision: the user's after it."""

    mid: str
    verdict: str
    supersedes: str | None
    reason: str | None
    route: str
    actor: str
    at: datetime
    revision: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a user stands. erased: nothing is remembered of them any more."""

    revision: int
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """The record of one write as it is stored. outcome: JSON of its verdicts."""

    op: str
    route: str
    actor: str
    at: Ms
    outcome: str
    concerned: tuple[tuple[str, str], ...]
    revision: int


class WatchStore(Protocol):
    """What watching asks of the graph."""

    def marks(self, people: Sequence[UserKey]) -> Mapping[UserKey, Mark]: ...

    def writes(self, scope: Scope, since: int, most: int) -> Sequence[Write]: ...


class Watching:
    """Reads only; each call is one statement. Thread safe."""

    def __init__(self, store: WatchStore) -> None:
        self._store = store

    def marks(self, people: Sequence[UserKey]) -> Mapping[UserKey, Mark]:
        """Where these users stand; one who never wrote, or is gone, has no entry."""
        return self._store.marks(people) if people else {}

    def since(self, scope: Scope, revision: int) -> tuple[list[Changed], int, bool]:
        """What was written after a revision, oldest first; the revision to go on from; whether more waits. Values are not told here."""
        if not 0 <= revision < REVISION_MAX:
            raise InvalidInputError("a revision is a whole number from 0", field="since")
        writes = self._store.writes(scope, revision, MOST)
        told = [one for write in writes for one in changed(write)]
        return told, writes[-1].revision if writes else revision, len(writes) == MOST


def changed(write: Write) -> list[Changed]:
    """Each memory a write concerned, once, with the last verdict about it."""
    rulings = {r.mid: r for r in change_of(write.op, write.route, write.actor, write.at, write.outcome).rulings}
    found: dict[str, Changed] = {}
    for mid, verdict in write.concerned:
        if mid:
            ruling = rulings.get(mid)
            supersedes, reason = (None, None) if ruling is None else (ruling.supersedes, ruling.reason)
            found[mid] = Changed(mid, verdict, supersedes, reason, write.route, write.actor, from_ms(write.at), write.revision)
    return list(found.values())


__all__ = ["Changed", "Mark", "UserKey", "WatchStore", "Watching", "Write", "changed"]
