"""Wire turns: how often a client speaks and then waits for the server, counted at the socket by a relay in between."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_CHUNK = 1 << 16


class Relay:
    """Passes bytes between one loopback port and a server. `turns` grows when the client speaks after the server has."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._guard = threading.Lock()
        self._clients_turn = False
        self._open: list[socket.socket] = [self._door]
        self.turns = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._door.getsockname()[1])

    def close(self) -> None:
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.create_connection(self._target)
                self._open += [client, server]
                for source, sink, ours in ((client, server, True), (server, client, False)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self._pass, args=(source, sink, ours), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                with self._guard:
                    self.turns += from_client and not self._clients_turn
                    self._clients_turn = from_client
                sink.sendall(data)

    def counted(self, act: Callable[[], object]) -> int:
        """Turns of one call."""
        before = self.turns
        act()
        return self.turns - before


@contextmanager
def relay(uri: str) -> Iterator[tuple[Relay, str] | None]:
    """A relay before a `bolt://` server and the address to use; None where the driver would route around it."""
    parts = urlsplit(uri)
    if parts.scheme != "bolt":
        yield None
        return
    made = Relay(parts.hostname or "127.0.0.1", parts.port or 7687)
    try:
        yield made, f"bolt://127.0.0.1:{made.port}"
    finally:
        made.close()
