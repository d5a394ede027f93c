"""How commands print: data on stdout as a table, JSON or JSON lines; talk and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import Annotated, TypeVar

import typer

T = TypeVar("T")


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How data is printed on stdout.")]


def say(text: str = "") -> None:
    """Talk: to stderr, so that stdout holds data only."""
    typer.echo(text, err=True)


def short(at: datetime | None) -> str:
    """For tables: minutes, UTC."""
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def plain(value: object) -> object:
    """Any answer of the façade as JSON values; times as RFC 3339 in UTC."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def emit(output: Output, whole: object, rows: Sequence[T], columns: Sequence[str], cells: Callable[[T], Sequence[str]]) -> None:
    """Print data: the whole answer as one JSON document, its rows as JSON lines, or its rows as a table."""
    import json

    if output is Output.JSON:
        typer.echo(json.dumps(plain(whole), ensure_ascii=False, indent=2))
    elif output is Output.JSONL:
        for row in rows:
            typer.echo(json.dumps(plain(row), ensure_ascii=False))
    else:
        table(columns, [cells(row) for row in rows])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; where stdout is no terminal it is as wide as it needs to be, so that ids stay whole."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    made = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        made.add_row(*(_safe(cell) for cell in row))
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 400, soft_wrap=False)
    console.print(made)


def _safe(cell: str) -> str:
    """Stored text may hold line breaks and terminal controls: neither reaches the terminal."""
    return "".join(c if c.isprintable() else " " for c in cell)


@contextmanager
def downloading(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr that appears only when something is fetched."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=False)
    task = bar.add_task(f"Fetching {what} (once)", total=None, start=False, visible=False)

    def progress(done: int, total: int) -> None:
        if not bar.live.is_started:
            bar.start()
            bar.start_task(task)
        bar.update(task, completed=done, total=total, visible=True)

    try:
        yield progress
    finally:
        if bar.live.is_started:
            bar.stop()
