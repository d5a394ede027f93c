"""Commands that change one user's memory: inject, remember, forget, confirm, reject."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    DEFAULT_USER,
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
)
from graphmem.commands.rows import MEMORY_COLUMNS, MidArgument, both, memory_cells, what
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind, Provenance, SourceKind

if TYPE_CHECKING:
    from graphmem.answers import Injected, Remembered

SEVEN = ("slice", "recognise", "classify", "bind time", "embed", "judge", "write")
"""The steps of a turn, in order."""

BECAME = ("became", "what", "why", "mid")

Role = Literal["user", "assistant", "system", "tool"]
Arity = Literal["one", "many", "pole"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "inject")(inject)
    command(app, "remember")(remember)
    command(app, "forget")(forget)
    command(app, "confirm")(confirm)
    command(app, "reject")(reject)


def inject(
    text: Annotated[str, typer.Argument(help="What was said; - reads it from stdin.")],
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    session: SessionOption = None,
    role: Annotated[Role, typer.Option(help="Who said it.")] = "user",
    at: Annotated[str | None, typer.Option(help="When it was said (default: now).")] = None,
    zone: Annotated[str | None, typer.Option(help="The speaker's time zone, as Asia/Shanghai.")] = None,
    turn_id: Annotated[str | None, typer.Option("--turn-id", help="Id of the turn: the same id again stores nothing twice.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the seven steps on stderr.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Hear one turn: what of it is remembered, what is not, and why."""
    from graphmem.memory import Turn

    said = sys.stdin.read() if text == "-" else text
    turn = Turn(said, role=role, session_id=session, turn_id=turn_id, at=moment(at, "at"), zone=zone)
    with graphmem(project=True) as g:
        done = g.inject(scope(tenant, user), turn, explain=explain)
    if explain:
        _steps(done)
    emit(output, done, _became(done, said), BECAME, lambda row: tuple(row.values()))


def _became(done: Injected, said: str) -> list[dict[str, str]]:
    rows = [_row(s.verdict.value, what(s.memory), "", s.memory.mid) for s in done.stored]
    rows += [_row("pending", what(p.memory), f"{p.reason}: {both(p.question)}", p.memory.mid) for p in done.pending]
    rows += [_row("not stored", n.text, f"{n.reason.value} ({n.rule})") for n in done.not_stored]
    rows += [_row("asked back", "", both(f.question)) for f in done.follow_up]
    return rows or [_row("nothing", said, "replayed" if done.replayed else "the turn is kept, it holds no statement")]


def _row(became: str, said: str, why: str, mid: str = "") -> dict[str, str]:
    return dict(zip(BECAME, (became, said, why, mid), strict=True))


def _steps(done: Injected) -> None:
    """The seven steps on stderr, each with its milliseconds and what it found: rules, spans, times."""
    heard = {step.name: step for step in done.steps}
    for number, name in enumerate(SEVEN, 1):
        step = heard.get(name)
        if step is None:
            say(f"{number} {name:<10} nothing to do")
        else:
            say(f"{number} {name:<10} {step.ms:8.1f} ms  {'; '.join(step.found) or '-'}")


def remember(
    key: Annotated[str, typer.Argument(help="What it is about, as home_city.")],
    value: Annotated[str | None, typer.Argument(help="The value; left out together with --end it ends whatever is held.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    subject: Annotated[str, typer.Option(help="Whom it is about: self, father, friend:Ann …")] = "self",
    deny: Annotated[bool, typer.Option("--deny", help="It is not so, or it is disliked.")] = False,
    end: Annotated[bool, typer.Option("--end", help="It ended.")] = False,
    kind: Annotated[Kind | None, typer.Option(help="For keys outside the ontology.")] = None,
    arity: Annotated[Arity | None, typer.Option(help="For keys outside the ontology.")] = None,
    valid_from: Annotated[str | None, typer.Option("--from", help="True from then on (default: when it is said).")] = None,
    valid_to: Annotated[str | None, typer.Option("--to", help="True until then.")] = None,
    said_at: Annotated[str | None, typer.Option("--said-at", help="When it was said (default: now).")] = None,
    source: Annotated[SourceKind, typer.Option(help="Where it comes from.")] = SourceKind.USER_STATED,
    output: OutputOption = Output.TABLE,
) -> None:
    """Store one statement, deliberately."""
    from graphmem.answers import Remember

    if value is None and not end:
        hint = f"graphmem remember {key} VALUE, or graphmem remember {key} --end"
        raise InvalidInputError("a value is missing", field="value", hint=hint)
    ask = Remember(
        key=key,
        value=value,
        kind=kind,
        arity=arity,
        subject=subject,
        polarity="-" if deny else "+",
        valid_from=moment(valid_from, "from"),
        valid_to=moment(valid_to, "to"),
        said_at=moment(said_at, "said-at"),
        source=Provenance(source),
        ends=end,
    )
    with graphmem(project=True) as g:
        done = g.remember(scope(tenant, user), ask)
    _remembered(done, output)


def _remembered(done: Remembered, output: Output) -> None:
    verdict = done.verdict.value if done.verdict is not None else "asked back"
    asked = done.pending.question if done.pending else done.follow_up.question if done.follow_up else None
    why = " ".join(words for words in (done.reason, both(asked) if asked else None) if words)
    row = _row(verdict, what(done.memory) if done.memory else "", why, done.memory.mid if done.memory else "")
    emit(output, done, [row], BECAME, lambda r: tuple(r.values()))


def forget(mid: MidArgument, tenant: TenantOption = DEFAULT_TENANT, user: UserOption = DEFAULT_USER) -> None:
    """Make one memory unreadable, at once and on every path."""
    with graphmem(project=True) as g:
        g.forget(scope(tenant, user), mid)
    say(f"forgotten: {mid}")


def confirm(
    mid: MidArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    output: OutputOption = Output.TABLE,
) -> None:
    """The user's yes to a pending memory."""
    with graphmem(project=True) as g:
        done = g.confirm(scope(tenant, user), mid)
    _remembered(done, output)


def reject(
    mid: MidArgument,
    tenant: TenantOption = DEFAULT_TENANT,
    user: UserOption = DEFAULT_USER,
    output: OutputOption = Output.TABLE,
) -> None:
    """The user's no to a pending memory."""
    with graphmem() as g:
        gone = g.reject(scope(tenant, user), mid)
    emit(output, gone, [gone], MEMORY_COLUMNS, memory_cells)
