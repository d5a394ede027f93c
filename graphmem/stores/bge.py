"""BGE-M3 through FlagEmbedding, where the user has the weights: dense and sparse vectors, Chinese and English alike.

The package is the extra `bge` (5 GB on Linux x86-64 unless torch comes from its CPU index first) and takes seconds to import, so it is
imported at the first text. transformers 5.24 breaks FlagEmbedding 1.4.2: the extra pins it lower (stack.md section 2).
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.errors import ConfigurationError
from graphmem.memory import Language
from graphmem.recall.calibration import Platt, fit, pairs
from graphmem.stores.embedding import Once, cosines_of_pairs, readable

if TYPE_CHECKING:
    from FlagEmbedding import BGEM3FlagModel

GET_EXTRA = (
    "install the extra with `pip install 'graphmem[bge]'`; on Linux x86-64 first install torch from PyTorch's own CPU index, "
    "or the CUDA build (5 GB) is taken"
)
GET_MODEL = (
    "download the model BAAI/bge-m3 once (2.3 GB, `huggingface-cli download BAAI/bge-m3 --local-dir DIR`) "
    "and set GRAPHMEM_BGE_MODEL to that folder; graphmem itself never downloads it"
)
_FILES = ("config.json", "tokenizer.json", "colbert_linear.pt", "sparse_linear.pt")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")

BATCH = 32
MAX_TOKENS = 8192
"""The model's positions; a smaller checkpoint's own limit goes before it."""


class BgeM3Embedder:
    """See ports.Embedder. The path is checked at once, the model loaded at the first text. Thread safe (one call at a time)."""

    name = "bge-m3"
    languages: frozenset[Language] | None = None

    def __init__(self, model: Path | None, cache: Path) -> None:
        """`cache`: a folder for the calibration constants of this very checkpoint, fitted at the first need (about a minute on two cores).

        Raises ConfigurationError that says how to get a missing model.
        """
        self._path = _checked(model)
        self._config = json.loads((self._path / "config.json").read_text("utf-8"))
        self._model = Once(self._load)
        self._one_at_a_time = threading.Lock()
        self._cache = cache
        self._platt = Once(self._calibration)

    @property
    def dimension(self) -> int:
        """From the checkpoint's own configuration: 1024 for bge-m3."""
        return int(self._config["hidden_size"])

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if not texts:  # the library fails on an empty list
            return []
        dense = self._encode(texts, sparse=False)["dense_vecs"]
        return [[float(x) for x in row] for row in dense]

    def sparse(self, texts: Sequence[str]) -> list[dict[int, float]]:
        """Token id -> weight a text: the model's own lexical view."""
        if not texts:
            return []
        return [{int(token): float(w) for token, w in row.items()} for row in self._encode(texts, sparse=True)["lexical_weights"]]

    def calibrate(self, cosine: float) -> float:
        return self._platt().probability(cosine)

    def _encode(self, texts: Sequence[str], *, sparse: bool) -> dict[str, list[dict[str, float]]]:
        limit = min(MAX_TOKENS, int(self._config.get("max_position_embeddings", MAX_TOKENS + 2)) - 2)
        clean = [readable(text) for text in texts]  # always a list: a lone string gives other shapes
        with self._one_at_a_time:
            return dict(
                self._model().encode(
                    clean, batch_size=BATCH, max_length=limit, return_dense=True, return_sparse=sparse, return_colbert_vecs=False
                )
            )

    def _load(self) -> BGEM3FlagModel:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a path is given: nothing is to be asked of a hub
        try:
            from FlagEmbedding import BGEM3FlagModel
        except ImportError as error:
            raise ConfigurationError(f"the embedder bge-m3 needs FlagEmbedding: {error}", hint=GET_EXTRA) from error
        return BGEM3FlagModel(str(self._path), use_fp16=False, devices="cpu")

    def _calibration(self) -> Platt:
        """Constants of this checkpoint and these pairs, from the cache or fitted now."""
        text = json.dumps([self._config, [(p.label, p.query, p.passage) for p in pairs()], _weight_size(self._path)], sort_keys=True)
        kept = self._cache / f"bge-m3-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
        if kept.exists():
            held = json.loads(kept.read_text("utf-8"))
            return Platt(float(held["slope"]), float(held["offset"]))
        made = fit(*cosines_of_pairs(self, pairs()))
        self._cache.mkdir(parents=True, exist_ok=True)
        aside = kept.with_suffix(f".{os.getpid()}.part")
        aside.write_text(json.dumps({"slope": made.slope, "offset": made.offset}), "utf-8")
        aside.replace(kept)
        return made


def _checked(model: Path | None) -> Path:
    if model is None:
        raise ConfigurationError("the embedder bge-m3 is configured without a model folder", hint=GET_MODEL)
    missing = [name for name in _FILES if not (model / name).is_file()]
    if not any((model / name).is_file() for name in _WEIGHTS):
        missing.append(_WEIGHTS[0])
    if missing:
        raise ConfigurationError(f"{model} is no bge-m3 model, it lacks {', '.join(missing)}", hint=GET_MODEL)
    return model


def _weight_size(model: Path) -> int:
    return next((model / name).stat().st_size for name in _WEIGHTS if (model / name).is_file())
