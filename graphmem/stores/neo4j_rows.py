"""Edges to rows and back: the only place that knows property names."""

from __future__ import annotations

import json
from collections.abc import Mapping

from graphmem.memory import Kind, Standing, Statement, Status
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.stores.neo4j_times import instant
from graphmem.validity import OPEN, Ms, Observation, Pending, Row
from graphmem.writing import Changes, NewCase, Origin

NEVER = -9_000_000_000_000_000
"""`until` of a pending row: in the (slot, until) index, below every bound a write reads from."""

_ABSENT: Mapping[str, object] = {
    "standing": "stated",
    "owner_domain": "default",
    "zone": "UTC",
    "source_kind": "user_stated",
    "evidence": 1,
}
"""What an edge says by leaving a property out: a stored one costs every later read of the row a db hit. `observed_at` is `said_at`."""

_MORE = ("owner_domain", "zone", "source_kind", "source_ref", "verified_by", "metadata", "evidence", "rowrev", "related")


def row_of(found: Mapping[str, object]) -> Row:
    """A row map of a query as a Row."""
    get = found.get
    return Row(
        mid=_s(get("mid")),
        kind=Kind(_s(get("kind")).lower()),
        slot=_s(get("slot")),
        thing=_s(get("thing")),
        key=_s(get("key")),
        ckey=_s(get("ckey") or ""),
        subject=_s(get("subject")),
        value=None if get("is_end") else _o(get("value")),
        polarity="-" if get("polarity") == "-" else "+",
        version=_i(get("version") or 0),
        said_at=_i(get("said_at")),
        valid_from=_i(get("valid_from") if get("valid_from") is not None else get("stated_from") or get("said_at")),
        recorded_at=_i(get("recorded_at")),
        ends_at=_n(get("ends_at")),
        is_end=bool(get("is_end")),
        inset=bool(get("inset")),
        claims=bool(get("claims")),
        lifetime=_n(get("lifetime")),
        confidence=float(_f(get("confidence"))),
        standing=Standing(_s(get("standing") or "stated")),
        observations=_observations(found),
        classed=bool(get("classed")),
        retracted_at=_n(get("retracted_at")),
        tombstoned_at=_n(get("tombstoned_at")),
        overruled=bool(get("overruled")),
        until=_i(get("until") if get("until") is not None else OPEN),
        valid_to=_n(get("valid_to")),
        current=bool(get("current")),
        planned=bool(get("planned")),
        expires_at=_n(get("expires_at")),
        observed_at=_i(get("observed_at") or get("said_at")),
        prev_mid=_o(get("prev_mid")),
        next_mid=_o(get("next_mid")),
        status=Status(_s(get("status") or "active")),
        more={k: v for k in _MORE if (v := _ABSENT.get(k) if get(k) is None else get(k)) is not None},
    )


def is_pending(found: Mapping[str, object]) -> bool:
    return found.get("version") is None


def pending_of(found: Mapping[str, object]) -> Pending:
    """A row map without version as a Pending."""
    row = row_of(found)
    return Pending(
        row,
        reason=_s(found.get("reason") or ""),
        pending_from=_i(found.get("pending_from")),
        pending_to=_n(found.get("pending_to")),
        decided_at=_n(found.get("decided_at")),
        outcome=_o(found.get("outcome")),
        blocks=bool(found.get("blocks")),
    )


def _observations(found: Mapping[str, object]) -> tuple[Observation, ...]:
    """What was read of a row's observations; a bounded read has none and knows the last one from the cache."""
    obs = found.get("obs")
    if isinstance(obs, list):
        return tuple(sorted((Observation(_i(o[0]), _i(o[1]), _n(o[2])) for o in obs), key=lambda o: (o.at, o.recorded_at)))
    observed = found.get("observed_at")
    return () if observed is None else (Observation(_i(observed), _i(found.get("recorded_at"))),)


def patch_of(row: Row) -> dict[str, object]:
    """The properties of an old row that a write may change: caches and decisions."""
    return {
        "until": row.until,
        "valid_to": _t(row.valid_to),
        "current_slot": row.slot if row.current else None,
        "planned_slot": row.slot if row.planned else None,
        "status": row.status.value,
        "observed_at": _t(row.observed_at),
        "expires_at": _t(row.expires_at),
        "retracted_at": _t(row.retracted_at),
        "overruled": row.overruled or None,
        "tombstoned_at": _t(row.tombstoned_at),
        "prev_mid": row.prev_mid,
        "next_mid": row.next_mid,
        "evidence": 1 + len(row.observations),
    }


