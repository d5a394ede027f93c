"""The types of the GraphQL schema: made from the façade's values by attribute names, in the words of api.md."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import strawberry

from api.derived import made, shows
from api.loading import Context
from graphmem import answers, memory, relations
from graphmem.explain import Evidence
from graphmem.exploring import Neighbour
from graphmem.memory import Kind, Reason, SourceKind, Standing, Status, Verdict
from graphmem.relations import RelationType
from graphmem.validity import Ms

if TYPE_CHECKING:
    from api.explained import Why

for _enum in (Kind, Standing, Status, SourceKind, Verdict, Reason, RelationType):
    strawberry.enum(_enum)

First = Annotated[int, strawberry.argument(description="Size of the page: 1 to 100.")]
Info = strawberry.Info[Context, None]
Resolver = TypeVar("Resolver", bound=Callable[..., Any])


def field(description: str, graphql_type: Any = None) -> Callable[[Resolver], Resolver]:
    """A field with its words; graphql_type tells the schema what the annotation does not."""
    return cast(Callable[[Resolver], Resolver], strawberry.field(description=description, graphql_type=graphql_type))


def global_id(kind: str, name: str) -> str:
    """The id of a node: opaque, the same in every request."""
    return base64.urlsafe_b64encode(f"{kind}:{name}".encode()).decode().rstrip("=")


def of_global_id(node: str) -> tuple[str, str] | None:
    """(kind, name) of an id that global_id made, else None."""
    try:
        kind, colon, name = base64.urlsafe_b64decode(node + "=" * (-len(node) % 4)).decode().partition(":")
    except (ValueError, UnicodeDecodeError):
        return None
    return (kind, name) if colon and name else None


def as_is(value: Any) -> Any:
    """A value of the façade whose attributes carry the names of the schema: nothing is copied."""
    return value


@strawberry.interface(description="Something with an id that `node` finds again.")
class Node:
    id: strawberry.ID


@shows(memory.Text2, "One short text in both languages.")
class Text2: ...


@shows(memory.Provenance, "Where a memory comes from, in one line.", leave=("verified_by",))
class Provenance: ...


@shows(
    Evidence,
    "One place where a memory was said. `quote` is null when it names no turn, or the words were forgotten.",
    leave=("mid",),
)
class Source: ...


@shows(relations.Hop, "One step of a path, as it is stored. Derived steps have no rid.")
class Hop: ...


@shows(answers.Trigger)
class Trigger: ...


@shows(answers.ReceiptLine, "One candidate of a recall: its scores, and why it was told or not.")
class ReceiptLine: ...


@strawberry.type(description="Why each candidate of a recall was told or not: ids and scores only.")
class Receipt(Node):
    receipt_id: str | None
    session_id: str | None
    tier: str
    trigger: Trigger
    at: datetime | None
    degraded: list[str]
    whole: strawberry.Private[Sequence[answers.ReceiptLine]]

    @field("Its candidates, in the order of the recall.", list[ReceiptLine])
    def lines(self, first: First) -> Any:
        return self.whole[:first]

    @classmethod
    def of(cls, found: answers.Receipt) -> Receipt:
        """The receipt as a node."""
        return made(cls, found, id=strawberry.ID(global_id("receipt", found.receipt_id or "")), whole=found.lines)


@strawberry.type(description="A stored relation of a memory, and the memory at its other end.")
class Relation:
    hop: strawberry.Private[relations.Hop]
    other: strawberry.Private[answers.Memory]
    moment: strawberry.Private[tuple[Ms, Ms]]

    @strawberry.field
    def type(self) -> RelationType:
        return self.hop.type

    @strawberry.field
    def weight(self) -> float:
        return self.hop.weight

    @strawberry.field
    def rid(self) -> str | None:
        return self.hop.rid

    @strawberry.field
    def from_mid(self) -> str:
        return self.hop.from_mid

    @strawberry.field
    def to_mid(self) -> str:
        return self.hop.to_mid

    @strawberry.field
    def memory(self) -> Memory:
        return told(self.other, self.moment)


@shows(
    answers.Memory,
    "One memory as it is told for the (asOf, knownAt) asked.",
    leave=("said_at", "is_end"),
    make=strawberry.interface,
)
class Memory(Node):
    mid: str
    moment: strawberry.Private[tuple[Ms, Ms] | None]

    @field("Where it was said, the first first; one read for all memories of an answer.", list[Source])
    async def sources(self, info: Info, first: First) -> Any:
        found: Sequence[Evidence] = await info.context.loaders.sources.load((self.mid, self.moment))
        return found[:first]

    @field("Stored relations to what is told then, the heaviest first; one read for all memories of an answer.")
    async def relations(self, info: Info, first: First) -> list[Relation]:
        found: Sequence[Neighbour]
        found, moment = await info.context.loaders.relations.load((self.mid, self.moment))
        return [Relation(hop=n.hop, other=n.memory, moment=moment) for n in found[:first]]

    @field("Of the newest 200 receipts those that weighed it, newest first; one read for all memories of an answer.")
    async def receipts(self, info: Info, first: First) -> list[Receipt]:
        return [Receipt.of(r) for r in (await info.context.loaders.receipts.load(self.mid))[:first]]

    @field("Why it is held and (not) told now; null when it was forgotten. Two reads for all memories of an answer.")
    async def why(self, info: Info) -> Annotated[Why, strawberry.lazy("api.explained")] | None:
        from api.explained import Why

        found = await info.context.loaders.whys.load(self.mid)
        return None if found is None else Why.of(found)


@strawberry.type(description="Something that is so.")
class FactMemory(Memory):
    pass


@strawberry.type(description="Something that is liked or chosen; its weight fades.")
class PreferenceMemory(Memory):
    pass


@strawberry.type(description="Something of the moment; it expires.")
class ContextMemory(Memory):
    pass


CLASSES: dict[Kind, type[Memory]] = {
    Kind.FACT: FactMemory,
    Kind.PREFERENCE: PreferenceMemory,
    Kind.CONTEXT: ContextMemory,
}


def told(found: answers.Memory, moment: tuple[Ms, Ms] | None = None) -> Memory:
    """A memory as its node. moment: the (as_of, known_at) it was read for, in milliseconds; None is now."""
    return made(CLASSES[found.kind], found, id=strawberry.ID(global_id("memory", found.mid)), moment=moment)


def maybe(found: answers.Memory | None) -> Memory | None:
    """None stays None."""
    return None if found is None else told(found)


def all_told(found: Sequence[answers.Memory]) -> list[Memory]:
    return [told(m) for m in found]


__all__ = [
    "CLASSES",
    "First",
    "Hop",
    "Info",
    "Kind",
    "Memory",
    "Node",
    "Provenance",
    "Reason",
    "Receipt",
    "Relation",
    "RelationType",
    "Source",
    "SourceKind",
    "Standing",
    "Status",
    "Text2",
    "Trigger",
    "Verdict",
    "all_told",
    "as_is",
    "field",
    "global_id",
    "maybe",
    "of_global_id",
    "told",
]
