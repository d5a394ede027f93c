"""A tenant or a user as text: canonical JSON lines that come back exactly, CSV for spreadsheets, a Cypher script for the Browser.

JSON lines: a header, the tenant's open keys, then each user (by id) with sessions, memories, review cases and changes. Nothing in
them names the tenant: the same memories in two tenants are the same text. Left out: receipts, proofs and their factors, the outbox (made
anew by the import) and what lies in the archive (restore it first).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from graphmem.answers import Memory
from graphmem.errors import NotFoundError
from graphmem.memory import utc
from graphmem.scope import Scope
from graphmem.slot import part

VERSION = 1

TIME = "$time"
"""Marks a point in time among JSON values (stores/neo4j_archive.py)."""

BLOCK = 200
"""Rows of one UNWIND block of a script."""

COLUMNS = (
    "user_id", "id", "kind", "arity", "key", "subject", "polarity", "value", "ends", "said_at", "valid_from", "valid_to", "zone",
    "confidence", "source", "source_ref", "metadata", "_version", "_status", "_until", "_recorded_at",
)  # fmt: skip
"""Of a CSV export; those with '_' inform and are not read by an import."""

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Person:
    """Everything of one user: JSON values, times as `{"$time": …}`, in one order."""

    user_id: str
    properties: Record
    sessions: Sequence[Record] = ()
    memories: Sequence[Record] = ()
    reviews: Sequence[Record] = ()
    changes: Sequence[Record] = ()

    def records(self) -> dict[str, object]:
        """For the way back."""
        return {
            "user": dict(self.properties),
            "sessions": list(self.sessions),
            "memories": list(self.memories),
            "reviews": list(self.reviews),
            "changes": list(self.changes),
        }


class Transfer(Protocol):
    """What leaves and enters the graph whole."""

    def users(self, tenant: str) -> Iterator[str]:
        """All users of a tenant, by id."""
        ...

    def keys(self, tenant: str) -> Sequence[Record]:
        """The open keys of a tenant, by name."""
        ...

    def person(self, scope: Scope) -> Person | None: ...

    def put_keys(self, tenant: str, keys: Sequence[Record]) -> None: ...

    def put(self, scope: Scope, person: Person) -> int:
        """Bring a user back; returns how many memories were new. Twice is fine; ConflictError where others hold their places."""
        ...

    def done(self, tenant: str, pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
        """Of (user, operation) pairs those that were carried out: operation → outcome."""
        ...


def people(transfer: Transfer, tenant: str, user: str | None) -> Iterator[Person]:
    """One user, or all of a tenant. NotFoundError for a user who is not there."""
    for name in [user] if user is not None else transfer.users(tenant):
        person = transfer.person(Scope(tenant, name))
        if person is None:
            if user is not None:
                raise NotFoundError(f"tenant {tenant} has no user '{name}'")
            continue
        yield person


# --- canonical JSON lines


def canonical(transfer: Transfer, tenant: str, user: str | None = None) -> Iterator[str]:
    """The lines of an export, each ended by a line break."""
    yield _line({"graphmem": "export", "version": VERSION})
    for key in transfer.keys(tenant):
        yield _line({"type": "key", **key})
    for person in people(transfer, tenant, user):
        yield _line({"type": "user", "user_id": person.user_id, "properties": person.properties})
        for name, records in (
            ("session", person.sessions),
            ("memory", person.memories),
            ("review", person.reviews),
            ("change", person.changes),
        ):
            for record in records:
                yield _line({"type": name, "user_id": person.user_id, **record})


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


# --- CSV


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of a CSV export: `value` also where it names what ended, `own_end` the end that was stated and not one by succession."""

    user: str
    memory: Memory
    value: str | None
    own_end: datetime | None


def table(rows: Iterable[Listed], arity: Mapping[str, str]) -> Iterator[str]:
    """A CSV that an import reads: what was said, when, and from where. `arity`: open keys with theirs."""
    yield _csv(COLUMNS)
    for row in rows:
        m = row.memory
        yield _csv(
            (
                row.user, m.mid, m.kind.value, arity.get(m.key), m.key, m.subject, m.polarity, row.value, "true" if m.is_end else None,
                _at(m.said_at), _at(m.valid_from), _at(row.own_end), m.zone, f"{m.confidence:g}", m.source.kind.value, m.source.ref,
                json.dumps(dict(m.metadata), ensure_ascii=False, sort_keys=True) if m.metadata else None,
                m.version, m.status.value, _at(m.valid_to), _at(m.recorded_at),
            )
        )  # fmt: skip


