"""The reviewer's desk: the inbox, a case with both sides and their evidence, the decision. Every answer is of the reviewer's own tenant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from graphmem.answers import Memory
from graphmem.book import Book, Judgement, Rule
from graphmem.cases import Evidence, ReviewCase, ReviewDecided, ReviewItem, ReviewPage
from graphmem.casework import ANY, Reads, rule_of
from graphmem.conflict import confirm
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.ids import many
from graphmem.memory import Kind, SourceKind, Statement, Verdict, from_ms
from graphmem.pipeline.normal import language_of
from graphmem.placing import place
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.reading import check_limit
from graphmem.remember import whole
from graphmem.review import (
    AFTER,
    Decision,
    case_to_confirm,
    check_decider,
    check_decision,
    check_right,
    check_state,
    decode,
    encode,
    is_overtaken,
    may_keep_both,
    refusal,
    state_now,
    trust_of,
)
from graphmem.room import Room, check_characters
from graphmem.scope import Scope
from graphmem.slot import operation_id, slot_prefix
from graphmem.telling import Teller, label_of
from graphmem.validity import Ledger, Ms, Pending, Row
from graphmem.writing import Changes, Decided, Known, Origin, Snapshot, Written, book_of


@dataclass(frozen=True, slots=True)
class Held:
    """A case as it is stored; `state` before time is looked at."""

    case_id: str
    user_id: str
    state: str
    reason: str
    kind: str
    key: str
    subject: str
    pending_mid: str
    slot_version: int
    proposed_by: str
    opened_at: Ms
    due_at: Ms
    decided_at: Ms | None = None
    decided_by: str | None = None
    decision: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """One source of a memory, with the clause of its turn, forgotten parts blank."""

    mid: str
    source: str
    kind: str
    at: Ms
    quote: str | None
    turn_id: str | None
    session_id: str | None


class Desk(Protocol):
    """What reviewing reads beside the memories."""

    def inbox(self, tenant: str, state: str, after: tuple[int, str], limit: int) -> list[Held]:
        """Cases of a state behind a place, oldest first."""
        ...

    def case(self, tenant: str, case_id: str) -> tuple[Held, Ms] | None:
        """A case of the tenant and the database's now; None when it has no such case."""
        ...

    def evidence(self, scope: Scope, mids: Sequence[str]) -> list[Clause]:
        """Where these memories of the user come from."""
        ...


