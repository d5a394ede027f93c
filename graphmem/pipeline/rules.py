"""The pattern language of the trigger packs: reading, checking, compiling. Data in packs/*.yaml; mistakes name file and line.

A rule is one line `pattern => options`. The pattern is a regular expression over the normal form of one clause with
  {name}    a macro of the pack
  {v}       the value, a name of the lexicon of the key's types      {v*}  the same, or any phrase (open value)
  {v:a b}   the value, of these types (`*` allows open ones)         {v=…} the value is exactly what this expression matches
  {o}       the object of a taste; its key is found by routes        {w}   the old value of a change
  {s}       where the subject stands when it follows the value
  {n}       an optional negation (counted)                           a blank is any blank; between Latin words it is needed
Options: neg choose like change end slip whole bare past past_event key=NAME conf=0.9 subject=ROLE verb=HINT grounds=NAME; `two`: read over
two clauses of a sentence; `titled`: the value is written with capitals; `compound`: unexplained characters before the value belong to it; `strict`: no unexplained word before it; `surname`: it begins with a Chinese surname; `weak`: yields to any other rule; `any`: an open object is a taste
too; `loose`: words that nothing explains may stand before it; `undated`: times of the clause say nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from graphmem.errors import PackError
from graphmem.packfile import Entry, fail, read_text

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FLAGS = frozenset("titled compound strict surname undated weak loose two neg choose like change end slip whole bare follow first past past_event any".split())
_VALUES = frozenset("key conf subject verb grounds const".split())
_SLOT = re.compile(r"\{(v|w)(\*|:[a-z_ *]+|=)?")
SLOT_MAX = 40


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled line. `types` None: the key's own; `open`: a value outside the lexicon is allowed; `exact`: as matched."""

    id: str
    key: str
    regex: re.Pattern[str]
    needs: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] | None = None
    open: bool = False
    exact: bool = False
    routed: bool = False
    order: int = 0
    left: re.Pattern[str] | None = None
    right: re.Pattern[str] | None = None

    @property
    def confidence(self) -> float:
        return float(self.options.get("conf", "0.97"))


def sections(path: Path, allowed: tuple[str, ...] | None = None) -> dict[str, Entry]:
    """The top-level fields of a YAML file. PackError: syntax, shape, unknown fields."""
    text = read_text(path)
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise fail(str(path), mark.line + 1 if mark else 1, f"this is not YAML: {error.problem or error.context}") from error
    if node is None:
        raise fail(str(path), 1, "the pack is empty")
    return Entry(str(path), node, "the pack").fields(allowed)


def lines(entry: Entry) -> Iterator[tuple[int, str]]:
    """The lines of a literal block with their numbers, without comments and empty ones."""
    shift = 1 if isinstance(entry.node, yaml.ScalarNode) and entry.node.style in ("|", ">") else 0
    for i, line in enumerate(str(getattr(entry.node, "value", "")).split("\n")):
        line = line.strip()
        if line and not line.startswith("#"):
            yield entry.line + shift + i, line


def load_rules(path: Path, keys: frozenset[str]) -> tuple[Rule, ...]:
    """All rules of a trigger pack in order. Sections: `macros`, and one per key or `taste`."""
    found = sections(path)
    macros = _macros(found["macros"]) if "macros" in found else {}
    out: list[Rule] = []
    for name, entry in found.items():
        if name == "macros":
            continue
        if name != "taste" and name not in keys:
            raise entry.fail(f"{name!r} is no key of the ontology")
        for line, text in lines(entry):
            out.append(_rule(str(path), line, text, name, macros, keys, len(out)))
    return tuple(out)


def _macros(entry: Entry) -> dict[str, str]:
    out: dict[str, str] = {}
    for line, text in lines(entry):
        name, colon, pattern = text.partition(": ")
        if not colon or not name.isidentifier():
            raise fail(entry.file, line, "a macro is written `name: expression`")
        out[name] = pattern.strip()
    return out


def _rule(file: str, line: int, text: str, section: str, macros: Mapping[str, str], keys: frozenset[str], order: int) -> Rule:
    pattern, _, tail = text.partition(" => ")
    flags, options = _options(file, line, tail)
    key = options.get("key", section)
    if key != "taste" and key not in keys:
        raise fail(file, line, f"{key!r} is no key of the ontology")
    slot = _Slots(file, line, macros)
    source = slot.compile(pattern.strip())
    try:
        regex = re.compile(source)
    except re.error as error:
        raise fail(file, line, f"the pattern does not compile: {error}") from error
    needs = required(source)
    if not needs and (slot.open or slot.exact or not re.search(r"\(\?P<v>", source)):
        raise fail(file, line, "the pattern has neither a word that must stand in the text nor a value of the lexicon")
    return Rule(
        id=f"{section}.{Path(file).stem.rpartition('.')[2]}.{line}", key=key, regex=regex, needs=needs, flags=flags, options=options,
        types=slot.types, open=slot.open, exact=slot.exact, routed="o" in regex.groupindex, order=order,
        **_halves(source, slot),
    )  # fmt: skip


FILLER = r"(?:一些|一点点?|点儿?|一种|一个|那种|这种|各种|所有|任何|的|a |an |the |some |any |my |all |his |her )?"
"""What may stand between a rule's words and a name of the lexicon."""


def _halves(source: str, slot: _Slots) -> dict[str, re.Pattern[str] | None]:
    """The expressions before and after the value, where a name of the lexicon is tried exactly; none when the value stands inside a group."""
    m = re.search(r"\(\?P<v>\.\{1,\d+\}\??\)", source)
    if m is None or slot.exact:
        return {"left": None, "right": None}
    try:
        return {"left": re.compile(f"(?:{source[: m.start()]}){FILLER}\\Z"), "right": re.compile(source[m.end() :])}
    except re.error:
        return {"left": None, "right": None}


