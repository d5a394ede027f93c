"""The reviewer's desk: the inbox, a case with both sides and their evidence, the decision. Every answer is of the reviewer's own tenant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from graphmem.answers import Memory
from graphmem.book import Book, Judgement, Rule
from graphmem.casework import ANY, Reads, rule_of
from graphmem.cases import Evidence, ReviewCase, ReviewDecided, ReviewItem, ReviewPage
from graphmem.conflict import confirm, judge
from graphmem.errors import NotFoundError
from graphmem.ids import many
from graphmem.memory import Kind, SourceKind, Statement, Verdict, from_ms
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.reading import check_limit
from graphmem.review import (
    AFTER,
    Decision,
    case_id_of,
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
from graphmem.validity import Ledger, Ms, Pending, Row, shown
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
        top = max((r.version for r in snapshot.rows if r.slot == pending.row.slot), default=0)
        if is_overtaken(held.slot_version, top):
            return ()
        rows = [r for r in snapshot.rows if r.key == held.key]
        beside = [m for m in told if m.concept != pending.row.ckey and m.polarity == "+"]
        both = may_keep_both(self._rule(pending.row), pending.row, [*rows, *(_as_row(pending.row, m) for m in beside)])
        found: list[Decision] = [] if held.reason == "dual" else ["approve"]
        return (*found, "reject", *(cast(tuple[Decision, ...], ("keep_both",)) if both else ()))

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
