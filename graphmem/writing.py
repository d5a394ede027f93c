"""One write, without a driver: what was read under the lock, what the judge made of it, what must be stored. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.book import Book, Case, Copied, Judgement, Limits, Seen
from graphmem.casework import Clock, Spoken, cases
from graphmem.conflict import pend
from graphmem.drift import judged
from graphmem.memory import Statement, Verdict
from graphmem.validity import Ms, Pending, Row


@dataclass(frozen=True, slots=True)
class Done:
    """The record of an operation that was carried out before."""

    request_hash: str
    outcome: str
    rev: int


@dataclass(frozen=True, slots=True)
class Known:
    """What the database said under the user's lock. `slots` were read fully (from `since` on); `rivals` only oppose."""

    now: Ms
    rev: int
    erased: bool
    slots: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    rivals: tuple[Row, ...] = ()
    tops: Mapping[str, int] = field(default_factory=dict)
    pendings: tuple[Pending, ...] = ()
    done: Done | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows and pending ones of a read, with the database's now and the user's revision. `slot`: the one that was asked for."""

    now: Ms
    rev: int
    rows: tuple[Row, ...]
    pendings: tuple[Pending, ...] = ()
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Hydrated:
    """Candidates joined back, current rows of the keys asked for, due plans and writes not projected yet; open pending ones."""

    now: Ms
    rev: int
    rows: tuple[Row, ...]
    pendings: tuple[Pending, ...]


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it is kept. `ref` is its opaque id in the index; blanked spans are already blank in `text`."""

    ref: str
    turn_id: str
    session_id: str
    role: str
    text: str
    at: Ms
    seq: int = 0
    zone: str = "UTC"
    language: str = "en"
    speaker: str | None = None
    answers: str | None = None
    waiting: str | None = None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to store. said_at None: the write's now."""

    ref: str
    turn_id: str
    session_id: str
    source_id: str
    role: str
    text: str
    at: Ms | None
    zone: str
    language: str
    speaker: str | None = None
    answers: str | None = None
    waiting: str | None = None
    metadata: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the memories of a write come from, and who wrote it."""

    source_id: str
    kind: str
    ref: str | None
    verified_by: str | None
    domain: str
    zone: str


@dataclass(frozen=True, slots=True)
class NewCase:
    """A review case that opens with its pending row, or (any other state) closes with it. `slot_version`: top version when it opened."""

    case_id: str
    pending: Pending
    slot_version: int
    due_at: Ms
    state: str = "open"
    decision: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Purge:
    """What goes for good: the content of rows (`emptied`), the name of their concept (`stripped`), whole rows (`dropped`)."""

    emptied: tuple[str, ...] = ()
    stripped: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows that lie in an archive segment and leave the graph, if they still look as they were written (`digest`).

    slots: slot → (highest version, rows).
    """

    mids: tuple[str, ...]
    digest: str
    slots: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Changes:
    """What the write stores. Rows in `patched` stood before and differ in caches or decisions; `created` and `pended` are new."""

    outcome: str
    origin: Origin
    patched: tuple[Row, ...] = ()
    created: tuple[Row, ...] = ()
    pended: tuple[Pending, ...] = ()
    decided: tuple[Pending, ...] = ()
    seen: tuple[Seen, ...] = ()
    copied: tuple[Copied, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    turn: NewTurn | None = None
    verdicts: tuple[tuple[str, str], ...] = ()
    forgotten: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[NewCase, ...] = ()
    proof: str | None = None
    """The proof that this write applies: only from state `both`, only once."""
    purge: Purge | None = None
    moved: Moved | None = None
    adopted: tuple[tuple[str, str], ...] = ()
    """(element written past the service, the memory that says it now): the element leaves with this write."""
    returned: tuple[Mapping[str, object], ...] = ()
    """Records of an archive segment that come back."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write knew, stored and left as the user's revision; changes None: the operation was done before."""

    known: Known
    changes: Changes | None
    rev: int

    @property
    def stored(self) -> Changes:
        """What was stored; asked only where the operation was not done before."""
        if self.changes is None:
            raise ValueError("this operation was done before")
        return self.changes

    @property
    def before(self) -> Done:
        """The record of the operation that was done before; there is one exactly where `changes` is None."""
        if self.known.done is None:
            raise ValueError("this operation was not done before")
        return self.known.done


@dataclass(frozen=True, slots=True)
class Decided:
    """A judgement beside the statement it was made for."""

    statement: Statement
    judgement: Judgement


INFERRED = "implicit."
"""Start of the names of rules that infer (packs/implicit.yaml): what they say is kept as pending until the user confirms it."""


def book_of(known: Known, mids: Iterator[str]) -> Book:
    """A book over what is known."""
    rows = {r.mid: r for r in (*known.rows, *known.rivals)}
    return Book(known.now, rows, {p.row.mid: p for p in known.pendings}, dict(known.tops), mids)


def hear(known: Known, spoken: Sequence[Spoken], limits: Limits, skew: Ms, mids: Sequence[str]) -> tuple[Book, list[Decided]]:
    """Judge the statements of one write against what is known: denials and ends first, so that one change is one change."""
    book = book_of(known, iter(mids))
    clock = Clock(known.now, skew)
    decided = []
    for sp in sorted(spoken, key=lambda sp: not (sp.statement.polarity == "-" or sp.statement.is_end)):
        for case in cases(sp, book, clock, limits):
            waits = case.statement.rule.startswith(INFERRED)
            decided.append(Decided(case.statement, _inferred(case, book) if waits else judged(case, book)))
    return book, decided


def _inferred(case: Case, book: Book) -> Judgement:
    """What was only inferred waits for the user's word; where the user has spoken, or is being asked already, it is nothing new."""
    open_ = [p for p in book.open_pendings(case.said_at, case.limits.pending_life) if p.row.slot == case.slot]
    against = book.against(case, case.probe)
    if not case.trust.sourced:
        return Judgement(Verdict.REFUSED, reason="no_source")
    if open_ or against or book.told(case.slot, case.probe) is not None:
        return Judgement(Verdict.REFUSED, reason="low_confidence")
    return pend(case, book, Verdict.PENDING, "inferred")


def settle(known: Known, book: Book, changes: Changes) -> Changes:
    """Recompute the caches of the slots that were read and put the book's effects into the changes."""
    # a concept's own slot holds one thing only: what opposes from there was read whole, and is free again when its opposer goes
    beside = {r.slot for r in known.rivals if not r.slot.endswith("|")}
    slots = {*known.slots, *beside, *(book.rows[m].slot for m in book.created)}
    patched = book.recache(slots)
    return replace(
        changes,
        patched=tuple(patched),
        created=tuple(book.rows[m] for m in book.created),
        pended=tuple(book.pendings[m] for m in book.pended),
        decided=tuple(book.pendings[m] for m in book.decided if m not in book.pended),
        seen=tuple(book.seen),
        copied=tuple(book.copied),
        links=tuple(book.links),
    )


Decide = Callable[[Known], Changes]
