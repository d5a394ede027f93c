"""How a memory looks in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import short

if TYPE_CHECKING:
    from graphmem.answers import Memory
    from graphmem.memory import Text2

MEMORY_COLUMNS = ("key", "value", "of", "status", "v", "from", "to", "standing", "mid")

MidArgument = Annotated[str, typer.Argument(help="Id of the memory, as list shows it.")]


def what(memory: Memory) -> str:
    """A memory on one line: key, of whom, value; ≠ is a denial or a dislike, — an end."""
    of = "" if memory.subject == "self" else f" ({memory.subject})"
    return f"{memory.key}{of}: {_value(memory)}"


def memory_cells(m: Memory) -> tuple[str, ...]:
    """The cells of MEMORY_COLUMNS."""
    version = "" if m.version is None else str(m.version)
    return (m.key, _value(m), m.subject, m.status.value, version, short(m.valid_from), short(m.valid_to), m.standing.value, m.mid)


def both(text: Text2) -> str:
    """A text in both languages."""
    return f"{text.zh} / {text.en}"


def _value(m: Memory) -> str:
    return f"{'≠ ' if m.polarity == '-' else ''}{m.value if m.value is not None else '—'}"
