"""Codes on the terminal: for one machine and for trying things out. A service sends them by its own adapter of ports.CodeSender."""

from __future__ import annotations

import sys

from graphmem.scope import Scope


class ConsoleSender:
    """Prints each code to stderr. The value it belongs to is not repeated: it is an identifier."""

    def send(self, scope: Scope, key: str, value: str, code: str) -> None:
        """See ports.CodeSender."""
        sys.stderr.write(f"graphmem: the code for the new {key} of {scope.user} is {code}\n")
