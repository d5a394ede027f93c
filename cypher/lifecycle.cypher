// The end of things: what is removed as a whole.

// name: wipe_memories
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: the memories of a throw-away tenant, with their edges, in batches. No list is made first: a hundred thousand nodes do not fit.
MATCH (n:Memory {tenant_id: $tenant_id})
USING INDEX SEEK n:Memory(tenant_id, mid)
WHERE n.mid >= ''
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS nodes;

// name: wipe_tenant
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: remove what is left of a throw-away tenant when its memories are gone: demos and evaluations (erasing a person is another thing).
// each branch names every property of a unique key: with the tenant alone the planner would scan the label
CALL () {
  MATCH (n:User {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Concept {tenant_id: $tenant_id}) WHERE n.ckey IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Session {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.session_id IS NOT NULL RETURN n
  UNION ALL
  // a turn has this label too
  MATCH (n:Source {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.source_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Turn {tenant_id: $tenant_id}) WHERE n.ref IS NOT NULL AND NOT n:Source RETURN n
  UNION ALL
  MATCH (n:Change {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.op IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Receipt {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.receipt_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Key {tenant_id: $tenant_id}) WHERE n.key IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Review {tenant_id: $tenant_id}) WHERE n.case_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Proof {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.case_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Factor {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.factor_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Outbox {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Archived {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.slot IS NOT NULL RETURN n
}
// one batch may meet a node whose edges another one took: DETACH takes what is left
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS nodes;

// name: due_slots
// mode: read
// scope: system
// params: prefix STRING, after STRING, limit INTEGER
// purpose: sweep: pages of slots (by slot) with a plan that is due or a current row that lapsed; answers never depend on it.
CALL () {
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX SEEK r:FACT(planned_slot)
  WHERE r.planned_slot STARTS WITH $prefix AND r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX SEEK r:PREFERENCE(planned_slot)
  WHERE r.planned_slot STARTS WITH $prefix AND r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX SEEK r:CONTEXT(planned_slot)
  WHERE r.planned_slot STARTS WITH $prefix AND r.planned_slot > $after AND r.valid_from <= datetime.realtime()
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX SEEK r:FACT(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot STARTS WITH $prefix AND r.slot > $after AND r.is_end IS NULL AND r.tombstoned_at IS NULL
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX SEEK r:PREFERENCE(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot STARTS WITH $prefix AND r.slot > $after AND r.is_end IS NULL AND r.tombstoned_at IS NULL
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX SEEK r:CONTEXT(expires_at)
  WHERE r.expires_at <= datetime.realtime() AND r.slot STARTS WITH $prefix AND r.slot > $after AND r.is_end IS NULL AND r.tombstoned_at IS NULL
  RETURN u, r
}
// an end and a forgotten row keep current_slot whatever their lifetime: they are not due
WITH u, r.slot AS slot, type(r) AS kind, collect(DISTINCT CASE WHEN r.ckey = '' THEN null ELSE r.thing END) AS things
ORDER BY slot
LIMIT $limit
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, slot: slot, kind: kind, things: things}) AS slots;

// name: due_pendings
// mode: read
// scope: system
// params: prefix STRING, life INTEGER, after STRING, limit INTEGER
// purpose: sweep: undecided pending memories that are older than their life (they are not shown any more, swept or not).
CALL () {
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX SEEK r:FACT(pending_slot)
  WHERE r.pending_slot STARTS WITH $prefix AND r.said_at.epochMillis + $life <= datetime.realtime().epochMillis AND r.slot + r.mid > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX SEEK r:PREFERENCE(pending_slot)
  WHERE r.pending_slot STARTS WITH $prefix AND r.said_at.epochMillis + $life <= datetime.realtime().epochMillis AND r.slot + r.mid > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX SEEK r:CONTEXT(pending_slot)
  WHERE r.pending_slot STARTS WITH $prefix AND r.said_at.epochMillis + $life <= datetime.realtime().epochMillis AND r.slot + r.mid > $after
  RETURN u, r
}
WITH u, r
ORDER BY r.slot, r.mid
LIMIT $limit
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, mid: r.mid, slot: r.slot, kind: type(r),
                things: CASE WHEN r.ckey = '' THEN [] ELSE [r.thing] END}) AS pendings;

// name: tombstones
// mode: read
// scope: system
// params: prefix STRING, life INTEGER, after STRING, limit INTEGER
// purpose: purge: pages (by slot) of slots with forgotten memories that may not be brought back any more and still hold content.
CALL () {
  MATCH (u:User)-[r:FACT]->(:Memory)
  USING INDEX SEEK r:FACT(tombstoned_at)
  WHERE r.tombstoned_at <= datetime.realtime() - duration({milliseconds: $life}) AND r.purged_at IS NULL AND r.slot STARTS WITH $prefix AND r.slot > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:PREFERENCE]->(:Memory)
  USING INDEX SEEK r:PREFERENCE(tombstoned_at)
  WHERE r.tombstoned_at <= datetime.realtime() - duration({milliseconds: $life}) AND r.purged_at IS NULL AND r.slot STARTS WITH $prefix AND r.slot > $after
  RETURN u, r
  UNION ALL
  MATCH (u:User)-[r:CONTEXT]->(:Memory)
  USING INDEX SEEK r:CONTEXT(tombstoned_at)
  WHERE r.tombstoned_at <= datetime.realtime() - duration({milliseconds: $life}) AND r.purged_at IS NULL AND r.slot STARTS WITH $prefix AND r.slot > $after
  RETURN u, r
}
WITH u, r.slot AS slot, type(r) AS kind, collect(DISTINCT CASE WHEN r.ckey = '' THEN null ELSE r.thing END) AS things,
     collect(CASE WHEN r.version IS NULL THEN r.mid END) AS pendings
ORDER BY slot
LIMIT $limit
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, slot: slot, kind: kind, things: things, pendings: pendings}) AS slots;

// name: purge_rows
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, emptied LIST, stripped LIST, dropped LIST, now DATETIME, before DATETIME
// purpose: remove for good what forgotten memories held; the lock is already held. Words in turns, value, clause, metadata, caption; names; whole rows.
CALL () {
  UNWIND $emptied AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[r:FACT|PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: $user_id})
  WHERE r.tombstoned_at <= $before
  SET r.purged_at = $now
  REMOVE m.value, m.text, m.metadata, r.caption, r.source_ref, r.reason
  WITH m
  MATCH (m)-[f:FROM_SOURCE]->(t:Turn {tenant_id: $tenant_id, user_id: $user_id})
  WITH t, collect(coalesce(f.span, [0, size(t.text)])) AS spans
  SET t.waiting = null, t.blanks = [b IN coalesce(t.blanks, []) WHERE NOT split(b, '|')[0] IN $emptied],
      t.text = reduce(text = t.text, s IN spans |
        substring(text, 0, s[0]) + reduce(b = '', i IN range(1, s[1] - s[0]) | b + '░') + substring(text, s[1]))
  WITH t, spans
  // what else was taken from the very words keeps its value, not its clause
  MATCH (t)<-[f:FROM_SOURCE]-(o:Memory)
  WHERE o.text IS NOT NULL AND any(s IN spans WHERE coalesce(f.span[0], 0) < s[1] AND coalesce(f.span[1], size(t.text)) > s[0])
  REMOVE o.text
  RETURN count(*) AS cut
}
CALL () {
  UNWIND $emptied AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid, user_id: $user_id})-[a:ABOUT]->(c:Concept)
  DELETE a
  WITH DISTINCT c
  RETURN collect(c.ckey) AS ckeys
}
CALL () {
  UNWIND $stripped AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid, user_id: $user_id})<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
  SET r.ckey = '', r.thing = r.slot
  RETURN count(*) AS stripped
}
CALL () {
  UNWIND $dropped AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid, user_id: $user_id})<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
  // what lies in the archive goes on from here: the empty row then stays between its versions
  WHERE r.tombstoned_at <= $before AND NOT EXISTS { (:Archived {tenant_id: $tenant_id, user_id: $user_id, slot: r.slot}) }
  OPTIONAL MATCH (m)<-[:SUPERSEDES]-(n:Memory)<-[later:FACT|PREFERENCE|CONTEXT]-(:User)
  SET later.prev_mid = CASE WHEN later.prev_mid = mid THEN null ELSE later.prev_mid END
  WITH DISTINCT m
  OPTIONAL MATCH (m)-[:FROM_SOURCE]->(s:Source)
  WHERE NOT s:Turn
  WITH m, collect(s) AS sources
  DETACH DELETE m
  WITH sources
  UNWIND sources AS s
  WITH DISTINCT s
  WHERE NOT EXISTS { (s)<-[:FROM_SOURCE]-() }
  DELETE s
  RETURN count(*) AS unsourced
}
RETURN ckeys;

// name: drop_lonely
// mode: write
// scope: tenant
// params: tenant_id STRING, ckeys LIST
// purpose: a concept that nothing is about any more goes: its key may be somebody's words.
UNWIND $ckeys AS ckey
MATCH (c:Concept {tenant_id: $tenant_id, ckey: ckey})
SET c.lock = true
WITH c
WHERE NOT EXISTS { (c)--() }
DELETE c
RETURN count(*) AS dropped;
