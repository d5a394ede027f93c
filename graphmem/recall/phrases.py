"""The words that choose a tier: packs/recall.zh.yaml and recall.en.yaml, read once and checked. Both rule sets run on every text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from graphmem.memory import Language
from graphmem.ontology import PACKS
from graphmem.packfile import Entry, fail, read_text
from graphmem.recall.named import plain

RULES = (
    "mask",
    "own",
    "beneficiary",
    "cross_session",
    "not_cross_session",
    "point",
    "repeat",
    "vague_reference",
    "memory_question",
    "small_talk",
    "text_work",
    "general",
    "general_always",
    "nearby",
    "self_reference",
    "advice",
    "enumeration",
)
"""Groups of patterns a pack may fill. `mask` is blanked before any other looks; the others are described in recall.zh.yaml."""

SECTIONS = ("fragments", "rules", "topics", "types", "subjects", "ordinals", "shields", "single_before")
_PLACEHOLDER = re.compile(r"%(\w+)%")


@dataclass(frozen=True, slots=True)
class TypeUse:
    """What naming a thing of a lexicon type means: the keys it speaks of; `own`: only in a message about the speaker."""

    keys: tuple[str, ...]
    own: bool
    safety: bool


@dataclass(frozen=True, slots=True)
class Phrases:
    """Patterns by rule and language; topic and subject words in `plain` form."""

    rules: Mapping[str, Mapping[Language, re.Pattern[str]]] = field(repr=False)
    topics: Mapping[str, tuple[str, ...]] = field(repr=False)
    topic_keys: frozenset[str] = field(repr=False)
    types: Mapping[str, TypeUse] = field(repr=False)
    subjects: Mapping[str, str] = field(repr=False)
    ordinals: Mapping[str, int] = field(repr=False)
    shields: frozenset[str] = field(repr=False)
    single_before: frozenset[str] = field(repr=False)

    def search(self, rule: str, text: str, language: Language) -> re.Match[str] | None:
        """First match of the rule, the text's own language first."""
        by_language = self.rules.get(rule, {})
        order = (language, *(other for other in by_language if other != language))
        return next((m for lang in order if lang in by_language and (m := by_language[lang].search(text))), None)

    def blank(self, text: str, rule: str = "mask") -> str:
        """The text with every match of the rule replaced by a break that no pattern crosses."""
        for pattern in self.rules.get(rule, {}).values():
            text = pattern.sub(" ¦ ", text)
        return text


@lru_cache(maxsize=1)
def phrases() -> Phrases:
    """The packs that ship with graphmem."""
    return load_phrases({"zh": PACKS / "recall.zh.yaml", "en": PACKS / "recall.en.yaml"})


def load_phrases(paths: Mapping[Language, Path]) -> Phrases:
    """The phrase packs of these languages as one. PackError with file and line on any mistake."""
    rules: dict[str, dict[Language, re.Pattern[str]]] = {}
    topics: dict[str, list[str]] = {}
    types: dict[str, TypeUse] = {}
    words: dict[str, dict[str, str]] = {"subjects": {}, "ordinals": {}}
    lists: dict[str, set[str]] = {"shields": set(), "single_before": set()}
    for language, path in paths.items():
        got = root(path).fields(SECTIONS, required=("rules",))
        for rule, pattern in _patterns(got):
            rules.setdefault(rule, {})[language] = pattern
        for key, word in _listed(got.get("topics")):
            topics.setdefault(word, []).append(key)
        types.update(_types(got.get("types")))
        for name, table in words.items():
            table.update({word: value for value, word in _listed(got.get(name))})
        for name, found in lists.items():
            found.update(plain(word) for word in (got[name].texts() if name in got else ()))
    return Phrases(
        rules=rules,
        topics={word: tuple(dict.fromkeys(keys)) for word, keys in topics.items()},
        topic_keys=frozenset(key for keys in topics.values() for key in keys),
        types=types,
        subjects=words["subjects"],
        ordinals={word: int(value) for word, value in words["ordinals"].items()},
        shields=frozenset(lists["shields"]),
        single_before=frozenset(lists["single_before"]),
    )


def root(path: Path) -> Entry:
    """The top of a YAML pack, with places. PackError: unreadable, not YAML, empty."""
    text = read_text(path)
    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise fail(str(path), line, f"this is not YAML: {error.problem}") from error
    if node is None:
        raise fail(str(path), 1, "the pack is empty")
    return Entry(str(path), node, "the pack")


def _patterns(got: Mapping[str, Entry]) -> Iterator[tuple[str, re.Pattern[str]]]:
    fragments: dict[str, str] = {}
    if "fragments" in got:
        for name, entry in got["fragments"].fields().items():
            fragments[name] = _filled(entry, entry.text(), fragments)
    for rule, entry in got["rules"].fields(RULES).items():
        parts = [_filled(item, item.text(), fragments) for item in entry.items()]
        yield rule, _compiled(entry, "|".join(f"(?:{part})" for part in parts))


def _filled(entry: Entry, pattern: str, fragments: Mapping[str, str]) -> str:
    def fragment(match: re.Match[str]) -> str:
        if match[1] not in fragments:
            raise entry.fail(f"{entry.what} uses the fragment %{match[1]}%, which is not defined above it")
        return f"(?:{fragments[match[1]]})"

    filled = _PLACEHOLDER.sub(fragment, pattern)
    _compiled(entry, filled)
    return filled


def _compiled(entry: Entry, pattern: str) -> re.Pattern[str]:
    """ASCII, so that a Latin word beside Han characters has a border."""
    try:
        compiled = re.compile(pattern, re.ASCII)
    except re.error as error:
        raise entry.fail(f"{entry.what} is not a regular expression: {error}") from error
    if pattern and compiled.match(""):
        raise entry.fail(f"{entry.what} matches the empty text")
    return compiled


def _listed(section: Entry | None) -> Iterator[tuple[str, str]]:
    """(name, word in plain form) of a section `name: [words]`."""
    for name, entry in (section.fields() if section else {}).items():
        for word in _words(entry):
            yield name, word


def _words(entry: Entry) -> Sequence[str]:
    words = tuple(plain(word) for word in entry.texts())
    if len(set(words)) != len(words):
        raise entry.fail(f"{entry.what} holds a word twice")
    return words


def _types(section: Entry | None) -> Iterator[tuple[str, TypeUse]]:
    for name, entry in (section.fields() if section else {}).items():
        got = entry.fields(("keys", "own", "safety"), required=("keys",))
        own, safety = ("own" in got and got["own"].flag()), ("safety" in got and got["safety"].flag())
        yield name, TypeUse(got["keys"].texts(), own, safety)
