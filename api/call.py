"""What a route gets: the façade, the verified scope, the tenant's zone. The credential is checked before the body is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn
from urllib.parse import quote, unquote_to_bytes

from fastapi import Depends, Header, Path, Request
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.auth import Keyring
from api.errors import Problem, problem
from api.words import Name
from graphmem.errors import InvalidInputError
from graphmem.scope import Scope

if TYPE_CHECKING:
    from api.live import Hub
    from api.opener import Opener
    from graphmem.app import Graphmem

CREDENTIAL = "graphmem.credential"
"""Where a request's scope holds its credential."""

_KEY_MAX = 255


class SegmentConvertor(Convertor[str]):
    """One path segment, possibly empty, percent-decoded exactly once; bytes that are no UTF-8 become lone surrogates, which ids refuse."""

    regex = "[^/]*"

    def convert(self, value: str) -> str:
        return unquote_to_bytes(value.encode("latin-1")).decode("utf-8", "surrogateescape")

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


register_url_convertor("segment", SegmentConvertor())


@dataclass(frozen=True, slots=True)
class State:
    """What an application holds (`app.state.graphmem`): keys, opener, the tenant's zone, the longest text (characters), what is watched."""

    keyring: Keyring
    opener: Opener
    zone: str
    max_text: int
    live: Hub


@dataclass(frozen=True, slots=True)
class Call:
    """One request after its credential: `base` is the path before `/memories`, for links."""

    graphmem: Graphmem
    scope: Scope
    base: str
    zone: str
    max_text: int


class DoorError(HTTPException):
    """A refusal of the door itself, as a problem."""

    def __init__(self, told: Problem) -> None:
        super().__init__(told.status, told.detail, headers=dict(told.headers))
        self.told = told


def state_of(request: Request) -> State:
    """The application's state."""
    state: State = request.app.state.graphmem
    return state


def call_of(request: Request) -> Call:
    """Scope from credential and path, then the façade (503 while a store is away)."""
    state = state_of(request)
    named = request.path_params.get("user_id")
    scope = request.scope[CREDENTIAL].scope(named)
    root = request.scope.get("root_path", "")
    base = f"{root}/v1/me" if named is None else f"{root}/v1/users/{quote(named, safe='')}"
    return Call(state.opener.graphmem(), scope, base, state.zone, state.max_text)


def idempotency_key(
    idempotency_key: Annotated[
        str | None, Header(description="Makes a repeated request the same operation; 1 to 255 visible characters")
    ] = None,
) -> str | None:
    """The Idempotency-Key header, checked."""
    key = idempotency_key
    if key is not None and (not 1 <= len(key) <= _KEY_MAX or not key.isascii() or not key.isprintable() or key.isspace()):
        raise InvalidInputError(f"an Idempotency-Key is 1 to {_KEY_MAX} visible ASCII characters", field="Idempotency-Key")
    return key


def named_user(
    user_id: Annotated[str, Path(description="1 to 256 characters, exact, percent-encoded once", max_length=256, min_length=1)],
) -> None:
    """Puts the user of the path into the document; call_of reads it."""


def plain_query(request: Request) -> None:
    """A query parameter given twice has no single meaning: 422."""
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError("is given more than once", field=name, code="repeated")


def no_query(request: Request) -> None:
    """Routes without parameters refuse any, so that a misspelt option never passes silently."""
    for name in request.query_params:
        raise InvalidInputError("is no parameter of this route", field=name, code="unknown_field")


Called = Annotated[Call, Depends(call_of)]
Key = Annotated[str | None, Depends(idempotency_key)]
Segment = Annotated[Name, Path()]
NO_QUERY = [Depends(no_query)]


class _JsonRequest(Request):
    """Reads JSON strictly: UTF-8, no NaN or Infinity, bounded nesting (Python's own recursion bound)."""

    async def json(self) -> Any:
        body = await self.body()
        try:
            return json.loads(body.decode(), parse_constant=_refuse)
        except RecursionError:
            raise DoorError(problem("invalid_input", "the body is nested too deeply")) from None
        except ValueError:
            raise DoorError(problem("malformed_json", "the body is not JSON in UTF-8")) from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


class Door(APIRoute):
    """A route of /v1: credential first, then content type, then the body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if CREDENTIAL not in request.scope:  # the quota has looked already, unless there is none
                request.scope[CREDENTIAL] = state_of(request).keyring.credential(request.headers.get("authorization"))
            if self.body_field is not None and not _is_json(request.headers.get("content-type")):
                raise DoorError(problem("unsupported_media_type", "the body must be JSON"))
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


def _is_json(content_type: str | None) -> bool:
    kind = (content_type or "").split(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
