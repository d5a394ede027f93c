"""A row of a file as a deliberate statement of one user, or the column and reason why it is none. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast
from zoneinfo import ZoneInfo

from graphmem.answers import Remember
from graphmem.errors import InvalidInputError
from graphmem.importing.reading import Raw
from graphmem.memory import Kind, Polarity, Provenance, SourceKind
from graphmem.room import check_zone
from graphmem.scope import check_user_id

Arity = Literal["one", "many", "pole"]

DEFAULT_ARITY: Mapping[Kind, Arity] = {Kind.FACT: "one", Kind.PREFERENCE: "pole", Kind.CONTEXT: "one"}
"""Of keys outside the ontology where the file has no arity."""

_KINDS, _SOURCES = tuple(k.value for k in Kind), tuple(k.value for k in SourceKind)

YES, NO = frozenset(("true", "yes", "1", "y", "是")), frozenset(("false", "no", "0", "n", "否", ""))

_DAY = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(.*)", re.S)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What rows without them get. ref: the name of the file, as a source."""

    user: str | None = None
    zone: str = "UTC"
    ref: str = "file"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row that may be judged."""

    raw: Raw
    user: str
    ask: Remember


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was not imported: its line, the column that is wrong ("" when it is the row), the reason, the row."""

    line: int
    column: str
    reason: str
    original: Mapping[str, object]


def entry(raw: Raw, defaults: Defaults, known: Mapping[str, Kind]) -> Entry | Reject:
    """`known`: the ontology's keys with their kinds; a key among them needs no kind."""
    if raw.fault is not None:
        return Reject(raw.line, raw.column, raw.fault, raw.original)
    try:
        return _entry(raw, defaults, known)
    except InvalidInputError as fault:
        return Reject(raw.line, fault.field or "", fault.detail, raw.original)


def _entry(raw: Raw, defaults: Defaults, known: Mapping[str, Kind]) -> Entry:
    f = raw.fields
    user = check_user_id(_text(f, "user_id") or defaults.user)
    key = _text(f, "key")
    if key is None:
        raise InvalidInputError("a row needs a key", field="key")
    kind = _kind(f)
    arity = cast("Arity | None", _choice(f, "arity", ("one", "many", "pole")))
    if key in known:
        kind, arity = kind or known[key], None
    else:
        kind = kind or Kind.FACT
        arity = arity or DEFAULT_ARITY[kind]
    zone = _text(f, "zone") or defaults.zone
    check_zone(zone)
    value, ends = f.get("value"), _flag(f, "ends") or False
    if value is not None and not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    if value is None and not ends:
        raise InvalidInputError("a row needs a value; `ends` true ends what is held", field="value")
    ask = Remember(
        key=key,
        value=value,
        kind=kind,
        arity=arity,
        subject=_text(f, "subject") or "self",
        polarity=cast(Polarity, _choice(f, "polarity", ("+", "-")) or "+"),
        valid_from=_time(f, "valid_from", zone),
        valid_to=_time(f, "valid_to", zone),
        said_at=_time(f, "said_at", zone),
        zone=zone,
        confidence=_number(f, "confidence"),
        source=_source(f, defaults),
        verified=_flag(f, "verified"),
        metadata=_metadata(f),
        ends=ends,
    )
    return Entry(raw, user, ask)


def _text(f: Mapping[str, object], name: str) -> str | None:
    value = f.get(name)
    if value is None:
        return None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InvalidInputError(f"{name} is text", field=name)
    return str(value) if name == "user_id" else str(value).strip() or None


def _choice(f: Mapping[str, object], name: str, allowed: tuple[str, ...]) -> str | None:
    value = _text(f, name)
    if value is not None and value.casefold() not in allowed:
        raise InvalidInputError(f"{name} is one of {', '.join(allowed)}, not '{value}'", field=name)
    return None if value is None else value.casefold()


def _kind(f: Mapping[str, object]) -> Kind | None:
    value = _choice(f, "kind", _KINDS)
    return None if value is None else Kind(value)


def _flag(f: Mapping[str, object], name: str) -> bool | None:
    value = f.get(name)
    if value is None or isinstance(value, bool):
        return value
    if (text := str(value).strip().casefold()) in YES | NO:
        return text in YES
    raise InvalidInputError(f"{name} is true or false, not '{value}'", field=name)


def _number(f: Mapping[str, object], name: str) -> float:
    value = f.get(name, 1.0)
    try:
        return float(str(value))
    except ValueError as fault:
        raise InvalidInputError(f"{name} is a number, not '{value}'", field=name) from fault


def _source(f: Mapping[str, object], defaults: Defaults) -> Provenance:
    """`source` is a kind, or an object of kind and ref; without one the file itself is the source."""
    given = f.get("source")
    ref = _text(f, "source_ref")
    if isinstance(given, Mapping):
        ref = ref or (None if given.get("ref") is None else str(given["ref"]))
        given = given.get("kind")
    if given is None:
        return Provenance(SourceKind.IMPORT, ref or defaults.ref)
    if str(given).strip() not in _SOURCES:
        raise InvalidInputError(f"source is one of {', '.join(_SOURCES)}, not '{given}'", field="source")
    return Provenance(SourceKind(str(given).strip()), ref)


def _metadata(f: Mapping[str, object]) -> dict[str, object]:
    """What other columns held, the row's own id, and the object (or JSON text) of the metadata column."""
    given = f.get("metadata")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as fault:
            raise InvalidInputError("metadata is a JSON object", field="metadata") from fault
    if given is not None and not isinstance(given, dict):
        raise InvalidInputError("metadata is a JSON object", field="metadata")
    extra = cast("dict[str, object]", f.get("extra") or {})
    own = {"row_id": f["id"]} if f.get("id") is not None else {}
    return {**own, **extra, **cast("dict[str, object]", given or {})}


def _time(f: Mapping[str, object], name: str, zone: str) -> datetime | None:
    """ISO 8601, also with slashes (2026/1/5); without an offset in the row's zone. Numbers are seconds since 1970, or milliseconds."""
    value = f.get(name)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= 1e11 else value, UTC)
        text = str(value).strip()
        if (day := _DAY.fullmatch(text)) is not None:
            text = f"{day[1]}-{int(day[2]):02d}-{int(day[3]):02d}{day[4]}"
        at = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError) as fault:
        raise InvalidInputError(f"'{value}' is no time; write 2026-03-01T09:00:00+08:00", field=name) from fault
    return at if at.tzinfo is not None else at.replace(tzinfo=ZoneInfo(zone))
