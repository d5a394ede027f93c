"""How the oracle judges a statement and where it puts the line: sections 4 and 5 of the design, written from the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.oracle_lines import PENDING_LIFE, SKEW, WINDOW, Line, Seen, Slot, Words, opposes

if TYPE_CHECKING:
    from tests.oracle import Oracle


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
