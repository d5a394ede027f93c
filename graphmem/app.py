"""settings → Graphmem: the one façade. The only module beside stores/ that knows stores/."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import platformdirs

from graphmem import __version__, jars, localdb
from graphmem.ages import Ages
from graphmem.answers import (
    Readiness,
    Receipt,
)
from graphmem.archive import Archive
from graphmem.bulk import Bulk, Doors
from graphmem.change import Changer
from graphmem.check import Checker, CheckReport
from graphmem.cohorts import Cohorts
from graphmem.console import ConsoleSender
from graphmem.errors import ConfigurationError, GraphmemError, UnavailableError
from graphmem.exploring import Exploring
from graphmem.facade.asking import Asking
from graphmem.facade.deciding import Deciding
from graphmem.facade.ending import Ending
from graphmem.facade.hearing import Hearing
from graphmem.facade.moving import Moving
from graphmem.forgetting import Forgetting
from graphmem.lifecycle import Lifecycle
from graphmem.marks import Marks
from graphmem.memory import Kind
from graphmem.ontology import Ontology
from graphmem.people import People
from graphmem.pipeline.inject import Injector
from graphmem.ports import CandidateIndex, Embedder
from graphmem.projection import Projection, State
from graphmem.proving import Proving
from graphmem.reading import Reading
from graphmem.recall.afterwards import Afterwards, receipt_json
from graphmem.recall.recall import Recall, Seeing
from graphmem.recording import Recorder
from graphmem.relating import Relations, likeness
from graphmem.remember import Keeper
from graphmem.reviewing import Reviewing
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.stores import keys, migrations
from graphmem.stores.archive_files import FileVault
from graphmem.stores.embedders import make_embedders
from graphmem.stores.embedding import sentence_encoder, sizes, vectors_for
from graphmem.stores.neo4j_archive import Neo4jShelf
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_check import Neo4jCheck
from graphmem.stores.neo4j_history import Neo4jHistory
from graphmem.stores.neo4j_lifecycle import Neo4jSweeper
from graphmem.stores.neo4j_outbox import Neo4jOutbox
from graphmem.stores.neo4j_page import Neo4jPage
from graphmem.stores.neo4j_probe import probe
from graphmem.stores.neo4j_proof import Neo4jProofs
from graphmem.stores.neo4j_read import Neo4jReader
from graphmem.stores.neo4j_relations import Neo4jRelations
from graphmem.stores.neo4j_review import Neo4jReviews
from graphmem.stores.neo4j_script import Neo4jScript
from graphmem.stores.neo4j_strays import Neo4jStrays
from graphmem.stores.neo4j_transfer import Neo4jTransfer
from graphmem.stores.neo4j_watch import Neo4jWatch
from graphmem.stores.neo4j_write import Neo4jWriter
from graphmem.stores.qdrant_edge import EdgeIndex
from graphmem.sweeping import sweeping
from graphmem.timeline import Timelines
from graphmem.watching import Watching

Migration = migrations.Migration

IMPORT_TIMEOUT_S = 60.0
"""Transaction timeout of a batch of an import: it is two hundred statements, on a machine that may be loaded."""

WIPE_BATCH = 2_000
"""Nodes that one transaction of a wipe deletes."""


class Graphmem(Hearing, Asking, Ending, Deciding, Moving):
    """Memory of users: hear, remember, recall, read, forget. Synchronous, thread safe; close() when done."""

    def __init__(self, settings: Settings, neo4j: Neo4j, index: CandidateIndex, embedders: Sequence[Embedder], master: bytes) -> None:
        self.settings = settings
        self.neo4j, self.index, self._embedders, self._master = neo4j, index, embedders, master
        self.room = Room(settings, sentence_encoder())
        self.room.marks = Marks(home_of(settings) / "marks", self._pseudonym)
        self.reader, self.writer = Neo4jReader(neo4j), Neo4jWriter(neo4j)
        self.outbox = Neo4jOutbox(neo4j, self.room.ontology)
        self._names = [e.name for e in embedders]
        self._reading = Reading(self.room, self.reader)
        self._injector = Injector(self.room, self.writer, self.reader)
        self._lifecycle = Lifecycle(self.room, self.writer, self.reader, Neo4jSweeper(neo4j))
        self._keeper = Keeper(self.room, self.writer, self.reader, self._shape)
        bulk_writer = Neo4jWriter(neo4j, timeout=IMPORT_TIMEOUT_S)
        carrying = Neo4jTransfer(neo4j), Neo4jStrays(neo4j), Neo4jScript(neo4j)
        self._bulk = Bulk(Doors(self.room, bulk_writer, self.reader, self._keeper, *carrying, self.outbox.refill))
        self._recorder = Recorder(self.room, self.writer, self._keeper)
        self._changer = Changer(self.room, self.writer, self.reader, self._keeper, self._shape)
        self._shelf, self._vault = Neo4jShelf(neo4j), FileVault(home_of(settings), master)
        self._archive = Archive(self.room, self.writer, self.reader, self._shelf, self._vault, _ages(settings))
        self._sweeping = sweeping(self.sweep, settings.sweep_seconds)
        self._forgetting = Forgetting(self.room, self.writer, self.reader, self._forget_elsewhere)
        seeing = Seeing(index, embedders, lambda e, text: vectors_for(e, text, query=True), self._pseudonym)
        self._reviewing = Reviewing(self.room, self.writer, self.reader, Neo4jReviews(neo4j))
        self.proving = Proving(self.room, self.writer, self.reader, Neo4jProofs(neo4j), lambda tenant: keys.tenant_key(master, tenant))
        self.proving.sender = ConsoleSender()
        self._after = Afterwards(self._store_receipt)
        self._recall = Recall(self.room, self.reader, self._reading, seeing, self._after.put)
        self.projection = Projection(
            self.outbox, index, embedders, lambda e, text: vectors_for(e, text, query=False), self._naming, settings.lease_seconds
        )
        self._explain(seeing)
        self._shapes: dict[tuple[str, str], tuple[Kind, str]] = {}
        self._started = time.monotonic()

    @property
    def ontology(self) -> Ontology:
        return self.room.ontology

    def close(self) -> None:
        """Stop the background work, store what waits, let go of the stores. Twice is fine."""
        self.stop_background()
        self._after.stop()
        close = getattr(self.index, "close", None)
        if close is not None:
            close()
        self.neo4j.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # --- service

    def ready(self) -> Readiness:
        """Stores, migrations and dimensions, each with what to do. An index that is away only degrades; one that does not fit refuses."""
        checks = [
            ("neo4j", self._try(self.neo4j.ping), True),
            ("migrations", self._try(lambda: migrations.verify(self.neo4j)), True),
            ("dimensions", self._try(lambda: verify_index(self.index)), True),
            ("index", self._try(self.index.health), False),
        ]
        fit = all(not words for _, words, needed in checks if needed)
        return Readiness(fit, tuple((name, not words, words or "ok") for name, words, _ in checks))

    @staticmethod
    def _try(act: Callable[[], None]) -> str:
        try:
            act()
        except GraphmemError as fault:
            return f"{fault.detail}{f' ({fault.hint})' if fault.hint else ''}"
        return ""

    def health(self) -> dict[str, object]:
        """Numbers for operators: projection lag, receipts waiting, uptime. Never text of a user."""
        lag = self.outbox.lag()
        oldest = None if lag.oldest_ms is None else max(0.0, time.time() - lag.oldest_ms / 1000)
        return {
            "version": __version__,
            "uptime_seconds": round(time.monotonic() - self._started, 1),
            "projection": {"pending": lag.pending, "parked": lag.parked, "oldest_seconds": oldest},
            "receipts_waiting": self._after.waiting(),
            "embedders": {e.name: e.dimension for e in self._embedders},
        }

    def drain(self, max_seconds: float | None = None) -> int:
        """Project what is due now; see Projection.drain."""
        return self.projection.drain(max_seconds)

    def start_background(self) -> None:
        """Project and sweep in threads of their own."""
        self.projection.start()
        self._sweeping.start()

    def stop_background(self) -> None:
        self._sweeping.stop()
        self.projection.stop()

    def reindex(self, tenant: str, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuild a tenant's collections from nothing; returns how many records were projected."""
        self.index.ensure(tenant, fresh=True)
        total = self.outbox.refill(tenant)
        done = 0
        while step := self.projection.step():
            done += step
            if progress is not None:
                progress(min(done, total), total)
        return total

    def wipe(self, tenant: str) -> int:
        """Remove a whole tenant from graph, index and process, for demos and evaluations; returns how many nodes went.

        It is no erasure of a person: no certificate is made and no key is destroyed.
        """
        # memories first: with them gone no user or concept is dense, and no batch of the rest is large
        names = ("wipe_strays", "wipe_memories", "wipe_tenant")
        gone = [self.neo4j.implicit(name, {"tenant_id": tenant, "batch": WIPE_BATCH}) for name in names]
        self.room.forget_tenant(tenant)
        self._vault.remove(tenant)
        for shape in [s for s in self._shapes if s[0] == tenant]:
            del self._shapes[shape]
        drop = getattr(self.index, "drop", None)
        if drop is not None:
            drop(tenant)
        return sum(int(found[0]["nodes"]) for found in gone if found)

    def check(self, tenant: str | None = None, progress: Callable[[int], None] | None = None) -> list[CheckReport]:
        """Prove the invariants of a tenant (or all) and compare both stores in both directions."""
        checker = Checker(Neo4jCheck(self.neo4j), self.outbox, self.index, lambda _, ref: keys.point_id(ref, self._names))
        waiting = self.outbox.lag().pending
        return [checker.check(t, waiting, progress) for t in ([tenant] if tenant is not None else self.outbox.tenants())]

    def migrate_status(self) -> list[migrations.Migration]:
        return migrations.status(self.neo4j)

    def migrate_apply(self, progress: Callable[[migrations.Migration], None] | None = None) -> list[migrations.Migration]:
        return migrations.apply(self.neo4j, progress)

    # --- inside

    def _forget_elsewhere(self, scope: Scope) -> None:
        self._archive.forget(scope, partial(self._shelf.forget, scope))
        self._bulk.forget(scope)

    def _explain(self, seeing: Seeing) -> None:
        graph = Neo4jRelations(self.neo4j)
        self._relations = Relations(self.room, graph, self.reader, self._reading, partial(likeness, self.ontology, seeing))
        self._cohorts = Cohorts(self.room, graph)
        history = Neo4jHistory(self.neo4j)
        self._timelines = Timelines(self.room, self.reader, history)
        self.exploring = Exploring(self._reading, history, Neo4jPage(self.neo4j), self._after.flush)
        watch = Neo4jWatch(self.neo4j)
        self.watching, self.people = Watching(watch), People(self._reading, watch)

    def _pseudonym(self, scope: Scope) -> str:
        return keys.pseudonym(keys.tenant_key(self._master, scope.tenant), scope.user)

    def _naming(self, state: State) -> tuple[str, str, str]:
        record = state.record
        tenant = keys.tenant_key(self._master, record.tenant)
        session = keys.pseudonym(tenant, state.session) if state.session else ""
        return keys.point_id(record.ref, self._names), keys.pseudonym(tenant, record.user), session

    def _shape(self, tenant: str, key: str, kind: Kind, arity: str) -> tuple[Kind, str]:
        if (tenant, key) not in self._shapes:
            found = self.neo4j.write_one("open_key", {"tenant_id": tenant, "key": key, "kind": kind.value, "arity": arity})
            if found is None:
                raise GraphmemError("an open key could not be registered", code="store_fault")
            self._shapes[(tenant, key)] = (Kind(found["kind"]), found["arity"])
        return self._shapes[(tenant, key)]

    def _store_receipt(self, scope: Scope, receipt: Receipt, query_type: str) -> None:
        self.neo4j.write_one(
            "store_receipt",
            {
                "tenant_id": scope.tenant,
                "user_id": scope.user,
                "session_id": receipt.session_id,
                "receipt_id": receipt.receipt_id,
                "receipt": receipt_json(receipt),
                "tier": receipt.tier,
                "query_type": query_type,
                "mids": [line.mid for line in receipt.lines if line.told],
                "at": receipt.at or datetime.now(UTC),
            },
        )


