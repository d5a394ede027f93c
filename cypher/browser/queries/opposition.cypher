// 相反的说法 · Opposition
// en: chosen and avoided: rows of both polarities about one concept; the one that starts later is the one that is told.
// zh: 选过又回避的：同一概念的正反两种说法，开始得晚的那一条有效。
// params: tenant_id = default, user_id = me
MATCH p = (u:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE]->(:Memory)-[:ABOUT]->(:Concept)<-[:ABOUT]-(:Memory)<-[o:FACT|PREFERENCE]-(u)
WHERE r.polarity = '+' AND o.polarity = '-' AND r.subject = o.subject AND r.tombstoned_at IS NULL AND o.tombstoned_at IS NULL
RETURN p
LIMIT 100;
