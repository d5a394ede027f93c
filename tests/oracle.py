"""An independent model of sections 3 to 5 of the design: lists and whole numbers, written from the text and not from the judge.

It keeps the log of what happened (what was said, what was decided, when each was learnt) and plays it over one flat list of lines. Nothing
is indexed and nothing is cached: every answer looks at every line, so that it can be read beside the text. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.oracle_judge import Judge, Placing, heard
from tests.oracle_lines import PENDING_LIFE, Line, Shape, Slot, Told, Words, opposes


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
