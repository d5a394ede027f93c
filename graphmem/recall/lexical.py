"""Words as numbers: the same sparse vectors for every engine, and BM25 over a handful of texts in process. Pure.

Terms: Latin and other spaced scripts as words (NFKC, case folded, accents off Latin letters, plural endings folded); Han, kana and hangul
as characters and pairs, which beat every segmenter tried (retrieval.md: .718 against .667); symbols such as emoji one by one. A word with
inner marks (`c++`, `0532-0012345`, `r&b`) is a term whole and in parts.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

import yaml

from graphmem.slot import folded

K1 = 1.2
B = 0.75
"""The usual BM25 constants."""

AVERAGE_TERMS = 24
"""The length in terms that BM25 calls average: a caption or short turn. Fixed, so that a vector never depends on other texts."""

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
_TERM = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+(?:['’.&/@_:-][^\W_{_CJK}]+)*[+#]*)")
_PARTS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Sparse:
    """Term ids (32-bit, ascending, unique) and their weights."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class _Pack:
    characters: frozenset[str]
    words: frozenset[str]
    endings: tuple[tuple[str, str, int], ...]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = yaml.safe_load(resources.files("graphmem").joinpath("packs/stopwords.yaml").read_text("utf-8"))
    endings = tuple((str(end), str(new), int(least)) for end, new, least in data["endings"])
    return _Pack(frozenset(data["zh"].split()), frozenset(data["en"].split()), endings)


def terms(text: str) -> list[str]:
    """The terms of a text in order, stop words left out; [] where nothing carries meaning."""
    text = folded(text)
    found: list[str] = []
    for match in _TERM.finditer(text):
        found.extend(_cjk(match["cjk"]) if match["cjk"] else _word(match["word"]))
    if not text.isascii():
        found.extend(c for c in text if unicodedata.category(c) == "So")
    return found


def _cjk(run: str) -> Iterator[str]:
    stop = _pack().characters
    yield from (c for c in run if c not in stop)
    yield from (a + b for a, b in pairwise(run) if a not in stop or b not in stop)


def _word(word: str) -> Iterator[str]:
    whole = _plain(word)
    parts = _PARTS.findall(whole)
    if [whole] != parts and whole.replace("’", "'").replace("'", "") not in _pack().words:
        yield whole
    for part in parts:
        if part not in _pack().words:
            yield _stem(part)


def _plain(word: str) -> str:
    """Without accents, only where the base letter is Latin: é → e, but й stays."""
    if word.isascii():
        return word
    out = []
    for c in word:
        base = unicodedata.normalize("NFD", c)[0]
        out.append(base if base.isascii() else c)
    return "".join(out)


def _stem(word: str) -> str:
    for end, new, least in _pack().endings:
        if word.endswith(end) and len(word) - len(end) >= least:
            return word[: len(word) - len(end)] + new
    return word


def term_id(term: str) -> int:
    """Stable 32-bit id of a term, the same in every process and release."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest())


def document_vector(text: str) -> Sparse:
    """BM25's term-frequency part; the engine multiplies by IDF."""
    found = terms(text)
    return _sparse((term_id(t), _saturated(n, len(found))) for t, n in Counter(found).items())


def query_vector(text: str) -> Sparse:
    """Weight 1 a term, however often it is said."""
    return _sparse((term_id(t), 1.0) for t in set(terms(text)))


def lexical_scores(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of each text, IDF over these texts alone: for what no index holds yet."""
    asked = set(terms(query))
    counts = [Counter(terms(text)) for text in texts]
    idf = {t: _idf(sum(t in c for c in counts), len(counts)) for t in asked}
    return [sum(idf[t] * _saturated(c[t], c.total()) for t in sorted(asked) if c[t]) for c in counts]


def _saturated(count: int, length: int) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / AVERAGE_TERMS))


def _idf(holders: int, total: int) -> float:
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))


def _sparse(pairs: Iterable[tuple[int, float]]) -> Sparse:
    weights: dict[int, float] = {}
    for index, value in pairs:
        weights[index] = weights.get(index, 0.0) + value
    return Sparse(sorted(weights), [weights[i] for i in sorted(weights)])
