// 访问热度 · Access heat
// en: which memories the sessions of one person used, the most used first; `count` and `last_at` are on the edge.
// zh: 一个人的会话用到了哪些记忆，用得最多的在前；次数与最近时间在边的 count 与 last_at 上。
// params: tenant_id = default, user_id = me
MATCH p = (s:Session {tenant_id: $tenant_id, user_id: $user_id})-[a:ACCESSED]->(m:Memory)
WHERE s.session_id >= '' AND NOT EXISTS { (m)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
WITH p, m, a
ORDER BY a.count DESC, a.last_at DESC
LIMIT 50
OPTIONAL MATCH q = (:User)-[:FACT|PREFERENCE|CONTEXT]->(m)
RETURN p, q;
