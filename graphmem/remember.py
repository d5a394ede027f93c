"""Deliberate statements and the user's decisions: remember, confirm, reject."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from graphmem.answers import FollowUpItem, Memory, PendingItem, Remember, Remembered
from graphmem.book import Book, Case, Judgement, Rule, Trust
from graphmem.casework import Reads, Spoken, rule_of
from graphmem.conflict import confirm as confirmed
from graphmem.drift import reads
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from graphmem.ids import many, uuid7
from graphmem.memory import MILLISECOND, Kind, Provenance, SourceKind, Statement, Verdict, to_ms, utc
from graphmem.ontology import LIFETIME
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.repeating import done_before, operation_of
from graphmem.review import case_for
from graphmem.room import Room, check_characters, check_id, check_key, check_metadata, check_source, check_time, check_zone
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller, with_origin
from graphmem.validity import Ledger, Pending, Row
from graphmem.writing import Changes, Decided, Done, Known, Origin, Written, book_of

VALUE_MAX = 10_000
"""Characters of a value."""

KeyShape = Callable[[str, str, Kind, str], tuple[Kind, str]]
"""(tenant, key, kind, arity) → the shape the tenant's first use fixed."""


class Keeper:
    """Writes that a caller asks for by name. Thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, shape: KeyShape) -> None:
        self._room, self._writer, self._reader, self._shape = room, writer, reader, shape

    def dry(self) -> Keeper:
        """The same checks, but open keys are only noted in memory: for a run that writes nothing."""
        shapes: dict[tuple[str, str], tuple[Kind, str]] = {}

        def shape(tenant: str, key: str, kind: Kind, arity: str) -> tuple[Kind, str]:
            return shapes.setdefault((tenant, key), (kind, arity))

        return Keeper(self._room, self._writer, self._reader, shape)

    # --- remember

    def remember(self, scope: Scope, ask: Remember, *, key: str | None = None) -> Remembered:
        """Judge and store one deliberate statement; see answers.Remembered. Under the confidence to be stored only a question comes out."""
        check_key(key)
        statement, rule = self.prepare(scope, ask)
        if ask.confidence < self._room.settings.store_threshold:
            return Remembered(
                None, None, None, False, 0, follow_up=FollowUpItem(uuid7(), self._room.question(statement)), reason="low_confidence"
            )
        trust = self._room.trust(scope, ask.source, ask.verified, statement)
        spoken = [Spoken(scope, statement, rule, trust, None if ask.said_at is None else to_ms(utc(ask.said_at)))]
        operation = Operation(
            operation_id(scope, "remember", key if key is not None else uuid7()), self._room.hash_of(ask), "remember", scope.principal
        )
        origin = self.origin(scope, ask.source, operation.op, ask.zone)
        mids = many(8)
        sealed: list[tuple[Book, list[Decided]]] = []

        def decide(known: Known) -> Changes:
            book, decided = self._room.judge(known, spoken, mids)
            _expect(ask.expected_version, known, book, decided)
            sealed[:] = [(book, decided)]
            return self._room.close(known, book, decided, Changes("", origin), {}, "zh" if _han(ask.value) else "en")

        written = self._writer.write(scope, operation, reads(spoken), decide)
        if written.changes is None:
            return self.again(scope, written)
        return self.remembered(written, *sealed[0], origin)

    def prepare(self, scope: Scope, ask: Remember, rule: str = "remember") -> tuple[Statement, Rule]:
        """A checked statement, named after the `rule` it is made by, and the rule of its key; not judged yet."""
        self._check(ask)
        return self._statement(scope, ask, rule)

    def _check(self, ask: Remember) -> None:
        if ask.value is not None:
            check_value(ask.value, "a value is not blank; null ends the slot")
        for name, text in (("key", ask.key), ("subject", ask.subject)):
            if not text.strip() or len(text) > 256:
                raise InvalidInputError(f"{name} is text of 1 to 256 characters", field=name)
            check_characters(text, name)
        if not 0 <= ask.confidence <= 1:
            raise InvalidInputError("confidence lies between 0 and 1", field="confidence")
        for name, at in (("valid_from", ask.valid_from), ("valid_to", ask.valid_to), ("said_at", ask.said_at)):
            check_time(at, name)
        if ask.valid_from is not None and ask.valid_to is not None and ask.valid_to <= ask.valid_from:
            raise InvalidInputError("valid_to lies after valid_from", field="valid_to")
        if ask.source is None:
            raise InvalidInputError("no source, no memory: say where it comes from", field="source", code="no_source")
        check_source(ask.source)
        check_metadata(ask.metadata)
        if ask.zone is not None:
            check_zone(ask.zone)

    def _statement(self, scope: Scope, ask: Remember, named: str) -> tuple[Statement, Rule]:
        known = self._room.ontology.get(ask.key)
        if known is not None:
            if ask.kind is not None and ask.kind is not known.kind:
                raise ConflictError(f"'{ask.key}' is a {known.kind.value} key", code="key_shape")
            kind, rule = known.kind, rule_of(known)
            ckey = "" if ask.value is None else self._room.lexicon.ckey(ask.value, known.types or ())
        else:
            kind, rule = self._open_key(scope, ask)
            ckey = "" if ask.value is None else self._room.lexicon.ckey(ask.value, ())
        inferred = ask.source is not None and ask.source.kind is SourceKind.AGENT_INFERRED
        return Statement(
            kind=kind,
            key=ask.key,
            value=ask.value,
            ckey=ckey,
            subject=ask.subject,
            polarity=ask.polarity,
            is_end=ask.value is None or ask.ends,
            start=_utc(ask.valid_from),
            ends_at=_utc(ask.valid_to),
            confidence=ask.confidence,
            deliberate=not inferred,
            rule=named,
            metadata=ask.metadata,
        ), rule

    def _open_key(self, scope: Scope, ask: Remember) -> tuple[Kind, Rule]:
        if not self._room.settings.open_keys:
            raise InvalidInputError(f"'{ask.key}' is no key of the ontology and this service permits no others", field="key")
        if ask.kind is None or ask.arity is None:
            raise InvalidInputError(
                f"'{ask.key}' is outside the ontology: name kind and arity (one, many or pole)",
                field="kind" if ask.kind is None else "arity",
            )
        kind, arity = self._shape(scope.tenant, ask.key, ask.kind, ask.arity)
        if (kind, arity) != (ask.kind, ask.arity):
            raise ConflictError(f"'{ask.key}' was first used as {kind.value}, {arity}", code="key_shape")
        life = LIFETIME[kind]
        lifetime = None if life is None else life // MILLISECOND
        return kind, Rule(ask.arity, "versioned", lifetime)

    def origin(self, scope: Scope, source: Provenance | None, op: str, zone: str | None) -> Origin:
        source = source or Provenance()
        vouching = source.verified_by or (scope.principal if source.kind is not SourceKind.AGENT_INFERRED else None)
        source_id = f"{source.kind.value}:{source.ref}" if source.ref else f"op:{op}"
        return Origin(source_id, source.kind.value, source.ref, vouching, scope.domain, zone or self._room.settings.zone)

    def remembered(self, written: Written, book: Book, decided: list[Decided], origin: Origin) -> Remembered:
        last = decided[-1].judgement
        teller = Teller(self._room.ontology, Ledger(with_origin(r, origin) for r in book.rows.values()), book.now, book.now)
        if last.mid is None:
            return Remembered(last.verdict, None, None, False, written.rev, reason=last.reason)
        if last.mid in book.pendings:
            pending = book.pendings[last.mid]
            memory = teller.pending(replace(pending, row=with_origin(pending.row, origin)))
            item = PendingItem(memory, last.reason or "", self._room.question(decided[-1].statement), case_for(last.mid, last.reason))
            return Remembered(last.verdict, memory, None, False, written.rev, pending=item, reason=last.reason)
        row = next(r for r in teller.ledger.rows if r.mid == last.mid)
        return Remembered(last.verdict, teller.memory(row), last.supersedes, False, written.rev, reason=last.reason)

    def again(self, scope: Scope, written: Written) -> Remembered:
        return self._done(scope, written.before)

    def _done(self, scope: Scope, done: Done) -> Remembered:
        mid, verdict, supersedes, reason = json.loads(done.outcome)["verdicts"][-1]
        memory = None if mid is None else self.as_now(scope, mid)
        return Remembered(Verdict(verdict), memory, supersedes, True, done.rev, reason=reason)

    def as_now(self, scope: Scope, mid: str) -> Memory | None:
        """A memory as it is told now; None where it was forgotten."""
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            return None
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        for row in snapshot.rows:
            if row.mid == mid and row.tombstoned_at is None:
                return teller.memory(row)
        return next((teller.pending(p) for p in snapshot.pendings if p.row.mid == mid and p.row.tombstoned_at is None), None)

    # --- decisions

    def confirm(self, scope: Scope, mid: str, *, key: str | None = None) -> Remembered:
        """The user's own yes to a pending memory: a new version from the later of now and its stated start. Single use, but for its key."""
        check_id(mid, "mid")
        operation = operation_of(scope, "confirm", mid, key, mid)
        if key is not None and (done := done_before(self._writer, scope, operation)) is not None:
            return self._done(scope, done)
        found = self._pending(scope, mid)
        if found.reason in ("dual", "review", "denial"):
            raise RefusedError(
                "this change needs a proof or a reviewer, the user's word is not enough", code="verification_required", hint="see its case"
            )

        def act(book: Book, pending: Pending) -> Judgement:
            return confirmed(self._case(scope, book, pending), book, pending, book.now)

        written, book, decided, origin = self._decide(scope, found, operation, act)
        return self.remembered(written, book, decided, origin)

    def reject(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """The user's own no to a pending memory. Single use, but for its key."""
        check_id(mid, "mid")
        operation = operation_of(scope, "reject", mid, key, mid)
        if key is not None and done_before(self._writer, scope, operation) is not None:
            if (memory := self.as_now(scope, mid)) is None:
                raise NotFoundError("no pending memory of that id")
            return memory
        found = self._pending(scope, mid)

        def act(book: Book, pending: Pending) -> Judgement:
            book.decide(pending, "rejected", book.now)
            return Judgement(Verdict.REFUSED, mid, reason="rejected")

        _, book, _, _ = self._decide(scope, found, operation, act)
        return Teller(self._room.ontology, Ledger(book.rows.values()), book.now, book.now).pending(book.pendings[mid])

    def _pending(self, scope: Scope, mid: str) -> Pending:
        snapshot = self._reader.slot_of(scope, mid)
        pendings = () if snapshot is None else snapshot.pendings
        found = next((p for p in pendings if p.row.mid == mid and p.row.tombstoned_at is None), None)
        if found is None:
            raise NotFoundError("no pending memory of that id")
        if not found.open():
            raise ConflictError(f"this pending memory was {found.outcome}", code="decided")
        return found

    def _case(self, scope: Scope, book: Book, pending: Pending) -> Case:
        row = pending.row
        known = self._room.ontology.get(row.key)
        rule = rule_of(known) if known is not None else Rule("one", "versioned", row.lifetime)
        statement = Statement(
            kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity,
            is_end=row.is_end, confidence=row.confidence, deliberate=True, rule="confirm",
        )  # fmt: skip
        start = max(book.now, row.valid_from)
        return Case(statement, rule, Trust(), self._room.limits, row.slot, row.thing, book.now, start, row.ends_at, book.now, book.now)

    def _decide(
        self, scope: Scope, found: Pending, operation: Operation, act: Callable[[Book, Pending], Judgement]
    ) -> tuple[Written, Book, list[Decided], Origin]:
        row = found.row
        origin = Origin(
            f"op:{operation.op}", SourceKind.USER_STATED.value, row.mid, scope.principal, scope.domain, str(row.more.get("zone", "UTC"))
        )
        mids = many(6)
        sealed: list[tuple[Book, list[Decided]]] = []

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(mids))
            pending = book.pendings.get(row.mid)
            if pending is None or not pending.open() or known.now >= pending.row.said_at + self._room.limits.pending_life:
                raise ConflictError("this pending memory was decided meanwhile or is too old", code="decided")
            statement = Statement(kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity)
            decided = [Decided(statement, act(book, pending))]
            sealed[:] = [(book, decided)]
            return self._room.close(known, book, decided, Changes("", origin), {}, "zh" if _han(row.value) else "en")

        written = self._writer.write(scope, operation, whole(row), decide)
        if written.changes is None:
            raise ConflictError("this pending memory was decided already", code="decided")
        return written, *sealed[0], origin


def whole(row: Row) -> Reads:
    """Read a row's whole slot and everything about its thing: decisions, retract and forget look at all of it."""
    return Reads({row.kind: (row.slot,)}, {row.kind: (row.thing,)} if row.ckey else {}, {}, since=None, whole=True)


def _expect(expected: int | None, known: Known, book: Book, decided: list[Decided]) -> None:
    if expected is None:
        return
    judged = decided[-1].judgement.mid
    slot = book.rows[judged].slot if judged in book.rows else (book.pendings[judged].row.slot if judged in book.pendings else None)
    current = known.tops.get(slot, 0) if slot is not None else 0
    if current != expected:
        raise ConflictError(f"the slot is at version {current}, not {expected}", code="version_conflict", current=f"v{current}")


def check_value(value: str, blank: str) -> None:
    """Refuse a value that is blank (told in the words `blank`), too long, or no text."""
    if not value.strip():
        raise InvalidInputError(blank, field="value", code="blank_text")
    if len(value) > VALUE_MAX:
        raise InvalidInputError(f"a value holds at most {VALUE_MAX} characters", field="value", code="text_too_long")
    check_characters(value, "value")


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else utc(at)


def _han(text: str | None) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text or "")


__all__ = ["Keeper", "whole"]
