"""Processes known by number and start time: a number alone may have been given to another process since."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_PROC = Path("/proc")


def started_at(pid: int) -> str | None:
    """A mark of when the process started, equal for its whole life; None when there is no such process, or it is a zombie."""
    state, start = _look(pid)
    return None if state.startswith("Z") else start


def alive(pid: int, start: str) -> bool:
    """Whether the process of that number and start mark still runs, with any of its threads: until the last has ended it holds its
    files and ports. A dead child of this process is let go on the way."""
    state, now = _look(pid)
    if now != start:
        return False
    if state.startswith("Z"):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        return _threads(pid) > 1
    return True


def stop(pid: int, start: str, *, patience_s: float) -> None:
    """Asks the process to end and waits; after `patience_s` seconds ends it by force. Never touches another process of that number."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if not alive(pid, start):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)
        end = time.monotonic() + patience_s
        while time.monotonic() < end and alive(pid, start):
            time.sleep(0.05)


def command_line(pid: int) -> str:
    """The words the process was started with, parted by spaces; empty when there is none."""
    if _PROC.joinpath("self").exists():
        try:
            return _PROC.joinpath(str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", errors="replace").strip()
        except OSError:
            return ""
    return _ps(pid, "command=")


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(_PROC / str(pid) / "task"))
    except OSError:
        return 0


def _look(pid: int) -> tuple[str, str | None]:
    """State letters and start mark; the mark is None when there is no such process."""
    if _PROC.joinpath("self").exists():
        try:
            text = _PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return "", None
        fields = text.rsplit(")", 1)[1].split()  # the name before it may hold spaces and brackets
        return fields[0], fields[19]
    state, _, start = _ps(pid, "stat=,lstart=").partition(" ")
    return state, start.strip() or None


def _ps(pid: int, columns: str) -> str:
    """The same where there is no /proc (macOS)."""
    command = ["ps", "-ww", "-o", columns, "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}).stdout.strip()
