"""What is watched now: one poll a process for everybody who is watched, however many subscriptions there are. No queue, no loss:

each subscription reads by revision what it has not told yet, so that a slow one only lags.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio.to_thread

from graphmem.errors import GraphmemError, OverloadedError, RefusedError, UnavailableError
from graphmem.scope import Scope
from graphmem.watching import Changed, Mark, UserKey

if TYPE_CHECKING:
    from graphmem.app import Graphmem

POLL_SECONDS = 0.5
"""How soon a write of any process is seen."""

LIVE_USER = 10
"""Subscriptions of one user at once, in one process."""

LIVE_ALL = 1_000
"""Subscriptions at once, in one process."""

_log = logging.getLogger("graphmem.api")


@dataclass(eq=False, slots=True)
class _Listener:
    """One subscription: woken when its user wrote; `end` is why it ends."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    end: GraphmemError | None = None


@dataclass(slots=True)
class _Watched:
    """One user who is watched, and where they stood at the last look."""

    mark: Mark
    listeners: set[_Listener] = field(default_factory=set)


class Hub:
    """Belongs to one event loop. Nothing runs while nobody is watched."""

    def __init__(self, graphmem: Callable[[], Graphmem], seconds: float = POLL_SECONDS) -> None:
        self._graphmem, self._seconds = graphmem, seconds
        self._watched: dict[UserKey, _Watched] = {}
        self._poll: asyncio.Task[None] | None = None

    def count(self, person: UserKey | None = None) -> int:
        """Live subscriptions, of one user or of all."""
        watched = self._watched.values() if person is None else filter(None, [self._watched.get(person)])
        return sum(len(w.listeners) for w in watched)

    async def changes(self, scope: Scope, since: int | None) -> AsyncGenerator[Changed, None]:
        """What is written about the user after `since` (None: from now on), until the user is erased: RefusedError `erased`.

        RefusedError `rate_limited` above a user's limit, OverloadedError above the service's. A store that is away only delays.
        """
        listener = await self._enter(scope)
        person = (scope.tenant, scope.user)
        revision = self._watched[person].mark.revision if since is None else since
        try:
            while True:
                listener.woken.clear()  # before the read: what is written meanwhile wakes again
                told, revision, more = await self._read(scope, revision)
                for one in told:
                    yield one
                if listener.end is not None:
                    raise listener.end
                if not more:
                    await listener.woken.wait()
        finally:
            self._leave(person, listener)

    async def _enter(self, scope: Scope) -> _Listener:
        person = (scope.tenant, scope.user)
        listener = _Listener()
        if self.count(person) >= LIVE_USER:
            raise RefusedError(f"a user has at most {LIVE_USER} live subscriptions", code="rate_limited", hint="End one of them first.")
        if self.count() >= LIVE_ALL:
            raise OverloadedError(f"the service holds at most {LIVE_ALL} live subscriptions", store="subscriptions", retry_after=30)
        watched = self._watched.setdefault(person, _Watched(Mark(0)))
        watched.listeners.add(listener)
        try:
            mark = (await self._marks([person])).get(person, Mark(0))
            if mark.erased:
                raise _erased()
        except BaseException:
            self._leave(person, listener)
            raise
        watched.mark = max(watched.mark, mark, key=lambda m: m.revision)
        if self._poll is None:
            self._poll = asyncio.create_task(self._look())
        return listener

    def _leave(self, person: UserKey, listener: _Listener) -> None:
        watched = self._watched.get(person)
        if watched is not None:
            watched.listeners.discard(listener)
            if not watched.listeners:
                del self._watched[person]
        if not self._watched and self._poll is not None:
            self._poll.cancel()
            self._poll = None

    async def _marks(self, people: list[UserKey]) -> dict[UserKey, Mark]:
        return dict(await anyio.to_thread.run_sync(lambda: self._graphmem().watching.marks(people)))

    async def _read(self, scope: Scope, revision: int) -> tuple[list[Changed], int, bool]:
        while True:
            try:
                return await anyio.to_thread.run_sync(lambda: self._graphmem().watching.since(scope, revision))
            except UnavailableError:
                await asyncio.sleep(self._seconds)

    async def _look(self) -> None:
        """Looks where everybody who is watched stands, again and again."""
        while True:
            await asyncio.sleep(self._seconds)
            people = list(self._watched)
            try:
                marks = await self._marks(people)
            except UnavailableError:
                continue
            except Exception as fault:
                _log.error("the poll of subscriptions failed: %s", type(fault).__name__)
                continue
            for person in people:
                self._moved(person, marks.get(person))

    def _moved(self, person: UserKey, mark: Mark | None) -> None:
        watched = self._watched.get(person)
        if watched is None:
            return
        held = watched.mark.revision
        # somebody who wrote and has no node any more, or another one, is gone
        gone = held > 0 if mark is None else mark.erased or mark.revision < held
        if mark is not None and mark.revision > held:
            watched.mark = mark
        elif not gone:
            return
        for listener in watched.listeners:
            listener.end = _erased() if gone else listener.end
            listener.woken.set()


def _erased() -> RefusedError:
    return RefusedError("this user was erased; nothing is remembered any more", code="erased")


__all__ = ["LIVE_ALL", "LIVE_USER", "POLL_SECONDS", "Hub"]
