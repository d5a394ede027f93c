"""Small words and people as data: reading packs/speech.yaml and packs/subjects.yaml, and finding their longest phrase at a place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphmem.packfile import Entry
from graphmem.pipeline.rules import lines, one_of, sections

_WORD = re.compile(r"(?:\\ |\S)+")


def split_words(text: str) -> tuple[str, ...]:
    """Words of a pack field: separated by blanks, `\\ ` is a blank inside a phrase."""
    return tuple(w.replace("\\ ", " ") for w in _WORD.findall(text))


class Phrases:
    """Phrases with tags; `at` finds the longest one at a place. Latin phrases end at a word's border."""

    def __init__(self) -> None:
        self._by_first: dict[str, list[str]] = {}
        self.tags: dict[str, set[str]] = {}

    def add(self, phrases: Iterable[str], tag: str) -> None:
        for phrase in phrases:
            if phrase not in self.tags:
                self.tags[phrase] = set()
                self._by_first.setdefault(phrase[0], []).append(phrase)
            self.tags[phrase].add(tag)

    def close(self) -> Phrases:
        for some in self._by_first.values():
            some.sort(key=len, reverse=True)
        return self

    def at(self, text: str, i: int, limit: int | None = None) -> str | None:
        """The longest phrase that stands at text[i:limit]."""
        room = (len(text) if limit is None else limit) - i
        for phrase in self._by_first.get(text[i : i + 1], ()):
            if len(phrase) <= room and text.startswith(phrase, i) and _ends(text, i + len(phrase), phrase):
                return phrase
        return None


def _ends(text: str, end: int, phrase: str) -> bool:
    if not (phrase[-1].isalnum() and phrase[-1].isascii()):
        return True
    if end >= len(text):
        return True
    after = text[end]
    return not (after.isascii() and after.isalnum()) and not (after == "'" and text[end : end + 2] == "'t")


@dataclass(frozen=True, slots=True)
class Role:
    """What a person word says: `self`, `you`, a pronoun, a role of vocabulary.md, or `person:…`."""

    name: str
    kind: str = "role"


@dataclass(frozen=True, slots=True)
class People:
    """Person words and how relatives of relatives are called.

    `kin_names` need no possessive; `opening` and `bare` are what stands before and after another word of kin without one.
    """

    words: Phrases
    roles: Mapping[str, Role]
    chains: Mapping[tuple[str, str], str]
    male: frozenset[str]
    female: frozenset[str]
    surnames: frozenset[str]
    given: frozenset[str]
    kin_names: frozenset[str]
    opening: re.Pattern[str]
    bare: re.Pattern[str]


_PRONOUNS = ("self", "you", "he", "she", "they", "it", "own")


def load_people(path: Path) -> People:
    """Read packs/subjects.yaml. PackError on mistakes."""
    fields = sections(
        path, ("roles", "others", "male", "female", "chains", "surnames", "given", "kin_names", "opening", "bare", *_PRONOUNS)
    )
    words, roles = Phrases(), {}
    for name in _PRONOUNS:
        for w in split_words(fields[name].text()):
            roles[w] = Role(name, "self" if name == "self" else "pronoun")
    for line, text in lines(fields["roles"]):
        role, _, rest = text.partition(" ")
        if not rest:
            raise fields["roles"].fail(f"line {line}: a role needs words")
        for w in split_words(rest.replace("|", " ")):
            roles.setdefault(w, Role(role))
    for w in split_words(fields["others"].text()):
        roles.setdefault(w, Role(f"person:{w}", "other"))
    words.add(roles, "person")
    return People(
        words.close(),
        roles,
        _chains(fields["chains"]),
        frozenset(fields["male"].text().split()),
        frozenset(fields["female"].text().split()),
        frozenset(fields["surnames"].text()),
        frozenset(fields["given"].text().split()),
        frozenset(split_words(fields["kin_names"].text())),
        one_of(fields["opening"]),
        one_of(fields["bare"]),
    )


def _chains(entry: Entry) -> dict[tuple[str, str], str]:
    out: dict[tuple[str, str], str] = {}
    for line, text in lines(entry):
        left, _, right = text.partition("=")
        pair = left.split()
        if len(pair) != 2 or not right.strip():
            raise entry.fail(f"line {line}: a chain is written `A B = role`")
        out[pair[0], pair[1]] = right.strip()
    return out


def load_words(entry: Entry) -> Phrases:
    """The `words` section: each tag's phrases."""
    words = Phrases()
    for tag, field in entry.fields().items():
        words.add(split_words(field.text()), tag)
    return words.close()
