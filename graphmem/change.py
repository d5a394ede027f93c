"""Change a memory: a new version, metadata kept unless named. Another concept ends the old one and opens the new one's slot, linked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.answers import PendingItem, Remembered
from graphmem.book import Book, Case, Judgement, Rule
from graphmem.casework import Clock, Reads, Spoken, cases, rule_of, thing
from graphmem.conflict import judge
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from graphmem.forgetting import check_match, etag_of
from graphmem.ids import many
from graphmem.memory import MILLISECOND, Polarity, Provenance, SourceKind, Statement, Verdict, utc
from graphmem.ontology import LIFETIME, Arity
from graphmem.pipeline.normal import language_of
from graphmem.placing import place
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.remember import Keeper, KeyShape, check_value
from graphmem.review import case_for
from graphmem.room import Room, check_id, check_metadata, check_source, check_time, check_zone
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller, metadata_of
from graphmem.validity import Ledger, Ms, Row, answer
from graphmem.writing import Changes, Decided, Known, Origin, book_of

_DATES = "only a document, a staff principal or a proof changes when this was so"


@dataclass(frozen=True, slots=True)
class Change:
    """What a caller names of a memory; None keeps what is held. metadata: named entries replace, null removes, others stay.

    valid_from corrects when it began. valid_to to come limits the new version; one that is past ends the memory then and does
    nothing else. source None: an ordinary statement of the user.
    """

    value: str | None = None
    polarity: Polarity | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    zone: str | None = None
    confidence: float | None = None
    source: Provenance | None = None
    verified: bool | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether it asks for anything at all."""
        told = (self.value, self.polarity, self.valid_from, self.valid_to, self.confidence)
        return bool(self.metadata) or any(x is not None for x in told)


@dataclass(frozen=True, slots=True)
class _Order:
    """One change made ready: what is said now of the memory, and what vouches for it."""

    scope: Scope
    mid: str
    ask: Change
    if_match: str | None
    rule: Rule
    source: Provenance
    mids: tuple[str, ...]


