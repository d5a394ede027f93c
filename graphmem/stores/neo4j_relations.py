"""Relations and cohorts on Neo4j: one lock, one transaction a write; one statement a read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from neo4j import ManagedTransaction, Record

from graphmem.cohorts import CohortAsk, Holder, Member, Then
from graphmem.ids import uuid7
from graphmem.memory import Kind, from_ms
from graphmem.memory import Standing as Vouched
from graphmem.ports import Operation
from graphmem.relations import PATHS, DecideRelation, End, Hop, Path, Relating, Relation, RelationChange, RelationType, Standing, Walked
from graphmem.scope import Scope, TenantScope
from graphmem.slot import part
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_operation import admit, recorded
from graphmem.stores.neo4j_read import NOTHING
from graphmem.stores.neo4j_rows import row_of
from graphmem.validity import Ms
from graphmem.writing import Done

NOBODY = "\x1f"
"""Stands for no user in records of a tenant: a control character, which no user id holds."""

Found = Mapping[str, object]


class Neo4jRelations:
    """Relations of one user, cohorts of one tenant. Holds no state but the connection."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def change(self, scope: Scope, operation: Operation, ask: Relating, decide: DecideRelation) -> Relation:
        """Lock, read both ends by key, decide, store; an operation that was done before is answered again."""

        def work(tx: ManagedTransaction) -> Relation:
            standing = _standing(self._neo4j.run(tx, "relation_lock", _locked(scope, operation, ask)), ask)
            admit(operation, standing)
            if standing.done is not None:
                return _replayed(standing.done)
            change = decide(standing)
            applied = self._neo4j.run(tx, "relation_apply", _applied(scope, operation, standing, change))
            return replace(change.answer, revision=applied["rev"])

        return self._neo4j.transact(work)

    def walk(self, scope: Scope, mid: str, types: Sequence[RelationType], depth: int, as_of: Ms | None, known_at: Ms | None) -> Walked:
        """Paths from a memory that held at (as_of, known_at); None is the database's now."""
        found = self._neo4j.read_one(
            "related",
            {
                "tenant_id": scope.tenant, "user_id": scope.user, "mid": mid, "types": [t.value for t in types],
                "depth": depth, "as_of": as_of, "known_at": known_at, "most": PATHS,
            },
        )  # fmt: skip
        if found is None:
            return Walked(0, 0, False, ())
        return Walked(found["now"], found["rev"] or 0, found["owned"], tuple(_path(p) for p in found["paths"]))

    # --- cohorts

    def members(self, scope: TenantScope, ask: CohortAsk, after: str | None, limit: int) -> list[Member]:
        """Who holds it now, in slot order, at most `limit` rows after a place."""
        prefix = f"1|{part(scope.tenant)}"
        found = self._neo4j.read_one(
            "cohort_now",
            {
                "tenant_id": scope.tenant, "key": ask.key, "ckey": {k.name: ask.ckey if k is ask.kind else NOTHING for k in Kind},
                "subject": ask.subject,
                "role": None if ask.subject is None else f"{ask.subject}:",
                "after": after or f"{prefix}|", "until": f"{prefix}}}", "limit": limit,
            },
        )  # fmt: skip
        return [] if found is None else [_member(r) for r in found["rows"]]

    def holders(self, scope: TenantScope, ask: CohortAsk, as_of: Ms | None, known_at: Ms | None, after: str | None, limit: int) -> Then:
        """Users who ever stated it by then, one page by user id, with everything that decides whether it is told."""
        found = self._neo4j.read_one(
            "cohort_then",
            {
                "tenant_id": scope.tenant, "key": ask.key, "ckey": ask.ckey,
                "as_of": as_of, "known_at": known_at, "after": after, "limit": limit,
            },
        )  # fmt: skip
        if found is None:
            return Then(0, ())
        rows: dict[str, list[Found]] = {user: [] for user in found["users"]}
        for r in found["rows"]:
            if r["version"] is not None:
                rows[r["user_id"]].append(r)
        return Then(found["now"], tuple(Holder(user, tuple(row_of(r) for r in held)) for user, held in rows.items()))

    def record(self, scope: TenantScope, outcome: Found) -> None:
        """Who asked for which cohort; never a value."""
        body = json.dumps(dict(outcome), ensure_ascii=False)
        self._neo4j.write_one(
            "record_cohort", {"tenant_id": scope.tenant, "nobody": NOBODY, "op": uuid7(), "actor": scope.principal, "outcome": body}
        )


