"""Random histories for the oracle and a product beside it: the same steps for both, every answer compared at random moments."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from graphmem.book import Book, Case, Limits, Rule, Trust
from graphmem.casework import Spoken, reads
from graphmem.conflict import confirm
from graphmem.ids import many
from graphmem.memory import Kind, Statement, Verdict, from_ms
from graphmem.ports import Operation
from graphmem.remember import whole
from graphmem.scope import Scope
from graphmem.slot import ckey_of_text, slot_prefix
from graphmem.validity import Ledger, Pending, Row, shown
from graphmem.writing import Changes, Known, Origin, book_of, hear, settle
from tests.fakes import ListGraph
from tests.oracle import Oracle
from tests.oracle_lines import DAY, HOUR, PENDING_LIFE, SKEW, WINDOW, Line, Shape, Slot, Told, Words

SHAPES = {
    "home_city": Shape("fact", "one"),
    "age": Shape("fact", "one", lifetime=365 * DAY),
    "phone": Shape("fact", "one", "dual"),
    "name": Shape("fact", "one", "review"),
    "allergy": Shape("fact", "many", "review", safety=True),
    "hobby": Shape("fact", "many"),
    "coffee_preference": Shape("preference", "chosen", lifetime=180 * DAY),
    "tea_preference": Shape("preference", "chosen", lifetime=180 * DAY),
    "food_preference": Shape("preference", "pole", lifetime=180 * DAY),
    "current_city": Shape("context", "one", lifetime=7 * DAY),
}
VALUES = ("latte", "mocha", "decaf")
ENDED_BY_VALUE = ("many", "pole")
BEGIN = 1_700_000_000_000


@dataclass(frozen=True)
class Step:
    """wait: how far the clock moves before it. pick: which of the open (or readable) ones a decision is about."""

    what: Literal["say", "confirm", "reject", "retract", "forget"]
    wait: int = 1
    words: Words | None = None
    back: int | None = None
    pick: int = 0


class Product(Protocol):
    """What the driver asks of the thing under test. Each step returns the moment it was learnt."""

    def say(self, words: Words) -> int: ...
    def decide(self, what: str, line: Line) -> int: ...
    def told(self, t: int, k: int) -> list[Told]: ...
    def shown(self, t: int, k: int) -> list[Told]: ...
    def versions(self) -> dict[Slot, list[int]]: ...
    def wait(self, ms: int) -> None: ...
    def wall(self) -> int | None:
        """The product's own clock where it cannot be set; None where `wait` sets it."""


def random_steps(rng: random.Random, count: int, keys: Sequence[str]) -> list[Step]:
    """Statements of every sort, decisions in between, clock jumps, times that are equal."""
    return [_random_step(rng, keys) for _ in range(count)]


def _random_step(rng: random.Random, keys: Sequence[str]) -> Step:
    wait = rng.choice((1, 1, 1000, HOUR, 5 * HOUR, WINDOW, WINDOW + 1, 5 * DAY, 20 * DAY, PENDING_LIFE, 100 * DAY))
    roll = rng.random()
    if roll > 0.82:
        what: Literal["confirm", "reject", "retract", "forget"] = rng.choice(("confirm", "confirm", "reject", "retract", "forget"))
        return Step(what, wait, pick=rng.randrange(1000))
    back = rng.choice((None, None, None, 0, 0, 1, HOUR, WINDOW, 2 * DAY, 10 * DAY, 60 * DAY, -SKEW, -SKEW - 1, -3 * DAY, -7777))
    return Step("say", wait, random_words(rng, rng.choice(list(keys))), back)


