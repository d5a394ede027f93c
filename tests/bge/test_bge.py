"""The real BGEM3FlagModel code path on a tiny checkpoint made here (`make test-bge`). Its vectors mean nothing; shapes and promises do."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.errors import ConfigurationError
from graphmem.ports import IndexQuery, Point
from graphmem.recall import calibration
from graphmem.stores.bge import BgeM3Embedder
from graphmem.stores.embedding import vectors_for
from graphmem.stores.keys import point_id
from graphmem.stores.qdrant_edge import EdgeIndex

pytestmark = [
    pytest.mark.bge,
    pytest.mark.filterwarnings("default"),  # torch and transformers warn on import; their warnings are not ours to mend
]

HIDDEN = 64
SENTENCES = [
    f"{a}{b}"
    for a in ("我喜欢", "他不喝", "I like ", "she never drinks ")
    for b in ("咖啡", "绿茶", "coffee", "green tea", "拿铁", "oat milk")
]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A random model in bge-m3's layout, under 1 MB. Two settings make it usable: a spread of weights, and a bias in the sparse head."""
    folder = tmp_path_factory.mktemp("bge-m3")
    size = make_tokenizer(folder)
    make_model(folder, size)
    yield folder


def make_tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>"]  # the order of fairseq, which the model family expects
    learner = Tokenizer(models.Unigram())
    learner.normalizer = normalizers.NFKC()
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    learner.train_from_iterator(
        SENTENCES * 10, trainers.UnigramTrainer(vocab_size=400, special_tokens=special, unk_token="<unk>", show_progress=False)
    )
    pieces = json.loads(learner.to_str())["model"]["vocab"]
    vocabulary = [(token, 0.0) for token in special] + [(p, s) for p, s in pieces if p not in special] + [("<mask>", 0.0)]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.add_special_tokens([*special, "<mask>"])
    made.save(str(folder / "tokenizer.json"))
    named = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    named |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    (folder / "special_tokens_map.json").write_text(json.dumps(named))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**named, "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512})
    )
    return len(vocabulary)


def make_model(folder: Path, vocabulary: int) -> None:
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(7)
    config = XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=514,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
        initializer_range=0.4,  # with the default all cosines are 0.9999
    )
    XLMRobertaModel(config).save_pretrained(folder)
    torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")
    sparse = torch.nn.Linear(HIDDEN, 1)
    torch.nn.init.constant_(sparse.bias, 1.0)  # its output passes a ReLU: without a bias most weights are zero
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")


@pytest.fixture(scope="session")
def bge(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> BgeM3Embedder:
    return BgeM3Embedder(checkpoint, tmp_path_factory.mktemp("calibration"))


def test_the_size_is_the_checkpoints_own(bge: BgeM3Embedder) -> None:
    assert bge.dimension == HIDDEN
    assert bge.languages is None


def test_any_text_gets_a_unit_vector_and_a_batch_equals_its_texts(bge: BgeM3Embedder) -> None:
    texts = ["我喜欢咖啡", "I like coffee", "", "🍣", "我喜欢寿司\ud83c", "green tea " * 2_000]
    batch = bge.embed(texts, query=False)
    assert [len(v) for v in batch] == [HIDDEN] * len(texts)
    for text, vector in zip(texts, batch, strict=True):
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-3)
        assert bge.embed([text], query=False)[0] == pytest.approx(vector, abs=1e-3)
    assert bge.embed([], query=True) == []


def test_the_models_own_lexical_weights_are_plain_numbers(bge: BgeM3Embedder) -> None:
    (weights,) = bge.sparse(["我喜欢咖啡"])
    assert weights
    assert all(type(token) is int and type(weight) is float and weight > 0 for token, weight in weights.items())
    assert json.loads(json.dumps(weights))
    assert bge.sparse([]) == []


def test_vectors_reach_the_candidate_index_and_come_back(bge: BgeM3Embedder, tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, {bge.name: bge.dimension})
    texts = ["我喜欢咖啡", "she never drinks green tea"]
    index.upsert(
        "t1",
        [
            Point(point_id(t, [bge.name]), f"mid-{n}", "fact", "a" * 32, 1, vectors_for([bge], t, query=False), t)
            for n, t in enumerate(texts)
        ],
    )
    found = index.search("t1", IndexQuery("a" * 32, ["fact"], vectors_for([bge], texts[1], query=True), texts[1]))
    index.close()
    assert max(found, key=lambda c: c.scores[bge.name]).ref == "mid-1"


def test_the_calibration_of_a_checkpoint_is_fitted_once_and_kept(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = BgeM3Embedder(checkpoint, tmp_path)
    made = first.calibrate(0.7)
    assert 0 <= made <= 1
    assert first.calibrate(0.9) >= made
    assert [f.suffix for f in tmp_path.iterdir()] == [".json"]

    def refit(cosines: object, labels: object) -> calibration.Platt:
        raise AssertionError("fitted again")

    monkeypatch.setattr("graphmem.stores.bge.fit", refit)
    assert BgeM3Embedder(checkpoint, tmp_path).calibrate(0.7) == made


@pytest.mark.parametrize("lost", ["config.json", "tokenizer.json", "sparse_linear.pt", "model.safetensors"])
def test_an_incomplete_model_is_refused_with_what_is_missing(checkpoint: Path, tmp_path: Path, lost: str) -> None:
    for file in checkpoint.iterdir():
        if file.name != lost:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ConfigurationError, match=lost):
        BgeM3Embedder(tmp_path, tmp_path)
