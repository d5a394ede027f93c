"""Events of a file for `graphmem event`: JSON lines, checked before anything is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

from graphmem.commands.times import moment
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.events import Event

FIELDS = ("name", "at", "data", "ref", "verified_by")
"""Of an event, as in `POST …/events`."""


def events_of(file: Path) -> list[Event]:
    """The events of a file (`-`: stdin), in order. InvalidInputError names the line that is wrong."""
    if str(file) == "-":
        text = sys.stdin.read()
    elif file.is_file():
        text = file.read_text(encoding="utf-8-sig")
    else:
        raise NotFoundError(f"there is no file {file}", hint="name a file of JSON lines, or - for stdin.")
    found = [_event(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not found:
        raise InvalidInputError("there is no event", field="file", hint='write {"name": "appointment_booked", "data": {…}} on a line.')
    return found


def _event(number: int, line: str) -> Event:
    def wrong(words: str) -> NoReturn:
        raise InvalidInputError(f"line {number}: {words}", field="file", hint=f"an event is a JSON object with {', '.join(FIELDS)}.")

    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"line {number} is no JSON ({error})", field="file", code="bad_json") from error
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        wrong("this is no object with a name")
    for name in given:
        if name not in FIELDS:
            wrong(f"'{name}' is no field of an event")
    if not isinstance(given.get("data", {}), dict):
        wrong("data is no object")
    for name in ("at", "ref", "verified_by"):
        if not isinstance(given.get(name, ""), str):
            wrong(f"{name} is no text")
    return Event(given["name"], moment(given.get("at"), "at"), given.get("data", {}), given.get("ref"), given.get("verified_by"))
