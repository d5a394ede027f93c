"""Which key the object of a taste belongs to (packs/routes.yaml): by the lexicon's type, by words around it, by the verb."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.memory import Kind
from graphmem.ontology import Ontology
from graphmem.pipeline.recognise import Mention
from graphmem.pipeline.rules import lines, one_of, sections
from graphmem.pipeline.values import Trims, Value, named, open_value, trimmed


@dataclass(frozen=True, slots=True)
class Route:
    """One way to a key. `around` must match the clause; `shape` finds a value outside the lexicon; `verbs` limit it to these hints."""

    key: str
    types: tuple[str, ...]
    around: re.Pattern[str] | None
    shape: re.Pattern[str] | None
    verbs: frozenset[str]
    tag: str
    must_verb: bool


def load_routes(path: Path, ontology: Ontology) -> tuple[Route, ...]:
    """Read packs/routes.yaml, in order of precedence. PackError on mistakes."""
    out: list[Route] = []
    for entry in sections(path, ("routes", "classes"))["routes"].items():
        got = entry.fields(("key", "types", "around", "shape", "verbs", "tag", "must_verb"), required=("key",))
        key = ontology.get(got["key"].text())
        if key is None:
            raise got["key"].fail(f"{got['key'].text()!r} is no key of the ontology")
        types = tuple(got["types"].text().split()) if "types" in got else key.types
        out.append(
            Route(
                key.name,
                () if types == ("none",) else types,
                one_of(got["around"]) if "around" in got else None,
                one_of(got["shape"]) if "shape" in got else None,
                frozenset(got["verbs"].text().split()) if "verbs" in got else frozenset(),
                got["tag"].text() if "tag" in got else "",
                got["must_verb"].flag() if "must_verb" in got else False,
            )
        )
    return (*_own(ontology, out), *out)


def _own(ontology: Ontology, routes: Sequence[Route]) -> list[Route]:
    """Preferences of users' packs whose lexicon types no route knows: a taste for one of their concepts is theirs."""
    known = {t for r in routes for t in r.types} | {r.key for r in routes}
    own = [k for k in ontology.keys if k.kind is Kind.PREFERENCE and k.types and k.name not in known and not known.intersection(k.types)]
    return [Route(k.name, k.types, None, None, frozenset(), "", False) for k in own]


def load_classes(path: Path, ontology: Ontology) -> dict[str, str]:
    """Words that name a key (favourite tea, 最喜欢的颜色). PackError on mistakes."""
    out: dict[str, str] = {}
    entry = sections(path, ("routes", "classes"))["classes"]
    for line, text in lines(entry):
        key, *words = text.split()
        if ontology.get(key) is None or not words:
            raise entry.fail(f"line {line}: a class is written `key word word`")
        out.update((word, key) for word in words)
    return out


@dataclass(frozen=True, slots=True)
class Routed:
    """A taste's key and value. `certain`: the lexicon or a shape knew it; else it is an open value."""

    key: str
    value: Value
    certain: bool
    types: tuple[str, ...] = ()


OPEN_KEY = {
    "eat": "food_preference",
    "drink": "drink_preference",
    "listen": "music_preference",
    "watch": "movie_preference",
    "read": "reading_preference",
    "stay": "hotel_preference",
    "invest": "investment_preference",
}
"""Where an open value goes by its verb; without one to `likes`."""


def route(text: str, span: tuple[int, int], mentions: Sequence[Mention], routes: Sequence[Route], trims: Trims, verb: str) -> Routed | None:
    """The key and value of text[a:b]; None when no route knows it."""
    a, b = trimmed(text, *span, trims)
    for r in routes:
        if (r.verbs and verb and verb not in r.verbs) or (r.must_verb and verb not in r.verbs):
            continue
        if r.around is not None and not r.around.search(text):
            continue
        found = named(text, a, b, r.types, mentions, trims)
        if found is not None and (not r.tag or (found.concept is not None and r.tag in found.concept.tags)):
            whole = open_value(text, a, b, trims) if r.key == "likes" and text[a].isascii() and found.start > a else None
            return Routed(r.key, whole or narrowed(text, a, found, r.types, mentions, trims), True, r.types)  # flea markets, not markets
        m = r.shape.search(text, a, b) if r.shape is not None else None
        if m is not None:
            x, y = m.span("v") if "v" in m.groupdict() and m["v"] is not None else m.span()
            return Routed(r.key, Value(x, y), True, r.types)
    return None


def narrowed(text: str, a: int, found: Value, types: Sequence[str], mentions: Sequence[Mention], trims: Trims) -> Value:
    """Fig jam is not jam, crowded trains are not trains: a name that another of its kind, or a word that limits it, stands right before."""
    if found.start <= a or text[found.start - 1] != " " or found.concept is None:
        return found
    m = trims.limiting.search(text, a, found.start)
    if m is not None and m.end() == found.start:
        return Value(m.start(), found.end)
    for other in mentions:
        if a <= other.start and other.end == found.start - 1 and (concept := other.of(types)) is not None and concept != found.concept:
            return Value(other.start, found.end)
    return found


def open_route(text: str, span: tuple[int, int], trims: Trims, verb: str) -> Routed | None:
    """An open value by its verb."""
    value = open_value(text, *span, trims)
    return Routed(OPEN_KEY.get(verb, "likes"), value, False) if value is not None else None
