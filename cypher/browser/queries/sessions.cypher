// 会话 · Sessions
// en: the last sessions of one person: what was said, what was told and which memories were used.
// zh: 一个人最近的会话：说了什么、告诉了什么、用到了哪些记忆。
// params: tenant_id = default, user_id = me
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[:OPENED]->(s:Session)
WITH p, s
ORDER BY coalesce(s.last_at, s.started_at) DESC
LIMIT 10
OPTIONAL MATCH q = (s)-[:SAID|TOLD|ACCESSED]->(n)
WHERE coalesce(size(n.blanks), 0) = 0 AND NOT EXISTS { (n)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
RETURN p, q;
