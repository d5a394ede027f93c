"""From the façade's values to the answers of api.md: what differs by more than its type."""

from __future__ import annotations

from urllib.parse import quote

from api.answers import (
    BatchItemOut,
    FollowUpOut,
    InjectedOut,
    MemoryOut,
    NotStoredOut,
    PendingOut,
    ProblemOut,
    RecordedOut,
    RememberedOut,
    StoredOut,
    Text2Out,
)
from api.errors import Problem, Reader
from graphmem.answers import Injected, PendingItem, Remembered
from graphmem.events import Recorded
from graphmem.memory import Verdict


def pending_out(item: PendingItem, base: str) -> PendingOut:
    """A pending memory with the links that settle it."""
    link = f"{base}/memories/{quote(item.memory.mid, safe='')}"
    return PendingOut(
        memory=MemoryOut.model_validate(item.memory),
        reason=item.reason,
        question=Text2Out.model_validate(item.question),
        case=item.case,
        confirm=f"{link}:confirm",
        reject=f"{link}:reject",
    )


def injected_out(done: Injected, base: str) -> InjectedOut:
    """What became of a turn."""
    return InjectedOut(
        turn_id=done.turn_id,
        session_id=done.session_id,
        at=done.at,
        replayed=done.replayed,
        stored=[StoredOut.model_validate(s) for s in done.stored],
        pending=[pending_out(p, base) for p in done.pending],
        not_stored=[NotStoredOut.model_validate(n) for n in done.not_stored],
        follow_up=[FollowUpOut.model_validate(f) for f in done.follow_up],
        notes=list(done.notes),
        revision=done.revision,
    )


def recorded_out(done: Recorded, base: str) -> RecordedOut:
    """What became of an event."""
    return RecordedOut(
        name=done.name,
        replayed=done.replayed,
        stored=[StoredOut.model_validate(s) for s in done.stored],
        pending=[pending_out(p, base) for p in done.pending],
        not_stored=[NotStoredOut.model_validate(n) for n in done.not_stored],
        revision=done.revision,
    )


def remembered_out(done: Remembered, base: str) -> RememberedOut:
    """What became of a statement."""
    return RememberedOut(
        verdict=done.verdict,
        memory=MemoryOut.model_validate(done.memory) if done.memory else None,
        supersedes=done.supersedes,
        replayed=done.replayed,
        pending=[pending_out(done.pending, base)] if done.pending else [],
        follow_up=[FollowUpOut.model_validate(done.follow_up)] if done.follow_up else [],
        reason=done.reason,
        revision=done.revision,
    )


def remembered_status(done: Remembered) -> int:
    """200 reinforced or replayed, 202 not decided yet, else 201."""
    if done.replayed or done.verdict is Verdict.REINFORCE:
        return 200
    if done.pending or done.memory is None or done.verdict in (Verdict.PENDING, Verdict.REVIEW):
        return 202
    return 201


def failed(index: int, turn_id: str | None, told: Problem, to: Reader, *, retry: bool = False) -> BatchItemOut:
    """One turn of a batch that was not done."""
    return BatchItemOut(
        index=index,
        turn_id=turn_id,
        outcome="retry" if retry else "error",
        error=ProblemOut.model_validate(told.body(to)),
    )
