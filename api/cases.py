"""Review cases in GraphQL: the inbox, both sides of a case, a decision."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.nodes import Kind, Memory, Text2, all_told, as_is, maybe
from graphmem import cases


@strawberry.type(description="A case as the inbox shows it: no value.")
class ReviewItem:
    case_id: str
    user_id: str
    state: str
    reason: str
    kind: Kind
    key: str
    label: Text2
    subject: str
    pending_mid: str
    proposed_by: str
    opened_at: datetime
    due_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decision: str | None
    note: str | None


@strawberry.type(description="Cases of one state, oldest first; `next` goes into `after`.")
class ReviewPage:
    items: list[ReviewItem]
    next: str | None
    has_next: bool


@strawberry.type(description="Where a memory of a case comes from. `quote`: the clause of the turn; forgotten parts are blank.")
class CaseEvidence:
    mid: str
    source: str
    kind: str
    at: datetime
    quote: str | None
    turn_id: str | None
    session_id: str | None


@strawberry.type(description="Both sides of a case: what is held, what waits, and the clauses they were said in.")
class ReviewCase:
    item: ReviewItem
    held: list[Memory]
    pending: Memory | None
    question: Text2 | None
    evidence: list[CaseEvidence]
    decisions: list[str]

    @classmethod
    def of(cls, case: cases.ReviewCase) -> ReviewCase:
        return cls(
            item=as_is(case.item),
            held=all_told(case.held),
            pending=maybe(case.pending),
            question=as_is(case.question),
            evidence=as_is(case.evidence),
            decisions=list(case.decisions),
        )


@strawberry.type
class ReviewDecision:
    item: ReviewItem
    memory: Memory | None
    supersedes: str | None
    replayed: bool
    revision: int
