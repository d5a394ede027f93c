"""How the application is served: one place for the bounds and manners of the HTTP server."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI

HEAD_MAX = 2**20
"""Bytes of request line and headers. A search of 20,000 Chinese characters takes 180 kB of URL, above the server's own 64 kB."""


MESSAGE_MAX = 2**20
"""Bytes of one message of a web socket."""


def server(app: FastAPI, host: str = "127.0.0.1", port: int = 8000) -> uvicorn.Server:
    """A server for the application; `.run()` serves until a signal. No access log: paths name users."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http="h11",
            ws="websockets-sansio",
            ws_max_size=MESSAGE_MAX,
            h11_max_incomplete_event_size=HEAD_MAX,
            access_log=False,
            server_header=False,
            log_level="warning",
            timeout_graceful_shutdown=10,
        )
    )
