"""Relations between memories, cohorts of a tenant, the timeline, and why a memory is (not) told."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field, StrictFloat

from api.answers import Answer, MemoryOut, Text2Out
from api.call import CREDENTIAL, NO_QUERY, Called, Door, Key, Segment, state_of
from api.links import link_next
from api.types import Body, Cursor, Limit, MomentQuery
from api.words import Name, Sound, Told
from graphmem.cohorts import CohortQuery
from graphmem.errors import InvalidInputError
from graphmem.explain import Did
from graphmem.memory import Polarity, Standing, Status
from graphmem.relations import DEPTH_MAX, RelationType
from graphmem.scope import TenantScope
from graphmem.timeline import TimelineQuery

PAGE = 20
COHORT_PAGE = 50

router = APIRouter(route_class=Door, tags=["relations"])
tenant = APIRouter(route_class=Door, tags=["relations"])


class RelationIn(Body):
    type: Literal["HAS_CONDITION", "AFFECTS_MEDICATION", "CONTRADICTS", "DERIVED_FROM"]
    from_mid: Name
    to_mid: Name
    weight: Annotated[StrictFloat, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0


class RelationOut(Answer):
    rid: str
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float
    valid_from: Told
    valid_to: Told | None
    replayed: bool
    revision: int


class HopOut(Answer):
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float
    rid: str | None


class RelatedOut(Answer):
    memory: MemoryOut
    depth: int
    weight: float
    path: list[HopOut]


class RelatedPageOut(Answer):
    """`told` false: the memory itself is not told then, so nothing stored leads on from it."""

    mid: str
    told: bool
    items: list[RelatedOut]
    degraded: list[str]
    revision: int


class RelatedQuery(MomentQuery):
    """`types`: names with commas between; without it the four stored ones."""

    depth: Annotated[int, Field(ge=1, le=DEPTH_MAX)] = 1
    types: Sound | None = None
    limit: Limit | None = None

    def wanted(self) -> frozenset[RelationType] | None:
        """The types named; 422 for one that is none."""
        if self.types is None:
            return None
        names = [name.strip() for name in self.types.split(",")]
        if unknown := [name for name in names if name not in RelationType.__members__]:
            raise InvalidInputError(f"{unknown[0]!r} is none of {', '.join(RelationType)}", field="types", code="unknown_type")
        return frozenset(map(RelationType, names))


class CitedOut(Answer):
    kind: str
    source_id: str
    said_at: Told
    recorded_at: Told
    first: bool
    session_id: str | None
    turn_id: str | None
    span: tuple[int, int] | None
    quote: str | None


class TouchOut(Answer):
    what: str
    at: Told
    actor: str | None
    route: str | None
    by: str | None


class EntryOut(Answer):
    memory: MemoryOut
    verdict: str | None
    reason: str | None
    rule: str | None
    certainty: float | None
    sources: list[CitedOut]
    touches: list[TouchOut]
    supersedes: str | None
    superseded_by: str | None


class TimelineOut(Answer):
    items: list[EntryOut]
    next: str | None
    has_next: bool
    total: int
    revision: int


class TimelineIn(MomentQuery):
    key: Name | None = None
    subject: Name | None = None
    order: Literal["event", "recorded"] = "event"
    limit: Limit | None = None
    cursor: Cursor | None = None


class RivalOut(Answer):
    mid: str
    did: Did
    value: str | None
    polarity: Polarity
    version: int | None
    valid_from: Told
    status: Status


class PolicyOut(Answer):
    arity: str
    policy: str
    safety: bool
    lifetime_days: float | None


class WaitingOut(Answer):
    reason: str
    since: Told
    decided_at: Told | None
    outcome: str | None
    case: str | None


class WhyOut(Answer):
    """`because` is the stable name of the reason; `text` says all of it in one paragraph."""

    entry: EntryOut
    told: bool
    because: str
    rivals: list[RivalOut]
    policy: PolicyOut | None
    waiting: WaitingOut | None
    text: Text2Out


class MemberOut(Answer):
    mid: str
    subject: str
    value: str | None
    standing: Standing
    since: Told


class CohortUserOut(Answer):
    user_id: str
    members: list[MemberOut]


class CohortOut(Answer):
    """Each user once, with the memories that are the reason. `slow`: a past date walks all that was ever said about the concept."""

    key: str
    concept: str
    items: list[CohortUserOut]
    next: str | None
    has_next: bool
    slow: bool


class CohortIn(MomentQuery):
    key: Name
    concept: Name
    subject: Name | None = None
    limit: Limit | None = None
    cursor: Cursor | None = None


@router.post("/relations", name="relateMemories", status_code=201, dependencies=NO_QUERY, responses={200: {"model": RelationOut}})
def relate_memories(call: Called, body: RelationIn, key: Key, response: Response) -> RelationOut:
    """Relate two memories of the user: 201, or 200 when the relation stood already."""
    made = call.graphmem.relate(call.scope, RelationType(body.type), body.from_mid, body.to_mid, body.weight, key=key)
    if made.replayed or not made.created:
        response.status_code = 200
    return RelationOut.model_validate(made)


@router.delete("/relations/{rid:segment}", name="unrelateMemories", dependencies=NO_QUERY)
def unrelate_memories(call: Called, rid: Segment) -> RelationOut:
    """End a relation now; questions about before still find it."""
    return RelationOut.model_validate(call.graphmem.unrelate(call.scope, rid))


@router.get("/memories/{mid:segment}/related", name="relatedMemories")
def related_memories(call: Called, mid: Segment, query: Annotated[RelatedQuery, Query()]) -> RelatedPageOut:
    """What is related to a memory, up to three hops away, with the path; only what is told."""
    as_of, known_at = query.moment(call.zone)
    found = call.graphmem.related(
        call.scope,
        mid,
        depth=query.depth,
        as_of=as_of,
        known_at=known_at,
        types=query.wanted(),
        limit=query.limit or PAGE,
    )
    return RelatedPageOut.model_validate(found)


@router.get("/memories/{mid:segment}/why", name="whyMemory", dependencies=NO_QUERY)
def why_memory(call: Called, mid: Segment) -> WhyOut:
    """Why this memory is held and (not) told now: statements, rule, verdict, rivals, policy, and one paragraph in each language."""
    return WhyOut.model_validate(call.graphmem.why(call.scope, mid))


@router.get("/timeline", name="timeline")
def timeline(call: Called, query: Annotated[TimelineIn, Query()], request: Request, response: Response) -> TimelineOut:
    """Every version of a key or of the user, newest first by event or by recorded time, with sources and what changed it."""
    as_of, known_at = query.moment(call.zone)
    asked = TimelineQuery(query.key, query.subject, query.order, as_of, known_at, query.limit or PAGE, query.cursor)
    page = call.graphmem.timeline(call.scope, asked)
    link_next(response, request, f"{call.base}/timeline", page.next)
    return TimelineOut.model_validate(page)


def tenant_scope(request: Request) -> TenantScope:
    """The whole tenant of the credential, with its rights; a user's own token is named by its user."""
    credential = request.scope[CREDENTIAL]
    principal = credential.principal if credential.principal != "user" else f"user:{credential.user}"
    return TenantScope(credential.tenant, principal, credential.rights)


@tenant.get("/cohorts", name="cohort")
def cohort(
    scope: Annotated[TenantScope, Depends(tenant_scope)], query: Annotated[CohortIn, Query()], request: Request, response: Response
) -> CohortOut:
    """The users of the tenant of whom something is told, now or then; needs the right `cohort`, and is recorded."""
    state = state_of(request)
    as_of, known_at = query.moment(state.zone)
    asked = CohortQuery(query.key, query.concept, as_of, known_at, query.subject, query.limit or COHORT_PAGE, query.cursor)
    page = state.opener.graphmem().cohort(scope, asked)
    link_next(response, request, f"{request.scope.get('root_path', '')}/v1/cohorts", page.next)
    return CohortOut.model_validate(page)
