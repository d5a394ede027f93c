"""What the judge sees and what its verdicts do: the rows of the slots concerned, changed step by step in memory. No driver, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from graphmem.caches import recached, rival_cached
from graphmem.memory import Span, Standing, Statement, Verdict
from graphmem.ontology import Arity, Policy
from graphmem.validity import Ledger, Ms, Observation, Pending, Row, fold_value, same_thing, told


@dataclass(frozen=True, slots=True)
class Rule:
    """What the judge must know of a key. `classed`: the concept is only a class of values (a reading's analyte, a brand's class)."""

    arity: Arity
    policy: Policy
    lifetime: Ms | None
    safety: bool = False
    taste: bool = False
    classed: bool = False


@dataclass(frozen=True, slots=True)
class Trust:
    """What vouches for a statement. `verified` None: the calling application checked nothing; True only from a domain trusted for it."""

    sourced: bool = True
    verified: bool | None = None
    vouched: bool = False
    """A document or a staff principal: passes `review`."""
    reported: bool = False
    """Said by or about somebody who is not the user, or inferred by an agent: told as reported."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Windows of the judge, in milliseconds (settings)."""

    window: Ms
    pending_life: Ms


@dataclass(frozen=True, slots=True)
class Case:
    """One statement made ready for the judge: its slot, its times, the rules of its key."""

    statement: Statement
    rule: Rule
    trust: Trust
    limits: Limits
    slot: str
    thing: str
    said_at: Ms
    start: Ms
    ends_at: Ms | None
    now: Ms
    anchor: Ms
    """Decides late or newer: said_at, or the stated start of a deliberate statement that dates itself."""

    @property
    def scheduled(self) -> bool:
        return self.start > self.now

    @property
    def probe(self) -> Ms:
        """Where the held value is looked up: at the start if that is to come (seen from the anchor), else at the anchor."""
        return max(self.start, self.anchor)

    @property
    def over(self) -> bool:
        return self.ends_at is not None and self.ends_at <= self.said_at

    @property
    def claims(self) -> bool:
        """Dated back by its own words: it claims the whole span from its start to said_at. Never on keys that ask for proofs."""
        return self.statement.claims and self.start < self.said_at and not self.over and self.rule.policy == "versioned"

    def row(self, mid: str, version: int) -> Row:
        s = self.statement
        return Row(
            mid=mid,
            kind=s.kind,
            slot=self.slot,
            thing=self.thing,
            key=s.key,
            ckey=s.ckey,
            subject=s.subject,
            value=None if s.is_end else s.value,
            polarity=s.polarity,
            version=version,
            said_at=self.said_at,
            valid_from=self.start,
            recorded_at=self.now,
            ends_at=self.ends_at,
            is_end=s.is_end,
            inset=self.over,
            claims=self.claims,
            lifetime=self.rule.lifetime,
            confidence=s.confidence,
            standing=self.standing,
            classed=self.rule.classed,
            observed_at=max(self.said_at, self.start),
            more={"statement": s},
        )

    @property
    def standing(self) -> Standing:
        if self.trust.vouched or self.trust.verified:
            return Standing.VERIFIED
        if self.trust.reported or (self.statement.polarity == "-" and self.rule.safety and self.statement.grounds is not None):
            return Standing.REPORTED
        return Standing.STATED

    def same_value(self, row: Row) -> bool:
        """The row holds the very value that is said."""
        s = self.statement
        if row.is_end or s.is_end or row.polarity != s.polarity or row.ckey != s.ckey:
            return False
        return not self.rule.classed or fold_value(row.value) == fold_value(s.value)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided about one statement. `mid` is the memory concerned, None when nothing is kept."""

    verdict: Verdict
    mid: str | None = None
    supersedes: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation to link: the memory, when it was said, what its words claimed, the span in the turn."""

    mid: str
    at: Ms
    since: Ms | None
    span: Span | None


@dataclass(frozen=True, slots=True)
class Copied:
    """Observations of a row that its restatement takes over: those from `since` until before `until`."""

    mid: str
    from_mid: str
    since: Ms
    until: Ms


