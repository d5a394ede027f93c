"""The kit for Neo4j Browser: saved queries, style, guide, favourites, and links that open Browser with the right query. Text in, text out.

A saved query takes text only, each parameter with a default, so that it runs from Browser's favourites as it stands.
"""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlencode

from graphmem.errors import InvalidInputError, QueryFileError
from graphmem.memory import Text2

_TITLE = re.compile(r"// (.+) · (.+)")
_LINE = re.compile(r"// (en|zh|params): (.+)")
_PARAM = re.compile(r"([a-z_]+) =(?: (\S+))?")
_USED = re.compile(r"\$([a-z_]+)")
_RULE = re.compile(r"([\w.]+)\s*\{((?:\"[^\"]*\"|[^{}\"])*)\}")
_FIELD = re.compile(r"\{\{(\w+)\}\}")
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "&": "\\u0026", "#": "\\u0023"}
"""What a literal escapes: Cypher's own, and `&` and `#`, where Browser ends the argument of a link although they are percent-encoded."""
_DATED = (1980, 1, 1, 0, 0, 0)  # the same bytes each time the archive is made


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved query. `params` holds the default of each; `text` is the whole file: title, header, statement."""

    name: str
    title: Text2
    about: Text2
    params: Mapping[str, str]
    text: str

    @property
    def statement(self) -> str:
        """The query under its title, as it is opened in an editor: without header and final semicolon."""
        lines = [line for line in self.text.splitlines() if not _LINE.fullmatch(line)]
        return "\n".join(lines).rstrip().rstrip(";")


@dataclass(frozen=True, slots=True)
class Place:
    """A Browser page, and what it connects to."""

    page: str
    bolt: str
    user: str = "neo4j"
    database: str = "neo4j"


def folder() -> Path:
    """Where the kit is: inside the installed package, else in the checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "_cypher"
    return (inside if inside.is_dir() else package.parent / "cypher") / "browser"


@lru_cache(maxsize=1)
def saved() -> Mapping[str, Saved]:
    """All saved queries by name. Raises QueryFileError with file and line."""
    return load(folder() / "queries")


def load(root: Path) -> Mapping[str, Saved]:
    """The queries of a folder by name, in order of their names. Raises QueryFileError: a header that lacks a line, undeclared or unused
    parameters, another default than another file has, a character that a link cannot carry."""
    found: dict[str, Saved] = {}
    defaults: dict[str, str] = {}
    for path in sorted(root.glob("*.cypher")):
        one = parse(path.stem, path.read_text(encoding="utf-8"), path.name)
        for name, default in one.params.items():
            if defaults.setdefault(name, default) != default:
                raise QueryFileError(f"${name} has another default elsewhere: '{defaults[name]}'", file=path.name, line=4)
        found[one.name] = one
    if not found:
        raise QueryFileError("no saved queries here", file=str(root), line=1)
    return found


def parse(name: str, text: str, file: str) -> Saved:
    """One file: the title in both languages, then `en`, `zh` and `params` in this order, then one statement."""

    def bad(detail: str, line: int) -> QueryFileError:
        return QueryFileError(detail, file=file, line=line)

    lines = text.splitlines()
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None:
        raise bad("the first line is no title: // 中文 · English", 1)
    head = [_LINE.fullmatch(line) for line in lines[1:4]]
    if [m and m[1] for m in head] != ["en", "zh", "params"]:
        raise bad("after the title come // en: …, // zh: … and // params: …", 2)
    en, zh, declared = (m[2] for m in head if m)
    params = _params(declared)
    body = "\n".join(lines[4:]).strip()
    if params is None or set(params) != set(_USED.findall(body)):
        raise bad("declared and used parameters differ, or one has no `name = default`", 4)
    if not body.endswith(";") or body.count(";") != 1:
        raise bad("a saved query is one statement that ends with ';'", 5)
    if "&" in body or "#" in body:
        raise bad("a link cannot carry '&' or '#'", 5)
    return Saved(name, Text2(title[1], title[2]), Text2(zh, en), params, text)


def _params(declared: str) -> Mapping[str, str] | None:
    found = [_PARAM.fullmatch(item.strip()) for item in declared.split(",")]
    return {m[1]: m[2] or "" for m in found if m} if all(found) else None


def defaults() -> dict[str, str]:
    """The default of every parameter of every saved query."""
    return {name: default for one in saved().values() for name, default in one.params.items()}


# --- links


def query(name: str) -> Saved:
    """A saved query by its name. Raises InvalidInputError that names them all."""
    if name not in saved():
        hint = f"one of {', '.join(saved())}."
        raise InvalidInputError(f"there is no saved query '{name}'", field="query", hint=hint)
    return saved()[name]


def filled(one: Saved, values: Mapping[str, str]) -> str:
    """The statement with its parameters written in, for a person's editor (never sent by us): every value as an escaped string literal.

    Raises InvalidInputError where a value has a name that the query does not take.
    """
    if unknown := sorted(set(values) - set(one.params)):
        raise InvalidInputError(f"'{one.name}' takes no {unknown[0]}", field=unknown[0], hint=f"it takes {', '.join(one.params)}.")
    given = {**one.params, **values}
    return _USED.sub(lambda m: _literal(given[m[1]]), one.statement)


def _literal(value: str) -> str:
    return "'" + "".join(_ESCAPED.get(c, c) for c in value) + "'"


def link(place: Place, text: str) -> str:
    """The address that opens Browser with its connection filled in (but for the password) and this text in the editor."""
    scheme, _, host = place.bolt.partition("://")
    dbms = f"{scheme.replace('bolt', 'neo4j')}://{place.user}@{host}"
    return f"{place.page}?{urlencode({'dbms': dbms, 'db': place.database, 'cmd': 'edit', 'arg': text})}"


# --- files for Browser


def style() -> dict[str, dict[str, str]]:
    """graphmem.grass as selector → property → value; Browser takes it as JSON, too."""
    text = (folder() / "graphmem.grass").read_text(encoding="utf-8")
    rules: dict[str, dict[str, str]] = {}
    for selector, body in _RULE.findall(text):
        pairs = (line.split(":", 1) for line in body.split(";") if line.strip())
        rules[selector] = {name.strip(): value.strip().strip('"') for name, value in pairs}
    return rules


def favourites(names: Sequence[str] = ()) -> bytes:
    """A zip archive to drop on Browser: its folder `graphmem` with these queries (none named: all), titles as names."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in (query(name) for name in names or saved()):
            archive.writestr(zipfile.ZipInfo(f"graphmem/{one.name}.cypher", _DATED), one.text)
    return made.getvalue()


def guide() -> str:
    """The guide as a page for `:play`: each `{{name}}` of guide.html is that saved query, `{{params}}` sets all parameters."""
    template = (folder() / "guide.html").read_text(encoding="utf-8")
    return _FIELD.sub(lambda m: _params_command() if m[1] == "params" else _block(query(m[1])), template)


def _params_command() -> str:
    return html.escape(f":params {json.dumps(defaults(), indent=2)}", quote=False)


def _block(one: Saved) -> str:
    told = f"<p><b>{one.title.zh} · {one.title.en}</b><br>{html.escape(one.about.en)}<br>{html.escape(one.about.zh)}</p>"
    return f'{told}\n<pre class="pre-scrollable code runnable">{html.escape(one.statement, quote=False)}</pre>'