class Changer:
    """Thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, keeper: Keeper, shape: KeyShape) -> None:
        self._room, self._writer, self._reader, self._keeper, self._shape = room, writer, reader, keeper, shape

    def change(self, scope: Scope, mid: str, ask: Change, *, if_match: str | None = None) -> Remembered:
        """Judge and store the new version. ConflictError `version_conflict` when the memory moved or holds no more, RefusedError without a
        proof where one is needed; a change that waits for a proof or a reviewer comes back as pending.
        """
        self._check(mid, ask)
        row = self._held(scope, mid)
        check_match(row, if_match)
        source = ask.source or Provenance()
        if source.verified_by is None and scope.principal.startswith("staff:"):
            source = replace(source, verified_by=scope.principal)
        order = _Order(scope, mid, ask, if_match, self._rule(scope, row), source, tuple(many(8)))
        key = f"{mid}\x1f{etag_of(row)}\x1f{self._room.hash_of(ask)}"
        operation = Operation(operation_id(scope, "change", key), self._room.hash_of(ask), "change", scope.principal)
        origin = self._keeper.origin(scope, source, operation.op, ask.zone or str(row.more.get("zone", "UTC")))
        sealed: list[tuple[Book, list[Decided]]] = []

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(order.mids))
            decided = self._judged(order, book)
            sealed[:] = [(book, decided)]
            return self._room.close(known, book, decided, Changes("", origin), {}, language_of(ask.value or row.value or ""))

        written = self._writer.write(scope, operation, self._reads(order, row), decide)
        if written.changes is None:
            return self._keeper.again(scope, written)
        book, decided = sealed[0]
        done = self._keeper.remembered(written, book, decided, origin)
        return replace(done, pending=done.pending or self._waiting(book, decided, origin))

    def _check(self, mid: str, ask: Change) -> None:
        check_id(mid, "mid")
        if not ask.named:
            raise InvalidInputError("name at least one thing to change")
        if ask.value is not None:
            check_value(ask.value, "a value is not blank")
        if ask.confidence is not None and not self._room.settings.store_threshold <= ask.confidence <= 1:
            least = self._room.settings.store_threshold
            raise InvalidInputError(f"confidence lies between {least} and 1: under it nothing is kept", field="confidence")
        check_time(ask.valid_from, "valid_from")
        check_time(ask.valid_to, "valid_to")
        check_source(ask.source)
        check_metadata(ask.metadata)
        if ask.zone is not None:
            check_zone(ask.zone)

    def _held(self, scope: Scope, mid: str) -> Row:
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            raise NotFoundError("no memory of that id")
        if any(p.row.mid == mid and p.row.tombstoned_at is None for p in snapshot.pendings):
            raise ConflictError("a pending memory is confirmed or rejected, not changed", code="decided")
        row = next((r for r in snapshot.rows if r.mid == mid and r.tombstoned_at is None), None)
        if row is None:
            raise NotFoundError("no memory of that id")
        return row

    def _rule(self, scope: Scope, row: Row) -> Rule:
        known = self._room.ontology.get(row.key)
        if known is not None:
            return rule_of(known)
        _, arity = self._shape(scope.tenant, row.key, row.kind, "one")
        life = LIFETIME[row.kind]
        shape: Arity = "many" if arity == "many" else "pole" if arity == "pole" else "one"
        return Rule(shape, "versioned", None if life is None else life // MILLISECOND)

    def _statement(self, order: _Order, row: Row) -> Statement:
        """What is said now: the held memory with what the caller names."""
        ask = order.ask
        known = self._room.ontology.get(row.key)
        ckey = row.ckey if ask.value is None else self._room.lexicon.ckey(ask.value, (known.types if known is not None else None) or ())
        merged = {**metadata_of(row), **ask.metadata}
        return Statement(
            kind=row.kind,
            key=row.key,
            value=row.value if ask.value is None else ask.value,
            ckey=ckey,
            subject=row.subject,
            polarity=ask.polarity or row.polarity,
            start=None if ask.valid_from is None else utc(ask.valid_from),
            ends_at=None if ask.valid_to is None else utc(ask.valid_to),
            confidence=row.confidence if ask.confidence is None else ask.confidence,
            deliberate=order.source.kind is not SourceKind.AGENT_INFERRED,
            rule="change",
            metadata={k: v for k, v in merged.items() if v is not None},
        )

    def _spoken(self, order: _Order, row: Row) -> Spoken:
        s = self._statement(order, row)
        return Spoken(order.scope, s, order.rule, self._room.trust(order.scope, order.source, order.ask.verified, s))

    def _reads(self, order: _Order, row: Row) -> Reads:
        sp = self._spoken(order, row)
        ckey = sp.statement.ckey
        slots = {row.slot, sp.concept(ckey), *([sp.chosen] if order.rule.arity in ("one", "chosen") else [])}
        things = {row.thing, thing(order.scope, sp.statement, ckey)}
        return Reads({row.kind: tuple(sorted(slots))}, {row.kind: tuple(sorted(things))}, {}, since=None, whole=True)

    # --- under the lock

    def _judged(self, order: _Order, book: Book) -> list[Decided]:
        held = book.rows.get(order.mid)
        if held is None or held.tombstoned_at is not None:
            raise NotFoundError("no memory of that id")
        check_match(held, order.if_match)
        holds = answer(book.ledger.by_slot[held.slot], max(book.now, held.valid_from), book.now) is held
        if held.is_end or held.retracted_at is not None or not holds:
            hint = "read the slot's latest version and change that"
            raise ConflictError("this version holds no more", code="version_conflict", current=etag_of(held), hint=hint)
        sp = self._spoken(order, held)
        case = self._case(sp, book, held)
        if case.ends_at is not None and case.ends_at <= book.now:
            return [self._ended(order, sp, case, book, held)]
        if case.ends_at is not None and case.ends_at <= case.start:
            raise InvalidInputError("valid_to lies after valid_from", field="valid_to")
        if case.slot == held.slot and case.same_value(held) and (order.ask.value is None or order.ask.value == held.value):
            return [self._same(order, case, book, held)]
        if case.slot != held.slot and sp.statement.polarity == held.polarity:
            return self._moved(case, book, held)
        return [Decided(sp.statement, judge(case, book))]

    def _case(self, sp: Spoken, book: Book, held: Row) -> Case:
        """The statement in its slot: a memory with a slot of its concept keeps to such slots, a chosen value to the one it shares."""
        case = cases(sp, book, Clock(book.now, self._room.skew), self._room.limits)[-1]
        if sp.statement.polarity == held.polarity:
            case = replace(case, slot=held.slot if held.slot == sp.chosen else sp.concept(sp.statement.ckey))
        return case if case.statement.start is not None else replace(case, start=max(case.start, held.valid_from))

    def _same(self, order: _Order, case: Case, book: Book, held: Row) -> Decided:
        """The same value with other metadata, confidence or times: a new version that stands as the old one stood."""
        dated = order.ask.valid_from is not None or order.ask.valid_to is not None
        vouched = case.trust.vouched or bool(case.trust.verified)
        if dated and not vouched and (order.rule.policy != "versioned" or order.rule.safety):
            raise RefusedError(_DATES, code="verification_required")
        if order.ask.valid_from is not None:
            book.retract(held)
        row = place(case, book)
        if not vouched:
            more = {**row.more, "verified_by": held.more.get("verified_by")}
            row = replace(book.rows[row.mid], standing=held.standing, more=more)
            book.put(row)
        if book.rows[row.mid].prev_mid is None:
            _link(book, row.mid, held.mid)
        verdict = Verdict.SCHEDULE if case.scheduled else Verdict.SUPERSEDE
        return Decided(case.statement, Judgement(verdict, row.mid, supersedes=held.mid))

    def _ended(self, order: _Order, sp: Spoken, case: Case, book: Book, held: Row) -> Decided:
        """A valid_to that is past: the memory ended then."""
        ask = order.ask
        if ask.value is not None or ask.polarity is not None or ask.metadata or ask.valid_from is not None or ask.confidence is not None:
            raise InvalidInputError("a valid_to that is past ends the memory: nothing else changes with it", field="valid_to")
        end = _end(replace(case, start=case.ends_at or book.now), held)
        return Decided(end.statement, judge(end, book))

    def _moved(self, case: Case, book: Book, held: Row) -> list[Decided]:
        """Another concept: the old memory ends where the new one starts. The end may wait for a reviewer, the new one does not."""
        end = _end(replace(case, start=case.start), held)
        ended = judge(end, book)
        new = judge(case, book)
        if ended.verdict is Verdict.END and new.mid in book.created:
            _link(book, new.mid, held.mid)
            new = replace(new, verdict=Verdict.SUPERSEDE, supersedes=held.mid)
        return [Decided(end.statement, ended), Decided(case.statement, new)]

    def _waiting(self, book: Book, decided: list[Decided], origin: Origin) -> PendingItem | None:
        """What of a change waits for a decision beside what is told."""
        for d in decided[:-1]:
            if d.judgement.mid in book.pendings:
                teller = Teller(self._room.ontology, Ledger(()), book.now, book.now)
                memory, reason = teller.pending(book.pendings[d.judgement.mid]), d.judgement.reason
                return PendingItem(memory, reason or "", self._room.question(d.statement), case_for(memory.mid, reason))
        return None


def _end(case: Case, held: Row) -> Case:
    """The end of a held memory at the case's start, 1 ms after its own start at the earliest."""
    statement = replace(
        case.statement, value=held.value, ckey=held.ckey, is_end=True, polarity="+", ends_at=None, start=None, metadata={}, old=None
    )
    begins: Ms = max(case.start, held.valid_from + 1)
    return replace(case, statement=statement, slot=held.slot, thing=held.thing, start=begins, ends_at=None, anchor=max(case.anchor, begins))


def _link(book: Book, new: str, old: str) -> None:
    book.put(replace(book.rows[new], prev_mid=old))
    book.links.append((new, old))


__all__ = ["Change", "Changer"]
