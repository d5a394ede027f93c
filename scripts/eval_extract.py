"""Score the extractor alone on label lines, without a store: `scripts/eval_extract.py FILE [--misses N] [--lang zh|en] [--key KEY]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graphmem.evalfile import Answer, Case, Dialogue, EvidenceTurn, Label, Pair, Question, State, Suite, Update, parse
from graphmem.evalreport import Report, Score
from graphmem.evalscore import Edge, Prediction, heard_predictions
from graphmem.evaluate import evaluate
from graphmem.lexicon import load_lexicon
from graphmem.memory import Language, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor

SAID_AT = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)
"""One fixed moment: the labels hold no dates that depend on it."""

ZONES: Mapping[Language, str] = {"zh": "Asia/Shanghai", "en": "Europe/Dublin"}


@dataclass
class Ears:
    """An EvalTarget that only labels; the other kinds have nothing to say without a store."""

    extractor: Extractor

    def label(self, text: str, lang: Language) -> Sequence[Prediction]:
        return heard_predictions(self.extractor.hear(Turn(text), SAID_AT, ZoneInfo(ZONES[lang])))

    def dialogue(self, dialogue: Dialogue) -> Mapping[str, Answer]:
        return {}

    def case(self, case: Case) -> Sequence[Edge]:
        return ()

    def retrieve(self, turns: Sequence[EvidenceTurn], questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
        return {}

    def updates(self, updates: Sequence[Update], states: Sequence[State]) -> Mapping[str, Iterable[Pair]]:
        return {}


def main() -> None:
    arguments = _arguments()
    with arguments.file.open(encoding="utf-8") as lines:
        suite = parse(lines, str(arguments.file))
    labels = tuple(label for label in suite.labels if _wanted(label, arguments.lang, arguments.key))
    ontology = load_ontology()
    safety = frozenset(key.name for key in ontology.keys if key.safety)
    report = evaluate(Suite(labels=labels), Ears(Extractor(ontology, load_lexicon())), safety=safety)
    _print(report, arguments.misses)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", type=int, default=0, help="print the worst N misses with the rule that fired, and confusion pairs")
    parser.add_argument("--lang", choices=["zh", "en"])
    parser.add_argument("--key", help="only labels of this key, or none")
    return parser.parse_args()


def _wanted(label: Label, lang: str | None, key: str | None) -> bool:
    return lang in (None, label.lang) and key in (None, label.predicate or "none")


def _print(report: Report, misses: int) -> None:
    groups = list(dict.fromkeys(score.group for score in report.scores))
    names = list(dict.fromkeys(score.name for score in report.scores))
    table = {(score.name, score.group): score for score in report.scores}
    for group in groups:
        print(group)
        for name in names:
            if (score := table.get((name, group))) is not None:
                print(f"  {name:<32} {_said(score)}")
    if misses:
        print("\nconfusion (expected -> got)")
        for expected, got, count in report.confusion[:misses]:
            print(f"  {count:4d}  {expected} -> {got}")
        print("\nworst misses")
        for miss in report.misses[:misses]:
            text = replace(miss, text=miss.text.replace("\n", "\\n")).text
            print(f"  {miss.id}  {text}\n      expected {miss.expected}\n      got      {miss.got}  rule {miss.rule or '-'}")


def _said(score: Score) -> str:
    return f"{score.rate or 0:7.2%}  {score.hits:g}/{score.total}"


if __name__ == "__main__":
    main()
