// 孤立节点 · Orphans
// en: what hangs on nothing: memories without a person or a source, turns without a session, cases without a memory. A sound graph has none.
// zh: 无所依附的节点：没有主人或来源的记忆、没有会话的发言、没有记忆的案例。健康的图里一个也没有。
// params: tenant_id = default
CALL () {
  MATCH p = (m:Memory {tenant_id: $tenant_id})
  WHERE m.mid >= '' AND (NOT EXISTS { (m)<-[:FACT|PREFERENCE|CONTEXT]-(:User) } OR NOT EXISTS { (m)-[:FROM_SOURCE]->(:Source) })
  RETURN p
  UNION ALL
  MATCH p = (t:Turn {tenant_id: $tenant_id})
  WHERE t.ref >= '' AND NOT EXISTS { (t)<-[:SAID]-(:Session) }
  RETURN p
  UNION ALL
  MATCH p = (v:Review {tenant_id: $tenant_id})
  WHERE v.case_id >= '' AND NOT EXISTS { (v)-[:CONCERNS]->(:Memory) }
  RETURN p
}
RETURN p
LIMIT 100;
