"""Names that decide identity: slots, concept keys, operations. Pure; the only place that builds them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from uuid import UUID, uuid5

from graphmem.memory import Kind
from graphmem.scope import Scope

PART_BYTES = 120
"""A longer part is shortened with a hash: an index entry holds 8 kB (design section 3)."""

OPERATION = UUID("6f0d0c1e-6b0d-5b6e-9b52-6f6d656d0001")
"""Namespace of operation ids."""

_HAN = r"\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SPACE_BY_HAN = re.compile(rf"(?<=[{_HAN}])\s+|\s+(?=[{_HAN}])")
_SEPARATOR = re.compile(r"[%|~]")
_KIND_LETTER = {Kind.FACT: "F", Kind.PREFERENCE: "P", Kind.CONTEXT: "C"}


def part(text: str) -> str:
    """One part of a slot: NFC, separators escaped, at most PART_BYTES bytes."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if _SEPARATOR.search(text) is not None:
        text = text.replace("%", "%25").replace("|", "%7C").replace("~", "%7E")
    return _short(text)


def _short(text: str) -> str:
    if len(text) * 4 <= PART_BYTES or len(text.encode()) <= PART_BYTES:
        return text
    head = text.encode()[:40].decode(errors="ignore")
    return f"{head}~{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def folded(text: str) -> str:
    """How open values are compared: NFKC, case folded, one space at most, none beside Han characters."""
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    text = " ".join(text.casefold().split())
    return _SPACE_BY_HAN.sub("", text) if " " in text else text


def ckey_of_text(value: str) -> str:
    """Concept key of an open value: `text:` + its folded form (bounded like a slot part)."""
    return _short("text:" + folded(value))


def slot(scope: Scope, kind: Kind, key: str, subject: str, concept: str = "") -> str:
    """`1|tenant|user|K|key|subject|concept`; concept is empty where one value holds."""
    return slot_prefix(scope, kind, key, subject) + part(concept)


def slot_prefix(scope: Scope, kind: Kind | None = None, key: str | None = None, subject: str | None = None) -> str:
    """Start of all slots of a user, a kind, a key or a subject, always ending in a separator."""
    return _prefix(scope.tenant, scope.user, kind, key, subject)


@lru_cache(maxsize=4096)
def _prefix(tenant: str, user: str, kind: Kind | None, key: str | None, subject: str | None) -> str:
    parts = ["1", part(tenant), part(user)]
    if kind is not None:
        parts.append(_KIND_LETTER[kind])
        if key is not None:
            parts.append(part(key))
            if subject is not None:
                parts.append(part(subject))
    return "|".join(parts) + "|"


def operation_id(scope: Scope, route: str, key: str) -> str:
    """UUIDv5(tenant; user, route, key): the same request is the same operation, in any process."""
    return str(uuid5(uuid5(OPERATION, scope.tenant), "\x1f".join((scope.user, route, key))))


def source_ref(session_id: str, turn_id: str) -> str:
    """`session/turn`, the name of a turn as a source; a slash inside the session id is escaped, so that no two turns share one."""
    return f"{session_ref(session_id)}/{turn_id}"


def session_ref(session_id: str) -> str:
    """A session id as it stands in source refs."""
    return session_id.replace("%", "%25").replace("/", "%2F")
