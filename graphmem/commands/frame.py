"""What all commands share: options, output, errors in three parts, exit codes. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec
from zoneinfo import ZoneInfo

import typer

from graphmem.commands.output import Output, OutputOption, downloading, emit, plain, say, short, table
from graphmem.errors import (
    ConfigurationError,
    ConflictError,
    GraphmemError,
    InvalidInputError,
    NotFoundError,
    PackError,
    RefusedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.scope import Scope
    from graphmem.settings import Settings

P = ParamSpec("P")

DEFAULT_TENANT = "default"
DEFAULT_USER = "me"


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    CHECK_FAILED = 3
    UNREACHABLE = 5
    REFUSED = 6
    NOT_FOUND = 7


EXITS: tuple[tuple[type[GraphmemError], Exit], ...] = (
    (PackError, Exit.CHECK_FAILED),
    (InvalidInputError, Exit.USAGE),
    (NotFoundError, Exit.NOT_FOUND),
    (RefusedError, Exit.REFUSED),
    (ConflictError, Exit.REFUSED),
    (ConfigurationError, Exit.CHECK_FAILED),
    (UnavailableError, Exit.UNREACHABLE),
)

TRY = {
    Exit.UNREACHABLE: "graphmem doctor shows which store does not answer, and the command that mends it.",
    Exit.CHECK_FAILED: "graphmem doctor",
    Exit.NOT_FOUND: "graphmem list shows the ids of what is remembered (mind --tenant and --user).",
    Exit.USAGE: "add --help to the command to see what it takes.",
    Exit.REFUSED: "graphmem list --status pending shows what waits for a decision.",
    Exit.UNEXPECTED: "set GRAPHMEM_DEBUG=1 to see where it happened.",
}


TenantOption = Annotated[str, typer.Option("--tenant", envvar="GRAPHMEM_TENANT", help="Tenant: 1 to 63 of a-z, 0-9, '_' and '-'.")]
UserOption = Annotated[str, typer.Option("--user", envvar="GRAPHMEM_USER", help="Whose memory it is.")]
SessionOption = Annotated[str | None, typer.Option("--session", help="The conversation it belongs to.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="The world as it was then: a date, or a time with offset (default: now).")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="Only what was known by then (default: now).")]


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Register a command whose errors are told in three parts and end with the right exit code."""

    def register(act: Callable[P, None]) -> Callable[P, None]:
        @wraps(act)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                act(*args, **kwargs)
            except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
                raise
            except Exception as error:
                if os.environ.get("GRAPHMEM_DEBUG"):
                    raise
                raise typer.Exit(tell(error, (name or act.__name__).rstrip("_"))) from error

        app.command(name)(guarded)
        return guarded

    return register


def tell(error: Exception, what: str) -> Exit:
    """Say an error on stderr (what, cause, try) and give its exit code."""
    code, cause, hint = _explained(error)
    say(f"error: graphmem {what} was not done")
    say(f"cause: {cause}")
    say(f"try:   {hint or TRY[code]}")
    return code


def _explained(error: Exception) -> tuple[Exit, str, str | None]:
    if isinstance(error, GraphmemError):
        code = next((code for kind, code in EXITS if isinstance(error, kind)), Exit.UNEXPECTED)
        hint = error.hint or ("correct that line; docs/packs.md says what is allowed." if isinstance(error, PackError) else None)
        return code, f"{error.detail} [{error.code}]", hint
    if type(error).__name__ == "ValidationError":  # pydantic's, of the settings: not imported here, it costs 100 ms
        return Exit.USAGE, " ".join(str(error).split())[:500], "correct the GRAPHMEM_… variable that is named."
    return Exit.UNEXPECTED, f"{type(error).__name__}: {error}", None


# --- opening


def scope(tenant: str, user: str) -> Scope:
    """The person who works at this terminal, for one user."""
    from graphmem.scope import Scope

    return Scope(tenant, user)


def settings() -> Settings:
    from graphmem.settings import Settings

    return Settings()


@contextmanager
def graphmem(*, project: bool = False, check_index: bool = True) -> Iterator[Graphmem]:
    """The façade, its stores up. With `project` what was written is put into the index at the end, unless a service does that.

    check_index False: also over collections that were made for other embedders (what mends them must start).
    """
    chosen = settings()
    if chosen.neo4j_uri is None:
        bring_up(chosen)
    from graphmem.app import open_graphmem

    with open_graphmem(chosen, warm=False, check_index=check_index) as opened:
        yield opened
        if project:
            _project(opened)


def _project(opened: Graphmem) -> None:
    """Put what was written into the index. What was asked for is done and stored: a fault here is told, it undoes nothing."""
    try:
        if index_free(opened):
            opened.drain(PROJECT_S)
    except Exception as error:
        say(f"note: not everything is in the index yet ({type(error).__name__}: {error}); the next command or the service goes on with it")


PROJECT_S = 20.0
"""A one-shot command projects at most this long; the rest waits for the next one or the service."""


def index_free(opened: Graphmem) -> bool:
    """Whether this process may use the candidate index: the in-process engine belongs to one process at a time."""
    return all(fine for name, fine, _ in opened.ready().checks if name == "index")


def bring_up(chosen: Settings) -> object:
    """A Neo4j of one's own, with the progress of its download; returns the localdb.Server."""
    from graphmem.app import bring_up as up

    with downloading("Neo4j") as progress:
        return up(chosen, progress)


# --- times


def moment(text: str | None, name: str) -> datetime | None:
    """A time of an option: ISO 8601; a date is its first instant; without an offset it is in GRAPHMEM_ZONE."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        hint = "write 2026-03-01 or 2026-03-01T09:00+08:00."
        raise InvalidInputError(f"--{name}: '{text}' is no ISO 8601 time", field=name, hint=hint) from error
    return (at if at.tzinfo is not None else at.replace(tzinfo=_zone())).astimezone(UTC)


def _zone() -> tzinfo:
    return ZoneInfo(settings().zone)


def home_path(chosen: Settings) -> Path:
    from graphmem.localdb import data_home

    return data_home(chosen.home)


__all__ = [
    "DEFAULT_TENANT",
    "DEFAULT_USER",
    "AsOf",
    "Exit",
    "KnownAt",
    "Output",
    "OutputOption",
    "SessionOption",
    "TenantOption",
    "UserOption",
    "bring_up",
    "command",
    "downloading",
    "emit",
    "graphmem",
    "home_path",
    "index_free",
    "moment",
    "plain",
    "say",
    "scope",
    "settings",
    "short",
    "table",
    "tell",
]
