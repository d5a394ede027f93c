"""How a memory looks in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.commands.frame import Out, say, short

if TYPE_CHECKING:
    from graphmem.answers import Latest, Memory, Page
    from graphmem.memory import Text2

MEMORY_COLUMNS = ("key", "value", "of", "status", "v", "from", "to", "standing", "mid")
BECAME = ("became", "what", "why", "mid")
"""Columns of what became of a statement."""


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


def listed(found: Page | Latest, out: Out) -> None:
    """What is told, then what waits."""
    out(found, (*found.items, *found.pending), MEMORY_COLUMNS, memory_cells)


def named(memory: Memory | None) -> tuple[str, str]:
    """The line and the mid of a memory, both empty where there is none."""
    return ("", "") if memory is None else (what(memory), memory.mid)


def degraded(parts: Sequence[str]) -> None:
    """Says what did not answer, if anything."""
    if parts:
        say(f"degraded: {', '.join(parts)}")


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
