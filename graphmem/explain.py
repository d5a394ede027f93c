"""Why a memory is held and (not) told, and what happened to it when: from rows, evidence and records of writes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from graphmem.answers import Memory
from graphmem.memory import Span, Status, Text2, from_ms
from graphmem.telling import Teller
from graphmem.validity import Ms, Pending, Row, counts, last_observed, opposers

Did = Literal["superseded", "superseded_by", "opposes", "opposed_by", "beside"]
"""What another version did to a memory, or the memory to it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One link from a memory to where it was said. quote: the cited words as they may be read now (None: no span, or the text is gone)."""

    mid: str
    kind: str
    source_id: str
    said_at: datetime
    recorded_at: datetime
    first: bool
    session_id: str | None = None
    turn_id: str | None = None
    span: Span | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one statement of a write became, and the rule that made the statement."""

    mid: str | None
    verdict: str
    supersedes: str | None = None
    reason: str | None = None
    rule: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The record of a write: who, by which route, when."""

    op: str
    route: str
    actor: str
    at: Ms
    rulings: tuple[Ruling, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """Something that happened to a memory.

    what: recorded, observed, superseded, opposed, ended, retracted, overruled, or the outcome of a pending one.
    """

    what: str
    at: datetime
    actor: str | None
    route: str | None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One version in a timeline. verdict None: the row was made beside another statement, or its record is older than is kept."""

    memory: Memory
    verdict: str | None
    reason: str | None
    rule: str | None
    certainty: float | None
    sources: tuple[Evidence, ...]
    touches: tuple[Touch, ...]
    supersedes: str | None
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of entries, newest first by the order asked for."""

    items: tuple[Entry, ...]
    next: str | None
    has_next: bool
    total: int
    revision: int


@dataclass(frozen=True, slots=True)
class Rival:
    """Another version, and what it did. A forgotten one has no value."""

    mid: str
    did: Did
    value: str | None
    polarity: str
    version: int | None
    valid_from: datetime
    status: Status


@dataclass(frozen=True, slots=True)
class Policy:
    """How the key may change and how long a memory of it lives."""

    arity: str
    policy: str
    safety: bool
    lifetime_days: float | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The pending state of a memory: why it waits, what was decided, and the review case it has."""

    reason: str
    since: datetime
    decided_at: datetime | None
    outcome: str | None
    case: str | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory is held and (not) told. `because` is the stable name of the reason, `text` one paragraph in both languages."""

    entry: Entry
    told: bool
    because: str
    rivals: tuple[Rival, ...]
    policy: Policy | None
    waiting: Waiting | None
    text: Text2


Explained = tuple[Mapping[str, Sequence[Evidence]], Mapping[Ms, Change]]
"""Evidence by mid, oldest first; records of writes by moment."""


# --- records


def change_of(op: str, route: str, actor: str, at: Ms, outcome: str) -> Change:
    """A record with its rulings; older records know no rules."""
    told: Mapping[str, Any] = json.loads(outcome) if outcome else {}
    verdicts = told.get("verdicts", [])
    rules: Sequence[Any] = told.get("rules") or [None] * len(verdicts)
    return Change(op, route, actor, at, tuple(_ruling(v, r) for v, r in zip(verdicts, rules, strict=False)))


def _ruling(verdict: Sequence[Any], rule: Sequence[Any] | None) -> Ruling:
    mid, word, supersedes, reason = verdict
    if rule is None:
        return Ruling(mid, word, supersedes, reason)
    return Ruling(mid, word, supersedes, reason, rule[0] or None, rule[1])


def moments(teller: Teller, rows: Iterable[Row], pendings: Iterable[Pending]) -> list[Ms]:
    """When something was written that concerned these memories: a user has one write a moment, so a moment names its record."""
    found: set[Ms | None] = set()
    for row in rows:
        found |= {row.recorded_at, row.retracted_at, *(o.recorded_at for o in row.observations)}
        if (by := _ender(teller, row)) is not None:
            found.add(by.recorded_at)
    for p in pendings:
        found |= {p.row.recorded_at, p.decided_at}
    return sorted(at for at in found if at is not None and at <= teller.k)


def _ender(teller: Teller, row: Row) -> Row | None:
    return teller.ledger.end(row, teller.k)[1] if counts(row, teller.k) else None


# --- entries


def entry(teller: Teller, row: Row, evidence: Sequence[Evidence], changes: Mapping[Ms, Change]) -> Entry:
    """A version with everything known at the teller's known_at."""
    memory = teller.memory(row)
    return _entry(memory, row, evidence, changes, _touches(teller, row, changes), teller.k)


def pending_entry(teller: Teller, pending: Pending, evidence: Sequence[Evidence], changes: Mapping[Ms, Change]) -> Entry:
    """A pending memory: recorded, and decided if it was."""
    touches = [_touch("recorded", pending.row.recorded_at, changes)]
    if pending.decided_at is not None and pending.decided_at <= teller.k:
        touches.append(_touch(pending.outcome or "decided", pending.decided_at, changes))
    return _entry(teller.pending(pending), pending.row, evidence, changes, touches, teller.k)


