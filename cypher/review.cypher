// Review cases: a tenant's inbox, one case, and what both of its sides were said in. Cases open and close in `apply`, with their rows.

// name: review_inbox
// mode: read
// scope: tenant
// params: tenant_id STRING, states LIST, state STRING, after_at DATETIME, after_id STRING, limit INTEGER
// purpose: a page of cases of one state, oldest first; an open one past its time is expired, swept or not.
CALL () {
  RETURN datetime.realtime() AS now
}
UNWIND $states AS stored
CALL (stored, now) {
  MATCH (v:Review)
  USING INDEX SEEK v:Review(tenant_id, state, opened_at, case_id)
  WHERE v.tenant_id = $tenant_id AND v.state = stored AND v.opened_at >= $after_at AND v.case_id >= ''
        // as lists: an OR is planned as two lookups, one of them a scan of all cases
        AND v.case_id >= '' AND [v.opened_at, v.case_id] > [$after_at, $after_id]
        AND $state = CASE WHEN stored = 'open' AND v.due_at <= now THEN 'expired' ELSE stored END
  RETURN v
  ORDER BY v.opened_at, v.case_id
  LIMIT $limit
}
WITH v
ORDER BY v.opened_at, v.case_id
LIMIT $limit
RETURN collect(v {.*, opened_at: v.opened_at.epochMillis, due_at: v.due_at.epochMillis, decided_at: v.decided_at.epochMillis}) AS cases;

// name: review_case
// mode: read
// scope: tenant
// params: tenant_id STRING, case_id STRING
// purpose: one case of the tenant, with the time.
MATCH (v:Review {tenant_id: $tenant_id, case_id: $case_id})
RETURN datetime.realtime().epochMillis AS now,
       v {.*, opened_at: v.opened_at.epochMillis, due_at: v.due_at.epochMillis, decided_at: v.decided_at.epochMillis} AS found;

// name: evidence
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mids LIST
// purpose: the sources of these memories of the user; of a turn its text, to quote the clause from.
UNWIND $mids AS mid
MATCH (m:Memory {tenant_id: $tenant_id, mid: mid})-[f:FROM_SOURCE]->(s:Source {tenant_id: $tenant_id, user_id: $user_id})
WITH m, f, s
ORDER BY f.at, s.source_id
RETURN collect({mid: m.mid, source: s.source_id, kind: s.kind, at: f.at.epochMillis, span: f.span, text: s.text, blanks: s.blanks,
                turn_id: s.turn_id, session_id: s.session_id}) AS evidence;
