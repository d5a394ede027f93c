"""The pattern language of the trigger packs: reading, checking, compiling. Data in packs/*.yaml; mistakes name file and line.

A rule is one line `pattern => options`. The pattern is a regular expression over the normal form of one clause with
  {name}    a macro of the pack
  {v}       the value, a name of the lexicon of the key's types      {v*}  the same, or any phrase (open value)
  {v:a b}   the value, of these types (`*` allows open ones)         {v=…} the value is exactly what this expression matches
  {o}       the object of a taste; its key is found by routes        {w}   the old value of a change
  {s}       where the subject stands when it follows the value
  {n}       an optional negation (counted)                           a blank is any blank; between Latin words it is needed
Options: neg choose like change end slip whole bare past past_event key=NAME conf=0.9 subject=ROLE verb=HINT grounds=NAME check=NAME;
`two`: read over two clauses of a sentence; `titled`: the value is written with capitals; `surname`: it begins with a Chinese
surname; `given`: it is a given name;
`weak`: yields to any other rule; `any`: an open object is a taste too; `undated`: times of the clause say nothing about it;
`strict`: no unexplained word before it, and somebody is meant; `clean`: only the first; `loose`: such words may stand there;
`compound`: unexplained characters before the value belong to it;
`firm`: an idiom that means one thing: the second opinion (propose.py) says nothing against it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from graphmem.packfile import Entry, fail, read_text
from graphmem.pipeline.needs import required

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FLAGS = frozenset("neg choose like change end slip whole bare past past_event any two weak".split())
_FLAGS |= frozenset("titled surname given strict clean compound loose undated firm".split())
_VALUES = frozenset("key conf subject verb grounds check".split())
_SLOT = re.compile(r"\{(v|w)(\*|:[a-z_ *]+|=)?")
SLOT_MAX = 40


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled line. `types` None: the key's own; `open`: a value outside the lexicon is allowed; `exact`: as matched."""

    id: str
    key: str
    source: str
    needs: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] | None = None
    open: bool = False
    exact: bool = False
    routed: bool = False
    order: int = 0
    left_source: str = ""
    right_source: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        """The whole expression."""
        return compiled(self.source)

    @property
    def left(self) -> re.Pattern[str] | None:
        """What stands before a name of the lexicon, tried up to where the name begins; None when the value stands inside a group."""
        return compiled(self.left_source) if self.left_source else None

    @property
    def right(self) -> re.Pattern[str] | None:
        """What follows the name."""
        return compiled(self.right_source) if self.left_source else None

    @property
    def confidence(self) -> float:
        return float(self.options.get("conf", "0.97"))


@functools.cache
def compiled(source: str) -> re.Pattern[str]:
    """Compiled at first use: compiling all rules at the start would take most of a second."""
    return re.compile(source)


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


def one_of(entry: Entry, flags: int = 0) -> re.Pattern[str]:
    """One expression out of a block of alternatives, a line each. PackError names the line."""
    found: list[str] = []
    for line, text in lines(entry):
        try:
            re.compile(text, flags)
        except re.error as error:
            raise entry.fail(f"line {line}: the expression does not compile: {error}") from error
        found.append(text)
    return re.compile("|".join(f"(?:{t})" for t in found), flags)


def load_rules(path: Path, keys: frozenset[str], shared: Mapping[str, str], *, check: bool = True) -> tuple[Rule, ...]:
    """All rules of a trigger pack in order. Sections: `macros` (on top of the shared ones), and one per key or `taste`.

    `check` compiles every expression now; the packs of the package are checked by a test instead.
    """
    found = sections(path)
    macros = {**shared, **(macros_of(found["macros"]) if "macros" in found else {})}
    pack = _Pack(str(path), macros, keys, check)
    out: list[Rule] = []
    for name, entry in found.items():
        if name == "macros":
            continue
        if name != "taste" and name not in keys:
            raise entry.fail(f"{name!r} is no key of the ontology")
        for line, text in lines(entry):
            out.append(_rule(pack, line, text, name, len(out)))
    return tuple(out)


def load_units(path: Path) -> str:
    """packs/units.yaml as one expression: every way to write a unit, longest first."""
    words = {w for _, text in lines(sections(path, ("units",))["units"]) for w in text.split()}
    return r"\ ?(?:" + "|".join(re.escape(w.replace("_", " ")) for w in sorted(words, key=lambda w: (-len(w), w))) + r")(?![a-z])"


