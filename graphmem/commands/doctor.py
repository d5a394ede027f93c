"""`graphmem doctor`: everything the service needs, looked at one by one."""

from __future__ import annotations

import secrets
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from graphmem.commands.frame import Exit, Out, command, home_path, index_free, settings
from graphmem.errors import GraphmemError, UnavailableError
from graphmem.memory import Turn
from graphmem.scope import Scope

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.settings import Settings

MEND = {
    "neo4j": "graphmem up",
    "migrations": "graphmem migrate apply",
    "dimensions": "graphmem reindex",
    "index": "end the other graphmem process (pgrep -af graphmem shows it), or graphmem reindex",
    "projection": "graphmem reindex",
    "settings": "env | grep GRAPHMEM_",
    "write": "graphmem migrate status",
    "read": "graphmem check",
    "meaning": "graphmem reindex",
    "forget": "graphmem check",
}
"""The command that mends a check."""

DRAIN_S = 10.0
"""Seconds that what waits for projection may take before the round trip goes on."""

SAID = "I live in Leeds."
"""What the round trip hears, of nobody, in a tenant that is thrown away."""

ASKED = "Where do I live?"
"""What finds it again by its meaning."""


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


def doctor(out: Out) -> None:
    """Look at everything the service needs; each row says what mends it. Exit code 3 when something is wrong."""
    chosen = settings()
    found = [_python(), _home(chosen), _zone(chosen), *_own_neo4j(chosen), *_models(chosen), *_stores(chosen)]

    out(found, found, ("", "check", "found", "what mends it"), _cells)
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
        found = find_java()
        java = Finding("Java", True, f"{found.release} ({found.program})")
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
    """What the façade says of its stores, and a round trip through them; the error itself where it does not open."""
    from graphmem import localdb
    from graphmem.app import open_graphmem

    if chosen.neo4j_uri is None and localdb.status(chosen.home) is None:
        return []
    try:
        with open_graphmem(chosen, warm=False, check_index=False) as g:
            checks = g.ready().checks
            found = [Finding(name, fine, words, "" if fine else MEND.get(name, MEND["settings"])) for name, fine, words in checks]
            return [*found, _projection(g), _round_trip(g)]
    except UnavailableError as error:
        own = (
            "graphmem up" if chosen.neo4j_uri is None else f"start what {chosen.neo4j_uri} names, or: env -u GRAPHMEM_NEO4J_URI graphmem up"
        )
        return [Finding(error.store, False, _words(error), own if error.store == "neo4j" else MEND["index"])]
    except GraphmemError as error:
        return [Finding("stores", False, _words(error), "graphmem migrate status")]


def _words(error: GraphmemError) -> str:
    return f"{error.detail} ({error.hint})" if error.hint else error.detail


def _projection(g: Graphmem) -> Finding:
    lag = g.outbox.lag()
    fine = lag.parked == 0
    return Finding("projection", fine, f"{lag.pending} waiting, {lag.parked} parked", "" if fine else MEND["projection"])


def _round_trip(g: Graphmem) -> Finding:
    """Hear, tell, find by meaning, forget: in a throw-away tenant, which is gone afterwards whatever happens."""
    tenant = f"doctor-{secrets.token_hex(8)}"
    began = time.monotonic()
    try:
        failed = _trip(g, Scope(tenant, "nobody"))
    except GraphmemError as error:
        failed = ("write", _words(error))
    finally:
        _thrown_away(g, tenant)
    if failed is not None:
        return Finding("round trip", False, failed[1], MEND[failed[0]])
    return Finding("round trip", True, f"heard, told, forgotten in {1000 * (time.monotonic() - began):.0f} ms")


def _thrown_away(g: Graphmem, tenant: str) -> None:
    """The graph is wiped first; where another process has the index, nothing of the round trip was put there."""
    try:
        g.wipe(tenant)
    except UnavailableError:
        if index_free(g):
            raise


def _trip(g: Graphmem, scope: Scope) -> tuple[str, str] | None:
    """The step that failed and what was found there, or None."""
    heard = g.inject(scope, Turn(SAID, session_id="doctor"))
    if [s.memory.key for s in heard.stored] != ["home_city"]:
        return "write", "a plain statement was not stored"
    mid = heard.stored[0].memory.mid
    if [m.mid for m in g.latest(scope, "home_city").items] != [mid]:
        return "read", "what was stored is not told"
    if index_free(g):
        g.drain(DRAIN_S)
        if not g.search(scope, ASKED).items and not g.outbox.lag().pending:
            return "meaning", "what was stored is not found by its meaning"
    g.forget(scope, mid)
    if g.latest(scope, "home_city").items:
        return "forget", "what was forgotten is still told"
    return None
