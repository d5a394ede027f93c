"""One transaction of an import: statements of one user from one source, judged in the order they were said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from graphmem.book import Book
from graphmem.casework import Clock, Spoken, cases
from graphmem.drift import judged, reads
from graphmem.errors import ConflictError, GraphmemError, InvalidInputError, RefusedError, UnavailableError
from graphmem.ids import uuid7
from graphmem.importing.statements import Entry, Reject
from graphmem.memory import Language, Provenance, Verdict, to_ms, utc
from graphmem.pipeline.normal import language_of
from graphmem.ports import MemoryWriter, Operation
from graphmem.remember import Keeper
from graphmem.review import within_quota
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.validity import Ms, Row
from graphmem.writing import Changes, Decided, Known, Origin, book_of

ROUTE = "import"

RULE = "import."
"""Start of the rule of an imported statement; the number of its row follows."""

REASONS = {
    "low_confidence": "the confidence is under the one from which statements are stored",
    "no_source": "no source, no memory",
    "refused_by_policy": "the user has as many open reviews as are allowed",
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one user and one source; `name` is the same for the same rows of the same file in any process.

    strays: number of a row → the element of the graph that it was read from and that leaves once it is judged.
    """

    user: str
    name: str
    rows: tuple[Entry, ...]
    strays: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a batch: verdict → rows, rows that were not kept, whether it had been carried out before."""

    verdicts: Mapping[str, int]
    rejects: tuple[Reject, ...] = ()
    replayed: int = 0


@dataclass(frozen=True, slots=True)
class Hand:
    """What a batch is written with. tenant, domain and principal are those of whoever imports."""

    room: Room
    writer: MemoryWriter
    keeper: Keeper
    tenant: str
    domain: str = "default"
    principal: str = ROUTE
    route: str = ROUTE

    def scope(self, user: str) -> Scope:
        return _scope(self.tenant, user, self.domain, self.principal)

    def operation(self, batch: Batch) -> Operation:
        """The idempotency record of a batch."""
        numbers = [e.raw.number for e in batch.rows]
        return Operation(
            operation_id(self.scope(batch.user), self.route, batch.name),
            self.room.hash_of([batch.name, numbers]),
            self.route,
            self.principal,
        )


@lru_cache(maxsize=1024)
def _scope(tenant: str, user: str, domain: str, principal: str) -> Scope:
    return Scope(tenant, user, domain=domain, principal=principal)


def prepared(hand: Hand, entry: Entry) -> Spoken | Reject:
    """One row ready for the judge; what the ontology or an open key's shape forbids is a reject of the row."""
    scope, ask = hand.scope(entry.user), entry.ask
    try:
        statement, rule = hand.keeper.prepare(scope, ask, f"{RULE}{entry.raw.number}")
    except (InvalidInputError, ConflictError) as fault:
        return Reject(entry.raw.line, getattr(fault, "field", None) or "key", fault.detail, entry.raw.original)
    if ask.confidence < hand.room.settings.store_threshold:
        return Reject(entry.raw.line, "confidence", REASONS["low_confidence"], entry.raw.original)
    trust = hand.room.trust(scope, ask.source, ask.verified, statement)
    return Spoken(scope, statement, rule, trust, None if ask.said_at is None else to_ms(utc(ask.said_at)))


def write(hand: Hand, batch: Batch) -> Outcome:
    """Judge and store a batch in one transaction. A batch the store refuses is halved until the row that is to blame stands alone."""
    found = [(e, prepared(hand, e)) for e in batch.rows]
    spoken = [s for _, s in found if isinstance(s, Spoken)]
    rejects = tuple(r for _, r in found if isinstance(r, Reject))
    if not spoken:
        return Outcome({}, rejects)
    try:
        verdicts, replayed = _store(hand, batch, spoken)
    except UnavailableError:
        raise
    except GraphmemError as fault:
        if len(batch.rows) == 1 or isinstance(fault, RefusedError):
            return Outcome({}, tuple(Reject(e.raw.line, "", fault.detail, e.raw.original) for e in batch.rows))
        return _halved(hand, batch)
    outcome = tally(batch, verdicts)
    return Outcome(outcome.verdicts, (*rejects, *outcome.rejects), len(spoken) if replayed else 0)