def _entry(memory: Memory, row: Row, evidence: Sequence[Evidence], changes: Mapping[Ms, Change], touches: list[Touch], k: Ms) -> Entry:
    made = changes.get(row.recorded_at)
    ruling = next((r for r in made.rulings if r.mid == row.mid), None) if made is not None else None
    return Entry(
        memory=memory,
        verdict=None if ruling is None else ruling.verdict,
        reason=None if ruling is None else ruling.reason,
        rule=None if ruling is None else ruling.rule,
        certainty=None if ruling is None else ruling.confidence,
        sources=tuple(e for e in evidence if e.recorded_at <= from_ms(k)),
        touches=tuple(sorted(touches, key=lambda t: t.at)),
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
    )


def _touches(teller: Teller, row: Row, changes: Mapping[Ms, Change]) -> list[Touch]:
    found = [_touch("recorded", row.recorded_at, changes)]
    found += [_touch("observed", o.recorded_at, changes) for o in row.observations if row.recorded_at < o.recorded_at <= teller.k]
    if row.retracted_at is not None and row.retracted_at <= teller.k:
        found.append(_touch("overruled" if row.overruled else "retracted", row.retracted_at, changes))
    by = _ender(teller, row)
    if by is not None:
        what = "ended" if by.is_end else "superseded" if by.slot == row.slot and by.polarity == row.polarity else "opposed"
        found.append(_touch(what, max(by.recorded_at, row.recorded_at), changes, by.mid))
    return found


def _touch(what: str, at: Ms, changes: Mapping[Ms, Change], by: str | None = None) -> Touch:
    change = changes.get(at)
    return Touch(what, from_ms(at), None if change is None else change.actor, None if change is None else change.route, by)


# --- why


def because(teller: Teller, row: Row) -> str:
    """The name of the reason why a version is told or not."""
    ledger, t, k = teller.ledger, teller.t, teller.k
    if not counts(row, k):
        return "overruled" if row.overruled else "retracted"
    if row.valid_from > t:
        return "scheduled"
    if row.is_end:
        return "ended"
    if ledger.tells(row, t, k):
        return "told"
    until, by = ledger.end(row, k)
    if by is not None and until <= t:
        return "closed" if by.is_end else "superseded" if by.slot == row.slot and by.polarity == row.polarity else "opposed"
    return "over" if row.ends_at is not None and row.ends_at <= t else "expired"


def because_pending(pending: Pending, t: Ms, k: Ms, life: Ms) -> str:
    """The name of the reason why a pending memory is not told."""
    if pending.decided_at is not None and pending.decided_at <= k:
        known = {"confirmed": "confirmed", "overtaken": "overtaken", "expired": "lapsed"}
        return known.get(pending.outcome or "", "rejected")
    return "lapsed" if t >= pending.row.said_at + life else "pending"


def rivals(teller: Teller, row: Row) -> tuple[Rival, ...]:
    """The other versions of the slot, and rows of the other polarity about the same thing, by what they did, in order of time."""
    ledger, k = teller.ledger, teller.k
    before, ender = ledger.predecessor(row, k), _ender(teller, row)
    found: dict[str, tuple[Row, Did]] = {}
    for r in ledger.by_slot.get(row.slot, ()):
        if r.mid != row.mid and r.recorded_at <= k:
            found[r.mid] = (r, "superseded" if before is not None and r.mid == before.mid else "beside")
    for r in ledger.by_thing.get(row.thing, ()):
        if r.mid != row.mid and counts(r, k) and any(o.mid == row.mid for o in opposers(r, [row], k)):
            found[r.mid] = (r, "opposes")
    if ender is not None:
        same = ender.slot == row.slot and ender.polarity == row.polarity
        found[ender.mid] = (ender, "superseded_by" if same else "opposed_by")
    return tuple(_rival(teller, r, did) for r, did in sorted(found.values(), key=lambda x: x[0].turn))


def _rival(teller: Teller, row: Row, did: Did) -> Rival:
    value = None if row.tombstoned_at is not None else row.value
    status = teller.ledger.status(row, teller.t, teller.k)
    return Rival(row.mid, did, value, row.polarity, row.version or None, from_ms(row.valid_from), status)


def until(teller: Teller, row: Row) -> Ms | None:
    """From when the version is told no more: its end in its slot, else the end of its lifetime."""
    ends, _ = teller.ledger.end(row, teller.k)
    lapses = None if row.lifetime is None else last_observed(row, teller.t, teller.k) + row.lifetime
    return ends if lapses is None else min(ends, lapses)


def days(ms: Ms | None) -> float | None:
    """A lifetime in days."""
    return None if ms is None else ms / (24 * 3600 * 1000)


__all__ = ["Change", "Entry", "Evidence", "Policy", "Rival", "Timeline", "Touch", "Waiting", "Why"]
