// The end of things: what is removed as a whole.

// name: wipe_tenant
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: remove a throw-away tenant, all of it, in batches: demos and evaluations (erasing a person is another thing).
// each branch names every property of a unique key: with the tenant alone the planner would scan the label
CALL () {
  MATCH (n:User {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Memory {tenant_id: $tenant_id}) WHERE n.mid IS NOT NULL RETURN n
  UNION
  MATCH (n:Concept {tenant_id: $tenant_id}) WHERE n.ckey IS NOT NULL RETURN n
  UNION
  MATCH (n:Session {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.session_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Source {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.source_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Turn {tenant_id: $tenant_id}) WHERE n.ref IS NOT NULL RETURN n
  UNION
  MATCH (n:Change {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.op IS NOT NULL RETURN n
  UNION
  MATCH (n:Receipt {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.receipt_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Key {tenant_id: $tenant_id}) WHERE n.key IS NOT NULL RETURN n
  UNION
  MATCH (n:Outbox {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
}
// one batch may meet a node whose edges another one took: DETACH takes what is left
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS nodes;

// name: due_slots
// mode: read
// scope: system
// params: after STRING, limit INTEGER
// purpose: sweep: pages of slots (by slot) with a plan that is due or a current row that lapsed; answers never depend on it.
CALL () {
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX r:FACT(planned_slot)
  WHERE r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX r:PREFERENCE(planned_slot)
  WHERE r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX r:CONTEXT(planned_slot)
  WHERE r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX r:FACT(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX r:PREFERENCE(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX r:CONTEXT(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot > $after
  RETURN u, r
}
WITH DISTINCT u, r.slot AS slot, type(r) AS kind, r.thing AS thing
ORDER BY slot
LIMIT $limit
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, slot: slot, kind: kind, thing: thing}) AS slots;

// name: due_pendings
// mode: read
// scope: system
// params: before DATETIME, after STRING, limit INTEGER
// purpose: sweep: undecided pending memories that are older than their life (they are not shown any more, swept or not).
CALL () {
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX r:FACT(pending_slot)
  WHERE r.pending_slot > '' AND r.said_at <= $before AND r.mid > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX r:PREFERENCE(pending_slot)
  WHERE r.pending_slot > '' AND r.said_at <= $before AND r.mid > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX r:CONTEXT(pending_slot)
  WHERE r.pending_slot > '' AND r.said_at <= $before AND r.mid > $after
  RETURN u, r
}
WITH u, r
ORDER BY r.mid
LIMIT $limit
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, mid: r.mid, slot: r.slot, kind: type(r), thing: r.thing}) AS pendings;

// name: tombstones
// mode: read
// scope: tenant
// params: tenant_id STRING, before DATETIME, after STRING, limit INTEGER
// purpose: purge: forgotten memories that may not be brought back any more and still hold content.
MATCH (m:Memory {tenant_id: $tenant_id})<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WHERE m.mid > $after AND r.tombstoned_at <= $before AND r.purged_at IS NULL
WITH m, u
ORDER BY m.mid
LIMIT $limit
RETURN collect({mid: m.mid, user_id: u.user_id}) AS rows;

// name: purge_memory
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, mid STRING, before DATETIME
// purpose: remove what a forgotten memory held, for good: its value, its clause, its span in every turn; the empty row keeps its place.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
MATCH (m:Memory {tenant_id: $tenant_id, mid: $mid})<-[r:FACT|PREFERENCE|CONTEXT]-(o:User)
WHERE o.tenant_id = $tenant_id AND o.user_id = $user_id AND r.tombstoned_at <= $before AND r.purged_at IS NULL
SET r.purged_at = datetime.realtime()
REMOVE m.value, m.text, m.metadata, r.caption, r.source_ref
WITH m
OPTIONAL MATCH (m)-[f:FROM_SOURCE]->(t:Turn)
WITH m, t, collect(coalesce(f.span, [0, size(t.text)])) AS spans
FOREACH (x IN CASE WHEN t IS NULL THEN [] ELSE [t] END |
  SET x.text = reduce(text = x.text, s IN spans |
        substring(text, 0, s[0]) + reduce(b = '', i IN range(1, s[1] - s[0]) | b + '░') + substring(text, s[1])),
      x.blanks = [b IN coalesce(x.blanks, []) WHERE NOT b STARTS WITH $mid + '|'], x.waiting = null)
RETURN count(DISTINCT m) AS purged;
