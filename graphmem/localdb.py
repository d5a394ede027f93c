"""A real Neo4j server of one's own, as a child process: one long-lived server per data home, found again by every later command.

`up` starts it or finds it, `down` stops it, `status` looks. The server outlives the process that started it. Everything it owns lies
in `<home>/neo4j`: data, logs, `console.log`, `password` (mode 600) and `server.json` (which process, which ports).
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs
from filelock import FileLock, Timeout

from graphmem import browserhost, jars, process
from graphmem.errors import ConfigurationError, GraphmemError, UnavailableError
from graphmem.java import find_java
from graphmem.localconf import Profile, command, settings
from graphmem.localstate import State, password, read_state, write_private, write_state
from graphmem.loopback import LOOPBACK, free_ports, listens

Probe = Callable[[str, str], Literal["ready", "starting", "refused"]]
"""Asks the server at a Bolt address with a password whether it answers: graphmem.stores.neo4j_probe.probe."""

USER = "neo4j"
START_S = 180.0  # 6 s on a quiet machine; a loaded one took 20
STOP_S = 60.0  # 0.4-2.2 s measured
LOCK_S = START_S + STOP_S
STARTS = 3  # another program may take a port between our look and the server's
_TAIL = 1 << 16


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process, its loopback ports, and how to log in (user `neo4j`). `home` is the data home."""

    pid: int
    bolt_port: int
    http_port: int
    home: Path
    password: str = field(repr=False)
    user: str = USER

    @property
    def uri(self) -> str:
        """The Bolt address for a driver."""
        return f"bolt://{LOOPBACK}:{self.bolt_port}"

    @property
    def browser_url(self) -> str:
        """Where Neo4j Browser answers."""
        return f"http://{LOOPBACK}:{self.http_port}/browser/"


@dataclass(frozen=True, slots=True)
class _Start:
    """One wish to start: Neo4j's folder, the command line, what neo4j.conf says beside the ports, and (by HTTP port) for Browser."""

    folder: Path
    run: list[str]
    profile: Profile
    extra: Mapping[str, str]
    kit: Callable[[int], Mapping[str, str]]


def data_home(home: Path | str | None = None) -> Path:
    """The data home: the one given, else GRAPHMEM_HOME, else the system's place for a person's data."""
    chosen = home or os.environ.get("GRAPHMEM_HOME") or platformdirs.user_data_dir("graphmem")
    return Path(chosen).expanduser().absolute()


def up(
    home: Path | str | None = None,
    *,
    probe: Probe,
    profile: Profile = "serve",
    progress: jars.Progress | None = None,
    extra_conf: Mapping[str, str] | None = None,
) -> Server:
    """The home's server, started if it does not run, answering `RETURN 1` when this returns.

    `profile` and `extra_conf` (settings of neo4j.conf) matter only when it is started here. A new start takes the ports of the one
    before if they are free. Safe to call from several processes at once.
    Raises ConfigurationError (no Java, no jars, a password that does not fit) or UnavailableError (it does not come up, and why).
    """
    folder = data_home(home) / "neo4j"
    with _locked(folder):
        state = read_state(folder)
        if state is None or not _found(folder, state, probe):
            java, lib = find_java(), jars.neo4j_jars(progress)
            pages = browserhost.pages(lib)
            kit = browserhost.conf if pages else lambda http_port: {}
            wish = _Start(folder, command(java, profile, lib, folder, pages), profile, extra_conf or {}, kit)
            state = _start(wish, probe, (state.bolt, state.http) if state else (0, 0))
        return _server(folder, state)


def down(home: Path | str | None = None) -> bool:
    """Stops the home's server and waits for its end; False when none ran."""
    folder = data_home(home) / "neo4j"
    if not folder.exists():
        return False
    with _locked(folder):
        state = read_state(folder)
        if state is None or not state.runs():
            return False
        process.stop(state.pid, state.start, patience_s=STOP_S)
        return True


def status(home: Path | str | None = None) -> Server | None:
    """The home's running server, None when there is none. Looks at the process only: one that is just starting counts."""
    folder = data_home(home) / "neo4j"
    state = read_state(folder)
    return _server(folder, state) if state is not None and state.runs() else None


