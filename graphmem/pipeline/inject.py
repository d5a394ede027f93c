"""The road of a turn: slice, recognise, classify, bind time (Extractor), embed (after the answer, by the projection), judge and write."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, cast
from zoneinfo import ZoneInfo

from graphmem.answers import FollowUpItem, Injected, PendingItem, Stored
from graphmem.book import Book
from graphmem.casework import Spoken, rule_of
from graphmem.drift import CITY, reads, sensed
from graphmem.ids import many, uuid7
from graphmem.memory import (
    FollowUp,
    Heard,
    Kind,
    Language,
    NotStored,
    Provenance,
    Reason,
    SourceKind,
    Statement,
    Step,
    Turn,
    Verdict,
    from_ms,
    to_ms,
    utc,
)
from graphmem.pipeline.explained import heard_steps, written_steps
from graphmem.pipeline.implicit import inferred
from graphmem.pipeline.waiting import answered, asked, candidate_id, dumped
from graphmem.ports import MemoryReader, MemoryWriter, Operation
from graphmem.review import case_for
from graphmem.room import Room, tz_of
from graphmem.scope import Scope
from graphmem.slot import folded, operation_id, source_ref
from graphmem.telling import Teller, with_origin
from graphmem.validity import Ledger
from graphmem.writing import INFERRED, Changes, Decided, Known, NewTurn, Origin, StoredTurn, Written


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is settled about a turn before the transaction: ids, times and what was heard."""

    turn: Turn
    turn_id: str
    session_id: str
    zone: str
    said_at: datetime
    heard: Heard


