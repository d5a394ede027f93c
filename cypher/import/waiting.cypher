// What was loaded and not adopted yet, as paths: look at it in Browser before `graphmem adopt`, and see it gone afterwards.
:param tenant => 'default';

MATCH path = (u:User {tenant_id: $tenant})-[r:FACT|PREFERENCE|CONTEXT]->(m)
WHERE r.slot IS NULL OR r.mid IS NULL OR r.recorded_at IS NULL
RETURN path
LIMIT 300;
