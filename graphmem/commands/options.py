"""Options that many commands share, said once: whose memory (Who), how data is printed (Out), which moment (When), which page (Paging).

A command names them as parameters of these types; `spread` makes the options the program shows of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from graphmem.commands.output import Output, OutputOption, emit, table
from graphmem.commands.times import moment
from graphmem.memory import Kind

if TYPE_CHECKING:
    from graphmem.scope import Scope

T = TypeVar("T")

DEFAULT_TENANT = "default"
DEFAULT_USER = "me"

TenantOption = Annotated[str, typer.Option("--tenant", envvar="GRAPHMEM_TENANT", help="Tenant: 1 to 63 of a-z, 0-9, '_' and '-'.")]
UserOption = Annotated[str, typer.Option("--user", envvar="GRAPHMEM_USER", help="Whose memory it is.")]
SessionOption = Annotated[str | None, typer.Option("--session", help="The conversation it belongs to.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="The world as it was then: a date, or a time with offset (default: now).")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="Only what was known by then (default: now).")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100, help="Rows of a page.")]
HitsOption = Annotated[int, typer.Option("--limit", min=1, max=100)]
CursorOption = Annotated[str | None, typer.Option("--cursor", help="The page after this one.")]

MidArgument = Annotated[str, typer.Argument(help="Id of the memory, as list shows it.")]
KeyOption = Annotated[str | None, typer.Option("--key", help="Idempotency key: the same request again stores nothing twice.")]
ProvedOption = Annotated[bool, typer.Option("--proved", help="The user has just shown you who they are.")]
IfMatchOption = Annotated[str | None, typer.Option("--if-match", help="The etag that was seen; another one by now is refused.")]

OnlyTenant = Annotated[str | None, typer.Option("--tenant", help="Only this tenant (default: all).")]
OnlyKind = Annotated[Kind | None, typer.Option(help="Only this kind.")]
OnlyKey = Annotated[str | None, typer.Option(help="Only this key.")]
OnlySubject = Annotated[str | None, typer.Option(help="Only about this person; a role finds all who have it.")]
Order = Literal["event", "recorded"]
OrderOption = Annotated[Order, typer.Option(help="Newest by when it was true, or by when it was learnt.")]


@dataclass(frozen=True, slots=True)
class Who:
    """Whose memory: --tenant and --user."""

    tenant: str
    user: str

    @property
    def scope(self) -> Scope:
        """The person who works at this terminal, for this user."""
        return self.proved(False)

    def proved(self, proved: bool) -> Scope:
        """The same; with `proved` the user has just shown who they are."""
        from graphmem.scope import Scope

        return Scope(self.tenant, self.user, rights=frozenset({"fresh_proof"}) if proved else frozenset())


@dataclass(frozen=True, slots=True)
class Out:
    """How data is printed: --output."""

    output: Output

    @property
    def is_table(self) -> bool:
        return self.output is Output.TABLE

    def __call__(self, whole: object, rows: Sequence[T], columns: Sequence[str], cells: Callable[[T], Sequence[str]]) -> None:
        """The whole answer as one JSON document, its rows as JSON lines, or its rows as a table."""
        emit(self.output, whole, rows, columns, cells)

    def tables(self, whole: object, items: Sequence[object], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """The same where the rows of the table are no items of the answer."""
        if self.is_table:
            table(columns, rows)
        else:
            emit(self.output, whole, items, (), lambda _: ())

    def facts(self, **facts: object) -> None:
        """What was done, for programs; at a terminal the talk on stderr says it."""
        if not self.is_table:
            emit(self.output, facts, [facts], (), lambda _: ())


@dataclass(frozen=True, slots=True)
class When:
    """Which moment: --as-of and --known-at."""

    as_of: datetime | None
    known_at: datetime | None

    @classmethod
    def of(cls, as_of: str | None, known_at: str | None) -> When:
        return cls(moment(as_of, "as-of"), moment(known_at, "known-at"))


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a list: --limit and --cursor."""

    limit: int
    cursor: str | None


Part = tuple[str, Any, object]
SPREAD: dict[type, tuple[Callable[..., object], tuple[Part, ...]]] = {
    Who: (Who, (("tenant", TenantOption, DEFAULT_TENANT), ("user", UserOption, DEFAULT_USER))),
    Out: (Out, (("output", OutputOption, Output.TABLE),)),
    When: (When.of, (("as_of", AsOf, None), ("known_at", KnownAt, None))),
    Paging: (Paging, (("limit", LimitOption, 50), ("cursor", CursorOption, None))),
}
"""What a parameter of such a type becomes on the command line: (name, annotation, default) of its options, and what is made of them."""


def spread(act: Callable[..., None]) -> tuple[inspect.Signature, Callable[[dict[str, Any]], dict[str, Any]]]:
    """The signature that the program shows, and how its arguments become those of the function."""
    hints = get_type_hints(act, include_extras=True)
    shown: list[inspect.Parameter] = []
    made: dict[str, type] = {}
    for name, given in inspect.signature(act).parameters.items():
        kind = hints[name]
        if kind in SPREAD:
            made[name] = kind
            shown += [_keyword(*part) for part in SPREAD[kind][1]]
        else:
            shown.append(_keyword(name, kind, given.default))

    def back(arguments: dict[str, Any]) -> dict[str, Any]:
        rest = dict(arguments)
        for name, kind in made.items():
            make, parts = SPREAD[kind]
            rest[name] = make(*(rest.pop(part) for part, _, _ in parts))
        return rest

    return inspect.Signature(shown), back


def _keyword(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
