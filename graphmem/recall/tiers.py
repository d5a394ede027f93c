"""Which memory a message needs: none (L1), what it refers to (L2), or the whole record (L3). Pure; from message, session and task alone.

The first rule that fits decides, in the order of `_decide`. Patterns and words are data: packs/recall.zh.yaml, recall.en.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from graphmem.answers import ShortTurn, Trigger
from graphmem.lexicon import Concept, Lexicon
from graphmem.memory import Language
from graphmem.ontology import Ontology
from graphmem.recall.named import Name, has_han, names_in, plain
from graphmem.recall.phrases import Phrases, TypeUse, phrases
from graphmem.recall.tasktable import task_table
from graphmem.slot import folded

Tier = Literal["L1", "L2", "L3"]

_CUTS = (":", "：", "\n", '"', "“", "「", "```")
"""What follows one of these in a request to work on a text is the text, not the request."""


@dataclass(frozen=True, slots=True)
class Tiering:
    """The tier and why.

    keys      keys of the ontology the message speaks of, in the order found
    ckeys     concept ids it names (`drug:penicillin`)
    nth       the point of an earlier list it asks for: 1 is the first, -1 the last
    own       it speaks of the speaker (I, my, 我)
    subjects  roles of other people it names (`father`)
    """

    tier: Tier
    trigger: Trigger
    keys: tuple[str, ...] = ()
    ckeys: tuple[str, ...] = ()
    nth: int | None = None
    own: bool = False
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    keys: tuple[str, ...]
    ckeys: tuple[str, ...]
    subjects: tuple[str, ...]
    phrase: str | None
    safety: bool


def choose(
    message: str,
    history: Sequence[ShortTurn],
    task: str | None,
    ontology: Ontology,
    lexicon: Lexicon,
    language: Language,
    forced: Literal["auto", "L1", "L2", "L3"] = "auto",
) -> Tiering:
    """The tier of a message. A forced tier keeps what the message names; a known task adds its keys."""
    pack = phrases()
    text = pack.blank(plain(message))
    head = _request(message, text, pack, language)
    own = pack.search("own", pack.blank(head, "beneficiary"), language) is not None
    found = _find(head, pack, ontology, lexicon, own=own)
    hint = task_table().tasks.get(task) if task else None
    keys = tuple(dict.fromkeys((*(hint.keys if hint else ()), *found.keys)))
    told = Tiering("L1", Trigger("no_reference"), keys, found.ckeys, _nth(text, pack, language), own, found.subjects)
    if forced != "auto":
        return replace(told, tier=forced, trigger=Trigger("forced"))
    tier, trigger = _decide(_Case(head, history, task, found, own, told.nth, language), pack)
    return replace(told, tier=tier, trigger=trigger)


@dataclass(frozen=True, slots=True)
class _Case:
    text: str
    history: Sequence[ShortTurn]
    task: str | None
    found: _Found
    own: bool
    nth: int | None
    language: Language


def _decide(case: _Case, pack: Phrases) -> tuple[Tier, Trigger]:
    """The first yes decides; the order is the rule."""

    def phrase(rule: str) -> str | None:
        match = pack.search(rule, case.text, case.language)
        return match[0].strip() if match else None

    if (hit := phrase("cross_session")) and not phrase("not_cross_session"):
        return "L3", Trigger("cross_session", hit)
    if case.task:
        return "L2", Trigger("task_hint", case.task)
    if hit := phrase("vague_reference"):
        return "L2", Trigger("vague_reference", hit)
    if hit := phrase("memory_question"):
        return "L2", Trigger("memory_question", hit)
    if hit := phrase("small_talk"):
        return "L1", Trigger("small_talk", hit)
    if hit := phrase("repeat"):
        return "L1", Trigger("repeat", hit)
    if case.nth is not None and (hit := phrase("point")):
        return "L1", Trigger("point", hit)
    return _by_topic(case, phrase("general_always"), phrase("general") if not phrase("nearby") else None) or _rest(
        phrase("self_reference"), phrase("advice"), phrase("text_work")
    )


def _by_topic(case: _Case, always: str | None, general: str | None) -> tuple[Tier, Trigger] | None:
    if not case.own and not case.found.subjects and (always or (general and not case.found.safety)):
        return "L1", Trigger("general", always or general)
    if case.found.phrase is not None:
        return "L2", Trigger("topic", case.found.phrase)
    return None


def _rest(reference: str | None, advice: str | None, work: str | None) -> tuple[Tier, Trigger]:
    if reference:
        return "L2", Trigger("self_reference", reference)
    if advice:
        return "L2", Trigger("advice", advice)
    return "L1", (Trigger("text_work", work) if work else Trigger("no_reference"))


def _request(message: str, text: str, pack: Phrases, language: Language) -> str:
    """The request without the text it is about ("translate this: …")."""
    work = pack.search("text_work", text, language)
    if work is None:
        return text
    cuts = [i for mark in _CUTS if (i := message.find(mark)) > 0]
    if not cuts:
        return text
    head = pack.blank(plain(message[: min(cuts)]))
    return head if pack.search("text_work", head, language) else text


def _nth(text: str, pack: Phrases, language: Language) -> int | None:
    match = pack.search("point", text, language)
    if match is None:
        return None
    said = next((g for g in match.groups() if g), "")
    if said.isdigit():
        return int(said) or None
    return pack.ordinals.get(said)


def _find(text: str, pack: Phrases, ontology: Ontology, lexicon: Lexicon, *, own: bool) -> _Found:
    """Topic words, things of the lexicon and people in the text, as keys, concept ids and roles."""
    words = _words(text, pack, ontology)
    things = list(_things(text, pack, ontology, lexicon, own=own))
    spoken = [*words.spoken, *((name, use.keys) for name, _, use in things)]
    keys = dict.fromkeys(key for _, named in spoken for key in named if ontology.get(key) is not None)
    first = min(spoken, key=lambda pair: pair[0].start, default=None)
    safety = any(use.safety for _, _, use in things) or any(known.safety for key in keys if (known := ontology.get(key)))
    return _Found(
        keys=tuple(keys),
        ckeys=tuple(dict.fromkeys(concept.cid for _, concept, _ in things)),
        subjects=words.subjects,
        phrase=text[first[0].start : first[0].end] if first else None,
        safety=safety,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    spoken: tuple[tuple[Name, tuple[str, ...]], ...]
    subjects: tuple[str, ...]


def _words(text: str, pack: Phrases, ontology: Ontology) -> _Words:
    """Topic words and people."""
    labels = _labels(pack, ontology)

    def known(form: str) -> bool:
        return form in pack.topics or form in pack.subjects or form in labels or form in pack.shields

    names = [name for name in names_in(text, known) if name.form not in pack.shields]
    spoken = ((name, (*pack.topics.get(name.form, ()), *labels.get(name.form, ()))) for name in names)
    subjects = dict.fromkeys(pack.subjects[name.form] for name in names if name.form in pack.subjects)
    return _Words(tuple((name, keys) for name, keys in spoken if keys), tuple(subjects))


def _things(text: str, pack: Phrases, ontology: Ontology, lexicon: Lexicon, *, own: bool) -> Iterator[tuple[Name, Concept, TypeUse]]:
    """Things of the lexicon that say something of the person."""
    for name in names_in(text, lambda form: form in lexicon.by_surface or form in pack.shields):
        if name.form not in pack.shields and _counts(name, text, pack):
            yield from ((name, concept, use) for concept, use in _uses(name, pack, ontology, lexicon) if own or not use.own)


def _labels(pack: Phrases, ontology: Ontology) -> dict[str, tuple[str, ...]]:
    """Keys of a user's own packs are known by their labels."""
    found: dict[str, tuple[str, ...]] = {}
    for key in ontology.keys:
        if key.name not in pack.topic_keys:
            for label in (_folded(key.label.zh), _folded(key.label.en)):
                found[label] = (*found.get(label, ()), key.name)
    return found


@lru_cache(maxsize=1024)
def _folded(label: str) -> str:
    return folded(label)


def _counts(name: Name, text: str, pack: Phrases) -> bool:
    """A thing named by one Han character counts only after a word such as 吃: in other places it is part of a word."""
    if name.end - name.start > 1 or not has_han(name.form):
        return True
    return name.start > 0 and text[name.start - 1] in pack.single_before


def _uses(name: Name, pack: Phrases, ontology: Ontology, lexicon: Lexicon) -> Iterator[tuple[Concept, TypeUse]]:
    for concept in lexicon.by_surface.get(name.form, ()):
        use = pack.types.get(concept.type)
        if use is None:
            keys = tuple(key.name for key in ontology.keys if key.concept_type == concept.type and key.name not in pack.topic_keys)
            use = TypeUse(keys, own=True, safety=False)
        if use.keys:
            yield concept, use