def _halved(hand: Hand, batch: Batch) -> Outcome:
    middle = len(batch.rows) // 2
    halves = [
        write(hand, Batch(batch.user, f"{batch.name}/{n}", rows, batch.strays))
        for n, rows in enumerate((batch.rows[:middle], batch.rows[middle:]))
    ]
    verdicts: dict[str, int] = {}
    for half in halves:
        for verdict, count in half.verdicts.items():
            verdicts[verdict] = verdicts.get(verdict, 0) + count
    return Outcome(verdicts, (*halves[0].rejects, *halves[1].rejects), sum(h.replayed for h in halves))


def _store(hand: Hand, batch: Batch, spoken: Sequence[Spoken]) -> tuple[list[tuple[str, str, str | None]], bool]:
    """(rule, verdict, reason) of each judgement, and whether they were made before."""
    scope, operation = hand.scope(batch.user), hand.operation(batch)
    first = batch.rows[0].ask
    origin = hand.keeper.origin(scope, first.source or Provenance(), operation.op, first.zone)
    ordered = sorted(spoken, key=lambda sp: _NEWEST if sp.at is None else sp.at)
    sealed: list[list[Decided]] = []

    def decide(known: Known) -> Changes:
        book, decided = hear_in_order(hand.room, known, ordered)
        sealed[:] = [decided]
        changes = closed(hand.room, known, book, decided, origin)
        return replace(changes, adopted=_leaving(batch, decided)) if batch.strays else changes

    written = hand.writer.write(scope, operation, reads(spoken), decide)
    if written.changes is None:
        return replayed_verdicts(written.before.outcome), True
    return [(d.statement.rule, d.judgement.verdict.value, d.judgement.reason) for d in sealed[0]], False


def _leaving(batch: Batch, decided: Sequence[Decided]) -> tuple[tuple[str, str], ...]:
    """The elements whose rows are kept, with the memory that says each; what the judge refuses stays where it is."""
    last = {int(d.statement.rule.removeprefix(RULE)): d.judgement for d in decided}
    return tuple((batch.strays[number], j.mid) for number, j in last.items() if j.mid is not None and j.verdict is not Verdict.REFUSED)


_NEWEST: Ms = 1 << 62


def hear_in_order(room: Room, known: Known, spoken: Sequence[Spoken]) -> tuple[Book, list[Decided]]:
    """Judge statements one after the other, each on what the ones before it left."""
    book = book_of(known, iter(uuid7, ""))
    clock = Clock(known.now, room.skew)
    decided = [Decided(case.statement, judged(case, book)) for sp in spoken for case in cases(sp, book, clock, room.limits)]
    return book, within_quota(book, decided, known.pendings, room.settings.review_quota, room.limits.pending_life)


def closed(room: Room, known: Known, book: Book, decided: Sequence[Decided], origin: Origin) -> Changes:
    """What the batch stores; each caption in the language of its value."""
    return room.close(known, book, decided, Changes("", origin), {}, _language)


def _language(row: Row) -> Language:
    value = row.value or ""
    return "en" if value.isascii() else language_of(value)


def replayed_verdicts(outcome: str) -> list[tuple[str, str, str | None]]:
    """The same from the record of an operation that was carried out before."""
    found = json.loads(outcome)
    return [(rule[0], verdict[1], verdict[3]) for verdict, rule in zip(found["verdicts"], found["rules"], strict=True)]


def tally(batch: Batch, verdicts: Sequence[tuple[str, str, str | None]]) -> Outcome:
    """Rows by their verdict; a row that became several judgements (the end of a whole key) counts by its last one."""
    by_rule = {rule: (verdict, reason) for rule, verdict, reason in verdicts}
    counts: dict[str, int] = {}
    rejects: list[Reject] = []
    for e in batch.rows:
        verdict, reason = by_rule.get(f"{RULE}{e.raw.number}", ("", None))
        if verdict == Verdict.REFUSED.value:
            rejects.append(Reject(e.raw.line, "", REASONS.get(reason or "", reason or "refused"), e.raw.original))
        elif verdict:
            counts[verdict] = counts.get(verdict, 0) + 1
    return Outcome(counts, tuple(rejects))
