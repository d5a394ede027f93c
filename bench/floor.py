"""The floor of a write: the graph elements of a real one, sent as one statement that decides nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from bench.rig import Rig

Parts = Mapping[str, Any]


class Floor:
    """Writes what a captured `apply` wrote, under other ids, for one floor user a client. One object a client: not thread safe."""

    def __init__(self, rig: Rig, applied: Mapping[str, object], client: str) -> None:
        self._rig, self._applied, self._client = rig, applied, client
        self._numbers = itertools.count()
        self._old: str | None = None

    def new(self) -> None:
        """One more memory in a slot of its own."""
        self._rig.neo4j.write_one("floor_new", self._parts(next(self._numbers), whole=True))

    def supersede(self) -> None:
        """The slot's next version. The first call only lays the first one down."""
        number = next(self._numbers)
        parts = self._parts(number, whole=False)
        if self._old is None:
            self._rig.neo4j.write_one("floor_new", parts)
        else:
            a: Any = self._applied
            patch = {**a["patches"][0]["set"], "next_mid": parts["node"]["mid"]}
            outbox = {**parts["outbox"], "oid": f"{parts['outbox']['oid']}:old", "ref": self._old}
            self._rig.neo4j.write_one("floor_supersede", {**parts, "old": self._old, "patch": patch, "outbox_old": outbox})
        self._old = parts["node"]["mid"]

    def turn(self) -> None:
        """One more turn with one memory."""
        number = next(self._numbers)
        parts = self._parts(number, whole=True)
        a: Any = self._applied
        node = {**a["turns"][0]["node"], "user_id": self._client, "session_id": self._client}
        node |= {"turn_id": f"t{number}", "source_id": parts["source"]["source_id"], "ref": f"{self._client}-ref-{number}"}
        outbox = {**parts["outbox"], "oid": f"{parts['outbox']['oid']}:turn", "ref": node["ref"], "kind": "turn"}
        given = {k: v for k, v in parts.items() if k != "source"}
        self._rig.neo4j.write_one("floor_turn", {**given, "session_id": self._client, "turn": node, "outbox_turn": outbox})

    def _parts(self, number: int, *, whole: bool) -> dict[str, Any]:
        a: Any = self._applied
        made = a["new"][0]
        mid, op, ckey = f"{self._client}-mid-{number}", f"{self._client}-op-{number}", f"text:{self._client}-{number}"
        slot = f"{made['edge']['slot']}{self._client}" + (f"-{number}" if whole else "")
        edge = {
            **made["edge"],
            "mid": mid,
            "slot": slot,
            "current_slot": slot,
            "ckey": ckey,
            "thing": f"{slot}|{number}",
            "version": number + 1,
        }
        whose = {"tenant_id": a["tenant_id"], "user_id": self._client}
        change = {**a["changes"][0], "user_id": self._client, "op": op, "rev": number, "mids": [mid]}
        return {
            **whose,
            "now": a["now"],
            "ckey": ckey,
            "source": {**whose, "source_id": f"{op}-source", "kind": "user_stated", "at": a["now"]},
            "edge": edge,
            "node": {**made["node"], "mid": mid, "user_id": self._client},
            "first": made["first"],
            "change": change,
            "outbox": {**a["sync"][0], "user_id": self._client, "oid": f"{op}:{mid}", "ref": mid},
        }
