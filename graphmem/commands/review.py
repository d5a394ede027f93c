"""Commands of a reviewer: review list, show, decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import DEFAULT_TENANT, Out, Paging, TenantOption, command, graphmem, next_page, say, short
from graphmem.commands.rows import both, named, what

if TYPE_CHECKING:
    from graphmem.cases import ReviewCase, ReviewItem
    from graphmem.scope import Scope

ITEM_COLUMNS = ("reason", "key", "of", "user", "state", "opened", "due", "proposed by", "case")

ReviewerOption = Annotated[str, typer.Option("--as", envvar="GRAPHMEM_REVIEWER", help="Who reviews, as staff:17; not who proposed it.")]
CaseArgument = Annotated[str, typer.Argument(help="Id of the case, as review list shows it.")]
StateWord = Literal["open", "approved", "rejected", "kept_both", "overtaken", "expired"]
DecisionWord = Literal["approve", "reject", "keep_both"]
DEFAULT_REVIEWER = "staff:terminal"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    reviews = typer.Typer(help="Changes that wait for a reviewer: the inbox, one case, the decision.", no_args_is_help=True)
    command(reviews, "list")(list_)
    command(reviews, "show")(show)
    command(reviews, "decide")(decide)
    app.add_typer(reviews, name="review")


def list_(
    tenant: TenantOption = DEFAULT_TENANT,
    state: Annotated[StateWord, typer.Option(help="Cases of this state.")] = "open",
    reviewer: ReviewerOption = DEFAULT_REVIEWER,
    *,
    page: Paging,
    out: Out,
) -> None:
    """The cases of a tenant, oldest first."""
    with graphmem() as g:
        found = g.reviews(_scope(tenant, reviewer), state, limit=page.limit, cursor=page.cursor)
    out(found, found.items, ITEM_COLUMNS, _item_cells)
    next_page(None, found.next)


def show(
    case_id: CaseArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    reviewer: ReviewerOption = DEFAULT_REVIEWER,
    *,
    out: Out,
) -> None:
    """Both sides of a case, with what was said."""
    with graphmem() as g:
        case = g.review(_scope(tenant, reviewer), case_id)
    out.tables(case, [case], ("side", "what", "standing", "said", "mid"), _sides(case))
    if out.is_table:
        _about(case)


def _sides(case: ReviewCase) -> list[tuple[str, ...]]:
    said = {e.mid: e.quote or e.source for e in case.evidence}
    sides: list[tuple[str, ...]] = [("held", what(m), m.standing.value, said.get(m.mid, ""), m.mid) for m in case.held]
    if case.pending is not None:
        sides.append(("waits", what(case.pending), case.pending.standing.value, said.get(case.pending.mid, ""), case.pending.mid))
    return sides


def _about(case: ReviewCase) -> None:
    item = case.item
    decided = f" by {item.decided_by}" if item.decided_by else ""
    say(f"{item.state}{decided} · {item.reason} · proposed by {item.proposed_by} · due {short(item.due_at)}")
    if case.question is not None:
        say(both(case.question))
    if case.decisions:
        say(f"graphmem review decide {item.case_id} {'|'.join(case.decisions)}")


def decide(
    case_id: CaseArgument,
    decision: Annotated[DecisionWord, typer.Argument(help="keep_both only for two concepts of a key that holds many.")],
    tenant: TenantOption = DEFAULT_TENANT,
    reviewer: ReviewerOption = DEFAULT_REVIEWER,
    note: Annotated[str | None, typer.Option(help="Why; kept with the case.")] = None,
    *,
    out: Out,
) -> None:
    """Decide a case; the same decision again changes nothing."""
    with graphmem(project=True) as g:
        done = g.decide_review(_scope(tenant, reviewer), case_id, decision, note)
    row = (done.item.state, *named(done.memory))
    out(done, [done], ("state", "recorded", "mid"), lambda _: row)


def _scope(tenant: str, reviewer: str) -> Scope:
    """The reviewer at this terminal. Cases belong to the tenant; the user of the scope is nobody's memory."""
    from graphmem.scope import Scope

    return Scope(tenant, reviewer, principal=reviewer, rights=frozenset({"review"}))


def _item_cells(i: ReviewItem) -> tuple[str, ...]:
    return (i.reason, i.key, i.subject, i.user_id, i.state, short(i.opened_at), short(i.due_at), i.proposed_by, i.case_id)
