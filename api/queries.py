"""The queries of the GraphQL schema about one user: each field is one façade call."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.answered import Found, History, Latest, RelatedPage, Session, User
from api.explained import Entry, Why
from api.filters import MemoryOrder, MemoryWhere, Place, matching, place_of, position, sorted_after
from api.inputs import given
from api.nodes import First, Info, Memory, Node, Receipt, RelationType, Status, all_told, field, of_global_id, told
from api.recalled import Recalled, RecallInput
from api.types import RecallIn
from graphmem.answers import MemoryFilter
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


@strawberry.type(description="A page of sessions, newest first.")
class SessionConnection:
    nodes: list[Session]
    page_info: PageInfo
    total_count: int


@strawberry.type
class OwnQuery:
    @field("A memory, receipt, session or the user by its id; null for unknown and foreign ids alike.")
    def node(self, info: Info, id: strawberry.ID) -> Node | None:  # noqa: A002 - the name Relay gives it
        kind, name = of_global_id(id) or ("", "")
        graphmem, scope = info.context.graphmem, info.context.scope
        try:
            if kind == "memory":
                return told(graphmem.memory(scope, name))
            if kind == "receipt":
                return Receipt.of(graphmem.receipt(scope, name))
            if kind == "session":
                return Session.of(graphmem.people.session(scope, name))
        except NotFoundError:
            return None
        return User.of(name, graphmem.people.profile(scope)) if (kind, name) == ("user", scope.user) else None

    @field("The user of the request: counts by kind and status, keys, first and last heard, whether erased.")
    def user(self, info: Info) -> User | None:
        return User.of(info.context.scope.user, info.context.graphmem.people.profile(info.context.scope))

    @field("The sessions of the user, newest first, with their last turns.")
    def sessions(self, info: Info, first: First, after: str | None = None) -> SessionConnection | None:
        page = info.context.graphmem.people.sessions(info.context.scope, first, after)
        nodes = [Session.of(s) for s in page.items]
        return SessionConnection(nodes=nodes, page_info=PageInfo(end_cursor=page.next, has_next_page=page.has_next), total_count=page.total)

    @field("One memory as it is for (asOf, knownAt).")
    def memory(self, info: Info, mid: str, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory | None:
        c = info.context
        t, k = c.utc(as_of), c.utc(known_at)
        found = c.graphmem.memory(c.scope, mid, as_of=t, known_at=k)
        return told(found, c.moment(t, k))

    @field("Why a memory is held and (not) told now: statements, rule, verdict, rivals, policy, one paragraph in each language.")
    def why(self, info: Info, mid: str) -> Why | None:
        return Why.of(info.context.graphmem.why(info.context.scope, mid))

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


__all__ = ["OwnQuery", "PageInfo"]
