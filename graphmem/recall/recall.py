"""Recall: tier → candidates (index ∪ graph) → hydrate → rank → pack with receipt (design section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.answers import Ask, EvidenceTurn, Found, Hit, Memory, Recalled, Receipt, ShortTurn
from graphmem.drift import blocked, check_environment
from graphmem.errors import InvalidInputError, RefusedError, UnavailableError
from graphmem.ids import uuid7
from graphmem.memory import Kind, Language, from_ms
from graphmem.pipeline.normal import language_of
from graphmem.ports import Candidate, CandidateIndex, Collection, Embedder, IndexQuery, MemoryReader
from graphmem.reading import Reading, check_limit
from graphmem.recall import fuse
from graphmem.recall.lexical import lexical_scores
from graphmem.recall.named_dates import date_bonus, named_dates
from graphmem.recall.pack import instructions, pack
from graphmem.recall.rank import Ranked, rank, within
from graphmem.recall.receipt import Dropped, receipt, why_not
from graphmem.recall.shortterm import short_term
from graphmem.recall.tasks import checks
from graphmem.recall.tasktable import task_table
from graphmem.recall.tiers import Tiering, choose
from graphmem.room import Room
from graphmem.scope import Scope
from graphmem.slot import session_ref
from graphmem.telling import Teller
from graphmem.validity import Ledger, Pending, Row, shown
from graphmem.writing import StoredTurn

QUERY_MAX = 2_000
"""Characters of a query that are used; a longer one is shortened and flagged."""

CANDIDATES = 100
"""Entries asked of each list (retrieval.md: top 100 are scaled)."""

HYDRATED = 50
"""Candidates joined back through the graph."""

MEMORIES: tuple[Collection, ...] = ("fact", "preference", "context")

Vectors = Callable[[Sequence[Embedder], str], Mapping[str, Sequence[float]]]
Pseudonym = Callable[[Scope], str]


@dataclass(frozen=True, slots=True)
class Seeing:
    """What recall needs of the index: it, the embedders, how a text becomes vectors, who the user is there."""

    index: CandidateIndex
    embedders: Sequence[Embedder]
    vectors: Vectors
    pseudonym: Pseudonym

    def search(self, scope: Scope, text: str, collections: Sequence[Collection]) -> tuple[list[Candidate], tuple[str, ...]]:
        """Candidates, and `vectors` among the degraded parts when the index does not answer."""
        try:
            query = IndexQuery(self.pseudonym(scope), collections, self.vectors(self.embedders, text), text, CANDIDATES)
            return self.index.search(scope.tenant, query), ()
        except UnavailableError:
            return [], ("vectors",)

    def calibrated(self, candidate: Candidate | None, message: str, values: Iterable[str]) -> float:
        """0..1, the same scale for all embedders."""
        scales = {e.name: e.calibrate for e in self.embedders}
        evidence = fuse.value_evidence(message, *values)
        return fuse.calibrated({} if candidate is None else candidate.scores, scales, evidence)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that could be told, before ranking."""

    teller: Teller
    told: Sequence[Memory]
    dropped: Sequence[Dropped]
    ends: Sequence[Memory]
    pending: Sequence[Memory]
    by_ref: Mapping[str, Candidate]
    degraded: tuple[str, ...]
    rev: int


