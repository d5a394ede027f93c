"""What work costs: seconds by the clock, and processor seconds of client and server, which other work on the machine does not move."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int | None) -> float:
    """Processor seconds that a process has used, user and system, all its threads; 0 where it is not known."""
    if pid is None:
        return 0.0
    words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


@dataclass(frozen=True, slots=True)
class Cost:
    """Rows that were written, and seconds: by the clock, of the client's processor, of the server's."""

    rows: int = 0
    wall: float = 0.0
    client: float = 0.0
    server: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.rows + other.rows, self.wall + other.wall, self.client + other.client, self.server + other.server)

    @property
    def rate(self) -> float:
        """Rows a second by the clock."""
        return self.rows / self.wall

    @property
    def per_row(self) -> float:
        """Processor milliseconds a row, client and server together."""
        return 1000 * (self.client + self.server) / self.rows

    def said(self) -> str:
        """One line of it."""
        client, server = (1000 * s / self.rows for s in (self.client, self.server))
        return (
            f"{self.rows} rows in {self.wall:.1f} s, {self.rate:.0f} a second; "
            f"processor {self.per_row:.3f} ms a row (client {client:.3f}, server {server:.3f})"
        )
