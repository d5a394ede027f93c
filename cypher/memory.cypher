// The write: two statements in one transaction, the judgement between them (graphmem/conflict.py).

// name: lock_and_read
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, op STRING, since INTEGER?, slots MAP, things MAP, prefixes MAP, pending MAP
// purpose: lock the user, take the time, find the operation again, and read what the judge may look at.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
// a constant write is the lock; anything read before it may be stale, and an increment here deadlocks with the CREATE of an edge
SET u.lock = true
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis >= db THEN u.at.epochMillis + 1 ELSE db END AS now
WITH u, now, CASE WHEN $since IS NULL OR $since >= now THEN now - 1 ELSE $since END AS since
OPTIONAL MATCH (done:Change {tenant_id: $tenant_id, user_id: $user_id, op: $op})
// whoever has no edge has no row in any slot: the first batch of an import asks no index
WITH u, now, since, done, EXISTS { (u)-[:FACT|PREFERENCE|CONTEXT]->() } AS held
// the slots concerned: those named, those that hold something about the things named, the current and planned ones of whole keys (a plan may be due)
CALL (since, held) {
  CALL (since, held) {
    UNWIND $slots.FACT AS slot
    RETURN 'FACT' AS kind, slot
    UNION ALL
    UNWIND $prefixes.FACT AS prefix
    MATCH ()-[r:FACT]->()
    USING INDEX SEEK r:FACT(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN 'FACT' AS kind, r.slot AS slot
    UNION ALL
    UNWIND $prefixes.FACT AS prefix
    MATCH ()-[r:FACT]->()
    USING INDEX SEEK r:FACT(planned_slot)
    WHERE r.planned_slot STARTS WITH prefix
    RETURN 'FACT' AS kind, r.slot AS slot
    UNION ALL
    UNWIND CASE WHEN held THEN $things.FACT ELSE [] END AS thing
    MATCH ()-[r:FACT]->()
    USING INDEX SEEK r:FACT(thing, until)
    WHERE r.thing = thing AND r.until > since
    RETURN 'FACT' AS kind, r.slot AS slot
    UNION ALL
    UNWIND $slots.PREFERENCE AS slot
    RETURN 'PREFERENCE' AS kind, slot
    UNION ALL
    UNWIND $prefixes.PREFERENCE AS prefix
    MATCH ()-[r:PREFERENCE]->()
    USING INDEX SEEK r:PREFERENCE(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN 'PREFERENCE' AS kind, r.slot AS slot
    UNION ALL
    UNWIND $prefixes.PREFERENCE AS prefix
    MATCH ()-[r:PREFERENCE]->()
    USING INDEX SEEK r:PREFERENCE(planned_slot)
    WHERE r.planned_slot STARTS WITH prefix
    RETURN 'PREFERENCE' AS kind, r.slot AS slot
    UNION ALL
    UNWIND CASE WHEN held THEN $things.PREFERENCE ELSE [] END AS thing
    MATCH ()-[r:PREFERENCE]->()
    USING INDEX SEEK r:PREFERENCE(thing, until)
    WHERE r.thing = thing AND r.until > since
    RETURN 'PREFERENCE' AS kind, r.slot AS slot
    UNION ALL
    UNWIND $slots.CONTEXT AS slot
    RETURN 'CONTEXT' AS kind, slot
    UNION ALL
    UNWIND $prefixes.CONTEXT AS prefix
    MATCH ()-[r:CONTEXT]->()
    USING INDEX SEEK r:CONTEXT(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN 'CONTEXT' AS kind, r.slot AS slot
    UNION ALL
    UNWIND $prefixes.CONTEXT AS prefix
    MATCH ()-[r:CONTEXT]->()
    USING INDEX SEEK r:CONTEXT(planned_slot)
    WHERE r.planned_slot STARTS WITH prefix
    RETURN 'CONTEXT' AS kind, r.slot AS slot
  }
  RETURN collect(DISTINCT [kind, slot]) AS slots
}
// only rows that still matter after `since`: the (slot, until) index keeps older history out
CALL (since, slots, held) {
  CALL (since, slots, held) {
    UNWIND [s IN slots WHERE held AND s[0] = 'FACT' | s[1]] AS slot
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(slot, until)
    WHERE r.slot = slot AND r.until > since
    RETURN r, m
    UNION ALL
    UNWIND [s IN slots WHERE held AND s[0] = 'PREFERENCE' | s[1]] AS slot
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(slot, until)
    WHERE r.slot = slot AND r.until > since
    RETURN r, m
    UNION ALL
    UNWIND [s IN slots WHERE held AND s[0] = 'CONTEXT' | s[1]] AS slot
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(slot, until)
    WHERE r.slot = slot AND r.until > since
    RETURN r, m
  }
  WITH type(r) AS kind, r {.*} AS r, m AS node, m {.value, .metadata} AS m
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      expires_at: r.expires_at.epochMillis, observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid,
      evidence: r.evidence, owner_domain: r.owner_domain, zone: r.zone, source_kind: r.source_kind, source_ref: r.source_ref,
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, related: r.related,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
// what opposes those rows from other slots
CALL (since, slots, rows) {
  CALL (since, slots, rows) {
    UNWIND [x IN rows WHERE x.kind = 'FACT' AND x.ckey <> '' | x.thing] AS thing
    WITH DISTINCT thing, since, slots
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(thing, until)
    WHERE r.thing = thing AND r.until > since AND NOT r.slot IN [s IN slots | s[1]]
    RETURN r, m
    UNION ALL
    UNWIND [x IN rows WHERE x.kind = 'PREFERENCE' AND x.ckey <> '' | x.thing] AS thing
    WITH DISTINCT thing, since, slots
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(thing, until)
    WHERE r.thing = thing AND r.until > since AND NOT r.slot IN [s IN slots | s[1]]
    RETURN r, m
  }
  WITH type(r) AS kind, r {.*} AS r, m {.value, .metadata} AS m
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      expires_at: r.expires_at.epochMillis, observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid,
      evidence: r.evidence, owner_domain: r.owner_domain, zone: r.zone, source_kind: r.source_kind, source_ref: r.source_ref,
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, related: r.related}) AS rivals
}
CALL (slots, held) {
  CALL (slots, held) {
    UNWIND [s IN slots WHERE held AND s[0] = 'FACT' | s[1]] AS slot
    CALL (slot) {
      MATCH ()-[r:FACT]->()
      USING INDEX SEEK r:FACT(slot, version)
      WHERE r.slot = slot AND r.version >= 1
      RETURN r.version AS top
      ORDER BY r.slot DESC, r.version DESC
      LIMIT 1
    }
    RETURN slot, top
    UNION ALL
    UNWIND [s IN slots WHERE held AND s[0] = 'PREFERENCE' | s[1]] AS slot
    CALL (slot) {
      MATCH ()-[r:PREFERENCE]->()
      USING INDEX SEEK r:PREFERENCE(slot, version)
      WHERE r.slot = slot AND r.version >= 1
      RETURN r.version AS top
      ORDER BY r.slot DESC, r.version DESC
      LIMIT 1
    }
    RETURN slot, top
    UNION ALL
    UNWIND [s IN slots WHERE held AND s[0] = 'CONTEXT' | s[1]] AS slot
    CALL (slot) {
      MATCH ()-[r:CONTEXT]->()
      USING INDEX SEEK r:CONTEXT(slot, version)
      WHERE r.slot = slot AND r.version >= 1
      RETURN r.version AS top
      ORDER BY r.slot DESC, r.version DESC
      LIMIT 1
    }
    RETURN slot, top
    UNION ALL
    // versions go on where the archived ones end; facts are never archived
    UNWIND [s IN slots WHERE s[0] <> 'FACT' | s[1]] AS slot
    MATCH (a:Archived {tenant_id: $tenant_id, user_id: $user_id, slot: slot})
    RETURN slot, a.top AS top
  }
  RETURN collect([slot, top]) AS tops
}
CALL () {
  CALL () {
    UNWIND $pending.FACT AS prefix
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(pending_slot)
    WHERE r.pending_slot STARTS WITH prefix
    RETURN r, m
    UNION ALL
    UNWIND $pending.PREFERENCE AS prefix
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(pending_slot)
    WHERE r.pending_slot STARTS WITH prefix
    RETURN r, m
    UNION ALL
    UNWIND $pending.CONTEXT AS prefix
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(pending_slot)
    WHERE r.pending_slot STARTS WITH prefix
    RETURN r, m
  }
  WITH type(r) AS kind, r {.*} AS r, m {.value, .metadata} AS m
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      expires_at: r.expires_at.epochMillis, observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid,
      evidence: r.evidence, owner_domain: r.owner_domain, zone: r.zone, source_kind: r.source_kind, source_ref: r.source_ref,
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks}) AS pendings
}
RETURN now, u.rev AS rev, u.erased_at IS NOT NULL AS erased, done {.request_hash, .outcome, .rev} AS done,
       [s IN slots | s[1]] AS slots, rows, rivals, tops, pendings;

