"""A canonical export back into a tenant: every row as it was, with its ids, times, versions, decisions and sources."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from graphmem.errors import InvalidInputError
from graphmem.exporting import VERSION, Person, Transfer
from graphmem.importing.files import Opened
from graphmem.scope import Scope, check_user_id

NAMES = {"session": "sessions", "memory": "memories", "review": "reviews", "change": "changes"}


@dataclass
class _Held:
    """A user whose lines are being read."""

    user_id: str
    properties: Mapping[str, object]
    records: dict[str, list[Mapping[str, object]]] = field(default_factory=lambda: {name: [] for name in NAMES.values()})

    def person(self) -> Person:
        return Person(self.user_id, self.properties, **self.records)


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back. memories: those that were not there yet."""

    users: int
    memories: int
    seconds: float


def restore(
    transfer: Transfer, tenant: str, file: Opened, progress: Callable[[str, int, int, float], None] | None = None, *, dry_run: bool = False
) -> Restored:
    """Bring an export back, user by user; killed anywhere, the same again makes nothing twice. InvalidInputError names a wrong line."""
    began, users, memories = time.monotonic(), 0, 0
    for found in _read(file):
        if not isinstance(found, Person):
            if not dry_run:
                transfer.put_keys(tenant, [found])
            continue
        scope = Scope(tenant, found.user_id)
        users += 1
        memories += len(found.memories) if dry_run else transfer.put(scope, found)
        if progress is not None:
            progress("writing", memories, 0, time.monotonic() - began)
    return Restored(users, memories, round(time.monotonic() - began, 3))


def _read(file: Opened) -> Iterator[Person | Mapping[str, object]]:
    """Open keys, then people, each when it is complete."""
    held: _Held | None = None
    with file.path.open(encoding=file.encoding) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            record = _record(line, number)
            name = record.pop("type", None)
            if number == 1:
                _check_header(record)
            elif name == "key":
                yield record
            elif name == "user":
                if held is not None:
                    yield held.person()
                held = _Held(check_user_id(record.get("user_id")), cast(Mapping[str, object], record.get("properties") or {}))
            elif held is not None and name in NAMES and record.pop("user_id", None) == held.user_id:
                held.records[NAMES[str(name)]].append(record)
            else:
                raise InvalidInputError(f"line {number} belongs to no user before it", field="file", code="bad_export")
    if held is not None:
        yield held.person()


def _record(line: str, number: int) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError as fault:
        raise InvalidInputError(f"line {number} is no JSON ({fault})", field="file", code="bad_export") from fault
    if not isinstance(found, dict):
        raise InvalidInputError(f"line {number} is no object", field="file", code="bad_export")
    return found


def _check_header(record: Mapping[str, object]) -> None:
    if record.get("graphmem") != "export" or record.get("version") != VERSION:
        raise InvalidInputError(
            f"the first line is not the header of a graphmem export of version {VERSION}", field="file", code="bad_export"
        )
