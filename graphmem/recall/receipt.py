"""Why each candidate was told or not: receipts, and the reasons of hydration. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from graphmem.answers import Memory, Receipt, ReceiptLine, Trigger
from graphmem.lexicon import Lexicon
from graphmem.memory import Environment, Status
from graphmem.recall.named import has_han, plain
from graphmem.recall.rank import Ranked, Scored

Why = Literal[
    "told", "slot_match", "below_threshold", "budget", "foreign_or_gone", "superseded", "expired",
    "pending", "scheduled", "tombstoned", "context_mismatch", "opposed", "ended",
]  # fmt: skip
"""Every reason a line may give."""

_BY_STATUS: dict[Status, Why] = {
    Status.SUPERSEDED: "superseded",
    Status.HISTORICAL: "superseded",
    Status.SCHEDULED: "scheduled",
    Status.PENDING: "pending",
    Status.EXPIRED: "expired",
    Status.TOMBSTONED: "tombstoned",
    Status.REJECTED: "foreign_or_gone",
    Status.RETRACTED: "foreign_or_gone",
    Status.ARCHIVED: "foreign_or_gone",
}

SENSED = MappingProxyType({"current_city": "city", "current_location": "city", "device": "device", "network": "network"})
"""Context keys the environment of a request can contradict, and the field of it that does."""

DIGITS = 4
"""Scores in receipts are rounded to this: they explain, nobody computes with them."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that fell out before ranking. The memory itself is not kept: a receipt holds ids and scores only."""

    mid: str
    reason: Why
    score: float = 0.0


def why_not(memory: Memory, environment: Environment | None, lexicon: Lexicon, *, opposed: bool = False) -> Why | None:
    """Why a memory of this user is not told now, or None. A mid that hydration did not find at all is `foreign_or_gone`."""
    if memory.status is not Status.ACTIVE:
        return "opposed" if opposed and memory.status is Status.HISTORICAL else _BY_STATUS[memory.status]
    if opposed:
        return "opposed"
    if memory.is_end:
        return "ended"
    return "context_mismatch" if context_contradicts(memory, environment, lexicon) else None


def context_contradicts(memory: Memory, environment: Environment | None, lexicon: Lexicon) -> bool:
    """Whether the request's city, device or network says otherwise than this context memory (design section 5, Context).

    Compared by concept (上海 is Shanghai); open names by their words, where one inside the other agrees (iPhone, iPhone 14). What cannot
    be compared, as an unknown city in two scripts, contradicts nothing.
    """
    field = SENSED.get(memory.key)
    if field is None or environment is None or memory.value is None or memory.subject != "self":
        return False
    sensed: str | None = getattr(environment, field)
    if sensed is None or not sensed.strip():
        return False
    same = _same(memory.value, memory.concept, sensed, field, lexicon)
    if same is None or (memory.key == "current_location" and not lexicon.find(memory.value, ("city",))):
        return False
    return same is (memory.polarity == "-")


def _same(value: str, concept: str | None, sensed: str, type_: str, lexicon: Lexicon) -> bool | None:
    """Whether both name one thing; None when that cannot be known."""
    here = {c.cid for c in lexicon.find(sensed, (type_,))}
    held = {c.cid for c in lexicon.find(value, (type_,))} | ({concept} if concept and concept.startswith(f"{type_}:") else set())
    if here and held:
        return bool(here & held)
    a, b = _squeezed(value), _squeezed(sensed)
    if a in b or b in a:
        return True
    return False if has_han(a) == has_han(b) else None


def _squeezed(text: str) -> str:
    return "".join(c for c in plain(text) if c.isalnum())


def line(scored: Scored) -> ReceiptLine:
    """The receipt's line of a ranked candidate."""
    scores = {"calibrated": scored.calibrated, "weight": scored.weight, "rank": scored.score}
    return ReceiptLine(scored.memory.mid, _rounded(scores), scored.told, scored.reason)


def receipt(
    tier: str,
    trigger: Trigger,
    ranked: Ranked,
    dropped: Iterable[Dropped] = (),
    *,
    at: datetime | None = None,
    degraded: Sequence[str] = (),
    session_id: str | None = None,
    receipt_id: str | None = None,
) -> Receipt:
    """Every candidate once: told ones in their order, then those left out, then those that fell out before ranking."""
    lines = {scored.memory.mid: line(scored) for scored in ranked.lines}
    for gone in dropped:
        lines.setdefault(gone.mid, ReceiptLine(gone.mid, _rounded({"calibrated": gone.score}), False, gone.reason))
    return Receipt(receipt_id, tier, trigger, tuple(lines.values()), at, tuple(degraded), session_id)


def _rounded(scores: dict[str, float]) -> MappingProxyType[str, float]:
    return MappingProxyType({name: round(score, DIGITS) for name, score in scores.items()})
