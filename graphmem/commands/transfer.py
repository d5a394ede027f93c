"""Commands that move many memories at once: import, export."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import DEFAULT_TENANT, Exit, Out, TenantOption, command, graphmem, say
from graphmem.errors import InvalidInputError

if TYPE_CHECKING:
    from graphmem.bulk import Imported

ImportFormat = Literal["auto", "jsonl", "csv", "mem0", "mcp-memory", "graphmem", "cypher"]
ExportFormat = Literal["jsonl", "csv", "cypher", "neo4j-admin"]

EVERY_S = 1.0
"""Seconds between two lines of progress."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "import")(import_)
    command(app, "export")(export)
    command(app, "adopt")(adopt)


def import_(
    file: Annotated[
        Path, typer.Argument(help="CSV, JSON lines, a mem0 export, an MCP memory file, a graphmem export, or a Cypher script.")
    ],
    tenant: TenantOption = DEFAULT_TENANT,
    form: Annotated[ImportFormat, typer.Option("--format", help="What the file is (default: told by its beginning).")] = "auto",
    mapped: Annotated[list[str] | None, typer.Option("--map", help="COLUMN=FIELD; may be given more than once.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Whose rows without a user_id are.")] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of times without an offset (default: GRAPHMEM_ZONE).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Where the file has no mark and is not UTF-8: gb18030, utf-16 …")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row; write nothing but the rejects.")] = False,
    rejects: Annotated[Path | None, typer.Option(help="Write rows that are not imported there, with line, column and reason.")] = None,
    *,
    out: Out,
) -> None:
    """Import statements of many users. Killed or failed, the same command goes on where it was: no row is stored twice.

    Exit code 3 when rows were rejected; the others are imported.
    """
    from graphmem.bulk import ImportAsk

    ask = ImportAsk(file, form, tuple(mapped or ()), encoding, user, zone, dry_run, rejects)
    with graphmem(project=not dry_run) as g:
        done = g.import_file(tenant, ask, teller())
    rows = _counts(done)
    out(done, rows, ("what", "rows"), lambda row: (str(row["what"]), str(row["rows"])))
    if done.metadata_columns:
        say(f"kept as metadata: {', '.join(done.metadata_columns)}")
    say(f"{done.rows} rows of {done.users} users in {done.seconds:.1f} s{', nothing written (dry run)' if dry_run else ''}")
    if done.rejected:
        where = f"see {done.rejects}" if done.rejects else "name a file with --rejects to see them"
        say(f"{done.rejected} rows were rejected: {where}")
        raise typer.Exit(Exit.CHECK_FAILED)


def adopt(
    tenant: TenantOption = DEFAULT_TENANT,
    user: Annotated[str | None, typer.Option("--user", help="Whose the memories without a user are.")] = None,
    arity: Annotated[list[str] | None, typer.Option("--arity", help="KEY=one, many or pole, for a key outside the ontology.")] = None,
    choose: Annotated[list[str] | None, typer.Option("--choose", help="Element that counts where several claim one place.")] = None,
    zone: Annotated[str, typer.Option(help="Time zone of times without an offset.")] = "UTC",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Remove what cannot be adopted; keep it in the file of --rejects.")] = False,
    rejects: Annotated[Path | None, typer.Option(help="Where rejected ones are kept, as rows that `graphmem import` reads.")] = None,
    *,
    out: Out,
) -> None:
    """Make memories of what was written into the graph past the service, by the judge's rules: id, slot, version and times are filled in.

    What cannot be known is listed with its reason and the option that settles it. Exit code 3 when something is still to be settled.
    """
    from graphmem.strays import AdoptAsk, arities

    if reject and rejects is None and not dry_run:
        raise InvalidInputError("what is rejected is gone from the graph", field="rejects", hint="name a file with --rejects to keep it.")
    ask = AdoptAsk(user, arities(arity or ()), frozenset(choose or ()), zone, dry_run, reject, rejects)
    with graphmem(project=not dry_run) as g:
        done = g.adopt(tenant, ask, teller())
    columns = ("element", "user", "key", "value", "reason", "settle with")
    out(done, done.questions, columns, lambda q: (q.ref, q.user or "", q.key, q.value[:60], q.reason, q.option))
    told = ", ".join(f"{count} {verdict}" for verdict, count in done.verdicts.items())
    say(
        f"{done.found} found"
        + (f", {done.ready} can be adopted" if dry_run else f", {sum(done.verdicts.values())} adopted ({told or '-'})")
    )
    if done.rejected:
        say(f"{done.rejected} rejected: see {done.rejects}")
    if done.asked:
        say(f"{done.asked} are still to be settled")
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
    to: Annotated[Path | None, typer.Option("--to", help="A file (default: stdout); of neo4j-admin a new folder.")] = None,
) -> None:
    """Write a tenant or a user as JSON lines, CSV, a Cypher script, or CSV files for `neo4j-admin database import`."""
    from graphmem.adminfiles import ARGUMENTS

    if form == "neo4j-admin" and to is None:
        raise InvalidInputError("these are several files", field="to", hint="name a new folder with --to.")
    with graphmem() as g:
        if form == "neo4j-admin" and to is not None:
            files = g.export_files(tenant, to, user)
            say(f"written: {to} ({', '.join(f'{rows} {name}' for name, rows in files.items())})")
            say(f"in that folder: neo4j-admin database import full neo4j @{ARGUMENTS}; then graphmem migrate apply and graphmem reindex")
            return
        pieces = g.export(tenant, form, user, versions=versions)
        if to is None:
            for piece in pieces:
                sys.stdout.write(piece)
            return
        with to.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(pieces)
    say(f"written: {to}")
