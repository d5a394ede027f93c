"""Many guesses at one proof from several processes: each opens the store for itself and counts the comparisons it makes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

from graphmem import proofs, proving
from graphmem.errors import RefusedError
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores import keys
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_proof import Neo4jProofs
from graphmem.stores.neo4j_read import Neo4jReader
from graphmem.stores.neo4j_write import Neo4jWriter

PROCESSES = 4
THREADS = 6
MASTER = bytes(32)
"""The master key of these tests, the same in every process."""


@dataclass(frozen=True, slots=True)
class Guesses:
    """What became of guesses. `wrongs`: refusals; `compared`: how often a stored code was looked at."""

    accepted: int
    wrongs: int
    compared: int


class Guessers:
    """Four processes that prove at one server."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def show(self, scope: Scope, case_id: str, codes: Sequence[str]) -> Guesses:
        """All codes at once from all processes; the sum of what became of them."""
        shares = [self._pool.submit(_guess, scope, case_id, list(codes[i::PROCESSES])) for i in range(PROCESSES)]
        found = [s.result(timeout=120) for s in shares]
        return Guesses(sum(f.accepted for f in found), sum(f.wrongs for f in found), sum(f.compared for f in found))


@contextmanager
def guessers(uri: str, user: str, password: str) -> Iterator[Guessers]:
    """The processes, started at once (they open while other tests run) and ended at the end."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context, _open, (uri, user, password)) as pool:
        pool.submit(int)
        yield Guessers(pool)


_opened: list[proving.Proving] = []


def _open(uri: str, user: str, password: str) -> None:
    neo4j = Neo4j(uri, user, password)
    room, reader, writer = Room(Settings()), Neo4jReader(neo4j), Neo4jWriter(neo4j)
    _opened.append(proving.Proving(room, writer, reader, Neo4jProofs(neo4j), lambda tenant: keys.tenant_key(MASTER, tenant)))


def _guess(scope: Scope, case_id: str, codes: Sequence[str]) -> Guesses:
    compared = [0]
    honest = proofs.same

    def counting(stored: bytes, shown: bytes) -> bool:
        compared[0] += stored != proving.NOBODY
        return honest(stored, shown)

    def show(code: str) -> bool:
        try:
            _opened[0].submit_code(scope, case_id, code)
        except RefusedError as refused:
            assert refused.code == "proof_failed"
            return False
        return True

    with mock.patch.object(proofs, "same", counting), ThreadPoolExecutor(THREADS) as threads:
        shown = list(threads.map(show, codes))
    return Guesses(sum(shown), len(shown) - sum(shown), compared[0])
