// 版本链 · Version chain
// en: every version of one key, each pointing to the one it replaced.
// zh: 一个键的全部版本，每一版指向它所取代的那一版。
// params: tenant_id = default, user_id = me, key = coffee_preference
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.key = $key AND r.version IS NOT NULL AND r.tombstoned_at IS NULL
WITH p, m, r
ORDER BY r.slot, r.version
LIMIT 100
OPTIONAL MATCH q = (m)-[:SUPERSEDES]->(old:Memory)
WHERE NOT EXISTS { (old)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL }
RETURN p, q;
