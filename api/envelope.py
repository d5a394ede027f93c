"""What wraps every request: its id, its path as it was sent, the bound on its body, its measurement, and a mask over what went wrong."""

from __future__ import annotations

import logging
import re
import time
import traceback
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import Reader, problem, response
from api.language import LANGUAGE, language_of

BODY_MAX = 8 * 2**20
"""Bytes of a request body: 500 ordinary turns fit, and one text of the longest allowed, every character escaped."""

REQUEST_ID = "graphmem.request_id"
_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PUBLIC = [(b"x-content-type-options", b"nosniff")]
_PERSONAL = [*_PUBLIC, (b"cache-control", b"no-store")]
"""What is told about a person is kept by no cache on the way: forgetting is at once on every path."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_log = logging.getLogger("graphmem.api")


class Meter:
    """Requests by route template (without the user's prefix), method and status; no user, no tenant, no id among the labels."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._count = Counter("graphmem_http_requests", "Requests answered", ["route", "method", "status"], registry=self.registry)
        self._seconds = Histogram("graphmem_http_request_seconds", "Time to the whole answer", ["route", "method"], registry=self.registry)

    def seen(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path_format", None) or "unmatched"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._count.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)


class Envelope:
    """ASGI middleware. Everything below it may raise: the caller then gets a 500 problem without the text of the fault."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self.app = app
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        _prepare(scope)
        reply = _Reply(scope, send)
        begun = time.perf_counter()
        try:
            await self.app(scope, _bounded(scope, receive), reply.send)
        except Exception as error:
            _log.error(
                "request %s failed: %s\n%s", scope[REQUEST_ID], type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            )
            if reply.status is None:
                masked = problem("internal", "Unexpected error")
                await response(masked, reader(scope))(scope, receive, reply.send)
        finally:
            self.meter.seen(scope, reply.status or 500, time.perf_counter() - begun)


def _prepare(scope: Scope) -> None:
    """Gives the request its id and the language of its messages, and routes by the path as sent.

    A `%2F` inside an id is no separator; ids are decoded once, later.
    """
    headers = dict(scope["headers"])
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    scope[REQUEST_ID] = given if _GIVEN.fullmatch(given) else uuid4().hex
    scope[LANGUAGE] = language_of(headers.get(b"accept-language", b"").decode("latin-1"))
    if raw := scope.get("raw_path"):
        scope["path"] = raw.split(b"?")[0].decode("latin-1")


def inner_path(scope: Scope) -> str:
    """The path within the application, also where it stands behind a prefix (`root_path`)."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def reader(scope: Scope) -> Reader:
    """Whom a refusal of this request is told to."""
    return Reader(scope["path"], scope[REQUEST_ID], scope[LANGUAGE])


class _Reply:
    """Passes the answer on with the headers every answer has; remembers its status."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._id = scope[REQUEST_ID].encode()
        self._more = _PERSONAL if inner_path(scope).startswith("/v1/") else _PUBLIC
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), (b"x-request-id", self._id), *self._more]}
        await self._send(message)


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """A receive that refuses bodies above BODY_MAX, by their announced length or by what came in."""
    announced = dict(scope["headers"]).get(b"content-length", b"0")
    left = BODY_MAX if not announced.isdigit() or int(announced) <= BODY_MAX else -1

    async def bounded() -> Message:
        nonlocal left
        if left >= 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if left >= 0:
                return message
        raise HTTPException(413, f"the body is above {BODY_MAX} bytes")

    return bounded
