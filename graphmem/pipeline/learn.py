"""Fitting the second opinion (opinion.py) to labelled sentences: softmax regression, whole batches, a fixed number of steps. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from graphmem.evalfile import Label
from graphmem.memory import EPOCH, Turn
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.normal import normalise
from graphmem.pipeline.opinion import FINE, LENGTH, NAMES, NONE, SIZE, WEIGHTS, Encode, Head
from graphmem.pipeline.slice import cut

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Numbers = NDArray[float32]

STEPS, RATE, SHRINK = 250, 0.05, 3e-5
"""Steps of Adam, its rate, and the weight of the squares. Own choice, by held-out families."""
SLOW, SLOWER = 0.9, 0.99
"""Adam's two memories."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One clause: the family of its line, its text, its marks and its reading."""

    family: str
    text: str
    marks: tuple[str, ...]
    reading: str


def samples(labels: Iterable[Label], extractor: Extractor) -> list[Sample]:
    """One sample a clause that can state something: the one that holds the value has the label, the others state nothing.

    A label names one statement of its line: other clauses in which the rules find one teach nothing.
    """
    out: list[Sample] = []
    for label in labels:
        sliced = cut(label.text)
        value = normalise(label.value).norm if label.value else ""
        heard = [s.span for s in extractor.hear(Turn(label.text), EPOCH, ZoneInfo("UTC")).statements if s.span] if value else []
        for clause in sliced.clauses:
            if extractor.speech.act_of(clause) is not None:
                continue
            states = label.memory_type != NONE and (len(sliced.clauses) == 1 or (bool(value) and value in clause.text))
            start, end = sliced.normal.span(clause.start, clause.end)
            other = not states and any(a < end and start < b for a, b in heard)
            if label.memory_type == NONE or states or (value and not other):
                reading = f"{label.predicate}{label.polarity}" if states else NONE
                out.append(Sample(label.family, clause.text, tuple(extractor.marks(sliced, clause)), reading))
    return out


def fit(trained: Sequence[Sample], encode: Encode) -> Head:
    """The head of these samples. The same samples and encodings give the same weights up to the machine's rounding of sums."""
    import numpy as np

    names = sorted({m for s in trained for m in s.marks})
    readings = tuple(sorted({s.reading for s in trained} | {NONE}))
    place = {m: i for i, m in enumerate(names)}
    x = np.zeros((len(trained), SIZE + len(names) + 1), dtype=np.float32)
    for i, sample in enumerate(trained):
        vector = np.asarray(encode(sample.text), dtype=np.float64)
        x[i, :SIZE] = vector * (LENGTH / (float(np.linalg.norm(vector)) or 1.0))
        x[i, [SIZE + place[m] for m in sample.marks]] = 1
    x[:, -1] = 1
    y = np.zeros((len(trained), len(readings)), dtype=np.float32)
    y[np.arange(len(trained)), [readings.index(s.reading) for s in trained]] = 1
    return Head(readings, place, np.round(_descended(x, y).astype(np.float64) * FINE) / FINE)


def _descended(x: Numbers, y: Numbers) -> Numbers:
    import numpy as np

    weights, first, second = (np.zeros((x.shape[1], y.shape[1]), dtype=np.float32) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = x @ weights
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = x.T @ (parts / parts.sum(axis=1, keepdims=True) - y) / len(x) + SHRINK * weights
        first = SLOW * first + (1 - SLOW) * slope
        second = SLOWER * second + (1 - SLOWER) * slope * slope
        weights = weights - RATE * (first / (1 - SLOW**step)) / (np.sqrt(second / (1 - SLOWER**step)) + 1e-8)
    return weights


def save(made: Head, weights: Path = WEIGHTS, names: Path = NAMES) -> None:
    """Write a head as it is committed."""
    import numpy as np

    np.save(weights, np.round(made.weights * FINE).clip(-32768, 32767).astype(np.int16))
    names.write_text(
        json.dumps({"readings": made.readings, "marks": list(made.marks)}, ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
