"""What an application's event says of the user: a table from event names to typed statements (packs/events.yaml). Pure after loading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from graphmem.answers import PendingItem, Remember, Stored
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind, NotStored, Provenance, SourceKind, Text2
from graphmem.ontology import PACKS, Ontology
from graphmem.packfile import YAML_SUFFIXES, Entry, read_yaml

FIELDS = ("key", "kind", "arity", "value", "until", "subject", "optional", "ends")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
OpenArity = Literal["one", "many", "pole"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in the calling application. at None: the database clock dates it. ref: the application's own id of it.

    verified_by: the principal who vouches, checked against the credential by the door.
    """

    name: str
    at: datetime | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    ref: str | None = None
    verified_by: str | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """One statement that an event makes: names of fields of its data; kind and arity only for keys outside the ontology."""

    key: str
    value: str
    kind: Kind | None = None
    arity: OpenArity | None = None
    until: str | None = None
    subject: str | None = None
    optional: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class EventRule:
    """One row of the table."""

    name: str
    label: Text2
    writes: tuple[Write, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of data it reads, in order."""
        return tuple(dict.fromkeys(f for w in self.writes for f in (w.value, w.until, w.subject) if f is not None))


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of an event."""

    name: str
    replayed: bool
    stored: tuple[Stored, ...]
    pending: tuple[PendingItem, ...]
    not_stored: tuple[NotStored, ...]
    revision: int


Events = Mapping[str, EventRule]


def load_events(ontology: Ontology, paths: Sequence[Path] = ()) -> Events:
    """The built-in events and those of the packs at `paths`; a later pack adds events or replaces one. PackError on any mistake."""
    found: dict[str, EventRule] = {}
    for path in (PACKS / "events.yaml", *paths):
        section = read_yaml(path).get("events") if path.suffix.lower() in YAML_SUFFIXES else None
        for name, entry in section.fields().items() if section is not None else ():
            found[name] = _rule(name, entry, ontology)
    return MappingProxyType(found)


def _rule(name: str, entry: Entry, ontology: Ontology) -> EventRule:
    if not _NAME.fullmatch(name):
        raise entry.fail(f"the event {name!r} must be a-z, 0-9 and '_', starting with a letter, at most 63 characters")
    got = entry.fields(("label", "writes"), required=("label", "writes"))
    writes = tuple(_write(item, ontology) for item in got["writes"].items())
    if not writes:
        raise got["writes"].fail(f"the event {name!r} writes nothing; it needs one entry or more")
    return EventRule(name, got["label"].text2(), writes)


def _write(entry: Entry, ontology: Ontology) -> Write:
    got = entry.fields(FIELDS, required=("key", "value"))
    for name in ("key", "value", "until", "subject"):
        if name in got and not _NAME.fullmatch(got[name].text()):
            raise got[name].fail(f"{got[name].what} is {got[name].text()!r}; it must be a-z, 0-9 and '_', starting with a letter")
    key = got["key"].text()
    kind = Kind(got["kind"].choice([k.value for k in Kind])) if "kind" in got else None
    arity = cast(OpenArity, got["arity"].choice(("one", "many", "pole"))) if "arity" in got else None
    known = ontology.get(key)
    if known is None and (kind is None or arity is None):
        raise got["key"].fail(f"{key!r} is no key of the ontology: name its kind and arity")
    if known is not None and (arity is not None or kind not in (None, known.kind)):
        raise got["key"].fail(f"{key!r} is a {known.kind.value} key of the ontology: leave out its kind and arity")
    return Write(
        key=key,
        value=got["value"].text(),
        kind=kind,
        arity=arity,
        until=got["until"].text() if "until" in got else None,
        subject=got["subject"].text() if "subject" in got else None,
        optional=got["optional"].flag() if "optional" in got else False,
        ends=got["ends"].flag() if "ends" in got else False,
    )


def asks(event: Event, events: Events) -> tuple[Remember, ...]:
    """The deliberate statements that an event makes. InvalidInputError: an unknown event or field, a missing or wrong value."""
    rule = events.get(event.name)
    if rule is None:
        raise InvalidInputError(
            f"'{event.name}' is no event of this service; known: {', '.join(events)}", field="name", code="unknown_event"
        )
    for name in event.data:
        if name not in rule.fields:
            known = ", ".join(rule.fields)
            raise InvalidInputError(f"is no field of '{rule.name}'; known: {known}", field=f"data/{name}", code="unknown_field")
    found = tuple(_ask(event, write) for write in rule.writes if event.data.get(write.value) is not None or not write.optional)
    if not found:
        raise InvalidInputError(f"'{rule.name}' needs one of {', '.join(w.value for w in rule.writes)}", field="data", code="missing")
    return found


def _ask(event: Event, write: Write) -> Remember:
    return Remember(
        key=write.key,
        value=_text(event, write.value),
        kind=write.kind,
        arity=write.arity,
        subject=_text(event, write.subject) if write.subject is not None and event.data.get(write.subject) is not None else "self",
        valid_to=_moment(event, write.until),
        said_at=event.at,
        source=Provenance(SourceKind.EVENT, event.ref or event.name, event.verified_by),
        ends=write.ends,
    )


def _text(event: Event, name: str) -> str:
    value = event.data.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInputError(
            f"'{event.name}' needs text or a number here", field=f"data/{name}", code="missing" if value is None else None
        )
    return str(value)


def _moment(event: Event, name: str | None) -> datetime | None:
    value = event.data.get(name) if name is not None else None
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise InvalidInputError("is no ISO 8601 time with an offset", field=f"data/{name}", code="bad_time")
    return at
