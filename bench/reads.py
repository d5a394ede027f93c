"""Reads beside a bare RETURN 1 over the same driver: P50 of interleaved requests."""

from __future__ import annotations

from bench.people import COFFEE, person
from bench.rig import Rig
from bench.rows import Row, row
from bench.timing import Arm, Effort, p50, ratio
from graphmem.answers import Ask, MemoryFilter
from graphmem.memory import Kind

EACH = 34
"""Past versions behind each of 60 current preferences: 2,040 past edges."""

MESSAGE = "As we said, what kind of coffee do I like?"


def measure(rig: Rig, effort: Effort) -> list[Row]:
    """Latest, one slot, hydrate and an L2 recall of a user with 60 current and 2,040 past preferences."""
    who = person(rig, "reader", EACH)
    scope, app = rig.scope(who.user), rig.app
    mids = {Kind.PREFERENCE: who.mids[:50]}
    asked = Ask(MESSAGE)
    recalled = app.recall(scope, asked)
    assert recalled.tier == "L2" and recalled.degraded == () and len(recalled.receipt.lines) >= 50
    app.receipt(scope, recalled.receipt_id or "")
    found = p50(
        {
            "bare": Arm(rig.neo4j.bare),
            "bare again": Arm(rig.neo4j.bare),
            "latest": Arm(lambda: app.reader.latest(scope, Kind.PREFERENCE)),
            "slot": Arm(lambda: app.reader.latest(scope, Kind.PREFERENCE, COFFEE)),
            "hydrate": Arm(lambda: app.reader.hydrate(scope, mids, [])),
            "recall": Arm(lambda: app.recall(scope, asked), after=rig.app._after.flush),
            "page": Arm(lambda: app.memories(scope, MemoryFilter(kind=Kind.PREFERENCE), limit=100)),
            "slot told": Arm(lambda: app.latest(scope, COFFEE)),
        },
        effort,
    )
    noise = ratio(found, "bare again", "bare")
    bare = sorted(found["bare"])[len(found["bare"]) // 2] * 1000
    return [
        row("noise: RETURN 1 beside itself", noise, "ratio"),
        row("RETURN 1, P50", bare, "ms"),
        row(f"latest of 60 current and {who.past} past preferences", ratio(found, "latest", "bare"), "x RETURN 1", "<= 4.5"),
        row("latest of one slot", ratio(found, "slot", "bare"), "x RETURN 1", "<= 2.5"),
        row("hydrate of 50 candidates", ratio(found, "hydrate", "bare"), "x RETURN 1", "<= 9"),
        row("L2 recall without embedding", ratio(found, "recall", "bare"), "x RETURN 1", "<= 12"),
        row("the same latest as a told page of the façade", ratio(found, "page", "bare"), "x RETURN 1"),
        row("the same slot as told by the façade", ratio(found, "slot told", "bare"), "x RETURN 1"),
    ]
