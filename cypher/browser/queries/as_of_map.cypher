// 某一天的记忆 · Map of a past day
// en: what was so on a day (2026-03-01; empty is now), as it is believed today; `graphmem timeline` computes it exactly.
// zh: 某一天（如 2026-03-01，留空即现在）的情形，按今天所知；精确的计算用 `graphmem timeline`。
// params: tenant_id = default, user_id = me, as_of =
WITH CASE WHEN $as_of = '' THEN datetime.realtime() ELSE datetime($as_of) END AS day
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.version IS NOT NULL AND r.retracted_at IS NULL AND r.tombstoned_at IS NULL AND r.is_end IS NULL
  AND r.valid_from <= day AND (r.valid_to IS NULL OR r.valid_to > day) AND (r.ends_at IS NULL OR r.ends_at > day)
  AND (r.lifetime IS NULL OR coalesce(r.observed_at, r.said_at) + duration({milliseconds: r.lifetime}) > day)
WITH p, m
LIMIT 100
OPTIONAL MATCH q = (m)-[:ABOUT]->(:Concept)
RETURN p, q;
