"""Every kind of read beside RETURN 1 and in db hits, with ten times the history and with ten times the users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bench.hits import FEW, MANY, USERS
from bench.people import COFFEE, Person, crowd, person
from bench.rig import Rig
from bench.rows import Row, row
from bench.timing import Arm, Effort, p50, ratio
from graphmem.answers import MemoryFilter
from graphmem.cohorts import RIGHT, CohortQuery
from graphmem.memory import Kind
from graphmem.relations import RelationType
from graphmem.scope import TenantScope
from graphmem.timeline import TimelineQuery

Act = Callable[[], int]
"""A read; it says how many rows, versions, memories or users it got."""


def measure(rig: Rig, effort: Effort) -> list[Row]:
    """Ratios of P50 to RETURN 1, and db hits for each thing returned: they may not grow with what is not returned."""
    own = replace(rig, tenant=f"{rig.tenant}-past")
    try:
        return _measure(own, effort)
    finally:
        own.sweep()


def _measure(rig: Rig, effort: Effort) -> list[Row]:
    few, many = person(rig, "past-few", FEW), person(rig, "past-many", MANY)
    for who in (few, many):
        _chain(rig, who)
    crowd(rig, few, 0, USERS)
    once, old = _acts(rig, few), _acts(rig, many)
    base, aged = _hits(rig, once), _hits(rig, old)
    found = _timed(rig, {**once, **{f"{name}, old": act for name, act in old.items()}}, effort)
    crowd(rig, few, USERS, USERS * 10)
    crowded = _hits(rig, once)
    wide = _timed(rig, once, effort)
    rows = []
    for name in once:
        rows.append(row(f"{name}, {few.past} past edges, {USERS} others", ratio(found, name, "bare"), "x RETURN 1"))
        rows.append(row(f"{name}, {many.past} past edges, {USERS} others", ratio(found, f"{name}, old", "bare"), "x RETURN 1"))
        rows.append(row(f"{name}, {few.past} past edges, {USERS * 10} others", ratio(wide, name, "bare"), "x RETURN 1"))
        rows.append(row(f"db hits: {name}, each returned", base[name], "hits"))
        rows.append(row(f"db hits: {name}, {many.past} past edges / {few.past}, each", aged[name] / base[name], "ratio", "<= 1.3"))
        rows.append(row(f"db hits: {name}, {USERS * 10} other users / {USERS}, each", crowded[name] / base[name], "ratio", "<= 1.3"))
    return rows


def _timed(rig: Rig, acts: Mapping[str, Act], effort: Effort) -> dict[str, list[float]]:
    return p50({"bare": Arm(rig.neo4j.bare)} | {name: Arm(act) for name, act in acts.items()}, effort)


def _chain(rig: Rig, who: Person) -> None:
    """Four memories, each derived from the next."""
    scope = rig.scope(who.user)
    for a, b in zip(who.mids[:3], who.mids[1:4], strict=True):
        rig.app.relate(scope, RelationType.DERIVED_FROM, a, b)


def _acts(rig: Rig, who: Person) -> Mapping[str, Act]:
    scope, app = rig.scope(who.user), rig.app
    then = datetime.now(UTC) - timedelta(hours=12)
    tenant = TenantScope(rig.tenant, "bench", frozenset({RIGHT}))

    def as_of() -> int:
        return len(app.memories(scope, MemoryFilter(as_of=then), limit=100).items)

    def timeline() -> int:
        return len(app.timeline(scope, TimelineQuery(key=COFFEE, limit=100)).items)

    def hops() -> int:
        return len(app.related(scope, who.mids[0], depth=3, types=[RelationType.DERIVED_FROM]).items)

    def cohort() -> int:
        return len(app.cohort(tenant, CohortQuery(COFFEE, "oat latte")).items)

    def slot() -> int:
        return len(app.latest(scope, COFFEE).items)

    def latest() -> int:
        return len(app.memories(scope, MemoryFilter(kind=Kind.PREFERENCE), limit=100).items)

    return {
        "latest of one slot": slot,
        "all latest of a user": latest,
        "as-of of a user": as_of,
        "timeline of a key": timeline,
        "three hops": hops,
        "cohort page": cohort,
    }


def _hits(rig: Rig, acts: Mapping[str, Act]) -> dict[str, float]:
    """Db hits of each read for each thing it returned."""
    found = {}
    for name, act in acts.items():
        with rig.watching(profile=True) as calls:
            got = act()
        assert got > 0, name
        found[name] = sum(c.hits or 0 for c in calls) / got
    return found
