"""The small checked words that bodies and queries are made of: texts, ids, moments, metadata. All pure."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, StrictStr, WithJsonSchema
from pydantic_core import PydanticCustomError

from graphmem.memory import utc

ID_MAX = 256
"""Characters of an id, key or name (api.md)."""

METADATA_BYTES = 16_384
"""Bytes of a metadata object as UTF-8 JSON."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROL_OR_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INT_MAX = 2**63


def fault(text: str, control: re.Pattern[str] = _CONTROL) -> tuple[str, str] | None:
    """Code and words of what no text may hold: lone surrogates (no UTF-8), control characters other than line breaks and tabs."""
    if _SURROGATE.search(text):
        return "lone_surrogate", "holds half of a surrogate pair, which is no character"
    if control.search(text):
        return "control_character", "holds control characters"
    return None


def is_blank(text: str) -> bool:
    """No character one could see: only separators, controls and format characters."""
    return all(unicodedata.category(c)[0] in "ZC" for c in text)


def _sound(text: str) -> str:
    if found := fault(text):
        raise PydanticCustomError(*found)
    return text


def _said(text: str) -> str:
    if found := fault(text):
        raise PydanticCustomError(*found)
    if is_blank(text):
        raise PydanticCustomError("blank", "is blank")
    return text


def _name(text: str) -> str:
    if found := fault(text, _CONTROL_OR_BREAK):
        raise PydanticCustomError(*found)
    if is_blank(text):
        raise PydanticCustomError("blank", "is blank")
    if len(text) > ID_MAX:
        raise PydanticCustomError("too_long", f"has more than {ID_MAX} characters")
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(_name(name))
    except (KeyError, ValueError, OSError):
        raise PydanticCustomError("unknown_zone", "is no IANA time zone") from None
    return name


def _moment(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("wrong_type", "is an ISO 8601 time as text")
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise PydanticCustomError("bad_time", "is no ISO 8601 time (in a query write + as %2B)") from None
    offset = at.utcoffset()
    # A day at each end keeps every zone's time inside Python's and Neo4j's calendars.
    if not 2 <= at.year <= 9998 or (offset is not None and offset.total_seconds() % 60):
        raise PydanticCustomError("bad_time", "is outside the years 2 to 9998, or its offset has seconds")
    return at


def _metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PydanticCustomError("wrong_type", "is an object")
    for key, item in value.items():
        if not isinstance(key, str) or is_blank(key) or len(key) > ID_MAX or fault(key, _CONTROL_OR_BREAK):
            raise PydanticCustomError("bad_key", f"has a key that is blank, above {ID_MAX} characters or not text")
        for one in item if isinstance(item, list) else [item]:
            _scalar(one)
    if len(json.dumps(value, ensure_ascii=False).encode()) > METADATA_BYTES:
        raise PydanticCustomError("too_long", f"is above {METADATA_BYTES} bytes")
    return value


def _scalar(value: object) -> None:
    if isinstance(value, str):
        _sound(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise PydanticCustomError("bad_number", "holds a number that is not finite")
    elif isinstance(value, int):
        if not -_INT_MAX <= value < _INT_MAX:
            raise PydanticCustomError("bad_number", "holds an integer above 64 bits")
    elif value is not None:
        raise PydanticCustomError("too_deep", "holds only texts, numbers, booleans, nulls and lists of them")


def stamp(at: datetime) -> str:
    """ISO 8601 in UTC with offset, always with milliseconds."""
    return utc(at).isoformat(timespec="milliseconds")


def aware(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    """UTC time; without an offset it is read in the zone: an ambiguous time is the first, a skipped one shifts forward."""
    if at is None:
        return None
    return utc(at.replace(tzinfo=zone, fold=0) if at.tzinfo is None else at)


_TIME = WithJsonSchema({"type": "string", "format": "date-time"})
Sound = Annotated[StrictStr, AfterValidator(_sound)]
Said = Annotated[StrictStr, AfterValidator(_said)]
Name = Annotated[StrictStr, AfterValidator(_name)]
Zone = Annotated[StrictStr, AfterValidator(_zone)]
Moment = Annotated[datetime, BeforeValidator(_moment), _TIME]
Told = Annotated[datetime, PlainSerializer(stamp, return_type=str), _TIME]
Metadata = Annotated[dict[str, Any], BeforeValidator(_metadata)]
Role = Literal["user", "assistant", "system", "tool"]