def _locked(scope: Scope, operation: Operation, ask: Relating) -> dict[str, object]:
    return {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "op": operation.op,
        "from_mid": ask.from_mid,
        "to_mid": ask.to_mid,
        "type": None if ask.type is None else ask.type.value,
        "rid": ask.rid,
    }


def _standing(found: Record, ask: Relating) -> Standing:
    done = found["done"]
    held = found["open"]
    return Standing(
        now=found["now"],
        rev=found["rev"] or 0,
        erased=found["erased"],
        done=None if done is None else Done(done["request_hash"], done["outcome"], done["rev"]),
        start=_end(found["start"]),
        target=_end(found["target"]),
        open=_relation(held[0], ask.from_mid) if held else None,
    )


def _end(found: Found | None) -> End | None:
    if found is None:
        return None
    alive = found["version"] is not None and not found["gone"] and not found["is_end"]
    return End(str(found["mid"]), cast(int | None, found["valid_from"]), alive)


def _relation(found: Found, from_mid: str) -> Relation:
    ends = cast(int | None, found["valid_to"])
    return Relation(
        str(found["rid"]),
        RelationType(str(found["type"])),
        from_mid,
        str(found["to_mid"]),
        cast(float, found["weight"]),
        from_ms(cast(int, found["valid_from"])),
        None if ends is None else from_ms(ends),
    )


def _applied(scope: Scope, operation: Operation, standing: Standing, change: RelationChange) -> dict[str, object]:
    now, new, closed, told = from_ms(standing.now), change.new, change.closed, change.answer
    outcome = {
        "relation": {
            "rid": told.rid, "type": told.type.value, "from_mid": told.from_mid, "to_mid": told.to_mid, "weight": told.weight,
            "valid_from": told.valid_from.isoformat(), "valid_to": None if told.valid_to is None else told.valid_to.isoformat(),
        }
    }  # fmt: skip
    return {
        **recorded(scope, operation),
        "outcome": json.dumps(outcome),
        "now": now,
        "closed": [] if closed is None else [{"from_mid": closed.from_mid, "rid": closed.rid, "valid_to": closed.valid_to}],
        "new": [] if new is None else [_new(new, now)],
        "mids": [told.from_mid, told.to_mid],
        "verdicts": [operation.route] * 2,
    }


def _new(new: Relation, now: datetime) -> dict[str, object]:
    edge = {"rid": new.rid, "weight": new.weight, "valid_from": new.valid_from, "recorded_at": now}
    return {"type": new.type.value, "from_mid": new.from_mid, "to_mid": new.to_mid, "edge": edge}


def _replayed(done: Done) -> Relation:
    r = json.loads(done.outcome)["relation"]
    ends = None if r["valid_to"] is None else datetime.fromisoformat(r["valid_to"])
    begins = datetime.fromisoformat(r["valid_from"])
    kind = RelationType(r["type"])
    return Relation(r["rid"], kind, r["from_mid"], r["to_mid"], r["weight"], begins, ends, created=False, replayed=True, revision=done.rev)


def _path(found: Found) -> Path:
    stored = cast(list[dict[str, str]], found["hops"])
    hops = tuple(Hop(RelationType(h["type"]), h["from_mid"], h["to_mid"], float(h["weight"]), h["rid"]) for h in stored)
    return Path(tuple(cast(list[str], found["mids"])), hops)


def _member(found: Found) -> Member:
    return Member(
        user=str(found["user_id"]),
        mid=str(found["mid"]),
        subject=str(found["subject"]),
        value=cast(str | None, found["value"]),
        standing=Vouched(str(found["standing"] or "stated")),
        since=from_ms(cast(int, found["since"])),
        place=str(found["place"]),
    )


__all__ = ["NOBODY", "Neo4jRelations"]
