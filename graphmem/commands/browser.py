"""Commands for Neo4j Browser: open it with a saved query, list the saved queries, write them as favourites."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from graphmem.commands.frame import Out, Who, bring_up, command, guard, say, settings
from graphmem.errors import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from graphmem.browser import Place, Saved
    from graphmem.settings import Settings

HTTP_PORT = 7474
"""Where a Neo4j that one runs oneself serves Browser, if nothing else is said."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    browser = typer.Typer(help="Neo4j Browser: open it with a saved query, list the saved queries, keep them as favourites.")
    browser.callback(invoke_without_command=True)(guard(open_, "browser"))
    command(browser, "queries")(queries)
    command(browser, "favourites")(favourites)
    app.add_typer(browser, name="browser")


def open_(
    context: typer.Context,
    name: Annotated[str, typer.Option("--query", help="A saved query; `graphmem browser queries` lists them.")] = "memory_map",
    params: Annotated[list[str] | None, typer.Option("--param", help="NAME=VALUE, as as_of=2026-03-01; may be given again.")] = None,
    page: Annotated[str | None, typer.Option("--page", help="Address of Browser, where Neo4j is one that you run yourself.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
    *,
    who: Who,
) -> None:
    """Open Neo4j Browser, connected to the local server but for the password, with a saved query filled in.

    Prints the address on stdout and where the password is on stderr. Starts the Neo4j of your own if it does not run.
    """
    if context.invoked_subcommand is not None:
        return
    from graphmem.browser import filled, link, query

    one = query(name)
    people = {"tenant_id": who.tenant, "user_id": who.user}
    text = filled(one, {**{k: v for k, v in people.items() if k in one.params}, **_pairs(params or ())})
    address = link(_place(settings(), page), text)
    typer.echo(address)
    if not no_open and not webbrowser.open(address):
        say("No web browser could be opened here; open the address yourself.")


def queries(out: Out) -> None:
    """The saved queries: name, title, parameters, what each shows. They only read."""
    from graphmem.browser import saved

    found = list(saved().values())
    items = [{"name": q.name, "title": q.title, "about": q.about, "params": q.params} for q in found]
    out.tables(items, items, ("name", "title", "params", "shows"), [_cells(q) for q in found])


def favourites(
    file: Annotated[Path, typer.Argument(help="The zip archive to write.", dir_okay=False)] = Path("graphmem-favourites.zip"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write the saved queries as an archive: dropped on the page of Neo4j Browser, it becomes a folder of favourites."""
    from graphmem.browser import favourites as archive

    if file.exists() and not force:
        raise InvalidInputError(f"{file} is there already", field="file", hint="name another file, or add --force.")
    file.write_bytes(archive())
    typer.echo(str(file))
    say("Drop it on the page of Neo4j Browser; its folder 'graphmem' is then under Favorites.")


def _cells(one: Saved) -> Sequence[str]:
    return one.name, f"{one.title.zh} · {one.title.en}", ", ".join(one.params), one.about.en


def _pairs(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInputError(f"--param {pair}: no '='", field="param", hint="write --param as_of=2026-03-01.")
        found[name] = value
    return found


def _place(chosen: Settings, page: str | None) -> Place:
    """The page to open and what it connects to; says where the password is."""
    from graphmem.browser import Place

    if chosen.neo4j_uri is None:
        return _own(chosen, page)
    host = urlsplit(chosen.neo4j_uri).hostname or "localhost"
    say(f"Log in as {chosen.neo4j_user} with the password of {chosen.neo4j_uri}.")
    say("Style, guide and parameters are not loaded there by themselves: docs/how-to/look-at-the-graph.md says how.")
    return Place(page or f"http://{host}:{HTTP_PORT}/browser/", chosen.neo4j_uri, chosen.neo4j_user, chosen.neo4j_database)


def _own(chosen: Settings, page: str | None) -> Place:
    from graphmem import localdb
    from graphmem.browser import Place
    from graphmem.browserhost import serves_kit

    bring_up(chosen)
    server = localdb.status(chosen.home)
    if server is None:
        raise UnavailableError("the Neo4j of your own has ended meanwhile", store="neo4j", hint="graphmem up starts it again.")
    say(f"Log in as {server.user}; the password is in {server.home / 'neo4j' / 'password'}")
    if not serves_kit(server.http_port):
        say("The server was started without style and guide: graphmem down and graphmem up bring them.")
    return Place(page or server.browser_url, server.uri, server.user)
