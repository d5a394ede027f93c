"""Commands that move many memories at once: import, export."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import DEFAULT_TENANT, Exit, Output, OutputOption, TenantOption, command, emit, graphmem, say

if TYPE_CHECKING:
    from graphmem.bulk import Imported

ImportFormat = Literal["auto", "jsonl", "csv", "mem0", "mcp-memory", "graphmem"]
ExportFormat = Literal["jsonl", "csv", "cypher"]

EVERY_S = 1.0
"""Seconds between two lines of progress."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "import")(import_)
    command(app, "export")(export)


def import_(
    file: Annotated[Path, typer.Argument(help="CSV, JSON lines, a mem0 export, an MCP memory file, or a graphmem export.")],
    tenant: TenantOption = DEFAULT_TENANT,
    form: Annotated[ImportFormat, typer.Option("--format", help="What the file is (default: told by its beginning).")] = "auto",
    mapped: Annotated[list[str] | None, typer.Option("--map", help="COLUMN=FIELD; may be given more than once.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Whose rows without a user_id are.")] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of times without an offset (default: GRAPHMEM_ZONE).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Where the file has no mark and is not UTF-8: gb18030, utf-16 …")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row; write nothing but the rejects.")] = False,
    rejects: Annotated[Path | None, typer.Option(help="Write rows that are not imported there, with line, column and reason.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Import statements of many users. Killed or failed, the same command goes on where it was: no row is stored twice.

    Exit code 3 when rows were rejected; the others are imported.
    """
    from graphmem.bulk import ImportAsk

    ask = ImportAsk(file, form, tuple(mapped or ()), encoding, user, zone, dry_run, rejects)
    with graphmem(project=not dry_run) as g:
        done = g.import_file(tenant, ask, teller())
    rows = _counts(done)
    emit(output, done, rows, ("what", "rows"), lambda row: (str(row["what"]), str(row["rows"])))
    if done.metadata_columns:
        say(f"kept as metadata: {', '.join(done.metadata_columns)}")
    say(f"{done.rows} rows of {done.users} users in {done.seconds:.1f} s{', nothing written (dry run)' if dry_run else ''}")
    if done.rejected:
        where = f"see {done.rejects}" if done.rejects else "name a file with --rejects to see them"
        say(f"{done.rejected} rows were rejected: {where}")
        raise typer.Exit(Exit.CHECK_FAILED)


def _counts(done: Imported) -> list[dict[str, object]]:
    named = [(name, count) for name, count in done.verdicts.items()]
    named += [("of them imported before", done.replayed)] if done.replayed else []
    return [{"what": name, "rows": count} for name, count in [*named, ("rejected", done.rejected)]]


def teller(clock: Callable[[], float] = time.monotonic) -> Callable[[str, int, int, float], None]:
    """Progress on stderr at most once a second: rows, rate and, once the number of rows is known, the time to go."""
    last = [clock()]

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        if clock() - last[0] < EVERY_S and not (total and done >= total):
            return
        last[0] = clock()
        say(line(stage, done, total, seconds))

    return progress


def line(stage: str, done: int, total: int, seconds: float) -> str:
    """One line of progress."""
    rate = done / seconds if seconds > 0 else 0.0
    if not total:
        return f"{stage}: {done} rows, {rate:.0f} a second"
    left = (total - done) / rate if rate else 0.0
    return f"{stage}: {done} of {total} rows, {rate:.0f} a second, {left:.0f} s to go"


def export(
    tenant: TenantOption = DEFAULT_TENANT,
    user: Annotated[str | None, typer.Option("--user", help="Only this user (default: all of the tenant).")] = None,
    form: Annotated[ExportFormat, typer.Option("--format", help="jsonl comes back exactly by `graphmem import`.")] = "jsonl",
    versions: Annotated[bool, typer.Option("--versions", help="csv: every version, not only what is told now.")] = False,
    to: Annotated[Path | None, typer.Option("--to", help="A file (default: stdout).")] = None,
) -> None:
    """Write a tenant or a user as JSON lines, CSV or a Cypher script."""
    with graphmem() as g:
        pieces = g.export(tenant, form, user, versions=versions)
        if to is None:
            for piece in pieces:
                sys.stdout.write(piece)
            return
        with to.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(pieces)
    say(f"written: {to}")
