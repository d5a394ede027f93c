"""Files → rows: one mapping of fields a row, with its line. A row that cannot be read is a row with its fault, never the file's end."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.importing.columns import NOTE, Mapped, folded, header, names
from graphmem.importing.files import Opened

DELIMITERS = ",;\t|"

TEXT_MAX = 1 << 20
"""Characters of one cell; a value may hold 10,000, more is refused row by row."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A row as it was written. number counts rows from 1; line is where it begins; original is what a rejects file repeats."""

    number: int
    line: int
    fields: Mapping[str, object]
    original: Mapping[str, object] = field(default_factory=dict)
    fault: str | None = None
    column: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """How a file is to be read: `mapped` is the caller's --map."""

    file: Opened
    mapped: Mapping[str, str] = field(default_factory=dict)


def rows(source: Source) -> Iterator[Raw]:
    """The rows of a file, in order. InvalidInputError before the first one where the header cannot be right."""
    if source.file.format == "csv":
        return csv_rows(source)
    if source.file.format == "jsonl":
        return json_lines(source)
    if source.file.format == "mem0":
        return mem0_rows(source)
    return mcp_rows(source)


# --- CSV


def columns_of(source: Source) -> tuple[list[str], Mapped]:
    """The header as it was written and what each column fills."""
    with source.file.path.open(encoding=source.file.encoding, newline="") as stream:
        delimiter, skip = _delimiter(stream.readline())
        stream.seek(0)
        reader = csv.reader(stream, delimiter=delimiter)
        for _ in range(skip):
            next(reader, None)
        first = next(reader, None)
    if not first:
        raise InvalidInputError("the file has no header line", field="file", hint="the first line names the columns: user_id,key,value,at")
    columns = [c.lstrip("\ufeff") for c in first]
    return columns, header(columns, source.mapped)


def csv_rows(source: Source) -> Iterator[Raw]:
    """Rows of a CSV file; blank lines are no rows. Cells are kept exactly, line breaks and quotes included."""
    columns, mapped = columns_of(source)
    csv.field_size_limit(TEXT_MAX)
    with source.file.path.open(encoding=source.file.encoding, newline="") as stream:
        delimiter, skip = _delimiter(stream.readline())
        stream.seek(0)
        reader = csv.reader(stream, delimiter=delimiter)
        for _ in range(skip + 1):
            next(reader, None)
        number = 0
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                number += 1
                yield Raw(number, line, {}, {}, f"this is no CSV ({fault})")
                continue
            if any(cells):
                number += 1
                yield _csv_row(number, line, cells, columns, mapped)


def _csv_row(number: int, line: int, cells: list[str], columns: list[str], mapped: Mapped) -> Raw:
    original = dict(zip(columns, cells, strict=False))
    if len(cells) != len(columns):
        return Raw(number, line, {}, original, f"the row has {len(cells)} cells, the header {len(columns)} columns")
    fields: dict[str, object] = {}
    extra: dict[str, object] = {}
    for target, cell in zip(mapped.targets, cells, strict=True):
        if target.startswith("+"):
            extra |= {target[1:]: cell} if cell else {}
        elif target and cell:
            fields[target] = cell
    return Raw(number, line, {**fields, "extra": extra} if extra else fields, original)


def _delimiter(first: str) -> tuple[str, int]:
    """The delimiter of a header line, and how many lines stand before the header: spreadsheets may begin with `sep=;`."""
    first = first.lstrip("\ufeff")
    if first.lower().startswith("sep=") and len(first.rstrip("\r\n")) == 5:
        return first[4], 1
    bare, quoted = "", False
    for c in first:
        quoted = quoted ^ (c == '"')
        bare += "" if quoted else c
    return max(DELIMITERS, key=bare.count), 0


# --- JSON


def json_lines(source: Source) -> Iterator[Raw]:
    """One object a line; blank lines are no rows."""
    number, reader = 0, _Reader()
    with source.file.path.open(encoding=source.file.encoding) as stream:
        for line, text in enumerate(stream, 1):
            text = text.lstrip("\ufeff").strip()
            if text:
                number += 1
                yield _json_row(number, line, text, source.mapped, reader)


