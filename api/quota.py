"""How many requests one user and one tenant may send: ASGI middleware over REST and GraphQL alike. Counters live in this process."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth import Credential, Keyring
from api.call import CREDENTIAL
from api.envelope import inner_path, reader
from api.errors import Problem, problem, response
from graphmem.errors import ConfigurationError, GraphmemError
from graphmem.settings import Settings

COUNTED = ("/v1/", "/graphql")
"""Paths that reach memories; the service's own pages are free."""

_USERS = "/v1/users/"


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits of one user and of one tenant; None: no limit."""

    user: RateLimitItem | None
    tenant: RateLimitItem | None

    @classmethod
    def of(cls, settings: Settings) -> Rates:
        """ConfigurationError for a limit that is not well-formed."""
        return cls(_rate("rate_user", settings.rate_user), _rate("rate_tenant", settings.rate_tenant))


@dataclass(frozen=True, slots=True)
class Stand:
    """One limit after a request: what is left of it, and in how many seconds there is more."""

    name: str
    rate: RateLimitItem
    remaining: int
    reset: int
    within: bool


class Quota:
    """Refuses with 429 what is above a limit, before the body is read; tells where the limits stand on every other answer.

    The request is counted for the credential's user (for an API key the one in the path, or in X-Graphmem-User) and for its tenant.
    A request without a valid credential is not counted: the door refuses it.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring, rates: Rates, now: Callable[[], float] = time.time) -> None:
        self.app = app
        self._keyring, self._rates, self._now = keyring, rates, now
        self._limiter, self._lock = SlidingWindowCounterRateLimiter(MemoryStorage()), threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not inner_path(scope).startswith(COUNTED) or not self._admitted(scope):
            await self.app(scope, receive, send)
            return
        stands = self._stands(scope)
        over = next((stand for stand in stands if not stand.within), None)
        if over is None:
            await self.app(scope, receive, _telling(send, stands))
        else:
            await response(_refusal(over), reader(scope))(scope, receive, _telling(send, stands))

    def _admitted(self, scope: Scope) -> bool:
        """Looks at the credential once, for the door too; False where there is no valid one."""
        header = dict(scope["headers"]).get(b"authorization")
        try:
            scope[CREDENTIAL] = self._keyring.credential(None if header is None else header.decode("latin-1"))
        except GraphmemError:
            return False
        return True

    def _stands(self, scope: Scope) -> list[Stand]:
        """Counts the request: for its user first, so that a user above the limit takes nothing from the tenant."""
        credential: Credential = scope[CREDENTIAL]
        user = credential.user if credential.user is not None else _named(scope)
        stands = []
        if self._rates.user is not None and user is not None:
            stands.append(self._stand("user", self._rates.user, credential.tenant, user))
        if self._rates.tenant is not None and all(stand.within for stand in stands):
            stands.append(self._stand("tenant", self._rates.tenant, credential.tenant))
        return stands

    def _stand(self, name: str, rate: RateLimitItem, *who: str) -> Stand:
        counted = (name, *(_safe(part) for part in who))
        with self._lock:  # the storage reads, then adds: two at once would both pass
            within = self._limiter.hit(rate, *counted)
            window = self._limiter.get_window_stats(rate, *counted)
        reset = max(1, math.ceil(window.reset_time - self._now()))
        return Stand(name, rate, max(0, window.remaining) if within else 0, reset, within)


def _rate(name: str, text: str) -> RateLimitItem | None:
    if not text.strip():
        return None
    try:
        return parse(text)
    except ValueError as error:
        hint = f"Set GRAPHMEM_{name.upper()} as 1200/minute, or empty for no limit."
        raise ConfigurationError(f"{name} {text!r} is no limit", hint=hint) from error


def _named(scope: Scope) -> str | None:
    """The user that an API key speaks for: in the path, or in GraphQL's header; None where it names none."""
    path = inner_path(scope)
    if path.startswith(_USERS):
        return unquote_to_bytes(path[len(_USERS) :].split("/")[0].encode("latin-1")).decode("utf-8", "replace")
    header = dict(scope["headers"]).get(b"x-graphmem-user")
    return None if header is None else unquote_to_bytes(header).decode("utf-8", "replace")


def _safe(part: str) -> str:
    """Parts of a counter's name are joined by slashes: no user id can stand for another one's counter."""
    return part.replace("%", "%25").replace("/", "%2F")


def _refusal(over: Stand) -> Problem:
    detail = f"more than {over.rate.amount} requests per {over.rate.multiples} {over.rate.GRANULARITY.name} of one {over.name}"
    return problem("rate_limited", detail, headers={"Retry-After": str(over.reset)})


def _telling(send: Send, stands: list[Stand]) -> Send:
    """Passes the answer on with RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), a member for each limit."""
    policy = ", ".join(f'"{s.name}";q={s.rate.amount};w={s.rate.get_expiry()}' for s in stands)
    left = ", ".join(f'"{s.name}";r={s.remaining};t={s.reset}' for s in stands)

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start" and stands:
            more = [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return told


__all__ = ["Quota", "Rates"]
