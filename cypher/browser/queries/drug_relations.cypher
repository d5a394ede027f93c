// 与某药的关系 · Relations to a drug
// en: what a person's memories say about a drug, and everything within three relations of it.
// zh: 一个人的记忆里关于某种药的内容，以及三步关系之内的一切。
// params: tenant_id = default, user_id = me, ckey = drug:penicillin
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:FACT|PREFERENCE|CONTEXT]->(m:Memory)-[:ABOUT]->(:Concept {tenant_id: $tenant_id, ckey: $ckey})
WHERE r.tombstoned_at IS NULL
OPTIONAL MATCH x = (m)-[:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-{1,3}(:Memory)
WHERE none(n IN nodes(x) WHERE EXISTS { (n)<-[f:FACT|PREFERENCE|CONTEXT]-(:User) WHERE f.tombstoned_at IS NOT NULL })
RETURN p, x
LIMIT 100;
