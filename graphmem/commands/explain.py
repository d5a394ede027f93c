"""Commands that explain: why, timeline, related."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    DEFAULT_USER,
    AsOf,
    KnownAt,
    Output,
    OutputOption,
    TenantOption,
    UserOption,
    command,
    emit,
    graphmem,
    moment,
    say,
    scope,
    short,
    table,
)
from graphmem.commands.rows import MEMORY_COLUMNS, MidArgument, memory_cells

if TYPE_CHECKING:
    from graphmem.explain import Entry, Why
    from graphmem.relations import Related


class TypeWord(StrEnum):
    """The names of relations.RelationType, without its imports: help is fast."""

    HAS_CONDITION = "HAS_CONDITION"
    AFFECTS_MEDICATION = "AFFECTS_MEDICATION"
    CONTRADICTS = "CONTRADICTS"
    DERIVED_FROM = "DERIVED_FROM"
    TEMPORAL_NEXT = "TEMPORAL_NEXT"
    SEMANTIC_SIMILAR = "SEMANTIC_SIMILAR"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for act in (why, timeline, related):
        command(app)(act)


def why(
    mid: MidArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    output: OutputOption = Output.TABLE,
) -> None:
    """Why a memory is held, and told now or not."""
    with graphmem() as g:
        found = g.why(scope(tenant, user), mid)
    if output is not Output.TABLE:
        emit(output, found, [found], (), lambda _: ())
        return
    table(("what", "when", "who", "of it"), _why_rows(found))
    say(found.text.zh)
    say(found.text.en)


def _why_rows(found: Why) -> list[tuple[str, ...]]:
    m = found.entry.memory
    held = f"{found.because}: {m.key} {m.value or '—'}"
    rows: list[tuple[str, ...]] = [("told" if found.told else "not told", short(m.valid_from or m.said_at), m.subject, held)]
    rows += [
        ("said", short(e.said_at), e.session_id or e.kind, e.quote if e.quote is not None else e.source_id) for e in found.entry.sources
    ]
    rows += [(t.what, short(t.at), f"{t.actor or '?'} ({t.route or '?'})", t.by or "") for t in found.entry.touches]
    rows += [(r.did.replace("_", " "), short(r.valid_from), f"v{r.version or '?'}", r.value or "—") for r in found.rivals]
    if found.waiting is not None:
        w = found.waiting
        rows.append(("waits", short(w.since), w.case or "the user", f"{w.reason}{f': {w.outcome}' if w.outcome else ''}"))
    return rows


def timeline(
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    key: Annotated[str | None, typer.Option(help="Only this key.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this person; a role finds all who have it.")] = None,
    order: Annotated[Literal["event", "recorded"], typer.Option(help="Newest by when it was true, or by when it was learnt.")] = "event",
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    cursor: Annotated[str | None, typer.Option(help="The page after this one.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What was held when, newest first: every version, who wrote it, what changed it."""
    from graphmem.timeline import TimelineQuery

    query = TimelineQuery(key, subject, order, moment(as_of, "as-of"), moment(known_at, "known-at"), limit, cursor)
    with graphmem() as g:
        page = g.timeline(scope(tenant, user), query)
    emit(output, page, page.items, ("verdict", "learnt", "by", *MEMORY_COLUMNS), _entry_cells)
    if page.has_next:
        say(f"{page.total} in all; the next page: --cursor {page.next}")


def _entry_cells(row: object) -> tuple[str, ...]:
    found = cast("Entry", row)
    return (found.verdict or "", short(found.memory.recorded_at), found.touches[0].actor or "", *memory_cells(found.memory))


def related(
    mid: MidArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    depth: Annotated[int, typer.Option(min=1, max=3, help="Hops.")] = 1,
    types: Annotated[list[TypeWord] | None, typer.Option("--type", help="Only this type; may be given again.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 20,
    output: OutputOption = Output.TABLE,
) -> None:
    """What is related to a memory, with the path."""
    from graphmem.relations import RelationType

    wanted = frozenset(map(RelationType, types)) if types else None
    with graphmem() as g:
        page = g.related(
            scope(tenant, user),
            mid,
            depth=depth,
            as_of=moment(as_of, "as-of"),
            known_at=moment(known_at, "known-at"),
            types=wanted,
            limit=limit,
        )
    if page.degraded:
        say(f"degraded: {', '.join(page.degraded)}")
    if not page.told:
        say("the memory itself is not told then: nothing stored leads on from it")
    emit(output, page, page.items, ("hops", "weight", "path", *MEMORY_COLUMNS), _related_cells)


def _related_cells(row: object) -> tuple[str, ...]:
    found = cast("Related", row)
    path = " ".join(h.type.value for h in found.path)
    return (str(found.depth), f"{found.weight:.2f}", path, *memory_cells(found.memory))
