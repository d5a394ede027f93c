"""Commands over the ends of life: retract, undelete, sweep, archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import DEFAULT_TENANT, Out, TenantOption, Who, command, graphmem, say, short
from graphmem.commands.options import KeyOption, MidArgument, OnlyTenant
from graphmem.commands.rows import shown

if TYPE_CHECKING:
    from graphmem.archive import Segment

SEGMENT_COLUMNS = ("segment", "user", "rows", "slots", "first", "last", "bytes", "state", "sha256")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "retract")(retract)
    command(app, "undelete")(undelete)
    command(app, "sweep")(sweep)
    archive = typer.Typer(help="Old preferences and contexts: out of the graph into encrypted files, and back.", no_args_is_help=True)
    command(archive, "run")(archive_run)
    command(archive, "list")(archive_list)
    command(archive, "restore")(archive_restore)
    app.add_typer(archive, name="archive")


def retract(mid: MidArgument, who: Who, op: KeyOption = None, *, out: Out) -> None:
    """It was never so: the value before it counts again."""
    with graphmem(project=True) as g:
        memory = g.retract(who.scope, mid, key=op)
    shown(memory, out)


def undelete(mid: MidArgument, who: Who, op: KeyOption = None, *, out: Out) -> None:
    """Bring a forgotten memory back, within 72 hours."""
    with graphmem(project=True) as g:
        memory = g.undelete(who.scope, mid, key=op)
    shown(memory, out)


def sweep(tenant: OnlyTenant = None, *, out: Out) -> None:
    """Promote plans that are due, let go of what lapsed, purge what was forgotten 72 hours ago. Answers never depend on it."""
    with graphmem(project=True) as g:
        done = g.sweep(tenant, lambda count: say(f"{count} done"))
    row = (str(done.slots), str(done.pendings), str(done.purged))
    out(done, [done], ("slots tidied", "pending ended", "slots purged"), lambda _: row)


def archive_run(tenant: TenantOption = DEFAULT_TENANT, *, out: Out) -> None:
    """Move what is old enough into encrypted files; facts never. Interrupted, it loses nothing and goes on at the next run."""
    with graphmem() as g:
        done = g.archive_run(tenant, lambda rows: say(f"{rows} rows"))
    out(done, done.segments, SEGMENT_COLUMNS, _segment_cells)
    say(f"{done.rows} rows of {done.users} users were moved")


def archive_list(tenant: TenantOption = DEFAULT_TENANT, *, out: Out) -> None:
    """What lies in the archive, oldest first; users by pseudonym."""
    with graphmem() as g:
        found = g.archive_list(tenant)
    out(found, found, SEGMENT_COLUMNS, _segment_cells)


def archive_restore(
    segment: Annotated[str | None, typer.Argument(help="One segment, with its user's newer ones (default: all).")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    *,
    out: Out,
) -> None:
    """Bring archived rows back into the graph, exactly as they were."""
    with graphmem() as g:
        rows = g.archive_restore(tenant, segment)
    say(f"{rows} rows are back")
    out.facts(rows=rows)


def _segment_cells(s: Segment) -> tuple[str, ...]:
    return (s.id, s.user, str(s.rows), str(s.slots), short(s.first), short(s.last), str(s.bytes), s.state, s.sha256)
