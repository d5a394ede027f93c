"""The seven steps of a turn told: rules, spans in the text as sent, milliseconds. Steps two and four run once more to be timed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from graphmem.memory import Heard, Span, Statement, Step, Turn
from graphmem.pipeline import clock
from graphmem.pipeline.recognise import Recogniser
from graphmem.pipeline.slice import Sliced, cut
from graphmem.writing import Decided

MOST = 30
"""Things told of one step."""


def heard_steps(heard: Heard, turn: Turn, said_at: datetime, zone: ZoneInfo, recogniser: Recogniser) -> tuple[Step, ...]:
    """Steps one to five. Nothing of an assistant's turn is recognised, classified or bound."""
    began = time.perf_counter()
    sliced = cut(turn.text)
    pieces = Step(
        "slice", _ms(began), _told(turn.text[a:b] + _at((a, b)) for a, b in (sliced.normal.span(c.start, c.end) for c in sliced.clauses))
    )
    classified = next((s.ms for s in heard.steps if s.name == "classify"), 0.0)
    named, dated = _recognised(sliced, turn, recogniser), _dated(sliced, turn, said_at, zone)
    own = max(0.0, round(classified - named.ms - dated.ms, 3))
    return (
        pieces,
        named,
        Step("classify", own, _told(_classified(heard))),
        dated,
        Step("embed", 0.0, ("after the answer, by the projection",)),
    )


def _recognised(sliced: Sliced, turn: Turn, recogniser: Recogniser) -> Step:
    began = time.perf_counter()
    found = []
    for clause in sliced.clauses if turn.role == "user" else ():
        for m in recogniser.find(clause.text):
            span = sliced.normal.span(clause.start + m.start, clause.start + m.end)
            found.append(f"{turn.text[slice(*span)]}{_at(span)} {'|'.join(c.cid for c in m.concepts)}")
    return Step("recognise", _ms(began), _told(found))


def _dated(sliced: Sliced, turn: Turn, said_at: datetime, zone: ZoneInfo) -> Step:
    began = time.perf_counter()
    found = []
    for clause in sliced.clauses if turn.role == "user" else ():
        for t in clock.times(clause.text, said_at, zone):
            span = sliced.normal.span(clause.start + t.span[0], clause.start + t.span[1])
            found.append(f"{turn.text[slice(*span)]}{_at(span)} {' '.join(_interval(t.start, t.end))}")
    return Step("bind time", _ms(began), _told(found))


def _interval(*times: datetime | None) -> list[str]:
    return [at.isoformat(timespec="minutes") if at is not None else "…" for at in times]


def _classified(heard: Heard) -> list[str]:
    said = [f"{_said(s)} by {s.rule} ({s.confidence:.2f}){_at(s.span)}" for s in heard.statements]
    asked = [
        f"asked back: {_said(f.statement)} by {f.statement.rule} ({f.statement.confidence:.2f}){_at(f.statement.span)}"
        for f in heard.follow_ups
    ]
    return said + asked + [f"{n.reason.value} by {n.rule}{_at(n.span)}" for n in heard.not_stored]


def _said(s: Statement) -> str:
    return f"{s.key}{s.polarity}{s.subject}={s.value}{' ended' if s.is_end else ''}"


def written_steps(decided: Sequence[Decided], judged_ms: float, written_ms: float) -> tuple[Step, ...]:
    """Steps six and seven."""
    verdicts = [
        f"{_said(d.statement)}: {d.judgement.verdict.value}{f' ({d.judgement.reason})' if d.judgement.reason else ''}" for d in decided
    ]
    mids = [d.judgement.mid for d in decided if d.judgement.mid is not None]
    return Step("judge", round(judged_ms, 3), _told(verdicts)), Step("write", round(written_ms, 3), _told(mids))


def _told(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(found)[:MOST]


def _at(span: Span | None) -> str:
    return "" if span is None else f" [{span[0]}:{span[1]}]"


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)