def _at(at: datetime | None) -> str | None:
    return None if at is None else utc(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _csv(cells: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["" if c is None else c for c in cells])
    return text.getvalue()


# --- Cypher


def script(transfer: Transfer, tenant: str, user: str | None = None) -> Iterator[str]:
    """Statements that make the same memories in a graph with graphmem's schema. Each may be run again; the tenant stands in them."""
    yield f"// graphmem export of tenant {tenant}: run `graphmem migrate apply` first, and `graphmem reindex --tenant {tenant}` after.\n\n"
    keys = [dict(k) for k in transfer.keys(tenant)]
    if keys:
        yield _block(
            keys, tenant, "MERGE (k:Key {tenant_id: tenant, key: row.key})\n  ON CREATE SET k.kind = row.kind, k.arity = row.arity"
        )
    for person in people(transfer, tenant, user):
        yield from _person(person, tenant)


def _person(person: Person, tenant: str) -> Iterator[str]:
    who = f"{{tenant_id: tenant, user_id: {literal(person.user_id, tenant)}}}"
    one = f"{{tenant_id: tenant, user_id: {literal(person.user_id, tenant)}, "
    yield _block([person.properties], tenant, f"MERGE (u:User {who})\n  ON CREATE SET u += row")
    for block in _blocks(person.sessions):
        yield _block(
            block, tenant,
            f"MATCH (u:User {who})\nMERGE (s:Session {one}session_id: row.node.session_id}})\n  ON CREATE SET s += row.node\n"
            f"MERGE (u)-[:OPENED]->(s)\nWITH s, row, tenant UNWIND row.turns AS said\n"
            f"MERGE (t:Source {one}source_id: said.node.source_id}})\n  ON CREATE SET t:Turn, t += said.node, t.tenant_id = tenant\n"
            "MERGE (s)-[:SAID {seq: said.seq}]->(t)",
        )  # fmt: skip
    for block in _blocks([{"ckey": c} for c in sorted({str(c) for m in person.memories for c in _list(m["about"])})]):
        yield _block(block, tenant, "MERGE (:Concept {tenant_id: tenant, ckey: row.ckey})")
    for kind in ("FACT", "PREFERENCE", "CONTEXT"):
        for block in _blocks([m for m in person.memories if m["kind"] == kind]):
            yield _block([{k: v for k, v in m.items() if k != "links"} for m in block], tenant, _memory(kind, who, one))
    links = [link for m in person.memories for link in _list(m["links"]) if isinstance(link, Mapping)]
    for kind in sorted({str(link["type"]) for link in links}):
        for block in _blocks([link for link in links if link["type"] == kind]):
            yield _block(
                block, tenant,
                "MATCH (a:Memory {tenant_id: tenant, mid: row.from_mid}), (b:Memory {tenant_id: tenant, mid: row.to_mid})\n"
                f"WHERE NOT EXISTS {{ (a)-[x:{kind}]->(b) WHERE properties(x) = row.properties }}\n"
                f"CREATE (a)-[y:{kind}]->(b)\nSET y = row.properties",
            )  # fmt: skip
    for block in _blocks(person.reviews):
        yield _block(
            block, tenant,
            "MERGE (v:Review {tenant_id: tenant, case_id: row.node.case_id})\n  ON CREATE SET v += row.node\n"
            "WITH v, row, tenant UNWIND row.concerns AS mid\nMATCH (m:Memory {tenant_id: tenant, mid: mid})\nMERGE (v)-[:CONCERNS]->(m)",
        )  # fmt: skip
    for block in _blocks(person.changes):
        yield _block(block, tenant, f"MERGE (c:Change {one}op: row.node.op}})\n  ON CREATE SET c += row.node")


def _memory(kind: str, who: str, one: str) -> str:
    return (
        f"MATCH (u:User {who})\nWHERE NOT EXISTS {{ (:Memory {{tenant_id: tenant, mid: row.edge.mid}}) }}\n"
        f"CREATE (u)-[r:{kind}]->(m:Memory)\nSET m = row.node, m.tenant_id = tenant, r = row.edge\n"
        "WITH m, row, tenant\n"
        "CALL (m, row, tenant) { UNWIND row.about AS ckey MATCH (c:Concept {tenant_id: tenant, ckey: ckey}) CREATE (m)-[:ABOUT]->(c) }\n"
        "CALL (m, row, tenant) { UNWIND row.sources AS src\n"
        f"  MERGE (s:Source {one}source_id: src.node.source_id}})\n    ON CREATE SET s += src.node\n"
        "  CREATE (m)-[f:FROM_SOURCE]->(s)\n  SET f = src.link }"
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _blocks(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    for start in range(0, len(records), BLOCK):
        yield records[start : start + BLOCK]


def _block(rows: Sequence[Record], tenant: str, act: str) -> str:
    body = ",\n  ".join(literal(row, tenant) for row in rows)
    return f"WITH {literal(tenant, tenant)} AS tenant\nUNWIND [\n  {body}\n] AS row\n{act};\n\n"


def literal(value: object, tenant: str) -> str:
    """A JSON value of a record as a Cypher literal; places get their tenant back."""
    if isinstance(value, Mapping):
        if set(value) == {TIME}:
            return f"datetime({literal(value[TIME], tenant)})"
        return "{" + ", ".join(f"`{str(k).replace('`', '``')}`: {literal(v, tenant)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(v, tenant) for v in value) + "]"
    if isinstance(value, str):
        text = f"1|{part(tenant)}|{value[4:]}" if value.startswith("1|*|") else value
        return json.dumps(text, ensure_ascii=False).replace(";", "\\u003B")
    return json.dumps(value)
