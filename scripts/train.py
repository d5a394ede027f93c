"""Train what is learned, from this project's own sentences, and write it: `make train`.

The small model of kinds (graphmem/pipeline/model.py) from its seeds: two runs give the same bytes. The second opinion
(graphmem/pipeline/opinion.py) from the develop half of the corpus and the rows of the extraction tests: two runs on one machine give the
same bytes, another machine's sums may round the last part of a weight differently.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graphmem.evalfile import Label, parse
from graphmem.jars import model_jar
from graphmem.lexicon import load_lexicon
from graphmem.memory import Polarity
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.learn import fit, samples, save
from graphmem.pipeline.model import COMMITTED, Model, train
from graphmem.pipeline.model import samples as kinds
from graphmem.pipeline.normal import language_of
from graphmem.pipeline.opinion import WEIGHTS
from graphmem.stores.embedding import sentence_encoder

ROOT = Path(__file__).resolve().parent.parent
ROWS = tuple(ROOT / "tests" / "graphmem" / f"extract_{name}.tsv" for name in ("rows", "probes"))
_ROW = re.compile(r"(?P<key>[a-z_]+)(?P<sign>[+!-])[^=;]+=(?P<value>[^;*]+)")
DEVELOP = ROOT / "tests" / "corpus" / "utterances.develop.jsonl"


def main() -> None:
    trained, held = kinds()
    made = train(trained, held)
    COMMITTED.write_text(made.dumps(), encoding="utf-8")
    print(f"{len(trained)} sentences trained on, {len(held)} held out; {len(made.weights)} features, temperature {made.temperature}")
    print(f"held-out accuracy {accuracy(made, held):.3f}; {COMMITTED.stat().st_size} bytes")
    model_jar()  # the head learns from both encoders
    clauses = samples(labels(), Extractor(load_ontology(), load_lexicon()))
    head = fit(clauses, sentence_encoder())
    save(head)
    print(f"second opinion: {len(clauses)} clauses, {len(head.readings)} readings, {len(head.marks)} marks; {WEIGHTS.stat().st_size} bytes")


def labels() -> Iterator[Label]:
    """What the second opinion is fitted to."""
    with DEVELOP.open(encoding="utf-8") as lines:
        yield from parse(lines, DEVELOP.name).labels
    for path in ROWS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            text, _, expected = line.partition("\t")
            label = None if line.startswith("#") else _label(f"{path.stem}-{number}", text.replace("\\n", "\n"), expected)
            if label is not None:
                yield label


def _label(name: str, text: str, expected: str) -> Label | None:
    """A row that says nothing or one statement, as a label; others teach nothing."""
    lang = language_of(text)
    if expected == "-":
        return Label(id=name, lang=lang, family=name, text=text, memory_type="none")
    m = _ROW.fullmatch(expected)
    if m is None:
        return None
    polarity: Polarity = "+" if m["sign"] == "+" else "-"
    return Label(id=name, lang=lang, family=name, text=text, memory_type="fact", predicate=m["key"], value=m["value"], polarity=polarity)


def accuracy(made: Model, held: list[tuple[str, str]]) -> float:
    """Share of texts whose likeliest class is their label."""
    found = [made.probabilities(text) for _, text in held]
    return sum(max(p, key=lambda c: p[c]) == label for p, (label, _) in zip(found, held, strict=True)) / len(held)


if __name__ == "__main__":
    main()
