"""The queries of the GraphQL schema about a tenant and about the service: each needs a right, or tells nothing of a user."""

from __future__ import annotations

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from api.cases import ReviewCase, ReviewPage
from api.derived import shows
from api.nodes import First, Info, as_is, field
from api.queries import PageInfo
from graphmem import answers, cohorts
from graphmem.cohorts import CohortQuery


@shows(cohorts.Member, "One memory that makes a user belong.", leave=("user", "place"))
class Member: ...


@shows(cohorts.CohortUser)
class CohortUser: ...


@strawberry.type
class HealthCheck:
    name: str
    ok: bool
    detail: str


@strawberry.type(description="`numbers`: projection lag, receipts waiting, uptime.")
class Health:
    ready: bool
    checks: list[HealthCheck]
    numbers: JSON

    @classmethod
    def of(cls, ready: answers.Readiness, numbers: dict[str, object]) -> Health:
        checks = [HealthCheck(name=name, ok=ok, detail=detail) for name, ok, detail in ready.checks]
        return cls(ready=ready.ready, checks=checks, numbers=JSON(numbers))


@strawberry.type(description="A page of users, each once, with the memories that are the reason. `slow`: a past date was asked for.")
class CohortConnection:
    key: str
    concept: str
    nodes: list[CohortUser]
    page_info: PageInfo
    slow: bool


@strawberry.type
class TenantQuery:
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
            nodes=as_is(page.items),
            page_info=PageInfo(end_cursor=page.next, has_next_page=page.has_next),
            slow=page.slow,
        )

    @field("The tenant's review cases of one state (open unless asked otherwise), oldest first; needs the right.")
    def review_queue(self, info: Info, first: First, after: str | None = None, state: str | None = None) -> ReviewPage | None:
        page: ReviewPage = as_is(info.context.graphmem.reviews(info.context.scope, state, limit=first, cursor=after))
        return page

    @field("One review case: both sides with their evidence; needs the right.")
    def review(self, info: Info, case_id: str) -> ReviewCase | None:
        return ReviewCase.of(info.context.graphmem.review(info.context.scope, case_id))

    @field("Stores, migrations and numbers of the service; nothing of a user.")
    def health(self, info: Info) -> Health | None:
        return Health.of(info.context.graphmem.ready(), info.context.graphmem.health())


__all__ = ["TenantQuery"]
