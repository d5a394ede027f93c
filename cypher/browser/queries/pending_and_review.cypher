// 待确认与待审 · Pending and review
// en: what waits for a word of the user or of a reviewer, beside what is held meanwhile.
// zh: 等待用户或复核人发话的内容，以及在此期间仍然有效的记忆。
// params: tenant_id = default, user_id = me
MATCH p = (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)
WHERE r.pending_slot IS NOT NULL AND r.tombstoned_at IS NULL
OPTIONAL MATCH q = (:Review)-[:CONCERNS]->(m)
OPTIONAL MATCH h = (u)-[held:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE held.current_slot IS NOT NULL AND held.tombstoned_at IS NULL AND (held.slot = r.slot OR held.thing = r.thing)
RETURN p, q, h
LIMIT 100;
