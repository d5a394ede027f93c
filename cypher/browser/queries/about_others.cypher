// 关于他人 · About others
// en: what one person has said of others: a father, a friend, a child.
// zh: 一个人说起的他人：父亲、朋友、孩子。
// params: tenant_id = default, user_id = me
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.subject <> 'self' AND r.current_slot IS NOT NULL AND r.is_end IS NULL AND r.tombstoned_at IS NULL
WITH p, m
LIMIT 100
OPTIONAL MATCH q = (m)-[:ABOUT]->(:Concept)
RETURN p, q;
