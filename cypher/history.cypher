// Reads of what was: they walk the user's edges and cost what the history holds.

// name: rows_of_user
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, known_at INTEGER
// purpose: every row of a user recorded by a moment, pending ones included, with its observations: past answers are computed from these.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL (u) {
  MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
  // what was written past the service has no owner yet (`graphmem adopt`)
  WHERE coalesce(r.owner, '') <> '' AND r.recorded_at.epochMillis <= $known_at
  WITH type(r) AS kind, r {.*} AS r, m AS node, m {.value, .metadata} AS m
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      expires_at: r.expires_at.epochMillis, observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid,
      evidence: r.evidence, owner_domain: r.owner_domain, zone: r.zone, source_kind: r.source_kind, source_ref: r.source_ref,
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
RETURN now, u.rev AS rev, rows;

// name: rows_of_user_since
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, owner STRING, since INTEGER, known_at INTEGER
// purpose: the rows of a user that still mattered after a moment, with all pending ones: what is told then, as known now, without older history.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL () {
  CALL () {
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(owner, until)
    WHERE r.owner = $owner AND r.until > $since AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    // pending ones lie below every bound
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(owner, until)
    WHERE r.owner = $owner AND r.until = -9000000000000000 AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(owner, until)
    WHERE r.owner = $owner AND r.until > $since AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(owner, until)
    WHERE r.owner = $owner AND r.until = -9000000000000000 AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(owner, until)
    WHERE r.owner = $owner AND r.until > $since AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(owner, until)
    WHERE r.owner = $owner AND r.until = -9000000000000000 AND r.recorded_at.epochMillis <= $known_at
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
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
RETURN now, u.rev AS rev, rows;

// name: rows_of_key
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, prefix MAP, since INTEGER, known_at INTEGER
// purpose: the rows of one key that still mattered after a moment, pending ones included, and what opposes them from other keys.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL () {
  CALL () {
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(slot, until)
    WHERE r.slot STARTS WITH $prefix.FACT AND r.until IS NOT NULL AND (r.until > $since OR r.version IS NULL) AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(slot, until)
    WHERE r.slot STARTS WITH $prefix.PREFERENCE AND r.until IS NOT NULL AND (r.until > $since OR r.version IS NULL) AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(slot, until)
    WHERE r.slot STARTS WITH $prefix.CONTEXT AND r.until IS NOT NULL AND (r.until > $since OR r.version IS NULL) AND r.recorded_at.epochMillis <= $known_at
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
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
CALL (rows) {
  CALL (rows) {
    UNWIND [x IN rows WHERE x.ckey <> '' AND x.version IS NOT NULL | x.thing] AS thing
    WITH DISTINCT thing
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(thing, until)
    WHERE r.thing = thing AND r.until > $since AND r.version IS NOT NULL AND NOT r.slot STARTS WITH $prefix.FACT AND r.recorded_at.epochMillis <= $known_at
    RETURN r, m
    UNION ALL
    UNWIND [x IN rows WHERE x.ckey <> '' AND x.version IS NOT NULL | x.thing] AS thing
    WITH DISTINCT thing
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(thing, until)
    WHERE r.thing = thing AND r.until > $since AND r.version IS NOT NULL AND NOT r.slot STARTS WITH $prefix.PREFERENCE AND r.recorded_at.epochMillis <= $known_at
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
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rivals
}
RETURN now, u.rev AS rev, rows, rivals;

// name: rows_of_slot
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mid STRING
// purpose: one memory with all rows of its slot and everything about its things: history, status and end of one memory at any (t, k).
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
OPTIONAL MATCH (:Memory {tenant_id: $tenant_id, mid: $mid})<-[one:FACT|PREFERENCE|CONTEXT]-(o:User)
WHERE o.tenant_id = $tenant_id AND o.user_id = $user_id
WITH u, now, one.slot AS slot
CALL (slot) {
  CALL (slot) {
    MATCH (:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(slot, until)
    WHERE r.slot = slot AND r.until >= -9000000000000000
    RETURN r, m
    UNION ALL
    MATCH (:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(slot, until)
    WHERE r.slot = slot AND r.until >= -9000000000000000
    RETURN r, m
    UNION ALL
    MATCH (:User)-[r:CONTEXT]->(m:Memory)
    USING INDEX SEEK r:CONTEXT(slot, until)
    WHERE r.slot = slot AND r.until >= -9000000000000000
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
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
CALL (slot, rows) {
  CALL (slot, rows) {
    UNWIND [x IN rows WHERE x.ckey <> '' | x.thing] AS thing
    WITH DISTINCT thing, slot
    MATCH (:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(thing, until)
    WHERE r.thing = thing AND r.until >= -8000000000000000 AND r.slot <> slot
    RETURN r, m
    UNION ALL
    UNWIND [x IN rows WHERE x.ckey <> '' | x.thing] AS thing
    WITH DISTINCT thing, slot
    MATCH (:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(thing, until)
    WHERE r.thing = thing AND r.until >= -8000000000000000 AND r.slot <> slot
    RETURN r, m
    UNION ALL
    // what the memory was changed into, where that is another concept
    MATCH (:Memory {tenant_id: $tenant_id, mid: $mid})<-[:SUPERSEDES]-(m:Memory)<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
    WHERE r.slot <> slot
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
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata,
      obs: [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rivals
}
RETURN now, u.rev AS rev, slot, rows, rivals;

// name: explain_memories
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST, times LIST
// purpose: the evidence of some memories (turn, span, what of it is blanked) and the records of the writes at some moments: a user has one write a moment.
CALL () {
  UNWIND $mids AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})-[f:FROM_SOURCE]->(s:Source {tenant_id: $tenant_id, user_id: $user_id})
  USING INDEX SEEK m:Memory(tenant_id, mid)
  WHERE m.user_id = $user_id
  RETURN collect({mid: m.mid, first: f.first, at: f.at.epochMillis, recorded_at: f.recorded_at.epochMillis, since: f.since.epochMillis, span: f.span,
      source_id: s.source_id, kind: s.kind, session_id: s.session_id, turn_id: s.turn_id, role: s.role, text: s.text, blanks: s.blanks}) AS evidence
}
CALL () {
  UNWIND $times AS at
  MATCH (c:Change)
  USING INDEX SEEK c:Change(tenant_id, at)
  WHERE c.tenant_id = $tenant_id AND c.at = at AND c.user_id = $user_id
  RETURN collect({op: c.op, route: c.route, actor: c.actor, at: c.at.epochMillis, outcome: c.outcome, mids: c.mids, verdicts: c.verdicts}) AS changes
}
RETURN evidence, changes;
