"""What a turn has gathered, and what becomes of each statement found in it: kept, asked about, or not stored and why. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from graphmem.memory import FollowUp, Kind, NotStored, Reason, Statement, Turn
from graphmem.ontology import Ontology
from graphmem.pipeline import clock
from graphmem.pipeline.guard import Guard
from graphmem.pipeline.model import second_opinion
from graphmem.pipeline.normal import normalise
from graphmem.pipeline.pieces import Pieces, pieces_of
from graphmem.pipeline.prefix import PrefixReader
from graphmem.pipeline.propose import ID as OPINION
from graphmem.pipeline.said import Cut, Found
from graphmem.pipeline.slice import Clause, Sliced
from graphmem.pipeline.speech import Speech
from graphmem.pipeline.timespan import TimeSpan

GROUNDS: tuple[Literal["test", "document", "outgrown", "professional"], ...] = ("test", "document", "outgrown", "professional")
"""Acts of packs/speech.yaml that ground a denial, the strongest first."""


@dataclass(slots=True)
class Hearing:
    """What one call gathers."""

    turn: Turn
    said_at: datetime
    zone: ZoneInfo
    threshold: float
    statements: list[Statement]
    not_stored: list[NotStored]
    follow_ups: list[FollowUp]
    slip: bool
    seen: dict[tuple[str, str | None], tuple[Reason, str] | None]
    opinions: int = 0
    pieces: Pieces = ()
    ordered: int = -1


@dataclass(frozen=True, slots=True)
class Keeper:
    """Built once; what one call gathers is in its Hearing."""

    ontology: Ontology
    speech: Speech
    reader: PrefixReader
    guard: Guard

    def keep(self, hearing: Hearing, sliced: Sliced, clause: Clause, found: Found, times: clock.Times = ()) -> None:
        if not hearing.pieces:
            hearing.pieces = pieces_of(sliced)
        found = self.guard.seen(sliced, hearing.pieces, clause, found)
        statement = clock.bound(found, clause.text, times, hearing.said_at)
        start, end = sliced.normal.span(clause.start, clause.end)
        statement = replace(statement, text=hearing.turn.text[start:end], span=(start, end), slip=statement.slip or hearing.slip)
        if "future" in found.flags and statement.start is None:
            hearing.not_stored.append(NotStored(statement.text, (start, end), Reason.HYPOTHETICAL, "time.no_start"))
            return
        if statement.kind is Kind.CONTEXT and statement.rule.startswith(f"{OPINION}.") and times and not any(map(_now(hearing), times)):
            hearing.not_stored.append(NotStored(statement.text, (start, end), Reason.LOW_CONFIDENCE, "time.over"))  # I was there last week
            return
        once = self.only_now(clause.text) or (hearing.ordered == clause.sentence and not self.speech.is_("standing", clause.text))
        if statement.kind is Kind.PREFERENCE and not statement.is_end and once:
            hearing.not_stored.append(NotStored(statement.text, (start, end), Reason.COMMAND, "speech_act.once"))
            return
        if statement.ckey.startswith("text:") and self.ontology.key(statement.key).safety and self.speech.is_("jest", sliced.normal.norm):
            hearing.not_stored.append(NotStored(statement.text, (start, end), Reason.CHATTER, "speech_act.jest"))
            return
        statement = self._grounded(statement, sliced.normal.norm)
        statement = replace(statement, confidence=second_opinion(clause.text, statement.kind, statement.confidence))
        same = (statement.key, statement.ckey, statement.subject, statement.polarity, statement.is_end)
        if any((s.key, s.ckey, s.subject, s.polarity, s.is_end) == same for s in hearing.statements):
            return
        if statement.confidence >= hearing.threshold:
            hearing.statements[:] = [s for s in hearing.statements if not self._lent(s, statement) and not self._taken_back(s, statement)]
            hearing.statements.append(statement)
            hearing.follow_ups[:] = [f for f in hearing.follow_ups if (f.statement.key, f.statement.ckey) != same[:2]]
            return
        key = self.ontology.key(statement.key)
        if statement.value is None:
            hearing.not_stored.append(NotStored(statement.text, (start, end), Reason.LOW_CONFIDENCE, statement.rule))
        elif not any((f.statement.key, f.statement.ckey, f.statement.subject) == same[:3] for f in hearing.follow_ups):
            hearing.follow_ups.append(FollowUp(statement, key.ask(statement.value)))

    def _taken_back(self, earlier: Statement, later: Statement) -> bool:
        """Whether a later word of the turn denies what matters to safety: the chart says hypertension, but I do not have it."""
        same = (earlier.key, earlier.ckey, earlier.subject) == (later.key, later.ckey, later.subject)
        undone = earlier.polarity != later.polarity or later.is_end
        return same and undone and not earlier.is_end and self.ontology.key(later.key).safety

    def _lent(self, earlier: Statement, later: Statement) -> bool:
        """Whether a request that names nobody was made for the one whom the same is then said of: 惊悚片就免了，我爸看不下去."""
        same = (earlier.key, earlier.ckey, earlier.polarity) == (later.key, later.ckey, later.polarity)
        if not same or earlier.subject != "self" or later.subject == "self":
            return False
        norm = normalise(earlier.text).norm
        return not self.reader.read(norm, len(norm), (), lambda a, b: norm[a:b]).people

    def only_now(self, text: str) -> bool:
        """A wish for this once: a window seat on this flight, please."""
        return self.speech.is_("once", text) and not self.speech.is_("standing", text)

    def _grounded(self, statement: Statement, norm: str) -> Statement:
        """A denial of a safety key with the ground that the turn gives for it."""
        key = self.ontology.key(statement.key)
        if not key.safety or statement.polarity == "+" or statement.grounds is not None:
            return statement
        for ground in GROUNDS:
            if self.speech.is_(ground, norm):
                return replace(statement, grounds=ground)
        return statement

    def refuse(self, hearing: Hearing, sliced: Sliced, clause: Clause, why: tuple[Reason, str]) -> None:
        start, end = sliced.normal.span(clause.start, clause.end)
        hearing.not_stored.append(NotStored(hearing.turn.text[start:end], (start, end), *why))


def _now(hearing: Hearing) -> Callable[[TimeSpan], bool]:
    """Whether a time holds the moment of speaking."""
    return lambda span: span.holds(hearing.said_at)


def cutter(sliced: Sliced, clause: Clause) -> Cut:
    base = clause.start
    return lambda a, b: sliced.normal.original(base + a, base + b)
