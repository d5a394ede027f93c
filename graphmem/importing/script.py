"""A file of Cypher statements, cut where the language cuts them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.errors import InvalidInputError

_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/|;", re.S)
_PARAM = re.compile(r":params?\s+(\w+)\s*(?:=>|:)\s*(.+)", re.S)
_AUTO = re.compile(r":auto\s+", re.I)
_BATCHED = re.compile(r"\bIN\s+(?:\S+\s+CONCURRENT\s+)?TRANSACTIONS\b", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. line: where it begins. param: the name a `:param` line gives to the value of `text`. batched: it commits by itself."""

    text: str
    line: int
    param: str | None = None
    batched: bool = False


def statements(text: str) -> list[Statement]:
    """The statements of a script in order; `:param name => value` ones give a value, `:auto` is left out, comments go.

    InvalidInputError for another command of a shell, with its line.
    """
    return [_made(body, line) for body, line in _pieces(text)]


def _made(body: str, line: int) -> Statement:
    body = _AUTO.sub("", body, count=1) if body.lower().startswith(":auto") else body
    if (given := _PARAM.fullmatch(body)) is not None:
        return Statement(f"RETURN {given[2].strip()} AS value", line, given[1])
    if body.startswith(":"):
        command = body.split()[0]
        raise InvalidInputError(f"line {line}: '{command}' is a command of a shell and no Cypher", field="file", code="bad_script")
    return Statement(body, line, batched=_BATCHED.search(_TOKEN.sub("''", body)) is not None)


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Statements without their comments, each with the line of its first word; a `:param` line may end without a semicolon."""
    text = re.sub(r"(?m)^(:params?\b[^\n;]*[^\n;\s])[ \t]*$", r"\1;", text)
    piece, start, line = "", 0, 0

    def note(part: str, at: int) -> None:
        nonlocal piece, line
        if not piece.strip() and part.strip():
            line = text.count("\n", 0, at + len(part) - len(part.lstrip())) + 1
        piece += part

    for token in _TOKEN.finditer(text):
        note(text[start : token.start()], start)
        start = token.end()
        if token[0] == ";":
            if piece.strip():
                yield piece.strip(), line
            piece = ""
        elif token[0].startswith(("//", "/*")):
            piece += " "
        else:
            note(token[0], token.start())
    note(text[start:], start)
    if piece.strip():
        yield piece.strip(), line
