// 相互矛盾 · Contradictions
// en: memories of one person that were related as contradicting each other.
// zh: 一个人的记忆中被标为相互矛盾的。
// params: tenant_id = default, user_id = me
MATCH p = (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(:Memory)-[:CONTRADICTS]->(:Memory)<-[o:FACT|PREFERENCE|CONTEXT]-(u)
WHERE r.tombstoned_at IS NULL AND o.tombstoned_at IS NULL
RETURN p
LIMIT 100;
