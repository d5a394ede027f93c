// 待审案例 · Review inbox
// en: open cases of the tenant, the oldest first, with whom and what they concern.
// zh: 租户尚未裁定的案例，从最早的开始，以及涉及的人与内容。
// params: tenant_id = default
MATCH (v:Review {tenant_id: $tenant_id, state: 'open'})
WITH v
ORDER BY v.opened_at
LIMIT 50
MATCH p = (v)-[:CONCERNS]->(:Memory)<-[r:FACT|PREFERENCE|CONTEXT]-(:User)
WHERE r.tombstoned_at IS NULL
RETURN p;
