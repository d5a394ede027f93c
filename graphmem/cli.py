"""The `graphmem` program. Everything heavy is imported inside a command: `graphmem --help` answers in under 300 ms."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from graphmem import __version__
from graphmem.commands import (
    browser,
    care,
    completion,
    doctor,
    explain,
    lexicon,
    lifetimes,
    people,
    proof,
    reads,
    review,
    server,
    transfer,
    writes,
)
from graphmem.commands.faults import Program

app = typer.Typer(
    cls=Program,
    name="graphmem",
    help="User memory of AI agents, kept as a graph in Neo4j. Data goes to stdout, talk to stderr. "
    "Exit codes: 0 ok, 1 unexpected, 2 usage, 3 a check failed, 5 store unreachable, 6 refused, 7 not found.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: Rich's costs 120 ms at every start
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphmem {__version__}")
        raise typer.Exit


@app.callback()
def root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False) -> None:
    """Options of the program itself."""


for commands in (server, doctor, writes, lifetimes, reads, people, explain, review, proof, lexicon, transfer, care, browser, completion):
    commands.add_to(app)


def main() -> None:
    """Entry point. A closed pipe (`graphmem list | head`) is no error."""
    try:
        app()
    except BrokenPipeError:
        # the interpreter flushes stdout once more at its end: give it somewhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
