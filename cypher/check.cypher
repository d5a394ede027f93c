// What Community's constraints cannot hold, held by a look: each query returns what is broken, nothing when all is well.

// name: users_page
// mode: read
// scope: tenant
// params: tenant_id STRING, after STRING, limit INTEGER
// purpose: pages of users, by id.
MATCH (u:User {tenant_id: $tenant_id})
WHERE u.user_id > $after
WITH u
ORDER BY u.user_id
LIMIT $limit
RETURN collect(u.user_id) AS users;

// name: broken_shapes
// mode: read
// scope: tenant
// params: tenant_id STRING, limit INTEGER
// purpose: memories without an edge, with two, of another user than their edge, or edges that lack what every edge has.
MATCH (m:Memory {tenant_id: $tenant_id})
USING INDEX SEEK m:Memory(tenant_id, mid)
// without a bound on the second property the planner scans the memories of all tenants
WHERE m.mid >= ''
OPTIONAL MATCH (m)<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WITH m, collect(r) AS edges, collect(u) AS users
WITH m, edges, users,
     CASE
       WHEN size(edges) = 0 THEN 'memory_without_edge'
       WHEN size(edges) > 1 THEN 'memory_with_two_edges'
       WHEN users[0].tenant_id <> m.tenant_id OR users[0].user_id <> m.user_id THEN 'memory_of_another_user'
       WHEN edges[0].mid <> m.mid THEN 'mid_differs'
       WHEN edges[0].slot IS NULL OR edges[0].key IS NULL OR edges[0].said_at IS NULL OR edges[0].recorded_at IS NULL
            OR edges[0].polarity IS NULL OR edges[0].until IS NULL OR edges[0].thing IS NULL THEN 'edge_lacks_property'
       WHEN edges[0].version IS NOT NULL AND edges[0].valid_from IS NULL THEN 'edge_lacks_property'
       WHEN edges[0].version IS NULL AND edges[0].pending_from IS NULL THEN 'edge_lacks_property'
       WHEN NOT EXISTS { (m)-[:FROM_SOURCE]->(:Source) } THEN 'memory_without_source'
     END AS fault
WHERE fault IS NOT NULL
RETURN m.mid AS mid, fault
LIMIT $limit;
