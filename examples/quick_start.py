"""The first steps from Python: hear turns, change one's mind, ask what may be told and why, forget.

    python examples/quick_start.py

Without GRAPHMEM_NEO4J_URI a Neo4j of your own is brought up. The tenant `quick-start` is removed first, so it can be repeated.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem.answers import Ask
from graphmem.app import Graphmem, open_graphmem
from graphmem.memory import Turn
from graphmem.scope import Scope
from graphmem.timeline import TimelineQuery

ANN = Scope(tenant="quick-start", user="ann")


def hear(graphmem: Graphmem) -> None:
    """Two conversations, three weeks apart."""
    now = datetime.now(UTC)
    before, today = now - timedelta(days=21), now - timedelta(minutes=5)
    for text, session, at in (
        ("I live in Leeds and I usually drink flat whites.", "spring", before),
        ("Is it going to rain?", "spring", before + timedelta(minutes=1)),
        ("I've moved to Hull.", "now", today),
    ):
        done = graphmem.inject(ANN, Turn(text, session_id=session, at=at))
        print(f"heard     {text}")
        for stored in done.stored:
            print(f"          {stored.verdict}: {stored.memory.key} = {stored.memory.value}")
        for dropped in done.not_stored:
            print(f"          not stored: {dropped.reason}")


def ask(graphmem: Graphmem) -> str:
    """What may be told now; returns the id of what was told."""
    told = graphmem.recall(ANN, Ask("The usual coffee, please.", session_id="now"))
    print(f"told      {told.memories[0].memory.value} ({told.tier}: {told.trigger.rule})")
    return told.memories[0].memory.mid


def look_back(graphmem: Graphmem) -> None:
    """What held when: nothing was overwritten."""
    for entry in graphmem.timeline(ANN, TimelineQuery(key="home_city")).items:
        m = entry.memory
        print(f"version {m.version} {m.value}: {m.status}")


def main() -> None:
    with open_graphmem(migrate=True) as graphmem:
        graphmem.wipe(ANN.tenant)
        hear(graphmem)
        coffee = ask(graphmem)
        look_back(graphmem)
        print(f"why       {graphmem.why(ANN, coffee).text.en}")
        graphmem.forget(ANN, coffee)
        left = [m.key for m in graphmem.memories(ANN).items]
        print(f"forgotten; left: {', '.join(left)}")


if __name__ == "__main__":
    main()
