"""The real HTTP server around an application, on a free loopback port; and a client of graphql-transport-ws."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from fastapi import FastAPI
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from api.server import server

PROTOCOL = "graphql-transport-ws"
PATIENCE = 20.0
"""Seconds until an answer that should come is missed."""


@contextmanager
def served(app: FastAPI) -> Iterator[int]:
    """The port, once it is bound; the server has ended when this ends."""
    serving = server(app, port=0)
    bound = threading.Event()
    startup = serving.startup

    async def started(sockets: None = None) -> None:
        await startup(sockets=sockets)
        bound.set()

    serving.startup = started  # type: ignore[method-assign, assignment]
    thread = threading.Thread(target=serving.run)
    thread.start()
    try:
        assert bound.wait(PATIENCE)
        yield serving.servers[0].sockets[0].getsockname()[1]
    finally:
        serving.should_exit = True
        thread.join(PATIENCE)
    assert not thread.is_alive()


class Live:
    """One web socket."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire

    def send(self, message: object) -> None:
        self.wire.send(message if isinstance(message, str | bytes) else json.dumps(message, ensure_ascii=False))

    def heard(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next message; TimeoutError when none comes."""
        return cast(dict[str, Any], json.loads(self.wire.recv(timeout=seconds)))

    def begin(self, payload: Mapping[str, object] | None = None) -> Live:
        self.send({"type": "connection_init"} if payload is None else {"type": "connection_init", "payload": payload})
        assert self.heard() == {"type": "connection_ack"}
        return self

    def subscribe(self, query: str, name: str = "1", **variables: object) -> Live:
        self.send({"id": name, "type": "subscribe", "payload": {"query": query, "variables": variables}})
        return self

    def closed(self, seconds: float = PATIENCE) -> int:
        """The code with which the server ends it; what it still says before is passed over."""
        try:
            while True:
                self.wire.recv(timeout=seconds)
        except ConnectionClosed as ended:
            assert ended.rcvd is not None
            return int(ended.rcvd.code)


@contextmanager
def live(port: int, *, protocols: Sequence[str] = (PROTOCOL,), headers: Mapping[str, str] | None = None) -> Iterator[Live]:
    """A web socket to /graphql, closed at the end."""
    address, wanted = f"ws://127.0.0.1:{port}/graphql", [Subprotocol(p) for p in protocols] or None
    with connect(address, subprotocols=wanted, additional_headers=headers, proxy=None, open_timeout=PATIENCE) as wire:
        yield Live(wire)
