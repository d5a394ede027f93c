"""Who the bench reads about: a user with 60 current preferences, past versions of them, and others beside."""

from __future__ import annotations

from dataclasses import dataclass

from bench.rig import Rig
from graphmem.answers import Remember
from graphmem.memory import Kind

CURRENT = 60
COFFEE = "coffee_preference"
"""A key with one chosen value; the user's 60th current preference."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user, the ids of its 60 current preferences, and how many past versions lie behind them."""

    user: str
    mids: tuple[str, ...]
    past: int


def person(rig: Rig, user: str, each: int) -> Person:
    """Made through the façade, then aged: `each` past versions for each of the 60 current preferences."""
    scope = rig.scope(user)
    for i in range(CURRENT - 1):
        key = ("food_preference", "drink_preference", "likes")[i % 3]
        rig.app.remember(scope, Remember(key, f"thing {i}"))
    rig.app.remember(scope, Remember(COFFEE, "oat latte"))
    made = rig.neo4j.write_one("age", {"tenant_id": rig.tenant, "user_id": user, "each": each}) if each else None
    rig.project(user)
    mids = tuple(r.mid for r in rig.app.reader.latest(scope, Kind.PREFERENCE).rows)
    return Person(user, mids, 0 if made is None else made["made"])


def crowd(rig: Rig, like: Person, first: int, last: int) -> None:
    """Users `crowd-first` to `crowd-(last-1)`, each with the 60 current preferences of `like`."""
    for start in range(first, last, 10):
        others = [f"crowd-{i}" for i in range(start, min(start + 10, last))]
        rig.neo4j.write_one("crowd", {"tenant_id": rig.tenant, "user_id": like.user, "others": others})
