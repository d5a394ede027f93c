"""`graphmem doctor`: everything the service needs, looked at one by one."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from graphmem.commands.frame import Exit, Output, OutputOption, command, emit, home_path, settings
from graphmem.errors import GraphmemError, UnavailableError

if TYPE_CHECKING:
    from graphmem.settings import Settings

MEND = {
    "neo4j": "graphmem up",
    "migrations": "graphmem migrate apply",
    "index": "end the other graphmem process, or graphmem reindex",
}
"""What mends a check of the stores."""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, "doctor")(doctor)


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of the doctor. `mend` is a command, or empty where nothing is wrong."""

    check: str
    fine: bool
    found: str
    mend: str = ""


def doctor(output: OutputOption = Output.TABLE) -> None:
    """Look at everything the service needs; each row says what mends it. Exit code 3 when something is wrong."""
    chosen = settings()
    found = [_python(), _home(chosen), _zone(chosen), *_own_neo4j(chosen), *_models(chosen), *_stores(chosen)]

    emit(output, found, found, ("", "check", "found", "what mends it"), _cells)
    if not all(finding.fine for finding in found):
        raise typer.Exit(Exit.CHECK_FAILED)


def _cells(found: Finding) -> tuple[str, ...]:
    return ("ok" if found.fine else "WRONG", found.check, found.found, found.mend)


def _python() -> Finding:
    fine = sys.version_info >= (3, 11)
    return Finding("Python", fine, sys.version.split()[0], "" if fine else "make PYTHON=/path/to/python3.11")


def _home(chosen: Settings) -> Finding:
    path = home_path(chosen)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".doctor-{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        return Finding("data home", False, f"{path}: {error.strerror}", "export GRAPHMEM_HOME=<a folder of yours>")
    return Finding("data home", True, str(path))


def _zone(chosen: Settings) -> Finding:
    from zoneinfo import ZoneInfo

    try:
        return Finding("time zone", True, ZoneInfo(chosen.zone).key)
    except (KeyError, ValueError, OSError):
        return Finding("time zone", False, f"{chosen.zone!r} is no IANA zone", "export GRAPHMEM_ZONE=Asia/Shanghai")


def _own_neo4j(chosen: Settings) -> list[Finding]:
    """Java and the server, only where no other Neo4j is named."""
    from graphmem import localdb
    from graphmem.java import find_java

    if chosen.neo4j_uri is not None:
        return []
    try:
        java = Finding("Java", True, str(find_java()))
    except GraphmemError as error:
        java = Finding("Java", False, error.detail, error.hint or "pip install 'graphmem[local]'")
    runs = localdb.status(chosen.home)
    return [java, Finding("Neo4j process", runs is not None, runs.uri if runs else "none of your own runs", "" if runs else "graphmem up")]


def _models(chosen: Settings) -> list[Finding]:
    from graphmem.jars import cache_home, read_lock

    if "e5" not in chosen.embedders:
        return []
    jar = cache_home() / "models" / read_lock("models.lock")[0].name
    return [Finding("e5 model", True, str(jar) if jar.exists() else "is fetched at its first use (25 MB)")]


def _stores(chosen: Settings) -> list[Finding]:
    """What the façade says of its stores; the error itself where it does not open."""
    from graphmem import localdb
    from graphmem.app import open_graphmem

    if chosen.neo4j_uri is None and localdb.status(chosen.home) is None:
        return []
    try:
        with open_graphmem(chosen, warm=False, check_index=False) as g:
            checks = g.ready().checks
            lag = g.outbox.lag()
    except UnavailableError as error:
        return [Finding(error.store, False, error.detail, error.hint or f"start it: {chosen.neo4j_uri}")]
    except GraphmemError as error:
        return [Finding("stores", False, error.detail, error.hint or "graphmem migrate status")]
    found = [Finding(name, fine, words, "" if fine else MEND.get(name, "")) for name, fine, words in checks]
    words = f"{lag.pending} waiting, {lag.parked} parked"
    return [*found, Finding("projection", lag.parked == 0, words, "" if lag.parked == 0 else "graphmem reindex")]
