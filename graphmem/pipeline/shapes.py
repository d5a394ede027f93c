"""What a value looks like that no lexicon holds (packs/shapes.yaml): searched where the second opinion is sure of the key. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.memory import Span
from graphmem.ontology import Ontology
from graphmem.packfile import fail
from graphmem.pipeline.rules import compiled, lines, macros_of, sections
from graphmem.pipeline.said import Said
from graphmem.pipeline.values import Value

_MACRO = re.compile(r"\{([a-z_]+)\}")
_WORD = re.compile(r"[^\W\d_][\w'’.&-]*|\d[\w-]*")
SMALL = frozenset("of and the de van von & for la bin al".split())
"""Words inside a name of several words that are written without a capital."""
OPTIONS = frozenset({"surname", "titled"})


@dataclass(frozen=True, slots=True)
class Shape:
    """One expression. `surname`: the value begins with a Chinese surname; `titled`: it is a run of words with capitals."""

    source: str
    option: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        return compiled(self.source)


@dataclass(frozen=True, slots=True)
class Shapes:
    """The expressions of each key, in pack order."""

    of: Mapping[str, tuple[Shape, ...]]
    surnames: frozenset[str]

    def find(self, key: str, said: Said) -> Value | None:
        """The value of this key in a clause: the first expression that finds one, its longest find."""
        for shape in self.of.get(key, ()):
            spans = list(self._titled(shape, said) if shape.option == "titled" else self._plain(shape, said))
            if spans:
                start, end = max(spans, key=lambda s: s[1] - s[0])
                return Value(start, end)
        return None

    def any(self, said: Said) -> bool:
        """Whether a clause may hold a value that has only a shape: a digit, an address of e-mail, or a name in capitals."""
        return any(c.isdigit() for c in said.text) or any(self.find(key, said) for key in ("name", "school", "employer", "time_available"))

    def _plain(self, shape: Shape, said: Said) -> Iterator[Span]:
        for m in shape.regex.finditer(said.text):
            if shape.option != "surname" or m["v"][0] in self.surnames:
                yield m.span("v")

    def _titled(self, shape: Shape, said: Said) -> Iterator[Span]:
        return (run for run in _capitals(said) if shape.regex.fullmatch(said.text[slice(*run)]))


def _capitals(said: Said) -> Iterator[Span]:
    """Runs of words with capitals, without the clause's first word where it stands alone, and without I."""
    words = [m.span() for m in _WORD.finditer(said.text)]
    run: list[Span] = []
    for at in (*words, (-1, -1)):
        text = said.text[slice(*at)] if at[0] >= 0 else ""
        capital = at[0] >= 0 and said.original(*at)[:1].isupper() and text not in ("i", "i'm", "i've", "i'd", "i'll")
        joined = bool(run) and at[0] >= 0 and said.text[run[-1][1] : at[0]] in (" ", "-", ". ")
        if joined and (capital or (text in SMALL and len(run) > 0) or (text[:1].isdigit())):
            run.append(at)
            continue
        yield from _closed(run, said)
        run = [at] if capital else []


def _closed(run: Sequence[Span], said: Said) -> Iterator[Span]:
    """A run as one span, its trailing small words dropped; nothing for the clause's lone first word or a name of the lexicon."""
    kept = list(run)
    while kept and said.text[slice(*kept[-1])] in SMALL:
        kept.pop()
    if kept and (kept[0][0] > 0 or len(kept) > 1):
        start, end = kept[0][0], kept[-1][1]
        if not any(m.start <= start and end <= m.end for m in said.mentions):
            yield start, end


def load_shapes(path: Path, ontology: Ontology, surnames: frozenset[str]) -> Shapes:
    """Read packs/shapes.yaml. PackError with file and line on a mistake."""
    found = sections(path)
    macros = macros_of(found["macros"]) if "macros" in found else {}
    of: dict[str, tuple[Shape, ...]] = {}
    for name, entry in found.items():
        if name == "macros":
            continue
        if ontology.get(name) is None:
            raise entry.fail(f"{name!r} is no key of the ontology")
        of[name] = tuple(_shape(str(path), line, text, macros) for line, text in lines(entry))
    return Shapes(of, surnames)


def _shape(file: str, line: int, text: str, macros: Mapping[str, str]) -> Shape:
    pattern, _, option = text.partition(" => ")
    while named := [m for m in _MACRO.findall(pattern) if m in macros]:
        for name in named:
            pattern = pattern.replace("{" + name + "}", macros[name])
    if option and option not in OPTIONS:
        raise fail(file, line, f"{option!r} is no option of a shape: {', '.join(sorted(OPTIONS))}")
    if option != "titled" and "(?P<v>" not in pattern:
        raise fail(file, line, "the expression has no group v: (?P<v>...)")
    return Shape(pattern, option)
