"""What an evaluation says: scores with counts, confusion pairs, misses with the rule that fired, predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

ALL = "all"
"""The group that holds every line."""


@dataclass(frozen=True, slots=True)
class Score:
    """hits of total under one name, for one group (`all`, `zh`, `domain:food`, `category:latest` …). Rate scores may have parts of hits."""

    kind: str
    name: str
    group: str
    hits: float
    total: int

    @property
    def rate(self) -> float | None:
        return self.hits / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Miss:
    """One line that went wrong. `weight` orders misses, the worst first; `rule` is what fired, or why nothing did."""

    kind: str
    id: str
    text: str
    expected: str
    got: str
    rule: str = ""
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Scores in a fixed order, confusion pairs (expected key → got key) by count, misses by weight, predictions in the file's format."""

    scores: tuple[Score, ...]
    confusion: tuple[tuple[str, str, int], ...] = ()
    misses: tuple[Miss, ...] = ()
    predictions: tuple[Mapping[str, object], ...] = ()

    def score(self, kind: str, name: str, group: str = ALL) -> Score:
        """That score; KeyError when the file had no such lines."""
        for score in self.scores:
            if (score.kind, score.name, score.group) == (kind, name, group):
                return score
        raise KeyError((kind, name, group))

    def to_json(self, misses: int = 0) -> dict[str, object]:
        """Plain values for `-o json`, with the worst `misses`."""
        return {
            "scores": [
                {"kind": s.kind, "name": s.name, "group": s.group, "hits": s.hits, "total": s.total, "rate": s.rate} for s in self.scores
            ],
            "confusion": [{"expected": e, "got": g, "count": n} for e, g, n in self.confusion],
            "misses": [
                {"kind": m.kind, "id": m.id, "text": m.text, "expected": m.expected, "got": m.got, "rule": m.rule}
                for m in self.misses[:misses]
            ],
        }


@dataclass(slots=True)
class Tally:
    """Collects while a file is walked; becomes a Report."""

    hits: dict[tuple[str, str, str], float] = field(default_factory=dict)
    totals: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)
    predictions: list[Mapping[str, object]] = field(default_factory=list)

    def add(self, kind: str, name: str, hit: float, groups: Iterable[str] = ()) -> None:
        for group in (ALL, *groups):
            self.hits[kind, name, group] = self.hits.get((kind, name, group), 0) + hit
            self.totals[kind, name, group] += 1

    def report(self) -> Report:
        scores = tuple(Score(*name, hits, self.totals[name]) for name, hits in self.hits.items())
        confusion = tuple((e, g, n) for (e, g), n in sorted(self.confusion.items(), key=lambda item: (-item[1], item[0])))
        misses = tuple(sorted(self.misses, key=lambda miss: -miss.weight))
        return Report(tuple(sorted(scores, key=_order)), confusion, misses, tuple(self.predictions))


def _order(score: Score) -> tuple[str, bool, str, str]:
    return score.kind, score.group != ALL, score.group, score.name
