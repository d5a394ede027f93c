"""Writes beside the floor: a one-statement write of the same graph elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from statistics import median
from zoneinfo import ZoneInfo

from bench.floor import Floor
from bench.people import COFFEE
from bench.rig import Rig
from bench.rows import Row, row
from bench.timing import Effort, rates, ratio
from graphmem.answers import Remember
from graphmem.memory import Turn

CLIENTS = 8


def measure(rig: Rig, effort: Effort) -> list[Row]:
    """Rates of remember (new, supersede; 1 and 8 clients) and inject, as shares of their floors' rates."""
    found: list[Row] = []
    for clients in (1, CLIENTS):
        said = "1 client" if clients == 1 else f"{clients} clients"
        arms = _arms(rig, f"w{clients}", clients)
        seen = rates(arms, effort, clients)
        found += [
            row(f"floor of a new memory, {said}", median(seen["floor new"]), "writes/s"),
            row(f"remember of a new memory, {said}", ratio(seen, "new", "floor new"), "x floor's rate", ">= 0.4"),
            row(f"remember of a supersession, {said}", ratio(seen, "supersede", "floor supersede"), "x floor's rate", ">= 0.28"),
            row(f"inject of a turn with one memory, {said}", ratio(seen, "inject", "floor turn"), "x floor's rate", ">= 0.3"),
        ]
    return found


def _arms(rig: Rig, prefix: str, clients: int) -> Mapping[str, Callable[[int], object]]:
    news = [_new(rig, f"{prefix}-new-{n}") for n in range(clients)]
    supers = [_supersede(rig, f"{prefix}-sup-{n}") for n in range(clients)]
    turns = [_inject(rig, f"{prefix}-turn-{n}") for n in range(clients)]
    floors = {
        "new": [Floor(rig, _applied(rig, news[0]), f"{prefix}-fnew-{n}") for n in range(clients)],
        "supersede": [Floor(rig, _applied(rig, supers[0]), f"{prefix}-fsup-{n}") for n in range(clients)],
        "turn": [Floor(rig, _applied(rig, turns[0]), f"{prefix}-fturn-{n}") for n in range(clients)],
    }
    for n in range(clients):
        floors["supersede"][n].supersede()
    return {
        "floor new": lambda n: floors["new"][n].new(),
        "new": lambda n: news[n](),
        "floor supersede": lambda n: floors["supersede"][n].supersede(),
        "supersede": lambda n: supers[n](),
        "floor turn": lambda n: floors["turn"][n].turn(),
        "inject": lambda n: turns[n](),
    }


def _applied(rig: Rig, act: Callable[[], object]) -> Mapping[str, object]:
    """The parameters of the `apply` that one call sends."""
    with rig.watching() as calls:
        act()
    return next(c.parameters for c in calls if c.name == "apply")


def _new(rig: Rig, user: str) -> Callable[[], object]:
    scope, numbers = rig.scope(user), itertools.count()

    def act() -> None:
        done = rig.app.remember(scope, Remember("food_preference", f"{user} dish {next(numbers)}"))
        assert done.verdict == "new"

    return act


def _supersede(rig: Rig, user: str) -> Callable[[], object]:
    scope, numbers = rig.scope(user), itertools.count()
    rig.app.remember(scope, Remember(COFFEE, f"{user} first"))

    def act() -> None:
        done = rig.app.remember(scope, Remember(COFFEE, f"{user} roast {next(numbers)}"))
        assert done.verdict == "supersede"

    return act


def _inject(rig: Rig, user: str) -> Callable[[], object]:
    numbers, sentences = itertools.count(), _sentences(rig)

    def act() -> None:
        number = next(numbers)
        # a user hears each sentence once: hearing it again would be a reinforcement
        scope = rig.scope(f"{user}-{number // len(sentences)}")
        done = rig.app.inject(scope, Turn(sentences[number % len(sentences)], session_id=f"{user}-session", turn_id=f"t{number}"))
        assert len(done.stored) == 1

    return act


def _sentences(rig: Rig) -> list[str]:
    """Sentences that each say one preference about another food."""
    room, utc = rig.app.room, ZoneInfo("UTC")
    found = []
    for concept in room.lexicon.of_type("food"):
        text = f"I like {concept.en}."
        heard = room.hear(Turn(text), datetime.now(UTC), utc, [])
        if [s.ckey for s in heard.statements] == [concept.cid]:
            found.append(text)
        if len(found) == 50:
            break
    assert len(found) >= 20
    return found
