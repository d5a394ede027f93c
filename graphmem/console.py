"""Codes on the terminal: for one machine, for trying things out. A service sets `graphmem.proving.sender` to a ports.CodeSender."""

from __future__ import annotations

import sys

from graphmem.scope import Scope


class ConsoleSender:
    """Prints each code to stderr. The value it belongs to is not repeated: it is an identifier."""

    def send(self, scope: Scope, key: str, value: str, code: str) -> None:
        """See ports.CodeSender."""
        sys.stderr.write(f"graphmem: the code for the new {key} of {scope.user} is {code}\n")
