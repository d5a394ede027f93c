// Turns and sessions. A turn's text may hold blanked spans: what was forgotten is cut out where it is read, and removed for good by the purge.

// name: session_turns
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, session_id STRING, limit INTEGER
// purpose: the last turns of one session, newest first.
MATCH (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: $session_id})-[said:SAID]->(t:Turn)
WITH s, said, t
ORDER BY said.seq DESC
LIMIT $limit
RETURN collect({ref: t.ref, turn_id: t.turn_id, session_id: t.session_id, role: t.role, text: t.text, blanks: t.blanks, at: t.at.epochMillis,
      seq: said.seq, zone: t.zone, language: t.language, speaker: t.speaker, answers: t.answers, waiting: t.waiting}) AS turns;

// name: turns_by_ref
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, refs LIST
// purpose: turns that the index named, the user's own only.
UNWIND $refs AS ref
MATCH (t:Turn {tenant_id: $tenant_id, ref: ref})
WHERE (t)<-[:SAID]-(:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: t.session_id})
RETURN collect({ref: t.ref, turn_id: t.turn_id, session_id: t.session_id, role: t.role, text: t.text, blanks: t.blanks, at: t.at.epochMillis,
      seq: t.seq, zone: t.zone, language: t.language, speaker: t.speaker, answers: t.answers, waiting: t.waiting}) AS turns;

// name: blank_spans
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST, now DATETIME
// purpose: memories were forgotten: mark them and blank the spans they cite in turns; the refs come back so that vectors are made again.
UNWIND $mids AS mid
MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WHERE u.tenant_id = $tenant_id AND u.user_id = $user_id
// a decided pending memory is not among the rows that a write reads: it is marked here, as all are
SET r.tombstoned_at = coalesce(r.tombstoned_at, $now)
WITH m, mid
MATCH (m)-[f:FROM_SOURCE]->(t:Turn {tenant_id: $tenant_id, user_id: $user_id})
WITH t, collect(mid + '|' + toString(coalesce(f.span[0], 0)) + '|' + toString(coalesce(f.span[1], size(t.text)))) AS spans
// a candidate that waits holds its value: it goes with the words
SET t.blanks = coalesce(t.blanks, []) + spans, t.waiting = null
RETURN collect(t.ref) AS refs;

// name: restore_spans
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST
// purpose: forgotten memories came back: their spans are readable again.
UNWIND $mids AS mid
MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[r:FACT|PREFERENCE|CONTEXT]-(u:User)
WHERE u.tenant_id = $tenant_id AND u.user_id = $user_id
SET r.tombstoned_at = null
WITH m
MATCH (m)-[:FROM_SOURCE]->(t:Turn {tenant_id: $tenant_id, user_id: $user_id})
SET t.blanks = [b IN coalesce(t.blanks, []) WHERE NOT split(b, '|')[0] IN $mids]
RETURN collect(DISTINCT t.ref) AS refs;

// name: store_receipt
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, session_id STRING?, receipt_id STRING, receipt STRING, tier STRING, query_type STRING, mids LIST, at DATETIME
// purpose: keep why each candidate was told or not (ids and scores only), and which memories a session used; after the answer, under the user's lock.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
MERGE (r:Receipt {tenant_id: $tenant_id, user_id: $user_id, receipt_id: $receipt_id})
  ON CREATE SET r.receipt = $receipt, r.at = $at
WITH u, r
CALL (u, r) {
  UNWIND CASE WHEN $session_id IS NULL THEN [] ELSE [$session_id] END AS session_id
  MERGE (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: session_id})
    ON CREATE SET s.started_at = $at, s.turns = 0
  MERGE (u)-[:OPENED]->(s)
  MERGE (s)-[:TOLD]->(r)
  WITH s
  UNWIND $mids AS mid
  MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})<-[:FACT|PREFERENCE|CONTEXT]-(o:User)
  WHERE o.tenant_id = $tenant_id AND o.user_id = $user_id
  MERGE (s)-[a:ACCESSED]->(m)
    ON CREATE SET a.first_at = $at, a.count = 0
  SET a.count = a.count + 1, a.last_at = $at, a.tier = $tier, a.query_type = $query_type
  RETURN count(*) AS accessed
}
RETURN accessed;

// name: receipt
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, receipt_id STRING
// purpose: one receipt of the user.
MATCH (r:Receipt {tenant_id: $tenant_id, user_id: $user_id, receipt_id: $receipt_id})
RETURN r.receipt AS receipt;
