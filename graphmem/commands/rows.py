"""How a memory looks in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import Out, short

if TYPE_CHECKING:
    from graphmem.answers import Memory
    from graphmem.memory import Text2

MEMORY_COLUMNS = ("key", "value", "of", "status", "v", "from", "to", "standing", "mid")
BECAME = ("became", "what", "why", "mid")
"""Columns of what became of a statement."""

MidArgument = Annotated[str, typer.Argument(help="Id of the memory, as list shows it.")]
KeyOption = Annotated[str | None, typer.Option("--key", help="Idempotency key: the same request again stores nothing twice.")]
ProvedOption = Annotated[bool, typer.Option("--proved", help="The user has just shown you who they are.")]


def what(memory: Memory) -> str:
    """A memory on one line: key, of whom, value; ≠ is a denial or a dislike, — an end."""
    of = "" if memory.subject == "self" else f" ({memory.subject})"
    return f"{memory.key}{of}: {_value(memory)}"


def memory_cells(m: Memory) -> tuple[str, ...]:
    """The cells of MEMORY_COLUMNS."""
    version = "" if m.version is None else str(m.version)
    return (m.key, _value(m), m.subject, m.status.value, version, short(m.valid_from), short(m.valid_to), m.standing.value, m.mid)


def shown(memory: Memory, out: Out) -> None:
    """One memory as the whole answer."""
    out(memory, [memory], MEMORY_COLUMNS, memory_cells)


def became(word: str, said: str, why: str, mid: str = "") -> dict[str, str]:
    """A row of BECAME."""
    return dict(zip(BECAME, (word, said, why, mid), strict=True))


def cells(row: dict[str, str]) -> tuple[str, ...]:
    """The cells of BECAME."""
    return tuple(row.values())


def both(text: Text2) -> str:
    """A text in both languages."""
    return f"{text.zh} / {text.en}"


def _value(m: Memory) -> str:
    return f"{'≠ ' if m.polarity == '-' else ''}{m.value if m.value is not None else '—'}"
