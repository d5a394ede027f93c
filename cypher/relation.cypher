// Relations between memories of one user, and who in a tenant holds what. What a supersession does to relations stands in `apply`.

// name: relation_lock
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, op STRING, from_mid STRING, to_mid STRING?, type STRING?, rid STRING?
// purpose: lock the user, find the operation again, both ends by key, and the relation that stands between them or is named.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
// a constant write is the lock; everything is matched by key after it
SET u.lock = true
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis >= db THEN u.at.epochMillis + 1 ELSE db END AS now
OPTIONAL MATCH (done:Change {tenant_id: $tenant_id, user_id: $user_id, op: $op})
// from the memory's key, never from the user: a user may have ten thousand edges
OPTIONAL MATCH (a:Memory {tenant_id: $tenant_id, mid: $from_mid})<-[s:FACT|PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX SEEK a:Memory(tenant_id, mid)
OPTIONAL MATCH (b:Memory {tenant_id: $tenant_id, mid: $to_mid})<-[e:FACT|PREFERENCE|CONTEXT]-(:User {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX SEEK b:Memory(tenant_id, mid)
CALL (a, now) {
  OPTIONAL MATCH (a)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(o:Memory)
  WHERE (x.valid_to IS NULL OR x.valid_to.epochMillis > now) AND (x.rid = $rid OR (o.mid = $to_mid AND type(x) = $type))
  RETURN collect(x {.rid, .weight, type: type(x), to_mid: o.mid, valid_from: x.valid_from.epochMillis, valid_to: x.valid_to.epochMillis}) AS open
}
RETURN now, u.rev AS rev, u.erased_at IS NOT NULL AS erased, done {.request_hash, .outcome, .rev} AS done,
       s {.mid, .version, .is_end, valid_from: s.valid_from.epochMillis, gone: s.tombstoned_at IS NOT NULL OR s.retracted_at IS NOT NULL} AS start,
       e {.mid, .version, .is_end, valid_from: e.valid_from.epochMillis, gone: e.tombstoned_at IS NOT NULL OR e.retracted_at IS NOT NULL} AS target,
       [x IN open WHERE x.rid IS NOT NULL] AS open;

// name: relation_apply
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, op STRING, request_hash STRING, route STRING, actor STRING, outcome STRING, now DATETIME, closed LIST, new LIST, mids LIST, verdicts LIST
// purpose: end one relation, begin one, and record who did it; the lock is already held, types come from an enum.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.at = $now, u.rev = coalesce(u.rev, 0) + 1
WITH u
CALL () {
  UNWIND $closed AS c
  MATCH (:Memory {tenant_id: $tenant_id, user_id: $user_id, mid: c.from_mid})-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(:Memory)
  WHERE x.rid = c.rid
  SET x.valid_to = c.valid_to, x.closed_at = $now, x.ended_by = null
  RETURN count(*) AS ended
}
CALL () {
  UNWIND $new AS n
  MATCH (a:Memory {tenant_id: $tenant_id, user_id: $user_id, mid: n.from_mid})<-[p:FACT|PREFERENCE|CONTEXT]-(:User)
  MATCH (b:Memory {tenant_id: $tenant_id, user_id: $user_id, mid: n.to_mid})<-[q:FACT|PREFERENCE|CONTEXT]-(:User)
  CREATE (a)-[x:$(n.type)]->(b)
  // the mark lets a supersession of a memory without relations cost nothing
  SET x = n.edge, p.related = true, q.related = true
  RETURN count(*) AS begun
}
CREATE (:Change {tenant_id: $tenant_id, user_id: $user_id, op: $op, request_hash: $request_hash, route: $route, actor: $actor, at: $now,
                 outcome: $outcome, mids: $mids, verdicts: $verdicts, rev: u.rev})
RETURN u.rev AS rev, ended, begun;

// name: related
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mid STRING, types LIST, depth INTEGER, as_of INTEGER?, known_at INTEGER?, most INTEGER
// purpose: paths of up to three hops that held at (as_of, known_at), shortest first; every node on them is guarded, whether it is told is the caller's.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
WITH u, datetime.realtime().epochMillis AS db
WITH u, CASE WHEN u.at.epochMillis > db THEN u.at.epochMillis ELSE db END AS now
OPTIONAL MATCH (a:Memory {tenant_id: $tenant_id, mid: $mid})
WHERE a.user_id = $user_id
WITH u, now, a, coalesce($as_of, now) AS t, coalesce($known_at, now) AS k
// a quantifier is a literal: one branch a depth, two of them without a row
CALL (a, t, k) {
  CALL (a, t, k) {
    UNWIND CASE WHEN $depth = 1 AND a IS NOT NULL THEN [a] ELSE [] END AS one
    MATCH p = (one) ((:Memory)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(y:Memory {tenant_id: $tenant_id, user_id: $user_id})
      WHERE type(x) IN $types AND x.recorded_at.epochMillis <= k AND x.valid_from.epochMillis <= t
        AND (x.valid_to IS NULL OR x.valid_to.epochMillis > t OR x.closed_at.epochMillis > k
          OR EXISTS { (:Memory {tenant_id: $tenant_id, mid: x.ended_by})<-[v:FACT|PREFERENCE|CONTEXT]-(:User) WHERE v.retracted_at.epochMillis <= k })){1,1} (:Memory)
    RETURN p
    UNION ALL
    UNWIND CASE WHEN $depth = 2 AND a IS NOT NULL THEN [a] ELSE [] END AS one
    MATCH p = (one) ((:Memory)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(y:Memory {tenant_id: $tenant_id, user_id: $user_id})
      WHERE type(x) IN $types AND x.recorded_at.epochMillis <= k AND x.valid_from.epochMillis <= t
        AND (x.valid_to IS NULL OR x.valid_to.epochMillis > t OR x.closed_at.epochMillis > k
          OR EXISTS { (:Memory {tenant_id: $tenant_id, mid: x.ended_by})<-[v:FACT|PREFERENCE|CONTEXT]-(:User) WHERE v.retracted_at.epochMillis <= k })){1,2} (:Memory)
    RETURN p
    UNION ALL
    UNWIND CASE WHEN $depth = 3 AND a IS NOT NULL THEN [a] ELSE [] END AS one
    MATCH p = (one) ((:Memory)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(y:Memory {tenant_id: $tenant_id, user_id: $user_id})
      WHERE type(x) IN $types AND x.recorded_at.epochMillis <= k AND x.valid_from.epochMillis <= t
        AND (x.valid_to IS NULL OR x.valid_to.epochMillis > t OR x.closed_at.epochMillis > k
          OR EXISTS { (:Memory {tenant_id: $tenant_id, mid: x.ended_by})<-[v:FACT|PREFERENCE|CONTEXT]-(:User) WHERE v.retracted_at.epochMillis <= k })){1,3} (:Memory)
    RETURN p
  }
  WITH p
  ORDER BY length(p), [n IN nodes(p) | n.mid]
  LIMIT $most
  RETURN collect({mids: [n IN nodes(p) | n.mid],
      hops: [r IN relationships(p) | {rid: r.rid, type: type(r), weight: r.weight, from_mid: startNode(r).mid, to_mid: endNode(r).mid}]}) AS paths
}
RETURN now, u.rev AS rev, a IS NOT NULL AS owned, paths;

// name: cohort_now
// mode: read
// scope: tenant
// params: tenant_id STRING, key STRING, ckey MAP, subject STRING?, role STRING?, after STRING, until STRING, limit INTEGER
// purpose: who in the tenant holds something about a concept now: the live index alone, in slot order, one page.
WITH datetime.realtime().epochMillis AS now
// `next_mid` names what ends a row by succession or opposition: one that has begun meanwhile ends it, promoted or not
CALL (now) {
  CALL (now) {
    MATCH (u:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(ckey, current_slot)
    WHERE r.ckey = $ckey.FACT AND r.current_slot > $after AND r.current_slot < $until
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.expires_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:FACT]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    // both properties named, and no OR about a stored time (it would be two lookups): else the page is sorted whole
    WITH u, r, m ORDER BY r.ckey, r.current_slot LIMIT $limit
    RETURN u, r, m, r.current_slot AS place
    UNION ALL
    MATCH (u:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(ckey, current_slot)
    WHERE r.ckey = $ckey.PREFERENCE AND r.current_slot > $after AND r.current_slot < $until
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.expires_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:PREFERENCE]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    WITH u, r, m ORDER BY r.ckey, r.current_slot LIMIT $limit
    RETURN u, r, m, r.current_slot AS place
    UNION ALL
    MATCH (u:User)-[r:CONTEXT]->(m:Memory)
    USING INDEX SEEK r:CONTEXT(ckey, current_slot)
    WHERE r.ckey = $ckey.CONTEXT AND r.current_slot > $after AND r.current_slot < $until
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.expires_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:CONTEXT]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    WITH u, r, m ORDER BY r.ckey, r.current_slot LIMIT $limit
    RETURN u, r, m, r.current_slot AS place
    UNION ALL
    // plans that are due and not promoted yet have no current_slot
    MATCH (u:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(ckey, planned_slot)
    WHERE r.ckey = $ckey.FACT AND r.planned_slot > $after AND r.planned_slot < $until AND r.valid_from.epochMillis <= now
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.ends_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:FACT]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND CASE WHEN coalesce(r.observed_at, r.valid_from) > r.valid_from THEN r.observed_at ELSE r.valid_from END.epochMillis + coalesce(r.lifetime, now) > now
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    WITH u, r, m ORDER BY r.ckey, r.planned_slot LIMIT $limit
    RETURN u, r, m, r.planned_slot AS place
    UNION ALL
    MATCH (u:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(ckey, planned_slot)
    WHERE r.ckey = $ckey.PREFERENCE AND r.planned_slot > $after AND r.planned_slot < $until AND r.valid_from.epochMillis <= now
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.ends_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:PREFERENCE]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND CASE WHEN coalesce(r.observed_at, r.valid_from) > r.valid_from THEN r.observed_at ELSE r.valid_from END.epochMillis + coalesce(r.lifetime, now) > now
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    WITH u, r, m ORDER BY r.ckey, r.planned_slot LIMIT $limit
    RETURN u, r, m, r.planned_slot AS place
    UNION ALL
    MATCH (u:User)-[r:CONTEXT]->(m:Memory)
    USING INDEX SEEK r:CONTEXT(ckey, planned_slot)
    WHERE r.ckey = $ckey.CONTEXT AND r.planned_slot > $after AND r.planned_slot < $until AND r.valid_from.epochMillis <= now
      AND u.tenant_id = $tenant_id AND r.key = $key AND r.polarity = '+' AND r.is_end IS NULL AND r.tombstoned_at IS NULL
      AND coalesce(r.ends_at.epochMillis, now + 1) > now AND (r.next_mid IS NULL OR NOT EXISTS { ()-[n:CONTEXT]->() WHERE n.mid = r.next_mid AND n.valid_from.epochMillis <= now })
      AND CASE WHEN coalesce(r.observed_at, r.valid_from) > r.valid_from THEN r.observed_at ELSE r.valid_from END.epochMillis + coalesce(r.lifetime, now) > now
      AND ($subject IS NULL OR r.subject = $subject OR r.subject STARTS WITH $role)
    WITH u, r, m ORDER BY r.ckey, r.planned_slot LIMIT $limit
    RETURN u, r, m, r.planned_slot AS place
  }
  WITH u, r, m, place
  ORDER BY place
  LIMIT $limit
  RETURN collect({user_id: u.user_id, mid: r.mid, subject: r.subject, value: m.value, standing: r.standing, since: r.valid_from.epochMillis, place: place}) AS rows
}
RETURN now, rows;

// name: cohort_then
// mode: read
// scope: tenant
// params: tenant_id STRING, key STRING, ckey STRING, known_at INTEGER?, as_of INTEGER?, after STRING?, limit INTEGER
// purpose: users of the tenant who ever said something about a concept, one page by user id, with all rows of those slots and what opposes them.
WITH datetime.realtime().epochMillis AS now
WITH now, coalesce($known_at, now) AS k, coalesce($as_of, now) AS t
// from the concept: it costs what the tenant ever said about it
CALL (k, t) {
  OPTIONAL MATCH (:Concept {tenant_id: $tenant_id, ckey: $ckey})<-[:ABOUT]-(m:Memory)<-[r:FACT|PREFERENCE|CONTEXT]-(u:User {tenant_id: $tenant_id})
  WHERE r.key = $key AND r.version IS NOT NULL AND r.polarity = '+' AND r.recorded_at.epochMillis <= k AND r.valid_from.epochMillis <= t
    AND ($after IS NULL OR u.user_id > $after)
  WITH u, collect(DISTINCT r.slot) AS slots, collect(DISTINCT r.thing) AS things
  WHERE u IS NOT NULL
  ORDER BY u.user_id
  LIMIT $limit
  RETURN collect({user_id: u.user_id, slots: slots, things: things}) AS users
}
CALL (users) {
  CALL (users) {
    UNWIND users AS user
    UNWIND user.slots AS slot
    MATCH (:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(slot, until)
    WHERE r.slot = slot AND r.until >= -8000000000000000
    RETURN user.user_id AS user_id, r, m
    UNION
    UNWIND users AS user
    UNWIND user.things AS thing
    MATCH (:User)-[r:FACT]->(m:Memory)
    USING INDEX SEEK r:FACT(thing, until)
    WHERE r.thing = thing AND r.until >= -8000000000000000
    RETURN user.user_id AS user_id, r, m
    UNION
    UNWIND users AS user
    UNWIND user.slots AS slot
    MATCH (:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(slot, until)
    WHERE r.slot = slot AND r.until >= -8000000000000000
    RETURN user.user_id AS user_id, r, m
    UNION
    UNWIND users AS user
    UNWIND user.things AS thing
    MATCH (:User)-[r:PREFERENCE]->(m:Memory)
    USING INDEX SEEK r:PREFERENCE(thing, until)
    WHERE r.thing = thing AND r.until >= -8000000000000000
    RETURN user.user_id AS user_id, r, m
    UNION
    UNWIND users AS user
    UNWIND user.slots AS slot
    MATCH (:User)-[r:CONTEXT]->(m:Memory)
    USING INDEX SEEK r:CONTEXT(slot, until)
    WHERE r.slot = slot AND r.until >= -8000000000000000
    RETURN user.user_id AS user_id, r, m
  }
  RETURN collect({user_id: user_id, kind: type(r), mid: r.mid, slot: r.slot, thing: r.thing, key: r.key, ckey: r.ckey, subject: r.subject, value: m.value, polarity: r.polarity,
      version: r.version, said_at: r.said_at.epochMillis, valid_from: r.valid_from.epochMillis, recorded_at: r.recorded_at.epochMillis,
      ends_at: r.ends_at.epochMillis, is_end: r.is_end, inset: r.inset, claims: r.claims, overruled: r.overruled, classed: r.classed, lifetime: r.lifetime,
      confidence: r.confidence, standing: r.standing, retracted_at: r.retracted_at.epochMillis, tombstoned_at: r.tombstoned_at.epochMillis,
      until: r.until, valid_to: r.valid_to.epochMillis, current: r.current_slot IS NOT NULL, planned: r.planned_slot IS NOT NULL, status: r.status,
      obs: [(m)-[f:FROM_SOURCE]->(:Source) WHERE f.first IS NULL | [f.at.epochMillis, f.recorded_at.epochMillis, f.since.epochMillis]]}) AS rows
}
RETURN now, [x IN users | x.user_id] AS users, rows;

// name: record_cohort
// mode: write
// scope: tenant
// params: tenant_id STRING, nobody STRING, op STRING, actor STRING, outcome STRING
// purpose: who asked for which cohort: key, concept and count, never a value. `nobody` is no user id, so no user's records are touched.
CREATE (c:Change {tenant_id: $tenant_id, user_id: $nobody, op: $op, request_hash: '', route: 'cohort', actor: $actor, at: datetime.realtime('UTC'),
                  outcome: $outcome, mids: [], verdicts: []})
RETURN c.op AS op;
