"""A second opinion on a clause: which key and polarity it states, or none, by a linear head over a sentence encoding. Pure.

The rules propose; this decides where they are silent or doubtful. The head is a softmax over the 512 numbers of the multilingual sentence
encoder that recall uses anyway, and marks: what the packs say of a clause (types of names, tags of small words, who is meant) and its
wording, one to three words in a row and two words near each other, each name of the lexicon as its type (<drug> brings me out in hives).
About 140 readings. `make train` fits it on the develop half of the corpus (learn.py); nothing is learned at run time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.ontology import PACKS
from graphmem.pipeline.normal import is_han
from graphmem.pipeline.prefix import Before
from graphmem.pipeline.recognise import Mention

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Encode = Callable[[str], Sequence[float]]
"""A text as the SIZE numbers of the multilingual sentence encoder; SIZE_MORE of a second one may follow where that speaks its language."""

WEIGHTS, NAMES = PACKS / "train" / "opinion.npz", PACKS / "train" / "opinion.json"
NONE = "none"
"""The reading of a clause that states nothing."""

SIZE, SIZE_MORE = 512, 384
"""Numbers of the two encoders. The second (e5, English) is good for six points of English readings that the first gets wrong."""
LENGTH, LENGTH_MORE = 5.0, 12.0
"""Lengths of encodings beside marks of 0 and 1; of the second, whose encodings all point much the same way, before their middle is taken
off. Own choice, on lines of authors not learned from."""
FINE = 32
"""Weights are kept in whole parts of this, at most 127 of them."""
ROW, NEAR = 3, 4
"""Words in a row that make a mark, and how far apart two words may stand. Own choice, on lines of authors not learned from."""
WORDS_MAX = 60
"""Words of a clause that make marks: clauses are seldom longer, and an opinion's time stays bounded."""

_WORD = re.compile(r"[\u3400-\u9fff]|[a-z']+|[0-9]+|[^\sa-z0-9\u3400-\u9fff]")

CLAUSES_MAX = 48
"""Clauses of one turn that are given an opinion, from its beginning: the time a turn takes stays bounded (one costs 1 to 2 ms)."""


def marks(text: str, mentions: Sequence[Mention], whole: Before) -> list[str]:
    """What the packs know of a clause: types of its names, tags of its small words, who is meant, digits, language; and its wording."""
    found = {f"T {c.type}" for m in mentions for c in m.concepts}
    found |= {f"G {t}" for t in (*whole.tags, *whole.head)}
    found |= {f"P {p.subject if p.subject in ('self', 'you') else 'other'}" for p in whole.people} or {"P nobody"}
    if any(c.isdigit() for c in text):
        found.add("N")
    found.add("L zh" if any(map(is_han, text)) else "L en")
    return sorted(found | wording(text, mentions))


def wording(text: str, mentions: Iterable[Mention]) -> set[str]:
    """Words in a row, and pairs of words near each other, of a clause whose names are written as their types."""
    words = _typed(text, mentions)
    found = {" ".join(words[i : i + n]) for n in range(1, ROW + 1) for i in range(len(words) - n + 1)}
    full = [w for w in words if w not in ",."]
    return found | {f"{a} .. {b}" for i, a in enumerate(full) for b in full[i + 2 : i + NEAR + 1]}


def _typed(text: str, mentions: Iterable[Mention]) -> list[str]:
    """The words of a clause between its two ends; the longest names as their first two types."""
    taken: list[Mention] = []
    for m in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        if all(m.end <= t.start or t.end <= m.start for t in taken):
            taken.append(m)
    words, at = ["^"], 0
    for m in sorted(taken, key=lambda m: m.start):
        types = sorted({c.type for c in m.concepts})
        words += [*_WORD.findall(text[at : m.start].lower()), f"<{'|'.join(types[:2])}>"]
        at = m.end
    return [*[*words, *_WORD.findall(text[at:].lower())][:WORDS_MAX], "$"]


@dataclass(frozen=True, slots=True)
class Opinion:
    """Chances of the readings of one clause: `key+`, `key-` and none; they sum to 1."""

    chances: Mapping[str, float]

    def of(self, key: str, polarity: str) -> float | None:
        """The chance of one reading; None when the head never saw the key."""
        if f"{key}+" not in self.chances and f"{key}-" not in self.chances:
            return None
        return self.chances.get(key + polarity, 0.0)

    def best(self) -> tuple[str, str, float]:
        """Key, polarity and chance of the likeliest reading that states something."""
        label = max((c for c in self.chances if c != NONE), key=lambda c: self.chances[c])
        return label[:-1], label[-1], self.chances[label]


def scaled(vector: Sequence[float], middle: NDArray[float32]) -> NDArray[float32]:
    """An encoding as the head reads it: of length LENGTH, then the second one (zeros where there is none) from its middle."""
    import numpy as np  # not at the top: `graphmem --help` shall not load it

    given = np.asarray(vector, dtype=np.float32)
    first, more = given[:SIZE], given[SIZE:]
    second = LENGTH_MORE * (more / (float(np.linalg.norm(more)) or 1.0) - middle) if len(more) else np.zeros(SIZE_MORE, dtype=np.float32)
    return np.concatenate([first * (LENGTH / (float(np.linalg.norm(first)) or 1.0)), second], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Head:
    """The fitted weights: one row a number of the encodings, then one a mark, then the constant; one column a reading."""

    readings: tuple[str, ...]
    marks: Mapping[str, int]
    weights: NDArray[float32] = field(repr=False)
    middle: NDArray[float32] = field(repr=False)

    def opinion(self, vector: Sequence[float], found: Iterable[str]) -> Opinion:
        """What a clause states, by its encoding and its marks."""
        import numpy as np

        encoding = scaled(vector, self.middle)
        size = len(encoding) if len(vector) > SIZE else SIZE
        rows = [len(encoding) + self.marks[m] for m in found if m in self.marks]
        scores = (self.weights[:size] * encoding[:size, None]).sum(axis=0)  # no matrix product: its threads cost more than the numbers
        scores += self.weights[rows].sum(axis=0) + self.weights[-1]
        parts = np.exp(scores - scores.max())
        return Opinion(dict(zip(self.readings, (parts / parts.sum()).tolist(), strict=True)))


@lru_cache(maxsize=1)
def head(weights: Path = WEIGHTS, names: Path = NAMES) -> Head:
    """The committed head, read once."""
    import numpy as np

    read, kept = json.loads(names.read_text(encoding="utf-8")), np.load(weights)
    place = {m: i for i, m in enumerate(read["marks"])}
    return Head(tuple(read["readings"]), place, kept["weights"].astype(np.float32) / FINE, kept["middle"].astype(np.float32))
