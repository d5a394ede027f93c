// 同一概念的人群 · Cohort of a concept
// en: everybody of the tenant who holds something about a concept now.
// zh: 租户中现在持有某一概念的所有人。
// params: tenant_id = default, ckey = drug:penicillin
MATCH p = (:Concept {tenant_id: $tenant_id, ckey: $ckey})<-[:ABOUT]-(:Memory)<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WHERE u.tenant_id = $tenant_id AND r.current_slot IS NOT NULL AND r.is_end IS NULL AND r.tombstoned_at IS NULL
RETURN p
LIMIT 100;
