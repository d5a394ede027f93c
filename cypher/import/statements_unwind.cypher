// The same from a list of maps, for a program of your own: up to 1,000 rows a call, each call one transaction. Then: graphmem adopt
:param tenant => 'default';
:param rows => [{user_id: 'Maya', kind: 'preference', key: 'likes', value: 'rain', at: '2025-08-01T07:00:00Z'}, {user_id: '小雨', kind: 'fact', key: 'home_city', value: '青岛', at: '2025-08-02T07:00:00+08:00'}];

UNWIND $rows AS row
MERGE (u:User {tenant_id: $tenant, user_id: row.user_id})
CREATE (u)-[r:$(CASE toLower(row.kind) WHEN 'preference' THEN 'PREFERENCE' WHEN 'context' THEN 'CONTEXT' ELSE 'FACT' END)]->(m:Memory)
SET m = {tenant_id: $tenant, user_id: row.user_id, value: row.value},
    r = {key: row.key, at: datetime(row.at), subject: row.subject, polarity: row.polarity, arity: row.arity, id: row.id,
         valid_from: datetime(row.valid_from), valid_to: datetime(row.valid_to), source: row.source, source_ref: row.source_ref}
RETURN count(r) AS rows;
