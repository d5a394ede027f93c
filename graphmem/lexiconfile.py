"""The rows of one lexicon pack: TSV, CSV or the `concepts` of a YAML pack. Shape only; who owns a name is the lexicon's business.

TSV and CSV: a header row names the columns, `id zh en` and optionally `aliases tags was`; lists are separated by `|`.
Lines that start with `#` are comments; `# type: drug` says the type of the ids that follow, which is then checked.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphmem.packfile import YAML_SUFFIXES, Entry, fail, read_text, read_yaml

REQUIRED = ("id", "zh", "en")
OPTIONAL = ("aliases", "tags", "was")
COLUMNS = REQUIRED + OPTIONAL

_ID = re.compile(r"([a-z][a-z0-9_]{0,30}):[a-z0-9][a-z0-9_]{0,60}")
_TAG = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Row:
    """One concept as one pack says it. `zh` or `en` may be empty, both only where the concept exists already."""

    file: str
    line: int
    cid: str
    zh: str
    en: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    was: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        return self.cid.partition(":")[0]


def rows(path: Path) -> Iterator[Row]:
    """Every concept of the pack, checked. A YAML pack without `concepts` has none. PackError on any mistake."""
    if path.suffix.lower() in YAML_SUFFIXES:
        section = read_yaml(path).get("concepts")
        for entry in section.items() if section else ():
            yield _from_yaml(entry)
    else:
        yield from _from_table(path)


def _from_yaml(entry: Entry) -> Row:
    got = entry.fields(COLUMNS, required=("id",))
    lists = {name: got[name].texts() if name in got else () for name in OPTIONAL}
    names = {name: got[name].text() if name in got else "" for name in REQUIRED}
    return _checked(Row(entry.file, entry.line, names["id"], names["zh"], names["en"], **lists))


def _from_table(path: Path) -> Iterator[Row]:
    text, file = read_text(path), str(path)
    tabs = path.suffix.lower() == ".tsv"
    header: list[str] = []
    type_ = ""
    seen = False
    for line, cells in _cells(file, text, tabs):
        if not any(cells):
            continue
        if cells[0].startswith("#"):
            name, _, value = cells[0][1:].partition(":")
            type_ = value.strip() if name.strip() == "type" else type_
        elif not header:
            header = _header(file, line, cells)
        else:
            row = _row(file, line, header, cells)
            if type_ and row.type != type_:
                raise fail(file, line, f"{row.cid!r} stands under '# type: {type_}'; its id must start with '{type_}:'")
            seen = True
            yield row
    if not seen:
        raise fail(file, 1, "the pack holds no concept", hint=f"a header row ({', '.join(COLUMNS)}) and a row a concept")


def _cells(file: str, text: str, tabs: bool) -> Iterator[tuple[int, list[str]]]:
    if tabs:
        for line, written in enumerate(text.split("\n"), 1):
            yield line, [cell.strip() for cell in written.split("\t")]
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise fail(file, reader.line_num, f"this is not CSV: {error}") from error


def _header(file: str, line: int, cells: list[str]) -> list[str]:
    said = f"columns: {', '.join(REQUIRED)} and optionally {', '.join(OPTIONAL)}"
    unknown = [cell for cell in cells if cell not in COLUMNS]
    if unknown:
        raise fail(file, line, f"unknown column {unknown[0]!r}; {said}", hint="the first row that is no comment names the columns")
    missing = [name for name in REQUIRED if name not in cells]
    if missing:
        raise fail(file, line, f"the column {missing[0]!r} is missing; {said}")
    if len(set(cells)) < len(cells):
        raise fail(file, line, f"a column stands twice; {said}")
    return cells


def _row(file: str, line: int, header: list[str], cells: list[str]) -> Row:
    least = max(header.index(name) for name in REQUIRED) + 1
    if not least <= len(cells) <= len(header):
        raise fail(file, line, f"the row has {len(cells)} columns; the header names {len(header)}: {', '.join(header)}")
    got = dict(zip(header, cells, strict=False))
    lists = {name: tuple(part.strip() for part in got.get(name, "").split("|") if part.strip()) for name in OPTIONAL}
    return _checked(Row(file, line, got["id"], got["zh"], got["en"], **lists))


def _checked(row: Row) -> Row:
    for cid in (row.cid, *row.was):
        if not _ID.fullmatch(cid):
            raise fail(row.file, row.line, f"the concept id {cid!r} must look like drug:penicillin (type:name of a-z, 0-9 and '_')")
    bad = [tag for tag in row.tags if not _TAG.fullmatch(tag)]
    if bad:
        raise fail(row.file, row.line, f"the tag {bad[0]!r} must be a-z, 0-9 and '_'")
    return row
