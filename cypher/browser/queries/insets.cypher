// 插段 · Insets
// en: spans that were over when they were told of; each stands beside what held before and after it.
// zh: 说起时已经结束的一段；它前后的内容不因它而断。
// params: tenant_id = default, user_id = me
MATCH p = (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE r.inset AND r.tombstoned_at IS NULL
OPTIONAL MATCH q = (u)-[o:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE o.slot = r.slot AND o.version IS NOT NULL AND o.tombstoned_at IS NULL
RETURN p, q
LIMIT 100;
