"""What a bench stands on: a Neo4j, a façade whose embedders only look vectors up, and a connection that can count and profile."""

from __future__ import annotations

import os
import random
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString, cast

from neo4j import ManagedTransaction, Record, Result, RoutingControl

from graphmem import localdb
from graphmem.app import Graphmem
from graphmem.memory import Kind, Language
from graphmem.ports import Point
from graphmem.recall.calibration import shipped
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores import cypher, keys, migrations
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_base import _text as literal
from graphmem.stores.neo4j_probe import probe
from graphmem.stores.qdrant_edge import EdgeIndex

SIZES = {"use": 512, "e5": 384}
"""Embedder name → dimension, as the real ones have."""

HOME = "GRAPHMEM_BENCH_HOME"


@dataclass(slots=True)
class Call:
    """One statement that was sent. `hits` is None unless it was profiled."""

    name: str
    parameters: Mapping[str, object]
    hits: int | None = None
    rows: int = 0


class Watched(Neo4j):
    """A Neo4j that notes its statements while `calls` is a list, and profiles them (same plan, same answer) while `profiling`."""

    calls: list[Call] | None = None
    profiling: bool = False

    def run(self, tx: ManagedTransaction, name: str, parameters: Mapping[str, object]) -> Record:
        if self.calls is None:
            return super().run(tx, name, parameters)
        return self._noted(tx.run(self._sent(name), {"in": dict(parameters)}), name, parameters)

    def read_one(self, name: str, parameters: Mapping[str, object]) -> Record | None:
        if self.calls is None:
            return super().read_one(name, parameters)
        return self.driver.execute_query(
            self._sent(name),
            {"in": dict(parameters)},
            database_=self.database,
            routing_=RoutingControl.READ,
            result_transformer_=lambda result: self._noted(result, name, parameters),
        )

    def bare(self) -> None:
        """RETURN 1 by the same road as every read."""
        self.driver.execute_query("RETURN 1", database_=self.database, routing_=RoutingControl.READ)

    def _sent(self, name: str) -> LiteralString:
        return literal(("PROFILE " if self.profiling else "") + self.queries[name].text)

    def _noted(self, result: Result, name: str, parameters: Mapping[str, object]) -> Record:
        record = cast(Record, result.single())
        profile = cast(Any, result.consume().profile)
        rows = record.get("rows")
        call = Call(name, parameters, hits_of(profile) if profile else None, len(rows) if isinstance(rows, list) else 0)
        cast(list[Call], self.calls).append(call)
        return record


def hits_of(plan: Mapping[str, Any]) -> int:
    """Db hits of a profiled plan, all operators together."""
    return int(plan.get("dbHits") or 0) + sum(hits_of(child) for child in plan.get("children") or [])


@dataclass
class LookedUp:
    """An embedder without a model: each text has a unit vector of its own, made once. Scores are calibrated like the real one's."""

    name: str
    dimension: int
    languages: frozenset[Language] | None = None
    _kept: dict[str, list[float]] = field(default_factory=dict)

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def calibrate(self, cosine: float) -> float:
        return shipped(self.name).probability(cosine)

    def _vector(self, text: str) -> list[float]:
        if text not in self._kept:
            chance = random.Random(text)
            raw = [chance.gauss(0, 1) for _ in range(self.dimension)]
            norm = sum(x * x for x in raw) ** 0.5
            self._kept[text] = [x / norm for x in raw]
        return self._kept[text]


@dataclass(frozen=True, slots=True)
class Login:
    """Where the server is and how to get in."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str = "neo4j"

    def connect(self, uri: str | None = None) -> Watched:
        """A connection; `uri`: by another road to the same server."""
        return Watched(uri or self.uri, self.user, self.password, database=self.database)


@dataclass
class Rig:
    """The façade, its connection, and the bench's own tenant."""

    app: Graphmem
    neo4j: Watched
    tenant: str
    embedders: Sequence[LookedUp]
    master: bytes
    login: Login
    pid: int | None = None
    """Process of the server, where it is known."""

    def scope(self, user: str) -> Scope:
        return Scope(self.tenant, user)

    @contextmanager
    def watching(self, *, profile: bool = False) -> Iterator[list[Call]]:
        """The statements that are sent inside, in order."""
        self.neo4j.calls, self.neo4j.profiling = [], profile
        try:
            yield self.neo4j.calls
        finally:
            self.neo4j.calls, self.neo4j.profiling = None, False

    def project(self, user: str) -> None:
        """Put the user's current preferences into the index; leave nothing in the outbox of the tenant."""
        scope = self.scope(user)
        who = keys.pseudonym(keys.tenant_key(self.master, scope.tenant), scope.user)
        names = [e.name for e in self.embedders]
        points = []
        for r in self.app.reader.latest(scope, Kind.PREFERENCE).rows:
            text = f"{r.key} {r.value}"
            vectors = {e.name: e.embed([text], query=False)[0] for e in self.embedders}
            points.append(Point(keys.point_id(r.mid, names), r.mid, "preference", who, r.version, vectors, text))
        self.app.index.ensure(self.tenant)
        self.app.index.upsert(self.tenant, points)
        self.neo4j.write_one("forget_outbox", {"tenant_id": self.tenant})

    @contextmanager
    def by(self, uri: str) -> Iterator[Graphmem]:
        """A second façade over the same data by another road to the server; its index is empty."""
        with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
            index = EdgeIndex(Path(folder), SIZES)
            with Graphmem(self.app.settings, self.login.connect(uri), index, self.embedders, self.master) as app:
                yield app

    def sweep(self) -> None:
        """Remove the tenant, in many small transactions."""
        for name in ("sweep_memories", "sweep"):
            while (found := self.neo4j.write_one(name, {"tenant_id": self.tenant, "limit": 2_000})) is not None and found["gone"]:
                pass


@contextmanager
def rig() -> Iterator[Rig]:
    """A rig on the Neo4j of GRAPHMEM_NEO4J_URI, else on one of its own in GRAPHMEM_BENCH_HOME or a temporary home. Leaves no data."""
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-", ignore_cleanup_errors=True) as temporary:
        given = os.environ.get("GRAPHMEM_NEO4J_URI")
        home = Path(os.environ.get(HOME) or temporary)
        if given:
            settings = Settings(home=Path(temporary))
            login = Login(given, settings.neo4j_user, settings.neo4j_password.get_secret_value(), settings.neo4j_database)
            with _opened(login, settings, Path(temporary)) as made:
                yield made
            return
        started = localdb.status(home) is None
        server = localdb.up(home, probe=probe, profile="serve")
        try:
            login = Login(server.uri, server.user, server.password)
            with _opened(login, Settings(home=home, neo4j_uri=server.uri), Path(temporary)) as made:
                made.pid = server.pid
                yield made
        finally:
            if started:
                localdb.down(home)


@contextmanager
def _opened(login: Login, settings: Settings, folder: Path) -> Iterator[Rig]:
    neo4j = login.connect()
    own = Path(__file__).with_name("bench.cypher")
    neo4j.queries = {**neo4j.queries, **{q.name: q for q in cypher.parse(own.read_text(encoding="utf-8"), own.name)}}
    migrations.apply(neo4j)
    neo4j.explain_all()
    embedders = [LookedUp(name, size) for name, size in SIZES.items()]
    master = os.urandom(keys.MASTER_BYTES)
    tenant = f"bench-{uuid.uuid4().hex[:12]}"
    with Graphmem(settings, neo4j, EdgeIndex(folder / "index", SIZES), embedders, master) as app:
        made = Rig(app, neo4j, tenant, embedders, master, login)
        try:
            yield made
        finally:
            made.sweep()
