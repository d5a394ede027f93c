// 待投影 · Outbox
// en: what the vector index has not seen yet: records of the outbox, and the memories and turns they are about.
// zh: 向量索引尚未看到的内容：发件箱里的记录，以及它们所指的记忆与发言。
// params: tenant_id = default
MATCH p = (o:Outbox {tenant_id: $tenant_id})
WHERE o.user_id >= ''
WITH p, o
ORDER BY o.pending_at
LIMIT 50
OPTIONAL MATCH q = (:User)-[r:FACT|PREFERENCE|CONTEXT]->(:Memory {tenant_id: $tenant_id, mid: o.ref})
WHERE r.tombstoned_at IS NULL
OPTIONAL MATCH t = (:Session)-[:SAID]->(turn:Turn {tenant_id: $tenant_id, ref: o.ref})
WHERE coalesce(size(turn.blanks), 0) = 0
RETURN p, q, t;
