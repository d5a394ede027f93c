"""A tour of the graph in Neo4j Browser: writes a small story into the tenant `tour`, prints a link for each stop.

    python examples/browser_tour.py

Open a link, log in with the password that `graphmem browser` points to, press Run. The tenant is removed first, so the tour can be
repeated.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from graphmem import localdb
from graphmem.answers import Ask
from graphmem.app import Graphmem, open_graphmem
from graphmem.browser import Place, filled, link, query
from graphmem.memory import Turn
from graphmem.scope import Scope
from graphmem.settings import Settings

TENANT = "tour"
PERSON = Scope(TENANT, "阿宁")

SAID = (
    (40, "我平时喝美式。"),
    (30, "我住在杭州。"),
    (21, "我对青霉素过敏。"),
    (9, "我改喝燕麦拿铁了。"),
    (2, "我喜欢吃香菜。"),
    (1, "我讨厌吃香菜。"),  # a reversal within 72 hours waits for the user's word
)
"""Days ago, and the words."""

STOPS: tuple[tuple[str, dict[str, str]], ...] = (
    ("memory_map", {}),
    ("version_chain", {"key": "coffee_preference"}),
    ("as_of_map", {"as_of": f"{datetime.now(UTC) - timedelta(days=20):%Y-%m-%d}"}),
    ("pending_and_review", {}),
    ("why_memory", {}),
    ("access_heat", {}),
    ("drug_relations", {"ckey": "drug:penicillin"}),
)
"""Saved queries in the order of the tour, with what each is asked beside whose memory it is."""


def tell(graphmem: Graphmem) -> None:
    """The story: what was said on which day, then one question."""
    graphmem.wipe(TENANT)
    now = datetime.now(UTC)
    for number, (days, text) in enumerate(SAID, 1):
        graphmem.inject(PERSON, Turn(text, session_id=f"day-{number}", turn_id="1", at=now - timedelta(days=days)))
    graphmem.drain()
    graphmem.recall(PERSON, Ask("来一杯我平时喝的咖啡", session_id="today"))


def stops(place: Place) -> list[tuple[str, str]]:
    """Title and link of each stop."""
    found = []
    for name, asked in STOPS:
        one = query(name)
        values = {"tenant_id": TENANT, "user_id": PERSON.user, **asked}
        found.append((f"{one.title.zh} · {one.title.en}", link(place, filled(one, values))))
    return found


def place(settings: Settings) -> Place:
    """Browser of the server that the settings name, else of the one of your own."""
    if settings.neo4j_uri is not None:
        page = f"http://{urlsplit(settings.neo4j_uri).hostname}:7474/browser/"
        return Place(page, settings.neo4j_uri, settings.neo4j_user, settings.neo4j_database)
    server = localdb.status(settings.home)
    if server is None:
        raise SystemExit("the Neo4j of your own has ended: graphmem up starts it again")
    return Place(server.browser_url, server.uri, server.user)


def main() -> None:
    settings = Settings()
    with open_graphmem(settings, migrate=True, warm=False) as graphmem:
        tell(graphmem)
    for title, address in stops(place(settings)):
        print(f"{title}\n  {address}")


if __name__ == "__main__":
    main()
