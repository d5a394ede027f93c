"""Commands that explain and relate: why, timeline, related, relate, unrelate, cohort."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    Out,
    Paging,
    TenantOption,
    When,
    Who,
    command,
    graphmem,
    next_page,
    say,
    short,
)
from graphmem.commands.options import HitsOption, KeyOption, MidArgument, OnlyKey, OnlySubject, OrderOption
from graphmem.commands.rows import MEMORY_COLUMNS, degraded, memory_cells

if TYPE_CHECKING:
    from graphmem.cohorts import CohortUser
    from graphmem.explain import Entry, Why
    from graphmem.relations import Related, Relation

RELATION_COLUMNS = ("type", "from", "to", "weight", "since", "until", "rid")
StoredType = Literal["HAS_CONDITION", "AFFECTS_MEDICATION", "CONTRADICTS", "DERIVED_FROM"]


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
    for act in (why, timeline, related, relate, unrelate, cohort):
        command(app)(act)


def why(mid: MidArgument, who: Who, out: Out) -> None:
    """Why a memory is held, and told now or not."""
    with graphmem() as g:
        found = g.why(who.scope, mid)
    out.tables(found, [found], ("what", "when", "who", "of it"), _why_rows(found))
    if out.is_table:
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
    who: Who,
    key: OnlyKey = None,
    subject: OnlySubject = None,
    order: OrderOption = "event",
    *,
    when: When,
    page: Paging,
    out: Out,
) -> None:
    """What was held when, newest first: every version, who wrote it, what changed it."""
    from graphmem.timeline import TimelineQuery

    query = TimelineQuery(key, subject, order, when.as_of, when.known_at, page.limit, page.cursor)
    with graphmem() as g:
        found = g.timeline(who.scope, query)
    out(found, found.items, ("verdict", "learnt", "by", *MEMORY_COLUMNS), _entry_cells)
    next_page(found.total, found.next)


def _entry_cells(found: Entry) -> tuple[str, ...]:
    return (found.verdict or "", short(found.memory.recorded_at), found.touches[0].actor or "", *memory_cells(found.memory))


def related(
    mid: MidArgument,
    who: Who,
    depth: Annotated[int, typer.Option(min=1, max=3, help="Hops.")] = 1,
    types: Annotated[list[TypeWord] | None, typer.Option("--type", help="Only this type; may be given again.")] = None,
    *,
    when: When,
    limit: HitsOption = 20,
    out: Out,
) -> None:
    """What is related to a memory, with the path."""
    from graphmem.relations import RelationType

    wanted = frozenset(map(RelationType, types)) if types else None
    with graphmem() as g:
        page = g.related(who.scope, mid, depth=depth, as_of=when.as_of, known_at=when.known_at, types=wanted, limit=limit)
    degraded(page.degraded)
    if not page.told:
        say("the memory itself is not told then: nothing stored leads on from it")
    out(page, page.items, ("hops", "weight", "path", *MEMORY_COLUMNS), _related_cells)


def _related_cells(found: Related) -> tuple[str, ...]:
    path = " ".join(h.type.value for h in found.path)
    return (str(found.depth), f"{found.weight:.2f}", path, *memory_cells(found.memory))


def relate(
    kind: Annotated[StoredType, typer.Argument(help="The type of the relation.")],
    from_mid: Annotated[str, typer.Argument(help="Id of the memory it leads from.")],
    to_mid: Annotated[str, typer.Argument(help="Id of the memory it leads to.")],
    who: Who,
    weight: Annotated[float, typer.Option(min=0, max=1, help="How strong, above 0.")] = 1.0,
    op: KeyOption = None,
    *,
    out: Out,
) -> None:
    """Relate two memories of the user, from when both held."""
    from graphmem.relations import RelationType

    with graphmem() as g:
        made = g.relate(who.scope, RelationType(kind), from_mid, to_mid, weight, key=op)
    out(made, [made], RELATION_COLUMNS, _relation_cells)


def unrelate(rid: Annotated[str, typer.Argument(help="Id of the relation, as relate gives it.")], who: Who, out: Out) -> None:
    """End a relation now; questions about before still find it."""
    with graphmem() as g:
        ended = g.unrelate(who.scope, rid)
    out(ended, [ended], RELATION_COLUMNS, _relation_cells)


def _relation_cells(made: Relation) -> tuple[str, ...]:
    return (made.type.value, made.from_mid, made.to_mid, f"{made.weight:g}", short(made.valid_from), short(made.valid_to), made.rid)


def cohort(
    key: Annotated[str, typer.Argument(help="What it is about, as allergy.")],
    concept: Annotated[str, typer.Argument(help="A concept, as drug:penicillin, or a word in either language.")],
    tenant: TenantOption = DEFAULT_TENANT,
    subject: Annotated[str | None, typer.Option(help="Only about this person (default: the user).")] = None,
    asker: Annotated[str, typer.Option("--as", envvar="GRAPHMEM_REVIEWER", help="Who asks; it is recorded.")] = "staff:terminal",
    *,
    when: When,
    page: Paging,
    out: Out,
) -> None:
    """The users of a tenant of whom something is told, now or on a date."""
    from graphmem.cohorts import CohortQuery
    from graphmem.scope import TenantScope

    asked = CohortQuery(key, concept, when.as_of, when.known_at, subject, page.limit, page.cursor)
    with graphmem() as g:
        found = g.cohort(TenantScope(tenant, asker, frozenset({"cohort"})), asked)
    out(found, found.items, ("user", "of", "value", "since", "mid"), _member_cells)
    if found.slow:
        say("a past date walks all that was ever said about the concept")
    next_page(None, found.next)


def _member_cells(user: CohortUser) -> tuple[str, ...]:
    first = user.members[0]
    more = f" (+{len(user.members) - 1})" if len(user.members) > 1 else ""
    return (user.user_id, first.subject + more, first.value or "—", short(first.since), first.mid)
