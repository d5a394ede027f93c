"""Candidates that wait at their turn for an answer: kept as JSON, found again, completed or dropped by the next answer. Pure.

The question that went out names no subject and no polarity of its own; the stored candidate does, and decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from graphmem.lexicon import Lexicon
from graphmem.memory import FollowUp, Heard, Kind, NotStored, Reason, Statement, Text2, Turn, from_ms, to_ms
from graphmem.ontology import PACKS, Ontology
from graphmem.pipeline.rules import one_of, sections
from graphmem.pipeline.slice import Sliced, cut
from graphmem.pipeline.speech import Speech
from graphmem.slot import folded
from graphmem.validity import Ms
from graphmem.writing import StoredTurn

WAITS_MS = 24 * 3600 * 1000
"""How long a candidate waits at its turn for the answer to its question (design section 5)."""

CONFIRMED = 0.97
"""Certainty of a candidate that the user confirmed: that of a plain statement."""

ANSWER_MAX = 60
"""Characters of a bare answer; a longer text speaks for itself."""

RULE = "answer.follow_up"
_PLAIN = (
    "key",
    "value",
    "ckey",
    "subject",
    "polarity",
    "choose",
    "change",
    "is_end",
    "slip",
    "grounds",
    "whole_key",
    "claims",
    "old",
    "replaces",
    "rule",
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One candidate and what was asked about it."""

    candidate_id: str
    statement: Statement
    question: Text2


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    """packs/waiting.yaml, compiled once. PackError on mistakes."""
    return {name: one_of(entry, re.IGNORECASE) for name, entry in sections(PACKS / "waiting.yaml", ("lead", "asks")).items()}


def candidate_id(turn_id: str, number: int) -> str:
    """Of the turn's candidate of that number, from 0."""
    return f"{turn_id}#{number}"


def dumped(follow_ups: Iterable[FollowUp]) -> str | None:
    """As it is kept at the turn; None where nothing waits."""
    found = [_plain(f) for f in follow_ups]
    return json.dumps(found, ensure_ascii=False) if found else None


def _plain(follow_up: FollowUp) -> dict[str, object]:
    s = follow_up.statement
    times = {name: None if at is None else to_ms(at) for name, at in (("start", s.start), ("ends_at", s.ends_at))}
    said = {**{name: getattr(s, name) for name in _PLAIN}, **times, "kind": s.kind.value, "metadata": dict(s.metadata)}
    return {"statement": said, "question": {"zh": follow_up.question.zh, "en": follow_up.question.en}}


def loaded(turn: StoredTurn) -> tuple[Waiting, ...]:
    """The candidates that wait at a stored turn."""
    found: list[dict[str, Any]] = json.loads(turn.waiting) if turn.waiting else []
    return tuple(
        Waiting(candidate_id(turn.turn_id, i), _statement(w["statement"]), Text2(**w["question"]))
        for i, w in enumerate(found)
        if "statement" in w
    )


def _statement(said: Mapping[str, Any]) -> Statement:
    plain: dict[str, Any] = {name: said[name] for name in (*_PLAIN, "metadata")}
    start, ends_at = (None if said[name] is None else from_ms(said[name]) for name in ("start", "ends_at"))
    return Statement(kind=Kind(said["kind"]), start=start, ends_at=ends_at, **plain)


def asked(stored: Sequence[StoredTurn], turn: Turn, said_at: Ms) -> Waiting | None:
    """The candidate that this turn may answer: the one it names (`answers`), else the one that was asked about just before it."""
    if turn.role != "user" or not stored:
        return None
    young = [t for t in stored if t.waiting and 0 <= said_at - t.at <= WAITS_MS]
    if turn.answers is not None:
        named = [w for t in young for w in loaded(t) if turn.answers in (w.candidate_id, t.turn_id)]
        if named:
            return named[0]
    last = stored[-1]
    if last.role == "user":
        return next(iter(loaded(last)), None) if young and young[-1] is last else None
    return next((w for t in reversed(young) for w in loaded(t) if _asks(last.text, w)), None)


def _asks(text: str, waiting: Waiting) -> bool:
    """The other side's turn asks this: our words, or a question that names the value."""
    said = folded(text)
    if folded(waiting.question.zh) in said or folded(waiting.question.en) in said:
        return True
    return (
        bool(waiting.statement.value)
        and folded(waiting.statement.value or "") in said
        and _words()["asks"].search(text.rstrip()) is not None
    )


def answered(heard: Heard, turn: Turn, waiting: Waiting, speech: Speech, words: tuple[Ontology, Lexicon]) -> Heard:
    """What the turn says as an answer: yes completes the candidate, another value does with that, no drops it; else as heard."""
    sliced = cut(turn.text)
    own = [c for c in sliced.clauses if not c.quoted]
    if not own or len(sliced.normal.norm.strip()) > ANSWER_MAX:
        return heard
    plain = replace(heard, statements=tuple(s for s in heard.statements if not s.rule.startswith("answer.")), not_stored=())
    yes, no = speech.is_("yes", own[0].text), speech.is_("no", own[0].text)
    if yes and not plain.follow_ups:
        return replace(plain, statements=(_said(waiting.statement, turn), *plain.statements))
    if plain.statements or plain.follow_ups or own[-1].end_mark == "?":
        return plain if yes or no else heard
    rest = own[1:] if yes or no else own
    other = _other(waiting.statement, _phrase(sliced, rest[0].start, rest[-1].end), turn, words) if rest else None
    if other is not None:
        return replace(plain, statements=(other,))
    if no:
        return _dropped(plain, turn, waiting.statement, words[0])
    return heard


def _phrase(sliced: Sliced, start: int, end: int) -> str:
    text = sliced.normal.original(start, end).strip()
    return _words()["lead"].sub("", text, count=1).strip()


def _other(s: Statement, phrase: str, turn: Turn, words: tuple[Ontology, Lexicon]) -> Statement | None:
    """The candidate with another value that its key may hold, by a name of the lexicon."""
    ontology, lexicon = words
    key = ontology.get(s.key)
    concept = lexicon.resolve(phrase, key.types) if key is not None else None
    if concept is None or s.polarity == "-" or s.is_end:
        return None
    return _said(replace(s, value=phrase, ckey=concept.cid), turn)


def _said(s: Statement, turn: Turn) -> Statement:
    """Now said for sure, in this turn."""
    return replace(s, confidence=CONFIRMED, hedged=False, text=turn.text, span=(0, len(turn.text)), rule=RULE)


def _dropped(heard: Heard, turn: Turn, s: Statement, ontology: Ontology) -> Heard:
    """A refused candidate. Where it is kept as pending meanwhile (safety, inferred) the no is the denial that rejects it."""
    key = ontology.get(s.key)
    kept = s.rule.startswith("implicit.") or (key is not None and key.safety)
    if kept and s.polarity == "+" and not s.is_end and s.value is not None:
        return replace(heard, statements=(replace(_said(s, turn), polarity="-", choose=False, change=False, metadata={}),))
    return replace(heard, not_stored=(NotStored(turn.text, (0, len(turn.text)), Reason.CHATTER, f"{RULE}.no"),))
