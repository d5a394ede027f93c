"""Commands that look after the stores: migrate, reindex, check, eval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    Exit,
    Out,
    Output,
    TenantOption,
    bring_up,
    command,
    graphmem,
    index_free,
    say,
    settings,
    table,
)
from graphmem.commands.options import OnlyTenant
from graphmem.errors import InvalidInputError, NotFoundError, UnavailableError

if TYPE_CHECKING:
    from graphmem.app import Graphmem, Migration
    from graphmem.check import Break
    from graphmem.evalfile import Suite
    from graphmem.evalreport import Report, Score

INDEX_HELD = "another graphmem process has the candidate index"
END_IT = "end it (a running `graphmem serve`), or set GRAPHMEM_QDRANT_URL so that several processes may share the index."


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    migrations = typer.Typer(help="The schema in the graph: what ran, what waits, and running it.", no_args_is_help=True)
    command(migrations, "status")(migrate_status)
    command(migrations, "plan")(migrate_plan)
    command(migrations, "apply")(migrate_apply)
    app.add_typer(migrations, name="migrate")
    command(app, "reindex")(reindex)
    command(app, "check")(check)
    command(app, "eval")(eval_)


# --- migrations


def migrate_status(out: Out) -> None:
    """Every migration with its state: applied, waiting, drifted, unknown. Exit code 3 unless all are applied."""
    found = _migrations()
    out(found, found, ("version", "name", "state"), _migration_cells)
    if any(m.state != "applied" for m in found):
        raise typer.Exit(Exit.CHECK_FAILED)


def migrate_plan(out: Out) -> None:
    """The statements that apply would run."""
    found = [m for m in _migrations() if m.state == "waiting"]
    rows = [{"version": m.version, "name": m.name, "statement": statement} for m in found for statement in m.statements]
    out(found, rows, ("version", "name", "statement"), lambda row: [str(value) for value in row.values()])
    if not rows:
        say("nothing waits")


def migrate_apply(out: Out) -> None:
    """Run what waits, in order."""
    from graphmem.app import migration_apply

    chosen = settings()
    if chosen.neo4j_uri is None:
        bring_up(chosen)
    ran = migration_apply(chosen, lambda m: say(f"ran V{m.version:04d} {m.name}"))
    done = {m.version for m in ran}
    found = [m for m in _migrations() if m.version in done]
    out(found, found, ("version", "name", "state"), _migration_cells)
    if not found:
        say("nothing waited")


def _migrations() -> list[Migration]:
    from graphmem.app import migration_status

    chosen = settings()
    if chosen.neo4j_uri is None:
        bring_up(chosen)
    return migration_status(chosen)


def _migration_cells(m: Migration) -> tuple[str, ...]:
    return (f"V{m.version:04d}", m.name, m.state)


# --- the index and the invariants


def _needs_index(g: Graphmem) -> None:
    """UnavailableError where another process has the candidate index."""
    if not index_free(g):
        raise UnavailableError(INDEX_HELD, store="index", hint=END_IT)


def reindex(tenant: TenantOption = DEFAULT_TENANT, *, out: Out) -> None:
    """Build a tenant's candidate index anew from the graph."""
    with graphmem(check_index=False) as g:
        _needs_index(g)
        total = g.reindex(tenant, lambda done, of: say(f"{done} of {of}"))
    say(f"{total} records of tenant {tenant} are in the index")
    out.facts(tenant=tenant, records=total)


def check(tenant: OnlyTenant = None, *, out: Out) -> None:
    """Prove the invariants of the graph and compare it with the index, both ways. Exit code 3 when something differs."""
    with graphmem() as g:
        _needs_index(g)
        g.drain()
        reports = g.check(tenant, lambda users: say(f"{users} users"))
    breaks = [found for report in reports for found in report.breaks]
    out(reports, breaks, ("tenant", "kind", "what", "detail"), _break_cells)
    counts = [sum(getattr(report, name) for report in reports) for name in ("memories", "points", "users", "waiting")]
    say("{} memories, {} points, {} users, {} waiting to be projected".format(*counts) + (": all is well" if not breaks else ""))
    if breaks:
        raise typer.Exit(Exit.CHECK_FAILED)


def _break_cells(found: Break) -> tuple[str, ...]:
    return (found.tenant, found.kind, found.ref, found.detail)


# --- evaluation


def eval_(
    file: Annotated[Path, typer.Argument(help="JSON lines, or a folder of such files.")],
    predictions: Annotated[Path | None, typer.Option("--predictions", help="Write what was answered, as JSON lines.")] = None,
    misses: Annotated[int, typer.Option("--misses", min=0, help="Show that many of the worst misses and confusions.")] = 0,
    *,
    out: Out,
) -> None:
    """Run an evaluation file against a throw-away tenant on the real stores, and print the scores. Exit code 0 whatever they are."""
    import json

    from graphmem.evaltarget import StoredTarget, evaluated

    suite = _suite(file)
    with graphmem() as g:
        if suite.turns or suite.questions:
            _needs_index(g)
        with StoredTarget(g) as target:
            report = evaluated(suite, target)
    if predictions is not None:
        with predictions.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in report.predictions)
    if out.output is Output.JSON:
        typer.echo(json.dumps(report.to_json(misses), ensure_ascii=False, indent=2))
    else:
        out(report, report.scores, ("kind", "score", "of", "rate", "hits", "total"), _score_cells)
        _misses(report, misses)


def _suite(file: Path) -> Suite:
    from graphmem.evalfile import parse
    from graphmem.evaltarget import merged

    if not file.exists():
        raise NotFoundError(f"there is no {file}", hint="graphmem eval tests/corpus evaluates the examples of the source.")
    files = sorted(file.glob("*.jsonl")) if file.is_dir() else [file]
    if not files:
        raise InvalidInputError(f"no .jsonl file in {file}", field="file")
    return merged([parse(path.read_text(encoding="utf-8").splitlines(), str(path)) for path in files])


def _score_cells(score: Score) -> tuple[str, ...]:
    rate = "-" if score.rate is None else f"{score.rate:.3f}"
    return (score.kind, score.name, score.group, rate, f"{score.hits:g}", str(score.total))


def _misses(report: Report, count: int) -> None:
    if count and report.confusion:
        pairs = [(expected, got, str(times)) for expected, got, times in report.confusion[:count]]
        table(("expected", "told", "times"), pairs)
    if count:
        rows = [(m.kind, m.id, m.text[:80], m.expected[:80], m.got[:80], m.rule) for m in report.misses[:count]]
        table(("kind", "id", "text", "expected", "got", "rule"), rows)