def _found(folder: Path, state: State, probe: Probe) -> bool:
    """Whether the server noted runs and answers; False also when it ends while it is asked."""
    if not state.runs():
        return False
    try:
        _wait(folder, state, probe)
    except UnavailableError:
        if state.runs():
            raise
        return False
    write_state(folder, state)  # heals a damaged note
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone with this home, among all processes of this machine. Makes the folder, for its owner only."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    lock = FileLock(folder / "graphmem.lock", timeout=LOCK_S)
    try:
        lock.acquire()
    except Timeout as error:
        text = f"another graphmem command has held {folder} for {LOCK_S:.0f} seconds"
        raise UnavailableError(text, store="neo4j", hint="Wait for it, or end it.") from error
    try:
        yield
    finally:
        lock.release()


def _start(wish: _Start, probe: Probe, ports: tuple[int, ...]) -> State:
    """Starts the server; again with other ports when another program was quicker to take one."""
    folder = wish.folder
    for name in ("conf", "import", "logs"):
        (folder / name).mkdir(exist_ok=True)
    for _ in range(STARTS):
        offset = _size(folder / "console.log")
        state = _spawn(wish, *free_ports(*ports))
        try:
            _wait(folder, state, probe)
        except GraphmemError as error:
            process.stop(state.pid, state.start, patience_s=STOP_S)
            said = _console(folder, offset)
            if isinstance(error, ConfigurationError):
                raise
            if "PortBindException" not in said:
                raise UnavailableError(f"{error.detail}: {_reason(said)}", store="neo4j", hint=error.hint) from error
            ports = (0, 0)
        else:
            return state
    raise UnavailableError(
        "no free port was found for Neo4j", store="neo4j", hint="Try again, or name a running server in GRAPHMEM_NEO4J_URI."
    )


def _spawn(wish: _Start, bolt: int, http: int) -> State:
    """Runs the server in a session of its own (Ctrl-C here does not reach it) and notes it at once."""
    folder = wish.folder
    write_private(folder / "conf" / "neo4j.conf", settings(wish.profile, bolt, http, {**wish.kit(http), **wish.extra}))
    with (folder / "console.log").open("ab") as log:
        child = subprocess.Popen(wish.run, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    state = State(child.pid, process.started_at(child.pid) or "", bolt, http)
    child.returncode = 0  # it is to outlive us: otherwise Popen would warn of a process left behind
    write_state(folder, state)
    return state


def _wait(folder: Path, state: State, probe: Probe) -> None:
    """Returns when the server answers; raises when it ends, refuses the password, or says nothing for START_S seconds."""
    server, end, log = _server(folder, state), time.monotonic() + START_S, folder / "console.log"
    while time.monotonic() < end:
        if not state.runs():
            raise UnavailableError("Neo4j ended while it was starting", store="neo4j", hint=f"Read {log}.")
        if listens(state.bolt):
            answer = probe(server.uri, server.password)
            if answer == "ready":
                return
            if answer == "refused":
                raise ConfigurationError(
                    f"the password in {folder / 'password'} is not the one of the data in {folder / 'data'}",
                    hint="Put the right password into that file, or move the data folder away to begin with an empty one.",
                )
        time.sleep(0.1)
    text = f"Neo4j (process {state.pid}) did not answer within {START_S:.0f} seconds"
    raise UnavailableError(text, store="neo4j", hint=f"Read {log}; `graphmem down` stops it.")


def _server(folder: Path, state: State) -> Server:
    return Server(state.pid, state.bolt, state.http, folder.parent, password(folder))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _console(folder: Path, offset: int) -> str:
    """The end of what the server has said since `offset`."""
    path = folder / "console.log"
    with path.open("rb") as file:
        file.seek(max(offset, _size(path) - _TAIL))
        return file.read().decode("utf-8", errors="replace")


def _reason(said: str) -> str:
    """The console's line that says best why a start failed: the setting that is wrong, else the innermost cause, else its last word."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r'Exception in thread "main"|Caused by:', line)]
    named = [line for line in causes if "setting" in line] or causes[-1:] or lines[-1:] or ["it said nothing"]
    return re.sub(r'^(Exception in thread "main"|Caused by:) [\w.$]+: ', "", named[0])[:300]
