// Reads of what holds. Hot reads return one record with epoch milliseconds: rows of zoned datetimes cost four times as much in the driver.

// name: latest
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, prefix MAP, planned MAP
// purpose: what is told now of a user, a key or a subject: current rows, plans that are due, open pending ones (three index ranges a kind).
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL (now) {
  CALL (now) {
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(current_slot)
    WHERE r.current_slot STARTS WITH $prefix.FACT
    RETURN r, m
    UNION ALL
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.FACT AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(pending_slot)
    WHERE r.pending_slot STARTS WITH $prefix.FACT
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(current_slot)
    WHERE r.current_slot STARTS WITH $prefix.PREFERENCE
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.PREFERENCE AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(pending_slot)
    WHERE r.pending_slot STARTS WITH $prefix.PREFERENCE
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(current_slot)
    WHERE r.current_slot STARTS WITH $prefix.CONTEXT
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.CONTEXT AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(pending_slot)
    WHERE r.pending_slot STARTS WITH $prefix.CONTEXT
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
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks}) AS rows
}
RETURN now, u.rev AS rev, rows;

// name: latest_preferences
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, prefix MAP, planned MAP
// purpose: the same for preferences alone.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL (now) {
  CALL (now) {
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(current_slot)
    WHERE r.current_slot STARTS WITH $prefix.PREFERENCE
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.PREFERENCE AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(pending_slot)
    WHERE r.pending_slot STARTS WITH $prefix.PREFERENCE
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
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks}) AS rows
}
RETURN now, u.rev AS rev, rows;

// name: hydrate
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mids MAP, prefixes MAP, planned MAP, fresh INTEGER
// purpose: join candidate ids back: the user's own memories only; plus current rows of the slots asked for, due plans, open pending ones, and writes not projected yet.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL (u, now) {
  CALL (u, now) {
    UNWIND $prefixes.FACT AS prefix
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN r, m
    UNION ALL
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.FACT AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(pending_slot)
    WHERE r.pending_slot STARTS WITH $planned.FACT
    RETURN r, m
    UNION ALL
    UNWIND $prefixes.PREFERENCE AS prefix
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.PREFERENCE AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(pending_slot)
    WHERE r.pending_slot STARTS WITH $planned.PREFERENCE
    RETURN r, m
    UNION ALL
    UNWIND $prefixes.CONTEXT AS prefix
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(current_slot)
    WHERE r.current_slot STARTS WITH prefix
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(planned_slot)
    WHERE r.planned_slot STARTS WITH $planned.CONTEXT AND r.valid_from.epochMillis <= now
    RETURN r, m
    UNION ALL
    MATCH ()-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(pending_slot)
    WHERE r.pending_slot STARTS WITH $planned.CONTEXT
    RETURN r, m
    UNION ALL
    UNWIND $mids.FACT AS mid
    MATCH (o)-[r:FACT]->(m)
    USING INDEX SEEK r:FACT(mid)
    WHERE r.mid = mid AND o = u
    RETURN r, m
    UNION ALL
    UNWIND $mids.PREFERENCE AS mid
    MATCH (o)-[r:PREFERENCE]->(m)
    USING INDEX SEEK r:PREFERENCE(mid)
    WHERE r.mid = mid AND o = u
    RETURN r, m
    UNION ALL
    UNWIND $mids.CONTEXT AS mid
    MATCH (o)-[r:CONTEXT]->(m)
    USING INDEX SEEK r:CONTEXT(mid)
    WHERE r.mid = mid AND o = u
    RETURN r, m
    UNION ALL
    MATCH (o:Outbox {tenant_id: $tenant_id, user_id: $user_id})
    WITH o
    ORDER BY o.pending_at DESC
    LIMIT $fresh
    MATCH (m:Memory {tenant_id: $tenant_id, mid: o.ref})<-[r:FACT|PREFERENCE|CONTEXT]-(x)
    USING INDEX SEEK m:Memory(tenant_id, mid)
    WHERE x = u AND r.current_slot IS NOT NULL
    RETURN r, m
  }
  WITH DISTINCT r, m
  WITH type(r) AS kind, r {.*} AS r, m {.value, .metadata} AS m
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      expires_at: r.expires_at.epochMillis, observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid,
      evidence: r.evidence, owner_domain: r.owner_domain, zone: r.zone, source_kind: r.source_kind, source_ref: r.source_ref,
      verified_by: r.verified_by, rowrev: r.rowrev, metadata: m.metadata, pending_from: r.pending_from.epochMillis, pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis,
      outcome: r.outcome, reason: r.reason, stated_from: r.stated_from.epochMillis, blocks: r.blocks}) AS rows
}
RETURN now, u.rev AS rev, rows;
