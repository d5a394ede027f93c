"""Several lists of candidates into one order, and one calibrated score a candidate. Pure; numbers from retrieval.md unless noted.

Two scores, two uses. `fuse` ranks: it compares the candidates of one question with each other. `calibrated` decides whether a memory is
near enough to be told (0.85 in L2): a probability that means the same for every embedder and every question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphmem.memory import Language
from graphmem.ports import LEXICAL, Candidate
from graphmem.recall.lexical import terms

TOP = 100
"""Entries of each list that count."""

DENSE: Mapping[tuple[str, Language], float] = {("use", "zh"): 1.0, ("use", "en"): 0.3, ("e5", "en"): 1.0}
"""Weight of an embedder's list by the question's language, the lexical list being 1. Others (bge-m3: not measured here) weigh 1."""

RECOMMENDATION: Mapping[tuple[str, Language], float] = {("use", "zh"): 1.0, ("use", "en"): 1.0, ("e5", "en"): 0.3}
"""For "what should I order?": words in common say little there, so the lexical list is left out where a dense one is at hand."""

INHERITED = 0.5
"""Share of a question's score that the person's answer to it inherits."""

EVIDENCE_PULL = 0.9
"""How far full lexical evidence moves a calibrated score to 1: a value named word for word is told (0.9 >= 0.85) without any vector."""

PARTIAL = 0.5
"""Most evidence of a value that is named only in part."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A turn that answers another turn, and whether a person said it."""

    id: str
    question: str
    by_person: bool


def weights(lists: Iterable[str], language: Language, *, recommendation: bool = False) -> dict[str, float]:
    """The weight of each list for a question of this language, LEXICAL among them if it is in `lists`."""
    table = RECOMMENDATION if recommendation else DENSE
    named = set(lists)
    made = {name: table.get((name, language), 1.0) for name in named - {LEXICAL}}
    if LEXICAL in named:
        made[LEXICAL] = 0.0 if recommendation and made else 1.0
    return made


def fuse(candidates: Sequence[Candidate], weight: Mapping[str, float], *, limit: int = TOP) -> dict[str, float]:
    """Id -> fused score, best first (ties by id). `limit` is how many entries each list was asked for.

    Each list's top entries are scaled to 0..1 and summed by weight. A dense list shorter than `limit` holds every candidate it speaks for:
    who is absent there is written in another language, and its weight goes to the dense lists that do speak for it.
    """
    scaled = {name: _scaled(name, candidates) for name in weight}
    dense = {name: w for name, w in weight.items() if name != LEXICAL and scaled[name]}
    full = {name for name in dense if sum(name in c.scores for c in candidates) >= limit}
    made = {}
    for candidate in candidates:
        heard = {name: w for name, w in dense.items() if name in candidate.scores or name in full}
        share = sum(dense.values()) / sum(heard.values()) if sum(heard.values()) else 0.0
        total = share * sum(w * scaled[name].get(candidate.id, 0.0) for name, w in heard.items())
        made[candidate.id] = total + weight.get(LEXICAL, 0.0) * scaled.get(LEXICAL, {}).get(candidate.id, 0.0)
    return ordered(made)


def inherit(scores: Mapping[str, float], replies: Iterable[Reply]) -> dict[str, float]:
    """Scores where a person's turn has half the score of the question it answers added; an assistant's reply never inherits.

    Questions pass on what they scored themselves: nothing is inherited twice. An answer that was no candidate becomes one.
    """
    made = dict(scores)
    for reply in replies:
        if reply.by_person and scores.get(reply.question, 0.0) > 0:
            made[reply.id] = made.get(reply.id, 0.0) + INHERITED * scores[reply.question]
    return ordered(made)


def value_evidence(query: str, *values: str) -> float:
    """How far a question names a value, 0..1: 1 where it holds every term of one of `values` (a value and its aliases), less in part."""
    asked = _asked(query)
    best = 0.0
    for value in values:
        named = set(terms(value))
        if named and named <= asked:
            return 1.0
        if named:
            best = max(best, PARTIAL * len(named & asked) / len(named))
    return best


@lru_cache(maxsize=1)
def _asked(query: str) -> frozenset[str]:
    """The terms of the question at hand: every candidate of a recall is compared with the same one."""
    return frozenset(terms(query))


def calibrated(scores: Mapping[str, float], scales: Mapping[str, Callable[[float], float]], evidence: float = 0.0) -> float:
    """Probability 0..1 that a candidate answers: d + (1 - d) · EVIDENCE_PULL · evidence, d the best calibrated cosine of any embedder.

    It never falls when a cosine or the evidence rises. `scales`: embedder name -> Embedder.calibrate; scores of other lists do not count.
    """
    dense = max((scales[name](score) for name, score in scores.items() if name in scales), default=0.0)
    return dense + (1 - dense) * EVIDENCE_PULL * min(max(evidence, 0.0), 1.0)


def ordered(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores, best first, ties by id: the same order in any process."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _scaled(name: str, candidates: Sequence[Candidate]) -> dict[str, float]:
    """The top of one list on 0..1: lexical from zero (a real floor; zero hits dropped), dense from the lowest of the list."""
    top = sorted(((c.scores[name], c.id) for c in candidates if name in c.scores), reverse=True)[:TOP]
    if name == LEXICAL:
        top = [(score, i) for score, i in top if score > 0]
    if not top:
        return {}
    high, low = top[0][0], 0.0 if name == LEXICAL else top[-1][0]
    return {i: 1.0 if high == low else (score - low) / (high - low) for score, i in top}