class Injector:
    """Hears turns. One per service; thread safe."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader) -> None:
        self._room, self._writer, self._reader = room, writer, reader

    def inject(self, scope: Scope, turn: Turn, *, key: str | None = None, explain: bool = False) -> Injected:
        """Store one turn and what it says. The same operation again gives the same answer; another request under its key is refused."""
        self._room.check_text(turn.text)
        op_key = key if key is not None else (f"{turn.session_id or ''}\x1f{turn.turn_id}" if turn.turn_id is not None else uuid7())
        op = operation_id(scope, "turn", op_key)
        hearing = self._hear(scope, turn, op)
        spoken = self._spoken(scope, hearing)
        operation = Operation(op, self._room.hash_of(turn), "turn", scope.principal)
        mids = many(4 + 6 * max(1, len(spoken)))
        ref = uuid7()
        sealed: list[tuple[Book, list[Decided], float]] = []

        def decide(known: Known) -> Changes:
            begun = time.perf_counter()
            book, decided = self._room.judge(known, spoken, mids)
            sealed[:] = [(book, decided, time.perf_counter() - begun)]
            return self._changes(scope, hearing, ref, known, book, decided)

        began = time.perf_counter()
        written = self._writer.write(scope, operation, reads(spoken), decide)
        if written.changes is None:
            return self._again(scope, hearing, written)
        took = time.perf_counter() - began
        book, decided, judged = sealed[0]
        self._room.remember_turn(scope, hearing.session_id, _kept(hearing, ref, written.known.now))
        steps = (*self._steps(hearing), *written_steps(decided, judged * 1000, (took - judged) * 1000)) if explain else ()
        return self._answer(hearing, written, book, decided, steps)

    def _steps(self, hearing: Hearing) -> tuple[Step, ...]:
        zone = cast(ZoneInfo, tz_of(hearing.zone))
        return heard_steps(hearing.heard, hearing.turn, hearing.said_at, zone, self._room.extractor.recogniser)

    def _hear(self, scope: Scope, turn: Turn, op: str) -> Hearing:
        zone = self._room.zone_of(turn)
        said_at = utc(turn.at) if turn.at is not None else utc(datetime.now(UTC))
        turn_id = turn.turn_id if turn.turn_id is not None else op
        session_id = turn.session_id if turn.session_id is not None else f"auto:{op}"
        stored = self._stored(scope, turn)
        context = [_as_turn(t) for t in stored]
        heard = self._answered(stored, turn, said_at, self._room.hear(turn, said_at, tz_of(zone), context))
        return Hearing(turn, turn_id, session_id, zone, said_at, heard)

    def _stored(self, scope: Scope, turn: Turn) -> Sequence[StoredTurn]:
        """The last turns of the session, oldest first."""
        if turn.session_id is None or turn.role != "user":
            return ()
        return self._room.session_turns(scope, turn.session_id, lambda: self._reader.turns(scope, cast(str, turn.session_id)))

    def _answered(self, stored: Sequence[StoredTurn], turn: Turn, said_at: datetime, heard: Heard) -> Heard:
        """What was heard, as the answer to a candidate that waits, with what the turns together suggest."""
        words = (self._room.ontology, self._room.lexicon)
        candidate = asked(stored, turn, to_ms(said_at))
        if candidate is not None:
            heard = answered(heard, turn, candidate, self._room.extractor.speech, words)
        found = (*(f.statement for f in heard.follow_ups), *inferred(stored, turn, to_ms(said_at), heard.language, words))
        return replace(heard, follow_ups=tuple(FollowUp(s, self._room.question(s)) for s in found))

    def _spoken(self, scope: Scope, hearing: Hearing) -> list[Spoken]:
        turn = hearing.turn
        at = None if turn.at is None else to_ms(hearing.said_at)
        found = [*self._sensed(turn), *hearing.heard.statements]
        for f in hearing.heard.follow_ups:
            key = self._room.ontology.get(f.statement.key)
            if f.statement.rule.startswith(INFERRED):
                found.append(f.statement)
            elif key is not None and key.safety and f.statement.polarity == "+" and not f.statement.is_end and f.statement.ckey:
                found.append(replace(f.statement, hedged=True))
        spoken = []
        for s in _once(found):
            key = self._room.ontology.get(s.key)
            if key is not None:
                spoken.append(Spoken(scope, s, rule_of(key), self._room.trust(scope, turn.source, turn.verified, s), at))
        return spoken

    def _sensed(self, turn: Turn) -> tuple[Statement, ...]:
        """Where the user's own turn comes from, before its words: what the user says about it replaces what was sensed."""
        if turn.role != "user" or turn.environment is None:
            return ()
        city = self._room.ontology.get(CITY)
        ckey = self._room.lexicon.ckey(turn.environment.city or "", (city.types if city is not None else None) or ())
        return sensed(turn.environment, ckey)

    def _changes(self, scope: Scope, hearing: Hearing, ref: str, known: Known, book: Book, decided: list[Decided]) -> Changes:
        turn, heard = hearing.turn, hearing.heard
        source = turn.source or Provenance()
        source_id = source_ref(hearing.session_id, hearing.turn_id)
        origin = Origin(
            source_id,
            source.kind.value,
            source.ref or source_id,
            source.verified_by or (scope.principal if source.kind is not SourceKind.AGENT_INFERRED else None),
            scope.domain,
            hearing.zone,
        )
        new_turn = NewTurn(
            ref=ref,
            turn_id=hearing.turn_id,
            session_id=hearing.session_id,
            source_id=source_id,
            role=turn.role,
            text=turn.text,
            at=None if turn.at is None else min(to_ms(hearing.said_at), known.now),
            zone=hearing.zone,
            language=heard.language,
            speaker=turn.speaker,
            answers=turn.answers,
            waiting=dumped(heard.follow_ups),
            metadata=json.dumps(dict(turn.metadata), ensure_ascii=False) if turn.metadata else None,
        )
        changes = Changes(outcome="", origin=origin, turn=new_turn)
        return self._room.close(known, book, decided, changes, _outcome(hearing, known, decided), heard.language)

    def _answer(self, hearing: Hearing, written: Written, book: Book, decided: list[Decided], steps: tuple[Step, ...]) -> Injected:
        changes = written.stored
        teller = Teller(self._room.ontology, Ledger(with_origin(r, changes.origin) for r in book.rows.values()), book.now, book.now)
        stored, pending = [], []
        not_stored = list(hearing.heard.not_stored)
        for d in decided:
            j = d.judgement
            if j.mid is not None and j.mid in book.pendings:
                memory = teller.pending(replace(book.pendings[j.mid], row=with_origin(book.pendings[j.mid].row, changes.origin)))
                pending.append(PendingItem(memory, j.reason or "", self._room.question(d.statement), case_for(j.mid, j.reason)))
            elif j.mid is not None:
                stored.append(
                    Stored(teller.memory(next(r for r in teller.ledger.rows if r.mid == j.mid)), j.verdict, j.supersedes, d.statement.span)
                )
            else:
                not_stored.append(_refusal(d.statement, j.reason))
        return Injected(
            turn_id=hearing.turn_id,
            session_id=hearing.turn.session_id,
            replayed=False,
            stored=tuple(stored),
            pending=tuple(pending),
            not_stored=tuple(not_stored),
            follow_up=_follow_ups(hearing.heard, hearing.turn_id),
            revision=written.rev,
            at=from_ms(changes.turn.at if changes.turn is not None and changes.turn.at is not None else book.now),
            notes=("at_ahead_of_clock",) if to_ms(hearing.said_at) > book.now + self._room.skew else (),
            steps=steps,
        )

    def _again(self, scope: Scope, hearing: Hearing, written: Written) -> Injected:
        """The answer of an operation that was done before, rebuilt from the graph: what was forgotten since is not in it."""
        done = written.before
        outcome = json.loads(done.outcome)
        mids = [mid for mid, _, _, _ in outcome["verdicts"] if mid]
        hydrated = self._reader.hydrate(scope, dict.fromkeys(Kind, mids), [], 0)
        rows = {r.mid: r for r in hydrated.rows if r.tombstoned_at is None}
        teller = Teller(self._room.ontology, Ledger(rows.values()), hydrated.now, hydrated.now, bounded=True)
        stored = tuple(
            Stored(teller.current(rows[m]), Verdict(v), sup) for m, v, sup, _ in outcome["verdicts"] if m in rows and rows[m].version
        )
        pending = tuple(
            PendingItem(teller.pending(p), p.reason, self._room.ask(p.row.key, p.row.value or ""), case_for(p.row.mid, p.reason))
            for p in hydrated.pendings
            if p.row.mid in mids and p.row.tombstoned_at is None
        )
        not_stored = tuple(NotStored(hearing.turn.text[a:b], (a, b), Reason(reason), rule) for a, b, reason, rule in outcome["not_stored"])
        return Injected(
            turn_id=outcome["turn_id"],
            session_id=hearing.turn.session_id,
            replayed=True,
            stored=stored,
            pending=pending,
            not_stored=not_stored,
            follow_up=_follow_ups(hearing.heard, outcome["turn_id"]),
            revision=done.rev,
            at=from_ms(outcome["at"]),
        )


