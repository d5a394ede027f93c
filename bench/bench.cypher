// Statements of the bench alone: floors to compare with, and people to read about.

// name: floor_new
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, now DATETIME, ckey STRING, source MAP, edge MAP, node MAP, first MAP, change MAP, outbox MAP
// purpose: the graph elements of one new memory in one statement that decides nothing.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.at = $now, u.rev = coalesce(u.rev, 0) + 1
MERGE (c:Concept {tenant_id: $tenant_id, ckey: $ckey})
CREATE (u)-[r:PREFERENCE]->(m:Memory)-[f:FROM_SOURCE]->(s:Source)
CREATE (m)-[:ABOUT]->(c)
SET r = $edge, m = $node, f = $first, s = $source
CREATE (d:Change)
SET d = $change
CREATE (o:Outbox)
SET o = $outbox
RETURN u.rev AS rev;

// name: floor_supersede
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, now DATETIME, old STRING, patch MAP, ckey STRING, source MAP, edge MAP, node MAP, first MAP, change MAP, outbox MAP, outbox_old MAP
// purpose: the same for a value that takes another's place; the old edge is patched first, because one current_slot is unique.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.at = $now, u.rev = coalesce(u.rev, 0) + 1
WITH u
MATCH (p:Memory {tenant_id: $tenant_id, mid: $old})<-[q:PREFERENCE]-(u)
SET q += $patch
WITH u, p
MERGE (c:Concept {tenant_id: $tenant_id, ckey: $ckey})
CREATE (u)-[r:PREFERENCE]->(m:Memory)-[f:FROM_SOURCE]->(s:Source)
CREATE (m)-[:ABOUT]->(c)
CREATE (m)-[:SUPERSEDES {at: $now}]->(p)
SET r = $edge, m = $node, f = $first, s = $source
CREATE (d:Change)
SET d = $change
CREATE (o:Outbox)
SET o = $outbox
CREATE (x:Outbox)
SET x = $outbox_old
RETURN u.rev AS rev;

// name: floor_turn
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, now DATETIME, session_id STRING, turn MAP, ckey STRING, edge MAP, node MAP, first MAP, change MAP, outbox MAP, outbox_turn MAP
// purpose: the same for one turn with one new memory.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.at = $now, u.rev = coalesce(u.rev, 0) + 1
MERGE (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: $session_id})
  ON CREATE SET s.started_at = $now
MERGE (u)-[:OPENED]->(s)
SET s.turns = coalesce(s.turns, 0) + 1, s.last_at = $now
MERGE (c:Concept {tenant_id: $tenant_id, ckey: $ckey})
CREATE (s)-[:SAID {seq: s.turns}]->(t:Turn:Source)
CREATE (u)-[r:PREFERENCE]->(m:Memory)-[f:FROM_SOURCE]->(t)
CREATE (m)-[:ABOUT]->(c)
SET r = $edge, m = $node, f = $first, t = $turn, t.seq = s.turns
CREATE (d:Change)
SET d = $change
CREATE (o:Outbox)
SET o = $outbox
CREATE (x:Outbox)
SET x = $outbox_turn
RETURN u.rev AS rev;

// name: age
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, each INTEGER
// purpose: give every current preference of a user `each` past versions, a day each.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:PREFERENCE]->(m:Memory)-[f:FROM_SOURCE {first: true}]->(s:Source)
WHERE r.current_slot IS NOT NULL
SET r.version = r.version + $each
WITH u, r, m, f, s
MATCH (m)-[:ABOUT]->(c:Concept)
UNWIND range(1, $each) AS i
WITH u, r, m, f, s, c, i, r.valid_from - duration({days: $each - i + 1}) AS start, r.valid_from - duration({days: $each - i}) AS stop
CREATE (u)-[q:PREFERENCE]->(p:Memory)-[g:FROM_SOURCE]->(s)
CREATE (p)-[:ABOUT]->(c)
SET q = r {.*, mid: r.mid + '-' + i, version: i, current_slot: null, status: 'superseded', valid_from: start, said_at: start, recorded_at: start,
           observed_at: start, valid_to: stop, until: stop.epochMillis},
    p = m {.*, mid: r.mid + '-' + i}, g = properties(f)
RETURN count(*) AS made;

// name: crowd
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, others LIST
// purpose: people who hold what one user holds, about the same concepts.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:PREFERENCE]->(m:Memory)-[f:FROM_SOURCE {first: true}]->(s:Source)
WHERE r.current_slot IS NOT NULL
MATCH (m)-[:ABOUT]->(c:Concept)
UNWIND $others AS other
MERGE (o:User {tenant_id: $tenant_id, user_id: other})
  ON CREATE SET o.at = u.at, o.rev = 1
WITH u, r, m, f, s, c, o, other, '|' + u.user_id + '|' AS mine, '|' + other + '|' AS theirs
CREATE (o)-[q:PREFERENCE]->(n:Memory)-[g:FROM_SOURCE]->(t:Source)
CREATE (n)-[:ABOUT]->(c)
WITH *, randomUUID() AS mid
SET q = r {.*, mid: mid, slot: replace(r.slot, mine, theirs), thing: replace(r.thing, mine, theirs), owner: replace(r.owner, mine, theirs),
           current_slot: replace(r.current_slot, mine, theirs)},
    n = m {.*, mid: mid, user_id: other}, g = properties(f), t = s {.*, user_id: other}
RETURN count(*) AS made;

// name: forget_outbox
// mode: write
// scope: tenant
// params: tenant_id STRING
// purpose: the bench projects by itself: nothing is left for a projection.
MATCH (o:Outbox)
WHERE o.tenant_id = $tenant_id
DELETE o
RETURN count(*) AS gone;

// name: sweep_memories
// mode: write
// scope: tenant
// params: tenant_id STRING, limit INTEGER
// purpose: remove what the bench has made, some at a time: 100,000 memories are too much for one transaction, and so is one user's or concept's share.
MATCH (n:Memory {tenant_id: $tenant_id})
WHERE n.mid IS NOT NULL
WITH n
LIMIT $limit
DETACH DELETE n
RETURN count(n) AS gone;

// name: sweep
// mode: write
// scope: tenant
// params: tenant_id STRING, limit INTEGER
// purpose: what is left of the tenant when its memories are gone: without them nothing is dense any more.
CALL () {
  MATCH (n:User {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Concept {tenant_id: $tenant_id}) WHERE n.ckey IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Session {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.session_id IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Source {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.source_id IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Change {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.op IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Receipt {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.receipt_id IS NOT NULL RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Outbox {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n LIMIT $limit
}
DETACH DELETE n
RETURN count(n) AS gone;
