"""Credentials → Scope: an API key of a tenant, or a signed token of one user. Nothing in a body or a filter can widen it."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
from jwt.algorithms import OKPAlgorithm

from graphmem.errors import ConfigurationError, GraphmemError, InvalidInputError, RefusedError, UnauthorizedError
from graphmem.scope import TENANT, Scope, check_user_id
from graphmem.settings import Settings

SECRET_BYTES = 32
"""RFC 7518 section 3.2: an HS256 key is at least as long as the hash."""

FRESH_SECONDS = 300
"""A proof of identity (claim `auth_time`) counts as fresh this long."""

LEEWAY_SECONDS = 30
"""Clocks of issuer and service may differ by this much."""

AUDIENCE = "graphmem"

RIGHTS = frozenset({"review", "cohort"})
"""What a token may allow beyond its user's own memory: deciding the tenant's review cases, asking over its cohorts."""

_STAFF = re.compile(r"staff:[^\s\x00-\x1f\x7f]{1,128}")
_PRINCIPAL = re.compile(r"(staff|service):[^\s\x00-\x1f\x7f]{1,128}")


@dataclass(frozen=True, slots=True)
class Credential:
    """Who asks. user None: an API key, which names the user in the path."""

    tenant: str
    principal: str
    user: str | None = None
    domain: str = "default"
    purpose: str = "assist"
    rights: frozenset[str] = field(default_factory=frozenset)
    expires_at: float | None = None
    """Seconds since 1970; None: an API key, which does not expire."""

    def scope(self, named: str | None) -> Scope:
        """The scope of one request; `named` is the user of the path, None on `/v1/me`. 403 for another user than the token's."""
        if named is not None:
            check_user_id(named)
        if self.user is None and named is None:
            raise RefusedError("an API key names no user", code="forbidden", hint="Use /v1/users/{user_id}/… with an API key.")
        if self.user is not None and named is not None and named != self.user:
            raise RefusedError("the token is for one user only", code="forbidden", hint="Use /v1/me/… with a user token.")
        user = self.user if named is None else named
        return Scope(self.tenant, user or "", self.domain, self.purpose, self.principal, self.rights)


def vouches(scope: Scope, who: str | None) -> None:
    """A `verified_by` of a body must fit the credential: the principal itself, or, said by a service key, the user or staff."""
    if who is None or who == scope.principal:
        return
    if scope.principal.startswith("service:") and (who == "user" or _STAFF.fullmatch(who)):
        return
    raise RefusedError(
        "verified_by does not fit the credential",
        code="forbidden",
        hint="Leave it out, or vouch with the API key of the service that checked it.",
    )


