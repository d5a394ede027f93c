"""What a user's refusals suggest: a candidate with its evidence turns, never told before the user confirms it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphmem.lexicon import Lexicon
from graphmem.memory import Language, Statement, Turn
from graphmem.ontology import PACKS, Ontology
from graphmem.packfile import Entry
from graphmem.pipeline.normal import normalise
from graphmem.pipeline.rules import one_of, sections
from graphmem.validity import Ms
from graphmem.writing import INFERRED, StoredTurn

FIELDS = ("key", "concept", "confidence", "times", "days", "says", "offer", "refuses")
DAY_MS = 24 * 3600 * 1000
TEXT_MAX = 400
"""Characters of a turn that are looked at; a refusal is short."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """One entry of packs/implicit.yaml."""

    name: str
    key: str
    concept: str
    confidence: float
    times: int
    within: Ms
    says: re.Pattern[str]
    offer: re.Pattern[str]
    refuses: re.Pattern[str]


@lru_cache(maxsize=1)
def triggers() -> tuple[Trigger, ...]:
    """Read packs/implicit.yaml. PackError on mistakes."""
    return tuple(_trigger(name, entry) for name, entry in sections(PACKS / "implicit.yaml").items())


def _trigger(name: str, entry: Entry) -> Trigger:
    got = entry.fields(FIELDS, required=FIELDS)
    try:
        times, days, confidence = int(got["times"].text()), int(got["days"].text()), float(got["confidence"].text())
    except ValueError as error:
        raise entry.fail(f"times, days and confidence of {name!r} are numbers") from error
    patterns = [one_of(got[act]) for act in ("says", "offer", "refuses")]
    return Trigger(name, got["key"].text(), got["concept"].text(), confidence, times, days * DAY_MS, *patterns)


def inferred(
    stored: Sequence[StoredTurn], turn: Turn, said_at: Ms, language: Language, words: tuple[Ontology, Lexicon]
) -> tuple[Statement, ...]:
    """The candidates that this turn makes complete: it is itself a refusal, the last one that was needed.

    stored: the last turns of the session, oldest first. The metadata names the turns of the evidence, this one is the source.
    """
    if turn.role != "user":
        return ()
    return tuple(s for t in triggers() if (s := _inferred(t, stored, turn, said_at, language, words)) is not None)


def _inferred(
    t: Trigger, stored: Sequence[StoredTurn], turn: Turn, said_at: Ms, language: Language, words: tuple[Ontology, Lexicon]
) -> Statement | None:
    offered = stored[-1].text if stored and stored[-1].role == "assistant" else ""
    if not _refused(t, turn.text, offered):
        return None
    evidence = [ref for ref, at in _refusals(t, stored) if 0 <= said_at - at <= t.within]
    if len(evidence) + 1 != t.times:
        return None
    ontology, lexicon = words
    key, concept = ontology.key(t.key), lexicon.concepts[t.concept]
    return Statement(
        kind=key.kind,
        key=key.name,
        value=concept.zh if language == "zh" else concept.en,
        ckey=concept.cid,
        hedged=True,
        confidence=t.confidence,
        text=turn.text,
        span=(0, len(turn.text)),
        rule=f"{INFERRED}{t.name}",
        metadata={"evidence": [*evidence, *([turn.turn_id] if turn.turn_id is not None else [])]},
    )


def _refusals(t: Trigger, stored: Sequence[StoredTurn]) -> Iterator[tuple[str, Ms]]:
    """(turn id, when) of the user's refusals among the stored turns."""
    offered = ""
    for turn in stored:
        if turn.role == "user" and _refused(t, turn.text, offered):
            yield turn.turn_id, turn.at
        offered = turn.text if turn.role == "assistant" else ""


def _refused(t: Trigger, text: str, offered: str) -> bool:
    said = normalise(text[:TEXT_MAX]).norm.strip()
    if t.says.search(said):
        return True
    return bool(offered) and t.refuses.search(said) is not None and t.offer.search(normalise(offered[:TEXT_MAX]).norm) is not None
