"""The classifier of an ontology, a lexicon and the packs, with its rules indexed by the words they need. Pure after reading."""

from __future__ import annotations

import re
from dataclasses import replace

from graphmem.lexicon import Lexicon
from graphmem.ontology import PACKS, Ontology
from graphmem.pipeline.classify import Classifier
from graphmem.pipeline.matching import Matcher
from graphmem.pipeline.prefix import PrefixReader
from graphmem.pipeline.recognise import Recogniser
from graphmem.pipeline.routes import load_classes, load_routes
from graphmem.pipeline.rules import Rule, load_rules, load_units
from graphmem.pipeline.shapes import load_shapes
from graphmem.pipeline.speech import Speech
from graphmem.pipeline.values import load_trims

TRIGGERS = ("triggers.zh.yaml", "triggers.en.yaml", "loose.zh.yaml", "loose.en.yaml", "safety.en.yaml")


def _by_first(index: dict[str, list[Rule]]) -> dict[str, dict[str, tuple[Rule, ...]]]:
    """Rules by their needed word, the words by their first character."""
    out: dict[str, dict[str, tuple[Rule, ...]]] = {}
    for word, rules in index.items():
        out.setdefault(word[0], {})[word] = tuple(rules)
    return out


def classifier(ontology: Ontology, lexicon: Lexicon, speech: Speech, reader: PrefixReader) -> Classifier:
    """All rules, the recogniser and the routes. PackError on a mistake in a pack."""
    keys = frozenset(k.name for k in ontology.keys)
    rules: list[Rule] = []
    shared = {"unit": load_units(PACKS / "units.yaml")}
    for name in TRIGGERS:
        rules += [replace(r, order=len(rules) + i) for i, r in enumerate(load_rules(PACKS / name, keys, shared, check=False))]
    index: dict[str, list[Rule]] = {}
    by_type: dict[str, list[Rule]] = {}
    for rule in rules:
        for word in rule.needs:
            index.setdefault(word, []).append(rule)
        if not rule.needs:
            key = ontology.get(rule.key)
            for type_ in rule.types if rule.types is not None else key.types if key else ():
                by_type.setdefault(type_, []).append(rule)
    change = [w for w, tags in speech.words.tags.items() if "change" in tags]
    marks = "|".join(sorted((rf"\b{re.escape(w)}\b" if w.isascii() else re.escape(w) for w in change), key=len, reverse=True))
    recogniser = Recogniser(lexicon)
    routes, classes = load_routes(PACKS / "routes.yaml", ontology), load_classes(PACKS / "routes.yaml", ontology)
    return Classifier(
        ontology=ontology,
        matcher=Matcher(ontology, routes, classes, load_trims(PACKS / "values.yaml"), reader, recogniser),
        reader=reader,
        recogniser=recogniser,
        marks=re.compile(marks),
        over=speech.acts["over"],
        choosing=speech.acts["choosing"],
        replacing=speech.acts["replaces"],
        reaction=speech.acts["reaction"],
        rules=tuple(rules),
        index=_by_first(index),
        by_type={t: tuple(rs) for t, rs in by_type.items()},
        shapes=load_shapes(PACKS / "shapes.yaml", ontology, reader.people.surnames),
    )
