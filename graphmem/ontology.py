"""The keys graphmem knows: kind, arity, lifetimes, change policy, sensitivity, words. Data: packs/ontology.yaml plus packs of the users."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast, get_args

from graphmem.errors import NotFoundError
from graphmem.memory import Kind, Text2
from graphmem.packfile import YAML_SUFFIXES, Entry, read_text, read_yaml

Arity = Literal["one", "many", "pole", "chosen"]
"""one: a new value replaces; many: one slot a concept; pole: one slot a concept, polarity exclusive; chosen: design's "one + avoided"."""

Policy = Literal["versioned", "dual", "review"]
Sensitivity = Literal["identifier", "health", "ordinary"]

PACKS = Path(__file__).parent / "packs"

DAY = timedelta(days=1)
LIFETIME: Mapping[Kind, timedelta | None] = MappingProxyType({Kind.FACT: None, Kind.PREFERENCE: 180 * DAY, Kind.CONTEXT: 7 * DAY})
"""Default lifetimes (vocabulary.md)."""

DECAY: Mapping[Kind, timedelta | None] = MappingProxyType({Kind.FACT: None, Kind.PREFERENCE: 30 * DAY, Kind.CONTEXT: 30 * DAY})
"""Default time constants of decay (design section 4)."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_DURATION = re.compile(r"([1-9][0-9]{0,5}) ?(d|h|min)")
_UNIT = {"d": DAY, "h": timedelta(hours=1), "min": timedelta(minutes=1)}
_KEEPS = ("kind", "arity", "policy", "sensitivity", "safety", "concept_type", "types", "taste")
_MAY_OVERRIDE = ("lifetime", "decay", "label", "question")
_FIELDS = _KEEPS + _MAY_OVERRIDE


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the ontology.

    lifetime      told this long after the last observation; None has no end
    decay         time constant of the weight; None does not decay
    safety        checks read it, denials of it wait
    concept_type  lexicon type of the slot's concept; None holds open values only
    taste         (arity `chosen`) a plain liking of another value stands beside the chosen one and does not replace it
    types         lexicon types a value may come from, the likeliest first; differs from concept_type where the slot is not
                  the value's (brand_preference: slot by product class, value a brand) or the value is found in several types
    """

    name: str
    kind: Kind
    arity: Arity
    lifetime: timedelta | None
    decay: timedelta | None
    policy: Policy
    sensitivity: Sensitivity
    safety: bool
    concept_type: str | None
    taste: bool
    label: Text2
    question: Text2
    types: tuple[str, ...] = ()

    def ask(self, value: str) -> Text2:
        """The follow-up question about this value, in both languages."""
        return Text2(zh=self.question.zh.replace("{value}", value), en=self.question.en.replace("{value}", value))


@dataclass(frozen=True, slots=True)
class Ontology:
    """All keys, in the order of the packs."""

    by_name: Mapping[str, Key] = field(repr=False)

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(self.by_name.values())

    def get(self, name: str) -> Key | None:
        """The key, or None for an open key."""
        return self.by_name.get(name)

    def key(self, name: str) -> Key:
        """The key; NotFoundError when no pack has it."""
        found = self.by_name.get(name)
        if found is None:
            raise NotFoundError(f"the ontology has no key {name!r}", hint="add it in a pack: docs/how-to/packs.md")
        return found


def load_ontology(paths: Sequence[Path] = ()) -> Ontology:
    """The built-in keys and those of the packs at `paths`, in this order.

    A later pack adds keys, or gives existing ones another lifetime, decay, label or question; kind, arity and the rest stay.
    Packs that hold no `keys` (lexicons) are passed over, so one list of paths serves both loaders. PackError on any mistake.
    """
    keys: dict[str, Key] = {}
    for path in (PACKS / "ontology.yaml", *paths):
        if path.suffix.lower() not in YAML_SUFFIXES:
            read_text(path)
            continue
        section = read_yaml(path).get("keys")
        if section is None:
            continue
        for name, entry in section.fields().items():
            keys[name] = _override(keys[name], entry) if name in keys else _new(name, entry)
    return Ontology(by_name=MappingProxyType(keys))


