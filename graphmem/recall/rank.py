"""Which candidates are told, in which order, and what a budget leaves of them. Pure: the time is an argument.

Order: exact slot matches first, then calibrated score × weight, then the later observed, then the mid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.answers import Hit, Memory
from graphmem.memory import Kind
from graphmem.slot import ckey_of_text
from graphmem.telling import weight

DECAYING = frozenset({Kind.PREFERENCE, Kind.CONTEXT})
SELF = "self"
KIN = {"child": ("son", "daughter"), "son": ("child",), "daughter": ("child",)}
"""Roles that may be the same person: a child whose sex was not said."""

LINE_TOKENS = 16
"""Tokens of a prompt line beside label and value: quotes, date, source."""

_DAY = timedelta(days=1)
_PIECES = re.compile(r"[a-z0-9]+|[^\sa-z0-9]", re.IGNORECASE)


def weighed(memory: Memory, now: datetime, decay_days: float) -> float:
    """The weight of a memory at a recall: preferences and contexts fade with the age of their last observation."""
    return weight(memory.confidence, (now - memory.observed_at) / _DAY, decay_days if memory.kind in DECAYING else None)


@dataclass(frozen=True, slots=True)
class Scored:
    """One candidate: `calibrated` and `weight` in 0..1. reason: slot_match, told, below_threshold or budget."""

    memory: Memory
    calibrated: float
    weight: float
    slot: bool
    told: bool
    reason: str

    @property
    def score(self) -> float:
        return self.calibrated * self.weight

    @property
    def hit(self) -> Hit:
        words = f"slot match {self.memory.key}" if self.slot else "likeness"
        return Hit(replace(self.memory, weight=self.weight), round(self.score, 6), words)


@dataclass(frozen=True, slots=True)
class Ranked:
    """All candidates: first those told, best first, then the others."""

    lines: tuple[Scored, ...]

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What is told, best first."""
        return tuple(line.hit for line in self.lines if line.told)

    @property
    def left(self) -> tuple[Scored, ...]:
        return tuple(line for line in self.lines if not line.told)


def rank(
    hits: Sequence[Hit],
    now: datetime,
    decay_days: float,
    keys: Collection[str],
    ckeys: Collection[str],
    threshold: float,
    *,
    subjects: Collection[str] = (),
) -> Ranked:
    """Order the candidates. `Hit.score` comes in calibrated (0..1); under the threshold it is left out unless its slot was asked for.

    A slot was asked for when its concept is among `ckeys`, or its key among `keys` and its subject among `subjects` (none named: self).
    A candidate given twice counts once, with its best score.
    """
    best: dict[str, Hit] = {}
    for hit in hits:
        held = best.get(hit.memory.mid)
        if held is None or hit.score > held.score:
            best[hit.memory.mid] = hit
    weights = {mid: weighed(hit.memory, now, decay_days) for mid, hit in best.items()}
    lines = [_scored(hit, weights[mid], _asked(hit.memory, keys, ckeys, subjects), threshold) for mid, hit in best.items()]
    return Ranked(tuple(sorted(lines, key=_order)))


def _scored(hit: Hit, weighs: float, slot: bool, threshold: float) -> Scored:
    told = slot or hit.score >= threshold
    return Scored(hit.memory, hit.score, weighs, slot, told, "slot_match" if slot else "told" if told else "below_threshold")


def _order(line: Scored) -> tuple[bool, bool, float, float, str]:
    return not line.told, not line.slot, -line.score, -line.memory.observed_at.timestamp(), line.memory.mid


def _asked(memory: Memory, keys: Collection[str], ckeys: Collection[str], subjects: Collection[str]) -> bool:
    concept = memory.concept or (ckey_of_text(memory.value) if memory.value else None)
    return concept in ckeys or (memory.key in keys and about(memory.subject, subjects))


def about(subject: str, roles: Collection[str]) -> bool:
    """Whether a memory's subject (`friend:小李`) is one of the people named; when nobody is, whether it is the user."""
    role = subject.partition(":")[0]
    if not roles:
        return role == SELF
    return role in roles or any(other in roles for other in KIN.get(role, ()))


def within(ranked: Ranked, limit: int, token_budget: int | None = None, guard: Collection[str] = ()) -> Ranked:
    """At most `limit` told items, and about `token_budget` tokens; memories of `guard` keys are always kept and counted first.

    A long memory that does not fit is passed over for shorter ones behind it. What is cut has the reason `budget`.
    """
    told = [line for line in ranked.lines if line.told]
    guarded = {line.memory.mid for line in told if line.memory.key in guard}
    items = limit - len(guarded)
    tokens = math.inf if token_budget is None else float(token_budget - sum(_cost(x) for x in told if x.memory.mid in guarded))
    kept: list[Scored] = []
    cut: list[Scored] = []
    for line in told:
        if line.memory.mid in guarded:
            kept.append(line)
        elif items > 0 and _cost(line) <= tokens:
            items, tokens = items - 1, tokens - _cost(line)
            kept.append(line)
        else:
            cut.append(replace(line, told=False, reason="budget"))
    return Ranked((*kept, *cut, *ranked.left))


def _cost(line: Scored) -> int:
    label = line.memory.label
    return LINE_TOKENS + max(tokens_of(label.zh), tokens_of(label.en)) + tokens_of(line.memory.value or "")


def tokens_of(text: str) -> int:
    """Estimate without a tokenizer, meant to be high: a quarter of each run of Latin letters or digits (rounded up), 1 for any other sign.

    So a Han character is one token; common vocabularies need 0.6 to 1.3 for one, and one for four Latin letters.
    """
    return sum(math.ceil(len(piece) / 4) if piece.isascii() and piece.isalnum() else 1 for piece in _PIECES.findall(text))
