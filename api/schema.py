"""The queries of the GraphQL schema: each field is one façade call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any

import strawberry
from graphql import GraphQLError, GraphQLSchema
from pydantic import TypeAdapter, ValidationError
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig

from api import answered
from api.answered import CohortUser, Entry, Found, Health, History, Latest, Recalled, RecallInput, RelatedPage, ReviewPage
from api.filters import MemoryOrder, MemoryWhere, Place, matching, place_of, position, sorted_after
from api.mutations import Mutation, given
from api.nodes import CLASSES, First, Info, Memory, Node, Receipt, RelationType, Status, all_told, field, of_global_id, told
from api.types import RecallIn
from api.words import Moment, stamp
from graphmem.answers import MemoryFilter
from graphmem.cohorts import CohortQuery
from graphmem.errors import NotFoundError
from graphmem.timeline import TimelineQuery


@strawberry.type(description="`endCursor` goes into `after` of the following page.")
class PageInfo:
    end_cursor: str | None
    has_next_page: bool


@strawberry.type
class MemoryEdge:
    cursor: str
    node: Memory


@strawberry.type(description="A page of memories. Later pages are read for the moment of the first: writes between them change nothing.")
class MemoryConnection:
    edges: list[MemoryEdge]
    page_info: PageInfo
    total_count: int
    revision: int
    as_of: datetime
    known_at: datetime

    @strawberry.field
    def nodes(self) -> list[Memory]:
        return [edge.node for edge in self.edges]


@strawberry.type(description="A page of versions, newest first.")
class TimelineConnection:
    nodes: list[Entry]
    page_info: PageInfo
    total_count: int
    revision: int


@strawberry.type(description="A page of users, each once, with the memories that are the reason. `slow`: a past date was asked for.")
class CohortConnection:
    key: str
    concept: str
    nodes: list[CohortUser]
    page_info: PageInfo
    slow: bool


@strawberry.type
class Query:
    @field("A memory or a receipt by its id; null for unknown and foreign ids alike.")
    def node(self, info: Info, id: strawberry.ID) -> Node | None:  # noqa: A002 - the name Relay gives it
        kind, name = of_global_id(id) or ("", "")
        graphmem, scope = info.context.graphmem, info.context.scope
        try:
            if kind == "memory":
                return told(graphmem.memory(scope, name))
            return Receipt.of(graphmem.receipt(scope, name)) if kind == "receipt" else None
        except NotFoundError:
            return None

    @field("What is told at (asOf, knownAt), or what has `status`, page by page.")
    def memories(
        self,
        info: Info,
        first: First,
        after: str | None = None,
        where: MemoryWhere | None = None,
        order_by: MemoryOrder = MemoryOrder.EVENT_DESC,
        status: Status | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> MemoryConnection | None:
        context = info.context
        place = place_of(after, order_by)
        t, k = (context.utc(as_of), context.utc(known_at)) if place is None else place.moment()
        matches = matching(where, context.utc)
        listed = context.listed(MemoryFilter(status=status, as_of=t, known_at=k))
        kept = [m for m in listed.items if matches(m)]
        rest = sorted_after(kept, order_by, place)
        moment = (listed.as_of, listed.known_at)
        edges = [MemoryEdge(cursor=Place(order_by, *moment, *position(m, order_by)).cursor(), node=told(m, moment)) for m in rest[:first]]
        page = PageInfo(end_cursor=edges[-1].cursor if edges else None, has_next_page=len(rest) > first)
        at = Place(order_by, *moment, 0, "").moment()
        return MemoryConnection(edges=edges, page_info=page, total_count=len(kept), revision=listed.revision, as_of=at[0], known_at=at[1])

    @field("Every version of a key or of the user, newest first, with sources and what changed it.")
    def timeline(
        self,
        info: Info,
        first: First,
        after: str | None = None,
        key: str | None = None,
        subject: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> TimelineConnection | None:
        context = info.context
        asked = TimelineQuery(key, subject, "event", context.utc(as_of), context.utc(known_at), first, after)
        page = context.graphmem.timeline(context.scope, asked)
        return TimelineConnection(
            nodes=[Entry.of(e) for e in page.items],
            page_info=PageInfo(end_cursor=page.next, has_next_page=page.has_next),
            total_count=page.total,
            revision=page.revision,
        )

    @field("The latest valid answer of a key: one, or all where many may hold at once.")
    def latest(
        self, info: Info, key: str, subject: str | None = None, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Latest | None:
        context = info.context
        found = context.graphmem.latest(context.scope, key, subject=subject, as_of=context.utc(as_of), known_at=context.utc(known_at))
        return Latest(revision=found.revision, found=found)

    @field("The versions of a memory's slot, oldest first, and how many older ones lie in the archive.")
    def history(self, info: Info, mid: str, first: First) -> History | None:
        found = info.context.graphmem.versions(info.context.scope, mid)
        return History(items=all_told(found.items[:first]), total_count=len(found.items), archived=found.archived)

    @field("What may be told before the answer, with reasons. A receipt of it is kept.")
    def recall(self, info: Info, input: RecallInput) -> Recalled | None:  # noqa: A002 - one argument of this name, as in mutations
        context = info.context
        ask = RecallIn.model_validate(given(input)).ask(context.zone, context.max_text)
        return Recalled.of(context.graphmem.recall(context.scope, ask))

    @field("The user's valid memories by fused score.")
    def search(self, info: Info, q: str, first: First) -> Found | None:
        return Found.of(info.context.graphmem.search(info.context.scope, q, limit=first))

    @field("Why each candidate of a recall was told or not.")
    def receipt(self, info: Info, id: str) -> Receipt | None:  # noqa: A002 - the name of the REST path
        return Receipt.of(info.context.graphmem.receipt(info.context.scope, id))

    @field("What is related to a memory, up to three hops away, with the path; only what is told.")
    def related(
        self,
        info: Info,
        mid: str,
        first: First,
        depth: int = 1,
        types: list[RelationType] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> RelatedPage | None:
        context = info.context
        found = context.graphmem.related(
            context.scope, mid, depth=depth, as_of=context.utc(as_of), known_at=context.utc(known_at), types=types, limit=first
        )
        return RelatedPage.of(found)

    @field("The users of the tenant of whom something is told; needs the right `cohort`, and is recorded.")
    def cohort(
        self,
        info: Info,
        concept: str,
        key: str,
        first: First,
        after: str | None = None,
        subject: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> CohortConnection | None:
        context = info.context
        asked = CohortQuery(key, concept, context.utc(as_of), context.utc(known_at), subject, first, after)
        page = context.graphmem.cohort(context.tenant, asked)
        return CohortConnection(
            key=page.key,
            concept=page.concept,
            nodes=answered.as_is(page.items),
            page_info=PageInfo(end_cursor=page.next, has_next_page=page.has_next),
            slow=page.slow,
        )

    @field("The tenant's review cases of one state (open unless asked otherwise), oldest first; needs the right.")
    def review_queue(self, info: Info, first: First, after: str | None = None, state: str | None = None) -> ReviewPage | None:
        page: ReviewPage = answered.as_is(info.context.graphmem.reviews(info.context.scope, state, limit=first, cursor=after))
        return page

    @field("Stores, migrations and numbers of the service; nothing of a user.")
    def health(self, info: Info) -> Health | None:
        return Health.of(info.context.graphmem.ready(), info.context.graphmem.health())


_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)


def _moment(value: object) -> datetime:
    try:
        return _MOMENT.validate_python(value)
    except ValidationError:
        raise GraphQLError("a time is ISO 8601 text, as 2024-07-15T10:00:00+08:00") from None


SCALARS: Any = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="ISO 8601. Answers are in UTC with milliseconds; a time without an offset is read in the tenant's zone.",
        serialize=stamp,
        parse_value=_moment,
    )
}


def make_schema(extensions: Iterable[type[SchemaExtension] | Callable[[], SchemaExtension]] = ()) -> strawberry.Schema:
    """The schema; its snapshot is api/schema.graphql."""
    return strawberry.Schema(
        query=Query,
        mutation=Mutation,
        types=list(CLASSES.values()),
        extensions=list(extensions),
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=True),
    )


@cache
def whole() -> GraphQLSchema:
    """The schema that requests run on."""
    return core(make_schema())


def core(schema: strawberry.Schema) -> GraphQLSchema:
    """What graphql-core executes."""
    return schema._schema


__all__ = ["Query", "core", "make_schema", "whole"]
