// 最近的变更 · Recent changes
// en: the last ten writes about one person, each with the memories it recorded.
// zh: 关于一个人的最近十次写入，以及每次记下的记忆。
// params: tenant_id = default, user_id = me
MATCH c = (change:Change {tenant_id: $tenant_id, user_id: $user_id})
WITH c, change
ORDER BY change.rev DESC
LIMIT 10
OPTIONAL MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.recorded_at = change.at AND r.tombstoned_at IS NULL
OPTIONAL MATCH s = (m)-[:SUPERSEDES]->(old:Memory)
WHERE NOT EXISTS { (old)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
RETURN c, p, s;