def _new(name: str, entry: Entry) -> Key:
    if not _NAME.fullmatch(name):
        raise entry.fail(f"the key {name!r} must be a-z, 0-9 and '_', starting with a letter, at most 63 characters")
    got = entry.fields(_FIELDS, required=("kind", "arity", "label", "question"))
    kind = Kind(got["kind"].choice([k.value for k in Kind]))
    arity = cast(Arity, got["arity"].choice(get_args(Arity)))
    if arity in ("pole", "chosen") and kind is not Kind.PREFERENCE:
        raise got["arity"].fail(f"arity {arity!r} is for preferences; allowed for a {kind.value}: one, many")
    key = Key(
        name=name,
        kind=kind,
        arity=arity,
        lifetime=_duration(got, "lifetime", LIFETIME[kind]),
        decay=_duration(got, "decay", DECAY[kind]),
        policy=cast(Policy, got["policy"].choice(get_args(Policy))) if "policy" in got else "versioned",
        sensitivity=cast(Sensitivity, got["sensitivity"].choice(get_args(Sensitivity))) if "sensitivity" in got else "ordinary",
        safety=got["safety"].flag() if "safety" in got else False,
        concept_type=_type(got["concept_type"]) if "concept_type" in got else None,
        taste=got["taste"].flag() if "taste" in got else False,
        label=got["label"].text2(),
        question=got["question"].text2(("value",)),
        types=_types(got),
    )
    _check_combination(key, got)
    return key


def _check_combination(key: Key, got: Mapping[str, Entry]) -> None:
    if key.taste and key.arity != "chosen":
        raise got["taste"].fail("taste is for keys of arity chosen only")
    if key.policy != "versioned" and key.kind is not Kind.FACT:
        raise got["policy"].fail(f"policy {key.policy!r} is for facts; allowed for a {key.kind.value}: versioned")


def _override(old: Key, entry: Entry) -> Key:
    """An existing key with another lifetime, decay, label or question; anything else may only be repeated as it is."""
    got = entry.fields(_FIELDS)
    for name in _KEEPS:
        if name in got and _said(got[name], name) != _held(old, name):
            raise got[name].fail(f"{name!r} of the existing key {old.name!r} cannot change; a pack may change {', '.join(_MAY_OVERRIDE)}")
    return replace(
        old,
        lifetime=_duration(got, "lifetime", old.lifetime),
        decay=_duration(got, "decay", old.decay),
        label=got["label"].text2() if "label" in got else old.label,
        question=got["question"].text2(("value",)) if "question" in got else old.question,
    )


def _said(entry: Entry, name: str) -> object:
    if name == "types":
        return entry.texts()
    return entry.flag() if name in ("safety", "taste") else entry.text()


def _held(key: Key, name: str) -> object:
    return key.kind.value if name == "kind" else getattr(key, name)


def _type(entry: Entry) -> str:
    value = entry.text()
    if not _NAME.fullmatch(value):
        raise entry.fail(f"{entry.what} is {value!r}; a lexicon type is a-z, 0-9 and '_', starting with a letter")
    return value


def _types(got: Mapping[str, Entry]) -> tuple[str, ...]:
    """The value's lexicon types; not written they are the concept's."""
    if "types" in got:
        return tuple(_type(item) for item in got["types"].items())
    return (_type(got["concept_type"]),) if "concept_type" in got else ()


def _duration(got: Mapping[str, Entry], name: str, default: timedelta | None) -> timedelta | None:
    """`none`, or a count with a unit: `180 d`, `12 h`, `30 min`."""
    if name not in got:
        return default
    value = got[name].text()
    if value == "none":
        return None
    match = _DURATION.fullmatch(value)
    if match is None:
        raise got[name].fail(f"{got[name].what} is {value!r}; allowed: none, or a number of d, h or min such as '180 d'")
    return int(match[1]) * _UNIT[match[2]]
