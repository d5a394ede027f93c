"""The pack of time words (packs/time.yaml), read once and turned into regular expressions. A bad pack is refused with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from graphmem.errors import PackError
from graphmem.pipeline.firsts import first_characters
from graphmem.pipeline.numerals import number

PATH = Path(__file__).parent.parent / "packs" / "time.yaml"

Value = int | float | str
Fields = dict[str, Value]
"""What an expression says: year, month_shift, weekday, part … → value."""

_NUMERIC = {
    "n": r"(?<![0-9.几数好多第])(?:[0-9]{1,3}(?:\.[0-9]+)?(?![0-9])"
    r"|(?![两一二三四五六七八九]{2})[〇零一二两三四五六七八九十百千万廿卅半]{1,7})",
    "num": r"(?:[0-9]{1,4}(?:\.[0-9]+)?|half an?|an?|a couple(?: of)?|couple of|a dozen"
    r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|a hundred)",
    "y": r"(?<![0-9])(?:1[0-9]|20|21)[0-9]{2}(?![0-9])",
    "yz": r"[一二][〇零一二三四五六七八九]{3}",
    "yy": r"(?:[5-9][0-9]|0[0-9]|[九〇零八七][〇零一二三四五六七八九])",
    "d": r"[0-9]{1,2}(?![0-9])",
    "mz": r"0[1-9]",
    "mm": r"[0-5][0-9]",
    "hh": r"(?:[01]?[0-9]|2[0-3])",
    "q": r"[1-4]",
    "h": r"[12]",
    "ord": r"[0-9]{1,2}(?![0-9])(?:st|nd|rd|th)?|first|second|third",
    "nth": r"[0-9]{1,2}(?:st|nd|rd|th)",
    "dec": r"(?:1[0-9]|20)?[0-9]0",
    "ld": r"初[一二三四五六七八九十]|[二三]十[一二三四五六七八九]?|十[一二三四五六七八九]?|廿[一二三四五六七八九]?",
}
"""Sources of groups that hold a number; `number` reads them."""

_WORD_START = r"(?<![a-z0-9_'$.])"
_GROUP = re.compile(r"\{([a-z_]+)(?::([a-z_0-9]+))?\}")
_NEEDS = ("", "date", "prep")


@dataclass(frozen=True, slots=True)
class Atom:
    """One pattern of the pack. `needs`: "" stands alone, "date" beside another atom, "prep" also after a preposition."""

    name: str
    english: bool
    needs: str
    fixed: Mapping[str, Value]
    groups: tuple[tuple[str, str, Mapping[str, Value] | None], ...]


@dataclass(frozen=True, slots=True)
class TimePack:
    """Everything the grammar knows about words. `place` finds where an atom may begin, `at[character]` the atoms that begin so;
    the last group of their match is `a<index>`."""

    place: re.Pattern[str]
    at: Mapping[str, re.Pattern[str]]
    atoms: tuple[Atom, ...]
    fold: Mapping[int, str]
    preposition: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str]
    roles_before: Mapping[str, str]
    roles_after: Mapping[str, str]
    connector: re.Pattern[str]
    between: tuple[frozenset[str], str, str]
    lists: re.Pattern[str]
    future: re.Pattern[str]
    past: re.Pattern[str]
    perfect: re.Pattern[str]
    over: re.Pattern[str]

    def folded(self, text: str) -> str:
        """Lower case, half width, one form of each character; offsets stay those of `text`."""
        return text.translate(self.fold)

    def matches(self, folded: str) -> Iterator[re.Match[str]]:
        """Atoms from left to right, not overlapping: at each place the first pattern of the pack that matches."""
        done = 0
        for place in self.place.finditer(folded):
            start = place.start()
            if start >= done and (match := self.at[place[0]].match(folded, start)):
                done = match.end()
                yield match

    def fields(self, match: re.Match[str]) -> tuple[Atom, Fields] | None:
        """What an atom's match says; None where a number in it is none."""
        atom = self.atoms[int((match.lastgroup or "a0")[1:])]
        found: Fields = dict(atom.fixed)
        for group, field, table in atom.groups:
            raw = match[group]
            if raw is not None:
                value = table[raw] if table is not None else number(raw.removeprefix("初"))
                if value is None:
                    return None
                found[field] = value
        return atom, found


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda w: (-len(w), w))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(w).replace(r"\ ", " ") for w in _longest_first(words))


