// Bulk import and export: which batches were carried out, everything of a user, and everything of a user back again.

// name: changes_done
// mode: read
// scope: tenant
// params: tenant_id STRING, pairs LIST
// purpose: of these (user, operation) pairs those that were carried out, so that an import goes on where it was killed without a lock a batch.
UNWIND $pairs AS pair
MATCH (c:Change {tenant_id: $tenant_id, user_id: pair.user_id, op: pair.op})
RETURN collect({op: c.op, outcome: c.outcome}) AS done;

// name: export_keys
// mode: read
// scope: tenant
// params: tenant_id STRING
// purpose: the open keys of a tenant, whose shape the first use fixed.
MATCH (k:Key {tenant_id: $tenant_id})
USING INDEX SEEK k:Key(tenant_id, key)
WHERE k.key >= ''
RETURN collect({key: k.key, kind: k.kind, arity: k.arity}) AS keys;

// name: export_user
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING
// purpose: everything of a user as it must come back; links stand at the memory they start from.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
RETURN u {.*} AS user,
  [(u)-[:OPENED]->(s:Session) | {node: properties(s), turns: [(s)-[q:SAID]->(t:Turn) | {seq: q.seq, node: properties(t)}]}] AS sessions,
  [(u)-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory) | {kind: type(r), edge: properties(r), node: properties(m),
    about: [(m)-[:ABOUT]->(c:Concept) | c.ckey],
    sources: [(m)-[f:FROM_SOURCE]->(s:Source) |
              {node: CASE WHEN s:Turn THEN {source_id: s.source_id} ELSE properties(s) END, link: properties(f)}],
    links: [(m)-[x:SUPERSEDES|HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(o:Memory) |
            {type: type(x), from_mid: m.mid, to_mid: o.mid, properties: properties(x)}]}] AS memories,
  COLLECT {
    MATCH (v:Review {tenant_id: $tenant_id, user_id: $user_id})
    USING INDEX SEEK v:Review(tenant_id, user_id, state)
    WHERE v.state >= ''
    RETURN {node: properties(v), concerns: [(v)-[:CONCERNS]->(m:Memory) | m.mid]}
  } AS reviews,
  COLLECT {
    MATCH (c:Change {tenant_id: $tenant_id, user_id: $user_id})
    USING INDEX SEEK c:Change(tenant_id, user_id, op)
    WHERE c.op >= ''
    RETURN {node: properties(c)}
  } AS changes;

// name: import_keys
// mode: write
// scope: tenant
// params: tenant_id STRING, keys LIST
// purpose: open keys come back; one that is there already keeps its shape.
UNWIND $keys AS row
MERGE (k:Key {tenant_id: $tenant_id, key: row.key})
  ON CREATE SET k.kind = row.kind, k.arity = row.arity
RETURN count(k) AS keys;

// name: import_user
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, user MAP, sessions LIST
// purpose: a user with sessions and turns; what is there already stays.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
  ON CREATE SET u += $user
SET u.lock = true
WITH u
CALL (u) {
  UNWIND $sessions AS row
  MERGE (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: row.node.session_id})
    ON CREATE SET s += row.node
  MERGE (u)-[:OPENED]->(s)
  WITH s, row
  UNWIND row.turns AS said
  MERGE (t:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: said.node.source_id})
    ON CREATE SET t:Turn, t += said.node
  MERGE (s)-[:SAID {seq: said.seq}]->(t)
  RETURN count(*) AS turns
}
RETURN turns;

// name: import_memories
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, ckeys LIST, records LIST
// purpose: rows come back as they were; one whose mid is there already is left alone, so that a second run makes nothing twice.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
CALL () {
  UNWIND $ckeys AS ckey
  MERGE (c:Concept {tenant_id: $tenant_id, ckey: ckey})
  RETURN count(*) AS concepts
}
CALL (u) {
  UNWIND $records AS row
  OPTIONAL MATCH (held:Memory {tenant_id: $tenant_id, mid: row.edge.mid})
  WITH u, row, held
  WHERE held IS NULL
  CREATE (u)-[r:$(row.kind)]->(m:Memory)
  SET m = row.node, r = row.edge
  WITH m, row
  CALL (m, row) {
    UNWIND row.about AS ckey
    MATCH (c:Concept {tenant_id: $tenant_id, ckey: ckey})
    CREATE (m)-[:ABOUT]->(c)
  }
  CALL (m, row) {
    UNWIND row.sources AS src
    MERGE (s:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: src.node.source_id})
      ON CREATE SET s += src.node
    CREATE (m)-[f:FROM_SOURCE]->(s)
    SET f = src.link
  }
  RETURN count(*) AS created
}
RETURN created;

// name: import_links
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, links LIST, reviews LIST, changes LIST
// purpose: what stands between memories, the cases about them and the record of changes, after all memories are there; each once.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
CALL () {
  UNWIND $links AS l
  MATCH (a:Memory {tenant_id: $tenant_id, mid: l.from_mid, user_id: $user_id})
  MATCH (b:Memory {tenant_id: $tenant_id, mid: l.to_mid, user_id: $user_id})
  WITH a, b, l
  WHERE NOT EXISTS { (a)-[x:SUPERSEDES|HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(b) WHERE type(x) = l.type AND properties(x) = l.properties }
  CREATE (a)-[y:$(l.type)]->(b)
  SET y = l.properties
  RETURN count(*) AS linked
}
CALL () {
  UNWIND $reviews AS row
  MERGE (v:Review {tenant_id: $tenant_id, case_id: row.node.case_id})
    ON CREATE SET v += row.node
  WITH v, row
  UNWIND row.concerns AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid, user_id: $user_id})
  MERGE (v)-[:CONCERNS]->(m)
  RETURN count(*) AS reviewed
}
CALL () {
  UNWIND $changes AS row
  MERGE (c:Change {tenant_id: $tenant_id, user_id: $user_id, op: row.node.op})
    ON CREATE SET c += row.node
  RETURN count(*) AS changed
}
RETURN linked, reviewed, changed;
