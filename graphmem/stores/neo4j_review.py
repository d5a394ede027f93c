"""Review cases on Neo4j: the inbox of a tenant, one case, its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from graphmem.memory import from_ms
from graphmem.reviewing import Clause, Held
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_read import blanked


class Neo4jReviews:
    """See reviewing.Desk."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def inbox(self, tenant: str, state: str, after: tuple[int, str], limit: int) -> list[Held]:
        states = ["open", "expired"] if state == "expired" else [state]
        at, case_id = after
        found = self._neo4j.read_one(
            "review_inbox",
            {"tenant_id": tenant, "states": states, "state": state, "after_at": from_ms(at), "after_id": case_id, "limit": limit},
        )
        return [] if found is None else [_held(v) for v in found["cases"]]

    def case(self, tenant: str, case_id: str) -> tuple[Held, int] | None:
        found = self._neo4j.read_one("review_case", {"tenant_id": tenant, "case_id": case_id})
        return None if found is None else (_held(found["found"]), found["now"])

    def evidence(self, scope: Scope, mids: Sequence[str]) -> list[Clause]:
        found = self._neo4j.read_one("evidence", {"tenant_id": scope.tenant, "user_id": scope.user, "mids": list(mids)})
        return [] if found is None else [_clause(e) for e in found["evidence"]]


def _held(v: Mapping[str, object]) -> Held:
    def text(name: str) -> str | None:
        return cast(str | None, v.get(name))

    return Held(
        case_id=str(v["case_id"]),
        user_id=str(v["user_id"]),
        state=str(v["state"]),
        reason=str(v["reason"]),
        kind=str(v["kind"]),
        key=str(v["key"]),
        subject=str(v["subject"]),
        pending_mid=str(v["pending_mid"]),
        slot_version=cast(int, v["slot_version"]),
        proposed_by=str(v["proposed_by"]),
        opened_at=cast(int, v["opened_at"]),
        due_at=cast(int, v["due_at"]),
        decided_at=cast(int | None, v.get("decided_at")),
        decided_by=text("decided_by"),
        decision=text("decision"),
        note=text("note"),
    )


def _clause(e: Mapping[str, object]) -> Clause:
    text, span = e.get("text"), e.get("span")
    quote = None if text is None else blanked(str(text), e.get("blanks"))
    if quote is not None and isinstance(span, list):
        quote = quote[span[0] : span[1]]
    turn_id, session_id = cast(str | None, e.get("turn_id")), cast(str | None, e.get("session_id"))
    return Clause(str(e["mid"]), str(e["source"]), str(e.get("kind") or ""), cast(int, e["at"]), quote, turn_id, session_id)
