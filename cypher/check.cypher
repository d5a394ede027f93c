// What Community's constraints cannot hold, held by a look: each query returns what is broken, nothing when all is well.

// name: users_page
// mode: read
// scope: tenant
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: pages of users, by id, with how many memories each has (degrees, not a walk).
MATCH (u:User {tenant_id: $tenant_id})
WHERE u.user_id > $after
WITH u
ORDER BY u.tenant_id, u.user_id
LIMIT $limit
RETURN collect({user_id: u.user_id, memories: COUNT { (u)-[:FACT]->() } + COUNT { (u)-[:PREFERENCE]->() } + COUNT { (u)-[:CONTEXT]->() }}) AS users;

// name: rows_of_users
// mode: read
// scope: tenant
// params: tenant_id STRING, users LIST
// purpose: every row of some users, pending ones included, without what only answers need: check proves them a batch at a time.
UNWIND $users AS user_id
MATCH (u:User {tenant_id: $tenant_id, user_id: user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
CALL (u) {
  MATCH (u)-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
  // an edge that lacks what every edge has is named by broken_shapes and is no row
  WHERE r.mid IS NOT NULL AND r.slot IS NOT NULL AND r.key IS NOT NULL AND r.said_at IS NOT NULL AND r.recorded_at IS NOT NULL AND r.thing IS NOT NULL
    AND (r.valid_from IS NOT NULL OR (r.version IS NULL AND r.pending_from IS NOT NULL))
  WITH type(r) AS kind, r {.*} AS r, m AS node
  RETURN collect({kind: kind, mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject,
      value: CASE WHEN r.classed THEN node.value END, polarity: r.polarity, version: r.version, said_at: r.said_at.epochMillis,
      valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis, ends_at: r.ends_at.epochMillis, is_end: r.is_end,
      inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis, until: r.until, valid_to: r.valid_to.epochMillis,
      current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status, expires_at: r.expires_at.epochMillis,
      observed_at: r.observed_at.epochMillis, prev_mid: r.prev_mid, next_mid: r.next_mid, pending_from: r.pending_from.epochMillis,
      pending_to: r.pending_to.epochMillis, decided_at: r.decided_at.epochMillis, outcome: r.outcome, reason: r.reason,
      stated_from: r.stated_from.epochMillis, blocks: r.blocks,
      obs: CASE WHEN r.evidence > 1 THEN [(node)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]] ELSE [] END}) AS rows
}
RETURN u.user_id AS user_id, now, u.rev AS rev, rows;

// name: broken_shapes
// mode: read
// scope: tenant
// params: tenant_id STRING, limit INTEGER
// purpose: memories without an edge, with two, of another user than their edge, or edges that lack what every edge has.
MATCH (m:Memory {tenant_id: $tenant_id})
USING INDEX SEEK m:Memory(tenant_id, mid)
// without a bound on the second property the planner scans the memories of all tenants
WHERE m.mid >= ''
// one memory at a time: a collect over all of them would hold the tenant in memory
CALL (m) {
  OPTIONAL MATCH (m)<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
  RETURN collect(r) AS edges, collect(u) AS users
}
WITH m, edges, users,
     CASE
       WHEN size(edges) = 0 THEN 'memory_without_edge'
       WHEN size(edges) > 1 THEN 'memory_with_two_edges'
       WHEN users[0].tenant_id <> m.tenant_id OR users[0].user_id <> m.user_id THEN 'memory_of_another_user'
       WHEN edges[0].mid <> m.mid THEN 'mid_differs'
       WHEN edges[0].slot IS NULL OR edges[0].key IS NULL OR edges[0].said_at IS NULL OR edges[0].recorded_at IS NULL
            OR edges[0].polarity IS NULL OR edges[0].until IS NULL OR edges[0].thing IS NULL OR edges[0].subject IS NULL
            OR edges[0].confidence IS NULL OR edges[0].owner IS NULL THEN 'edge_lacks_property'
       WHEN NOT edges[0].slot STARTS WITH edges[0].owner THEN 'wrong_owner'
       WHEN edges[0].current_slot <> edges[0].slot OR edges[0].planned_slot <> edges[0].slot OR edges[0].pending_slot <> edges[0].slot THEN 'handle_of_another_slot'
       WHEN edges[0].version IS NULL AND edges[0].decided_at IS NULL AND edges[0].pending_slot IS NULL THEN 'pending_without_handle'
       WHEN edges[0].version IS NOT NULL AND edges[0].valid_from IS NULL THEN 'edge_lacks_property'
       WHEN edges[0].version IS NULL AND edges[0].pending_from IS NULL THEN 'edge_lacks_property'
       WHEN NOT EXISTS { (m)-[:FROM_SOURCE]->(:Source) } THEN 'memory_without_source'
       WHEN edges[0].ckey <> '' AND NOT EXISTS { (m)-[:ABOUT]->(:Concept) } THEN 'memory_without_concept'
     END AS fault
WHERE fault IS NOT NULL
RETURN m.mid AS ref, fault
LIMIT $limit;

// name: broken_links
// mode: read
// scope: tenant
// params: tenant_id STRING, limit INTEGER
// purpose: relations that leave their user, open review cases whose memory waits no more, and outbox records that were given up.
CALL () {
  MATCH (m:Memory {tenant_id: $tenant_id})
  USING INDEX SEEK m:Memory(tenant_id, mid)
  WHERE m.mid >= ''
  MATCH (m)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM|SUPERSEDES]->(o)
  WHERE o.user_id <> m.user_id OR o.tenant_id <> m.tenant_id
  RETURN m.mid AS ref, 'relation_between_two_users' AS fault
  UNION ALL
  MATCH (v:Review {tenant_id: $tenant_id})
  USING INDEX SEEK v:Review(tenant_id, case_id)
  WHERE v.case_id >= '' AND v.state = 'open' AND NOT EXISTS {
    (:Memory {tenant_id: $tenant_id, mid: v.pending_mid})<-[r:FACT|PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: v.user_id})
    WHERE r.pending_slot IS NOT NULL
  }
  RETURN v.case_id AS ref, 'review_without_pending' AS fault
  UNION ALL
  MATCH (o:Outbox {tenant_id: $tenant_id})
  USING INDEX SEEK o:Outbox(tenant_id, user_id)
  WHERE o.user_id >= '' AND o.parked_at IS NOT NULL
  RETURN o.ref AS ref, 'outbox_parked' AS fault
}
RETURN ref, fault
LIMIT $limit;