def macros_of(entry: Entry) -> dict[str, str]:
    """The section `macros` of a pack by name."""
    out: dict[str, str] = {}
    for line, text in lines(entry):
        name, colon, pattern = text.partition(": ")
        if not colon or not name.isidentifier():
            raise fail(entry.file, line, "a macro is written `name: expression`")
        out[name] = pattern.strip()
    return out


@dataclass(frozen=True, slots=True)
class _Pack:
    """What reading the lines of one pack needs."""

    file: str
    macros: Mapping[str, str]
    keys: frozenset[str]
    check: bool
    written: dict[str, str] = field(default_factory=dict)


def _rule(pack: _Pack, line: int, text: str, section: str, order: int) -> Rule:
    pattern, _, tail = text.partition(" => ")
    flags, options = _options(pack.file, line, tail)
    key = options.get("key", section)
    if key != "taste" and key not in pack.keys:
        raise fail(pack.file, line, f"{key!r} is no key of the ontology")
    slot = _Slots(pack.file, line, pack.macros, pack.written)
    source = slot.compile(pattern.strip())
    if pack.check:
        _checked(pack.file, line, source)
    needs = required(source)
    if not needs and (slot.open or slot.exact or "(?P<v>" not in source):
        raise fail(pack.file, line, "the pattern has neither a word that must stand in the text nor a value of the lexicon")
    left, right = _halves(source, slot)
    source += _end(source, slot)
    return Rule(
        id=f"{section}.{Path(pack.file).stem.removeprefix('triggers.')}.{line}",
        key=key,
        source=source,
        needs=needs,
        flags=flags,
        options=options,
        types=slot.types,
        open=slot.open,
        exact=slot.exact,
        routed="(?P<o>" in source,
        order=order,
        left_source=left,
        right_source=right,
    )


def _checked(file: str, line: int, source: str) -> None:
    try:
        re.compile(source)
    except re.error as error:
        raise fail(file, line, f"the pattern does not compile: {error}") from error


FILLER = r"(?:一些|一点点?|点儿?|一种|一个|那种|这种|各种|所有|任何|的|a |an |the |some |any |my |all |his |her )?"
"""What may stand between a rule's words and a name of the lexicon."""

_OPEN_SLOT = re.compile(r"\(\?P<v>\.\{1,\d+\}\??\)")


GAP = r"(?:\ +|(?=[\u2e80-\u9fff]))"
"""A blank before a value; none between Latin and Han."""

_OBJECT_SLOT = re.compile(r"\(\?P<o>\.\{1,\d+\}\?\)")


def _halves(source: str, slot: _Slots) -> tuple[str, str]:
    """The expressions before and after the value, where names of the lexicon are tried; empty when it is exact or stands in a group."""
    m = _OPEN_SLOT.search(source)
    if m is None or slot.exact or not _balanced(source[: m.start()]):
        return "", ""
    left = source[: m.start()].replace(GAP, r"\ *").removesuffix(r"\b")  # a name has word borders, and \b fails at the end of a cut text
    return f"(?:{left}){FILLER}\\Z", source[m.end() :]


def _end(source: str, slot: _Slots) -> str:
    """An open value with nothing after it that must stand there reaches to the end of its clause, not to its first character."""
    m = _OBJECT_SLOT.search(source) or (_OPEN_SLOT.search(source) if slot.open and not slot.exact else None)
    if m is None or "(?=" in source[m.end() :] or not _balanced(source[: m.start()]):
        return ""
    try:
        empty = re.fullmatch(source[m.end() :], "") is not None
    except re.error:
        return ""
    return "(?=$|[，。,；])" if empty else ""


def _balanced(source: str) -> bool:
    """Whether every group is closed."""
    plain = re.sub(r"\\.|\[[^\]]+\]", "", source)
    return plain.count("(") == plain.count(")")


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
    def __init__(self, file: str, line: int, macros: Mapping[str, str], written: dict[str, str]) -> None:
        """`written`: macros without slots as they were compiled for earlier lines of the pack."""
        self.file, self.line, self.macros, self.written = file, line, macros, written
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
            elif c == " " and pattern[i + 1 : i + 3] in ("{o", "{v", "{w"):
                out.append(GAP)  # I love 火锅: the normal form has no blank between scripts
                i += 1
            elif c == " ":
                out.append("\\ " if pattern[i + 1 : i + 2] in ("?", "*") else r"\ +")
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
        if inner in self.written:
            return self.written[inner]
        if inner in self.macros:
            source = "(?:" + self.compile(self.macros[inner]) + ")"
            if "(?P<" not in source:
                self.written[inner] = source
            return source
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
