"""How the demo is printed: chapters in both languages, tables, and what was expected and did not come. The story goes to stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from graphmem.answers import Memory


@dataclass
class Page:
    """The terminal, and the expectations that were not met so far."""

    out: Console = field(default_factory=lambda: Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140))
    talk: Console = field(default_factory=lambda: Console(stderr=True))
    broken: list[str] = field(default_factory=list)
    chapters: int = 0

    def chapter(self, zh: str, en: str) -> None:
        self.chapters += 1
        self.out.print()
        self.out.rule(f"{self.chapters}  {en} · {zh}", align="left", characters="─")

    def say(self, text: str) -> None:
        self.out.print(f"  {text}")

    def quote(self, who: str, text: str) -> None:
        """Somebody speaks."""
        self.out.print(f"  {who}: “{text}”", style="cyan")

    def rows(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            table.add_row(*row)
        self.out.print(table)

    def block(self, text: str) -> None:
        """What the agent would get, word for word."""
        for line in text.splitlines():
            self.out.print(f"    {line}", style="dim")

    def expect(self, promise: str, held: bool) -> None:
        """A promise of the story: a tick, or a cross that fails the demo."""
        self.out.print(f"  {'✓' if held else '✗'} {promise}", style="green" if held else "bold red")
        if not held:
            self.broken.append(promise)

    def progress(self) -> Progress:
        columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        return Progress(*columns, console=self.talk, transient=True)


def told(memories: Iterable[Memory]) -> str:
    """A few memories on one line."""
    return "; ".join(f"{m.label.en} {'≠' if m.polarity == '-' else '='} {m.value}" for m in memories) or "nothing"


def values(memories: Iterable[Memory]) -> set[str]:
    return {m.value for m in memories if m.value is not None}