def _ages(settings: Settings) -> Ages:
    """The settings of the archive in milliseconds."""
    return Ages(round(settings.archive_superseded_days * 86_400_000), round(settings.archive_expired_days * 86_400_000))


def home_of(settings: Settings) -> Path:
    """The data home: GRAPHMEM_HOME or the platform's user data folder."""
    return settings.home or Path(platformdirs.user_data_dir("graphmem"))


def open_index(settings: Settings, dimensions: Mapping[str, int]) -> CandidateIndex:
    """The configured candidate index: a Qdrant server, or the in-process engine under the home."""
    if settings.qdrant_url is None:
        return EdgeIndex(home_of(settings) / "index", dimensions)
    from graphmem.stores.qdrant_server import ServerIndex

    secret = settings.qdrant_api_key
    return ServerIndex(settings.qdrant_url, secret.get_secret_value() if secret else None, dimensions)


def verify_index(index: CandidateIndex) -> None:
    """Raise ConfigurationError where stored collections were made for other embedders; an index that is away is no reason not to start."""
    verify: Callable[[], None] | None = getattr(index, "verify", None)
    if verify is not None:
        try:
            verify()
        except UnavailableError:
            return


def open_graphmem(
    settings: Settings | None = None, *, migrate: bool | None = None, warm: bool = True, check_index: bool = True
) -> Graphmem:
    """Connect everything. Without GRAPHMEM_NEO4J_URI a Neo4j of one's own is brought up and its migrations are run.

    Raises ConfigurationError when stores, migrations or dimensions do not fit together, UnavailableError when Neo4j does not answer.
    warm False leaves plans and packs to the first call; check_index False starts over an index that `reindex` is to mend.
    """
    settings = settings or Settings()
    home = home_of(settings)
    embedders = make_embedders(settings.embedders, bge_model=settings.bge_model, cache=home)
    dimensions = sizes(embedders, settings.embedding_dimensions)
    neo4j = _connect(settings)
    try:
        neo4j.ping()
        if migrate if migrate is not None else settings.neo4j_uri is None:
            migrations.apply(neo4j)
        migrations.verify(neo4j)
        if warm:
            neo4j.explain_all()
        index = open_index(settings, dimensions)
        if check_index:
            verify_index(index)
        made = Graphmem(settings, neo4j, index, embedders, keys.load_master(home))
        if warm:
            made.room.extractor  # noqa: B018 - packs are read now: a bad one refuses the start and not the first turn
        return made
    except BaseException:
        neo4j.close()
        raise


