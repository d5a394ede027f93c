"""Events of the calling application: what they say is stored in one write. Deliberate: no reversal window, but change policies hold."""

from __future__ import annotations

import json
from dataclasses import replace

from graphmem.answers import PendingItem, Stored
from graphmem.book import Book
from graphmem.casework import Spoken
from graphmem.drift import reads
from graphmem.events import Event, Recorded, asks
from graphmem.ids import many, uuid7
from graphmem.memory import NotStored, Reason, Statement, Status, Verdict, to_ms, utc
from graphmem.pipeline.normal import language_of
from graphmem.ports import MemoryWriter, Operation
from graphmem.remember import Keeper
from graphmem.review import case_for
from graphmem.room import Room, check_id, check_key, check_metadata, check_time
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller, with_origin
from graphmem.validity import Ledger
from graphmem.writing import Changes, Decided, Known, Origin, Written


class Recorder:
    """Records events. One per service; thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, keeper: Keeper) -> None:
        self._room, self._writer, self._keeper = room, writer, keeper

    def record(self, scope: Scope, event: Event, *, key: str | None = None) -> Recorded:
        """Store what one event says. The same operation (key, else name and ref) answers the same; another event under it is refused."""
        check_key(key)
        check_id(event.name, "name")
        check_id(event.ref, "ref")
        check_id(event.verified_by, "verified_by")
        check_time(event.at, "at")
        check_metadata(event.data)
        said_at = None if event.at is None else to_ms(utc(event.at))
        spoken, origin = [], None
        op_key = key if key is not None else f"{event.name}\x1f{event.ref}" if event.ref is not None else uuid7()
        operation = Operation(operation_id(scope, "event", op_key), self._room.hash_of(event), "event", scope.principal)
        for ask in asks(event, self._room.events):
            statement, rule = self._keeper.prepare(scope, ask)
            statement = replace(statement, rule=f"event.{event.name}", text=ask.value or "")
            trust = self._room.trust(scope, ask.source, None, statement)
            spoken.append(Spoken(scope, statement, rule, trust, said_at))
            origin = origin or self._keeper.origin(scope, ask.source, operation.op, None)
        return self._write(scope, event, spoken, operation, origin or Origin("", "", None, None, "", ""))

    def _write(self, scope: Scope, event: Event, spoken: list[Spoken], operation: Operation, origin: Origin) -> Recorded:
        mids = many(8 * len(spoken))
        sealed: list[tuple[Book, list[Decided]]] = []

        def decide(known: Known) -> Changes:
            book, decided = self._room.judge(known, spoken, mids)
            sealed[:] = [(book, decided)]
            outcome = {"event": event.name}
            return self._room.close(known, book, decided, Changes("", origin), outcome, language_of(spoken[0].statement.value or ""))

        written = self._writer.write(scope, operation, reads(spoken), decide)
        return self._again(scope, event, written) if written.changes is None else self._recorded(event, written, *sealed[0], origin)

    def _recorded(self, event: Event, written: Written, book: Book, decided: list[Decided], origin: Origin) -> Recorded:
        teller = Teller(self._room.ontology, Ledger(with_origin(r, origin) for r in book.rows.values()), book.now, book.now)
        stored, pending, refused = [], [], []
        for d in decided:
            j = d.judgement
            if j.mid is None:
                refused.append(_refused(d.statement, j.reason))
            elif j.mid in book.pendings:
                kept = book.pendings[j.mid]
                memory = teller.pending(replace(kept, row=with_origin(kept.row, origin)))
                pending.append(PendingItem(memory, j.reason or "", self._room.question(d.statement), case_for(j.mid, j.reason)))
            else:
                row = next(r for r in teller.ledger.rows if r.mid == j.mid)
                stored.append(Stored(teller.memory(row), j.verdict, j.supersedes))
        return Recorded(event.name, False, tuple(stored), tuple(pending), tuple(refused), written.rev)

    def _again(self, scope: Scope, event: Event, written: Written) -> Recorded:
        stored, pending = [], []
        for mid, verdict, supersedes, reason in json.loads(written.before.outcome)["verdicts"]:
            memory = self._keeper.as_now(scope, mid) if mid else None
            if memory is None:
                continue
            if memory.status is Status.PENDING:
                question = self._room.ask(memory.key, memory.value or "")
                pending.append(PendingItem(memory, reason or "", question, case_for(mid, reason)))
            else:
                stored.append(Stored(memory, Verdict(verdict), supersedes))
        return Recorded(event.name, True, tuple(stored), tuple(pending), (), written.before.rev)


def _refused(s: Statement, reason: str | None) -> NotStored:
    known = reason if reason in {r.value for r in Reason} else Reason.REFUSED_BY_POLICY.value
    return NotStored(s.text, (0, len(s.text)), Reason(known), f"judge.{reason}")
