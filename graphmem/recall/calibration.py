"""From a cosine to a probability, so that 0.85 means the same for every embedder (docs/explanation/calibration.md). Pure.

Platt's method: p = 1 / (1 + e^-(slope · cosine + offset)), fitted to labelled pairs by Newton's method on the log-likelihood with Platt's
smoothed targets, which keep a separable set from driving the slope to infinity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

import yaml

from graphmem.errors import ConfigurationError

STEPS = 100
TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class Platt:
    """The two constants of one embedder. A negative slope is not allowed: probability never falls as cosine rises."""

    slope: float
    offset: float

    def probability(self, cosine: float) -> float:
        """Between 0 and 1."""
        x = self.slope * cosine + self.offset
        return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a memory's text: label 1 where it answers or is of the same topic, else 0. `group`: zh-zh, en-en or zh-en."""

    group: Literal["zh-zh", "en-en", "zh-en"]
    label: int
    query: str
    passage: str


@lru_cache(maxsize=1)
def pairs() -> tuple[Pair, ...]:
    """The labelled pairs that ship with graphmem (packs/pairs.tsv: group, label, query, passage)."""
    lines = resources.files("graphmem").joinpath("packs/pairs.tsv").read_text("utf-8").splitlines()
    found = []
    for line in lines:
        if line and not line.startswith("#"):
            group, label, query, passage = line.split("\t")
            found.append(Pair(group, int(label), query, passage))  # type: ignore[arg-type]
    return tuple(found)


@lru_cache(maxsize=8)
def shipped(name: str) -> Platt:
    """The constants of an embedder in packs/calibration.yaml. Raises ConfigurationError where it was never calibrated."""
    data = yaml.safe_load(resources.files("graphmem").joinpath("packs/calibration.yaml").read_text("utf-8"))
    if name not in data:
        raise ConfigurationError(f"embedder {name!r} has no calibration, known are {sorted(data)}", hint="run scripts/calibrate.py")
    return Platt(float(data[name]["slope"]), float(data[name]["offset"]))


def fit(cosines: Sequence[float], labels: Sequence[int]) -> Platt:
    """The constants that fit best. Raises ValueError unless both labels occur."""
    positive = sum(labels)
    negative = len(labels) - positive
    if not positive or not negative:
        raise ValueError("a fit needs pairs of both labels")
    high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
    targets = [high if label else low for label in labels]
    mean = sum(cosines) / len(cosines)
    shifted = [c - mean for c in cosines]  # centred: the two constants hardly depend on each other, Newton's steps stay short
    slope, offset = 0.0, math.log(high * positive / (high * negative))
    for _ in range(STEPS):
        step = _newton(Platt(slope, offset), shifted, targets)
        slope, offset = slope + step[0], offset + step[1]
        if max(map(abs, step)) < TOLERANCE:
            break
    slope = max(slope, 0.0)
    return Platt(slope, offset - slope * mean)


def _newton(now: Platt, cosines: Sequence[float], targets: Iterable[float]) -> tuple[float, float]:
    """One Newton step for slope and offset; the small ridge keeps it finite where all cosines are equal."""
    g1 = g2 = h12 = 0.0
    h11 = h22 = 1e-9
    for cosine, target in zip(cosines, targets, strict=True):
        p = now.probability(cosine)
        g1, g2 = g1 + (target - p) * cosine, g2 + (target - p)
        w = p * (1 - p)
        h11, h12, h22 = h11 + w * cosine * cosine, h12 + w * cosine, h22 + w
    det = h11 * h22 - h12 * h12
    return (h22 * g1 - h12 * g2) / det, (h11 * g2 - h12 * g1) / det
