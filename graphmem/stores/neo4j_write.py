"""MemoryWriter on Neo4j: lock and read, decide, apply; two statements, one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from neo4j import ManagedTransaction, Record

from graphmem.casework import Reads
from graphmem.errors import ConflictError
from graphmem.memory import Kind
from graphmem.ports import Operation
from graphmem.relations import RELATED, Linking, carried, linked, links
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.stores.neo4j_archive import move, put_back
from graphmem.stores.neo4j_base import WRITE_TIMEOUT_S, Neo4j, UniqueFault
from graphmem.stores.neo4j_lifecycle import purge
from graphmem.stores.neo4j_operation import admit, recorded
from graphmem.stores.neo4j_rows import case_of, decision_of, new_pending, new_row, patch_of, pending_of, row_of
from graphmem.stores.neo4j_strays import adopted
from graphmem.stores.neo4j_times import instant
from graphmem.validity import Row
from graphmem.writing import Changes, Done, Known, NewTurn, Written

_WHOLE = -8_000_000_000_000_000
"""`since` of a read that needs the whole slot; pending rows lie below it."""


class Neo4jWriter:
    """Writes of one user. Holds no state but the connection. timeout: seconds a transaction may take."""

    def __init__(self, neo4j: Neo4j, *, timeout: float = WRITE_TIMEOUT_S) -> None:
        self._neo4j, self._timeout = neo4j, timeout

    def write(self, scope: Scope, operation: Operation, reads: Reads, decide: Callable[[Known], Changes]) -> Written:
        """See ports.MemoryWriter. A unique fault is read again and tried once more: another process may have won."""

        def work(tx: ManagedTransaction) -> Written:
            known = _known(self._neo4j.run(tx, "lock_and_read", _reads(scope, operation, reads)))
            admit(operation, known)
            if known.done is not None:
                return Written(known, None, known.done.rev)
            changes = decide(known)
            blanked = self._leaving(tx, scope, known, changes)
            applied = self._neo4j.run(tx, "apply", _apply(scope, operation, known, changes, blanked))
            if changes.adopted:
                adopted(self._neo4j, tx, scope, changes.adopted, known.now)
            if changes.proof is not None:
                self._prove(tx, scope, changes.proof)
            return Written(known, changes, applied["rev"])

        return self._once_more(work)

    def _leaving(self, tx: ManagedTransaction, scope: Scope, known: Known, changes: Changes) -> list[str]:
        """What is forgotten, comes back, is purged or archived, before anything new is written; refs of turns that read otherwise now."""
        person = {"tenant_id": scope.tenant, "user_id": scope.user}
        blanked: list[str] = []
        if changes.forgotten:
            mids = list(changes.forgotten)
            blanked += self._neo4j.run(tx, "blank_spans", {**person, "mids": mids, "now": instant(known.now)})["refs"]
        if changes.restored:
            blanked += self._neo4j.run(tx, "restore_spans", {**person, "mids": list(changes.restored)})["refs"]
        if changes.purge is not None:
            purge(self._neo4j, tx, scope, changes.purge, known.now)
        if changes.moved is not None:
            move(self._neo4j, tx, scope, changes.moved)
        if changes.returned:
            put_back(self._neo4j, tx, scope, changes.returned)
        return blanked

    def _prove(self, tx: ManagedTransaction, scope: Scope, case_id: str) -> None:
        """The proof is used up with the change it was for, or neither happens."""
        if not self._neo4j.run(tx, "proof_applied", {"tenant_id": scope.tenant, "user_id": scope.user, "case_id": case_id})["applied"]:
            raise ConflictError("this proof was used already or lacks a factor", code="decided")

    def _once_more(self, work: Callable[[ManagedTransaction], Written]) -> Written:
        try:
            return self._neo4j.transact(work, timeout=self._timeout)
        except UniqueFault:
            try:
                return self._neo4j.transact(work, timeout=self._timeout)
            except UniqueFault as fault:
                raise ConflictError("this turn id is taken in its session by another request", code="turn_id_taken") from fault


def _reads(scope: Scope, operation: Operation, reads: Reads) -> dict[str, object]:
    def by_kind(found: Mapping[Kind, tuple[str, ...]]) -> dict[str, list[str]]:
        return {k.name: list(found.get(k, ())) for k in Kind}

    concerned = {k for k in Kind if reads.slots.get(k) or reads.prefixes.get(k)}
    return {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "op": operation.op,
        "since": _WHOLE if reads.whole else reads.since,
        "slots": by_kind(reads.slots),
        "things": by_kind(reads.things),
        "prefixes": by_kind(reads.prefixes),
        "pending": {k.name: [slot_prefix(scope, k)] if k in concerned else [] for k in Kind},
    }


def _known(record: Record) -> Known:
    done = record["done"]
    return Known(
        now=record["now"],
        rev=record["rev"] or 0,
        erased=record["erased"],
        slots=tuple(record["slots"]),
        rows=tuple(row_of(r) for r in record["rows"] if r["version"] is not None),
        rivals=tuple(row_of(r) for r in record["rivals"] if r["version"] is not None),
        tops=_tops(record["tops"]),
        pendings=tuple(pending_of(r) for r in record["pendings"]),
        done=None if done is None else Done(done["request_hash"], done["outcome"], done["rev"]),
    )


def _tops(found: list[list[object]]) -> dict[str, int]:
    """The highest version of each slot, what lies in the archive counted too."""
    tops: dict[str, int] = {}
    for slot, top in found:
        tops[str(slot)] = max(tops.get(str(slot), 0), int(str(top)))
    return tops


def _apply(scope: Scope, operation: Operation, known: Known, changes: Changes, blanked: list[str]) -> dict[str, object]:
    new = [new_row(scope, changes, r) for r in changes.created] + [new_pending(scope, changes, p) for p in changes.pended]
    before: dict[object, list[str]] = {}
    for mid, old in changes.links:
        before.setdefault(mid, []).append(old)
    for n, row in zip(new, (*changes.created, *(p.row for p in changes.pended)), strict=True):
        n["supersedes"] = before.get(row.mid, [])
    # rows sorted by concept, so that two users never wait for each other's concepts in turn
    new.sort(key=lambda n: (n["about"], str(n["source_id"])))
    carrying, linking = carried(known, changes), linked(scope, changes.created, links())
    _mark(new, {c.new for c in carrying if c.keep} | {x.mid for x in linking})
    kept = {str(ckey) for n in new for ckey in _list(n["about"])}
    patches = _patches(known, changes)
    turn, origin = changes.turn, changes.origin
    return {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "now": instant(known.now),
        "patches": patches,
        "ckeys": sorted(kept),
        "sources": [{"source_id": origin.source_id, "kind": origin.kind}] if turn is None and (new or changes.seen) else [],
        "new": new,
        "seen": [_seen(changes, known, i) for i in range(len(changes.seen))],
        "copied": [{"mid": c.mid, "from_mid": c.from_mid, "since": c.since, "until": c.until} for c in changes.copied],
        "turns": [] if turn is None else [_turn(scope, known, turn)],
        "opened": [] if turn is None else [turn.session_id],
        "cases": [case_of(scope, operation.actor, known.now, c) for c in changes.cases],
        "sync": [_outbox(scope, operation, known, ref, kind) for ref, kind in _sync(known, changes, blanked)],
        "changes": [_change(scope, operation, known, changes)],
        "carried": [{"old": c.old, "new": c.new, "at": instant(c.at), "keep": c.keep} for c in carrying],
        "linked": [_linked(x) for x in linking],
    }


def _mark(new: list[dict[str, object]], mids: set[str]) -> None:
    """New edges that take relations are marked as related, so that the next supersession looks for them."""
    for n in new:
        edge = n["edge"]
        if isinstance(edge, dict) and edge["mid"] in mids:
            edge[RELATED] = True


def _linked(x: Linking) -> dict[str, object]:
    return {
        "type": x.type.value,
        "mid": x.mid,
        "ckey": x.ckey,
        "prefix": x.prefix,
        "outward": x.outward,
        "at": instant(x.at),
        "weight": x.weight,
    }


def _patches(known: Known, changes: Changes) -> list[dict[str, object]]:
    """Old rows with the properties that differ from what was read."""
    before = {r.mid: patch_of(r) for r in (*known.rivals, *known.rows)}
    found: list[dict[str, object]] = []
    for row in changes.patched:
        old = before.get(row.mid, {})
        found.append({"mid": row.mid, "set": {k: v for k, v in patch_of(row).items() if k not in old or old[k] != v}})
    # a row that takes current_slot comes after the one that gives it up: the database checks each step
    found.sort(key=lambda p: _taking(p["set"]))
    return found + [{"mid": p.row.mid, "set": decision_of(p)} for p in changes.decided]


def _taking(patch: object) -> bool:
    return isinstance(patch, dict) and patch.get("current_slot") is not None


def _change(scope: Scope, operation: Operation, known: Known, changes: Changes) -> dict[str, object]:
    return {
        **recorded(scope, operation),
        "at": instant(known.now),
        "outcome": changes.outcome,
        "mids": [m for m, _ in changes.verdicts],
        "verdicts": [v for _, v in changes.verdicts],
    }


def _outbox(scope: Scope, operation: Operation, known: Known, ref: str, kind: str) -> dict[str, object]:
    oid = f"{operation.op}:{ref}"
    return {"oid": oid, "ref": ref, "kind": kind, "tenant_id": scope.tenant, "user_id": scope.user, "pending_at": instant(known.now)}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _seen(changes: Changes, known: Known, index: int) -> dict[str, object]:
    seen = changes.seen[index]
    link = {
        "at": instant(seen.at),
        "recorded_at": instant(known.now),
        "since": None if seen.since is None else instant(seen.since),
        "span": None if seen.span is None else list(seen.span),
    }
    return {"mid": seen.mid, "source_id": changes.origin.source_id, "link": link}


def _turn(scope: Scope, known: Known, turn: NewTurn) -> dict[str, object]:
    at = known.now if turn.at is None else turn.at
    node = {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "session_id": turn.session_id,
        "turn_id": turn.turn_id,
        "source_id": turn.source_id,
        "ref": turn.ref,
        "kind": "turn",
        "role": turn.role,
        "text": turn.text,
        "at": instant(at),
        "recorded_at": instant(known.now),
        "zone": turn.zone,
        "language": turn.language,
        "speaker": turn.speaker,
        "answers": turn.answers,
        "waiting": turn.waiting,
        "metadata": turn.metadata,
    }
    return {"session_id": turn.session_id, "node": node}


def _sync(known: Known, changes: Changes, blanked: list[str]) -> list[tuple[str, str]]:
    """What the index must look at again: new rows, rows that began or ceased to hold, the turn itself."""
    before: dict[str, Row] = {r.mid: r for r in known.rows}
    mids = [r.mid for r in changes.created if r.current or r.planned]
    for row in changes.patched:
        old = before.get(row.mid)
        if old is None or (old.current, old.planned, old.tombstoned_at) != (row.current, row.planned, row.tombstoned_at):
            mids.append(row.mid)
    found = [(mid, "memory") for mid in dict.fromkeys(mids)]
    found += [(ref, "turn") for ref in dict.fromkeys(blanked)]
    if changes.turn is not None:
        found.append((changes.turn.ref, "turn"))
    return found
