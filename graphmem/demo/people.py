"""The people of the demo: packs/demo.yaml as dated turns. Pure: now is an argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

import yaml

from graphmem.memory import Turn

FILE = Path(__file__).parent.parent / "packs" / "demo.yaml"
BETWEEN = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of one person, and when it was said. `chinese`: the person speaks Chinese."""

    user: str
    chinese: bool
    at: datetime
    turn: Turn


def people(now: datetime, path: Path = FILE) -> list[Said]:
    """All turns of all people, oldest first, none later than `now` (aware)."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    said = [turn for person in raw["people"] for turn in _person(person, now)]
    return sorted(said, key=lambda s: s.at)


def _person(person: dict[str, Any], now: datetime) -> Iterator[Said]:
    user, zone = cast(str, person["user"]), cast(str, person["zone"])
    chinese = any("\u4e00" <= c <= "\u9fff" for c in user)
    for session, turns in zip(person["sessions"], person["turns"], strict=True):
        begin = _begin(session, ZoneInfo(zone), now)
        for number, entry in enumerate(turns):
            ((who, text),) = entry.items()
            role: Literal["user", "assistant"] = "user" if who == "u" else "assistant"
            at = begin + number * BETWEEN
            yield Said(user, chinese, at, Turn(text, role=role, session_id=session["id"], turn_id=f"t-{number + 1}", at=at, zone=zone))


def _begin(session: dict[str, str], zone: ZoneInfo, now: datetime) -> datetime:
    count, unit = int(session["ago"][:-1]), session["ago"][-1]
    if unit == "h":
        return now - timedelta(hours=count)
    day = now.astimezone(zone).date() - timedelta(days=count)
    return datetime.combine(day, clock.fromisoformat(session["at"]), zone)
