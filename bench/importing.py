"""`python -m bench.importing [--rows N] [--users N]`: statements a second of `graphmem import`, beside a raw UNWIND of the same elements.

The raw arm writes the rows that the import made (edge, node, source, concept), 1,000 a transaction: no judge, no links between versions, no
record of changes, no outbox.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from neo4j import ManagedTransaction

from bench.rig import Rig, rig
from graphmem.bulk import ImportAsk
from graphmem.commands.transfer import teller

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


def statements(path: Path, rows: int, users: int) -> None:
    """Statements in no order of users: changing cities, likings, hobbies, notes of an open key; every two-hundredth repeats one."""
    chance = random.Random(1)
    start = time.time() - 100 * 86_400
    with path.open("w", encoding="utf-8") as stream:
        for n in range(rows):
            one = n - users if n % 200 == 199 and n >= users else n
            key, value = (
                ("likes", f"thing {one}"),
                ("home_city", f"town {one % 97}"),
                ("hobby", f"craft {one % 499}"),
                ("note", f"note {one}"),
            )[one % 4]
            row: dict[str, object] = {"user_id": f"u{n % users}", "key": key, "value": value, "at": start + chance.random() * 8_000_000}
            stream.write(json.dumps(row | ({"kind": "fact", "arity": "many"} if key == "note" else {})) + "\n")


def raw(made: Rig, tenant: str, users: int) -> tuple[int, float]:
    """Write the memories of the bench's tenant into another one as they are, unjudged; (rows, seconds)."""
    driver = made.neo4j.driver
    elements: list[dict[str, object]] = []
    concepts: set[str] = set()
    old, new = f"1|{made.tenant}|", f"1|{tenant}|"
    for n in range(users):
        found = made.neo4j.read_one("export_user", {"tenant_id": made.tenant, "user_id": f"u{n}"})
        for m in [] if found is None else found["memories"]:
            edge = {k: v.replace(old, new) if isinstance(v, str) else v for k, v in m["edge"].items()}
            concepts.update(m["about"])
            source = m["sources"][0]
            elements.append(
                {
                    "user": f"u{n}", "kind": m["kind"], "edge": edge, "node": {**m["node"], "tenant_id": tenant},
                    "about": m["about"], "first": source["link"], "source_id": source["node"]["source_id"],
                }
            )  # fmt: skip
    driver.execute_query("UNWIND range(0, $n - 1) AS i MERGE (:User {tenant_id: $t, user_id: 'u' + i})", n=users, t=tenant)
    driver.execute_query("UNWIND $c AS c MERGE (:Concept {tenant_id: $t, ckey: c})", c=sorted(concepts), t=tenant)

    def block(rows: Sequence[Mapping[str, object]]) -> None:
        def work(tx: ManagedTransaction) -> None:
            tx.run(RAW, rows=list(rows), tenant=tenant).consume()

        with driver.session() as session:
            session.execute_write(work)

    began = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(block, [elements[i : i + BLOCK] for i in range(0, len(elements), BLOCK)]))
    return len(elements), time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.importing", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=1_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder, rig() as made:
        path = Path(folder) / "statements.jsonl"
        statements(path, asked.rows, asked.users)
        done = made.app.import_file(made.tenant, ImportAsk(path), teller())
        rate = done.rows / done.seconds
        print(f"import: {done.rows} rows of {done.users} users in {done.seconds:.1f} s, {rate:.0f} a second, {dict(done.verdicts)}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"peak RSS of the process: {peak} MB")
        again = made.app.import_file(made.tenant, ImportAsk(path))
        print(f"the same again: {again.replayed} found done in {again.seconds:.1f} s")
        other = f"{made.tenant}-raw"
        try:
            rows, seconds = raw(made, other, asked.users)
            print(
                f"raw UNWIND: {rows} rows in {seconds:.1f} s, {rows / seconds:.0f} a second; import / raw = {rate / (rows / seconds):.2f}"
            )
        finally:
            made.app.wipe(other)


if __name__ == "__main__":
    main()
