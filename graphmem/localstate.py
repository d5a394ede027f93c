"""What a data home remembers of its Neo4j: which process, which ports, which password. Files whole or not at all, for the owner only."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from graphmem import process


@dataclass(frozen=True, slots=True)
class State:
    """One start of the server: the process by number and start mark, and its ports."""

    pid: int
    start: str
    bolt: int
    http: int

    def runs(self) -> bool:
        """Whether that very process still runs."""
        return process.alive(self.pid, self.start)


def read_state(folder: Path) -> State | None:
    """The last start noted in `server.json`, whether it still runs or not; None when the server was never started.

    Where the note is missing or damaged, a server of this folder that runs is found by its own process file.
    """
    try:
        raw = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        return State(int(raw["pid"]), str(raw["start"]), int(raw["bolt"]), int(raw["http"]))
    except (OSError, ValueError, KeyError, TypeError):
        return _recovered(folder)


def write_state(folder: Path, state: State) -> None:
    """Notes a start."""
    write_private(folder / "server.json", json.dumps(asdict(state)))


def password(folder: Path) -> str:
    """The password kept in the folder; made at the first call."""
    path = folder / "password"
    with contextlib.suppress(FileNotFoundError):
        if kept := path.read_text(encoding="utf-8").strip():
            return kept
    made = secrets.token_urlsafe(24)
    write_private(path, made + "\n")
    return made


def write_private(path: Path, text: str) -> None:
    """Writes the file whole or not at all, with mode 600 from its first moment."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def _recovered(folder: Path) -> State | None:
    """The running server of this folder by Neo4j's own files. Its process file is trusted only if that process names this folder."""
    try:
        pid = int((folder / "run" / "neo4j.pid").read_text(encoding="utf-8"))
        conf = (folder / "conf" / "neo4j.conf").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    start = process.started_at(pid)
    ports = dict(re.findall(r"^server\.(bolt|http)\.listen_address=.*:(\d+)$", conf, re.MULTILINE))
    if start is None or f"--home-dir={folder} " not in process.command_line(pid) or len(ports) != 2:
        return None
    return State(pid, start, int(ports["bolt"]), int(ports["http"]))
