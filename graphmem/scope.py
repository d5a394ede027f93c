"""Who asks for whom. A Scope comes only from a verified credential, never from a body or a filter."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from graphmem.errors import InvalidInputError

TENANT = re.compile(r"[a-z0-9_-]{1,63}")
"""Tenant ids name collections (design section 7)."""

USER_ID_MAX = 256
"""Characters in a user id (api.md)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """tenant + user + owner domain + purpose, and the principal who vouches (`verified_by`)."""

    tenant: str
    user: str
    domain: str = "default"
    purpose: str = "assist"
    principal: str = "user"
    rights: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, str) or not TENANT.fullmatch(self.tenant):
            raise InvalidInputError("a tenant id is 1 to 63 of a-z, 0-9, '_' and '-'", field="tenant")
        check_user_id(self.user)


@dataclass(frozen=True, slots=True)
class TenantScope:
    """A whole tenant, and who asks: for what belongs to no one user. Made only from a tenant's own credential."""

    tenant: str
    principal: str
    rights: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, str) or not TENANT.fullmatch(self.tenant):
            raise InvalidInputError("a tenant id is 1 to 63 of a-z, 0-9, '_' and '-'", field="tenant")


def check_user_id(user: object) -> str:
    """Return the user id unchanged: 1 to 256 characters, exact, no trimming, any script, no control characters or lone surrogates."""
    if not isinstance(user, str) or not 1 <= len(user) <= USER_ID_MAX:
        raise InvalidInputError(f"a user id is text of 1 to {USER_ID_MAX} characters", field="user_id")
    if not user.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in user):
        raise InvalidInputError("a user id holds no control characters or lone surrogates", field="user_id")
    return user