def _options(file: str, line: int, tail: str) -> tuple[frozenset[str], dict[str, str]]:
    flags: set[str] = set()
    options: dict[str, str] = {}
    for word in tail.split():
        name, eq, value = word.partition("=")
        if eq and name in _VALUES:
            options[name] = value
        elif not eq and name in _FLAGS:
            flags.add(name)
        else:
            raise fail(file, line, f"unknown option {word!r}; allowed: {' '.join(sorted(_FLAGS | _VALUES))}")
    return frozenset(flags), options


class _Slots:
    def __init__(self, file: str, line: int, macros: Mapping[str, str]) -> None:
        self.file, self.line, self.macros = file, line, macros
        self.types: tuple[str, ...] | None = None
        self.open = self.exact = False
        self.count = 0

    def compile(self, pattern: str) -> str:
        out: list[str] = []
        i = 0
        while i < len(pattern):
            c = pattern[i]
            if c == "\\":
                out.append(pattern[i : i + 2])
                i += 2
            elif c == "{" and not re.match(r"\{\d*,?\d*\}", pattern[i:]):
                end = self._close(pattern, i)
                out.append(self._slot(pattern[i + 1 : end], pattern[end + 1 :]))
                i = end + 1
            elif c == " ":
                out.append(r"\ +")
                i += 1
            else:
                out.append(c)
                i += 1
        return "".join(out)

    def _close(self, pattern: str, i: int) -> int:
        depth = 0
        for j in range(i, len(pattern)):
            depth += {"{": 1, "}": -1}.get(pattern[j], 0)
            if not depth:
                return j
        raise fail(self.file, self.line, "a brace is not closed")

    def _slot(self, inner: str, rest: str) -> str:
        if inner == "n":
            self.count += 1
            return f"(?P<n{self.count}>{self.compile(self.macros['not'])})?"
        lazy = "?" if rest else ""
        if inner == "s":
            return "(?P<s>.{0,24}?)"
        if inner == "o":
            return f"(?P<o>.{{1,{SLOT_MAX * 3}}}{lazy})"
        if inner[:1] in "vw" and (len(inner) == 1 or inner[1] in "*:="):
            return self._value(inner[0], inner[1:], lazy)
        if inner in self.macros:
            return "(?:" + self.compile(self.macros[inner]) + ")"
        raise fail(self.file, self.line, f"unknown macro {{{inner}}}")

    def _value(self, name: str, spec: str, lazy: str) -> str:
        if spec.startswith("="):
            if name == "v":
                self.exact = True
            return f"(?P<{name}>{self.compile(spec[1:])})"
        if name == "v":
            types = spec[1:].split() if spec.startswith(":") else []
            self.open = spec == "*" or "*" in types
            if spec.startswith(":"):
                self.types = tuple(t for t in types if t != "*")
        return f"(?P<{name}>.{{1,{SLOT_MAX * 2}}}{lazy})"


def required(source: str) -> tuple[str, ...]:
    """Literals of which at least one stands in every text the expression matches; () when there is none."""
    found, _ = _alternatives(source, 0)
    return tuple(sorted(found)) if found and all(found) else ()


Needs = frozenset[str] | None


def _alternatives(s: str, i: int) -> tuple[Needs, int]:
    branches: list[Needs] = []
    best: Needs = None
    run = ""
    while i <= len(s):
        c = s[i] if i < len(s) else ")"
        if c in "|)":
            branches.append(_better(best, run))
            best, run = None, ""
            if c == ")":
                break
            i += 1
            continue
        piece, literal, i = _piece(s, i)
        optional = i < len(s) and (s[i] in "?*" or s.startswith("{0", i))
        repeated = i < len(s) and (s[i] in "+{")
        if i < len(s) and (s[i] in "?*+{"):
            i = s.index("}", i) + 1 if s[i] == "{" else i + 1
            if i < len(s) and s[i] == "?":
                i += 1
        if literal and not optional:
            run += literal
            if repeated:
                best, run = _better(best, run), ""
            continue
        best, run = _better(best, run), ""
        if piece and not optional:
            best = piece if _worth(piece) > _worth(best) else best
    if any(not b for b in branches):
        return None, i + 1
    merged: set[str] = set()
    for b in branches:
        merged |= b or set()
    return frozenset(merged), i + 1


def _piece(s: str, i: int) -> tuple[Needs, str, int]:
    c = s[i]
    if c == "(":
        head = re.match(r"\((?:\?:|\?P<\w+>|\?=|\?!|\?<=|\?<!)?", s[i:])
        look = head is not None and head[0] in ("(?=", "(?!", "(?<=", "(?<!")
        needs, j = _alternatives(s, i + len(head[0] if head else "("))
        return (None if look else needs), "", j
    if c == "[":
        j = s.index("]", i + 2)
        return None, "", j + 1
    if c == "\\":
        literal = s[i + 1] if not s[i + 1].isalnum() else ""
        return None, literal, i + 2
    if c in ".^$":
        return None, "", i + 1
    return None, c, i + 1


def _worth(needs: Needs) -> int:
    return min(map(len, needs)) * 100 - len(needs) if needs else -1


def _better(best: Needs, run: str) -> Needs:
    run = run.strip()
    if not run:
        return best
    mine = frozenset({run})
    return mine if _worth(mine) > _worth(best) else best


__all__ = ["PackError", "Rule", "lines", "load_rules", "required", "sections"]
