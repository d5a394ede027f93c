"""A second opinion on the kind of a clause: a sparse softmax over n-grams, trained by scripts/train.py, in plain Python. Pure.

Training is byte for byte the same everywhere: plain floats, fixed order, `random.Random(seed)`, weights rounded to four digits.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from graphmem.memory import Kind
from graphmem.ontology import PACKS

CLASSES = ("fact", "preference", "context", "none")
SEEDS = PACKS / "train" / "seeds.tsv"
COMMITTED = PACKS / "train" / "model.json"

SEED = 5
PASSES = 12
RATE = 0.3
"""Step of AdaGrad. Own choice."""
LEAST = 3
"""Sentences that must hold a feature."""
DIGITS = 4

FILLS = 8
"""Sentences of a template with slots: one a value."""
HELD_OUT = 5
"""Every fifth template only calibrates."""

BOUND = 0.9
"""Rule certainty under which the model is asked: rules of plain statements say 0.97. Own choice."""
SURE = 0.9
"""Calibrated probability at which the model's contrary opinion counts. Own choice."""
DOUBT = 0.9
"""Factor of a contrary opinion. Own choice."""

_TOKEN = re.compile(r"[a-z']+|[\u3400-\u9fff]|[0-9]+")
_SLOT = re.compile(r"\{(\w+)\}")

Sample = tuple[str, str]
"""Label and text."""


def features(text: str) -> list[str]:
    """Words and Han characters, alone and in runs of two and three, once each, in the order of the text."""
    tokens = ["#" if t[0].isdigit() else t for t in _TOKEN.findall(text.lower()[:240])]
    marked = ["^", *tokens, "$"]
    runs = [" ".join(marked[i : i + n]) for n in (1, 2, 3) for i in range(len(marked) - n + 1)]
    return list(dict.fromkeys(runs))


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by feature, one a class, and the temperature that calibrates them."""

    temperature: float
    weights: Mapping[str, tuple[float, ...]] = field(repr=False)

    def probabilities(self, text: str) -> dict[str, float]:
        """Calibrated, by class; they sum to 1."""
        return dict(zip(CLASSES, _softmax(_scores(self.weights, features(text)), self.temperature), strict=True))

    def dumps(self) -> str:
        """As it is committed."""
        lines = [f"{json.dumps(f, ensure_ascii=False)}:{json.dumps(list(w), separators=(',', ':'))}" for f, w in self.weights.items()]
        return f'{{"classes":{json.dumps(CLASSES)},"temperature":{self.temperature},"weights":{{\n' + ",\n".join(lines) + "\n}}\n"


def _scores(weights: Mapping[str, Sequence[float]], found: Sequence[str]) -> list[float]:
    scores = [0.0] * len(CLASSES)
    for name in found:
        w = weights.get(name)
        if w is not None:
            for i, value in enumerate(w):
                scores[i] += value
    return scores


def _softmax(scores: Sequence[float], temperature: float = 1.0) -> list[float]:
    top = max(scores)
    parts = [math.exp((s - top) / temperature) for s in scores]
    total = sum(parts)
    return [p / total for p in parts]


# --- training


def samples(path: Path = SEEDS) -> tuple[list[Sample], list[Sample]]:
    """The seeds, filled in: what is trained on and what calibrates."""
    slots: dict[tuple[str, str], tuple[str, ...]] = {}
    templates: list[tuple[str, str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, *rest = line.split("\t")
        if first == "slot":
            slots[rest[0], rest[1]] = tuple(rest[2].split("|"))
        else:
            templates.append((first, rest[0], rest[1]))
    halves: tuple[list[Sample], list[Sample]] = ([], [])
    for number, (label, language, template) in enumerate(templates):
        held = number % HELD_OUT == HELD_OUT - 1
        halves[held].extend((label, text) for text in _filled(template, language, slots))
    return halves


def _filled(template: str, language: str, slots: Mapping[tuple[str, str], tuple[str, ...]]) -> Iterator[str]:
    names = _SLOT.findall(template)
    for n in range(FILLS if names else 1):
        text = template
        for i, name in enumerate(names):
            values = slots[language, name]
            text = text.replace(f"{{{name}}}", values[(n + 3 * i) % len(values)], 1)
        yield text


def train(trained: Sequence[Sample], held: Sequence[Sample]) -> Model:
    """The model of these samples, calibrated on the held-out ones."""
    read = [(CLASSES.index(label), features(text)) for label, text in trained]
    counts = Counter(f for _, found in read for f in found)
    kept = {f for f, n in counts.items() if n >= LEAST}
    weights = {f: [0.0] * len(CLASSES) for f in sorted(kept)}
    squares = {f: [1e-8] * len(CLASSES) for f in sorted(kept)}
    read = [(label, [f for f in found if f in kept]) for label, found in read]
    order = list(range(len(read)))
    shuffler = random.Random(SEED)  # noqa: S311 - the order of training, no secret
    for _ in range(PASSES):
        shuffler.shuffle(order)
        for i in order:
            _step(weights, squares, *read[i])
    rounded = {f: tuple(round(v, DIGITS) + 0.0 for v in w) for f, w in weights.items()}
    return Model(_temperature(rounded, held), rounded)


def _step(weights: dict[str, list[float]], squares: dict[str, list[float]], label: int, found: Sequence[str]) -> None:
    chances = _softmax(_scores(weights, found))
    for i, chance in enumerate(chances):
        slope = chance - (1.0 if i == label else 0.0)
        for name in found:
            squares[name][i] += slope * slope
            weights[name][i] -= RATE * slope / math.sqrt(squares[name][i])


def _temperature(weights: Mapping[str, Sequence[float]], held: Sequence[Sample]) -> float:
    """The one of 40 that makes the held-out labels likeliest."""
    read = [(CLASSES.index(label), _scores(weights, features(text))) for label, text in held]
    return min((n / 10 for n in range(5, 45)), key=lambda t: -sum(math.log(max(_softmax(s, t)[label], 1e-12)) for label, s in read))


# --- use


@lru_cache(maxsize=1)
def model() -> Model:
    """The committed model, read once."""
    read = json.loads(COMMITTED.read_text(encoding="utf-8"))
    return Model(read["temperature"], {f: tuple(w) for f, w in read["weights"].items()})


def second_opinion(text: str, kind: Kind, confidence: float) -> float:
    """The certainty of a rule that was not sure, lowered where the model is sure that the clause says nothing, or something else."""
    if confidence >= BOUND:
        return confidence
    chances = model().probabilities(text)
    other = max(CLASSES, key=lambda c: chances[c])
    return confidence * DOUBT if other != kind.value and chances[other] >= SURE else confidence
