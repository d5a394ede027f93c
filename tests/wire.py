"""A TCP proxy that counts what a driver says to Neo4j: flights from client to server, statements, transactions, bytes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

_RUN, _BEGIN, _COMMIT = 0x10, 0x11, 0x12


@dataclass
class _Line:
    """One connection: what the client sent since the last reset, and whether the server has answered since the client's last burst."""

    sent: bytearray = field(default_factory=bytearray)
    answered: bool = True
    flights: int = 0


class WireProxy:
    """Listens on loopback and forwards to the server. A flight is a burst of the client after which the server answers."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._guard = threading.Lock()
        self._lines: list[_Line] = []
        self._sockets: list[socket.socket] = []
        self._threads = [self._thread(self._accept)]

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        # a close alone does not wake a thread that waits in accept
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for s in self._sockets:
            with suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for s in self._sockets:
            s.close()

    def reset(self) -> None:
        """Begin to count; every connection must be idle, so that what follows begins with a whole message."""
        with self._guard:
            for line in self._lines:
                line.sent.clear()
                line.answered, line.flights = True, 0

    @property
    def flights(self) -> int:
        with self._guard:
            return sum(line.flights for line in self._lines)

    @property
    def sent(self) -> int:
        """Bytes from the client."""
        with self._guard:
            return sum(len(line.sent) for line in self._lines)

    @property
    def statements(self) -> int:
        return self._messages(_RUN)

    @property
    def transactions(self) -> tuple[int, int]:
        """Explicit transactions begun and committed."""
        return self._messages(_BEGIN), self._messages(_COMMIT)

    def _messages(self, signature: int) -> int:
        with self._guard:
            return sum(_signatures(bytes(line.sent)).count(signature) for line in self._lines)

    def _thread(self, run: object, *args: object) -> threading.Thread:
        assert callable(run)
        thread = threading.Thread(target=run, args=args, daemon=True)
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            line = _Line()
            with self._guard:
                self._lines.append(line)
                self._sockets += [client, server]
                self._threads += [self._thread(self._up, client, server, line), self._thread(self._down, server, client, line)]

    def _up(self, client: socket.socket, server: socket.socket, line: _Line) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                with self._guard:
                    line.sent += data
                    line.flights += line.answered
                    line.answered = False
                server.sendall(data)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _down(self, server: socket.socket, client: socket.socket, line: _Line) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                with self._guard:
                    line.answered = True
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def _signatures(sent: bytes) -> list[int]:
    """The kinds of the Bolt messages in `sent`: chunks of a two-byte length, ended by an empty chunk; the tag is the second byte."""
    found, at, message = [], 0, b""
    while at + 2 <= len(sent):
        size = int.from_bytes(sent[at : at + 2])
        at += 2
        if size:
            message += sent[at : at + size]
            at += size
        elif message:
            found.append(message[1])
            message = b""
    return found