class Recall:
    """Says what may be told now, and why. Thread safe. `later` stores receipts after the answer."""

    def __init__(
        self, room: Room, reader: MemoryReader, reading: Reading, seeing: Seeing, later: Callable[[Scope, Receipt, str], None]
    ) -> None:
        self._room, self._reader, self._reading, self._seeing, self._later = room, reader, reading, seeing, later

    def recall(self, scope: Scope, ask: Ask) -> Recalled:
        """See answers.Recalled. L1 makes no store call."""
        check_limit(ask.limit)
        check_environment(ask.environment)
        if not ask.message.strip():
            raise InvalidInputError("a recall needs a message that is not blank", field="message", code="blank_text")
        language = ask.language or language_of(ask.message)
        message = ask.message[:QUERY_MAX]
        if ask.mode == "evidence":
            return self._evidence(scope, ask, message, language)
        history = ask.history or self._cached(scope, ask.session_id)
        tiering = choose(message, history, ask.task, self._room.ontology, self._room.lexicon, language, ask.tier)
        if tiering.tier == "L1":
            return self._from_session(ask, tiering, message, history, language)
        if tiering.tier == "L3" and "fresh_proof" not in scope.rights:
            raise RefusedError(
                "an explicit request across sessions needs a fresh proof of identity",
                code="verification_required",
                hint="ask again with a token whose proof is at most 5 minutes old",
            )
        return self._from_graph(scope, ask, tiering, message, history, language)

    # --- L1

    def _cached(self, scope: Scope, session_id: str | None) -> tuple[ShortTurn, ...]:
        if session_id is None:
            return ()
        return tuple(ShortTurn(t.role, t.text, from_ms(t.at), t.turn_id) for t in self._room.cached_turns(scope, session_id))

    def _from_session(self, ask: Ask, tiering: Tiering, message: str, history: Sequence[ShortTurn], language: Language) -> Recalled:
        short = short_term(message, history, (), tiering.nth)
        told = receipt("L1", tiering.trigger, Ranked(()), session_id=ask.session_id)
        return Recalled("L1", tiering.trigger, (), short, (), (), pack(language, (), short_term=short), (), (), told, None, None)

    # --- L2, L3

    def _from_graph(
        self, scope: Scope, ask: Ask, tiering: Tiering, message: str, history: Sequence[ShortTurn], language: Language
    ) -> Recalled:
        gathered = self._gather(scope, ask, tiering, message)
        task = task_table().tasks.get(ask.task) if ask.task else None
        guard = task.guard if task is not None else frozenset()
        hits = [self._hit(gathered, message, m) for m in gathered.told]
        threshold = self._room.settings.recall_threshold if tiering.tier == "L2" else 0.0
        now = from_ms(gathered.teller.t)
        keys = tiering.keys if tiering.tier == "L2" or tiering.keys else tuple({m.key for m in gathered.told})
        ranked = rank(hits, now, self._room.settings.decay_days, keys, tiering.ckeys, threshold, subjects=tiering.subjects)
        ranked = within(ranked, ask.limit, ask.token_budget, guard)
        told = ranked.hits
        warned = checks(ask.task, message, [*gathered.told, *gathered.ends], gathered.pending, self._room.lexicon, now)
        confirmed = [h.memory for h in told if ask.session_id and (h.memory.source.ref or "").startswith(f"{session_ref(ask.session_id)}/")]
        short = short_term(message, history, confirmed, tiering.nth)
        rules = instructions(told)
        found = receipt(
            tiering.tier, tiering.trigger, ranked, gathered.dropped,
            at=now, degraded=gathered.degraded, session_id=ask.session_id, receipt_id=uuid7(),
        )  # fmt: skip
        self._later(scope, found, ask.mode)
        return Recalled(
            tier=tiering.tier,
            trigger=tiering.trigger,
            memories=told,
            short_term=short,
            checks=warned,
            instructions=rules,
            prompt=pack(language, told, gathered.pending, short, warned, rules),
            pending=tuple(gathered.pending),
            degraded=gathered.degraded,
            receipt=found,
            receipt_id=found.receipt_id,
            revision=gathered.rev,
        )

    def _hit(self, gathered: Gathered, message: str, m: Memory) -> Hit:
        values = [m.value] if m.value else []
        if m.concept and (concept := self._room.lexicon.concepts.get(m.concept)) is not None:
            values += list(concept.names)
        return Hit(m, round(self._seeing.calibrated(gathered.by_ref.get(m.mid), message, values), 6), "likeness")

    def _gather(self, scope: Scope, ask: Ask, tiering: Tiering, message: str) -> Gathered:
        candidates, degraded = self._seeing.search(scope, message, MEMORIES)
        by_ref = {c.ref: c for c in candidates}
        if ask.as_of is not None or ask.known_at is not None:
            teller, pendings, rev = self._reading.view(scope, ask.as_of, ask.known_at)
        elif tiering.tier == "L3" or degraded:
            snapshot = self._reader.latest(scope, None, None, None)
            teller, pendings, rev = self._teller(snapshot.rows, snapshot.now), snapshot.pendings, snapshot.rev
        else:
            # a stale index may name many superseded ids: the best of each list are joined back, the graph adds its own
            best = list(fuse.fuse(candidates, fuse.weights(_lists(candidates), "en")))[:HYDRATED]
            nearest = sorted(candidates, key=lambda c: best.index(c.id) if c.id in best else HYDRATED)[:HYDRATED]
            refs = {kind: [c.ref for c in nearest if c.collection == kind.value] for kind in Kind}
            keys = [(key.kind, key.name) for name in tiering.keys if (key := self._room.ontology.get(name)) is not None]
            h = self._reader.hydrate(scope, refs, keys)
            teller, pendings, rev = self._teller(h.rows, h.now), h.pendings, h.rev
        return self._sorted_out(ask, tiering, teller, pendings, by_ref, degraded, rev)

    def _teller(self, rows: Iterable[Row], now: int) -> Teller:
        return Teller(self._room.ontology, Ledger(rows), now, now, bounded=True)

    def _sorted_out(
        self,
        ask: Ask,
        tiering: Tiering,
        teller: Teller,
        pendings: Sequence[Pending],
        by_ref: Mapping[str, Candidate],
        degraded: tuple[str, ...],
        rev: int,
    ) -> Gathered:
        told, dropped, ends = [], [], []
        past = ask.as_of is not None or ask.known_at is not None
        silent = blocked(pendings, teller.t, teller.k, self._room.limits)
        for row in teller.ledger.rows:
            holds = teller.ledger.tells(row, teller.t, teller.k) and (past or row.current or row.planned)
            memory = teller.tell(row)
            if row.is_end:
                if row.current:
                    ends.append(memory)
            elif not holds:
                if row.mid in by_ref:
                    dropped.append(Dropped(row.mid, why_not(memory, ask.environment, self._room.lexicon) or "superseded"))
            elif row.slot in silent:
                dropped.append(Dropped(row.mid, "pending"))
            elif (why := why_not(memory, ask.environment, self._room.lexicon)) is not None:
                dropped.append(Dropped(row.mid, why))
            else:
                told.append(memory)
        known = {r.mid for r in teller.ledger.rows}
        dropped += [Dropped(ref, "foreign_or_gone") for ref in by_ref if ref not in known and not past]
        waiting = [teller.pending(p) for p in pendings if shown(p, teller.t, teller.k, self._room.limits.pending_life)]
        asked = [m for m in waiting if m.key in tiering.keys or m.concept in tiering.ckeys or tiering.tier == "L3"]
        return Gathered(teller, told, dropped, ends, asked, by_ref, degraded, rev)

    # --- search

    def search(self, scope: Scope, q: str, limit: int, kind: Kind | None) -> Found:
        """The user's valid memories by fused score: no tier, no threshold. A blank q is refused, a long one shortened and flagged."""
        check_limit(limit)
        if not q.strip():
            raise InvalidInputError("a search needs words", field="q", code="blank_text")
        text = q[:QUERY_MAX]
        collections: Sequence[Collection] = MEMORIES if kind is None else (kind.value,)
        candidates, degraded = self._seeing.search(scope, text, collections)
        snapshot = self._reader.latest(scope, kind, None, None)
        teller = self._teller(snapshot.rows, snapshot.now)
        silent = blocked(snapshot.pendings, teller.t, teller.k, self._room.limits)
        told = {r.mid: teller.tell(r) for r in teller.ledger.all_told(teller.t, teller.k) if r.slot not in silent}
        language = language_of(text)
        fused = fuse.fuse(candidates, fuse.weights(_lists(candidates), language))
        ids = {c.id: c.ref for c in candidates}
        scores = {ids[i]: score for i, score in fused.items() if ids[i] in told}
        scores = self._with_unprojected(text, told, scores)
        best = sorted(scores.items(), key=lambda x: (-x[1], x[0]))[:limit]
        top = max((s for _, s in best), default=1.0) or 1.0
        hits = tuple(Hit(told[mid], round(min(1.0, s / max(top, 1.0)), 6), "fused") for mid, s in best)
        return Found(hits, degraded, len(q) > QUERY_MAX, snapshot.rev)

    def _with_unprojected(self, text: str, told: Mapping[str, Memory], scores: dict[str, float]) -> dict[str, float]:
        """Memories the index does not hold yet (or that it lost) are found by their words, scored in the process."""
        missing = [m for mid, m in told.items() if mid not in scores]
        words = lexical_scores(text, [f"{m.subject.replace(':', ' ')} {m.label.zh} {m.label.en} {m.value}" for m in missing])
        best = max(words, default=0.0)
        return {**scores, **{m.mid: w / best for m, w in zip(missing, words, strict=True) if w > 0}}

    # --- evidence

    def _evidence(self, scope: Scope, ask: Ask, message: str, language: Language) -> Recalled:
        """Rank turns instead of memories; the text comes from the graph, blanked where it was forgotten."""
        candidates, degraded = self._seeing.search(scope, message, ("turn",))
        scores = fuse.fuse(candidates, fuse.weights(_lists(candidates), language))
        refs = {c.id: c.ref for c in candidates}
        by_ref = {refs[i]: s for i, s in scores.items()}
        turns = {t.ref: t for t in self._reader.turns_by_ref(scope, list(by_ref))}
        kept = {ref: s for ref, s in by_ref.items() if ref in turns}
        named = named_dates(message)
        if named:
            kept = {ref: s + date_bonus(named, from_ms(turns[ref].at).date()) for ref, s in kept.items()}
        ordered = fuse.inherit(kept, _replies(turns.values()))
        best = [(turns[ref], score) for ref, score in ordered.items() if ref in turns][: ask.limit]
        found = tuple(EvidenceTurn(t.turn_id, t.session_id, round(s, 6), t.text, from_ms(t.at), t.role) for t, s in best)
        tiering = choose(message, (), ask.task, self._room.ontology, self._room.lexicon, language, "L2")
        told = receipt("L2", tiering.trigger, Ranked(()), degraded=degraded, session_id=ask.session_id)
        return Recalled("L2", tiering.trigger, (), (), (), (), "", (), degraded, told, None, None, turns=found)


def _lists(candidates: Iterable[Candidate]) -> list[str]:
    return sorted({name for c in candidates for name in c.scores})


def _replies(turns: Iterable[StoredTurn]) -> list[fuse.Reply]:
    """A person's turn right behind another's question answers it."""
    placed = {(t.session_id, t.seq): t for t in turns}
    found = []
    for (session, seq), t in placed.items():
        before = placed.get((session, seq - 1))
        asks = before is not None and before.text.rstrip().endswith(("?", "？"))
        if before is not None and asks and (before.speaker or before.role) != (t.speaker or t.role):
            found.append(fuse.Reply(t.ref, before.ref, t.role == "user"))
    return found


__all__ = ["Recall", "Seeing"]
