"""What the resolvers of one GraphQL request share: who asks, and loaders that read once for many memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from strawberry.dataloader import DataLoader

from api.auth import Credential
from api.words import aware
from graphmem.answers import MemoryFilter, Receipt
from graphmem.errors import GraphmemError
from graphmem.explain import Evidence, Why
from graphmem.exploring import Listed, Neighbour
from graphmem.memory import from_ms, to_ms
from graphmem.scope import Scope, TenantScope
from graphmem.validity import Ms
from graphmem.writing import StoredTurn

if TYPE_CHECKING:
    from api.live import Hub
    from graphmem.app import Graphmem

Moment = tuple[Ms, Ms] | None
"""(as_of, known_at) in milliseconds; None is now."""

Asked = tuple[str, Moment]
"""A mid and the moment it was read for."""

Related = tuple[tuple[Neighbour, ...], tuple[Ms, Ms]]
"""Relations of a memory, and the moment they were read for."""


@dataclass
class Context:
    """One request. `named` is the user of the header X-Graphmem-User; without one a user's own token names its user."""

    graphmem: Graphmem
    credential: Credential
    named: str | None
    zone: str
    max_text: int
    hub: Hub | None = None
    lists: dict[MemoryFilter, Listed] = field(default_factory=dict)

    @cached_property
    def scope(self) -> Scope:
        """The one user of the request; RefusedError when nobody is named."""
        return self.credential.scope(self.named)

    @property
    def tenant(self) -> TenantScope:
        """The whole tenant of the credential, with its rights; a user's own token is named by its user."""
        credential = self.credential
        principal = credential.principal if credential.principal != "user" else f"user:{credential.user}"
        return TenantScope(credential.tenant, principal, credential.rights)

    @property
    def live(self) -> Hub:
        """What is watched; only a request over a web socket has it."""
        if self.hub is None:
            raise GraphmemError("this request watches nothing")
        return self.hub

    @cached_property
    def loaders(self) -> Loaders:
        return Loaders(self)

    def utc(self, at: datetime | None) -> datetime | None:
        """A moment in UTC; without an offset it is read in the tenant's zone."""
        return aware(at, ZoneInfo(self.zone))

    def moment(self, as_of: datetime | None, known_at: datetime | None) -> Moment:
        """The moment a memory is told for where one was asked; None is now."""
        if as_of is None and known_at is None:
            return None
        known = known_at if known_at is not None else from_ms(self.told(None).known_at)
        return to_ms(as_of if as_of is not None else known), to_ms(known)

    def listed(self, where: MemoryFilter) -> Listed:
        """Everything that answers the filter, read once in a request."""
        if where not in self.lists:
            found = self.graphmem.exploring.listed(self.scope, where)
            self.lists[where] = found
            # what is told at the moment just read is the same list: relations of a page need no second one
            at = replace(where, as_of=from_ms(found.as_of), known_at=from_ms(found.known_at))
            self.lists.setdefault(at, found)
        return self.lists[where]

    def told(self, moment: Moment) -> Listed:
        """What is told at a moment."""
        if moment is None:
            return self.listed(MemoryFilter())
        return self.listed(MemoryFilter(as_of=from_ms(moment[0]), known_at=from_ms(moment[1])))


class Loaders:
    """Batches of one request: keys that are asked for together are read together."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.sources: DataLoader[Asked, tuple[Evidence, ...]] = DataLoader(load_fn=self._sources)
        self.relations: DataLoader[Asked, Related] = DataLoader(load_fn=self._relations)
        self.receipts: DataLoader[str, tuple[Receipt, ...]] = DataLoader(load_fn=self._receipts)
        self.whys: DataLoader[str, Why | None] = DataLoader(load_fn=self._whys)
        self.turns: DataLoader[str, Sequence[StoredTurn]] = DataLoader(load_fn=self._turns)

    async def _sources(self, keys: list[Asked]) -> Sequence[tuple[Evidence, ...]]:
        context, found = self._context, dict[Asked, tuple[Evidence, ...]]()
        for moment, mids in _by_moment(keys).items():
            known_at = context.told(None).known_at if moment is None else moment[1]
            given = context.graphmem.exploring.sources(context.scope, mids, known_at)
            found |= {(mid, moment): given.get(mid, ()) for mid in mids}
        return [found[key] for key in keys]

    async def _relations(self, keys: list[Asked]) -> Sequence[Related]:
        context, found = self._context, dict[Asked, Related]()
        for moment, mids in _by_moment(keys).items():
            told = context.told(moment)
            given = context.graphmem.exploring.relations(context.scope, mids, told)
            found |= {(mid, moment): (given.get(mid, ()), (told.as_of, told.known_at)) for mid in mids}
        return [found[key] for key in keys]

    async def _receipts(self, keys: list[str]) -> Sequence[tuple[Receipt, ...]]:
        given = self._context.graphmem.exploring.receipts(self._context.scope, keys)
        return [given.get(mid, ()) for mid in keys]

    async def _whys(self, keys: list[str]) -> Sequence[Why | None]:
        given = self._context.graphmem.whys(self._context.scope, keys)
        return [given.get(mid) for mid in keys]

    async def _turns(self, keys: list[str]) -> Sequence[Sequence[StoredTurn]]:
        given = self._context.graphmem.people.turns(self._context.scope, keys)
        return [given.get(session, ()) for session in keys]


def _by_moment(keys: Sequence[Asked]) -> dict[Moment, list[str]]:
    found: dict[Moment, list[str]] = {}
    for mid, moment in keys:
        found.setdefault(moment, []).append(mid)
    return found


__all__ = ["Context", "Loaders", "Moment"]
