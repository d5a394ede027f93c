"""The words of the prompt block: packs/prompt.yaml, read once and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from graphmem.memory import Language, Text2
from graphmem.ontology import PACKS
from graphmem.packfile import Entry
from graphmem.recall.named import plain
from graphmem.recall.phrases import root

SECTIONS = ("words", "sources", "roles", "subjects", "styles")
NEEDED = (
    "open", "close", "notice", "memories", "pending", "checks", "instructions", "short_term", "since", "until", "mentioned",
    "unconfirmed", "unverified", "denied", "disliked", "verified", "stated", "reported", "stop", "warn", "info",
)  # fmt: skip
_PLACEHOLDERS = {"since": ("date",), "until": ("date",), "mentioned": ("date",)}


@dataclass(frozen=True, slots=True)
class Style:
    """What an answer style means: `say` when wanted, `unless` when disliked."""

    trait: str
    say: Text2
    unless: Text2


@dataclass(frozen=True, slots=True)
class Wording:
    words: Mapping[str, Text2]
    sources: Mapping[str, Text2]
    roles: Mapping[str, Text2]
    subjects: Mapping[str, Text2]
    styles: Mapping[str, Style] = field(repr=False)
    """By the word that names the style, in plain form."""

    def subject(self, subject: str, language: Language) -> tuple[str, str | None]:
        """The role's word and the name behind it: `friend:小李` is (朋友, 小李)."""
        role, _, name = subject.partition(":")
        known = self.subjects.get(role)
        return (said(known, language), name or None) if known else (said(self.subjects["person"], language), subject)


def said(text: Text2, language: Language) -> str:
    return text.zh if language == "zh" else text.en


@lru_cache(maxsize=1)
def wording() -> Wording:
    """The wording that ships with graphmem."""
    return load_wording(PACKS / "prompt.yaml")


def load_wording(path: Path) -> Wording:
    """The wording of a pack. PackError with file and line on any mistake."""
    got = root(path).fields(SECTIONS, required=SECTIONS)
    words = {name: entry.text2(_PLACEHOLDERS.get(name, ())) for name, entry in got["words"].fields(NEEDED, required=NEEDED).items()}
    sources, roles, subjects = ({name: entry.text2() for name, entry in got[section].fields().items()} for section in SECTIONS[1:4])
    for section, needed in (("roles", "other"), ("subjects", "person"), ("subjects", "self")):
        got[section].fields(required=(needed,))
    return Wording(words, sources, roles, subjects, _styles(got["styles"]))


def _styles(section: Entry) -> dict[str, Style]:
    found: dict[str, Style] = {}
    for entry in section.items():
        got = entry.fields(("trait", "words", "say", "unless"), required=("trait", "words", "say", "unless"))
        style = Style(got["trait"].text(), got["say"].text2(), got["unless"].text2())
        for word in map(plain, got["words"].texts()):
            if word in found:
                raise got["words"].fail(f"{word!r} already names a style of {found[word].trait!r}")
            found[word] = style
    return found