// name: apply
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, now DATETIME, patches LIST, ckeys LIST, sources LIST, new LIST, seen LIST, copied LIST, turns LIST, opened LIST, cases LIST, sync LIST, changes LIST, carried LIST, linked LIST
// purpose: everything the verdicts ask for; the lock is already held.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.at = $now, u.rev = coalesce(u.rev, 0) + 1
WITH u
// caches of old rows first: current_slot must be gone before the new edge takes it
CALL (u) {
  UNWIND $patches AS o
  MATCH (m:Memory {tenant_id: $tenant_id, mid: o.mid})<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
  SET r += o.set, r.rowrev = coalesce(r.rowrev, 0) + 1
  RETURN count(*) AS patched
}
// concepts in sorted order before any edge: unsorted ones deadlock between users
CALL () {
  UNWIND $ckeys AS ckey
  MERGE (c:Concept {tenant_id: $tenant_id, ckey: ckey})
  RETURN count(*) AS concepts
}
CALL (u) {
  UNWIND $opened AS session_id
  MERGE (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: session_id})
    ON CREATE SET s.started_at = $now, s.turns = 0
  MERGE (u)-[:OPENED]->(s)
  RETURN count(*) AS sessions
}
CALL () {
  UNWIND $turns AS t
  MATCH (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: t.session_id})
  SET s.turns = s.turns + 1, s.last_at = $now
  CREATE (s)-[:SAID {seq: s.turns}]->(turn:Turn:Source)
  SET turn = t.node, turn.seq = s.turns
  RETURN count(*) AS said
}
CALL () {
  UNWIND $sources AS src
  MERGE (s:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: src.source_id})
    ON CREATE SET s.kind = src.kind, s.at = $now
  RETURN count(*) AS sourced
}
CALL (u) {
  UNWIND $new AS row
  WITH u, row.source_id AS source_id, collect(row) AS said
  MATCH (s:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: source_id})
  UNWIND said AS row
  CREATE (u)-[r:$(row.kind)]->(m:Memory)-[f:FROM_SOURCE]->(s)
  SET m = row.node, r = row.edge, f = row.first
  WITH m, row
  CALL (m, row) {
    UNWIND row.about AS ckey
    MATCH (c:Concept {tenant_id: $tenant_id, ckey: ckey})
    CREATE (m)-[:ABOUT]->(c)
  }
  CALL (m, row) {
    UNWIND row.supersedes AS mid
    MATCH (p:Memory {tenant_id: $tenant_id, mid: mid})
    CREATE (m)-[:SUPERSEDES {at: $now}]->(p)
  }
  RETURN count(*) AS created
}
CALL () {
  UNWIND $seen AS o
  MATCH (m:Memory {tenant_id: $tenant_id, mid: o.mid})
  MATCH (s:Source {tenant_id: $tenant_id, user_id: $user_id, source_id: o.source_id})
  CREATE (m)-[f:FROM_SOURCE]->(s)
  SET f = o.link
  RETURN count(*) AS seen
}
// a row that comes back after a late arrival takes its later observations along
CALL () {
  UNWIND $copied AS o
  MATCH (p:Memory {tenant_id: $tenant_id, mid: o.from_mid})-[f:FROM_SOURCE]->(s:Source)
  WHERE f.first IS NULL AND f.at.epochMillis >= o.since AND f.at.epochMillis <= o.until
  MATCH (m:Memory {tenant_id: $tenant_id, mid: o.mid})
  CREATE (m)-[g:FROM_SOURCE]->(s)
  SET g = properties(f)
  RETURN count(*) AS copied
}
// review cases open with their pending rows and close with them; one that is closed stays as it was decided
CALL () {
  UNWIND $cases AS c
  MERGE (v:Review {tenant_id: $tenant_id, case_id: c.case_id})
    ON CREATE SET v = c.node
  SET v += CASE WHEN v.state = 'open' THEN c.set ELSE {} END
  WITH v, c
  MATCH (m:Memory {tenant_id: $tenant_id, mid: c.mid})
  MERGE (v)-[:CONCERNS]->(m)
  RETURN count(*) AS reviewed
}
// relations go with the version: conditions and medications are carried over, contradictions end, origins stay; a relation between two
// memories that both change goes over once, from new to new; only edges that are marked as related come here
CALL () {
  UNWIND $carried AS c
  MATCH (:Memory {tenant_id: $tenant_id, mid: c.old})-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS]-(:Memory)
  WITH c, x, CASE WHEN x.ended_by IS NULL THEN false
                  ELSE EXISTS { (:Memory {tenant_id: $tenant_id, mid: x.ended_by})<-[v:FACT|PREFERENCE|CONTEXT]-(:User) WHERE v.retracted_at IS NOT NULL } END AS void
  WHERE x.valid_to IS NULL OR x.valid_to > c.at OR void
  WITH x, void, max(c.at) AS at, collect(c) AS pairs
  WITH x, void, at, properties(x) AS held, startNode(x).mid AS a, endNode(x).mid AS b, type(x) AS type, pairs
  WITH x, void, at, held, type, all(c IN pairs WHERE c.keep) AND type <> 'CONTRADICTS' AS keep, head(pairs).new AS ender,
       coalesce(head([c IN pairs WHERE c.old = a | c.new]), a) AS a, coalesce(head([c IN pairs WHERE c.old = b | c.new]), b) AS b
  SET x.valid_to = CASE WHEN x.valid_from > at THEN x.valid_from ELSE at END, x.closed_at = $now, x.ended_by = ender
  WITH *
  WHERE keep
  MATCH (m:Memory {tenant_id: $tenant_id, mid: a})
  MATCH (o:Memory {tenant_id: $tenant_id, mid: b})
  CREATE (m)-[y:$(type)]->(o)
  SET y = held, y.rid = a + '.' + substring(randomUUID(), 24), y.recorded_at = $now, y.carried_from = held.rid,
      y.valid_from = CASE WHEN held.valid_from > at THEN held.valid_from ELSE at END,
      y.valid_to = CASE WHEN void THEN null ELSE held.valid_to END, y.closed_at = CASE WHEN void THEN null ELSE held.closed_at END,
      y.ended_by = null
  RETURN count(*) AS moved
}
CALL () {
  UNWIND $linked AS l
  MATCH (:User)-[q:FACT]->(o:Memory)
  USING INDEX SEEK q:FACT(ckey, current_slot)
  WHERE q.ckey = l.ckey AND q.current_slot STARTS WITH l.prefix AND q.is_end IS NULL AND q.polarity = '+' AND q.tombstoned_at IS NULL
  MATCH (m:Memory {tenant_id: $tenant_id, mid: l.mid})
  WITH l, q, CASE WHEN l.outward THEN m ELSE o END AS a, CASE WHEN l.outward THEN o ELSE m END AS b
  WHERE NOT EXISTS { (a)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(b) WHERE type(x) = l.type AND x.valid_to IS NULL }
  CREATE (a)-[y:$(l.type)]->(b)
  SET y = {rid: a.mid + '.' + substring(randomUUID(), 24), weight: l.weight, recorded_at: $now, valid_from: CASE WHEN q.valid_from > l.at THEN q.valid_from ELSE l.at END},
      q.related = true
  RETURN count(*) AS linked
}
FOREACH (c IN $changes |
  CREATE (d:Change)
  SET d = c, d.rev = u.rev)
FOREACH (o IN $sync |
  CREATE (x:Outbox)
  SET x = o)
RETURN u.rev AS rev, patched, created, seen;
