"""What a process must not go on holding: a mark a user, moved by every forgetting, shared by the processes of one home."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from graphmem.scope import Scope


class Marks:
    """One small file a user who forgot something, named by pseudonym. Looking costs one stat; nothing of the user is in it."""

    def __init__(self, folder: Path, pseudonym: Callable[[Scope], str]) -> None:
        self._folder, self._pseudonym = folder, pseudonym

    def of(self, scope: Scope) -> int:
        """The user's mark: any change of it says that something was forgotten meanwhile."""
        try:
            return os.stat(self._path(scope)).st_mtime_ns
        except FileNotFoundError:
            return 0

    def move(self, scope: Scope) -> None:
        """Move the mark; every process of this home sees it at its next look."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(scope)
        before = self.of(scope)
        path.touch(mode=0o600)
        if (now := os.stat(path)).st_mtime_ns <= before:  # a coarse clock: the mark still moves
            os.utime(path, ns=(now.st_atime_ns, before + 1))

    def _path(self, scope: Scope) -> Path:
        return self._folder / f"{scope.tenant}.{self._pseudonym(scope)}"


__all__ = ["Marks"]
