"""The raw arm of the import's bench: the elements that the import made (edge, node, source, concept), 1,000 a transaction, two at a time.

No judge, no links between versions, no record of changes, no outbox. Reading the elements is not measured. Their times go to the driver as
it gave them, as somebody's own UNWIND would send them; `ready`: made ready for the wire before the measure begins, a stricter arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, process_time

from neo4j import ManagedTransaction
from neo4j.time import DateTime

from bench.costs import Cost, cpu_of
from bench.rig import Rig
from graphmem.stores.neo4j_times import instant

RAW = """
UNWIND $rows AS row
MATCH (u:User {tenant_id: $tenant, user_id: row.user})
MERGE (s:Source {tenant_id: $tenant, user_id: row.user, source_id: row.source_id})
CREATE (u)-[r:$(row.kind)]->(m:Memory)
SET m = row.node, r = row.edge
CREATE (m)-[f:FROM_SOURCE]->(s)
SET f = row.first
WITH m, row
UNWIND row.about AS ckey
MATCH (c:Concept {tenant_id: $tenant, ckey: ckey})
CREATE (m)-[:ABOUT]->(c)
"""

BLOCK = 1000

SLICE = 25_000
"""Most elements of one turn of the arm, all in memory while it is written."""


class Raw:
    """Turns of the arm, added up; each takes `most` elements or a few more of people that no turn before it took."""

    def __init__(self, most: int = SLICE, ready: bool = False) -> None:
        self._taken: set[str] = set()
        self._sent = _ready if ready else _given
        self._turn, self._slice, self.cost = 0, min(most, SLICE), Cost()

    def arm(self, made: Rig) -> None:
        """One turn: people as they are now into a tenant of their own, which goes again."""
        self._turn += 1
        tenant = f"{made.tenant}-raw{self._turn}"
        elements, concepts, users = self._elements(made, tenant)
        driver, ckeys = made.neo4j.driver, sorted(concepts)

        def block(rows: Sequence[Mapping[str, object]]) -> None:
            def work(tx: ManagedTransaction) -> None:
                tx.run(RAW, rows=list(rows), tenant=tenant).consume()

            with driver.session() as session:
                session.execute_write(work)

        try:
            began, client, server = monotonic(), process_time(), cpu_of(made.pid)
            driver.execute_query("UNWIND $u AS u MERGE (:User {tenant_id: $t, user_id: u})", u=users, t=tenant)
            for names in (ckeys[i : i + BLOCK] for i in range(0, len(ckeys), BLOCK)):
                driver.execute_query("UNWIND $c AS c MERGE (:Concept {tenant_id: $t, ckey: c})", c=names, t=tenant)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(block, [elements[i : i + BLOCK] for i in range(0, len(elements), BLOCK)]))
            cost = Cost(len(elements), monotonic() - began, process_time() - client, cpu_of(made.pid) - server)
        finally:
            made.app.wipe(tenant)
        self.cost += cost
        print(f"raw UNWIND: {cost.said()}", flush=True)

    def _elements(self, made: Rig, tenant: str) -> tuple[list[dict[str, object]], set[str], list[str]]:
        elements: list[dict[str, object]] = []
        concepts: set[str] = set()
        users: list[str] = []
        old, new = f"1|{made.tenant}|", f"1|{tenant}|"
        for user in self._people(made):
            if len(elements) >= self._slice:
                break
            found = made.neo4j.read_one("export_user", {"tenant_id": made.tenant, "user_id": user})
            users.append(user)
            self._taken.add(user)
            for m in [] if found is None else found["memories"]:
                edge = {k: v.replace(old, new) if isinstance(v, str) else self._sent(v) for k, v in m["edge"].items()}
                concepts.update(m["about"])
                source = m["sources"][0]
                elements.append(
                    {
                        "user": user, "kind": m["kind"], "edge": edge, "node": {**m["node"], "tenant_id": tenant},
                        "about": m["about"], "first": {k: self._sent(v) for k, v in source["link"].items()},
                        "source_id": source["node"]["source_id"],
                    }
                )  # fmt: skip
        return elements, concepts, users

    def _people(self, made: Rig) -> Iterator[str]:
        """Users that have memories by now and were not taken."""
        after = ""
        while page := _page(made, after):
            yield from (u for u in page if u not in self._taken)
            after = page[-1]


def _given(value: object) -> object:
    return value


def _ready(value: object) -> object:
    """A point in time as the import sends it: the driver's own road costs its client three times as much a row."""
    return instant(int(value.to_native().timestamp() * 1000)) if isinstance(value, DateTime) else value


def _page(made: Rig, after: str) -> list[str]:
    found = made.neo4j.read_one("users_page", {"tenant_id": made.tenant, "after": after, "limit": 500})
    return [] if found is None else [str(u["user_id"]) for u in found["users"]]
