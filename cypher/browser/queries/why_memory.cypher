// 为何有这条记忆 · Why this memory
// en: one memory (empty: the newest) with the words it came from, what it replaced and the case that decided it.
// zh: 一条记忆（留空即最新一条）：出自哪句话、取代了什么、由哪个案例裁定。
// params: tenant_id = default, user_id = me, mid =
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.tombstoned_at IS NULL AND ($mid = '' OR r.mid = $mid)
WITH p, m, r
ORDER BY r.recorded_at DESC
LIMIT 1
OPTIONAL MATCH s = (m)-[:FROM_SOURCE]->(source:Source)
WHERE coalesce(size(source.blanks), 0) = 0
OPTIONAL MATCH t = (source)<-[:SAID]-(:Session)<-[:OPENED]-(:User)
OPTIONAL MATCH v = (m)-[:SUPERSEDES]->{1,20}(old:Memory)
WHERE NOT EXISTS { (old)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
OPTIONAL MATCH w = (:Review)-[:CONCERNS]->(m)
RETURN p, s, t, v, w;
