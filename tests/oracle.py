"""An independent model of sections 3 to 5 of the design: lists and whole numbers, written from the text and not from the judge.

It keeps the log of what happened (what was said, what was decided, when each was learnt) and plays it over one flat list of lines. Nothing
is indexed and nothing is cached: every answer looks at every line, so that it can be read beside the text. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

DAY = 86_400_000
HOUR = 3_600_000
WINDOW = 72 * HOUR
PENDING_LIFE = 30 * DAY
SKEW = 5 * 60_000

Slot = tuple[str, str, str]
"""(key, subject, concept); concept is empty where one value holds."""


@dataclass(frozen=True)
class Shape:
    """What the ontology says of a key."""

    kind: Literal["fact", "preference", "context"]
    arity: Literal["one", "many", "pole", "chosen"]
    policy: Literal["versioned", "dual", "review"] = "versioned"
    lifetime: int | None = None
    safety: bool = False


@dataclass(frozen=True)
class Words:
    """One statement as it was said. at None: the clock dates it. claims: the words date it back. deliberate: not speech."""

    key: str
    value: str | None
    at: int | None
    polarity: Literal["+", "-"] = "+"
    start: int | None = None
    ends_at: int | None = None
    claims: bool = False
    is_end: bool = False
    slip: bool = False
    change: bool = False
    hedged: bool = False
    whole_key: bool = False
    grounds: Literal["test", "professional", "document", "outgrown"] | None = None
    deliberate: bool = True
    sourced: bool = True
    verified: bool | None = None
    vouched: bool = False
    subject: str = "self"


@dataclass(frozen=True)
class Told:
    """One thing in an answer."""

    key: str
    subject: str
    polarity: str
    value: str


@dataclass
class Seen:
    """Said again: when, learnt when, and from when on the words claim it (`at` where they date nothing back)."""

    at: int
    recorded: int
    start: int

    @property
    def claims(self) -> bool:
        return self.start < self.at


@dataclass
class Line:
    """One version, or one pending thing (`version` 0)."""

    slot: Slot
    kind: str
    value: str | None
    polarity: str
    version: int
    said: int
    start: int
    recorded: int
    ends_at: int | None = None
    is_end: bool = False
    inset: bool = False
    claims: bool = False
    lifetime: int | None = None
    seen: list[Seen] = field(default_factory=list)
    retracted: int | None = None
    forgotten: int | None = None
    stated_start: int | None = None
    decided: int | None = None
    pending_to: int | None = None
    outcome: str | None = None

    def about(self) -> tuple[str, ...]:
        """What opposition is about: all preference keys together, a fact key by itself."""
        key, subject, _ = self.slot
        return (subject, self.value or "") if self.kind == "preference" else (key, subject, self.value or "")

    def counts(self, k: int) -> bool:
        return self.recorded <= k and (self.retracted is None or self.retracted > k)

    def same(self, other: Line) -> bool:
        return not self.is_end and not other.is_end and (self.value, self.polarity) == (other.value, other.polarity)

    def order(self) -> tuple[int, bool, int]:
        """Greatest answers: by start (an inset by when it was said), a value before an end, the higher version."""
        return (self.said if self.inset else self.start, not self.is_end, self.version)

    def told(self) -> Told:
        return Told(self.slot[0], self.slot[1], self.polarity, "" if self.is_end else self.value or "")


def opposes(a: Line, b: Line) -> bool:
    """Other polarity about the same concept and subject; contexts hold no concepts."""
    return "context" not in (a.kind, b.kind) and a.kind == b.kind and a.about() == b.about() and a.polarity != b.polarity


class Oracle:
    """One user's memory. Every step takes `now`, the moment it was learnt; steps come in the order of learning."""

    def __init__(self, shapes: dict[str, Shape]) -> None:
        self.shapes = shapes
        self.lines: list[Line] = []
        self.pendings: list[Line] = []
        self.log: list[tuple[str, object, int]] = []

    # --- answers

    def answer(self, slot: Slot, t: int, k: int, *, insets: bool = True) -> Line | None:
        """The counting line of the slot that is greatest at t; insets are left out once they are over."""
        found = [x for x in self.lines if x.slot == slot and x.counts(k) and x.start <= t]
        found = [x for x in found if not x.inset or (insets and x.ends_at is not None and t < x.ends_at)]
        return max(found, key=Line.order, default=None)

    def told(self, t: int, k: int) -> list[Told]:
        """Everything told at (as_of t, known_at k), sorted."""
        slots = {x.slot for x in self.lines}
        answers = [self.answer(s, t, k) for s in slots]
        return sorted((x.told() for x in answers if x is not None and self.speaks(x, t, k)), key=repr)

    def told_in(self, slot: Slot, t: int, k: int) -> Line | None:
        """What is told of one slot by the standing lines: what the judge compares with. Insets never count there."""
        found = self.answer(slot, t, k, insets=False)
        return found if found is not None and self.speaks(found, t, k) else None

    def speaks(self, x: Line, t: int, k: int) -> bool:
        """Is the answer of a slot told: no end, not forgotten, its own end to come, alive and not opposed."""
        if x.is_end or x.forgotten is not None or (x.ends_at is not None and x.ends_at <= t):
            return False
        if x.lifetime is not None and t >= self.last_observation(x, t, k) + x.lifetime:
            return False
        return not any(self.comes_after(y, x) and y.counts(k) and y.start <= t for y in self.lines)

    @staticmethod
    def comes_after(y: Line, x: Line) -> bool:
        """Does y oppose x from y's start on. Ends and insets oppose nothing; forgotten lines still do."""
        return opposes(y, x) and not y.is_end and not y.inset and (y.start, y.recorded, y.version) > (x.start, x.recorded, x.version)

    @staticmethod
    def last_observation(x: Line, t: int, k: int) -> int:
        return max([x.said, x.start, *(s.at for s in x.seen if s.start <= t and s.recorded <= k)])

    def shown(self, t: int, k: int) -> list[Told]:
        """The pending things shown beside what is told."""
        return sorted((p.told() for p in self.pendings if self.shows(p, t, k)), key=repr)

    @staticmethod
    def shows(p: Line, t: int, k: int) -> bool:
        if p.recorded > k or p.said > t or t >= p.said + PENDING_LIFE or p.forgotten is not None:
            return False
        return not (p.decided is not None and p.decided <= k and p.pending_to is not None and p.pending_to <= t)

    def versions(self, slot: Slot) -> list[Line]:
        return sorted((x for x in self.lines if x.slot == slot), key=lambda x: x.version)

    # --- what happens

    def say(self, words: Words, now: int) -> list[str]:
        """One statement, heard at now. Returns the verdicts."""
        self.log.append(("say", words, now))
        return [Judge(self, w, now).verdict() for w in self._each(words, now)]

    def _each(self, w: Words, now: int) -> Iterator[Words]:
        """A denial of a whole key is one of each affirmation held and of everything (`*`); a bare one is one case if any is affirmed.

        The first thing affirmed after it ends it: "no allergies" is not told beside one.
        """
        said, start = heard(w, now)
        at = said if start is None else max(said, start)
        if not w.whole_key:
            lone = self.shapes[w.key].safety and self.shapes[w.key].arity == "many" and w.polarity == "+" and not w.is_end and not w.hedged
            if lone and w.ends_at is None and self.told_in((w.key, w.subject, "*"), at, now) is not None:
                yield replace(w, value=None, is_end=True, slip=False, claims=False)
            yield w
            return
        held = [x for x in self.lines if x.slot[:2] == (w.key, w.subject) and x.polarity == "+" and self.told_in(x.slot, at, now) is x]
        if w.grounds is not None or w.vouched or not self.shapes[w.key].safety:
            yield from (replace(w, value=x.value, whole_key=False) for x in held)
            held = []
        yield replace(w, whole_key=bool(held))

    def confirm(self, p: Line, now: int) -> None:
        """The user's own yes: a new version from the later of the decision and the stated start."""
        self.log.append(("confirm", self.pendings.index(p), now))
        self.make_version(p, now, now)

    def make_version(self, p: Line, said: int, now: int) -> None:
        self.decide(p, "confirmed", said, now)
        start = said if p.stated_start is None else max(said, p.stated_start)
        row = Line(p.slot, p.kind, p.value, p.polarity, 0, said, start, now, p.ends_at, p.is_end, lifetime=p.lifetime)
        row.inset = p.ends_at is not None and p.ends_at <= said
        Placing(self, row, now).place()

    def reject(self, p: Line, now: int) -> None:
        self.log.append(("reject", self.pendings.index(p), now))
        self.decide(p, "rejected", now, now)

    @staticmethod
    def decide(p: Line, outcome: str, at: int, now: int) -> None:
        p.decided, p.pending_to, p.outcome = now, at, outcome

    def retract(self, x: Line, now: int) -> None:
        """It was never so; the line before it in time counts again."""
        self.log.append(("retract", self.lines.index(x), now))
        x.retracted = now

    def forget(self, x: Line, now: int) -> None:
        """Unreadable at any (t, k); it keeps its place and its opposition."""
        self.log.append(("forget", (x.version > 0, (self.lines if x.version else self.pendings).index(x)), now))
        x.forgotten = now
        if not x.version and x.decided is None:
            self.decide(x, "rejected", now, now)


