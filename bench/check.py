"""`graphmem check` over a tenant of 100,000 memories, and the wipe of that tenant."""

from __future__ import annotations

import time
from dataclasses import replace

from bench.people import CURRENT, crowd, person
from bench.rig import Rig
from bench.rows import Row, row
from graphmem.ports import Point
from graphmem.stores import keys

MEMORIES = 100_000


def measure(rig: Rig, memories: int = MEMORIES) -> list[Row]:
    """Seconds of one check of both stores, in a tenant of its own; the points carry no vectors, check does not look at them."""
    own = replace(rig, tenant=f"{rig.tenant}-check")
    try:
        crowd(own, person(own, "pattern", 0), 1, memories // CURRENT)
        held = _points(own)
        began = time.perf_counter()
        (report,) = own.app.check(own.tenant)
        took = time.perf_counter() - began
        assert report.memories == report.points == held
        assert not report.breaks, report.breaks[:3]
        began = time.perf_counter()
        gone = own.app.wipe(own.tenant)
        wiped = time.perf_counter() - began
        assert gone > held and not own.app.check(own.tenant)[0].memories
    finally:
        own.sweep()
    return [
        row(f"graphmem check of {held} memories", took, "s", "<= 30" if memories == MEMORIES else ""),
        row(f"wipe of a tenant with {held} memories", wiped, "s"),
    ]


def _points(rig: Rig) -> int:
    """A point for each memory that the graph holds."""
    names, tenant_key = [e.name for e in rig.embedders], keys.tenant_key(rig.master, rig.tenant)
    made = 0
    for page in _pages(rig):
        points = []
        for r in page:
            mid, who = str(r["mid"]), keys.pseudonym(tenant_key, str(r["user_id"]))
            points.append(Point(keys.point_id(mid, names), mid, "preference", who, int(str(r["version"])), {}))
        rig.app.index.upsert(rig.tenant, points)
        made += len(points)
    return made


def _pages(rig: Rig) -> list[tuple[dict[str, object], ...]]:
    found = [dict(r) for r in rig.app.outbox.memories(rig.tenant)]
    return [tuple(found[i : i + 1_000]) for i in range(0, len(found), 1_000)]
