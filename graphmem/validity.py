"""Which row of a slot answers at (as_of t, known_at k), and whether it is told: design section 3, pure.

Times here are integer milliseconds since 1970 UTC (`Ms`), so that equal instants are equal numbers on both sides of the wire.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from graphmem.memory import Kind, Polarity, Standing, Status
from graphmem.slot import folded

Ms = int
"""Milliseconds since 1970-01-01T00:00:00Z."""

OPEN: Ms = 253_402_300_799_999
"""End of an interval nobody has ended (9999-12-31T23:59:59.999Z): an index entry needs a value where `valid_to` has none."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The value of a row was stated again at `at`, learnt at `recorded_at`; `since`: its words claimed the span from there to `at`."""

    at: Ms
    recorded_at: Ms
    since: Ms | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One edge of the user. The first block was said once and never changes; the second is written once; the third is cached."""

    mid: str
    kind: Kind
    slot: str
    thing: str
    key: str
    ckey: str
    subject: str
    value: str | None
    polarity: Polarity
    version: int
    said_at: Ms
    valid_from: Ms
    recorded_at: Ms
    ends_at: Ms | None = None
    is_end: bool = False
    inset: bool = False
    claims: bool = False
    lifetime: Ms | None = None
    confidence: float = 1.0
    standing: Standing = Standing.STATED
    observations: tuple[Observation, ...] = ()
    classed: bool = False

    retracted_at: Ms | None = None
    tombstoned_at: Ms | None = None
    overruled: bool = False
    """Retracted because a later statement claimed its time; what it claimed itself still overrules what was said before it."""

    until: Ms = OPEN
    """Until when a write must read it: its own end, or later where it still holds a cache, a claim or the end of such a row."""
    valid_to: Ms | None = None
    current: bool = False
    planned: bool = False
    expires_at: Ms | None = None
    observed_at: Ms = 0
    prev_mid: str | None = None
    next_mid: str | None = None
    status: Status = Status.ACTIVE
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def place(self) -> tuple[Ms, bool, int]:
        """Order in a slot: an inset by said_at, others by valid_from; at equal start a value wins over an end, then the version."""
        return (self.said_at if self.inset else self.valid_from, not self.is_end, self.version)

    @property
    def turn(self) -> tuple[Ms, Ms, int]:
        """Order between slots, for opposition."""
        return (self.valid_from, self.recorded_at, self.version)


@dataclass(frozen=True, slots=True)
class Pending:
    """Kept, shown as unconfirmed, never told. `row` holds what would be recorded (its valid_from is the stated start)."""

    row: Row
    reason: str
    pending_from: Ms
    pending_to: Ms | None = None
    decided_at: Ms | None = None
    outcome: str | None = None
    blocks: bool = False

    def open(self) -> bool:
        return self.decided_at is None


def spans(row: Row) -> list[tuple[Ms, Ms]]:
    """The (start, said_at) spans that a row and its later observations claim by their words."""
    own = [(row.valid_from, row.said_at)] if row.claims else []
    return own + [(o.since, o.at) for o in row.observations if o.since is not None]


def counts(row: Row, k: Ms) -> bool:
    """Recorded by k and not retracted by k."""
    return row.recorded_at <= k and (row.retracted_at is None or row.retracted_at > k)


def answer(rows: Iterable[Row], t: Ms, k: Ms) -> Row | None:
    """The row that answers a slot at (t, k): the greatest by place of those that count and have begun, insets that are over left out."""
    return max((row for row in rows if _answers(row, t, k)), key=_PLACE, default=None)


def _answers(row: Row, t: Ms, k: Ms) -> bool:
    """It counts and has begun, and is no inset that is over."""
    return row.valid_from <= t and counts(row, k) and not (row.inset and row.ends_at is not None and row.ends_at <= t)


_PLACE = attrgetter("place")


def same_thing(a: Row, b: Row) -> bool:
    """The same concept of the same subject (and the same value where the concept is only a class of values)."""
    return a.thing == b.thing and (not a.classed or fold_value(a.value) == fold_value(b.value))


def fold_value(value: str | None) -> str:
    return "" if value is None else folded(value)


def opposers(row: Row, rivals: Iterable[Row], k: Ms) -> list[Row]:
    """Counting rows of the other polarity about the same thing that come after `row`, first first. Ends and insets oppose nothing."""
    if row.is_end or not row.ckey or row.kind is Kind.CONTEXT:
        return []
    found = [
        r
        for r in rivals
        if r.polarity != row.polarity and not r.is_end and not r.inset and r.turn > row.turn and counts(r, k) and same_thing(row, r)
    ]
    return sorted(found, key=lambda r: r.turn)


def opposed_from(row: Row, rivals: Iterable[Row], k: Ms) -> Ms | None:
    """From when the row is told no more because the opposite was said; None when it never was."""
    found = opposers(row, rivals, k)
    return found[0].valid_from if found else None


def last_observed(row: Row, t: Ms, k: Ms) -> Ms:
    """When the value was last stated, as of (t, k): its own said_at and valid_from always count, a claimed span from its start on."""
    later = (o.at for o in row.observations if o.recorded_at <= k and (o.at if o.since is None else o.since) <= t)
    return max(row.said_at, row.valid_from, *later)


def lives(row: Row, t: Ms, k: Ms) -> bool:
    """Not over by its own end and not past its lifetime at (t, k)."""
    if row.ends_at is not None and row.ends_at <= t:
        return False
    return row.lifetime is None or t < last_observed(row, t, k) + row.lifetime


def told(row: Row, rivals: Iterable[Row], t: Ms, k: Ms) -> bool:
    """Whether an answering row is told at (t, k)."""
    if row.is_end or row.tombstoned_at is not None or not lives(row, t, k):
        return False
    opposed = opposed_from(row, rivals, k)
    return opposed is None or opposed > t


def lapses(row: Row, k: Ms) -> Ms | None:
    """When the row is told no more by itself, as known at k: its lifetime after the last observation, or its own stated end."""
    life = None if row.lifetime is None else last_observed(row, OPEN, k) + row.lifetime
    return row.ends_at if life is None else life if row.ends_at is None else min(life, row.ends_at)


class Ledger:
    """Rows of one user (or a bounded part), grouped once: answers for any (t, k). Values in, values out."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.by_slot: dict[str, list[Row]] = defaultdict(list)
        self.by_thing: dict[str, list[Row]] = defaultdict(list)
        self._orders: dict[str, list[Row]] = {}
        self._rows: tuple[Row, ...] | None = tuple(rows)
        for row in self._rows:
            self.by_slot[row.slot].append(row)
            self.by_thing[row.thing].append(row)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order they came; after `put` slot by slot."""
        if self._rows is None:
            self._rows = tuple(row for rows in self.by_slot.values() for row in rows)
        return self._rows

    def put(self, row: Row, before: Row | None) -> None:
        """Take a new row, or one that stands for `before` (the same slot and thing) from now on."""
        self._rows = None
        for group in (self.by_slot[row.slot], self.by_thing[row.thing]):
            if before is None:
                group.append(row)
            else:
                group[next(i for i, held in enumerate(group) if held is before)] = row
        if before is not None:
            self._orders.pop(row.slot, None)
        elif (order := self._orders.get(row.slot)) is not None:
            insort(order, row, key=_PLACE)

    def order(self, slot: str) -> list[Row]:
        """The rows of a slot by their place; kept until one of them changes, because each statement asks for it many times."""
        found = self._orders.get(slot)
        if found is None:
            found = self._orders[slot] = sorted(self.by_slot.get(slot, ()), key=_PLACE)
        return found

    def answer(self, slot: str, t: Ms, k: Ms, *, insets: bool = True) -> Row | None:
        """See `answer`; without `insets` as if there were none."""
        for row in reversed(self.order(slot)):
            if row.valid_from <= t and (insets or not row.inset) and _answers(row, t, k):
                return row
        return None

    def told(self, slot: str, t: Ms, k: Ms) -> Row | None:
        """What is told of a slot at (t, k), or None."""
        row = self.answer(slot, t, k)
        return row if row is not None and told(row, self.by_thing[row.thing], t, k) else None

    def tells(self, row: Row, t: Ms, k: Ms) -> bool:
        return self.told(row.slot, t, k) is row

    def all_told(self, t: Ms, k: Ms) -> list[Row]:
        """Everything that is told at (t, k), in slot order."""
        found = (self.told(slot, t, k) for slot in sorted(self.by_slot))
        return [row for row in found if row is not None]

    def opposed_from(self, row: Row, k: Ms) -> Ms | None:
        return opposed_from(row, self.by_thing[row.thing], k)

    def follower(self, row: Row, k: Ms) -> Row | None:
        """The next row of the slot in order, insets left out: the one that ends it by succession."""
        if row.inset:
            return None
        order = self.order(row.slot)
        after = (order[i] for i in range(bisect_right(order, row.place, key=_PLACE), len(order)))
        return next((r for r in after if not r.inset and counts(r, k)), None)

    def predecessor(self, row: Row, k: Ms) -> Row | None:
        """The row before it in the slot's order, insets left out."""
        if row.inset:
            return None
        order = self.order(row.slot)
        before = (order[i] for i in range(bisect_left(order, row.place, key=_PLACE) - 1, -1, -1))
        return next((r for r in before if not r.inset and counts(r, k)), None)

    def end(self, row: Row, k: Ms) -> tuple[Ms, Row | None]:
        """When the row's own interval ends as known at k (OPEN if it does not), and the row that ends it (None: its own stated end)."""
        until, by = OPEN if row.ends_at is None else row.ends_at, None
        if (nxt := self.follower(row, k)) is not None and nxt.valid_from < until:
            until, by = nxt.valid_from, nxt
        for opposer in opposers(row, self.by_thing[row.thing], k)[:1]:
            if opposer.valid_from < until:
                until, by = opposer.valid_from, opposer
        return max(until, row.valid_from), by

    def status(self, row: Row, t: Ms, k: Ms) -> Status:
        """Status of a row for (t, k); rows recorded after k have none and must not be asked."""
        if row.tombstoned_at is not None:
            return Status.TOMBSTONED
        if row.retracted_at is not None and row.retracted_at <= k:
            return Status.RETRACTED
        if row.valid_from > t:
            return Status.SCHEDULED
        if row is not self.answer(row.slot, t, k):
            return Status.HISTORICAL if row.inset else Status.SUPERSEDED
        opposed = self.opposed_from(row, k)
        if opposed is not None and opposed <= t:
            return Status.SUPERSEDED
        if row.is_end or (row.ends_at is not None and row.ends_at <= t):
            return Status.HISTORICAL
        return Status.ACTIVE if lives(row, t, k) else Status.EXPIRED


def shown(pending: Pending, t: Ms, k: Ms, life: Ms) -> bool:
    """Whether a pending memory is shown at (t, k): known, begun, undecided then, and younger than its life."""
    row = pending.row
    if row.tombstoned_at is not None or row.recorded_at > k or pending.pending_from > t or t >= row.said_at + life:
        return False
    decided = pending.decided_at is not None and pending.decided_at <= k
    return not (decided and pending.pending_to is not None and pending.pending_to <= t)
