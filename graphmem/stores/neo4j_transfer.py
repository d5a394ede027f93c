"""Everything of a user as canonical JSON records without their tenant, and back into the graph of any tenant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from neo4j import ManagedTransaction

from graphmem.errors import ConflictError
from graphmem.exporting import Person
from graphmem.scope import Scope
from graphmem.slot import part
from graphmem.stores.neo4j_archive import decoded, encoded
from graphmem.stores.neo4j_base import Neo4j, UniqueFault

USERS = 500
ROWS = 500
"""Rows that one transaction brings back."""

TIMEOUT_S = 120.0

ANY_TENANT = "1|*|"
"""How slots, things and owners begin in a record: '*' is no tenant id."""

_PLACED = frozenset(("slot", "thing", "owner", "current_slot", "planned_slot", "pending_slot"))


class Neo4jTransfer:
    """See exporting.Transfer."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def done(self, tenant: str, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Of (user, operation) pairs those that were carried out: operation → outcome."""
        asked = [{"user_id": user, "op": op} for user, op in pairs]
        found = self._neo4j.read_one("changes_done", {"tenant_id": tenant, "pairs": asked})
        return {} if found is None else {d["op"]: d["outcome"] for d in found["done"]}

    def users(self, tenant: str) -> Iterator[str]:
        after = ""
        while True:
            found = self._neo4j.read_one("users_page", {"tenant_id": tenant, "after": after, "limit": USERS})
            users = [] if found is None else [str(u["user_id"]) for u in found["users"]]
            yield from users
            if len(users) < USERS:
                return
            after = users[-1]

    def keys(self, tenant: str) -> list[Mapping[str, object]]:
        found = self._neo4j.read_one("export_keys", {"tenant_id": tenant})
        return [] if found is None else sorted(found["keys"], key=lambda k: str(k["key"]))

    def person(self, scope: Scope) -> Person | None:
        found = self._neo4j.read_one("export_user", {"tenant_id": scope.tenant, "user_id": scope.user})
        if found is None or found["user"] is None:
            return None
        bare = cast(dict[str, object], _without(encoded(dict(found)), scope.tenant))
        memories = [m for m in _maps(bare["memories"]) if _whole(m)]
        for memory in memories:
            for name in ("about", "sources", "links"):
                memory[name] = sorted(cast(list[object], memory[name]), key=_text)
        sessions = _maps(bare["sessions"])
        for session in sessions:
            session["turns"] = sorted(_maps(session["turns"]), key=_text)
        for review in _maps(bare["reviews"]):
            review["concerns"] = sorted(cast(list[str], review["concerns"]))
        user = cast(dict[str, object], bare["user"])
        return Person(
            scope.user,
            {k: v for k, v in user.items() if k not in ("user_id", "lock")},
            tuple(sorted(sessions, key=_text)),
            tuple(sorted(memories, key=lambda m: _text(cast(Mapping[str, object], m["edge"])["mid"]))),
            tuple(sorted(_maps(bare["reviews"]), key=_text)),
            tuple(sorted(_maps(bare["changes"]), key=_text)),
        )

    def put_keys(self, tenant: str, keys: Sequence[Mapping[str, object]]) -> None:
        self._neo4j.write_one("import_keys", {"tenant_id": tenant, "keys": [dict(k) for k in keys]})

    def put(self, scope: Scope, person: Person) -> int:
        """Bring a user back; returns how many memories were not there yet. ConflictError where other memories hold their slots."""
        who = {"tenant_id": scope.tenant, "user_id": scope.user}
        back = cast(dict[str, list[dict[str, object]]], _into(decoded(person.records()), scope))
        memories = sorted(back["memories"], key=lambda m: _text(m["about"]))
        links = [link for m in memories for link in cast(list[object], m["links"])]

        def one(name: str, parameters: Mapping[str, object]) -> int:
            def work(tx: ManagedTransaction) -> int:
                return int(self._neo4j.run(tx, name, {**who, **parameters})[0] or 0)

            return self._neo4j.transact(work, timeout=TIMEOUT_S)

        try:
            one("import_user", {"user": cast(object, back["user"]), "sessions": back["sessions"]})
            created = 0
            for start in range(0, len(memories), ROWS):
                rows = memories[start : start + ROWS]
                ckeys = sorted({str(c) for m in rows for c in cast(list[object], m["about"])})
                created += one("import_memories", {"ckeys": ckeys, "records": rows})
            one("import_links", {"links": links, "reviews": back["reviews"], "changes": back["changes"]})
        except UniqueFault as fault:
            raise ConflictError(
                f"user '{scope.user}' holds other memories in the same places",
                code="not_empty",
                hint="a canonical export comes back into a tenant that does not have the user.",
            ) from fault
        return created


def _maps(found: object) -> list[dict[str, object]]:
    return cast(list[dict[str, object]], found)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _whole(memory: Mapping[str, object]) -> bool:
    """A row of the service; what was written past it has no id or no slot yet (`graphmem adopt`)."""
    edge, node = cast(Mapping[str, object], memory["edge"]), cast(Mapping[str, object], memory["node"])
    return "mid" in edge and "slot" in edge and "mid" in node


def _without(value: object, tenant: str) -> object:
    """A record that says nothing of its tenant."""
    if isinstance(value, Mapping):
        return {k: _moved(k, v, _place(tenant), ANY_TENANT, lambda w: _without(w, tenant)) for k, v in value.items() if k != "tenant_id"}
    return [_without(v, tenant) for v in value] if isinstance(value, list) else value


def _into(value: object, scope: Scope) -> object:
    """A record in a tenant: places begin with its name, nodes say whose they are."""
    if isinstance(value, Mapping):
        made = {k: _moved(k, v, ANY_TENANT, _place(scope.tenant), lambda w: _into(w, scope)) for k, v in value.items()}
        return {k: {**v, "tenant_id": scope.tenant} if k == "node" and isinstance(v, dict) else v for k, v in made.items()}
    return [_into(v, scope) for v in value] if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _place(tenant: str) -> str:
    """How slots, things and owners of a tenant begin."""
    return f"1|{part(tenant)}|"


def _moved(key: str, value: object, old: str, new: str, deeper: object) -> object:
    if key in _PLACED and isinstance(value, str) and value.startswith(old):
        return new + value[len(old) :]
    return deeper(value) if callable(deeper) else value
