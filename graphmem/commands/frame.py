"""What all commands share: registering them, opening the façade, the stores of one's own. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphmem.commands.faults import Exit, tell
from graphmem.commands.options import (
    DEFAULT_TENANT,
    Out,
    Paging,
    SessionOption,
    TenantOption,
    When,
    Who,
    spread,
)
from graphmem.commands.output import Output, downloading, say, short, table
from graphmem.commands.times import moment

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.settings import Settings


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command under its own name or this one; see guard."""

    def register(act: Callable[..., None]) -> Callable[..., None]:
        guarded = guard(act, name or act.__name__)
        app.command(name)(guarded)
        return guarded

    return register


def guard(act: Callable[..., None], name: str) -> Callable[..., None]:
    """The function of a command; its errors are told in three parts and end with the right exit code.

    Its parameters of the types Who, Out, When and Paging become the options of commands/options.py.
    """
    signature, back = spread(act)

    @wraps(act)
    def guarded(**given: Any) -> None:
        try:
            act(**back(given))
        except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get("GRAPHMEM_DEBUG"):
                raise
            raise typer.Exit(tell(error, name.rstrip("_"))) from error

    guarded.__signature__ = signature  # type: ignore[attr-defined]
    guarded.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return guarded


# --- opening


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


def home_path(chosen: Settings) -> Path:
    from graphmem.localdb import data_home

    return data_home(chosen.home)


def next_page(total: int | None, cursor: str | None) -> None:
    """Says how to go on, where there is more."""
    if cursor is not None:
        say(f"{'' if total is None else f'{total} in all; '}the next page: --cursor {cursor}")


__all__ = [
    "DEFAULT_TENANT",
    "Exit",
    "Out",
    "Output",
    "Paging",
    "SessionOption",
    "TenantOption",
    "When",
    "Who",
    "bring_up",
    "command",
    "downloading",
    "graphmem",
    "guard",
    "home_path",
    "index_free",
    "moment",
    "next_page",
    "say",
    "settings",
    "short",
    "table",
]
