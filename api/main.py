"""The application: middleware, routes, refusals, and the life of the façade behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from api import graphql, rest, service
from api.auth import Keyring
from api.call import DoorError, State
from api.envelope import Envelope, Meter, reader
from api.errors import Problem, invalid, problem, problem_of, response
from api.live import Hub
from api.openapi import document
from api.opener import Opener, open_by
from api.quota import Quota, Rates
from graphmem.errors import ConfigurationError, GraphmemError
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.app import Graphmem

THREADS = 80
"""Routes are plain functions: this many run at once, others wait in order (anyio's own default is 40)."""

_ROUTER_CODES = {400: "malformed_json", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def create_app(graphmem: Graphmem | None = None, settings: Settings | None = None, *, keys: Mapping[str, str] | None = None) -> FastAPI:
    """The application. A façade that is given stays its owner's; without one it is opened at the start and closed at the end.

    keys adds API keys (key → tenant) to those of the settings. Raises ConfigurationError for a weak secret, a bad key or zone.
    """
    settings = settings or (graphmem.settings if graphmem is not None else Settings())
    opener = Opener(graphmem, open_by(settings))
    meter, keyring = Meter(), Keyring(settings, keys)
    app = FastAPI(
        title="graphmem",
        version="1",
        description="User memory of AI agents, kept as a graph.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(opener),
    )
    app.state.graphmem = State(keyring, opener, _zone(settings), settings.max_text, Hub(opener.graphmem))
    app.add_middleware(Quota, keyring=keyring, rates=Rates.of(settings))
    app.add_middleware(Envelope, meter=meter)  # outermost: the last one that is added
    app.include_router(service.routes(meter))
    app.include_router(rest.routes())
    app.include_router(graphql.routes(settings))
    app.router.routes.append(graphql.live(settings))
    app.mount("/static", StaticFiles(directory=service.STATIC))
    for kind in (GraphmemError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _refused)
    document(app)
    return app


def _lifespan(opener: Opener) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        await anyio.to_thread.run_sync(opener.start)
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(opener.stop)

    return lifespan


def _zone(settings: Settings) -> str:
    try:
        return ZoneInfo(settings.zone).key
    except (KeyError, ValueError, OSError) as error:
        raise ConfigurationError(f"zone {settings.zone!r} is no IANA time zone", hint="Set GRAPHMEM_ZONE, as Asia/Shanghai.") from error


def _told(request: Request, told: Problem) -> Response:
    return response(told, reader(request.scope))


async def _refused(request: Request, error: Exception) -> Response:
    """Every refusal of façade, validation, door and router, as a problem."""
    if isinstance(error, GraphmemError):
        return _told(request, problem_of(error))
    if isinstance(error, RequestValidationError):
        return _told(request, invalid(error.errors()))
    if isinstance(error, DoorError):
        return _told(request, error.told)
    if isinstance(error, HTTPException):
        code = _ROUTER_CODES.get(error.status_code, "internal")
        return _told(request, problem(code, str(error.detail), headers=error.headers))
    raise error
