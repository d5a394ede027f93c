"""The two offline embedders as they are, and what all embedders share."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
import yaml

from graphmem.errors import ConfigurationError
from graphmem.jars import model_jar
from graphmem.memory import Language
from graphmem.ports import Embedder
from graphmem.recall.calibration import Platt, fit, pairs, shipped
from graphmem.stores.bge import BgeM3Embedder
from graphmem.stores.embedders import make_embedders
from graphmem.stores.embedding import (
    MAX_CHARS,
    CachedQueries,
    E5Embedder,
    UseEmbedder,
    _load_use,
    cosines_of_pairs,
    readable,
    sizes,
    speaks,
    vectors_for,
)

USE = UseEmbedder()
E5 = E5Embedder(model_jar)
BOTH = [pytest.param(USE, id="use"), pytest.param(E5, id="e5")]
TEXTS = ["I moved to Hangzhou", "我搬到了杭州", "", " ", "🍣👍🏽", "我喜欢寿司\ud83c", "\udc00\ud800", "a" * 30_000, "cat", "\x00\x07"]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@cache
def pair_cosines(name: str) -> tuple[list[float], list[int]]:
    embedders: dict[str, Embedder] = {"use": USE, "e5": E5}
    return cosines_of_pairs(embedders[name], pairs())


@pytest.mark.parametrize("embedder", BOTH)
def test_any_text_gets_a_unit_vector_of_the_declared_size_and_a_batch_equals_its_texts(embedder: Embedder) -> None:
    batch = embedder.embed(TEXTS, query=False)
    assert len(batch) == len(TEXTS)
    for text, vector in zip(TEXTS, batch, strict=True):
        assert len(vector) == embedder.dimension
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-4)
        assert embedder.embed([text], query=False)[0] == pytest.approx(vector, abs=1e-5)


@pytest.mark.parametrize("embedder", BOTH)
def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([], query=True) == []


@pytest.mark.parametrize("embedder", BOTH)
def test_a_very_long_message_costs_no_more_than_its_beginning(embedder: Embedder) -> None:
    long = "我想找一下之前说过的过敏的事情，" * 1_250
    start = time.monotonic()
    vector = embedder.embed([long], query=True)[0]
    assert time.monotonic() - start < 5
    assert vector == embedder.embed([long[:MAX_CHARS]], query=True)[0]
    assert len(readable(long)) == MAX_CHARS


@pytest.mark.parametrize("embedder", BOTH)
def test_eight_threads_get_the_same_vectors_as_one(embedder: Embedder) -> None:
    texts = [f"I like tea number {n}" for n in range(16)]
    alone = embedder.embed(texts, query=False)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda t: embedder.embed([t], query=False)[0], texts))
    for one, other in zip(alone, together, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_a_lone_surrogate_becomes_a_replacement_character_and_a_pair_an_emoji() -> None:
    assert readable("我喜欢寿司\ud83c") == "我喜欢寿司\ufffd"
    assert readable("\ud83c\udf63") == "🍣"
    assert readable("寿司🍣👍🏽") == "寿司🍣👍🏽"


def test_meaning_is_near_within_and_across_languages() -> None:
    for asked, right, wrong in [
        ("我住在哪个城市", "我搬到杭州了", "我的猫生病了"),
        ("which city do I live in", "我搬到杭州了", "我的猫生病了"),
        ("which city do I live in", "I moved to Berlin", "my cat is ill"),
    ]:
        query, near, far = USE.embed([asked, right, wrong], query=True)
        assert cosine(query, near) > cosine(query, far) + 0.1


def test_english_only_embedders_are_asked_for_mostly_latin_text_alone() -> None:
    assert speaks(E5, "I like tea")
    assert speaks(E5, "I like 龙井 tea very much")
    assert not speaks(E5, "我喜欢 tea")
    assert not speaks(E5, "12345 🍣")
    assert speaks(USE, "我喜欢茶")
    assert set(vectors_for([USE, E5], "I like tea", query=False)) == {"use", "e5"}
    assert set(vectors_for([USE, E5], "我喜欢喝茶", query=False)) == {"use"}
    assert vectors_for([USE, E5], " \u3000", query=True) == {}


def test_questions_and_passages_are_told_apart_by_e5() -> None:
    assert E5.embed(["tea"], query=True) != E5.embed(["tea"], query=False)


def test_a_size_that_contradicts_the_model_is_refused_with_both_numbers() -> None:
    assert sizes([USE, E5], {"use": 512}) == {"use": 512, "e5": 384}
    with pytest.raises(ConfigurationError, match=r"768.*512"):
        sizes([USE, E5], {"use": 768})


def test_a_wrong_archive_is_refused_with_what_to_do(tmp_path: Path) -> None:
    jar = tmp_path / "e5.jar"
    jar.write_bytes(b"no archive")
    with pytest.raises(ConfigurationError, match=r"e5\.jar") as caught:
        E5Embedder(lambda: jar).embed(["tea"], query=True)
    assert caught.value.hint


class Counting:
    """An embedder that counts the texts it was given."""

    name = "counting"
    dimension = 1
    languages: frozenset[Language] | None = None

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        self.seen += texts
        return [[float(len(t))] for t in texts]

    def calibrate(self, cosine: float) -> float:
        return cosine


def test_a_query_asked_again_is_not_embedded_again_and_passages_are_not_kept() -> None:
    inner = Counting()
    kept = CachedQueries(inner, size=2)
    first = kept.embed(["a"], query=True)
    first[0].append(9.0)
    assert kept.embed(["a", "bb"], query=True) == [[1.0], [2.0]]
    assert inner.seen == ["a", "bb"]
    kept.embed(["ccc", "a"], query=True)
    kept.embed(["a"], query=False)
    assert inner.seen == ["a", "bb", "ccc", "a", "a"]
    assert (kept.name, kept.dimension, kept.languages, kept.calibrate(0.5)) == ("counting", 1, None, 0.5)


def test_there_are_enough_labelled_pairs_of_each_kind() -> None:
    groups = {(p.group, p.label) for p in pairs()}
    assert groups == {(g, label) for g in ("zh-zh", "en-en", "zh-en") for label in (0, 1)}
    assert len(pairs()) >= 240
    assert all(sum(p.group == g for p in pairs()) >= 80 for g in ("zh-zh", "en-en", "zh-en"))
    assert len(set(pairs())) == len(pairs())


@pytest.mark.parametrize("embedder", BOTH)
def test_the_shipped_calibration_is_what_the_pairs_give(embedder: Embedder) -> None:
    made = fit(*pair_cosines(embedder.name))
    held = shipped(embedder.name)
    for cosine_value in (0.2, 0.5, 0.7, 0.8, 0.85, 0.9):
        assert held.probability(cosine_value) == pytest.approx(made.probability(cosine_value), abs=0.01)


@pytest.mark.parametrize("embedder", BOTH)
def test_085_tells_mostly_what_answers_for_each_embedder(embedder: Embedder) -> None:
    cosines, labels = pair_cosines(embedder.name)
    told = [label for c, label in zip(cosines, labels, strict=True) if embedder.calibrate(c) >= 0.85]
    assert sum(told) / len(told) >= 0.85
    assert sum(told) / sum(labels) >= 0.3


def test_a_calibration_rises_with_the_cosine_and_stays_a_probability() -> None:
    for name in ("use", "e5"):
        values = [shipped(name).probability(c / 100) for c in range(-100, 101)]
        assert values == sorted(values)
        assert 0 <= values[0] < values[-1] <= 1


def test_an_embedder_that_was_never_calibrated_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'ada'"):
        shipped("ada")


def test_a_fit_finds_the_curve_it_was_drawn_from_and_needs_both_labels() -> None:
    true = Platt(12.0, -6.0)
    cosines = [n / 1000 for n in range(1001) for _ in range(20)]
    labels = [int(k < round(20 * true.probability(c))) for c, k in zip(cosines, list(range(20)) * 1001, strict=True)]
    made = fit(cosines, labels)
    assert made.slope == pytest.approx(true.slope, rel=0.05)
    assert made.offset == pytest.approx(true.offset, rel=0.05)
    with pytest.raises(ValueError, match="both labels"):
        fit([0.1, 0.2], [1, 1])


def test_a_fit_to_pairs_that_are_all_alike_or_upside_down_never_falls() -> None:
    assert fit([0.5] * 10, [0, 1] * 5).probability(0.9) == pytest.approx(0.5, abs=0.05)
    assert fit([0.9, 0.8, 0.1, 0.2], [0, 0, 1, 1]).slope == 0.0


def test_the_calibration_file_says_what_it_was_made_from() -> None:
    with (Path(__file__).parents[2] / "graphmem/packs/calibration.yaml").open(encoding="utf-8") as file:
        data = yaml.safe_load(file)
    assert data["use"]["pairs"] == len(pairs())


def test_embedders_are_made_by_name_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    made = make_embedders(["use", "e5", "use"], bge_model=None, cache=tmp_path)
    assert sizes(made) == {"use": 512, "e5": 384}
    for names in (["ada"], []):
        with pytest.raises(ConfigurationError) as caught:
            make_embedders(names, bge_model=None, cache=tmp_path)
        assert "bge-m3" in (caught.value.hint or "")
    with pytest.raises(ConfigurationError, match="bge-m3"):
        make_embedders(["bge-m3"], bge_model=None, cache=tmp_path)


def test_bge_without_a_model_says_how_to_get_it(tmp_path: Path) -> None:
    for model in (None, tmp_path):
        with pytest.raises(ConfigurationError) as caught:
            BgeM3Embedder(model, tmp_path)
        assert "GRAPHMEM_BGE_MODEL" in (caught.value.hint or "")


def test_bge_without_its_extra_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tokenizer.json", "colbert_linear.pt", "sparse_linear.pt", "model.safetensors"):
        (tmp_path / name).touch()
    (tmp_path / "config.json").write_text('{"hidden_size": 1024}')
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    bge = BgeM3Embedder(tmp_path, tmp_path)
    assert bge.dimension == 1024
    assert bge.embed([], query=True) == []
    with pytest.raises(ConfigurationError, match="FlagEmbedding") as caught:
        bge.embed(["茶"], query=True)
    assert "graphmem[bge]" in (caught.value.hint or "")


def test_the_sentence_encoder_keeps_to_one_thread() -> None:
    """The model found threadpoolctl and with it the BLAS library it limits."""
    backend = _load_use()._model
    assert backend._threadpool is not None
    assert backend.threads == 1