def new_row(scope: Scope, changes: Changes, row: Row) -> dict[str, object]:
    """One element of `$new`: edge, node, first evidence and links of a row."""
    edge = {**_said(scope, changes.origin, row), **patch_of(row), "version": row.version, "valid_from": _t(row.valid_from)}
    edge |= {"inset": row.inset or None, "claims": row.claims or None}
    edge["caption"] = changes.captions.get(row.mid)
    if edge["observed_at"] == edge["said_at"]:
        del edge["observed_at"]
    return _element(scope, changes, row, edge)


def new_pending(scope: Scope, changes: Changes, pending: Pending) -> dict[str, object]:
    """One element of `$new` for a pending row: no version, no start; `slot` without version keeps it out of the unique index."""
    row = pending.row
    edge = {**_said(scope, changes.origin, row), "until": NEVER, "stated_from": _t(row.valid_from), "observed_at": _t(row.said_at)}
    edge |= {"reason": pending.reason, "pending_from": _t(pending.pending_from), "blocks": pending.blocks or None, "status": "pending"}
    edge |= decision_of(pending)
    edge["caption"] = changes.captions.get(row.mid)
    return _element(scope, changes, row, edge)


def decision_of(pending: Pending) -> dict[str, object]:
    """The properties that a decision writes; an open one keeps its handle."""
    return {
        "pending_slot": pending.row.slot if pending.open() else None,
        "pending_to": _t(pending.pending_to),
        "decided_at": _t(pending.decided_at),
        "outcome": pending.outcome,
        "tombstoned_at": _t(pending.row.tombstoned_at),
    }


def case_of(scope: Scope, actor: str, now: Ms, case: NewCase) -> dict[str, object]:
    """One element of `$cases`: the node of a new one, what closes it. No value (a slot of a `many` key names its concept)."""
    row = case.pending.row
    node = {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "case_id": case.case_id,
        "state": "open",
        "reason": case.pending.reason,
        "pending_mid": row.mid,
        "kind": row.kind.value,
        "key": row.key,
        "subject": row.subject,
        "slot": row.slot,
        "slot_version": case.slot_version,
        "proposed_by": actor,
        "opened_at": _t(row.recorded_at),
        "due_at": _t(case.due_at),
    }
    closed = {"state": case.state, "decided_at": _t(now), "decided_by": actor, "decision": case.decision, "note": case.note}
    return {"case_id": case.case_id, "mid": row.mid, "node": node, "set": {} if case.state == "open" else closed}


def _said(scope: Scope, origin: Origin, row: Row) -> dict[str, object]:
    more = row.more
    return {
        "owner": slot_prefix(scope),
        "mid": row.mid,
        "slot": row.slot,
        "thing": row.thing,
        "key": row.key,
        "ckey": row.ckey,
        "subject": row.subject,
        "polarity": row.polarity,
        "said_at": _t(row.said_at),
        "recorded_at": _t(row.recorded_at),
        "ends_at": _t(row.ends_at),
        "is_end": row.is_end or None,
        "classed": row.classed or None,
        "lifetime": row.lifetime,
        "confidence": row.confidence,
        "standing": row.standing.value,
        "owner_domain": more.get("owner_domain", origin.domain),
        "zone": more.get("zone", origin.zone),
        "source_kind": more.get("source_kind", origin.kind),
        "source_ref": more.get("source_ref", origin.ref),
        "verified_by": more.get("verified_by", origin.verified_by),
        "evidence": 1,
    }


def _element(scope: Scope, changes: Changes, row: Row, edge: dict[str, object]) -> dict[str, object]:
    said = row.more.get("statement")
    s = said if isinstance(said, Statement) else None
    metadata = (
        json.dumps(dict(s.metadata), ensure_ascii=False, sort_keys=True) if s is not None and s.metadata else row.more.get("metadata")
    )
    value = row.value if not row.is_end else (s.value if s is not None else None)
    node = {
        "mid": row.mid,
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "value": value,
        "text": s.text if s is not None else None,
        "metadata": metadata,
    }
    first: dict[str, object] = {"at": _t(row.said_at), "recorded_at": _t(row.recorded_at), "first": True}
    if s is not None and s.span is not None:
        first["span"] = list(s.span)
    return {
        "kind": row.kind.name,
        "edge": {k: v for k, v in edge.items() if v is not None and v != _ABSENT.get(k)},
        "node": {k: v for k, v in node.items() if v is not None},
        "first": first,
        "source_id": changes.origin.source_id,
        "about": [row.ckey] if row.ckey else [],
        "supersedes": [],
    }


def _t(ms: Ms | None) -> object:
    return None if ms is None else instant(ms)


def _s(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _o(value: object) -> str | None:
    return None if value is None else str(value)


def _i(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"expected a whole number, found {value!r}")
    return value


def _n(value: object) -> int | None:
    return None if value is None else _i(value)


def _f(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 1.0
