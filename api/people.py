"""A user at a glance, the user's sessions, and what was written since a revision."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from api.answers import Answer, Text2Out
from api.call import NO_QUERY, Called, Door
from api.links import link_next
from api.types import Body, Cursor, Limit
from api.words import Told
from graphmem.memory import Kind, Status
from graphmem.watching import REVISION_MAX

PAGE = 20

router = APIRouter(route_class=Door, tags=["user"])


class StatusCountOut(Answer):
    kind: Kind
    status: Status
    count: int


class KeyCountOut(Answer):
    """`told`: how many memories of the key are told now."""

    key: str
    label: Text2Out
    kind: Kind
    count: int
    told: int


class ProfileOut(Answer):
    """Forgotten memories count nowhere; somebody unknown is told like somebody who never said a thing."""

    counts: list[StatusCountOut]
    keys: list[KeyCountOut]
    first_recorded_at: Told | None
    last_recorded_at: Told | None
    session_count: int
    turn_count: int
    revision: int
    erased_at: Told | None


class SessionOut(Answer):
    session_id: str
    started_at: Told
    last_at: Told | None
    turn_count: int


class SessionPageOut(Answer):
    items: list[SessionOut]
    next: str | None
    has_next: bool
    total: int


class SessionQuery(Body):
    limit: Limit | None = None
    cursor: Cursor | None = None


class ChangedOut(Answer):
    """What one write did to one memory; its value is read by its id. For a relation `verdict` is relate or unrelate."""

    mid: str
    verdict: str
    supersedes: str | None
    reason: str | None
    route: str
    actor: str
    at: Told
    revision: int


class ChangesOut(Answer):
    """`revision`: ask for what is after it the next time; `more`: at once."""

    items: list[ChangedOut]
    revision: int
    more: bool


class ChangesQuery(Body):
    since: Annotated[int, Field(ge=0, lt=REVISION_MAX)] = 0


@router.get("/profile", name="getProfile", dependencies=NO_QUERY)
def get_profile(call: Called) -> ProfileOut:
    """The user at a glance: how much is held by kind and status, under which keys, since when."""
    return ProfileOut.model_validate(call.graphmem.people.profile(call.scope))


@router.get("/sessions", name="listSessions")
def list_sessions(call: Called, query: Annotated[SessionQuery, Query()], request: Request, response: Response) -> SessionPageOut:
    """The user's conversations, newest first, page by page."""
    page = call.graphmem.people.sessions(call.scope, query.limit or PAGE, query.cursor)
    link_next(response, request, f"{call.base}/sessions", page.next)
    return SessionPageOut.model_validate(page)


@router.get("/changes", name="listChanges")
def list_changes(call: Called, query: Annotated[ChangesQuery, Query()]) -> ChangesOut:
    """What was written after a revision, oldest first: nothing is missed and nothing comes twice."""
    items, revision, more = call.graphmem.watching.since(call.scope, query.since)
    return ChangesOut(items=[ChangedOut.model_validate(c) for c in items], revision=revision, more=more)
