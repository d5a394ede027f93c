"""Commands that change one user's memory: inject, remember, event, change, forget, confirm, reject."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.commands.frame import Out, SessionOption, Who, command, graphmem, moment, say
from graphmem.commands.options import IfMatchOption, KeyOption, MidArgument
from graphmem.commands.rows import BECAME, became, both, cells, named, shown, what
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind, Provenance, SourceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import Injected, PendingItem, Remembered, Stored
    from graphmem.events import Recorded
    from graphmem.memory import NotStored

SEVEN = ("slice", "recognise", "classify", "bind time", "embed", "judge", "write")
"""The steps of a turn, in order."""

Role = Literal["user", "assistant", "system", "tool"]
Arity = Literal["one", "many", "pole"]
SourceOption = Annotated[SourceKind, typer.Option("--source", help="Where it comes from.")]
RefOption = Annotated[str | None, typer.Option("--ref", help="Which one: the document's or record's own id.")]
FromOption = Annotated[str | None, typer.Option("--from", help="True from then on (default: when it is said).")]
ToOption = Annotated[str | None, typer.Option("--to", help="True until then.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for act in (inject, remember, event, change, forget, confirm, reject):
        command(app)(act)


def inject(
    text: Annotated[str, typer.Argument(help="What was said; - reads it from stdin.")],
    who: Who,
    session: SessionOption = None,
    role: Annotated[Role, typer.Option(help="Who said it.")] = "user",
    at: Annotated[str | None, typer.Option(help="When it was said (default: now).")] = None,
    zone: Annotated[str | None, typer.Option(help="The speaker's time zone, as Asia/Shanghai.")] = None,
    turn_id: Annotated[str | None, typer.Option("--turn-id", help="Id of the turn: the same id again stores nothing twice.")] = None,
    answers: Annotated[str | None, typer.Option(help="Id of the turn it answers.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the seven steps on stderr.")] = False,
    *,
    out: Out,
) -> None:
    """Hear one turn: what of it is remembered, what is not, and why."""
    from graphmem.memory import Turn

    said = sys.stdin.read() if text == "-" else text
    turn = Turn(said, role=role, session_id=session, turn_id=turn_id, at=moment(at, "at"), zone=zone, answers=answers)
    with graphmem(project=True) as g:
        done = g.inject(who.scope, turn, explain=explain)
    if explain:
        _steps(done)
    rows = _outcomes(done.stored, done.pending, done.not_stored)
    rows += [became("asked back", "", both(f.question)) for f in done.follow_up]
    nothing = became("nothing", said, "replayed" if done.replayed else "the turn is kept, it holds no statement")
    out(done, rows or [nothing], BECAME, cells)


def _outcomes(stored: Sequence[Stored], pending: Sequence[PendingItem], dropped: Sequence[NotStored]) -> list[dict[str, str]]:
    rows = [became(s.verdict.value, what(s.memory), "", s.memory.mid) for s in stored]
    rows += [became("pending", what(p.memory), f"{p.reason}: {both(p.question)}", p.memory.mid) for p in pending]
    return rows + [became("not stored", n.text, f"{n.reason.value} ({n.rule})") for n in dropped]


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
    *,
    who: Who,
    subject: Annotated[str, typer.Option(help="Whom it is about: self, father, friend:Ann …")] = "self",
    deny: Annotated[bool, typer.Option("--deny", help="It is not so, or it is disliked.")] = False,
    end: Annotated[bool, typer.Option("--end", help="It ended.")] = False,
    kind: Annotated[Kind | None, typer.Option(help="For keys outside the ontology.")] = None,
    arity: Annotated[Arity | None, typer.Option(help="For keys outside the ontology.")] = None,
    valid_from: FromOption = None,
    valid_to: ToOption = None,
    said_at: Annotated[str | None, typer.Option("--said-at", help="When it was said (default: now).")] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="Below 0.85 it is asked back and not stored.")] = 1.0,
    version: Annotated[int | None, typer.Option("--expect", help="The version that was seen; another one by now is refused.")] = None,
    source: SourceOption = SourceKind.USER_STATED,
    ref: RefOption = None,
    op: KeyOption = None,
    out: Out,
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
        confidence=confidence,
        expected_version=version,
        source=Provenance(source, ref),
        ends=end,
    )
    with graphmem(project=True) as g:
        done = g.remember(who.scope, ask, key=op)
    _remembered(done, out)


def _remembered(done: Remembered, out: Out) -> None:
    verdict = done.verdict.value if done.verdict is not None else "asked back"
    asked = done.pending.question if done.pending else done.follow_up.question if done.follow_up else None
    why = " ".join(words for words in (done.reason, both(asked) if asked else None) if words)
    said, mid = named(done.memory)
    row = became(verdict, said, why, mid)
    out(done, [row], BECAME, cells)


def event(
    file: Annotated[Path, typer.Argument(help="JSON lines: name, data, at, ref, verified_by; - reads stdin.", allow_dash=True)],
    who: Who,
    out: Out,
) -> None:
    """Record events of an application as typed memories. An event with a ref is recorded once, however often it is given."""
    from graphmem.commands.eventfile import events_of

    events = events_of(file)
    with graphmem(project=True) as g:
        done = [g.record(who.scope, one) for one in events]
    out(done, [row for one in done for row in _recorded(one)], ("event", *BECAME), cells)


def _recorded(done: Recorded) -> list[dict[str, str]]:
    rows = _outcomes(done.stored, done.pending, done.not_stored) or [became("nothing", "", "replayed" if done.replayed else "")]
    return [{"event": done.name, **row} for row in rows]


def change(
    mid: MidArgument,
    value: Annotated[str | None, typer.Argument(help="The new value (default: as it is).")] = None,
    *,
    who: Who,
    polarity: Annotated[Literal["+", "-"] | None, typer.Option(help="+ it is so or liked, - it is not.")] = None,
    valid_from: FromOption = None,
    valid_to: ToOption = None,
    metadata: Annotated[list[str] | None, typer.Option("--metadata", help="NAME=TEXT to set, NAME= to remove; may be given again.")] = None,
    source: SourceOption = SourceKind.USER_STATED,
    ref: RefOption = None,
    if_match: IfMatchOption = None,
    out: Out,
) -> None:
    """A new version of a memory; what is not named stays as it is."""
    from graphmem.change import Change

    ask = Change(
        value=value,
        polarity=polarity,
        valid_from=moment(valid_from, "from"),
        valid_to=moment(valid_to, "to"),
        source=Provenance(source, ref),
        metadata={name: text or None for name, text in map(_pair, metadata or ())},
    )
    with graphmem(project=True) as g:
        done = g.change(who.scope, mid, ask, if_match=if_match)
    _remembered(done, out)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InvalidInputError(f"--metadata {text!r} is no NAME=TEXT", field="metadata")
    return name, value


def forget(
    mid: Annotated[str | None, typer.Argument(help="Id of the memory, as list shows it.")] = None,
    *,
    who: Who,
    everything: Annotated[bool, typer.Option("--all", help="Every memory of the user, archived ones too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --all.")] = False,
    if_match: IfMatchOption = None,
    op: KeyOption = None,
    out: Out,
) -> None:
    """Make one memory, or with --all everything of a user, unreadable: at once and on every path."""
    if (mid is None) is not everything:
        hint = "graphmem forget MID, or graphmem forget --all --user NAME"
        raise InvalidInputError("name one memory, or say --all", field="mid", hint=hint)
    if everything and not yes:
        typer.confirm(f"Forget everything of user '{who.user}' in tenant '{who.tenant}'?", abort=True, err=True)
    with graphmem(project=True) as g:
        if mid is not None:
            g.forget(who.scope, mid, if_match=if_match, key=op)
            count = 1
        else:
            count = g.forget_all(who.scope)
    say(f"forgotten: {mid if mid is not None else f'{count} memories of {who.user}'}")
    out.facts(forgotten=count)


def confirm(mid: MidArgument, who: Who, op: KeyOption = None, *, out: Out) -> None:
    """The user's yes to a pending memory."""
    with graphmem(project=True) as g:
        done = g.confirm(who.scope, mid, key=op)
    _remembered(done, out)


def reject(mid: MidArgument, who: Who, op: KeyOption = None, *, out: Out) -> None:
    """The user's no to a pending memory."""
    with graphmem() as g:
        gone = g.reject(who.scope, mid, key=op)
    shown(gone, out)
