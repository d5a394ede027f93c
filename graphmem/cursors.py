"""Keyset cursors: where a page ended, as one opaque word. Pure."""

from __future__ import annotations

import base64
import binascii
import json

from graphmem.errors import InvalidInputError

Place = tuple[int, str]
"""(milliseconds, id) of the last item of a page."""


def encode(place: Place | str) -> str:
    """A place, or the key of a page, as a cursor."""
    return base64.urlsafe_b64encode(json.dumps(place, ensure_ascii=True).encode()).decode().rstrip("=")


def decode_place(cursor: str | None) -> Place | None:
    """The place of a cursor; InvalidInputError for anything else."""
    match _decoded(cursor):
        case None if cursor is None:
            return None
        case [int(at), str(mid)]:
            return at, mid
    raise _foreign()


def decode_key(cursor: str | None) -> str | None:
    """The key of a cursor; InvalidInputError for anything else."""
    match _decoded(cursor):
        case None if cursor is None:
            return None
        case str(key):
            return key
    raise _foreign()


def _decoded(cursor: str | None) -> object:
    if cursor is None:
        return None
    try:
        return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError) as fault:
        raise _foreign() from fault


def _foreign() -> InvalidInputError:
    return InvalidInputError("that is no cursor of this list", field="cursor")
