"""Where users stand and what was written since, a user at a glance, sessions: from Neo4j, one statement each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.memory import from_ms
from graphmem.people import Person, Session, moment
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_read import turn_of
from graphmem.watching import Mark, UserKey, Write
from graphmem.writing import StoredTurn


class Neo4jWatch:
    """See watching.WatchStore and people.PeopleStore. Holds no state but the connection."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def marks(self, people: Sequence[UserKey]) -> dict[UserKey, Mark]:
        found = self._neo4j.read_one("marks_of", {"people": [{"tenant_id": tenant, "user_id": user} for tenant, user in people]})
        marks = [] if found is None else found["marks"]
        return {(m["tenant_id"], m["user_id"]): Mark(m["rev"], m["erased"]) for m in marks}

    def writes(self, scope: Scope, since: int, most: int) -> list[Write]:
        found = self._neo4j.read_one("changes_since", {**_scope(scope), "since": since, "most": most})
        changes = [] if found is None else found["changes"]
        return [_write(c) for c in changes]

    def person(self, scope: Scope) -> Person | None:
        found = self._neo4j.read_one("person", _scope(scope))
        return None if found is None else Person(found["rev"], found["sessions"], found["turns"], moment(found["erased_at"]))

    def sessions(self, scope: Scope) -> list[Session]:
        found = self._neo4j.read_one("sessions_of", _scope(scope))
        sessions = [] if found is None else found["sessions"]
        return [Session(s["session_id"], from_ms(s["started_at"] or 0), moment(s["last_at"]), s["turns"]) for s in sessions]

    def turns(self, scope: Scope, sessions: Sequence[str], most: int) -> Mapping[str, Sequence[StoredTurn]]:
        found = self._neo4j.read_all("turns_of_sessions", {**_scope(scope), "sessions": list(sessions), "most": most})
        return {r["session_id"]: [turn_of(t) for t in r["turns"]] for r in found}


def _write(found: Mapping[str, Any]) -> Write:
    concerned = tuple(zip(found["mids"] or (), found["verdicts"] or (), strict=False))
    return Write(found["op"], found["route"], found["actor"], found["at"], found["outcome"] or "", concerned, found["rev"])


def _scope(scope: Scope) -> dict[str, object]:
    return {"tenant_id": scope.tenant, "user_id": scope.user}


__all__ = ["Neo4jWatch"]