class Keyring:
    """API keys and token keys of this service; turns an Authorization header into a Credential. Thread safe, no I/O."""

    def __init__(self, settings: Settings, keys: Mapping[str, str] | None = None, now: Callable[[], float] = time.time) -> None:
        self._pepper = secrets.token_bytes(32)
        self._now = now
        self._keys = [self._entry(key, tenant) for key, tenant in {**settings.api_keys, **(keys or {})}.items()]
        self._token_keys = _token_keys(settings)

    def credential(self, header: str | None) -> Credential:
        """The credential of an Authorization header (as received, latin-1); UnauthorizedError without a valid one."""
        scheme, _, shown = (header or "").partition(" ")
        shown = shown.strip()
        if scheme.lower() != "bearer" or not shown:
            raise UnauthorizedError("no bearer credential was sent")
        found = self._by_key(shown.encode("latin-1", "replace"))
        if found is None and shown.count(".") == 2:
            found = self._by_token(shown)
        if found is None:
            raise UnauthorizedError("the credential is not valid")
        return found

    def _entry(self, key: str, tenant: str) -> tuple[bytes, Credential]:
        if not key.strip():
            raise ConfigurationError("an API key is blank", hint="Set GRAPHMEM_API_KEYS to keys of 32 random bytes.")
        if not TENANT.fullmatch(tenant):
            raise ConfigurationError("an API key has no valid tenant: 1 to 63 of a-z, 0-9, '_' and '-'")
        raw = key.encode()
        return self._digest(raw), Credential(tenant, f"service:{key_id(raw)}")

    def _digest(self, raw: bytes) -> bytes:
        return hmac.digest(self._pepper, raw, "sha256")

    def _by_key(self, raw: bytes) -> Credential | None:
        """All keys are compared, each in constant time: the time tells nothing about them."""
        shown, found = self._digest(raw), None
        for digest, credential in self._keys:
            if hmac.compare_digest(digest, shown):
                found = credential
        return found

    def _by_token(self, token: str) -> Credential | None:
        try:
            algorithm = str(jwt.get_unverified_header(token).get("alg"))
            if algorithm not in self._token_keys:
                return None
            # The key is tied to its algorithm, so a public key is never taken as an HS256 secret.
            claims = jwt.decode(
                token,
                self._token_keys[algorithm],
                algorithms=[algorithm],
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "tenant", "user"], "verify_aud": False},
            )
            return self._of_claims(claims)
        except (jwt.PyJWTError, GraphmemError) as error:
            raise UnauthorizedError("the credential is not valid") from error

    def _of_claims(self, claims: Mapping[str, Any]) -> Credential:
        audience = claims.get("aud", AUDIENCE)
        if AUDIENCE not in (audience if isinstance(audience, list) else [audience]):
            raise UnauthorizedError("the token is for another service")
        tenant, user = claims["tenant"], claims["user"]
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            raise InvalidInputError("no valid tenant", field="tenant")
        return Credential(
            tenant=tenant,
            principal=_actor(claims),
            user=check_user_id(user),
            domain=_word(claims, "domain", "default"),
            purpose=_word(claims, "purpose", "assist"),
            rights=_rights(claims) | ({"fresh_proof"} if self._fresh(claims.get("auth_time")) else frozenset()),
            expires_at=float(claims["exp"]),
        )

    def _fresh(self, proved: object) -> bool:
        if isinstance(proved, bool) or not isinstance(proved, int | float):
            return False
        return -LEEWAY_SECONDS <= self._now() - proved <= FRESH_SECONDS


def key_id(raw: bytes) -> str:
    """Public name of an API key: 8 hex; keys are random, so it gives nothing away."""
    return hmac.digest(b"graphmem key id", raw, "sha256").hex()[:8]


def _actor(claims: Mapping[str, Any]) -> str:
    """`user`, or who acts for the user (claim `act`, RFC 8693: a delegation)."""
    act = claims.get("act")
    if act is None:
        return "user"
    subject = act.get("sub") if isinstance(act, dict) else None
    if not isinstance(subject, str) or not _PRINCIPAL.fullmatch(subject):
        raise InvalidInputError("act.sub is `staff:…` or `service:…`", field="act")
    return subject


def _rights(claims: Mapping[str, Any]) -> frozenset[str]:
    """The rights that the issuer of the token gives (claim `rights`); those this service does not know are left out."""
    given = claims.get("rights", [])
    if not isinstance(given, list) or not all(isinstance(right, str) for right in given):
        raise InvalidInputError("rights is a list of words", field="rights")
    return RIGHTS & frozenset(given)


def _word(claims: Mapping[str, Any], name: str, default: str) -> str:
    value = claims.get(name, default)
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_.:-]{1,128}", value):
        raise InvalidInputError(f"no valid {name}", field=name)
    return value


def _token_keys(settings: Settings) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    if settings.token_secret is not None:
        secret = settings.token_secret.get_secret_value().encode()
        if len(secret) < SECRET_BYTES:
            raise ConfigurationError(f"token_secret has {len(secret)} bytes; HS256 needs {SECRET_BYTES} or more")
        keys["HS256"] = secret
    if settings.token_public_key is not None:
        try:
            keys["EdDSA"] = OKPAlgorithm().prepare_key(settings.token_public_key)
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise ConfigurationError("token_public_key is not an Ed25519 or Ed448 public key in PEM") from error
    return keys
