"""The driver's steps through the façade, against the real graph. Its clock cannot be set: histories are dated in the past by said_at."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from graphmem.answers import Memory, MemoryFilter, Remember
from graphmem.app import Graphmem
from graphmem.memory import Heard, Provenance, SourceKind, Turn, from_ms
from graphmem.scope import Scope
from tests.driver import BEGIN, History, random_steps, statement
from tests.oracle_lines import DAY, Line, Slot, Told, Words

KEYS = ("home_city", "age", "name", "allergy", "hobby", "coffee_preference", "tea_preference", "food_preference", "current_city")

_VERSIONS = """
MATCH (u:User {tenant_id: $tenant, user_id: $user})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
RETURN r.mid AS mid, r.slot AS slot, r.key AS key, r.subject AS subject, r.version AS version, r.recorded_at.epochMillis AS recorded,
       r.valid_from.epochMillis AS start, CASE WHEN r.is_end THEN null ELSE m.value END AS value, r.retracted_at IS NOT NULL AS retracted,
       r.current_slot AS current
"""


MADE_UP = "wort"
"""Ends every value: words that no lexicon knows, so that both roads give them the same concept."""


class Stub:
    """Stands in for the extractor: what was understood is given, and goes the road of speech from there."""

    def __init__(self) -> None:
        self.words: Words | None = None

    def hear(self, turn: Turn, said_at: datetime, zone: tzinfo, context: Sequence[Turn], *, threshold: float = 0.85) -> Heard:
        assert self.words is not None
        return Heard("en", (statement(self.words),))


@dataclass
class Real:
    """One user of the service."""

    graphmem: Graphmem
    stub: Stub
    scope: Scope

    def wall(self) -> int | None:
        return time.time_ns() // 1_000_000

    def wait(self, ms: int) -> None:
        """The service's clock goes its own way."""

    def say(self, words: Words) -> int:
        words = replace(words, value=None if words.value is None else words.value + MADE_UP)
        source = None if not words.sourced else Provenance(SourceKind.DOCUMENT if words.vouched else SourceKind.USER_STATED)
        at = None if words.at is None else from_ms(words.at)
        plain = not (words.claims or words.slip or words.change or words.hedged or words.whole_key or words.grounds)
        if words.deliberate and plain and words.sourced and (not words.is_end or words.value is None):
            start, ends = (None if ms is None else from_ms(ms) for ms in (words.start, words.ends_at))
            self.graphmem.remember(
                self.scope,
                Remember(
                    words.key,
                    words.value,
                    polarity=words.polarity,
                    valid_from=start,
                    valid_to=ends,
                    said_at=at,
                    source=source,
                    verified=words.verified,
                ),
            )
        else:
            self.stub.words = words
            self.graphmem.inject(self.scope, Turn("words", at=at, source=source, verified=words.verified))
        return self.learnt()

    def learnt(self) -> int:
        """recorded_at of the user's last write."""
        row = self._rows("MATCH (u:User {tenant_id: $tenant, user_id: $user}) RETURN u.at.epochMillis AS at")[0]
        at = row["at"]
        assert isinstance(at, int)
        return at

    def _rows(self, query: str) -> list[dict[str, object]]:
        with self.graphmem.neo4j.driver.session() as session:
            return session.execute_read(lambda tx: [dict(r) for r in tx.run(query, tenant=self.scope.tenant, user=self.scope.user)])

    def decide(self, what: str, line: Line) -> int:
        mid = self._mid(line)
        act = {
            "confirm": self.graphmem.confirm,
            "reject": self.graphmem.reject,
            "retract": self.graphmem.retract,
            "forget": self.graphmem.forget,
        }
        act[what](self.scope, mid)
        return self.learnt()

    def _mid(self, line: Line) -> str:
        wanted = (line.slot, line.recorded, None if line.is_end or line.value is None else line.value + MADE_UP)
        found = [r for r in self._rows(_VERSIONS) if (_slot(r), r["recorded"], r["value"]) == wanted]
        if line.version:
            found = [r for r in found if r["version"] is not None and r["start"] == line.start and not r["retracted"]]
        else:
            found = [r for r in found if r["version"] is None]
        assert found, f"no memory for {line}"
        return str(max(found, key=lambda r: int(str(r["version"] or 0)))["mid"])

    def told(self, t: int, k: int) -> list[Told]:
        page = self.graphmem.memories(self.scope, MemoryFilter(as_of=from_ms(t), known_at=from_ms(k)), limit=100)
        assert not page.has_next
        return sorted((_told(m) for m in page.items), key=repr)

    def shown(self, t: int, k: int) -> list[Told]:
        page = self.graphmem.memories(self.scope, MemoryFilter(as_of=from_ms(t), known_at=from_ms(k)), limit=100)
        return sorted((_told(m) for m in page.pending), key=repr)

    def versions(self) -> dict[Slot, list[int]]:
        found: dict[Slot, list[int]] = {}
        rows = self._rows(_VERSIONS)
        held = [r["current"] for r in rows if r["current"] is not None]
        assert len(held) == len(set(held)), f"two current rows in one slot: {held}"
        for row in rows:
            if row["version"] is not None:
                found.setdefault(_slot(row), []).append(int(str(row["version"])))
        return {slot: sorted(numbers) for slot, numbers in found.items()}


def _slot(row: dict[str, object]) -> Slot:
    return (str(row["key"]), str(row["subject"]), str(row["slot"]).rsplit("|", 1)[1].removeprefix("text:").removesuffix(MADE_UP))


def _told(m: Memory) -> Told:
    return Told(m.key, m.subject, m.polarity, (m.value or "").removesuffix(MADE_UP))


def run_real(graphmem: Graphmem, stub: Stub, scope: Scope, seed: object, count: int = 7) -> int:
    """One random history of a user; returns the number of checks made."""
    rng = random.Random(repr(seed))
    keys = rng.sample(KEYS, rng.choice((1, 1, 2)))
    product = Real(graphmem, stub, scope)
    wall = product.wall() or BEGIN
    history = History(product, clock=wall - rng.choice((20, 200, 600)) * DAY, marks={wall}, learnt=[wall])
    for step in random_steps(rng, count, keys):
        history.take(step)
    history.compare(rng, 8)
    return history.checks
