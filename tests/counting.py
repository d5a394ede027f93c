"""A graph connection that counts how often each write's transaction function runs: more often than the writes means a retry."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from neo4j import ManagedTransaction

from graphmem.app import Graphmem
from graphmem.stores.neo4j_base import WRITE_TIMEOUT_S, Neo4j
from tests.conftest import Neo4jServer
from tests.fakes_index import FakeIndex

T = TypeVar("T")

LOCK = "SET u.lock = true"


class CountingNeo4j(Neo4j):
    """`attempts` counts transaction functions, `transactions` the calls that asked for one."""

    def __init__(self, server: Neo4jServer) -> None:
        super().__init__(server.uri, server.user, server.password)
        self._guard = threading.Lock()
        self.attempts = self.transactions = 0

    def reset(self) -> None:
        self.attempts = self.transactions = 0

    def transact(self, work: Callable[[ManagedTransaction], T], *, timeout: float = WRITE_TIMEOUT_S) -> T:
        def counted(tx: ManagedTransaction) -> T:
            with self._guard:
                self.attempts += 1
            return work(tx)

        with self._guard:
            self.transactions += 1
        return super().transact(counted, timeout=timeout)


class UnlockedNeo4j(CountingNeo4j):
    """The same without the lock statement: what the tests of concurrency must be able to catch."""

    def __init__(self, server: Neo4jServer) -> None:
        super().__init__(server)
        query = self.queries["lock_and_read"]
        assert query.text.count(LOCK) == 1
        self.queries = {**self.queries, "lock_and_read": replace(query, text=query.text.replace(LOCK, ""))}


@contextmanager
def counting(neo4j: CountingNeo4j, like: Graphmem) -> Iterator[Graphmem]:
    """A façade over `neo4j` that reads no index; keys and settings are those of `like`."""
    with Graphmem(like.settings, neo4j, FakeIndex({"none": 1}), (), bytes(32)) as made:
        yield made


def at_once(calls: Iterable[Callable[[], T]], workers: int) -> list[T | BaseException]:
    """Run the calls on `workers` threads that begin together; results and errors in the order of the calls."""
    calls = list(calls)
    ready = threading.Barrier(min(workers, len(calls)))
    waited = threading.local()

    def run(call: Callable[[], T]) -> T | BaseException:
        if not getattr(waited, "done", False):
            waited.done = True
            ready.wait(30)
        try:
            return call()
        except Exception as fault:
            return fault

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, calls))


def results(found: Iterable[T | BaseException]) -> list[T]:
    """The results; the first error is raised."""
    good: list[T] = []
    for item in found:
        if isinstance(item, BaseException):
            raise item
        good.append(item)
    return good
