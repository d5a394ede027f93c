"""Commands that read one user's memory: recall, search, list, get, latest, history, receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import Out, Paging, SessionOption, When, Who, command, graphmem, next_page, say
from graphmem.commands.options import HitsOption, MidArgument, OnlyKey, OnlyKind, OnlySubject, OrderOption, ProvedOption
from graphmem.commands.rows import MEMORY_COLUMNS, both, degraded, listed, memory_cells, shown, what
from graphmem.memory import Status

if TYPE_CHECKING:
    from graphmem.answers import Recalled, ReceiptLine


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "recall")(recall)
    command(app, "search")(search)
    command(app, "list")(list_)
    for act in (get, latest, history, receipt):
        command(app)(act)


def recall(
    message: Annotated[str, typer.Argument(help="What the user just said to the agent.")],
    who: Who,
    session: SessionOption = None,
    task: Annotated[str | None, typer.Option(help="What the agent is doing: medication, ordering, travel …")] = None,
    tier: Annotated[Literal["auto", "L1", "L2", "L3"], typer.Option(help="Force a tier.")] = "auto",
    mode: Annotated[Literal["memories", "evidence"], typer.Option(help="Memories, or the turns they came from.")] = "memories",
    proved: ProvedOption = False,
    *,
    when: When,
    limit: HitsOption = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show every candidate and why it was told or not, on stderr.")] = False,
    out: Out,
) -> None:
    """What an agent may be told before it answers, and why."""
    from graphmem.answers import Ask

    ask = Ask(
        message,
        session_id=session,
        task=task,
        tier=tier,
        mode=mode,
        as_of=when.as_of,
        known_at=when.known_at,
        limit=limit,
        explain=explain,
    )
    with graphmem() as g:
        told = g.recall(who.proved(proved), ask)
    say(f"{told.tier} · {told.trigger.rule}{f' · {told.trigger.phrase}' if told.trigger.phrase else ''}")
    degraded(told.degraded)
    if explain:
        for line in told.receipt.lines:
            say(f"{'told    ' if line.told else 'withheld'} {line.mid} {line.reason} {dict(line.scores)}")
    _recalled(told, out)


def _recalled(told: Recalled, out: Out) -> None:
    rows: list[tuple[str, ...]] = [("check", c.severity.upper(), both(c.text), ", ".join(c.memory_ids)) for c in told.checks]
    rows += [("memory", f"{h.score:.2f}", f"{what(h.memory)} ({h.reason})", h.memory.mid) for h in told.memories]
    rows += [("unconfirmed", "", what(m), m.mid) for m in told.pending]
    rows += [("turn", f"{t.score:.2f}", t.text, t.turn_id) for t in told.turns]
    if out.is_table and told.prompt:
        say(told.prompt)
    out.tables(told, list(told.turns) or list(told.memories), ("what", "score", "told", "id"), rows)


def search(
    words: Annotated[str, typer.Argument(help="What to look for.")],
    who: Who,
    kind: OnlyKind = None,
    limit: HitsOption = 10,
    *,
    out: Out,
) -> None:
    """Rank what is remembered by words and meaning."""
    with graphmem() as g:
        found = g.search(who.scope, words, limit=limit, kind=kind)
    degraded(found.degraded)
    out(found, found.items, ("score", *MEMORY_COLUMNS), lambda hit: (f"{hit.score:.2f}", *memory_cells(hit.memory)))


def list_(
    who: Who,
    kind: OnlyKind = None,
    key: OnlyKey = None,
    subject: OnlySubject = None,
    status: Annotated[Status | None, typer.Option(help="Of this status (default: what is told).")] = None,
    order: OrderOption = "event",
    *,
    when: When,
    page: Paging,
    out: Out,
) -> None:
    """What is remembered, newest first."""
    from graphmem.answers import MemoryFilter

    where = MemoryFilter(kind, key, subject, status, when.as_of, when.known_at, order)
    with graphmem() as g:
        found = g.memories(who.scope, where, limit=page.limit, cursor=page.cursor)
    listed(found, out)
    next_page(found.total, found.next)


def get(mid: MidArgument, who: Who, when: When, out: Out) -> None:
    """One memory, now or at a moment."""
    with graphmem() as g:
        memory = g.memory(who.scope, mid, as_of=when.as_of, known_at=when.known_at)
    shown(memory, out)


def latest(
    key: Annotated[str, typer.Argument(help="What it is about, as home_city.")],
    who: Who,
    subject: Annotated[str | None, typer.Option(help="About this person; a role finds all who have it.")] = None,
    *,
    when: When,
    out: Out,
) -> None:
    """The latest valid answer of a key: one, or all where many may hold at once."""
    with graphmem() as g:
        found = g.latest(who.scope, key, subject=subject, as_of=when.as_of, known_at=when.known_at)
    listed(found, out)


def history(mid: MidArgument, who: Who, out: Out) -> None:
    """All versions of what a memory is about, oldest first."""
    with graphmem() as g:
        found = g.versions(who.scope, mid)
    out(found.items, found.items, MEMORY_COLUMNS, memory_cells)
    if found.archived:
        say(f"{found.archived} older versions lie in the archive")


def receipt(receipt_id: Annotated[str, typer.Argument(help="Id of the receipt, as recall gives it.")], who: Who, out: Out) -> None:
    """Why each candidate of a recall was told or not."""
    with graphmem() as g:
        found = g.receipt(who.scope, receipt_id)
    out(found, found.lines, ("told", "why", "scores", "mid"), _line_cells)


def _line_cells(line: ReceiptLine) -> tuple[str, ...]:
    scores = ", ".join(f"{name} {score:.2f}" for name, score in line.scores.items())
    return ("told" if line.told else "withheld", line.reason, scores, line.mid)
