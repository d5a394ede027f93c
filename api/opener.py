"""Opens the façade, at the start or as soon as its stores answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from graphmem.errors import UnavailableError

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.settings import Settings

AGAIN_SECONDS = 2.0
"""A store that is away is asked again no more often than this."""

_log = logging.getLogger("graphmem.api")


class Opener:
    """Holds the façade. One that was given stays its owner's; one opened here is projected in the background and closed here."""

    def __init__(self, given: Graphmem | None, open_: Callable[[], Graphmem], clock: Callable[[], float] = time.monotonic) -> None:
        self._given = given
        self._open = open_
        self._clock = clock
        self._opened: Graphmem | None = None
        self._lock = threading.Lock()
        self._away: UnavailableError | None = None
        self._asked = -AGAIN_SECONDS

    def graphmem(self) -> Graphmem:
        """The façade; UnavailableError (503) while a store is away."""
        ready = self._given or self._opened
        if ready is not None:
            return ready
        if not self._lock.acquire(blocking=False):
            raise self._away or UnavailableError("the service is starting", store="neo4j")
        try:
            return self._try()
        finally:
            self._lock.release()

    def _try(self) -> Graphmem:
        if self._opened is not None:
            return self._opened
        if self._away is not None and self._clock() - self._asked < AGAIN_SECONDS:
            raise self._away
        try:
            opened = self._open()
        except UnavailableError as error:
            self._away, self._asked = error, self._clock()
            raise
        opened.start_background()
        self._opened, self._away = opened, None
        return opened

    def start(self) -> None:
        """Opens at the start. A store that is away does not keep the service down: it answers 503 until it is there."""
        try:
            self.graphmem()
        except UnavailableError as error:
            _log.warning("started without %s; answering 503 until it is there", error.store)

    def stop(self) -> None:
        """Ends the background work and closes what was opened here."""
        with self._lock:
            if self._opened is not None:
                self._opened.stop_background()
                self._opened.close()
                self._opened = None


def open_by(settings: Settings) -> Callable[[], Graphmem]:
    """How the façade is opened; the stores are imported only then."""

    def opened() -> Graphmem:
        from graphmem.app import open_graphmem

        return open_graphmem(settings)

    return opened
