"""A façade that answers what it is told and remembers what it was asked: for tests of translation only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from graphmem.answers import (
    Ask,
    BatchItem,
    FollowUpItem,
    Found,
    History,
    Hit,
    Injected,
    Latest,
    Memory,
    MemoryFilter,
    Page,
    PendingItem,
    Readiness,
    Recalled,
    Receipt,
    ReceiptLine,
    Remember,
    Remembered,
    Stored,
    Trigger,
)
from graphmem.change import Change
from graphmem.errors import NotFoundError
from graphmem.events import Event, Recorded
from graphmem.memory import Kind, NotStored, Provenance, Reason, Standing, Status, Text2, Turn, Verdict
from graphmem.scope import Scope
from graphmem.settings import Settings

AT = datetime(2024, 7, 15, 2, 0, tzinfo=UTC)
QUESTION = Text2("改成燕麦拿铁了吗?", "Is it oat latte now?")
MEMORY = Memory(
    mid="m-1",
    kind=Kind.PREFERENCE,
    key="coffee_preference",
    label=Text2("咖啡口味", "coffee"),
    subject="self",
    value="燕麦拿铁",
    concept="drink:oat_latte",
    polarity="+",
    status=Status.ACTIVE,
    version=2,
    valid_from=AT,
    valid_to=None,
    recorded_at=AT,
    closed_at=None,
    observed_at=AT,
    expires_at=None,
    confidence=0.97,
    weight=0.93,
    evidence_count=1,
    standing=Standing.STATED,
    owner_domain="default",
    zone="Asia/Shanghai",
    source=Provenance(ref="s-17/t-3"),
    verified_by="user",
    supersedes="m-0",
    superseded_by=None,
    said_at=AT,
    etag="v2-7",
)
PENDING = PendingItem(replace(MEMORY, mid="m/2", status=Status.PENDING), "reversal_window", QUESTION)
INJECTED = Injected(
    turn_id="t-3",
    session_id="s-17",
    replayed=False,
    stored=(Stored(MEMORY, Verdict.SUPERSEDE, "m-0"),),
    pending=(PENDING,),
    not_stored=(NotStored("几点了?", (0, 4), Reason.QUESTION, "speech_act.question"),),
    follow_up=(FollowUpItem("c-1", QUESTION),),
    revision=42,
    at=AT,
)
REMEMBERED = Remembered(Verdict.NEW, MEMORY, None, False, 42)
RECEIPT = Receipt("r-1", "L2", Trigger("vague_reference", "老样子"), (ReceiptLine("m-1", {"fused": 0.91}, True, "told"),), AT)
RECALLED = Recalled(
    tier="L2",
    trigger=RECEIPT.trigger,
    memories=(Hit(MEMORY, 0.91, "slot match coffee_preference"),),
    short_term=(),
    checks=(),
    instructions=(),
    prompt="- coffee: oat latte",
    pending=(PENDING.memory,),
    degraded=(),
    receipt=RECEIPT,
    receipt_id="r-1",
    revision=42,
)


class StubGraphmem:
    """Each method notes its scope and arguments in `asked`, raises `fault` when set, else answers from the fields."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """As new."""
        self.asked: list[tuple[str, Scope, object]] = []
        self.fault: Exception | None = None
        self.remembered = REMEMBERED
        self.page = Page((MEMORY,), (PENDING.memory,), None, False, 1, 42)
        self.readiness = Readiness(True, (("neo4j", True, "answers"),))

    def _note(self, name: str, scope: Scope, what: object) -> None:
        self.asked.append((name, scope, what))
        if self.fault is not None:
            raise self.fault

    def inject(self, scope: Scope, turn: Turn, *, key: str | None = None, explain: bool = False) -> Injected:
        self._note("inject", scope, (turn, key))
        return INJECTED

    def inject_batch(self, scope: Scope, turns: Sequence[Turn]) -> tuple[BatchItem, ...]:
        self._note("inject_batch", scope, tuple(turns))
        return tuple(BatchItem(t.turn_id, replace(INJECTED, turn_id=t.turn_id or "made")) for t in turns)

    def remember(self, scope: Scope, ask: Remember, *, key: str | None = None) -> Remembered:
        self._note("remember", scope, (ask, key))
        return self.remembered

    def recall(self, scope: Scope, ask: Ask) -> Recalled:
        self._note("recall", scope, ask)
        return RECALLED

    def memories(self, scope: Scope, where: MemoryFilter | None = None, *, limit: int = 20, cursor: str | None = None) -> Page:
        self._note("memories", scope, (where, limit, cursor))
        return self.page

    def search(self, scope: Scope, q: str, *, limit: int = 10, kind: Kind | None = None) -> Found:
        self._note("search", scope, (q, limit, kind))
        return Found((Hit(MEMORY, 0.5, "words"),), (), False, 42)

    def memory(self, scope: Scope, mid: str, *, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory:
        self._note("memory", scope, (mid, as_of, known_at))
        if mid != MEMORY.mid:
            raise NotFoundError("no such memory")
        return MEMORY

    def history(self, scope: Scope, mid: str) -> tuple[Memory, ...]:
        self._note("history", scope, mid)
        return (replace(MEMORY, mid="m-0", version=1), MEMORY)

    def versions(self, scope: Scope, mid: str) -> History:
        return History(self.history(scope, mid), 3)

    def change(self, scope: Scope, mid: str, ask: Change, *, if_match: str | None = None) -> Remembered:
        self._note("change", scope, (mid, ask, if_match))
        return self.remembered

    def retract(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        self._note("retract", scope, mid)
        return replace(MEMORY, status=Status.RETRACTED)

    def undelete(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        self._note("undelete", scope, mid)
        return MEMORY

    def forget_all(self, scope: Scope) -> int:
        self._note("forget_all", scope, None)
        return 7

    def latest(
        self, scope: Scope, key: str, *, subject: str | None = None, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Latest:
        self._note("latest", scope, (key, subject, as_of, known_at))
        return Latest((MEMORY,), (), 42)

    def forget(self, scope: Scope, mid: str, *, if_match: str | None = None, key: str | None = None) -> None:
        self._note("forget", scope, (mid, if_match))

    def record(self, scope: Scope, event: Event, *, key: str | None = None) -> Recorded:
        self._note("record", scope, (event, key))
        return Recorded(event.name, False, INJECTED.stored, INJECTED.pending, (), 42)

    def confirm(self, scope: Scope, mid: str, *, key: str | None = None) -> Remembered:
        self._note("confirm", scope, mid)
        return self.remembered

    def reject(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        self._note("reject", scope, mid)
        return replace(MEMORY, status=Status.REJECTED)

    def receipt(self, scope: Scope, receipt_id: str) -> Receipt:
        self._note("receipt", scope, receipt_id)
        return RECEIPT

    def ready(self) -> Readiness:
        return self.readiness

    def health(self) -> dict[str, object]:
        if self.fault is not None:
            raise self.fault
        return {"projection_lag": 0}