def _refuse(detail: str, path: Path, line: int) -> PackError:
    return PackError(detail, file=path.name, line=line, hint="see the head of packs/time.yaml for the grammar of this file")


class _Builder:
    """Expands the patterns of one pack file."""

    def __init__(self, data: Mapping[str, Any], path: Path, lines: list[int]) -> None:
        self.words: Mapping[str, Mapping[str, Value]] = data["words"]
        self.pieces: Mapping[str, str] = data.get("pieces", {})
        self.path, self.lines = path, lines

    def atom(self, index: int, raw: Mapping[str, Any]) -> tuple[Atom, str]:
        line = self.lines[index]
        if "name" not in raw or "pattern" not in raw or raw.get("needs", "") not in _NEEDS:
            raise _refuse("an atom has a name, a pattern and perhaps `needs: date` or `needs: prep`", self.path, line)
        groups: list[tuple[str, str, Mapping[str, Value] | None]] = []

        def group(m: re.Match[str]) -> str:
            source, field = m[1], m[2]
            if field is None and source in self.pieces:
                return self.pieces[source]
            name = f"a{index}_{len(groups)}"
            table = self.words.get(source)
            body = _alternatives(table) if table is not None else _NUMERIC.get(source) or self.pieces.get(source)
            if body is None or field is None:
                raise _refuse(f"no table, number or piece is called {source!r}", self.path, line)
            groups.append((name, re.sub(r"_\d$", "", field), table))
            return f"(?P<{name}>{body})"

        pattern = _GROUP.sub(group, raw["pattern"])
        english = raw.get("lang") == "en"
        if english:
            pattern = rf"(?:{pattern})(?![a-z0-9_])"
        try:
            re.compile(pattern)
        except re.error as e:
            raise _refuse(f"{raw['name']}: {e}", self.path, line) from e
        atom = Atom(raw["name"], english, raw.get("needs", ""), dict(raw.get("set", {})), tuple(groups))
        return atom, f"(?P<a{index}>{pattern})"


def _expression(data: Mapping[str, Any], key: str, path: Path) -> re.Pattern[str]:
    try:
        return re.compile(data[key])
    except (re.error, TypeError) as e:
        lines = path.read_text(encoding="utf-8").splitlines()
        raise _refuse(f"{key}: {e}", path, next(i for i, line in enumerate(lines, 1) if line.startswith(f"{key}:"))) from e


def _atom_lines(root: yaml.Node | None) -> list[int]:
    if isinstance(root, yaml.MappingNode):
        for key, node in root.value:
            if key.value == "atoms" and isinstance(node, yaml.SequenceNode):
                return [item.start_mark.line + 1 for item in node.value]
    return []


def _fold_table(variants: str) -> dict[int, str]:
    table = {0xFF01 + i: chr(0x21 + i).lower() for i in range(94)}
    table |= {c: chr(c).lower() for c in range(0x41, 0x5B)} | {0x3000: " ", 0xA0: " ", 0x09: " "}
    table |= {ord(pair[0]): pair[1] for pair in variants.split()}
    return table


