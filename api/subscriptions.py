"""The subscription of the GraphQL schema: what is written about the user, by whatever process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Annotated, cast

import strawberry

from api.derived import made, shows
from api.nodes import Info, Memory, Resolver, field, told
from graphmem.errors import NotFoundError
from graphmem.watching import Changed


@shows(Changed, "What a write did to one memory. `revision` goes into `since` of the next subscription: nothing is missed.")
class MemoryChange:
    mid: str

    @field("The memory as it is now; null when it was forgotten.")
    def memory(self, info: Info) -> Memory | None:
        try:
            return told(info.context.graphmem.memory(info.context.scope, self.mid))
        except NotFoundError:
            return None

    @classmethod
    def of(cls, found: Changed) -> MemoryChange:
        return made(cls, found)


Since = Annotated[int | None, strawberry.argument(description="A revision that was seen; without one only what is written from now on.")]


def stream(description: str) -> Callable[[Resolver], Resolver]:
    """A field of the subscription with its words."""
    return cast(Callable[[Resolver], Resolver], strawberry.subscription(description=description))


@strawberry.type
class Subscription:
    @stream("Each memory of the user that a write concerns, in the order of the writes; over graphql-transport-ws.")
    async def memory_changed(self, info: Info, since: Since = None) -> AsyncGenerator[MemoryChange, None]:
        context = info.context
        async for found in context.live.changes(context.scope, since):
            yield MemoryChange.of(found)


__all__ = ["MemoryChange", "Subscription"]
