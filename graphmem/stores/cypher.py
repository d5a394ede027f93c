"""Queries from `cypher/`: loaded once, checked hard. A bad file refuses the start with file and line (style.md rule 5).

Files say `$name`, so that they run in Browser as they stand; what is sent says `$in.name`, one map. The server keeps a plan of its own for
each size class of each string and list parameter (measured on 5.26.30: a longer user id compiled `latest` again, 1.8 s), but not of a map.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from graphmem.errors import QueryFileError

Mode = Literal["read", "write", "implicit", "schema"]
Reach = Literal["user", "tenant", "system"]

_HEADER = re.compile(r"//\s*(name|mode|scope|params|purpose):\s*(.*)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PARAM = re.compile(r"([a-z_][a-z0-9_]*) ([A-Z]+)\??")
_USED = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_MAPPED = re.compile(r"\$([a-z_][a-z0-9_]*)")
_OPTIONS = "CYPHER replan=skip "
"""Index hints fix the plans: planning again when statistics move would only stall a user for a second."""
_TYPES = frozenset("STRING INTEGER FLOAT BOOLEAN DATETIME LIST MAP".split())
_USER = re.compile(r"\{tenant_id: \$tenant_id, user_id: \$user_id")


@dataclass(frozen=True, slots=True)
class Query:
    """One named statement. `params` are the names it takes; `text` holds no header."""

    name: str
    mode: Mode
    reach: Reach
    params: frozenset[str]
    purpose: str
    text: str
    file: str
    line: int


def folder() -> Path:
    """Where the queries are: inside the installed package, else in the checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_cypher"
    return inside if inside.is_dir() else package.parent / "cypher"


def load(root: Path | None = None) -> Mapping[str, Query]:
    """All queries by name. Raises QueryFileError with file and line."""
    root = root or folder()
    found: dict[str, Query] = {}
    files = [p for p in sorted(root.rglob("*.cypher")) if p.relative_to(root).parts[0] not in ("schema", "browser", "import")]
    for path in files:
        for query in parse(path.read_text(encoding="utf-8"), str(path.relative_to(root))):
            if query.name in found:
                other = found[query.name]
                raise QueryFileError(f"query '{query.name}' stands already at {other.file}:{other.line}", file=query.file, line=query.line)
            found[query.name] = query
    if not found:
        raise QueryFileError("no queries here", file=str(root), line=1)
    return found


def parse(text: str, file: str) -> list[Query]:
    """The queries of one file, in order."""
    blocks: list[tuple[int, dict[str, str], list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.fullmatch(line.strip())
        if header and header[1] == "name":
            blocks.append((number, {"name": header[2].strip()}, []))
        elif header and blocks and not blocks[-1][2]:
            if header[1] in blocks[-1][1]:
                raise QueryFileError(f"'{header[1]}' stands twice in one header", file=file, line=number)
            blocks[-1][1][header[1]] = header[2].strip()
        elif blocks:
            blocks[-1][2].append(line)
        elif line.strip() and not line.strip().startswith("//"):
            raise QueryFileError("a statement without a header", file=file, line=number)
    return [_query(file, number, head, body) for number, head, body in blocks]


def _query(file: str, line: int, head: Mapping[str, str], body: Iterable[str]) -> Query:
    def bad(detail: str) -> QueryFileError:
        return QueryFileError(detail, file=file, line=line)

    missing = [f for f in ("mode", "scope", "params", "purpose") if not head.get(f)]
    if missing:
        raise bad(f"the header lacks {', '.join(missing)}")
    if not _NAME.fullmatch(head["name"]):
        raise bad(f"'{head['name']}' is no snake_case name")
    if head["mode"] not in get_args(Mode):
        raise bad(f"unknown mode '{head['mode']}', one of {', '.join(get_args(Mode))}")
    if head["scope"] not in get_args(Reach):
        raise bad(f"unknown scope '{head['scope']}', one of {', '.join(get_args(Reach))}")
    text = "\n".join(body).strip()
    code = _stripped(text)
    if not code.endswith(";"):
        raise bad(f"query '{head['name']}' does not end with ';'")
    if ";" in code[:-1]:
        raise bad(f"query '{head['name']}' holds a second statement")
    params = _params(head["params"], bad)
    used = frozenset(_USED.findall(code))
    if params != used:
        raise bad(f"declared and used parameters differ: {', '.join(sorted(params ^ used))}")
    if head["scope"] == "user" and not _USER.search(code):
        raise bad(f"query '{head['name']}' does not reach {{tenant_id: $tenant_id, user_id: $user_id}}")
    if head["scope"] == "tenant" and "tenant_id" not in used:
        raise bad(f"query '{head['name']}' does not reach $tenant_id")
    mode, reach = cast(Mode, head["mode"]), cast(Reach, head["scope"])
    sent = _MAPPED.sub(r"$in.\1", _uncommented(text).rstrip().rstrip(";"))
    return Query(head["name"], mode, reach, params, head["purpose"], f"{_OPTIONS}{sent.rstrip()}\n", file, line)


def _params(text: str, bad: Callable[[str], QueryFileError]) -> frozenset[str]:
    if text == "none":
        return frozenset()
    found = set()
    for item in text.split(","):
        match = _PARAM.fullmatch(item.strip())
        if match is None or match[2] not in _TYPES:
            raise bad(f"'{item.strip()}' is no parameter: name TYPE, with TYPE one of {', '.join(sorted(_TYPES))}")
        found.add(match[1])
    return frozenset(found)


def _stripped(text: str) -> str:
    """The statement without comments and string contents, for checks only."""
    lines = [re.sub(r"//.*", "", re.sub(r"'(?:[^'\\]|\\.)*'", "''", line)) for line in text.splitlines()]
    return "\n".join(lines).strip()


def statements(text: str) -> list[str]:
    """The statements of a schema file: split at ';', comments dropped."""
    return [part.strip() for part in _uncommented(text).split(";") if part.strip()]


def _uncommented(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("//"))
