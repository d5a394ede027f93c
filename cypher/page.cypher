// What a page of memories needs beside its rows, for all of them at once: one statement each, however long the page.

// name: relations_of
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST, as_of INTEGER, known_at INTEGER
// purpose: the stored relations of some memories that held at (as_of, known_at), whichever way they point; both ends are this user's.
UNWIND $mids AS mid
MATCH (a:Memory {tenant_id: $tenant_id, mid: mid})
USING INDEX SEEK a:Memory(tenant_id, mid)
WHERE a.user_id = $user_id
MATCH (a)-[x:HAS_CONDITION|AFFECTS_MEDICATION|CONTRADICTS|DERIVED_FROM]-(b:Memory {tenant_id: $tenant_id, user_id: $user_id})
WHERE x.recorded_at.epochMillis <= $known_at AND x.valid_from.epochMillis <= $as_of
  AND (x.valid_to IS NULL OR x.valid_to.epochMillis > $as_of OR x.closed_at.epochMillis > $known_at
    OR EXISTS { (:Memory {tenant_id: $tenant_id, mid: x.ended_by})<-[v:FACT|PREFERENCE|CONTEXT]-(:User) WHERE v.retracted_at.epochMillis <= $known_at })
RETURN a.mid AS mid, b.mid AS other, x.rid AS rid, type(x) AS type, x.weight AS weight, startNode(x).mid AS from_mid, endNode(x).mid AS to_mid
ORDER BY mid, weight DESC, rid;

// name: newest_receipts
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, most INTEGER
// purpose: the newest receipts of the user (ids and scores only), newest first: their ids begin with the time.
MATCH (r:Receipt {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX r:Receipt(tenant_id, user_id, receipt_id)
WHERE r.receipt_id IS NOT NULL
WITH r ORDER BY r.receipt_id DESC LIMIT $most
RETURN r.receipt AS receipt;