def heard(w: Words, now: int) -> tuple[int, int | None]:
    """(said_at, stated start). Up to five minutes ahead is now; further ahead it is a start to come."""
    if w.at is None or now < w.at <= now + SKEW:
        return now, w.start
    if w.at > now:
        return now, w.at if w.start is None else w.start
    return w.at, w.start


class Placing:
    """A new line put among the others: overruled spans, and what a late one must leave standing after it."""

    def __init__(self, oracle: Oracle, row: Line, now: int) -> None:
        self.oracle, self.row, self.now = oracle, row, now

    def place(self) -> Line:
        row = self.row
        beneath = [] if row.inset else self._beneath()
        gone = any(self._covers(c, row) for c in self._rivals())
        overruled = self.overrule() if row.claims else []
        self._add(row)
        if gone:
            row.retracted = self.now
        for held in overruled if gone else [*beneath, *overruled]:
            self.say_again(held)
        return row

    def overrule(self) -> list[Line]:
        """Retract the lines of other values that begin inside the claimed span and were said earlier."""
        row = self.row
        found = [x for x in self._rivals() if row.start <= x.start <= row.said and x.said < row.said]
        for other in found:
            other.retracted = self.now
        return found

    def _add(self, row: Line) -> None:
        row.version = 1 + max((x.version for x in self.oracle.lines if x.slot == row.slot), default=0)
        self.oracle.lines.append(row)

    def _rival(self, x: Line) -> bool:
        """A counting line of another value of the slot, or of the other polarity of the concept."""
        same_slot = x.slot == self.row.slot and not x.same(self.row)
        return x is not self.row and x.counts(self.now) and (same_slot or opposes(x, self.row))

    def _rivals(self) -> list[Line]:
        return [x for x in self.oracle.lines if self._rival(x)]

    @staticmethod
    def _covers(c: Line, x: Line) -> bool:
        """Does what was said of c, dated back, claim the time at which x begins, having been said later than x?"""
        spans = [(c.start, c.said)] if c.claims and not c.inset else []
        spans += [(s.start, s.at) for s in c.seen if s.claims]
        return any(a <= x.start <= b and x.said < b for a, b in spans)

    def _beneath(self) -> list[Line]:
        """The line that the new one follows and those it opposes, as they stood before it."""
        row = self.row
        follows = self.oracle.answer(row.slot, row.start, self.now, insets=False)
        found = [] if follows is None or follows.same(row) else [follows]
        if not row.is_end:
            found += [
                x
                for x in self.oracle.lines
                if opposes(x, row) and x.slot != row.slot and x.counts(self.now) and not x.inset and not x.is_end and x.start <= row.start
            ]
        return found

    def say_again(self, held: Line, since: int | None = None) -> None:
        """An observation of what was held that lies after the new line is said again: its value holds from there."""
        row = self.row
        until = min((x.start for x in self.oracle.lines if self._follows(x, held)), default=None)
        after = max(row.start, row.said if row.claims else row.start, row.start if since is None else since)
        for s in sorted((s for s in held.seen if s.at > after and s.start >= row.start), key=lambda s: (s.start, s.at)):
            again = Line(
                held.slot, held.kind, held.value, held.polarity, 0, s.at, s.start, self.now, held.ends_at, claims=s.claims,
                lifetime=held.lifetime, seen=[x for x in held.seen if x.at > s.at], forgotten=held.forgotten,
            )  # fmt: skip
            against = [
                x for x in self.oracle.lines if x.counts(self.now) and (opposes(x, again) or (x.slot == again.slot and not x.same(again)))
            ]
            if (until is None or s.start < until) and not any(self._covers(c, again) for c in against):
                self._add(again)
                return

    def _follows(self, x: Line, held: Line) -> bool:
        return x.slot == held.slot and x is not self.row and x.counts(self.now) and not x.inset and x.order() > held.order()


