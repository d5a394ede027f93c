"""Review cases: when one opens, when it is over, who may decide it and how. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast, get_args
from uuid import UUID, uuid5

from graphmem.book import Book, Case, Judgement, Limits, Rule, Trust
from graphmem.casework import ANY
from graphmem.drift import DRIFT
from graphmem.errors import ConflictError, InvalidInputError, RefusedError
from graphmem.memory import Kind, Standing, Statement, Verdict
from graphmem.scope import Scope
from graphmem.validity import Ms, Pending, Row
from graphmem.writing import Changes, Decided, NewCase

CASE = UUID("6f0d0c1e-6b0d-5b6e-9b52-6f6d656d0003")
"""Namespace of case ids."""

REVIEWED = frozenset({"review", "denial", "dual", DRIFT})
"""Reasons of pending rows that open a case."""

RIGHT = "review"
"""The right of a scope that reads and decides cases of its tenant."""

STAFF = "staff:"
"""Principals of this kind make verified what they approve."""

NOTE_MAX = 2_000
"""Characters of a note on a decision."""

State = Literal["open", "approved", "rejected", "kept_both", "overtaken", "expired"]
Decision = Literal["approve", "reject", "keep_both"]

AFTER: Mapping[str, State] = {"approve": "approved", "reject": "rejected", "keep_both": "kept_both"}
"""State that a decision leaves."""

_OUTCOME: Mapping[str, State] = {"confirmed": "approved", "rejected": "rejected", "overtaken": "overtaken", "expired": "expired"}


def case_id_of(mid: str) -> str:
    """The case of a pending memory: one each, the same in any process."""
    return str(uuid5(CASE, mid))


def case_for(mid: str, reason: str | None) -> str | None:
    """The case of a pending memory that waits for this reason; None where the user's word is enough."""
    return case_id_of(mid) if reason in REVIEWED else None


def cases_of(changes: Changes, book: Book, life: Ms) -> tuple[NewCase, ...]:
    """The cases that a write opens with its pending rows, and those it closes with rows that were decided."""
    found = [_case(p, book, life) for p in changes.pended if p.reason in REVIEWED]
    return tuple(found + [_case(p, book, life) for p in changes.decided if p.reason in REVIEWED])


def _case(pending: Pending, book: Book, life: Ms) -> NewCase:
    row = pending.row
    state = "open" if pending.open() else _OUTCOME.get(pending.outcome or "", "rejected")
    return NewCase(case_id_of(row.mid), pending, book.tops.get(row.slot, 0), row.said_at + life, state)


def within_quota(book: Book, decided: Sequence[Decided], before: Iterable[Pending], quota: int, life: Ms) -> list[Decided]:
    """Refuse statements about facts that would leave more cases open than a user may have; `before`: the pending rows as they were read."""

    def waiting(pendings: Iterable[Pending]) -> int:
        return sum(_waits(p) and book.now < p.row.said_at + life for p in pendings)

    most = max(quota, waiting(before))
    kept = list(decided)
    for place in reversed(range(len(kept))):
        if waiting(book.pendings.values()) <= most:
            break
        mid = kept[place].judgement.mid
        if mid is not None and mid in book.pended and _waits(book.pendings[mid]):
            book.pended.remove(mid)
            del book.pendings[mid]
            kept[place] = Decided(kept[place].statement, Judgement(Verdict.REFUSED, reason="refused_by_policy"))
    return kept


def _waits(pending: Pending) -> bool:
    return pending.open() and pending.reason in REVIEWED and pending.row.kind is Kind.FACT


# --- who may decide, and how


def check_right(scope: Scope) -> None:
    """RefusedError without the right to review."""
    if RIGHT not in scope.rights:
        raise RefusedError("reading and deciding cases needs the right 'review'", code="forbidden", hint="use a reviewer's credential")


def check_decider(scope: Scope, row_kind: Kind, reason: str, proposed_by: str, decision: str) -> None:
    """Four eyes for facts; a key that needs two proofs is not changed by one reviewer."""
    if row_kind is Kind.FACT and proposed_by == scope.principal:
        raise RefusedError("who proposed a change of a fact may not decide it", code="four_eyes", hint="let another reviewer decide")
    if reason == "dual" and decision == "approve":
        raise RefusedError(
            "this key changes by two proofs only", code="verification_required", hint="start a proof for the pending memory, or reject it"
        )


def check_decision(decision: str, note: str | None) -> None:
    """InvalidInputError for an unknown decision and a note that is too long."""
    if decision not in get_args(Decision):
        raise InvalidInputError(f"a decision is one of {', '.join(get_args(Decision))}", field="decision")
    if note is not None and len(note) > NOTE_MAX:
        raise InvalidInputError(f"a note holds at most {NOTE_MAX} characters", field="note")


def check_state(state: str | None) -> State:
    """The state asked for; None asks for what is open."""
    if state is not None and state not in get_args(State):
        raise InvalidInputError(f"a state is one of {', '.join(get_args(State))}", field="state")
    return cast(State, state or "open")


def may_keep_both(rule: Rule, row: Row, affirmed: Iterable[str | None]) -> bool:
    """Two concepts of a `many` key: one to be added or ended, and another affirmed beside it. A denial has no two sides to keep."""
    if rule.arity != "many" or row.polarity == "-" or row.ckey in ("", ANY):
        return False
    return any(ckey and ckey != row.ckey for ckey in affirmed)


def state_now(state: str, due_at: Ms, now: Ms) -> State:
    """A case nobody decided in time is expired, swept or not."""
    return "expired" if state == "open" and due_at <= now else cast(State, state)


def is_overtaken(slot_version: int, top: int) -> bool:
    """The slot moved since the case was opened: its two sides are not what the reviewer was shown."""
    return slot_version != top


def refusal(state: str) -> ConflictError:
    """What a decision on a case in this state is told."""
    code = "overtaken" if state == "overtaken" else "decided"
    words = {"overtaken": "the slot of this case moved since it was opened", "expired": "this case was not decided in time"}
    return ConflictError(words.get(state, f"this case is {state}"), code=code, current=state, hint="read what is held now")


# --- what a decision does


def case_to_confirm(row: Row, rule: Rule, trust: Trust, limits: Limits, now: Ms) -> Case:
    """A pending row's statement as a case of now: valid from the later of decision and stated start."""
    statement = Statement(
        kind=row.kind, key=row.key, value=row.value, ckey=row.ckey, subject=row.subject, polarity=row.polarity,
        is_end=row.is_end, confidence=row.confidence, deliberate=True, rule="decided",
    )  # fmt: skip
    return Case(
        statement, rule, trust, limits, row.slot, row.thing,
        said_at=now, start=max(now, row.valid_from), ends_at=row.ends_at, now=now, anchor=now,
    )  # fmt: skip


def trust_of(principal: str, row: Row) -> Trust:
    """What a reviewer's yes makes of a memory: verified by staff, else as it was said."""
    return Trust(vouched=principal.startswith(STAFF), reported=row.standing is Standing.REPORTED)


# --- pages


Place = tuple[Ms, str]
"""(opened_at, case_id): the order of the inbox."""


def encode(place: Place) -> str:
    """A cursor behind this place."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def decode(cursor: str | None) -> Place:
    """The place a cursor stands behind; the very first one without a cursor."""
    if cursor is None:
        return (0, "")
    try:
        at, case_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError) as fault:
        raise InvalidInputError("that is no cursor of this list", field="cursor") from fault
    if not isinstance(at, int) or not isinstance(case_id, str) or not 0 <= at <= 253_402_300_799_999:
        raise InvalidInputError("that is no cursor of this list", field="cursor")
    return at, case_id
