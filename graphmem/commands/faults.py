"""Errors of the command line: three parts on stderr (what, cause, try) in the terminal's language, and a telling exit code."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from graphmem.commands.output import say
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
    Exit.UNREACHABLE: "unreachable",
    Exit.CHECK_FAILED: "check_failed",
    Exit.NOT_FOUND: "not_found",
    Exit.USAGE: "bad_usage",
    Exit.REFUSED: "refused",
    Exit.UNEXPECTED: "unexpected",
}
"""What to try after an exit code: names of packs/errors.yaml."""


class Program(TyperGroup):
    """The program: what it does not understand is told in three parts, too."""

    def main(self, *args: Any, **more: Any) -> Any:
        """As Typer's: unless `standalone_mode` is false, the process ends with the exit code."""
        try:
            code = super().main(*args, **{**more, "standalone_mode": False})
        except typer.Abort:
            code = Exit.UNEXPECTED
        except Exception as error:
            if not hasattr(error, "format_message"):  # Typer's own errors have it; their class has no public name
                raise
            code = _misunderstood(error)
        if more.get("standalone_mode", True):
            sys.exit(code if isinstance(code, int) else 0)
        return code


def tell(error: Exception, what: str) -> Exit:
    """Say an error on stderr (what, cause, try) and give its exit code."""
    code, cause, hint = _explained(error)
    command = f"graphmem {what}"
    _three("error", command, cause, hint or words(TRY[code], command=command))
    return code


def words(name: str, **given: str) -> str:
    """A sentence of packs/errors.yaml in the terminal's language."""
    from graphmem.refusals import terminal_words

    text = terminal_words()[name]
    return (text.zh if in_chinese() else text.en).format(**given)


def in_chinese() -> bool:
    """Whether the terminal speaks Chinese: LC_ALL, else LC_MESSAGES, else LANG."""
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return named.lower().startswith("zh")


def _three(head: str, what: str, cause: str, hint: str) -> None:
    say(words(head, what=what))
    say(words("cause", cause=cause))
    say(words("attempt", hint=hint))


def _misunderstood(error: Any) -> int:
    """A usage error of Typer. No arguments at all is a request for help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return int(error.exit_code)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "graphmem"
    _three("usage", command, error.format_message(), words("bad_usage", command=command))
    return int(error.exit_code)


def _explained(error: Exception) -> tuple[Exit, str, str | None]:
    if isinstance(error, GraphmemError):
        code = next((code for kind, code in EXITS if isinstance(error, kind)), Exit.UNEXPECTED)
        return code, f"{error.detail} [{error.code}]", _hint(error)
    if type(error).__name__ == "ValidationError":  # pydantic's, of the settings: not imported here, it costs 100 ms
        return Exit.USAGE, " ".join(str(error).split())[:500], words("setting")
    return Exit.UNEXPECTED, f"{type(error).__name__}: {error}", None


def _hint(error: GraphmemError) -> str | None:
    """The error's own; in a Chinese terminal what its code says, where it says something."""
    if isinstance(error, PackError):
        return error.hint or words("pack")
    if in_chinese() and error.code != "not_found":
        from graphmem.refusals import refusals

        text = refusals().get(error.code)
        return text.do.zh if text is not None and text.code != "error" else error.hint
    return error.hint