class Judge:
    """The nine questions of section 5 in their order; the first yes decides.

    point   late or newer is decided there: said_at, or the start of a deliberate statement that gives only a start (an import of history)
    moment  where the held value is looked up: the point, or the start if that comes after it
    """

    def __init__(self, oracle: Oracle, w: Words, now: int) -> None:
        self.o, self.w, self.now = oracle, w, now
        self.shape = oracle.shapes[w.key]
        self.said, self.stated = heard(w, now)
        self.start = self.said if self.stated is None else self.stated
        plain = self.shape.arity in ("one", "chosen") and w.polarity == "+"
        self.slot: Slot = (w.key, w.subject, "" if plain else w.value or "*")
        self.over = w.ends_at is not None and w.ends_at <= self.said
        dates_itself = w.deliberate and w.at is None and w.start is not None and not w.claims and self.start <= now
        self.point = self.start if dates_itself else self.said
        self.moment = max(self.point, self.start)
        self.held = oracle.told_in(self.slot, self.moment, now)
        self.line = self._line()

    def _line(self) -> Line:
        w = self.w
        claims = w.claims and self.start < self.said and not self.over and self.shape.policy == "versioned" and not w.is_end
        value = None if w.is_end and self.slot[2] == "" else w.value
        return Line(
            self.slot, self.shape.kind, value, w.polarity, 0, self.said, self.start, self.now, w.ends_at, w.is_end, self.over, claims,
            self.shape.lifetime, stated_start=self.stated,
        )  # fmt: skip

    def verdict(self) -> str:
        questions = (
            self.refused, self.slip, self.answers_pending, self.over_when_said, self.said_again, self.late, self.policy, self.window,
        )  # fmt: skip
        for question in questions:
            if (found := question()) is not None:
                return found
        return self.new()

    # 1
    def refused(self) -> str | None:
        return "refused" if not self.w.sourced or (self.w.verified is False and self.shape.policy == "dual") else None

    # 2
    def slip(self) -> str | None:
        if not self.w.slip or self.shape.policy != "versioned":
            return None
        meant = self._meant()
        if meant is None:
            return None
        meant.retracted = self.now
        if self.w.polarity == "-":
            return "retract"
        if self.w.start is None:
            self.line.start, self.line.ends_at = meant.start, self.w.ends_at or meant.ends_at
            self.line.inset = self.line.ends_at is not None and self.line.ends_at <= self.said
        placing = Placing(self.o, self.line, self.now)
        placing.place()
        placing.say_again(meant, self.said)
        self._overtake()
        return "supersede"

    def _meant(self) -> Line | None:
        """The last one stated of the key and subject: of the value that is taken back, else of another value than the new one."""
        found = [
            x for x in self.o.lines if x.slot[:2] == self.slot[:2] and x.counts(self.now) and x.forgotten is None and x.said <= self.said
        ]
        near = [x for x in found if x.slot == self.slot or opposes(x, self.line) or self.o.told_in(x.slot, self.now, self.now) is x]
        found = [x for x in near if not x.is_end]
        taken_back = self.w.polarity == "-"
        found = [x for x in found if (x.value == self.w.value if taken_back else not x.same(self.line))]
        return max(found, key=lambda x: (x.said, x.recorded, x.version), default=None)

    # 3
    def answers_pending(self) -> str | None:
        if self.w.is_end or self.w.slip or self.over:
            return None
        for p in self._open():
            if p.said >= self.said:
                continue
            if p.slot == self.slot and p.same(self.line) and self.shape.kind == "preference":
                ends = self.w.ends_at or p.ends_at
                start = max(self.said, self.start, p.start)
                self.o.make_version(replace(p, stated_start=start, ends_at=ends), self.said, self.now)
                self.o.decide(p, "confirmed", self.said, self.now)
                return "supersede"
            held = self.held is not None and self.held.same(self.line) and p.slot == self.slot
            if held or opposes(p, self.line):
                self.o.decide(p, "rejected", self.said, self.now)
        return None

    def _open(self) -> list[Line]:
        return [p for p in self.o.pendings if p.decided is None and p.forgotten is None and self.said < p.said + PENDING_LIFE]

    # 4
    def over_when_said(self) -> str | None:
        if not self.over:
            return None
        Placing(self.o, self.line, self.now).place()
        return "backfill"

    # 5
    def said_again(self) -> str | None:
        held = self.held
        if self.w.is_end or held is None or not held.same(self.line) or (self.w.ends_at is not None and self.w.ends_at != held.ends_at):
            return None
        if self.start < held.start:
            self._place()
            if not self.line.claims:
                self._observe(held)
            return "reinforce"
        if self.line.claims:
            Placing(self.o, self.line, self.now).overrule()
        self._observe(held)
        return "reinforce"

    def _observe(self, held: Line) -> None:
        at = self.said if self.start > self.point else self.point
        held.seen.append(Seen(at, self.now, self.start if self.line.claims else at))

    # 6
    def late(self) -> str | None:
        if self.start > self.point or not self._is_late():
            return None
        self._place()
        return "backfill"

    def _is_late(self) -> bool:
        """What lies after it, up to now; of keys that ask for proofs only in its slot, for a backfill may not change what is told now."""
        standing = [x for x in self.o.lines if x.counts(self.now) and not x.inset]
        near = [x for x in standing if x.slot == self.slot]
        if self.shape.policy == "versioned":
            near += [x for x in standing if x.slot != self.slot and opposes(x, self.line) and not x.is_end]
        if any(self.point < x.start <= self.now for x in near):
            return True
        held = self.o.answer(self.slot, self.point, self.now, insets=False)
        rows = [x for x in near if x is held or (x.slot != self.slot and self.o.told_in(x.slot, self.point, self.now) is x)]
        said = [s.at for x in rows for s in x.seen] + [x.said for x in rows if x.claims]
        return any(self.point < at <= self.now for at in said)

    # 7
    def policy(self) -> str | None:
        reason = self._waits()
        return None if reason is None else self._pend("review")

    def _waits(self) -> str | None:
        w, shape = self.w, self.shape
        if shape.kind != "fact":
            return None
        changes = self.held is not None and not self.held.same(self.line)
        if shape.safety:
            if w.polarity == "+" and not w.is_end:
                return "hedged" if w.hedged else None
            affirmed = w.whole_key or (changes and self.held is not None and self.held.polarity == "+")
            waits = affirmed and not w.vouched and w.grounds is None and (not w.is_end or shape.policy == "review")
            return "denial" if waits else None
        changes = self._changes()
        if shape.policy == "dual":
            return "dual" if changes and w.verified is not True else None
        if shape.policy == "review":
            return "review" if changes and not w.vouched and w.grounds is None else None
        return None

    def _changes(self) -> bool:
        """Something else is held: another value, or the opposite of what is said. A first value changes nothing."""
        other = self.held is not None and not self.held.same(self.line)
        return other or (not self.w.is_end and bool(self._opposite(self.moment)))

    # 8
    def window(self) -> str | None:
        if self.shape.kind != "preference" or self.w.deliberate or self.w.is_end:
            return None
        rivals = self._opposite(self.moment)
        other = self.held
        one = self.shape.arity in ("one", "chosen") and self.w.polarity == "+"
        if one and not self.w.change and other is not None and not other.same(self.line):
            rivals.append(other)
        fresh = any(0 <= self.said - self.o.last_observation(x, self.said, self.now) <= WINDOW for x in rivals)
        return self._pend("pending") if fresh else None

    def _opposite(self, t: int) -> list[Line]:
        slots = {x.slot for x in self.o.lines if opposes(x, self.line)}
        return [x for x in (self.o.told_in(s, t, self.now) for s in slots) if x is not None and opposes(x, self.line)]

    # 9
    def new(self) -> str:
        if self.shape.policy != "versioned" and self.w.claims and self._changes():
            self.line.start = max(self.start, self.said)
        self._place()
        self._overtake()
        if self.start > self.now:
            return "schedule"
        return "end" if self.w.is_end else ("new" if self.held is None else "supersede")

    def _place(self) -> None:
        """Put the line down; what it claims is said of the lines of its value in that time too."""
        if self.w.is_end and self.held is not None and self.line.start <= self.held.start:
            self.line.start = self.held.start + 1
        Placing(self.o, self.line, self.now).place()
        if not self.line.claims or self.line.retracted is not None:
            return
        for x in [x for x in self.o.lines if x.slot == self.slot and x.same(self.line) and x.counts(self.now) and not x.inset]:
            if x is not self.line and self.start <= x.start <= self.said:
                self._observe(x)

    def _pend(self, verdict: str) -> str:
        newer = [p for p in self._open() if p.slot == self.slot and p.said > self.said]
        self._overtake()
        self.o.pendings.append(self.line)
        if newer:
            self.o.decide(self.line, "overtaken", newer[0].said, self.now)
        return verdict

    def _overtake(self) -> None:
        for p in self._open():
            if p.slot == self.slot and self.said >= p.said:
                self.o.decide(p, "overtaken", self.said, self.now)
