"""What words name which concept, in both languages. Data: packs/lexicon/*.tsv plus packs of the users. Pure after loading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from graphmem.lexiconfile import Row, rows
from graphmem.ontology import PACKS
from graphmem.packfile import fail
from graphmem.pipeline.normal import simplified
from graphmem.slot import ckey_of_text, folded

LEXICON = PACKS / "lexicon"


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing with all its names. `cid` is `type:slug`; the same thing in zh and en is one concept.

    tags     words that sort concepts of one type (`coffee`, `class`)
    was      older ids of concepts merged into this one; rivals are read under both
    """

    cid: str
    type: str
    zh: str
    en: str
    aliases: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    was: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """zh, en, then the aliases; no empty ones."""
        return tuple(name for name in (self.zh, self.en, *self.aliases) if name)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Concepts by id and by folded surface, in the order of the packs."""

    concepts: Mapping[str, Concept] = field(repr=False)
    by_surface: Mapping[str, tuple[Concept, ...]] = field(repr=False)

    def surfaces(self) -> Iterator[tuple[str, Concept]]:
        """Every surface as written with its concept, in stable order; a surface of two types comes twice."""
        for concept in self.concepts.values():
            for name in concept.names:
                yield name, concept

    def of_type(self, type_: str) -> tuple[Concept, ...]:
        return tuple(c for c in self.concepts.values() if c.type == type_)

    def find(self, surface: str, types: Sequence[str] = ()) -> tuple[Concept, ...]:
        """The concepts of a surface, likeliest type first; without types all, in the order of the packs.

        The exact form wins; else simple English singulars and plurals are tried (eggs, strawberries).
        """
        key = folded(surface)
        for form in (key, *number_variants(key)):
            found = self.by_surface.get(form, ())
            if types:
                found = tuple(c for t in types for c in found if c.type == t)
            if found:
                return found
        return ()

    def ckey(self, value: str, types: Sequence[str]) -> str:
        """Concept id when the value is a surface of one of these types (the first that has it), else the key of an open value.

        Traditional characters make no other value.
        """
        concept = self.resolve(value, types)
        return concept.cid if concept else ckey_of_text(simplified(value))

    def resolve(self, value: str, types: Sequence[str]) -> Concept | None:
        """The one concept a value of these types names. None: an open value.

        A thing that stands in two of the types (散步 / walking as hobby and sport: both main names shared) is the one of the
        earlier type, whichever of its names was said.
        """
        found = self.find(value, types) if types else ()
        if not found:
            return None
        concept = found[0]
        for type_ in types[: types.index(concept.type)]:
            zh, en = (self.by_surface.get(folded(name), ()) for name in (concept.zh, concept.en))
            both = [c for c in zh if c.type == type_ and c in en]
            if both:
                return both[0]
        return concept


_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def number_variants(word: str) -> tuple[str, ...]:
    """Other grammatical numbers a Latin word or phrase may have by rule, of its last word; none for other scripts.

    `eggs` gives `egg`, `strawberries` `strawberry`, `egg` `eggs`. Wrong guesses are harmless: they are only looked up.
    """
    if len(word) < 3 or not (word[-1].isascii() and word[-1].isalpha()):
        return ()
    forms = [word[:-1] + "ies"] if word.endswith("y") and word[-2] not in "aeiou" else []
    forms.append(word + "es" if word.endswith(_SIBILANT) else word + "s")
    if word.endswith("s") and not word.endswith("ss"):
        forms.insert(0, word[:-1])
        if word.endswith("ies"):
            forms.insert(0, word[:-3] + "y")
        elif word.endswith("ves"):
            forms[:0] = [word[:-3] + "f", word[:-3] + "fe"]
        elif word.endswith("es"):
            forms.insert(1, word[:-2])
    return tuple(forms)


def load_lexicon(paths: Sequence[Path] = ()) -> Lexicon:
    """The built-in lexicons and those of the packs at `paths`, in this order.

    A later pack adds concepts, or names, tags and `was` ids to existing ones; a new main name replaces the old, which stays an alias.
    One surface names one concept of a type; across types it may stand again. PackError on any mistake.
    """
    build = _Build()
    for path in (*sorted(LEXICON.glob("*.tsv")), *paths):
        for row in rows(path):
            build.add(row)
    return build.lexicon()


class _Build:
    def __init__(self) -> None:
        self.concepts: dict[str, Concept] = {}
        self.owner: dict[tuple[str, str], str] = {}
        self.first: dict[str, str] = {}

    def add(self, row: Row) -> None:
        old = self.concepts.get(row.cid)
        if old is not None and self.first[row.cid] == row.file:
            raise fail(row.file, row.line, f"the concept {row.cid!r} stands twice in this pack; put all its names on one line")
        if old is None and not (row.zh or row.en):
            raise fail(row.file, row.line, f"{row.cid!r} is new and needs a name: zh, en or both")
        self.first[row.cid] = row.file
        concept = Concept(row.cid, row.type, row.zh, row.en, row.aliases, frozenset(row.tags), row.was)
        self.concepts[row.cid] = self._own(_merged(old, concept) if old else concept, row)

    def _own(self, concept: Concept, row: Row) -> Concept:
        """Claim every surface for the concept; a surface said twice by one concept is kept once."""
        extra: list[str] = []
        seen: set[str] = set()
        for name in concept.names:
            key = folded(name)
            other = self.owner.setdefault((concept.type, key), concept.cid)
            if other != concept.cid:
                raise fail(row.file, row.line, f"{name!r} already names {other!r}; within one type a name belongs to one concept")
            if key not in seen:
                seen.add(key)
                extra.append(name)
        aliases = tuple(name for name in extra if name not in (concept.zh, concept.en))
        return concept if aliases == concept.aliases else replace(concept, aliases=aliases)

    def lexicon(self) -> Lexicon:
        found: dict[str, list[Concept]] = {}
        for (_, surface), cid in self.owner.items():
            found.setdefault(surface, []).append(self.concepts[cid])
        surfaces = {surface: tuple(concepts) for surface, concepts in found.items()}
        return Lexicon(concepts=MappingProxyType(self.concepts), by_surface=MappingProxyType(surfaces))


def _merged(old: Concept, new: Concept) -> Concept:
    return Concept(
        cid=old.cid,
        type=old.type,
        zh=new.zh or old.zh,
        en=new.en or old.en,
        aliases=_unique((*old.names, *new.aliases)),
        tags=old.tags | new.tags,
        was=_unique((*old.was, *new.was)),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
