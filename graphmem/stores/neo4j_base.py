"""The one Neo4j connection: driver, queries by name, faults translated by class and `code` (neo4j.md section 3), never by message."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, LiteralString, TypeVar, cast

from neo4j import (
    READ_ACCESS,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    NotificationMinimumSeverity,
    Query,
    Record,
    Result,
    RoutingControl,
    unit_of_work,
)
from neo4j.exceptions import AuthError, ConstraintError, DriverError, Neo4jError
from neo4j.exceptions import ConfigurationError as DriverConfigurationError

from graphmem.errors import ConfigurationError, GraphmemError, InvalidInputError, OverloadedError, UnavailableError
from graphmem.stores import cypher

T = TypeVar("T")

WRITE_TIMEOUT_S = 5.0
"""Transaction timeout of a write (design section 3)."""

RETRY_S = 15.0
"""How long the driver repeats transient faults before it gives up."""

_GONE = "Neo.ClientError.Statement.EntityNotFound"
"""What was read was deleted by another transaction before it was used: a concept whose last memory was purged."""

_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
_TOO_SLOW = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
    "Neo.ClientError.Transaction.Terminated",
)


class UniqueFault(Exception):  # noqa: N818 - never leaves the stores
    """A uniqueness constraint said no: read again and try once more."""


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Driver faults as errors of ours, the cause kept."""
    try:
        yield
    except ConstraintError as fault:
        raise UniqueFault(str(fault)) from fault
    except AuthError as fault:
        raise ConfigurationError("Neo4j refuses the login", hint="check GRAPHMEM_NEO4J_USER and GRAPHMEM_NEO4J_PASSWORD") from fault
    except DriverConfigurationError as fault:
        raise ConfigurationError(f"the Neo4j address does not work: {fault}", hint="check GRAPHMEM_NEO4J_URI") from fault
    except Neo4jError as fault:
        if fault.code == _GONE:
            raise UniqueFault("a node that was read went away meanwhile") from fault
        raise _translate(fault) from fault
    except DriverError as fault:
        raise UnavailableError(f"Neo4j does not answer ({type(fault).__name__})", store="neo4j") from fault
    except UnicodeEncodeError as fault:
        raise InvalidInputError("the text holds a lone surrogate, which is no character", field="text") from fault


def _translate(fault: Neo4jError) -> GraphmemError:
    code = fault.code or ""
    if code == _MEMORY or code in _TOO_SLOW:
        return OverloadedError("Neo4j gave up on a statement that took too much", store="neo4j")
    if code.startswith("Neo.TransientError") or "DatabaseUnavailable" in code or "NotALeader" in code:
        return UnavailableError("Neo4j could not finish now", store="neo4j")
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return ConfigurationError("the Neo4j database does not exist", hint="check GRAPHMEM_NEO4J_DATABASE")
    return GraphmemError(f"Neo4j refused a statement ({code})", code="store_fault")


class Neo4j:
    """A driver and the loaded queries. Thread safe; close() ends it. Every call names a query of cypher/, never text."""

    def __init__(self, uri: str, user: str, password: str, *, database: str = "neo4j", pool: int = 64) -> None:
        self.queries = cypher.load()
        self.database = database
        self._warmed_at = 0.0
        with translated():
            self._driver: Driver = GraphDatabase.driver(
                uri,
                auth=(user, password),
                max_connection_pool_size=pool,
                connection_acquisition_timeout=10.0,
                connection_timeout=5.0,
                max_transaction_retry_time=RETRY_S,
                max_connection_lifetime=900,
                liveness_check_timeout=60,
                notifications_min_severity=NotificationMinimumSeverity.OFF,
                user_agent="graphmem",
            )

    @property
    def driver(self) -> Driver:
        return self._driver

    def close(self) -> None:
        self._driver.close()

    def read_one(self, name: str, parameters: Mapping[str, object]) -> Record | None:
        """The single record of a read query, or None."""
        query = self.queries[name]
        with translated():
            return self._driver.execute_query(
                _text(query.text),
                {"in": dict(parameters)},
                database_=self.database,
                routing_=RoutingControl.READ,
                result_transformer_=_single,
            )

    def read_all(self, name: str, parameters: Mapping[str, object]) -> list[Record]:
        query = self.queries[name]
        with translated():
            found = self._driver.execute_query(
                _text(query.text), {"in": dict(parameters)}, database_=self.database, routing_=RoutingControl.READ
            )
        return list(found.records)

    def write_one(self, name: str, parameters: Mapping[str, object]) -> Record | None:
        """One write statement in a transaction of its own, retried by the driver."""
        query = self.queries[name]
        with translated():
            return self._driver.execute_query(
                _text(query.text), {"in": dict(parameters)}, database_=self.database, result_transformer_=_single
            )

    def transact(self, work: Callable[[ManagedTransaction], T], *, timeout: float = WRITE_TIMEOUT_S) -> T:
        """Run `work` in a managed write transaction (retried on transient faults).

        A server that has just started plans a statement at its first run, which under load can outlast the timeout: then every plan
        is made without one, and the work is run once more.
        """
        began = time.monotonic()
        try:
            return self._transact(work, timeout)
        except OverloadedError:
            if self._warmed_at > began:  # another thread has just done it
                return self._transact(work, timeout)
            self.explain_all()
            return self._transact(work, timeout)

    def _transact(self, work: Callable[[ManagedTransaction], T], timeout: float) -> T:
        with translated(), self._driver.session(database=self.database) as session:
            return session.execute_write(unit_of_work(timeout=timeout)(work))

    def run(self, tx: ManagedTransaction, name: str, parameters: Mapping[str, object]) -> Record:
        """One statement inside a transaction; it returns exactly one record."""
        record = tx.run(_text(self.queries[name].text), {"in": dict(parameters)}).single()
        if record is None:
            raise GraphmemError(f"query '{name}' returned nothing", code="store_fault")
        return record

    def implicit(self, name: str, parameters: Mapping[str, object]) -> list[Record]:
        """An auto-commit statement without time limit (CALL … IN TRANSACTIONS)."""
        with translated(), self._driver.session(database=self.database) as session:
            return list(session.run(Query(_text(self.queries[name].text), timeout=0), {"in": dict(parameters)}))

    def text(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[Record]:
        """A statement of a schema file or an EXPLAIN: never user text."""
        with translated(), self._driver.session(database=self.database) as session:
            return list(session.run(_text(statement), dict(parameters or {})))

    def ping(self) -> None:
        """RETURN 1, or UnavailableError."""
        with translated(), self._driver.session(database=self.database, default_access_mode=READ_ACCESS) as session:
            session.run("RETURN 1").consume()

    def explain_all(self) -> None:
        """EXPLAIN every query: plans warm, mistakes found at start and not at the first user."""
        for query in self.queries.values():
            if query.mode != "implicit":
                self.text("EXPLAIN " + query.text, {"in": {}})
        self._warmed_at = time.monotonic()


def _text(text: str) -> LiteralString:
    # the driver asks for a literal; ours come from cypher/ and are checked by the loader
    return text


def _single(result: Result) -> Record | None:
    found: Any = result.single()
    return cast(Record | None, found)