class Reviewing:
    """Lists, shows and decides cases for scopes with the right `review`. Thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, desk: Desk) -> None:
        self._room, self._writer, self._reader, self._desk = room, writer, reader, desk

    # --- read

    def page(self, scope: Scope, state: str | None, limit: int, cursor: str | None) -> ReviewPage:
        """A page of the tenant's cases in a state (None: open), oldest first."""
        check_right(scope)
        check_limit(limit)
        asked = check_state(state)
        found = self._desk.inbox(scope.tenant, asked, decode(cursor), limit + 1)
        items, more = found[:limit], len(found) > limit
        last = encode((items[-1].opened_at, items[-1].case_id)) if more else None
        return ReviewPage(tuple(replace(self._item(h, h.due_at - 1), state=asked) for h in items), last, more)

    def case(self, scope: Scope, case_id: str) -> ReviewCase:
        """Both sides of a case; NotFoundError for foreign and unknown ones alike."""
        held, now = self._held(scope, case_id)
        owner = replace(scope, user=held.user_id)
        snapshot = self._reader.slot_of(owner, held.pending_mid)
        pending = _find(snapshot, held.pending_mid)
        told = self._told(owner, held)
        item = self._item(held, now)
        mids = [m.mid for m in told] + ([pending.row.mid] if pending is not None else [])
        teller = Teller(self._room.ontology, Ledger(()), now, now)
        return ReviewCase(
            item=item,
            held=told,
            pending=teller.pending(pending) if pending is not None else None,
            question=self._room.ask(held.key, pending.row.value or "") if pending is not None else None,
            evidence=tuple(_evidence(c) for c in self._desk.evidence(owner, mids)),
            decisions=self._decisions(item, held, snapshot, pending, told),
        )

    def _held(self, scope: Scope, case_id: str) -> tuple[Held, Ms]:
        check_right(scope)
        check_characters(case_id, "case_id")
        found = self._desk.case(scope.tenant, case_id)
        if found is None:
            raise NotFoundError("no case of that id")
        return found

    def _told(self, owner: Scope, held: Held) -> tuple[Memory, ...]:
        found = self._reader.latest(owner, Kind(held.kind), held.key, held.subject)
        teller = Teller(self._room.ontology, Ledger(found.rows), found.now, found.now)
        return tuple(teller.tell(r) for r in teller.ledger.all_told(found.now, found.now) if (r.key, r.subject) == (held.key, held.subject))

    def _decisions(
        self, item: ReviewItem, held: Held, snapshot: Snapshot | None, pending: Pending | None, told: tuple[Memory, ...]
    ) -> tuple[Decision, ...]:
        if item.state != "open" or snapshot is None or pending is None or not pending.open():
            return ()
        row = pending.row
        if is_overtaken(held.slot_version, max((r.version for r in snapshot.rows if r.slot == row.slot), default=0)):
            return ()
        approve: tuple[Decision, ...] = () if held.reason == "dual" else ("approve",)
        both = may_keep_both(self._rule(row), row, (m.concept for m in told if m.polarity == "+"))
        return (*approve, "reject", "keep_both") if both else (*approve, "reject")

    def _item(self, held: Held, now: Ms) -> ReviewItem:
        return ReviewItem(
            case_id=held.case_id,
            user_id=held.user_id,
            state=state_now(held.state, held.due_at, now),
            reason=held.reason,
            kind=Kind(held.kind),
            key=held.key,
            label=label_of(self._room.ontology, held.key),
            subject=held.subject,
            pending_mid=held.pending_mid,
            proposed_by=held.proposed_by,
            opened_at=from_ms(held.opened_at),
            due_at=from_ms(held.due_at),
            decided_at=None if held.decided_at is None else from_ms(held.decided_at),
            decided_by=held.decided_by,
            decision=cast(Decision | None, held.decision),
            note=held.note,
        )

    def _rule(self, row: Row) -> Rule:
        known = self._room.ontology.get(row.key)
        return rule_of(known) if known is not None else Rule("one", "versioned", row.lifetime)

    # --- decide

    def decide(self, scope: Scope, case_id: str, decision: str, note: str | None) -> ReviewDecided:
        """Approve, reject or keep both, in one transaction under the lock of the case's user; the same decision of the same principal again
        gives the same answer. ConflictError `decided` or `overtaken`, RefusedError `four_eyes`, `verification_required`, `forbidden`.
        """
        check_decision(decision, note)
        check_characters(note or "", "note")
        held, _ = self._held(scope, case_id)
        check_decider(scope, Kind(held.kind), held.reason, held.proposed_by, decision)
        mine = (held.state, held.decided_by, held.decision) == (AFTER[decision], scope.principal, decision)
        if held.state != "open" and not mine:
            raise refusal(held.state)
        owner = replace(scope, user=held.user_id)
        pending = _find(self._reader.slot_of(owner, held.pending_mid), held.pending_mid)
        if pending is None:
            raise NotFoundError("the memory of this case was forgotten")
        order = _Order(owner, held, pending.row, cast(Decision, decision), note)
        written = self._write(order)
        after, now = self._held(scope, case_id)
        if after.state != AFTER[decision]:
            raise refusal(after.state)
        return self._answer(owner, self._item(after, now), written)

    def _write(self, order: _Order) -> Written:
        owner, row = order.owner, order.row
        name = f"{order.held.case_id}\x1f{owner.principal}\x1f{order.decision}"
        operation = Operation(operation_id(owner, "review", name), order.held.case_id, "review", owner.principal)
        kind, zone = str(row.more.get("source_kind", SourceKind.USER_STATED.value)), str(row.more.get("zone", "UTC"))
        origin = Origin(f"op:{operation.op}", kind, row.mid, owner.principal, owner.domain, zone)
        mids = many(8)

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(mids))
            decided, state = self._decided(order, known, book)
            changes = self._room.close(known, book, decided, Changes("", origin), {}, language_of(row.value or ""))
            cases = tuple(
                replace(c, state=state, decision=order.decision, note=order.note) if c.case_id == order.held.case_id else c
                for c in changes.cases
            )
            return replace(changes, cases=cases)

        return self._writer.write(owner, operation, reads_of(owner, row), decide)

    def _decided(self, order: _Order, known: Known, book: Book) -> tuple[list[Decided], str]:
        """What the decision does to the book, and the state it leaves the case in."""
        held, row, now = order.held, order.row, book.now
        pending = book.pendings.get(row.mid)
        if pending is None or not pending.open():
            raise refusal("decided")
        if now >= held.due_at or is_overtaken(held.slot_version, known.tops.get(row.slot, 0)):
            outcome = "expired" if now >= held.due_at else "overtaken"
            book.decide(pending, outcome, now)
            return [Decided(_words(row), Judgement(Verdict.REFUSED, row.mid, reason=outcome))], outcome
        told = book.told_of_key(row.key, row.subject, now)
        affirmed = [r for r in told if r.polarity == "+"]
        if order.decision == "keep_both" and not may_keep_both(self._rule(row), row, (r.ckey for r in affirmed)):
            raise InvalidInputError("both can only be kept where they are two concepts of a key that holds many", field="decision")
        if order.decision == "reject" or (order.decision == "keep_both" and row.is_end):
            book.decide(pending, "rejected", now)
            return [Decided(_words(row), Judgement(Verdict.REFUSED, row.mid, reason="rejected"))], AFTER[order.decision]
        case = case_to_confirm(row, self._rule(row), trust_of(order.owner.principal, row), self._room.limits, now)
        done = [Decided(case.statement, confirm(case, book, pending, now))]
        for other in affirmed if row.polarity == "-" and row.ckey in ("", ANY) else ():
            # the denial of a whole key denies each thing that is held
            words = replace(case.statement, value=other.value, ckey=other.ckey)
            placed = place(replace(case, statement=words, slot=other.slot, thing=other.thing), book)
            done.insert(0, Decided(words, Judgement(Verdict.SUPERSEDE, placed.mid, supersedes=other.mid)))
        return done, AFTER[order.decision]

    def _answer(self, owner: Scope, item: ReviewItem, written: Written) -> ReviewDecided:
        done = written.known.done
        outcome = written.changes.outcome if written.changes is not None else (done.outcome if done is not None else "{}")
        mid, _, supersedes, _ = json.loads(outcome)["verdicts"][-1]
        return ReviewDecided(item, self._recorded(owner, mid), supersedes, written.changes is None, written.rev)

    def _recorded(self, owner: Scope, mid: str | None) -> Memory | None:
        snapshot = self._reader.slot_of(owner, mid) if mid is not None else None
        if snapshot is None:
            return None
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        return next((teller.memory(r) for r in snapshot.rows if r.mid == mid and r.tombstoned_at is None), None)


@dataclass(frozen=True, slots=True)
class _Order:
    """A decision on its way: whose case, which row waits, what is decided. The owner's scope keeps the reviewer's principal."""

    owner: Scope
    held: Held
    row: Row
    decision: Decision
    note: str | None


def reads_of(scope: Scope, row: Row) -> Reads:
    """A row's whole slot, its thing, and what else is current of its key and subject."""
    return replace(whole(row), prefixes={row.kind: (slot_prefix(scope, row.kind, row.key, row.subject),)})


def _find(snapshot: Snapshot | None, mid: str) -> Pending | None:
    pendings = snapshot.pendings if snapshot is not None else ()
    return next((p for p in pendings if p.row.mid == mid and p.row.tombstoned_at is None), None)


def _words(row: Row) -> Statement:
    return Statement(kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity)


def _evidence(c: Clause) -> Evidence:
    return Evidence(c.mid, c.source, c.kind, from_ms(c.at), c.quote, c.turn_id, c.session_id)