def _read(path: Path) -> tuple[dict[str, Any], list[int]]:
    text = path.read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        root = loader.get_single_node()
        data = loader.construct_document(root)
        lines = _atom_lines(root)
    except yaml.MarkedYAMLError as e:
        raise _refuse(str(e.problem), path, min(e.problem_mark.line + 1, len(text.splitlines())) if e.problem_mark else 1) from e
    needed = {
        "words",
        "atoms",
        "variants",
        "prepositions",
        "roles_before",
        "roles_after",
        "connectors",
        "between",
        "lists",
        "future",
        "past",
        "perfect",
        "over",
    }
    if not isinstance(data, dict) or (missing := needed - data.keys()):
        raise _refuse(f"missing: {', '.join(sorted(missing)) if isinstance(data, dict) else 'everything'}", path, 1)
    return data, lines


class _Lazy(dict[str, re.Pattern[str]]):
    """Expressions by first character, compiled when a text first holds it: all at once would take half of the start."""

    def __init__(self, sources: dict[str, str]) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, first: str) -> re.Pattern[str]:
        pattern = self[first] = re.compile(self._sources[first])
        return pattern


def _places(patterns: list[str], english: list[bool], path: Path, lines: list[int]) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Patterns sorted by the character they begin with; English ones begin only where a word does."""
    by_first: dict[str, list[str]] = {}
    anywhere: set[str] = set()
    for pattern, is_english, line in zip(patterns, english, lines, strict=True):
        firsts = first_characters(pattern)
        if firsts is None:
            raise _refuse("a pattern begins with a word, a number or a class of characters, not with something optional", path, line)
        anywhere |= frozenset() if is_english else firsts
        for c in firsts:
            by_first.setdefault(c, []).append(f"{_WORD_START}{pattern}" if is_english else pattern)
    compiled = _Lazy({c: "|".join(found) for c, found in by_first.items()})
    free, words = ("".join(re.escape(c) for c in sorted(cs)) for cs in (anywhere, by_first.keys() - anywhere))
    return re.compile(f"[{free}]|{_WORD_START}[{words}]"), compiled


@cache
def load(path: Path = PATH) -> TimePack:
    """Read a pack of time words, once a process. PackError: file and line of what is wrong."""
    data, lines = _read(path)
    builder = _Builder(data, path, lines)
    built = [builder.atom(i, raw) for i, raw in enumerate(data["atoms"])]
    before, after, links = data["roles_before"], data["roles_after"], data["connectors"]
    no_before, no_after = data.get("before_guard", {}), data.get("after_guard", {})
    zh_before = "|".join(f"(?<![{no_before[w]}]){w}" if w in no_before else re.escape(w) for w in _longest_first(before["zh"]))
    zh_after = "|".join(f"{w}(?![{no_after[w]}])" if w in no_after else re.escape(w) for w in _longest_first(after["zh"]))
    prepositions = _alternatives(data["prepositions"])
    place, at = _places([pattern for _, pattern in built], [atom.english for atom, _ in built], path, lines)
    return TimePack(
        place=place,
        at=at,
        atoms=tuple(atom for atom, _ in built),
        fold=_fold_table(data["variants"]),
        preposition=re.compile(rf"(?:^|[^a-z])(?:{prepositions})(?: the)? *$"),
        before=re.compile(rf"(?:(?<![a-z'])(?P<en>{_alternatives(before['en'])})(?: the| this)? +|(?P<zh>{zh_before}) *)$"),
        after=re.compile(rf" *(?:(?P<zh>{zh_after})|(?P<en>{_alternatives(after['en'])})(?![a-z]))"),
        roles_before={**before["zh"], **before["en"]},
        roles_after={**after["zh"], **after["en"]},
        connector=re.compile(rf" *(?:的?(?:{_alternatives(links['zh'])})|(?<= )(?:{_alternatives(links['en'])})(?= )(?: the)?) *"),
        between=(frozenset(data["between"]["links"]), data["between"]["before"], data["between"]["after"]),
        lists=re.compile(rf" *(?:{_alternatives(data['lists'])}) *(?:on )?"),
        future=_expression(data, "future", path),
        past=_expression(data, "past", path),
        perfect=_expression(data, "perfect", path),
        over=_expression(data, "over", path),
    )