def bring_up(settings: Settings, progress: jars.Progress | None = None) -> localdb.Server:
    """The Neo4j of one's own of these settings' home, started if it does not run; see localdb.up."""
    return localdb.up(settings.home, probe=probe, progress=progress)


def migration_status(settings: Settings) -> list[migrations.Migration]:
    """Every migration with its state, also where they do not fit and open_graphmem refuses the start."""
    neo4j = _connect(settings)
    try:
        return migrations.status(neo4j)
    finally:
        neo4j.close()


def migration_apply(settings: Settings, progress: Callable[[migrations.Migration], None] | None = None) -> list[migrations.Migration]:
    """Run what is waiting, in order; returns what ran. ConfigurationError for a drifted or unknown one: then nothing runs."""
    neo4j = _connect(settings)
    try:
        return migrations.apply(neo4j, progress)
    finally:
        neo4j.close()


def _connect(settings: Settings) -> Neo4j:
    """The configured Neo4j, or the one of one's own, brought up."""
    if settings.neo4j_uri is None:
        server = bring_up(settings)
        return Neo4j(server.uri, server.user, server.password, pool=settings.neo4j_pool)
    return Neo4j(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
        pool=settings.neo4j_pool,
    )


__all__ = ["ConfigurationError", "Graphmem", "Migration", "bring_up", "home_of", "migration_apply", "migration_status", "open_graphmem"]
