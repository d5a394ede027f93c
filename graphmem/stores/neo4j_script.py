"""Statements of somebody's script, each once: its record is written in the transaction that runs it."""

from __future__ import annotations

from collections.abc import Mapping

from neo4j import ManagedTransaction, Query
from neo4j.exceptions import ClientError

from graphmem.errors import InvalidInputError
from graphmem.importing.script import Statement
from graphmem.stores.neo4j_base import Neo4j, UniqueFault, translated
from graphmem.stores.neo4j_base import _text as literal

TIMEOUT_S = 600.0
"""A statement of a script may be a large one."""


class Neo4jScript:
    """See bulk.Script."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def value(self, statement: Statement) -> object:
        """The value of a `:param` line."""
        with translated(), self._neo4j.driver.session(database=self._neo4j.database) as session:
            try:
                return session.run(literal(statement.text)).single(strict=True)["value"]
            except ClientError as fault:
                raise _refused(statement, fault) from fault

    def explain(self, statement: Statement, given: Mapping[str, object]) -> None:
        """Whether the server understands it; nothing runs."""
        with translated(), self._neo4j.driver.session(database=self._neo4j.database) as session:
            try:
                session.run(literal(f"EXPLAIN {statement.text}"), dict(given)).consume()
            except ClientError as fault:
                raise _refused(statement, fault) from fault

    def run(self, tenant: str, op: str, statement: Statement, given: Mapping[str, object]) -> bool:
        """Run it unless it was run before (False). One that commits by itself is noted after it: killed in between, it runs again."""
        noted = {"tenant_id": tenant, "op": op}

        def work(tx: ManagedTransaction) -> bool:
            if self._neo4j.run(tx, "script_done", noted)["done"]:
                return False
            if not statement.batched:
                tx.run(literal(statement.text), dict(given)).consume()
            self._neo4j.run(tx, "script_noted", noted)
            return True

        try:
            if statement.batched:
                found = self._neo4j.read_one("script_done", noted)
                if found is not None and found["done"]:
                    return False
                with translated(), self._neo4j.driver.session(database=self._neo4j.database) as session:
                    session.run(Query(literal(statement.text), timeout=0), dict(given)).consume()
            return self._neo4j.transact(work, timeout=TIMEOUT_S)
        except UniqueFault as fault:
            raise InvalidInputError(f"line {statement.line}: {fault}", field="file", code="bad_script") from fault
        except Exception as fault:
            if isinstance(fault.__cause__, ClientError):
                raise _refused(statement, fault.__cause__) from fault
            raise


def _refused(statement: Statement, fault: ClientError) -> InvalidInputError:
    said = (fault.message or fault.code or "the server refuses it").splitlines()[0]
    return InvalidInputError(
        f"line {statement.line}: {said}", field="file", code="bad_script", hint="what ran before it stays; run it again."
    )


__all__ = ["Neo4jScript"]
