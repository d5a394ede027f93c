// The archive: old rows of preferences and contexts leave the graph for encrypted files, and come back exactly.

// name: archive_users
// mode: read
// scope: tenant
// params: tenant_id STRING, before DATETIME, after STRING, limit INTEGER
// purpose: pages of users (by id) who hold a preference or context that was last stated before a moment and does not hold now.
MATCH (u:User {tenant_id: $tenant_id})
WHERE u.user_id > $after
WITH u
ORDER BY u.user_id
LIMIT $limit
RETURN collect({user_id: u.user_id, due: EXISTS {
  (u)-[r:PREFERENCE|CONTEXT]->(:Memory)
  WHERE r.current_slot IS NULL AND r.planned_slot IS NULL AND r.version IS NOT NULL AND r.said_at <= $before
}}) AS users;

// name: archive_rows
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST
// purpose: everything of these memories, as it must come back: edge, node, concepts, sources, and their links to other memories.
UNWIND $mids AS mid
MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[r:PREFERENCE|CONTEXT]-(u:User {tenant_id: $tenant_id, user_id: $user_id})
RETURN collect({kind: type(r), edge: properties(r), node: properties(m),
  about: [(m)-[:ABOUT]->(c:Concept) | c.ckey],
  sources: [(m)-[f:FROM_SOURCE]->(s:Source) |
            {source_id: s.source_id, kind: s.kind, at: CASE WHEN s:Turn THEN null ELSE s.at END, link: properties(f)}],
  links: [(m)-[x:SUPERSEDES|HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(o:Memory) |
          {type: type(x), from_mid: m.mid, to_mid: o.mid, properties: properties(x)}]
       + [(m)<-[x:SUPERSEDES|HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(o:Memory) |
          {type: type(x), from_mid: o.mid, to_mid: m.mid, properties: properties(x)}]}) AS records;

// name: archive_noted
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, slots LIST
// purpose: where the versions of a slot go on, and how many lie in the archive; the lock is already held.
UNWIND $slots AS s
MERGE (a:Archived {tenant_id: $tenant_id, user_id: $user_id, slot: s.slot})
SET a.top = CASE WHEN coalesce(a.top, 0) > s.top THEN a.top ELSE s.top END, a.rows = coalesce(a.rows, 0) + s.rows
WITH a
WHERE a.rows <= 0
DELETE a
RETURN count(*) AS emptied;

// name: archive_put_back
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, ckeys LIST, records LIST, links LIST
// purpose: rows come back from the archive as they were; the lock is already held and none of them is in the graph.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
CALL () {
  UNWIND $ckeys AS ckey
  MERGE (c:Concept {tenant_id: $tenant_id, ckey: ckey})
  RETURN count(*) AS concepts
}
CALL (u) {
  UNWIND $records AS row
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
    MERGE (s:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: src.source_id})
      ON CREATE SET s.kind = src.kind, s.at = src.at
    CREATE (m)-[f:FROM_SOURCE]->(s)
    SET f = src.link
  }
  RETURN count(*) AS created
}
CALL () {
  UNWIND $links AS l
  MATCH (a:Memory {tenant_id: $tenant_id, mid: l.from_mid, user_id: $user_id})
  MATCH (b:Memory {tenant_id: $tenant_id, mid: l.to_mid, user_id: $user_id})
  CREATE (a)-[x:$(l.type)]->(b)
  SET x = l.properties
  RETURN count(*) AS linked
}
RETURN created;

// name: archived_slots
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, slots LIST
// purpose: how many rows of these slots lie in the archive.
UNWIND $slots AS slot
MATCH (a:Archived {tenant_id: $tenant_id, user_id: $user_id, slot: slot})
RETURN collect({slot: a.slot, top: a.top, rows: a.rows}) AS slots;

// name: archive_forgotten
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING
// purpose: everything of the user is forgotten: nothing lies in the archive any more.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
MATCH (a:Archived {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX SEEK a:Archived(tenant_id, user_id, slot)
WHERE a.slot >= ''
DELETE a
RETURN count(*) AS forgotten;

// name: archive_drop
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST
// purpose: rows that lie in a verified segment leave the graph, with sources and concepts that nothing else needs; the lock is already held.
UNWIND $mids AS mid
MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[:PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: $user_id})
OPTIONAL MATCH (m)-[:FROM_SOURCE]->(s:Source)
WHERE NOT s:Turn
WITH m, collect(s) AS sources, [(m)-[:ABOUT]->(c:Concept) | c.ckey] AS about
DETACH DELETE m
WITH collect(sources) AS sources, collect(about) AS about
CALL (sources) {
  UNWIND sources AS some
  UNWIND some AS s
  WITH DISTINCT s
  WHERE NOT EXISTS { (s)<-[:FROM_SOURCE]-() }
  DELETE s
  RETURN count(*) AS unsourced
}
RETURN reduce(all = [], a IN about | all + a) AS ckeys;
