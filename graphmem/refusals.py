"""What every error code says to people, in Chinese and English: packs/errors.yaml. Answers, pages and the command line read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from graphmem.memory import Text2
from graphmem.packfile import Entry, fail, read_text

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PACK = Path(__file__).parent / "packs" / "errors.yaml"
SECTIONS = ("codes", "fields", "terminal")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One code: what it is, when it is answered, what to do. `of`: the code whose status and exit code it shares, mostly its own."""

    code: str
    of: str
    title: Text2
    when: Text2
    do: Text2
    example: str


@cache
def refusals() -> Mapping[str, Refusal]:
    """Every code, in the order of the pack. PackError on mistakes."""
    codes = _sections()["codes"].fields()
    made = {code: _refusal(code, entry) for code, entry in codes.items()}
    for code, entry in codes.items():
        owner = made.get(made[code].of)
        if owner is None or owner.of != owner.code:
            raise entry.fail(f"{code!r} is of {made[code].of!r}, which has no row of its own")
    return made


@cache
def field_words() -> Mapping[str, str]:
    """What is wrong with a field, by its code, in Chinese."""
    return {code: entry.text() for code, entry in _sections()["fields"].fields().items()}


@cache
def terminal_words() -> Mapping[str, Text2]:
    """The three parts of an error in the terminal, and what to try; with placeholders."""
    return {name: _text2(entry) for name, entry in _sections()["terminal"].fields().items()}


def _sections() -> dict[str, Entry]:
    node = yaml.compose(read_text(PACK), Loader=_Loader)
    if node is None:
        raise fail(str(PACK), 1, "the pack is empty")
    return Entry(str(PACK), node, "the pack").fields(SECTIONS, required=SECTIONS)


def _refusal(code: str, entry: Entry) -> Refusal:
    parts = ("title", "when", "do", "example")
    found = entry.fields((*parts, "of"), required=parts)
    title, when, do = (_text2(found[name]) for name in parts[:3])
    return Refusal(code, found["of"].text() if "of" in found else code, title, when, do, found["example"].text())


def _text2(entry: Entry) -> Text2:
    """Both languages; braces of `codes` are words (`/v1/users/{user_id}`)."""
    found = entry.fields(("zh", "en"), required=("zh", "en"))
    return Text2(found["zh"].text(), found["en"].text())


__all__ = ["Refusal", "field_words", "refusals", "terminal_words"]
