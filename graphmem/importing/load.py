"""A file into the graph: rows checked, grouped by user, judged and written in batches by several threads, to be repeated without harm."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from graphmem.errors import ConfigurationError, InvalidInputError, UnavailableError
from graphmem.importing.batch import RULE, Batch, Hand, Outcome, prepared, replayed_verdicts, tally, write
from graphmem.importing.files import Opened
from graphmem.importing.reading import Raw, Source, columns_of, rows
from graphmem.importing.rejects import Rejects
from graphmem.importing.spool import Spool
from graphmem.importing.statements import Defaults, Entry, Reject, entry

T = TypeVar("T")

BATCH = 200
"""Statements of one transaction: past it the database gains little (neo4j.md section 7) and the user's lock is held longer."""

WORKERS = 2
PATIENCE = 6
"""How often a batch is tried again while the store is away, each time after twice as long."""

DoneBefore = Callable[[str, Sequence[tuple[str, str]]], Mapping[str, str]]
"""(tenant, (user, operation) pairs) → operation → outcome of those that were carried out before."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be imported, and how. `mapped`: folded column → field."""

    file: Opened
    tenant: str
    mapped: Mapping[str, str] = field(default_factory=dict)
    defaults: Defaults = field(default_factory=Defaults)
    dry_run: bool = False
    rejects: Path | None = None
    workers: int = WORKERS
    batch: int = BATCH

    @property
    def name(self) -> str:
        """Names the import: the same file read in the same way is the same import."""
        how = [self.file.sha256, self.file.format, self.file.encoding, sorted(self.mapped.items()), self.defaults.user, self.defaults.zone]
        return hashlib.sha256(json.dumps(how).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file. rows = sum of the verdicts + rejected (a dry run has no verdicts). replayed: done by an earlier run."""

    rows: int
    users: int
    verdicts: Mapping[str, int]
    replayed: int
    rejected: int
    seconds: float
    dry_run: bool = False
    rejects: str | None = None
    metadata_columns: tuple[str, ...] = ()


Progress = Callable[[str, int, int, float], None]
"""(stage `reading` or `writing`, rows done, rows in all (0: not known yet), seconds)."""


class Loading:
    """One import. Made for one file; `run` once."""

    def __init__(self, wish: Wish, hand: Hand, before: DoneBefore, progress: Progress | None = None) -> None:
        self._wish, self._hand, self._before = wish, hand, before
        self._tell: Progress = progress or (lambda *_: None)
        self._lock = threading.Lock()
        self._verdicts: dict[str, int] = {}
        self._replayed = self._done = self._users = self._total = self._unread = 0
        self._kinds = {key.name: key.kind for key in hand.room.ontology.keys}
        self._began = time.monotonic()
        self._failed, self._why = threading.Event(), ""

    def run(self) -> Imported:
        """Import the file. InvalidInputError before anything is written where the header is wrong; UnavailableError where the store
        stays away: what was written stays, and the same import again goes on from there."""
        wish = self._wish
        source = Source(wish.file, wish.mapped)
        columns: list[str] = []
        kept: tuple[str, ...] = ()
        if wish.file.format == "csv":
            columns, mapped = columns_of(source)
            kept = mapped.kept
            self._need(set(mapped.targets), columns)
        with Rejects(wish.rejects, columns, wish.mapped) as rejects, Spool(wish.file.size) as spool:
            spool.fill(self._readable(rows(source), rejects))
            self._total = spool.rows
            for part in range(spool.parts):
                self._part(spool.part(part), rejects)
            count, place = rejects.count, rejects.place
        return Imported(
            rows=spool.rows + self._unread,
            users=self._users,
            verdicts=dict(sorted(self._verdicts.items())),
            replayed=self._replayed,
            rejected=count,
            seconds=round(time.monotonic() - self._began, 3),
            dry_run=wish.dry_run,
            rejects=place,
            metadata_columns=kept,
        )

    def _need(self, targets: set[str], columns: Sequence[str]) -> None:
        needed = {"key"} | (set() if self._wish.defaults.user else {"user_id"})
        if missing := sorted(needed - targets):
            raise InvalidInputError(
                f"no column gives {' and '.join(missing)}; the header has {', '.join(c.strip() for c in columns)}",
                field=missing[0],
                code="missing_column",
                hint=f"--map COLUMN={missing[0]}, or --user for a file of one user; nothing was imported.",
            )

    def _readable(self, found: Iterable[Raw], rejects: Rejects) -> Iterator[tuple[str, Raw]]:
        """Rows that have been read, with their user; the others are rejected here."""
        for raw in found:
            if raw.fault is not None:
                self._unread += 1
                rejects.add([Reject(raw.line, raw.column, raw.fault, raw.original)])
                continue
            if raw.number % 20_000 == 0:
                self._tell("reading", raw.number, 0, time.monotonic() - self._began)
            yield str(raw.fields.get("user_id") or self._wish.defaults.user or ""), raw

    def _part(self, raws: Iterable[Raw], rejects: Rejects) -> None:
        """All rows of some users: checked, cut into batches, written."""
        by_user: dict[str, list[Entry]] = {}
        for raw in raws:
            made = entry(raw, self._wish.defaults, self._kinds)
            if isinstance(made, Reject):
                rejects.add([made])
                self._advance(Outcome({}), 1)
            else:
                by_user.setdefault(made.user, []).append(made)
        self._users += len(by_user)
        if self._wish.dry_run:
            for entries in by_user.values():
                found = [prepared(self._hand, e) for e in entries]
                rejects.add([r for r in found if isinstance(r, Reject)])
                self._advance(Outcome({}), len(entries))
            return
        batches = [self.batches(user, entries) for user, entries in by_user.items()]
        done = self._done_before([b for of_user in batches for b in of_user])
        with ThreadPoolExecutor(self._wish.workers) as pool:
            try:
                for outcomes in pool.map(lambda of_user: [self._one(b, done) for b in of_user], batches):
                    for outcome in outcomes:
                        rejects.add(outcome.rejects)
            except BaseException:
                self._stop()  # also on Ctrl-C: what waits in the pool is not begun any more
                raise

    def batches(self, user: str, entries: Sequence[Entry]) -> list[Batch]:
        """A user's rows in file order, a batch a source, none longer than the wish allows."""

        chunks = sources(entries, self._wish.batch)
        return [Batch(user, f"{self._wish.name}\x1f{chunk[0].raw.number}", chunk) for chunk in chunks]

    def _done_before(self, batches: Sequence[Batch]) -> Mapping[str, str]:
        pairs = [(b.user, self._hand.operation(b).op) for b in batches]
        return self._patiently(lambda: self._before(self._wish.tenant, pairs))

    def _one(self, batch: Batch, done: Mapping[str, str]) -> Outcome:
        if self._failed.is_set():
            raise UnavailableError(f"the import was stopped ({self._why}); the same command goes on from here", store="neo4j")
        try:
            outcome = done.get(self._hand.operation(batch).op)
            if outcome is not None:
                verdicts = replayed_verdicts(outcome)
                again, heard = tally(batch, verdicts), {rule for rule, _, _ in verdicts}
                # only what has no verdict can have been rejected before the judge
                found = [prepared(self._hand, e) for e in batch.rows if f"{RULE}{e.raw.number}" not in heard]
                early = tuple(r for r in found if isinstance(r, Reject))
                result = Outcome(again.verdicts, (*early, *again.rejects), len(batch.rows) - len(early))
            else:
                result = self._patiently(lambda: write(self._hand, batch))
        except BaseException as fault:
            self._stop(str(fault) or type(fault).__name__)
            raise
        self._advance(result, len(batch.rows))
        return result

    def _stop(self, why: str = "interrupted") -> None:
        """Nothing more is begun; the first reason is the one that is told."""
        if not self._failed.is_set():
            self._why = why
            self._failed.set()

    def _patiently(self, act: Callable[[], T]) -> T:
        for attempt in range(PATIENCE):
            try:
                return act()
            except UnavailableError:
                if attempt == PATIENCE - 1:
                    raise
                threading.Event().wait(0.25 * 2**attempt)
        raise ConfigurationError("an import tries at least once")

    def _advance(self, outcome: Outcome, count: int) -> None:
        with self._lock:
            for verdict, number in outcome.verdicts.items():
                self._verdicts[verdict] = self._verdicts.get(verdict, 0) + number
            self._replayed += outcome.replayed
            self._done += count
            self._tell("writing", self._done, self._total, time.monotonic() - self._began)


def sources(entries: Sequence[Entry], size: int) -> list[tuple[Entry, ...]]:
    """Rows of one user in file order, cut by their source and into chunks of a size."""

    def origin(e: Entry) -> tuple[str, str, str]:
        source = e.ask.source
        return (source.kind.value, source.ref or "", e.ask.zone or "") if source is not None else ("", "", "")

    found: list[tuple[Entry, ...]] = []
    for _, of_source in groupby(sorted(entries, key=origin), key=origin):
        held = list(of_source)
        found += [tuple(held[start : start + size]) for start in range(0, len(held), size)]
    return found
