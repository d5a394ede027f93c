// 已过期未归档 · Expired, not archived
// en: preferences and contexts whose lifetime is over and that still lie in the graph.
// zh: 寿命已尽、仍留在图里的偏好与情境。
// params: tenant_id = default
MATCH p = (u:User {tenant_id: $tenant_id})-[r:PREFERENCE|CONTEXT]->(:Memory)
WHERE u.user_id >= '' AND (r.status = 'expired' OR r.expires_at < datetime.realtime()) AND r.tombstoned_at IS NULL
RETURN p
ORDER BY r.said_at
LIMIT 100;