def random_words(rng: random.Random, key: str) -> Words:
    """`start` and `ends_at` are distances from said_at here; `dated` makes them moments."""
    shape = SHAPES[key]
    w = Words(key, rng.choice(VALUES), None, deliberate=rng.random() < 0.5, verified=rng.choice((None, None, True, False)))
    if shape.arity != "many" and shape.kind != "context" and rng.random() < 0.25:
        w = replace(w, polarity="-")
    w = replace(w, change=rng.random() < 0.3, vouched=rng.random() < 0.3, sourced=rng.random() < 0.98)
    if shape.safety:
        return _safety_words(rng, w)
    roll = rng.random()
    far = rng.choice((1, HOUR, DAY, 3 * DAY, 8 * DAY, 30 * DAY, 90 * DAY))
    if roll < 0.12 and w.polarity == "+" and shape.policy == "versioned":
        w = replace(w, is_end=True, value=w.value if shape.arity in ENDED_BY_VALUE else None)
        return replace(w, start=rng.choice((None, None, -far, far)))
    if roll < 0.26:
        return replace(w, start=-far, claims=True)
    if roll < 0.32:
        return replace(w, start=-far)
    if roll < 0.42:
        return replace(w, start=far)
    if roll < 0.50:
        return replace(w, ends_at=far, start=rng.choice((None, None, -far // 2)))
    if roll < 0.58:
        return replace(w, start=-2 * far, ends_at=-far)
    if roll < 0.64 and shape.policy == "versioned":
        return replace(w, slip=True)
    return w


def _safety_words(rng: random.Random, w: Words) -> Words:
    if rng.random() < 0.4:
        whole = rng.random() < 0.2
        return replace(
            w, polarity="-", whole_key=whole, value=None if whole else w.value, grounds=rng.choice((None, None, "test", "outgrown"))
        )
    return replace(w, hedged=rng.random() < 0.15, is_end=rng.random() < 0.1)


def dated(words: Words, back: int | None, now: int) -> Words:
    """The words of a step, said `back` before now (negative: ahead); None leaves the date to the clock."""
    said = now if back is None else now - back
    start = None if words.start is None else said + words.start
    ends = None if words.ends_at is None else said + words.ends_at
    return replace(words, at=None if back is None else said, start=start, ends_at=ends)


@dataclass
class History:
    """One product and the oracle side by side."""

    product: Product
    oracle: Oracle = field(default_factory=lambda: Oracle(SHAPES))
    clock: int = BEGIN
    marks: set[int] = field(default_factory=lambda: {BEGIN})
    learnt: list[int] = field(default_factory=lambda: [BEGIN])
    done: list[tuple[object, int]] = field(default_factory=list)
    checks: int = 0

    def take(self, step: Step) -> None:
        self.clock += step.wait
        self.product.wait(step.wait)
        if step.what == "say":
            assert step.words is not None
            wall = self.product.wall()
            base = self.clock if wall is None or step.back is not None else wall
            words = dated(step.words, step.back, base)
            self.done.append((words, 0))
            now = self.product.say(words)
            verdicts = self.oracle.say(words, now)
            self.done[-1] = ((words, verdicts), now)
            self.marks |= {m for m in (words.at, words.start, words.ends_at) if m is not None}
        elif (line := self._picked(step)) is not None:
            self.done.append(((step.what, line), 0))
            now = self.product.decide(step.what, line)
            self.done[-1] = ((step.what, line), now)
            act = {
                "confirm": self.oracle.confirm,
                "reject": self.oracle.reject,
                "retract": self.oracle.retract,
                "forget": self.oracle.forget,
            }
            act[step.what](line, now)
        else:
            return
        self.marks.add(now)
        self.learnt.append(now)
        if self.product.wall() is None:
            self.clock = max(self.clock, now)

    def _picked(self, step: Step) -> Line | None:
        if step.what in ("confirm", "reject"):
            wall = self.product.wall()
            young = self.clock + 2 if wall is None else wall + HOUR
            found = [p for p in self.oracle.pendings if p.decided is None and p.forgotten is None and young < p.said + PENDING_LIFE]
            if wall is not None:  # through the doors only a preference is the user's own to confirm
                found = [p for p in found if p.kind == "preference"]
        else:
            found = [x for x in self.oracle.lines if x.retracted is None and x.forgotten is None]
            if self.product.wall() is not None and step.what == "retract":  # through the doors other keys change by proof or review
                found = [x for x in found if SHAPES[x.slot[0]].policy == "versioned"]
        return found[step.pick % len(found)] if found else None

    def moments(self, rng: random.Random, count: int) -> list[tuple[int, int]]:
        """(as_of, known_at): at, just before and just after whatever was said, learnt, begun or ended, and where lifetimes run out."""
        near = (-1, 0, 0, 1, DAY, 7 * DAY, 7 * DAY - 1, 30 * DAY, 180 * DAY, 180 * DAY - 1, 365 * DAY)
        marks = sorted(self.marks)
        found = []
        for _ in range(count):
            t = rng.choice(marks) + rng.choice(near)
            k = self.learnt[-1] if rng.random() < 0.5 else rng.choice(self.learnt) + rng.choice((-1, 0, 0, 1))
            found.append((t, k))
        return found

    def compare(self, rng: random.Random, count: int = 12) -> None:
        for t, k in self.moments(rng, count):
            told, expected = self.product.told(t, k), self.oracle.told(t, k)
            assert told == expected, self._differs("told", t, k, told, expected)
            shows, expected = self.product.shown(t, k), self.oracle.shown(t, k)
            assert shows == expected, self._differs("shown", t, k, shows, expected)
            self.checks += 2
        for slot, numbers in self.product.versions().items():
            assert numbers == list(range(1, len(numbers) + 1)), f"versions of {slot}: {numbers}"
            self.checks += 1

    def _differs(self, what: str, t: int, k: int, product: object, oracle: object) -> str:
        def days(ms: int | None) -> str:
            return "-" if ms is None else f"{(ms - BEGIN) / DAY:.6g}"

        lines = [f"{what} at t={days(t)} k={days(k)}: product {product}, oracle {oracle}"]
        for thing, now in self.done:
            if isinstance(thing, tuple) and isinstance(thing[0], Words):
                w = thing[0]
                flags = [f for f in ("claims", "is_end", "slip", "change", "hedged", "whole_key", "vouched", "deliberate") if getattr(w, f)]
                text = f"{w.key} {w.polarity}{w.value} at={days(w.at)} start={days(w.start)} ends={days(w.ends_at)} {flags} {w.grounds}"
                lines.append(f"  @{days(now)} {text} verified={w.verified} -> {thing[1]}")
            elif isinstance(thing, tuple):
                lines.append(f"  @{days(now)} {thing[0]} {thing[1].slot} {thing[1].polarity}{thing[1].value} from {days(thing[1].start)}")
        return "\n".join(lines)


LIMITS = Limits(WINDOW, PENDING_LIFE)
SCOPE = Scope("t", "u")


def rule(key: str) -> Rule:
    shape = SHAPES[key]
    return Rule(shape.arity, shape.policy, shape.lifetime, shape.safety, taste=shape.arity == "chosen")


def statement(words: Words) -> Statement:
    """The product's noun for the oracle's."""
    return Statement(
        kind=Kind(SHAPES[words.key].kind), key=words.key, value=words.value, ckey="" if words.value is None else ckey_of_text(words.value),
        subject=words.subject, polarity=words.polarity, change=words.change, hedged=words.hedged, is_end=words.is_end, slip=words.slip,
        grounds=words.grounds, whole_key=words.whole_key, start=None if words.start is None else from_ms(words.start),
        ends_at=None if words.ends_at is None else from_ms(words.ends_at), claims=words.claims, deliberate=words.deliberate,
    )  # fmt: skip


def trust(words: Words) -> Trust:
    return Trust(sourced=words.sourced, verified=words.verified, vouched=words.vouched)


class Pure:
    """The pure middle over the list graph."""

    def __init__(self) -> None:
        self.graph = ListGraph(clock=BEGIN)
        self.verdicts: list[Verdict] = []

    def wait(self, ms: int) -> None:
        self.graph.clock += ms

    def wall(self) -> int | None:
        return None

    def say(self, words: Words) -> int:
        spoken = [Spoken(SCOPE, statement(words), rule(words.key), trust(words), words.at)]
        mids = many(40)

        def decide(known: Known) -> Changes:
            book, decided = hear(known, spoken, LIMITS, SKEW, mids)
            self.verdicts = [d.judgement.verdict for d in decided]
            return settle(known, book, _changes())

        return self.graph.write(SCOPE, Operation(mids[-1], "h", "test", "user"), reads(spoken), decide).known.now

    def decide(self, what: str, line: Line) -> int:
        row, pending = self.find(line)
        mids = many(12)

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(mids))
            if what == "confirm":
                assert pending is not None
                confirm(_case(book, pending), book, pending, book.now)
            elif what == "reject":
                assert pending is not None
                book.decide(pending, "rejected", book.now)
            elif what == "retract":
                book.retract(book.rows[row.mid])
            else:
                book.put(replace(book.rows[row.mid], tombstoned_at=book.now))
            return settle(known, book, _changes())

        return self.graph.write(SCOPE, Operation(mids[-1], "h", what, "user"), whole(row), decide).known.now

    def find(self, line: Line) -> tuple[Row, Pending | None]:
        """The product's row of an oracle's line: the same slot, moment of learning, start and value."""
        if not line.version:
            pending = [p for p in self.graph.pendings.values() if (slot_of(p.row), p.row.recorded_at) == (line.slot, line.recorded)]
            assert len(pending) == 1, f"pending {line} is {pending}"
            return pending[0].row, pending[0]
        rows = [
            r
            for r in self.graph.rows.values()
            if (slot_of(r), r.recorded_at, r.valid_from, r.value, r.retracted_at)
            == (line.slot, line.recorded, line.start, None if line.is_end else line.value, None)
        ]
        assert rows, f"no row for {line}"
        return max(rows, key=lambda r: r.version), None

    def told(self, t: int, k: int) -> list[Told]:
        ledger = Ledger(self.graph.rows.values())
        return sorted((told_of(r) for r in ledger.all_told(t, k)), key=repr)

    def shown(self, t: int, k: int) -> list[Told]:
        return sorted((told_of(p.row) for p in self.graph.pendings.values() if shown(p, t, k, PENDING_LIFE)), key=repr)

    def versions(self) -> dict[Slot, list[int]]:
        found: dict[Slot, list[int]] = {}
        for row in self.graph.rows.values():
            found.setdefault(slot_of(row), []).append(row.version)
        return {slot: sorted(numbers) for slot, numbers in found.items()}


def slot_of(row: Row) -> Slot:
    wide = row.slot == slot_prefix(SCOPE, row.kind, row.key, row.subject)
    return (row.key, row.subject, "" if wide else row.slot.rsplit("|", 1)[1].removeprefix("text:"))


def told_of(row: Row) -> Told:
    return Told(row.key, row.subject, row.polarity, row.value or "")


def _changes() -> Changes:
    return Changes(json.dumps({}), Origin("s", "user_stated", None, None, "default", "UTC"))


def _case(book: Book, pending: Pending) -> Case:
    row = pending.row
    said = Statement(
        kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity, is_end=row.is_end,
        deliberate=True,
    )  # fmt: skip
    start = max(book.now, row.valid_from)
    return Case(said, rule(row.key), Trust(), LIMITS, row.slot, row.thing, book.now, start, row.ends_at, book.now, book.now)


def run_pure(seed: object, count: int = 8, keys: Sequence[str] = tuple(SHAPES)) -> int:
    """One random history over the list graph; returns the number of checks made."""
    rng = random.Random(repr(seed))
    chosen = rng.sample(list(keys), min(len(keys), rng.choice((1, 1, 2, 3))))
    history = History(Pure())
    for step in random_steps(rng, count, chosen):
        history.take(step)
        history.compare(rng, 6)
    history.compare(rng, 20)
    return history.checks