class _Reader:
    """Reads JSON texts one after the other; `twice`: names that stand twice in an object of the last one."""

    def __init__(self) -> None:
        self.twice: list[str] = []
        self._decoder = json.JSONDecoder(object_pairs_hook=self._paired)

    def read(self, text: str) -> Any:
        self.twice.clear()
        return self._decoder.decode(text)

    def _paired(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            named = [name for name, _ in pairs]
            self.twice.extend(name for i, name in enumerate(named) if name in named[:i])
        return made


def _json_row(number: int, line: int, text: str, given: Mapping[str, str], reader: _Reader) -> Raw:
    try:
        found = reader.read(text)
    except (ValueError, RecursionError) as fault:
        return Raw(number, line, {}, {"_raw": text}, f"this is no JSON ({fault})")
    if not isinstance(found, dict):
        return Raw(number, line, {}, {"_raw": text}, "a line holds one JSON object")
    if twice := reader.twice:
        return Raw(number, line, {}, {"_raw": text}, f"the name '{twice[0]}' stands twice", twice[0])
    return object_row(number, line, found, given)


def object_row(number: int, line: int, found: Mapping[str, object], given: Mapping[str, str]) -> Raw:
    """The row of an object, its names taken like column names."""
    fields: dict[str, object] = {}
    extra: dict[str, object] = {}
    chosen = set(given.values())
    for name, value in found.items():
        fold = folded(name)
        target = given.get(fold) or names().get(fold)
        if fold.startswith(NOTE) or value is None:
            continue
        if target is None or (fold not in given and target in chosen):
            extra[name] = value
        elif target in fields:
            return Raw(number, line, {}, found, f"two names mean {target}, one of them is '{name}'", name)
        else:
            fields[target] = value
    return Raw(number, line, {**fields, "extra": extra} if extra else fields, found)


def _document(source: Source) -> Any:
    """A whole JSON document; JSON lines come as a list."""
    text = source.file.path.read_text(encoding=source.file.encoding).lstrip("\ufeff")
    try:
        return json.loads(text)
    except ValueError as whole:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise InvalidInputError(f"this is no JSON ({whole})", field="file", code="bad_json") from whole


def mem0_rows(source: Source) -> Iterator[Raw]:
    """A mem0 export: each memory is a note of its user, said when it was made or last changed."""
    found = _document(source)
    if isinstance(found, dict):
        found = found.get("results", found.get("memories"))
    if not isinstance(found, list):
        raise InvalidInputError("a mem0 export is a list of memories, or an object with `results`", field="file")
    for number, item in enumerate(found, 1):
        if not isinstance(item, dict):
            yield Raw(number, number, {}, {"_raw": json.dumps(item, ensure_ascii=False)}, "a memory is an object")
            continue
        text = item.get("memory") or item.get("data") or item.get("text")
        rest = {k: v for k, v in item.items() if k in ("hash", "categories", "agent_id", "run_id", "app_id", "created_at") and v}
        meta = item.get("metadata")
        fields: dict[str, object] = {
            "user_id": item.get("user_id"),
            "key": "note",
            "kind": "fact",
            "arity": "many",
            "value": text,
            "id": item.get("id"),
            "said_at": item.get("updated_at") or item.get("created_at"),
            "extra": {**rest, **(meta if isinstance(meta, dict) else {})},
        }
        yield Raw(number, number, {k: v for k, v in fields.items() if v}, item)


def mcp_rows(source: Source) -> Iterator[Raw]:
    """The file of an MCP memory server: observations are notes about their entity, relations are keys of their own."""
    found = _document(source)
    if isinstance(found, dict):
        lines = [{**e, "type": "entity"} for e in found.get("entities", ())] + [
            {**r, "type": "relation"} for r in found.get("relations", ())
        ]
    else:
        lines = found if isinstance(found, list) else []
    kinds = {e.get("name"): e.get("entityType") for e in lines if isinstance(e, dict) and e.get("type") == "entity"}
    number = 0
    for line, item in enumerate(lines, 1):
        for fields in _mcp_fields(item, kinds) if isinstance(item, dict) else [{}]:
            number += 1
            fault = None if fields else "neither an entity nor a relation"
            yield Raw(number, line, fields, item if isinstance(item, dict) else {"_raw": str(item)}, fault)


def _mcp_fields(item: Mapping[str, Any], kinds: Mapping[object, object]) -> list[dict[str, object]]:
    if item.get("type") == "entity":
        about = _mcp_subject(item.get("name"), kinds)
        held = item.get("observations") or []
        return [{"key": "observation", "kind": "fact", "arity": "many", "subject": about, "value": o} for o in held]
    if item.get("type") == "relation":
        about = _mcp_subject(item.get("from"), kinds)
        return [{"key": item.get("relationType"), "kind": "fact", "arity": "many", "subject": about, "value": item.get("to")}]
    return [{}]


def _mcp_subject(name: object, kinds: Mapping[object, object]) -> str:
    """`type:name`, as in `person:Ann`; the server's own name for its user is self."""
    if folded(str(name)) in ("user", "default_user", "self", "me"):
        return "self"
    return f"{kinds.get(name) or 'person'}:{name}"
