// What stands in the graph without the service having written it: edges that lack an id, a slot, a time of recording or a version.

// name: strays_of_users
// mode: read
// scope: tenant
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: how many such edges each user of a page of users has; `last` goes on.
MATCH (u:User {tenant_id: $tenant_id})
WHERE u.user_id > $after
WITH u
ORDER BY u.tenant_id, u.user_id
LIMIT $limit
CALL (u) {
  MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m)
  WHERE r.slot IS NULL OR r.mid IS NULL OR r.recorded_at IS NULL OR (r.version IS NULL AND r.pending_from IS NULL) OR m.mid IS NULL
  RETURN count(r) AS strays
}
WITH u.user_id AS user_id, strays
ORDER BY user_id
RETURN collect({user_id: user_id, strays: strays}) AS users;

// name: strays_page
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, after STRING, limit INTEGER
// purpose: the edges themselves, in the order of their element ids, with all that they and their nodes say.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
CALL (u) {
  MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m)
  WHERE (r.slot IS NULL OR r.mid IS NULL OR r.recorded_at IS NULL OR (r.version IS NULL AND r.pending_from IS NULL) OR m.mid IS NULL)
    AND elementId(r) > $after
  WITH r, m, elementId(r) AS ref
  ORDER BY ref
  LIMIT $limit
  RETURN collect({ref: ref, kind: type(r), edge: properties(r), node: properties(m)}) AS strays
}
RETURN strays;

// name: strays_homeless
// mode: read
// scope: system
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: memories of a tenant that hang on no user: no index has what lacks an id, so the label is walked; for `check` and `adopt` alone.
MATCH (m:Memory)
WHERE m.tenant_id = $tenant_id AND m.mid IS NULL AND elementId(m) > $after AND NOT EXISTS { (m)<-[:FACT|PREFERENCE|CONTEXT]-(:User) }
WITH m, elementId(m) AS ref
ORDER BY ref
LIMIT $limit
RETURN collect({ref: ref, kind: null, edge: {}, node: properties(m)}) AS strays;

// name: strays_housed
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, homes LIST
// purpose: memories without a user get the one the caller names; the edge says no more than its kind.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
UNWIND $homes AS home
MATCH (m:Memory)
WHERE elementId(m) = home.ref AND m.tenant_id = $tenant_id AND m.mid IS NULL
CREATE (u)-[:$(home.kind)]->(m)
RETURN count(m) AS housed;

// name: strays_opened
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, refs LIST
// purpose: before they are judged they hold no place: slots, versions and handles that somebody wrote would collide with the true ones.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
UNWIND $refs AS ref
MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m)
WHERE elementId(r) = ref
  // an element id is used again when its edge is gone: what stands there now may be a row of the service
  AND (r.slot IS NULL OR r.mid IS NULL OR r.recorded_at IS NULL OR (r.version IS NULL AND r.pending_from IS NULL) OR m.mid IS NULL)
REMOVE r.mid, r.slot, r.version, r.current_slot, r.planned_slot, r.pending_slot, r.thing, r.owner, r.until, r.recorded_at, r.expires_at, r.tombstoned_at
RETURN count(r) AS opened;

// name: strays_gone
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, now DATETIME, gone LIST
// purpose: what was judged (mid: the memory that says it now, which takes the relations) or rejected (null) leaves; a node with an id of its own stays.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
UNWIND $gone AS g
MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m)
WHERE elementId(r) = g.ref AND r.mid IS NULL AND r.slot IS NULL
CALL (m, g) {
  MATCH (n:Memory {tenant_id: $tenant_id, mid: g.mid})<-[p:FACT|PREFERENCE|CONTEXT]-(:User)
  MATCH (m)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(o:Memory)<-[q:FACT|PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: $user_id})
  WHERE m.mid IS NULL AND o <> n
  WITH n, x, o, p, q, CASE WHEN startNode(x) = m THEN n ELSE o END AS a, CASE WHEN startNode(x) = m THEN o ELSE n END AS b
  CREATE (a)-[y:$(type(x))]->(b)
  SET y = properties(x), y.rid = coalesce(x.rid, g.mid + '.' + substring(randomUUID(), 24)), y.weight = coalesce(x.weight, 1.0),
      y.valid_from = coalesce(x.valid_from, $now), y.recorded_at = coalesce(x.recorded_at, $now), p.related = true, q.related = true
  RETURN count(y) AS carried
}
DELETE r
// a concept, or a memory of the service, that somebody hung an edge on is not theirs to take along
WITH m, carried
CALL (m) {
  WITH m
  WHERE m:Memory AND m.mid IS NULL AND NOT EXISTS { (m)<-[:FACT|PREFERENCE|CONTEXT]-() }
  DETACH DELETE m
}
RETURN count(m) AS gone, sum(carried) AS carried;

// name: strays_dropped
// mode: write
// scope: system
// params: tenant_id STRING, refs LIST
// purpose: rejected memories that hang on no user.
UNWIND $refs AS ref
MATCH (m:Memory)
WHERE elementId(m) = ref AND m.tenant_id = $tenant_id AND m.mid IS NULL
DETACH DELETE m
RETURN count(*) AS gone;

// name: wipe_strays
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: of a throw-away tenant the memories without an id, which no index has.
MATCH (u:User {tenant_id: $tenant_id})-[:FACT|PREFERENCE|CONTEXT]->(m:Memory)
USING INDEX SEEK u:User(tenant_id, user_id)
WHERE u.user_id >= '' AND m.mid IS NULL
CALL (m) {
  DETACH DELETE m
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS nodes;

// name: script_done
// mode: read
// scope: tenant
// params: tenant_id STRING, op STRING
// purpose: whether a statement of a script ran before.
OPTIONAL MATCH (c:Change {tenant_id: $tenant_id, user_id: '', op: $op})
RETURN c IS NOT NULL AS done;

// name: script_noted
// mode: write
// scope: tenant
// params: tenant_id STRING, op STRING
// purpose: that it ran; of no user, for it may have written about many.
MERGE (c:Change {tenant_id: $tenant_id, user_id: '', op: $op})
  ON CREATE SET c.route = 'cypher', c.actor = 'import', c.at = datetime.realtime(), c.outcome = '{}', c.mids = [], c.verdicts = []
RETURN c.op AS op;
