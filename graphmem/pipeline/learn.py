"""Fitting the second opinion (opinion.py) to labelled sentences: softmax regression, whole batches, a fixed number of steps. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from graphmem.evalfile import Label
from graphmem.memory import EPOCH, Turn
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.normal import normalise
from graphmem.pipeline.opinion import FINE, NAMES, NONE, SIZE, SIZE_MORE, WEIGHTS, Encode, Head, scaled
from graphmem.pipeline.slice import cut

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Numbers = NDArray[float32]

STEPS, RATE, SHRINK = 200, 0.05, 5e-5
"""Steps of Adam, its rate, and the weight of the squares. Own choice, on lines of authors not learned from."""
SLOW, SLOWER = 0.9, 0.99
"""Adam's two memories."""
LEAST = 4
"""Clauses that a mark must stand in to be learned."""


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

    counted = Counter(m for s in trained for m in s.marks)
    names = sorted(m for m, count in counted.items() if count >= LEAST)
    readings = tuple(sorted({s.reading for s in trained} | {NONE}))
    place = {m: i for i, m in enumerate(names)}
    vectors = [encode(s.text) for s in trained]
    middle = _middle(vectors)
    # what a second encoder speaks to is learned with and without it: it may be missing where the head is used
    taken = [(s, v) for s, v in zip(trained, vectors, strict=True)]
    taken += [(s, v[:SIZE]) for s, v in taken if len(v) > SIZE]
    x = np.array([scaled(v, middle) for _, v in taken], dtype=np.float32)
    y = np.zeros((len(taken), len(readings)), dtype=np.float32)
    y[np.arange(len(taken)), [readings.index(s.reading) for s, _ in taken]] = 1
    rows = [[*(place[m] for m in s.marks if m in place), len(names)] for s, _ in taken]  # the last stands for the constant
    return Head(readings, place, _whole(_descended(x, Marked.of(rows, len(names) + 1), y)) / np.float32(FINE), middle)


def _middle(vectors: Iterable[Sequence[float]]) -> Numbers:
    """Of the second encoder's texts, as unit vectors."""
    import numpy as np

    more = [np.asarray(v[SIZE:], dtype=np.float32) for v in vectors if len(v) > SIZE]
    return np.mean([v / np.linalg.norm(v) for v in more], axis=0, dtype=np.float32) if more else np.zeros(SIZE_MORE, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Marked:
    """Which marks each sample has, and which samples each mark has: a matrix of zeros and ones, kept by its ones."""

    marks: NDArray[int64]
    first_mark: NDArray[int64]
    samples: NDArray[int64]
    first_sample: NDArray[int64]

    @staticmethod
    def of(rows: Sequence[Sequence[int]], width: int) -> Marked:
        """The matrix of these rows; every row and every one of `width` columns has a one."""
        import numpy as np

        marks = np.fromiter((m for row in rows for m in row), dtype=np.int64)
        lengths = np.array([len(row) for row in rows])
        order = np.argsort(marks, kind="stable")
        counts = np.bincount(marks, minlength=width)
        owners = np.repeat(np.arange(len(rows)), lengths)[order]
        return Marked(marks, np.cumsum(lengths) - lengths, owners, np.cumsum(counts) - counts)

    def forward(self, weights: Numbers) -> Numbers:
        """Of each sample, the sum of its marks' weights."""
        import numpy as np

        return np.add.reduceat(weights[self.marks], self.first_mark, axis=0)

    def back(self, values: Numbers) -> Numbers:
        """Of each mark, the sum of its samples' values."""
        import numpy as np

        return np.add.reduceat(values[self.samples], self.first_sample, axis=0)


def _descended(x: Numbers, marked: Marked, y: Numbers) -> Numbers:
    import numpy as np

    size = x.shape[1]
    shape = (size + len(marked.first_sample), y.shape[1])
    weights, first, second = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = x @ weights[:size] + marked.forward(weights[size:])
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        apart = parts / parts.sum(axis=1, keepdims=True) - y
        slope = np.concatenate([x.T @ apart, marked.back(apart)]) / len(x) + SHRINK * weights
        first = SLOW * first + (1 - SLOW) * slope
        second = SLOWER * second + (1 - SLOWER) * slope * slope
        weights = weights - RATE * (first / (1 - SLOW**step)) / (np.sqrt(second / (1 - SLOWER**step)) + 1e-8)
    return weights


def _whole(weights: Numbers) -> Numbers:
    """In whole parts of 1/FINE, as they are kept."""
    import numpy as np

    return np.round(weights * FINE).clip(-127, 127)


def save(made: Head, weights: Path = WEIGHTS, names: Path = NAMES) -> None:
    """Write a head as it is committed."""
    import numpy as np

    np.savez_compressed(weights, weights=_whole(made.weights).astype(np.int8), middle=made.middle)
    names.write_text(
        json.dumps({"readings": made.readings, "marks": list(made.marks)}, ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
