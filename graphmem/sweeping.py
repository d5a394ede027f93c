"""The sweep in the background of a service: now and then, for all tenants; any number of processes may do it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from graphmem.background import Background
from graphmem.errors import GraphmemError


def sweeping(sweep: Callable[[], object], seconds: float) -> Background:
    """Calls `sweep` every `seconds` once it is started. A store that is away is met again at the next turn."""

    def turns(stop: threading.Event) -> None:
        while not stop.wait(seconds):
            try:
                sweep()
            except GraphmemError:
                continue

    return Background("graphmem-sweep", turns)


__all__ = ["sweeping"]
