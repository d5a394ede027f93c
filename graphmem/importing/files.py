"""What a file is: its bytes' hash, its encoding, its format. Encodings are told by their mark or by the caller, never guessed."""

from __future__ import annotations

import codecs
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from graphmem.errors import InvalidInputError, NotFoundError

Format = Literal["jsonl", "csv", "mem0", "mcp-memory", "graphmem", "cypher"]
FORMATS: tuple[Format, ...] = get_args(Format)

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
"""Byte-order marks, the longer ones first."""

SCRIPTS = (".cypher", ".cyp", ".cql")
"""Names of files that hold statements."""

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read through once: every byte is a character of `encoding`. size in bytes."""

    path: Path
    format: Format
    encoding: str
    sha256: str
    size: int


def look(path: Path, form: str = "auto", encoding: str | None = None) -> Opened:
    """Hash a file, find its encoding and format. NotFoundError, or InvalidInputError with the place of the first bad byte."""
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}", hint="check the path.")
    with path.open("rb") as stream:
        head = stream.read(4)
    found = next((name for mark, name in MARKS if head.startswith(mark)), None)
    chosen = found or encoding or "utf-8"
    try:
        decoder = codecs.getincrementaldecoder(chosen)()
    except LookupError as fault:
        raise InvalidInputError(f"'{chosen}' is no encoding", field="encoding", hint="utf-8, utf-16, gb18030 …") from fault
    digest, size, start = hashlib.sha256(), 0, ""
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            start = _decoded(decoder, chunk, start, size, chosen)
            size += len(chunk)
    _decoded(decoder, b"", start, size, chosen, final=True)
    if form not in ("auto", *FORMATS):
        raise InvalidInputError(f"'{form}' is no format", field="format", hint=f"auto, {', '.join(FORMATS)}.")
    return Opened(path, _format(path, form, start.lstrip("\ufeff")), chosen, digest.hexdigest(), size)


def _decoded(decoder: codecs.IncrementalDecoder, chunk: bytes, start: str, size: int, name: str, *, final: bool = False) -> str:
    """Prove that a chunk is text; returns the beginning of the file, for telling its format."""
    try:
        text = decoder.decode(chunk, final)
    except UnicodeDecodeError as fault:
        place = size + fault.start
        hint = "name the right one: --encoding gb18030, utf-16, latin-1 …"
        raise InvalidInputError(f"byte {place} of the file is no {name}", field="encoding", code="bad_encoding", hint=hint) from fault
    return start if start else text[:65_536]


def _format(path: Path, form: str, start: str) -> Format:
    for known in FORMATS:
        if form == known:
            return known
    if path.suffix in SCRIPTS:
        return "cypher"
    body = start.lstrip()
    if not body.startswith(("{", "[")):
        return "csv"
    first = body.split("\n", 1)[0]
    try:
        line = json.loads(first)
    except ValueError:
        line = None
    if isinstance(line, dict) and line.get("graphmem") == "export":
        return "graphmem"
    if isinstance(line, dict) and line.get("type") in ("entity", "relation") and ("entityType" in line or "relationType" in line):
        return "mcp-memory"
    if isinstance(line, dict) and not {"entities", "relations", "results", "memories"} & line.keys():
        return "jsonl"
    if '"entities"' in start or '"relations"' in start:
        return "mcp-memory"
    if body.startswith("[") or '"results"' in start or '"memories"' in start:
        return "mem0"
    return "jsonl" if path.suffix in (".jsonl", ".ndjson") else "mem0"