@dataclass
class Book:
    """The rows read under the lock, and everything the verdicts ask for. Mutable, lives for one write."""

    now: Ms
    rows: dict[str, Row]
    pendings: dict[str, Pending]
    tops: dict[str, int]
    mids: Iterator[str]
    original: Mapping[str, Row] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    copied: list[Copied] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    pended: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    slipped: dict[tuple[str, str], tuple[Ms, Ms | None]] = field(default_factory=dict)
    _ledger: Ledger | None = None

    def __post_init__(self) -> None:
        self.original = dict(self.rows)

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(self.rows.values())
        return self._ledger

    def put(self, row: Row) -> None:
        before = self.rows.get(row.mid)
        self.rows[row.mid] = row
        if before is not None and (before.slot, before.thing) != (row.slot, row.thing):
            self._ledger = None
        elif self._ledger is not None:
            self._ledger.put(row, before)

    def told(self, slot: str, t: Ms) -> Row | None:
        """What the slot tells at t by its standing rows: an inset ends nothing, so nothing is judged by one."""
        row = self.standing(slot, t)
        return row if row is not None and told(row, self.ledger.by_thing[row.thing], t, self.now) else None

    def standing(self, slot: str, t: Ms) -> Row | None:
        """The row that holds the slot at t, insets left out; it may be an end, forgotten, opposed or past its lifetime."""
        return self.ledger.answer(slot, t, self.now, insets=False)

    def opposites(self, like: Row, t: Ms) -> list[Row]:
        """Rows of the other polarity about the same thing that are told at t."""
        rivals = self.ledger.by_thing[like.thing]
        return [r for r in rivals if r.polarity != like.polarity and same_thing(r, like) and self.told(r.slot, t) is r]

    def against(self, case: Case, t: Ms) -> list[Row]:
        """The same for a statement. Most have nothing of the other polarity beside them, and then no row is made of it."""
        rivals = self.ledger.by_thing.get(case.thing, ())
        if all(r.polarity == case.statement.polarity for r in rivals):
            return []
        return self.opposites(case.row("", 0), t)

    def told_of_key(self, key: str, subject: str, t: Ms) -> list[Row]:
        """Everything told of a key and subject at t, affirmed and denied, in slot order."""
        slots = sorted({r.slot for r in self.rows.values() if r.key == key and r.subject == subject})
        return [row for slot in slots if (row := self.told(slot, t)) is not None]

    def open_pendings(self, t: Ms, life: Ms) -> list[Pending]:
        """Undecided pending memories that are still young enough at t, oldest first."""
        if not self.pendings:
            return []
        found = (p for p in self.pendings.values() if p.open() and t < p.row.said_at + life)
        return sorted(found, key=lambda p: (p.row.said_at, p.row.mid))

    # --- effects

    def create(self, row: Row, supersedes: str | None = None) -> Row:
        self.tops[row.slot] = row.version
        self.put(row if row.prev_mid == supersedes else replace(row, prev_mid=supersedes))
        self.created.append(row.mid)
        if supersedes is not None:
            self.links.append((row.mid, supersedes))
        return row

    def next_version(self, slot: str) -> int:
        return self.tops.get(slot, 0) + 1

    def observe(self, row: Row, case: Case) -> None:
        since = case.start if case.claims else None
        at = case.said_at if case.start > case.anchor else case.anchor
        row = self.rows[row.mid]
        self.put(replace(row, observations=(*row.observations, Observation(at, self.now, since))))
        self.seen.append(Seen(row.mid, at, since, case.statement.span))

    def retract(self, row: Row, *, overruled: bool = False) -> None:
        self.put(replace(self.rows[row.mid], retracted_at=self.now, overruled=overruled))

    def pend(self, pending: Pending) -> None:
        self.pendings[pending.row.mid] = pending
        self.pended.append(pending.row.mid)

    def decide(self, pending: Pending, outcome: str, at: Ms) -> None:
        mid = pending.row.mid
        self.pendings[mid] = replace(pending, decided_at=self.now, pending_to=max(at, pending.pending_from), outcome=outcome)
        self.decided.append(mid)

    # --- what the write must carry

    def recache(self, slots: Iterable[str]) -> list[Row]:
        """Refresh the caches of these slots; return the rows that were there before and now differ in a cache or a decision."""
        named = set(slots)
        rivals = [c for r in self.rows.values() if r.slot not in named and (c := rival_cached(self.ledger, r, self.now)) is not None]
        for row in (*recached(self.ledger, named, self.now), *rivals):
            self.rows[row.mid] = row
        self._ledger = None
        return [row for mid, row in self.rows.items() if mid in self.original and row != self.original[mid]]


def begins(o: Observation) -> Ms:
    """From when an observation holds: from the start of what its words claim, else from when it was said."""
    return o.at if o.since is None else o.since


def observations_after(book: Book, row: Row, start: Ms, said_at: Ms) -> list[Observation]:
    """Observations of a row that begin after `start` (a claim: at it or after) and before the row ends, said after `said_at`, in order."""
    end, _ = book.ledger.end(row, book.now)
    found = (o for o in row.observations if o.at > max(start, said_at) and start <= begins(o) < end)
    return sorted(found, key=begins)


__all__ = ["Book", "Case", "Judgement", "Limits", "Rule", "Trust"]
