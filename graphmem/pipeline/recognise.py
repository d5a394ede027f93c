"""Step two: the lexicon's names in a text. Linear, memory flat.

Han characters are one token each and Latin words one token each, so a Latin name never matches inside a longer word. A table of
names by their tokens, with the lengths that begin with each token: spaCy's PhraseMatcher finds the same, but needs a Doc for each of
30,000 names (1 s at every start), an import of 0.8 s, and a string store that grows with every new word (open case lek-01).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from graphmem.lexicon import Concept, Lexicon, number_variants
from graphmem.pipeline.normal import normalise, simplified

_TOKEN = re.compile(r"[^\W\d_\u2e80-\ufaff]+(?:'[^\W\d_]+)?|\d+|\S")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
SLIP_MIN = 7
"""Letters a misspelt drug name needs before a slip of one edit is forgiven."""

VERBS = frozenset("喝吃看听读打踢玩穿坐骑")
"""Verbs that a Chinese name may begin with (喝茶): what follows is a name too. `Mention.tail` tells where."""

BRANDS, BRANDED = frozenset({"brand", "car_brand"}), frozenset({"device", "product_class"})
"""A brand that begins the name of a thing is still named."""

VARIANT_MIN = 4
"""Letters of a plural or singular that is made by rule: shorter ones are other words (news, new)."""


UNCOUNTED = frozenset(
    "city country province employer bank school car_brand brand language airline mood weather gender blood_type clothing_size "
    "education_level marital_status color time_of_day season risk_level spice_level sweetness_level price_level network analyte".split()
)
"""Types whose names have no plural worth looking for."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of the lexicon at text[start:end], with every concept it may mean. `tail`: where it goes on after a leading verb, else -1."""

    start: int
    end: int
    concepts: tuple[Concept, ...]
    tail: int = -1

    def of(self, types: Sequence[str]) -> Concept | None:
        """The concept of the first of these types that it may mean."""
        for type_ in types:
            for concept in self.concepts:
                if concept.type == type_:
                    return concept
        return None


class Recogniser:
    """Built once from a lexicon; finds every name, nested ones included."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._names: dict[str, dict[str, Concept]] = {}
        self._fill(lexicon)
        self._lengths = self._by_first()
        self._drugs = [
            n
            for n, cs in self._names.items()
            if len(n) >= SLIP_MIN and n.isascii() and n.isalpha() and any(c.type == "drug" for c in cs.values())
        ]

    def _fill(self, lexicon: Lexicon) -> None:
        plural: list[tuple[str, Concept]] = []
        pairs = list(lexicon.surfaces())
        norms = _norms([surface for surface, _ in pairs])
        for norm, (_, concept) in zip(norms, pairs, strict=True):
            self._names.setdefault(key_of(norm.strip()), {}).setdefault(concept.cid, concept)
            if concept.type not in UNCOUNTED:
                plural += [(form, concept) for form in number_variants(norm.strip())[:1]]
        for form, concept in plural:
            if len(form) < VARIANT_MIN:
                continue
            known = self._names.get(key_of(form))
            if known is None or concept.type not in {c.type for c in known.values()}:
                self._names.setdefault(key_of(form), {}).setdefault(concept.cid, concept)

    def _by_first(self) -> dict[str, tuple[int, ...]]:
        """How many tokens the names have that begin with a token."""
        lengths: dict[str, set[int]] = {}
        for name in self._names:
            lengths.setdefault(name.partition("\x1f")[0], set()).add(name.count("\x1f") + 1)
        return {first: tuple(sorted(some)) for first, some in lengths.items()}

    def find(self, text: str) -> tuple[Mention, ...]:
        """Every mention in a normal form, by start, longer first."""
        tokens = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text)]
        words = [w for _, _, w in tokens]
        found: list[Mention] = []
        for a, word in enumerate(words):
            for length in self._lengths_at(word):
                concepts, short = self._named(words[a : a + length]) if a + length <= len(words) else (None, 0)
                if concepts is not None:
                    tail = tokens[a + 1][0] if length > 1 and (word in VERBS or word.endswith("ing")) else -1
                    found.append(Mention(tokens[a][0], tokens[a + length - 1][1] - short, tuple(concepts.values()), tail))
        found.sort(key=lambda m: (m.start, -m.end))
        return tuple(m for m in found if not any(_hides(x, m) for x in found))

    def _lengths_at(self, word: str) -> tuple[int, ...]:
        lengths = self._lengths.get(word, ())
        if word.endswith("'s") and 1 not in lengths and 1 in self._lengths.get(word[:-2], ()):
            return (1, *lengths)
        return lengths

    def _named(self, words: Sequence[str]) -> tuple[dict[str, Concept] | None, int]:
        """The concepts of a name, and how many characters after it belong to its last word only by contraction: swimming's my favourite."""
        known = self._names.get("\x1f".join(words))
        if known is None and words[-1].endswith("'s"):
            known = self._names.get("\x1f".join((*words[:-1], words[-1][:-2])))
            return known, 0 if known is not None and all(c.type == "disease" for c in known.values()) else 2  # Crohn's
        return known, 0

    def ckey(self, value: str, types: Sequence[str]) -> str:
        """The lexicon's concept key of a value of these types, else the key of an open value."""
        return self._lexicon.ckey(value, types)

    def knows(self, word: str) -> bool:
        """Whether a normal form is a name itself."""
        return key_of(word) in self._names

    def drug_like(self, word: str) -> Concept | None:
        """The drug a misspelt Latin word means: exactly one name within one edit, and the word is no name itself."""
        if len(word) < SLIP_MIN or not word.isascii() or not word.isalpha() or self.knows(word):
            return None
        near = {
            c.cid: c
            for n in self._drugs
            if abs(len(n) - len(word)) <= 1 and OSA.distance(n, word, score_cutoff=1) <= 1
            for c in self._names[n].values()
            if c.type == "drug"
        }
        return next(iter(near.values())) if len(near) == 1 else None


def _hides(longer: Mention, m: Mention) -> bool:
    """酒 in 酒店 is no drink: a name inside a longer one of other kinds only."""
    if longer is m or not (longer.start <= m.start and m.end <= longer.end and m.end - m.start < longer.end - longer.start):
        return False
    if m.end == longer.end and m.start == longer.tail:
        return False  # 茶 in 喝茶 is what one drinks; table tennis in playing table tennis
    if m.start == longer.start and any(c.type in BRANDS for c in m.concepts) and all(c.type in BRANDED for c in longer.concepts):
        return False  # samsung in samsung phones
    return not {c.type for c in longer.concepts} & {c.type for c in m.concepts}


def _norms(names: Sequence[str]) -> list[str]:
    """Normal forms of many names: Latin ones in lower case, Han ones made simple, the others as a text; each kind in one pass."""
    han = iter(simplified("\n".join(n for n in names if _HAN.fullmatch(n))).split("\n"))
    others = iter(normalise("\n".join(n for n in names if not n.isascii() and not _HAN.fullmatch(n))).norm.split("\n"))
    return [n.lower() if n.isascii() else next(han) if _HAN.fullmatch(n) else next(others) for n in names]


def key_of(norm: str) -> str:
    """How a normal form is looked up: its tokens, joined."""
    if norm.isascii() and norm.isalpha():
        return norm
    if _HAN.fullmatch(norm):
        return "\x1f".join(norm)
    return "\x1f".join(m.group() for m in _TOKEN.finditer(norm))
