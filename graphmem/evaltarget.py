"""What `graphmem eval` asks: the façade on the real stores, in a throw-away tenant that is removed at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from types import TracebackType
from typing import Literal, Protocol, Self, cast
from uuid import uuid4
from zoneinfo import ZoneInfo

from graphmem.answers import Ask, Injected, Latest, Memory, MemoryFilter, Page, Recalled, Remember, Remembered
from graphmem.evalfile import Answer, Case, Dialogue, EvidenceTurn, Pair, Query, Question, State, Suite, Update
from graphmem.evalreport import Report
from graphmem.evalscore import Edge, Prediction, heard_predictions
from graphmem.evaluate import evaluate
from graphmem.memory import Kind, Language, Polarity, Status, Turn
from graphmem.ontology import Ontology
from graphmem.reading import PAGE_MAX
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.slot import folded

EDGE_STATUS: Mapping[Status, Literal["active", "superseded", "pending", "scheduled"]] = {
    Status.ACTIVE: "active",
    Status.SUPERSEDED: "superseded",
    Status.HISTORICAL: "superseded",
    Status.EXPIRED: "superseded",
    Status.PENDING: "pending",
    Status.SCHEDULED: "scheduled",
}
"""What a case lists, and under which name; retracted, tombstoned and rejected rows are left out (evaluation format)."""

DEPTH = 100
"""Turns asked of an evidence recall; the format wants at least 20."""


class Facade(Protocol):
    """What is asked of graphmem.app.Graphmem."""

    room: Room

    @property
    def ontology(self) -> Ontology: ...

    def inject(self, scope: Scope, turn: Turn) -> Injected: ...

    def remember(self, scope: Scope, ask: Remember) -> Remembered: ...

    def recall(self, scope: Scope, ask: Ask) -> Recalled: ...

    def latest(self, scope: Scope, key: str, *, subject: str | None = None, as_of: datetime | None = None) -> Latest: ...

    def memories(self, scope: Scope, where: MemoryFilter | None = None, *, limit: int = 20, cursor: str | None = None) -> Page: ...

    def drain(self, max_seconds: float | None = None) -> int: ...

    def wipe(self, tenant: str) -> int: ...


class StoredTarget:
    """An evaluate.EvalTarget. A context manager: everything it stored is gone at its end."""

    def __init__(self, graphmem: Facade) -> None:
        self._graphmem = graphmem
        self.tenant = f"eval-{uuid4().hex}"
        self._users = count(1)
        trusted = graphmem.room.settings.trusted_domains
        self._domain = min(trusted) if trusted else "default"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._graphmem.wipe(self.tenant)

    def label(self, text: str, lang: Language) -> Sequence[Prediction]:
        """What is heard and then really stored or kept as pending; see EvalTarget.label."""
        zone = ZoneInfo(self._graphmem.room.settings.zone)
        turn = Turn(text, language=lang)
        heard = self._graphmem.room.hear(turn, datetime.now(UTC), zone, ())
        done = self._graphmem.inject(self._somebody(), turn)
        kept = {(m.key, m.subject) for m in (*(s.memory for s in done.stored), *(p.memory for p in done.pending))}
        stored = tuple(s for s in heard.statements if (s.key, s.subject) in kept)
        return heard_predictions(replace(heard, statements=stored))

    def dialogue(self, dialogue: Dialogue) -> Mapping[str, Answer]:
        """See EvalTarget.dialogue."""
        scope = self._somebody()
        for session in dialogue.sessions:
            for number, said in enumerate(session.turns):
                if said.text.strip():
                    at = session.time + timedelta(seconds=number)
                    turn = Turn(said.text, role=said.role, session_id=session.session, turn_id=str(number), at=at, verified=said.verified)
                    self._graphmem.inject(scope, turn)
        return {query.qid: self._answer(scope, query) for query in dialogue.queries}

    def _answer(self, scope: Scope, query: Query) -> Answer:
        told = self._graphmem.latest(scope, query.predicate, subject=query.subject, as_of=query.as_of)
        if query.about is None:
            found = tuple(dict.fromkeys(m.value for m in told.items if m.polarity == "+" and m.value is not None))
            return found if len(found) > 1 else next(iter(found), None)
        if any(self._is_about(m, query.about) for m in told.pending):
            return "pending"
        known = next((m for m in told.items if self._is_about(m, query.about)), None)
        if known is None:
            return None
        words = ("like", "dislike") if known.kind is Kind.PREFERENCE else ("yes", "no")
        return words[known.polarity == "-"]

    def _is_about(self, memory: Memory, concept: str) -> bool:
        """The memory's concept or value, under any of its names."""
        key = self._graphmem.ontology.get(memory.key)
        named = self._graphmem.room.lexicon.ckey(concept, key.types if key is not None else ())
        return memory.concept == named or folded(memory.value or "") == folded(concept)

    def case(self, case: Case) -> Sequence[Edge]:
        """See EvalTarget.case."""
        scopes: dict[str | None, Scope] = {}
        for number, said in enumerate(case.turns):
            if said.user not in scopes:
                scopes[said.user] = self._somebody()
            if said.text.strip():
                turn = Turn(said.text, role=said.role, session_id=said.session or "s", turn_id=str(number), at=said.at)
                self._graphmem.inject(scopes[said.user], turn)
        last = scopes[case.turns[-1].user]
        at = max(said.at for said in case.turns)
        return [_edge(m, as_) for status, as_ in EDGE_STATUS.items() for m in self._all(last, MemoryFilter(status=status, as_of=at))]

    def retrieve(self, turns: Sequence[EvidenceTurn], questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
        """See EvalTarget.retrieve."""
        scope = self._somebody()
        for said in turns:
            if said.text.strip():
                turn = Turn(said.text, role=said.role, session_id=said.session, turn_id=said.id, at=said.time, speaker=said.speaker)
                self._graphmem.inject(scope, turn)
        self._graphmem.drain()
        ranked = {}
        for question in questions:
            ask = Ask(question.text, mode="evidence", limit=DEPTH, as_of=question.as_of)
            ranked[question.qid] = [t.turn_id for t in self._graphmem.recall(scope, ask).turns]
        return ranked

    def updates(self, updates: Sequence[Update], states: Sequence[State]) -> Mapping[str, Iterable[Pair]]:
        """See EvalTarget.updates. Each key becomes an open key of its own: a fact (no lifetime, no window), one slot a value."""
        scope = self._somebody()
        for update in updates:
            for ask in _asks(update):
                self._graphmem.remember(scope, ask)
        return {state.qid: self._pairs(scope, state) for state in states}

    def _pairs(self, scope: Scope, state: State) -> list[Pair]:
        where = MemoryFilter(kind=Kind.FACT, key=_open_key(state.key), as_of=state.as_of)
        return [(m.polarity, m.value) for m in self._all(scope, where) if m.value is not None]

    def _all(self, scope: Scope, where: MemoryFilter) -> Iterator[Memory]:
        cursor: str | None = None
        while True:
            page = self._graphmem.memories(scope, where, limit=PAGE_MAX, cursor=cursor)
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def safety(self) -> frozenset[str]:
        """The ontology's safety keys."""
        return frozenset(key.name for key in self._graphmem.ontology.keys if key.safety)

    def canonical(self, name: str) -> str:
        """One name for all names of a thing, by the lexicons."""
        found = self._graphmem.room.lexicon.find(name, ())
        return found[0].cid if found else folded(name)

    def _somebody(self) -> Scope:
        """A new user, in a domain whose `verified` counts."""
        return Scope(self.tenant, f"u{next(self._users)}", self._domain)


def evaluated(suite: Suite, target: StoredTarget) -> Report:
    """evaluate() with the names and the safety keys of the target's packs."""
    return evaluate(suite, target, safety=target.safety(), canonical=target.canonical)


def merged(suites: Iterable[Suite]) -> Suite:
    """Several files as one suite, in their order."""
    found = list(suites)
    return Suite(*(tuple(line for suite in found for line in getattr(suite, f.name)) for f in fields(Suite)))


def _edge(memory: Memory, status: Literal["active", "superseded", "pending", "scheduled"]) -> Edge:
    return Edge(
        subject=memory.subject,
        kind=memory.kind.value,
        attribute=memory.key,
        object=memory.value or "",
        polarity=memory.polarity,
        status=status,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        version=memory.version,
    )


def _open_key(key: str) -> str:
    """Not a key of the ontology: the format's keys have one arity and no lifetime, whatever they are called."""
    return f"eval_{key}"


def _asks(update: Update) -> list[Remember]:
    """The old value ends first, then the new one begins."""
    asks = []
    if update.op != "add":
        asks.append(_ask(update, cast(str, update.old_value or update.value), ends=True))
    if update.op != "delete":
        asks.append(_ask(update, cast(str, update.value)))
    return asks


def _ask(update: Update, value: str, *, ends: bool = False) -> Remember:
    polarity: Polarity = "+" if ends else update.polarity
    return Remember(_open_key(update.key), value, kind=Kind.FACT, arity="pole", polarity=polarity, said_at=update.time, ends=ends)


__all__ = ["StoredTarget", "evaluated", "merged"]
