// 尚未开始 · Planned
// en: what is known to begin later, beside what it will replace.
// zh: 已知将来才开始的内容，以及它将取代的记忆。
// params: tenant_id = default, user_id = me
MATCH p = (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE r.planned_slot IS NOT NULL AND r.valid_from > datetime.realtime() AND r.tombstoned_at IS NULL
OPTIONAL MATCH q = (u)-[o:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE o.current_slot = r.slot AND o.tombstoned_at IS NULL
RETURN p, q
LIMIT 100;
