"""Edges and nodes that somebody wrote past the service: found, opened, and gone with the write that judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from neo4j import ManagedTransaction
from neo4j.time import Date, DateTime, Duration, Time

from graphmem.errors import ConflictError
from graphmem.memory import Kind
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.stores.neo4j_times import instant
from graphmem.strays import Stray
from graphmem.validity import Ms

USERS = 500


class Neo4jStrays:
    """See adopting.Strays."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def users(self, tenant: str) -> Iterator[tuple[str, int]]:
        after = ""
        while True:
            found = self._neo4j.read_one("strays_of_users", {"tenant_id": tenant, "after": after, "limit": USERS})
            users = [] if found is None else found["users"]
            yield from ((u["user_id"], u["strays"]) for u in users if u["strays"])
            if len(users) < USERS:
                return
            after = users[-1]["user_id"]

    def page(self, scope: Scope, after: str, limit: int) -> list[Stray]:
        asked = {"tenant_id": scope.tenant, "user_id": scope.user, "after": after, "limit": limit}
        found = self._neo4j.read_one("strays_page", asked)
        return [] if found is None else [_stray(raw, scope.user) for raw in found["strays"]]

    def homeless(self, tenant: str, after: str, limit: int) -> list[Stray]:
        found = self._neo4j.read_one("strays_homeless", {"tenant_id": tenant, "after": after, "limit": limit})
        return [] if found is None else [_stray(raw, None) for raw in found["strays"]]

    def house(self, scope: Scope, homes: Sequence[tuple[str, Kind]]) -> None:
        given = [{"ref": ref, "kind": kind.name} for ref, kind in homes]
        self._neo4j.write_one("strays_housed", {"tenant_id": scope.tenant, "user_id": scope.user, "homes": given})

    def open(self, scope: Scope, refs: Sequence[str]) -> None:
        self._neo4j.write_one("strays_opened", {"tenant_id": scope.tenant, "user_id": scope.user, "refs": list(refs)})

    def remove(self, scope: Scope, refs: Sequence[str], now: Ms) -> None:
        self.open(scope, refs)
        self._neo4j.write_one("strays_gone", _gone(scope, [(ref, None) for ref in refs], now))

    def drop(self, tenant: str, refs: Sequence[str]) -> None:
        self._neo4j.write_one("strays_dropped", {"tenant_id": tenant, "refs": list(refs)})


def adopted(neo4j: Neo4j, tx: ManagedTransaction, scope: Scope, pairs: Sequence[tuple[str, str]], now: Ms) -> None:
    """Inside a write: the elements that were judged leave; the memories that say it now take their relations. ConflictError where one is
    not there any more: then nothing is done.
    """
    if neo4j.run(tx, "strays_gone", _gone(scope, pairs, now))["gone"] != len(pairs):
        raise ConflictError("somebody else adopted or removed it meanwhile", code="version_conflict")


def _gone(scope: Scope, pairs: Sequence[tuple[str, str | None]], now: Ms) -> dict[str, object]:
    gone = [{"ref": ref, "mid": mid} for ref, mid in pairs]
    return {"tenant_id": scope.tenant, "user_id": scope.user, "now": instant(now), "gone": gone}


def _stray(raw: Mapping[str, object], user: str | None) -> Stray:
    kind = None if raw["kind"] is None else Kind(str(raw["kind"]).lower())
    edge, node = cast(Mapping[str, object], raw["edge"]), cast(Mapping[str, object], raw["node"])
    said = {str(k): _plain(v) for k, v in {**node, **edge}.items()}
    return Stray(str(raw["ref"]), user, kind, said)


def _plain(value: object) -> object:
    """A property as JSON has it: times as ISO 8601 text."""
    if isinstance(value, DateTime | Date | Time | Duration):
        return value.iso_format()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


__all__ = ["Neo4jStrays", "adopted"]
