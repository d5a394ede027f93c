"""Commands over one user's memory: inject, remember, recall, search, list, history, forget, confirm, reject."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal, cast

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
    short,
    table,
)
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind, Provenance, SourceKind, Status

if TYPE_CHECKING:
    from graphmem.answers import Injected, Memory, Recalled, Remembered

SEVEN = ("slice", "recognise", "classify", "bind time", "embed", "judge", "write")
"""The steps of a turn, in order."""

MEMORY_COLUMNS = ("key", "value", "of", "status", "v", "from", "to", "standing", "mid")

MidArgument = Annotated[str, typer.Argument(help="Id of the memory, as list shows it.")]
Role = Literal["user", "assistant", "system", "tool"]
Arity = Literal["one", "many", "pole"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for name, act in COMMANDS.items():
        command(app, name)(act)


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
    rows = _injected_rows(done, said)
    emit(output, done, rows, ("became", "what", "why", "mid"), lambda row: cast(tuple[str, ...], tuple(cast(dict[str, str], row).values())))


def _injected_rows(done: Injected, said: str) -> list[object]:
    rows = [{"became": s.verdict.value, "what": _what(s.memory), "why": "", "mid": s.memory.mid} for s in done.stored]
    rows += [{"became": "pending", "what": _what(p.memory), "why": f"{p.reason}: {_both(p.question)}", "mid": p.memory.mid} for p in done.pending]
    rows += [{"became": "not stored", "what": n.text, "why": f"{n.reason.value} ({n.rule})", "mid": ""} for n in done.not_stored]
    rows += [{"became": "asked back", "what": "", "why": _both(f.question), "mid": ""} for f in done.follow_up]
    if not rows:
        rows = [{"became": "nothing", "what": said, "why": "replayed" if done.replayed else "the turn is kept, it holds no statement", "mid": ""}]
    return list(rows)


def _steps(done: Injected) -> None:
    """The seven steps on stderr; what one step of the program does together is shown at the first of them."""
    heard = {step.name: step for step in done.steps}
    for number, name in enumerate(SEVEN, 1):
        step = heard.get(name) or next((s for n, s in heard.items() if name in n.split(" and ")), None)
        if step is None:
            told = "after the answer, by the projection" if name == "embed" else "inside the next step" if name == "recognise" else "inside the step before"
            say(f"{number} {name:<10} {told}")
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
        raise InvalidInputError("a value is missing", field="value", hint=f"graphmem remember {key} VALUE, or graphmem remember {key} --end")
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
    row = (verdict, _what(done.memory) if done.memory else "", done.reason or (_both(asked) if asked else ""), done.memory.mid if done.memory else "")
    emit(output, done, [done], ("became", "what", "why", "mid"), lambda _: row)


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
    rows: list[tuple[str, ...]] = [("check", c.severity.upper(), _both(c.text), ", ".join(c.memory_ids)) for c in told.checks]
    rows += [("memory", f"{h.score:.2f}", f"{_what(h.memory)} ({h.reason})", h.memory.mid) for h in told.memories]
    rows += [("unconfirmed", "", _what(m), m.mid) for m in told.pending]
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
    from graphmem.answers import Hit

    with graphmem() as g:
        found = g.search(scope(tenant, user), words, limit=limit, kind=kind)
    if found.degraded:
        say(f"degraded: {', '.join(found.degraded)}")

    def cells(row: object) -> tuple[str, ...]:
        hit = cast(Hit, row)
        return (f"{hit.score:.2f}", *_memory_cells(hit.memory))

    emit(output, found, found.items, ("score", *MEMORY_COLUMNS), cells)


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
    emit(output, page, (*page.items, *page.pending), MEMORY_COLUMNS, lambda m: _memory_cells(cast("Memory", m)))
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
    emit(output, versions, versions, MEMORY_COLUMNS, lambda m: _memory_cells(cast("Memory", m)))


def forget(mid: MidArgument, tenant: TenantOption = DEFAULT_TENANT, user: UserOption = DEFAULT_USER) -> None:
    """Make one memory unreadable, at once and on every path."""
    with graphmem(project=True) as g:
        g.forget(scope(tenant, user), mid)
    say(f"forgotten: {mid}")


def confirm(mid: MidArgument, tenant: TenantOption = DEFAULT_TENANT, user: UserOption = DEFAULT_USER, output: OutputOption = Output.TABLE) -> None:
    """The user's yes to a pending memory."""
    with graphmem(project=True) as g:
        done = g.confirm(scope(tenant, user), mid)
    _remembered(done, output)


def reject(mid: MidArgument, tenant: TenantOption = DEFAULT_TENANT, user: UserOption = DEFAULT_USER, output: OutputOption = Output.TABLE) -> None:
    """The user's no to a pending memory."""
    with graphmem() as g:
        gone = g.reject(scope(tenant, user), mid)
    emit(output, gone, [gone], MEMORY_COLUMNS, lambda m: _memory_cells(cast("Memory", m)))


COMMANDS = {
    "inject": inject,
    "remember": remember,
    "recall": recall,
    "search": search,
    "list": list_,
    "history": history,
    "forget": forget,
    "confirm": confirm,
    "reject": reject,
}


def _what(memory: Memory) -> str:
    sign = "≠ " if memory.polarity == "-" else ""
    of = "" if memory.subject == "self" else f" ({memory.subject})"
    return f"{memory.key}{of}: {sign}{memory.value if memory.value is not None else '—'}"


def _memory_cells(m: Memory) -> tuple[str, ...]:
    value = f"{'≠ ' if m.polarity == '-' else ''}{m.value if m.value is not None else '—'}"
    version = "" if m.version is None else str(m.version)
    return (m.key, value, m.subject, m.status.value, version, short(m.valid_from), short(m.valid_to), m.standing.value, m.mid)


def _both(text: object) -> str:
    """A text in both languages, on one line."""
    return f"{getattr(text, 'zh', '')} / {getattr(text, 'en', '')}"
