"""Db hits by PROFILE of real calls, statements an operation, and how both bear ten times the history and ten times the users."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.people import COFFEE, Person, crowd, person
from bench.rig import Call, Rig
from bench.rows import Row, row
from bench.wire import relay
from graphmem.answers import Remember
from graphmem.memory import Kind

USERS = 10
FEW, MANY = 3, 34
"""Past versions behind each of 60 current preferences: once and eleven times."""

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Hits:
    """Db hits: of a whole write, of a latest a row, of a hydrate a candidate."""

    new: float
    supersede: float
    latest: float
    hydrate: float
    slot: float


def measure(rig: Rig) -> list[Row]:
    """Hits with few users, with ten times the history, with ten times the users; statements an operation."""
    few, many = person(rig, "few", FEW), person(rig, "many", MANY)
    crowd(rig, few, 0, USERS)
    once, old = _hits(rig, few), _hits(rig, many)
    crowd(rig, few, USERS, USERS * 10)
    crowded = _hits(rig, few)
    rows = [
        row("db hits: remember of a new memory", once.new, "hits", "<= 110"),
        row("db hits: remember of a supersession", once.supersede, "hits", "<= 180"),
        row("db hits: latest, a row of 60", once.latest, "hits a row", "<= 26"),
        row("db hits: hydrate, a candidate of 50", once.hydrate, "hits a row", "<= 26"),
        row("db hits: latest of one slot", once.slot, "hits"),
    ]
    for name in ("new", "supersede", "latest", "hydrate", "slot"):
        base = getattr(once, name)
        rows.append(row(f"db hits: {name}, {many.past} past edges / {few.past}", getattr(old, name) / base, "ratio", "<= 1.3"))
        rows.append(row(f"db hits: {name}, {USERS * 10} other users / {USERS}", getattr(crowded, name) / base, "ratio", "<= 1.3"))
    return [*rows, *_statements(rig, few), *_wire(rig, few)]


def _hits(rig: Rig, who: Person) -> Hits:
    scope, reader = rig.scope(who.user), rig.app.reader
    rig.neo4j.write_one("forget_outbox", {"tenant_id": rig.tenant})
    latest = _profiled(rig, lambda: reader.latest(scope, Kind.PREFERENCE))
    slot = _profiled(rig, lambda: reader.latest(scope, Kind.PREFERENCE, COFFEE))
    hydrate = _profiled(rig, lambda: reader.hydrate(scope, {Kind.PREFERENCE: who.mids[:50]}, []))
    assert latest[0].rows >= 60 and hydrate[0].rows >= 50
    return Hits(
        new=_sum(_profiled(rig, lambda: rig.app.remember(scope, _dish()))),
        supersede=_sum(_profiled(rig, lambda: rig.app.remember(scope, _coffee()))),
        latest=_sum(latest) / latest[0].rows,
        hydrate=_sum(hydrate) / 50,
        slot=_sum(slot),
    )


def _statements(rig: Rig, who: Person) -> list[Row]:
    scope, reader = rig.scope(who.user), rig.app.reader
    acts: Sequence[tuple[str, Callable[[], object], int]] = (
        ("a new memory", lambda: rig.app.remember(scope, _dish()), 2),
        ("a supersession", lambda: rig.app.remember(scope, _coffee()), 2),
        ("a hydrate", lambda: reader.hydrate(scope, {Kind.PREFERENCE: who.mids[:50]}, []), 1),
        ("a latest", lambda: rig.app.latest(scope, COFFEE), 1),
    )
    rows = []
    for name, act, target in acts:
        with rig.watching() as calls:
            act()
        rows.append(row(f"statements of {name}", len(calls), "statements", f"= {target}"))
    return rows


def _wire(rig: Rig, who: Person) -> list[Row]:
    scope, mids = rig.scope(who.user), {Kind.PREFERENCE: who.mids[:50]}
    names = ("a write", "a hydrate", "a latest")
    with relay(rig.login.uri) as between:
        if between is None:
            return [row(f"wire turns of {name}", None, "turns") for name in names]
        counter, uri = between
        with rig.by(uri) as app:
            app.latest(scope, COFFEE)  # the connection is made and kept
            acts: Sequence[Callable[[], object]] = (
                lambda: app.remember(scope, _coffee()),
                lambda: app.reader.hydrate(scope, mids, []),
                lambda: app.latest(scope, COFFEE),
            )
            counted = [counter.counted(act) for act in acts]
    return [
        row(f"wire turns of {name}", turns, "turns", f"<= {target}") for name, turns, target in zip(names, counted, (4, 2, 2), strict=True)
    ]


def _profiled(rig: Rig, act: Callable[[], object]) -> list[Call]:
    with rig.watching(profile=True) as calls:
        act()
    return calls


def _sum(calls: Sequence[Call]) -> float:
    return float(sum(c.hits or 0 for c in calls))


def _dish() -> Remember:
    return Remember("food_preference", f"profiled dish {next(_numbers)}")


def _coffee() -> Remember:
    return Remember(COFFEE, f"profiled roast {next(_numbers)}")
