// 记忆的来源 · Sources of a key
// en: everything that was ever said for the memories of one key, with the session it was said in.
// zh: 一个键的记忆所依据的全部来源，以及说这些话的会话。
// params: tenant_id = default, user_id = me, key = coffee_preference
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(:Memory)-[f:FROM_SOURCE]->(source:Source)
WHERE r.key = $key AND r.tombstoned_at IS NULL AND coalesce(size(source.blanks), 0) = 0
WITH p, f, source
ORDER BY f.at DESC
LIMIT 100
OPTIONAL MATCH q = (source)<-[:SAID]-(:Session)
RETURN p, q;
