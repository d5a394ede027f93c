"""The routes of /v1, once under the user of the path and once under the user of the token."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from api import changes, events, memories, people, recall, relations, reviews, turns
from api.call import named_user, plain_query
from api.errors import MEDIA_TYPE, TABLE

_STATUSES = (400, 401, 403, 404, 409, 412, 413, 415, 422, 428, 429, 503)


def _problems() -> dict[int | str, dict[str, Any]]:
    """The refusals every route may give, for the document."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}}
    titles = {status: "; ".join(row.title for row in TABLE.values() if row.status == status) for status in _STATUSES}
    return {status: {"description": titles[status], "content": content} for status in _STATUSES}


def _own_id(route: APIRoute) -> str:
    return route.name


def _my_id(route: APIRoute) -> str:
    """The same routes without a user in the path: `injectTurn` → `injectTurnForMe`."""
    return f"{route.name}ForMe"


def routes() -> APIRouter:
    """All routes of /v1."""
    whole = APIRouter(prefix="/v1", responses=_problems(), dependencies=[Depends(plain_query)])
    for part in (
        turns.router,
        events.router,
        memories.router,
        changes.router,
        recall.router,
        reviews.proofs,
        relations.router,
        people.router,
    ):
        whole.include_router(
            part, prefix="/users/{user_id:segment}", dependencies=[Depends(named_user)], generate_unique_id_function=_own_id
        )
        whole.include_router(part, prefix="/me", generate_unique_id_function=_my_id)
    whole.include_router(reviews.router, generate_unique_id_function=_own_id)
    whole.include_router(relations.tenant, generate_unique_id_function=_own_id)
    return whole
