// 记忆地图 · Memory map
// en: what is held of one person now, with concepts and relations; a pending memory has "?" where others have a version.
// zh: 一个人现在的记忆，连同概念与关系；待确认的记忆没有版本，写作“?”。
// params: tenant_id = default, user_id = me
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.tombstoned_at IS NULL AND r.is_end IS NULL
  AND (r.current_slot IS NOT NULL OR r.planned_slot IS NOT NULL OR r.pending_slot IS NOT NULL)
  AND (r.expires_at IS NULL OR r.expires_at > datetime.realtime())
WITH p, m, r
ORDER BY r.recorded_at DESC
LIMIT 100
OPTIONAL MATCH q = (m)-[:ABOUT]->(:Concept)
OPTIONAL MATCH x = (m)-[related:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]->(other:Memory)
WHERE related.valid_to IS NULL AND NOT EXISTS { (other)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
RETURN p, q, x;
