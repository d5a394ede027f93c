"""Is a Neo4j ready? The first question to a server of one's own, and its first password."""

from __future__ import annotations

from typing import Literal

from neo4j import GraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import AuthError, DriverError, Neo4jError

Answer = Literal["ready", "starting", "refused"]
USER = "neo4j"
_FACTORY_PASSWORD = "neo4j"  # noqa: S105 - what every new Neo4j begins with, changed below at once
_CONNECT_S = 5


def probe(uri: str, password: str) -> Answer:
    """Asks `RETURN 1`: `ready`, `starting` (ask again) or `refused` (the password is not this server's).

    A server that still has its factory password gets this one. Raises nothing for faults of the server.
    """
    answer = _ask(uri, password, "RETURN 1", "neo4j", {})
    if answer != "refused":
        return answer
    # ALTER CURRENT USER is the one statement allowed before the first password change
    change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
    if _ask(uri, _FACTORY_PASSWORD, change, "system", {"old": _FACTORY_PASSWORD, "new": password}) == "refused":
        return "refused"
    return "starting"


def _ask(uri: str, password: str, query: str, database: str, parameters: dict[str, str]) -> Answer:
    try:
        with GraphDatabase.driver(
            uri,
            auth=(USER, password),
            connection_timeout=_CONNECT_S,
            max_transaction_retry_time=0,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
        ) as driver:
            driver.execute_query(query, parameters, database_=database)
    except AuthError:
        return "refused"
    except (DriverError, Neo4jError, OSError):
        return "starting"
    return "ready"
