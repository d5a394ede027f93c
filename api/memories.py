"""State, list, search, read, settle and forget memories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request, Response

from api.answers import FoundOut, HistoryOut, LatestOut, MemoryOut, PageOut, RememberedOut
from api.auth import vouches
from api.call import NO_QUERY, Called, Door, Key, Segment
from api.links import link_next
from api.told import remembered_out, remembered_status
from api.types import LatestQuery, ListQuery, MemoryIn, MomentQuery
from graphmem.answers import Memory, Remembered
from graphmem.errors import ConflictError, GraphmemError, InvalidInputError, RefusedError
from graphmem.memory import Verdict

PAGE = 20
HITS = 10
_ETAG = re.compile(r'"([^"]*)"')

router = APIRouter(route_class=Door, tags=["memories"])


@router.post(
    "/memories",
    name="remember",
    status_code=201,
    dependencies=NO_QUERY,
    responses={200: {"model": RememberedOut}, 202: {"model": RememberedOut}},
)
def remember(call: Called, body: MemoryIn, key: Key, response: Response) -> RememberedOut:
    """State one memory: 201 recorded, 200 reinforced or replayed, 202 pending, in review or asked back."""
    ask = body.remember(call.zone, call.max_text)
    vouches(call.scope, body.verified_by)
    done = accepted(call.graphmem.remember(call.scope, ask, key=key))
    response.status_code = remembered_status(done)
    if done.memory is not None:
        mark(response, done.memory)
        response.headers["Location"] = f"{call.base}/memories/{quote(done.memory.mid, safe='')}"
    return remembered_out(done, call.base)


@router.get("/memories", name="listMemories")
def list_memories(call: Called, query: Annotated[ListQuery, Query()], request: Request, response: Response) -> PageOut | FoundOut:
    """What is told now, newest first, page by page; with `q` the user's valid memories by score (searchMemories)."""
    if query.q is not None:
        query.search_only()
        return FoundOut.model_validate(call.graphmem.search(call.scope, query.q, limit=query.limit or HITS, kind=query.kind))
    page = call.graphmem.memories(call.scope, query.where(call.zone), limit=query.limit or PAGE, cursor=query.cursor)
    link_next(response, request, f"{call.base}/memories", page.next)
    return PageOut.model_validate(page)


@router.get("/memories/{mid:segment}", name="getMemory", responses={304: {"description": "Not changed since the ETag of If-None-Match"}})
def get_memory(
    call: Called,
    mid: Segment,
    query: Annotated[MomentQuery, Query()],
    response: Response,
    if_none_match: Annotated[str | None, Header()] = None,
) -> MemoryOut:
    """One memory, with its ETag (version and row revision)."""
    as_of, known_at = query.moment(call.zone)
    memory = call.graphmem.memory(call.scope, mid, as_of=as_of, known_at=known_at)
    mark(response, memory)
    if if_none_match is not None and response.headers.get("etag") in {tag.strip() for tag in if_none_match.split(",")}:
        response.status_code = 304
    return MemoryOut.model_validate(memory)


@router.get("/memories/{mid:segment}/history", name="memoryHistory", dependencies=NO_QUERY)
def memory_history(call: Called, mid: Segment) -> HistoryOut:
    """All versions of the memory's slot, oldest first, and how many older ones lie in the archive."""
    return HistoryOut.model_validate(call.graphmem.versions(call.scope, mid))


@router.get("/latest/{key:segment}", name="latestMemory")
def latest_memory(call: Called, key: Segment, query: Annotated[LatestQuery, Query()]) -> LatestOut:
    """The latest valid answer of a key: one, or all where many may hold at once."""
    as_of, known_at = query.moment(call.zone)
    return LatestOut.model_validate(call.graphmem.latest(call.scope, key, subject=query.subject, as_of=as_of, known_at=known_at))


@router.delete("/memories/{mid:segment}", name="forgetMemory", status_code=204, dependencies=NO_QUERY)
def forget_memory(call: Called, mid: Segment, key: Key, if_match: Annotated[str | None, Header()] = None) -> None:
    """Forget one memory: unreadable at once on every path."""
    tag = tag_of(if_match)
    with precondition(tag):
        call.graphmem.forget(call.scope, mid, if_match=tag, key=key)


@router.post("/memories/{mid:segment}:confirm", name="confirmMemory", dependencies=NO_QUERY)
def confirm_memory(call: Called, mid: Segment, key: Key) -> RememberedOut:
    """The user confirms a pending memory: it is recorded and told from now on."""
    return remembered_out(accepted(call.graphmem.confirm(call.scope, mid, key=key)), call.base)


@router.post("/memories/{mid:segment}:reject", name="rejectMemory", dependencies=NO_QUERY)
def reject_memory(call: Called, mid: Segment, key: Key) -> MemoryOut:
    """The user rejects a pending memory: what was held before stays."""
    return MemoryOut.model_validate(call.graphmem.reject(call.scope, mid, key=key))


def accepted(done: Remembered) -> Remembered:
    """A refusal by verdict is told as a refusal: 422 without a source, else 403."""
    if done.verdict is not Verdict.REFUSED:
        return done
    raise _refusal(done.reason or "refused_by_policy")


def _refusal(reason: str) -> GraphmemError:
    if reason == "no_source":
        return InvalidInputError("a memory without a source is not kept", field="source", code="no_source")
    return RefusedError(f"refused: {reason}", code=reason)


@contextmanager
def precondition(tag: str | None) -> Iterator[None]:
    """A version conflict under an If-Match is a failed precondition: 412 instead of 409."""
    try:
        yield
    except ConflictError as error:
        if tag is None or error.code != "version_conflict":
            raise
        raise ConflictError(error.detail, code="precondition_failed", hint=error.hint, current=error.current) from error


def mark(response: Response, memory: Memory) -> None:
    """The memory's ETag beside the answer."""
    if memory.etag:
        response.headers["ETag"] = f'"{memory.etag.strip(chr(34))}"'


def tag_of(if_match: str | None) -> str | None:
    """The one strong ETag of If-Match; `*` asks for nothing but existence."""
    if if_match is None or if_match.strip() == "*":
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInputError('If-Match is one strong ETag, as "v2-7", or *', field="If-Match")
    return found[1]
