"""Loopback ports: free ones, and whether somebody listens."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_ports(*wanted: int) -> tuple[int, ...]:
    """As many different free ports as are wanted: each the wanted one if it is free, else (and for 0) any.

    Free at this moment: another program may take one before it is used.
    """
    held = [_bound(port) for port in wanted]
    try:
        return tuple(int(sock.getsockname()[1]) for sock in held)
    finally:
        for sock in held:
            sock.close()


def listens(port: int) -> bool:
    """Whether a connection to the port is taken."""
    with socket.socket() as sock:
        sock.settimeout(1)
        return sock.connect_ex((LOOPBACK, port)) == 0


def _bound(port: int) -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: a port in TIME_WAIT counts as free
    try:
        sock.bind((LOOPBACK, port))
    except OSError:
        sock.bind((LOOPBACK, 0))
    return sock
