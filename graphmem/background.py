"""Work that a service does again and again beside its requests, in a thread of its own until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable

Turns = Callable[[threading.Event], None]
"""Takes its turns until the event is set; it rests by waiting for the event."""


class Background:
    """Runs `turns` in a thread called `name`. Starting twice is starting once; stop() returns when the last turn has ended."""

    def __init__(self, name: str, turns: Turns) -> None:
        self._name, self._turns = name, turns
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._turns, args=(self._stop,), name=self._name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


__all__ = ["Background"]