def _once(found: Sequence[Statement]) -> list[Statement]:
    """The same thing said several times in one turn is said once: the surest of equal statements, in the place of the first."""
    best: dict[object, Statement] = {}
    for s in found:
        same = (s.kind, s.key, s.ckey, folded(s.value or ""), s.subject, s.polarity, s.is_end, s.slip, s.start, s.ends_at)
        if same not in best or best[same].confidence < s.confidence:
            best[same] = s
    return list(best.values())


def _outcome(hearing: Hearing, known: Known, decided: Sequence[Decided]) -> dict[str, object]:
    return {
        "turn_id": hearing.turn_id,
        "at": to_ms(hearing.said_at) if hearing.turn.at is not None else known.now,
        "not_stored": [[*n.span, n.reason.value, n.rule] for n in hearing.heard.not_stored],
    }


def _refusal(s: Statement, reason: str | None) -> NotStored:
    return NotStored(s.text, s.span or (0, 0), Reason(reason or "refused_by_policy"), f"judge.{reason}")


def _follow_ups(heard: Heard, turn_id: str) -> tuple[FollowUpItem, ...]:
    return tuple(FollowUpItem(candidate_id(turn_id, i), f.question) for i, f in enumerate(heard.follow_ups))


def _kept(hearing: Hearing, ref: str, now: int) -> StoredTurn:
    return StoredTurn(
        ref=ref,
        turn_id=hearing.turn_id,
        session_id=hearing.session_id,
        role=hearing.turn.role,
        text=hearing.turn.text,
        at=to_ms(hearing.said_at) if hearing.turn.at is not None else now,
        zone=hearing.zone,
        language=hearing.heard.language,
        speaker=hearing.turn.speaker,
        answers=hearing.turn.answers,
        waiting=dumped(hearing.heard.follow_ups),
    )


def _as_turn(t: StoredTurn) -> Turn:
    role = cast(Literal["user", "assistant", "system", "tool"], t.role)
    language = cast(Language, t.language) if t.language in ("zh", "en") else None
    return Turn(
        text=t.text,
        role=role,
        session_id=t.session_id,
        turn_id=t.turn_id,
        at=from_ms(t.at),
        zone=t.zone,
        language=language,
        speaker=t.speaker,
    )


__all__ = ["Injector"]
