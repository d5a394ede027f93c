// Outbox records are level-triggered: "make the index equal to the graph for this ref". pending_at is the lease: a claim moves it forward.

// name: outbox_claim
// mode: write
// scope: system
// params: worker STRING, batch INTEGER, lease_seconds INTEGER
// purpose: lease a batch of due records; the fence number lets a stalled worker be refused later.
MATCH (o:Outbox)
WHERE o.pending_at <= datetime.realtime()
WITH o
ORDER BY o.pending_at
LIMIT $batch
SET o.leased_by = $worker
// only after the lock is the time to be trusted: another worker may have leased it meanwhile
WITH o, datetime.realtime() AS now
WHERE o.pending_at <= now
WITH o, now, coalesce(o.fence, 0) + 1 AS fence, coalesce(o.tries, 0) + 1 AS tries
SET o.pending_at = now + duration({seconds: $lease_seconds}), o.fence = fence, o.tries = tries
RETURN collect({oid: o.oid, ref: o.ref, kind: o.kind, tenant_id: o.tenant_id, user_id: o.user_id, fence: fence, tries: tries}) AS records;

// name: outbox_state
// mode: read
// scope: system
// params: items LIST
// purpose: what the graph says now about the refs of claimed records.
UNWIND $items AS i
OPTIONAL MATCH (m:Memory {tenant_id: i.tenant_id, mid: i.ref})<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
OPTIONAL MATCH (t:Turn {tenant_id: i.tenant_id, ref: i.ref})
RETURN collect({oid: i.oid, memory: CASE WHEN r IS NULL THEN null ELSE {kind: type(r), key: r.key, subject: r.subject, value: m.value, text: m.text,
         version: r.version, rowrev: coalesce(r.rowrev, 0), polarity: r.polarity,
         live: (r.current_slot IS NOT NULL OR r.planned_slot IS NOT NULL) AND r.is_end IS NULL AND r.tombstoned_at IS NULL} END,
       turn: CASE WHEN t IS NULL THEN null ELSE {text: t.text, blanks: t.blanks, speaker: t.speaker, role: t.role, session_id: t.session_id} END}) AS states;

// name: outbox_done
// mode: write
// scope: system
// params: items LIST
// purpose: after the index write: drop the record only if the fence holds and the ref still looks as it was projected; else it is due again.
UNWIND $items AS i
MATCH (o:Outbox {oid: i.oid})
SET o.lock = true
WITH o, i
WHERE o.fence = i.fence
OPTIONAL MATCH (m:Memory {tenant_id: o.tenant_id, mid: o.ref})<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
OPTIONAL MATCH (t:Turn {tenant_id: o.tenant_id, ref: o.ref})
WITH o, i, coalesce(r.rowrev, 0) AS rowrev, size(coalesce(t.blanks, [])) AS blanks,
     r IS NOT NULL AND (r.current_slot IS NOT NULL OR r.planned_slot IS NOT NULL) AND r.is_end IS NULL AND r.tombstoned_at IS NULL AS live
WITH o, (o.kind = 'turn' AND blanks = i.blanks) OR (o.kind <> 'turn' AND live = i.live AND rowrev = i.rowrev) AS same
FOREACH (x IN CASE WHEN same THEN [o] ELSE [] END | DELETE x)
FOREACH (x IN CASE WHEN same THEN [] ELSE [o] END | SET x.pending_at = datetime.realtime())
RETURN count(CASE WHEN same THEN 1 END) AS done;

// name: outbox_retry
// mode: write
// scope: system
// params: oid STRING, fence INTEGER, delay_seconds INTEGER, max_tries INTEGER, error STRING
// purpose: back off after an error; past max_tries the record is parked (no pending_at), never dropped.
MATCH (o:Outbox {oid: $oid})
SET o.lock = true
WITH o, datetime.realtime() AS now
WHERE o.fence = $fence
SET o.error = $error,
    o.parked_at = CASE WHEN o.tries >= $max_tries THEN now END,
    o.pending_at = CASE WHEN o.tries >= $max_tries THEN null ELSE now + duration({seconds: $delay_seconds}) END
RETURN o.tries AS tries;

// name: outbox_lag
// mode: read
// scope: system
// params: none
// purpose: how much is not projected yet, since when, and what is parked.
OPTIONAL MATCH (o:Outbox)
RETURN count(o.pending_at) AS pending, min(o.pending_at).epochMillis AS oldest, count(o.parked_at) AS parked;

// name: outbox_refill
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: reindex: one record for everything of a tenant that must stand in the index.
MATCH (u:User {tenant_id: $tenant_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
USING INDEX SEEK u:User(tenant_id, user_id)
// a bound on the second property, or all tenants are scanned
WHERE u.user_id >= '' AND (r.current_slot IS NOT NULL OR r.planned_slot IS NOT NULL)
CALL (u, m) {
  CREATE (:Outbox {oid: randomUUID(), ref: m.mid, kind: 'memory', tenant_id: $tenant_id, user_id: u.user_id, pending_at: datetime.realtime()})
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS records;

// name: outbox_refill_turns
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: reindex: the same for turns.
MATCH (t:Turn {tenant_id: $tenant_id})
USING INDEX SEEK t:Turn(tenant_id, ref)
WHERE t.ref >= ''
CALL (t) {
  CREATE (:Outbox {oid: randomUUID(), ref: t.ref, kind: 'turn', tenant_id: $tenant_id, user_id: t.user_id, pending_at: datetime.realtime()})
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS records;

// name: outbox_clear
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: reindex starts from nothing: old records of the tenant go first.
MATCH (o:Outbox {tenant_id: $tenant_id})
USING INDEX SEEK o:Outbox(tenant_id, user_id)
WHERE o.user_id >= ''
CALL (o) {
  DELETE o
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS records;

// name: tenants
// mode: read
// scope: system
// params: none
// purpose: the tenants that have users (check, reindex).
MATCH (u:User)
RETURN collect(DISTINCT u.tenant_id) AS tenants;

// name: projected_memories
// mode: read
// scope: tenant
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: check: pages of what must stand in the index, by mid.
MATCH (m:Memory {tenant_id: $tenant_id})<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WHERE m.mid > $after AND (r.current_slot IS NOT NULL OR r.planned_slot IS NOT NULL) AND r.is_end IS NULL AND r.tombstoned_at IS NULL
WITH m, r, u
// both properties named: else everything behind the cursor is read and sorted for each page
ORDER BY m.tenant_id, m.mid
LIMIT $limit
RETURN collect({mid: m.mid, user_id: u.user_id, kind: type(r), key: r.key, version: r.version}) AS rows;

// name: projected_turns
// mode: read
// scope: tenant
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: check: pages of turns, by ref.
MATCH (t:Turn {tenant_id: $tenant_id})
WHERE t.ref > $after
WITH t
ORDER BY t.tenant_id, t.ref
LIMIT $limit
RETURN collect({ref: t.ref, user_id: t.user_id}) AS rows;
