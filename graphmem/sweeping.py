"""The sweep in the background of a service: now and then, for all tenants; any number of processes may do it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from graphmem.errors import GraphmemError


class Sweeping:
    """Calls `sweep` every `seconds` in a thread of its own until stop(). A store that is away is met again at the next turn."""

    def __init__(self, sweep: Callable[[], object], seconds: float) -> None:
        self._sweep, self._seconds = sweep, seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="graphmem-sweep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._sweep()
            except GraphmemError:
                continue


__all__ = ["Sweeping"]
