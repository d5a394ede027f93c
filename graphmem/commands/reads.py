"""Commands that read one user's memory: recall, search, list, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    DEFAULT_USER,
    AsOf,
    KnownAt,
    Output,
    OutputOption,
    SessionOption,
    TenantOption,
    UserOption,
    command,
    emit,
    graphmem,
    moment,
    say,
    scope,
    table,
)
from graphmem.commands.rows import MEMORY_COLUMNS, MidArgument, both, memory_cells, what
from graphmem.memory import Kind, Status

if TYPE_CHECKING:
    from graphmem.answers import Recalled


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "recall")(recall)
    command(app, "search")(search)
    command(app, "list")(list_)
    command(app, "history")(history)


def recall(
    message: Annotated[str, typer.Argument(help="What the user just said to the agent.")],
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    session: SessionOption = None,
    task: Annotated[str | None, typer.Option(help="What the agent is doing: medication, ordering, travel …")] = None,
    tier: Annotated[Literal["auto", "L1", "L2", "L3"], typer.Option(help="Force a tier.")] = "auto",
    mode: Annotated[Literal["memories", "evidence"], typer.Option(help="Memories, or the turns they came from.")] = "memories",
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show every candidate and why it was told or not, on stderr.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """What an agent may be told before it answers, and why."""
    from graphmem.answers import Ask

    ask = Ask(
        message,
        session_id=session,
        task=task,
        tier=tier,
        mode=mode,
        as_of=moment(as_of, "as-of"),
        known_at=moment(known_at, "known-at"),
        limit=limit,
        explain=explain,
    )
    with graphmem() as g:
        told = g.recall(scope(tenant, user), ask)
    say(f"{told.tier} · {told.trigger.rule}{f' · {told.trigger.phrase}' if told.trigger.phrase else ''}")
    if told.degraded:
        say(f"degraded: {', '.join(told.degraded)}")
    if explain:
        for line in told.receipt.lines:
            say(f"{'told    ' if line.told else 'withheld'} {line.mid} {line.reason} {dict(line.scores)}")
    _recalled(told, output)


def _recalled(told: Recalled, output: Output) -> None:
    rows: list[tuple[str, ...]] = [("check", c.severity.upper(), both(c.text), ", ".join(c.memory_ids)) for c in told.checks]
    rows += [("memory", f"{h.score:.2f}", f"{what(h.memory)} ({h.reason})", h.memory.mid) for h in told.memories]
    rows += [("unconfirmed", "", what(m), m.mid) for m in told.pending]
    rows += [("turn", f"{t.score:.2f}", t.text, t.turn_id) for t in told.turns]
    if output is Output.TABLE and told.prompt:
        say(told.prompt)
    items: list[object] = list(told.turns) if told.turns else list(told.memories)
    if output is Output.TABLE:
        table(("what", "score", "told", "id"), rows)
    else:
        emit(output, told, items, (), lambda _: ())


def search(
    words: Annotated[str, typer.Argument(help="What to look for.")],
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    output: OutputOption = Output.TABLE,
) -> None:
    """Rank what is remembered by words and meaning."""
    with graphmem() as g:
        found = g.search(scope(tenant, user), words, limit=limit, kind=kind)
    if found.degraded:
        say(f"degraded: {', '.join(found.degraded)}")
    emit(output, found, found.items, ("score", *MEMORY_COLUMNS), lambda hit: (f"{hit.score:.2f}", *memory_cells(hit.memory)))


def list_(
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this key.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this person; a role finds all who have it.")] = None,
    status: Annotated[Status | None, typer.Option(help="Of this status (default: what is told).")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    cursor: Annotated[str | None, typer.Option(help="The page after this one.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What is remembered, newest first."""
    from graphmem.answers import MemoryFilter

    where = MemoryFilter(kind, key, subject, status, moment(as_of, "as-of"), moment(known_at, "known-at"))
    with graphmem() as g:
        page = g.memories(scope(tenant, user), where, limit=limit, cursor=cursor)
    emit(output, page, (*page.items, *page.pending), MEMORY_COLUMNS, memory_cells)
    if page.has_next:
        say(f"{page.total} in all; the next page: --cursor {page.next}")


def history(
    mid: MidArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    output: OutputOption = Output.TABLE,
) -> None:
    """All versions of what a memory is about, oldest first."""
    with graphmem() as g:
        versions = g.history(scope(tenant, user), mid)
    emit(output, versions, versions, MEMORY_COLUMNS, memory_cells)
