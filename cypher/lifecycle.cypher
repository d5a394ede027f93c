// The end of things: what is removed as a whole.

// name: wipe_tenant
// mode: implicit
// scope: tenant
// params: tenant_id STRING, batch INTEGER
// purpose: remove a throw-away tenant, all of it, in batches: demos and evaluations (erasing a person is another thing).
// each branch names every property of a unique key: with the tenant alone the planner would scan the label
CALL () {
  MATCH (n:User {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Memory {tenant_id: $tenant_id}) WHERE n.mid IS NOT NULL RETURN n
  UNION
  MATCH (n:Concept {tenant_id: $tenant_id}) WHERE n.ckey IS NOT NULL RETURN n
  UNION
  MATCH (n:Session {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.session_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Source {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.source_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Turn {tenant_id: $tenant_id}) WHERE n.ref IS NOT NULL RETURN n
  UNION
  MATCH (n:Change {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.op IS NOT NULL RETURN n
  UNION
  MATCH (n:Receipt {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL AND n.receipt_id IS NOT NULL RETURN n
  UNION
  MATCH (n:Key {tenant_id: $tenant_id}) WHERE n.key IS NOT NULL RETURN n
  UNION
  MATCH (n:Outbox {tenant_id: $tenant_id}) WHERE n.user_id IS NOT NULL RETURN n
}
// one batch may meet a node whose edges another one took: DETACH takes what is left
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS nodes;
