"""The second opinion on a clause: where rules are silent it may speak, it never decides a safety key alone, and it costs little."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from graphmem.evalfile import Label
from graphmem.lexicon import load_lexicon
from graphmem.memory import Heard, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.learn import fit, samples, save
from graphmem.pipeline.opinion import CLAUSES_MAX, NONE, SIZE, SIZE_MORE, WEIGHTS, head, wording
from graphmem.pipeline.propose import ID, SURE, sure
from graphmem.pipeline.slice import cut
from graphmem.stores import embedding
from graphmem.stores.embedding import sentence_encoder
from scripts.train import labels

AT, ZONE = datetime(2026, 3, 2, 10, tzinfo=UTC), ZoneInfo("Asia/Shanghai")


@lru_cache(maxsize=2)
def extractor(opinions: bool = True) -> Extractor:
    return Extractor(load_ontology(), load_lexicon(), sentence_encoder() if opinions else None)


def hear(text: str, *, opinions: bool = True) -> Heard:
    return extractor(opinions).hear(Turn(text), AT, ZONE)


def test_the_chances_of_a_clause_sum_to_one_and_a_plain_statement_is_recognised() -> None:
    texts = {"my daughter is allergic to shellfish": "allergy+", "我喝咖啡只喝冰美式": "coffee_preference+"}
    for text, expected in texts.items():
        made = extractor()
        sliced = cut(text)
        opinion = head().opinion(sentence_encoder()(sliced.clauses[0].text), made.marks(sliced, sliced.clauses[0]))
        assert sum(opinion.chances.values()) == pytest.approx(1)
        assert "".join(opinion.best()[:2]) == expected


def test_it_hears_a_statement_that_no_rule_covers() -> None:
    """The head knows readings, not sentences: at least one of these constructions is left to it, and is heard with its name."""
    heard = [hear(t) for t in LEFT_TO_IT]
    rules = {s.rule for h in heard for s in (*h.statements, *(f.statement for f in h.follow_ups))}
    assert any(r.startswith(f"{ID}.") for r in rules)
    assert not any(s.rule.startswith(f"{ID}.") for t in LEFT_TO_IT for s in hear(t, opinions=False).statements), (
        "without an encoder the rules alone hear"
    )


LEFT_TO_IT = (
    "most evenings I crochet in front of the telly",
    "我妹是螺蛳粉狂热爱好者，一周三顿",
    "姥姥出门只带现金，扫码她不会",
    "dad spends every free hour birdwatching",
)


def test_a_safety_key_is_never_stored_on_an_opinion_alone() -> None:
    safety = {k.name for k in load_ontology().keys if k.safety}
    for text in (
        "skin test came back positive for ragweed",
        "thatha puts latanoprost drops every night",
        "包里常年揣着一支沙丁胺醇",
        *LEFT_TO_IT,
    ):
        assert not [s for s in hear(text).statements if s.key in safety and s.rule.startswith(f"{ID}.")]


def test_the_confidence_of_an_opinion_reaches_the_threshold_exactly_where_it_is_stored() -> None:
    for store in (0.6, 0.85):
        assert sure(store, store) == SURE
        assert sure(store - 0.01, store) < SURE < sure(store + 0.01, store) < 1


def test_a_long_turn_asks_for_a_bounded_number_of_opinions() -> None:
    asked: list[str] = []

    def encode(text: str) -> Sequence[float]:
        asked.append(text)
        return [1.0] * SIZE

    text = "。".join(f"我第{n}次听说有人吃苹果和香蕉" for n in range(CLAUSES_MAX * 3))
    Extractor(load_ontology(), load_lexicon(), encode).hear(Turn(text), AT, ZONE)
    assert 0 < len(asked) <= CLAUSES_MAX


def test_fitting_twice_gives_the_same_head_and_it_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    lines = [
        Label(id=f"{n}", lang="en", text=text, memory_type=kind, predicate=key, value=value)  # type: ignore[arg-type]
        for n, (text, kind, key, value) in enumerate(
            [
                ("I love figs", "preference", "food_preference", "figs"),
                ("the bus was late", "none", "", ""),
                ("I have a cat", "fact", "pet", "cat"),
            ]
        )
    ]
    clauses = samples(lines, extractor(False))
    assert sorted(s.reading for s in clauses) == ["food_preference+", NONE, "pet+"]
    first, second = fit(clauses, sentence_encoder()), fit(clauses, sentence_encoder())
    assert np.array_equal(first.weights, second.weights)
    save(first, tmp_path / "w.npz", tmp_path / "n.json")
    read = head(tmp_path / "w.npz", tmp_path / "n.json")
    assert read.readings == first.readings
    assert np.allclose(read.weights, first.weights)


def test_the_committed_head_is_small_and_knows_every_key_that_people_state() -> None:
    known = {r[:-1] for r in head().readings if r != NONE}
    assert WEIGHTS.stat().st_size < 400_000
    assert {k.name for k in load_ontology().keys} - known <= {"passport_number", "bank_account"}


def test_an_english_clause_is_read_with_and_without_the_second_encoder() -> None:
    """Its archive may be missing where a turn is heard: the opinion of a plain statement stays."""
    made, text = extractor(), "my daughter is allergic to shellfish"
    sliced = cut(text)
    vector, found = sentence_encoder()(text), made.marks(sliced, sliced.clauses[0])
    assert len(vector) == SIZE + SIZE_MORE
    assert len(sentence_encoder()("我女儿对虾过敏")) == SIZE
    both, one = head().opinion(vector, found), head().opinion(vector[:SIZE], found)
    assert both.best()[:2] == one.best()[:2] == ("allergy", "+")
    assert both.chances != one.chances


def test_without_the_archive_on_the_machine_nothing_is_fetched_for_an_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(*_: object) -> None:
        raise AssertionError("an opinion fetched a file")

    monkeypatch.setattr(embedding, "model_here", lambda: False)
    monkeypatch.setattr(embedding.E5, "embed", fetched)
    assert len(sentence_encoder()("my daughter is allergic to shellfish")) == SIZE


def test_a_clause_is_worded_with_its_names_as_their_types_and_no_longer_than_a_bound() -> None:
    find = extractor(False).recogniser.find
    first, second = ("penicillin brings me out in hives", "amoxicillin brings me out in hives")
    assert wording(first, find(first)) == wording(second, find(second))
    assert any(m.endswith("> brings me") for m in wording(first, find(first)))
    assert len(wording("so " * 5_000, ())) < 50
    assert len(wording(" ".join(f"w{n}" for n in range(5_000)), ())) < 1_000


@pytest.mark.long
def test_training_again_gives_the_committed_head_but_for_the_rounding_of_sums() -> None:
    made = fit(samples(labels(), extractor(False)), sentence_encoder())
    assert made.readings == head().readings
    assert list(made.marks) == list(head().marks)
    apart = np.abs(made.weights - head().weights)
    assert float(np.quantile(apart, 0.999)) <= 0.02
