// Two proofs of a change: verification cases and enrolled factors. Every write locks the user first by a constant write: guesses stand in line.

// name: proof_grounds
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, mid STRING, held LIST
// purpose: what a new case rests on: a case of this memory that only waits to be applied, and whether a held value was proven before.
CALL () {
  MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, mid: $mid})
  WHERE p.state = 'both'
  RETURN collect(p {.*, expires_at: p.expires_at.epochMillis}) AS ready
}
CALL () {
  UNWIND $held AS mid
  MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, mid: mid})
  WHERE p.state = 'applied' AND p.kind = 'held'
  RETURN count(p) AS proven
}
RETURN ready, proven;

// name: proof_start
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, case_id STRING, mid STRING, change STRING, kind STRING, proposed_at INTEGER, code_mac STRING, life_ms INTEGER, day_ms INTEGER, most INTEGER
// purpose: open a case unless the user had too many today; an open one of the same memory is closed.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u, datetime.realtime() AS now
CALL (now) {
  MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id})
  WHERE p.opened_at > now - duration({milliseconds: $day_ms})
  RETURN count(p) AS today
}
WITH now, u.erased_at IS NULL AND today < $most AS opens
CALL (opens) {
  MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, mid: $mid})
  WHERE opens AND p.state IN ['open', 'code', 'channel']
  SET p.state = 'closed'
  RETURN count(p) AS closed
}
CALL (now, opens) {
  MATCH (m:Memory {tenant_id: $tenant_id, mid: $mid})
  WHERE opens
  CREATE (p:Proof {tenant_id: $tenant_id, user_id: $user_id, case_id: $case_id, mid: $mid, change: $change, kind: $kind, proposed_at: $proposed_at,
                   code_mac: $code_mac, state: 'open', attempts: 0, opened_at: now, expires_at: now + duration({milliseconds: $life_ms})})
  CREATE (p)-[:CONCERNS]->(m)
  RETURN count(p) AS opened
}
RETURN opened, now.epochMillis + $life_ms AS expires_at;

// name: proof_lock
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, case_id STRING
// purpose: lock the user and read the case and the factors; the same work whether or not there is such a case.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u, datetime.realtime().epochMillis AS now
OPTIONAL MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, case_id: $case_id})
OPTIONAL MATCH (f:Factor {tenant_id: $tenant_id, user_id: $user_id})
WHERE f.factor_id > ''
RETURN now, p {.*, expires_at: p.expires_at.epochMillis} AS found,
       collect(f {.factor_id, .kind, .secret, .public_key, .last_step, enrolled_at: f.enrolled_at.epochMillis}) AS factors;

// name: proof_count
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, case_id STRING
// purpose: count a comparison, before it is made.
OPTIONAL MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, case_id: $case_id})
SET p.attempts = p.attempts + 1
RETURN p.attempts AS attempts;

// name: proof_shown
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, case_id STRING, before STRING, after STRING, factor_id STRING, step INTEGER
// purpose: a factor was shown: from this state only, and with a step of TOTP that is later than the last one used.
OPTIONAL MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, case_id: $case_id})
WHERE p.state = $before
OPTIONAL MATCH (f:Factor {tenant_id: $tenant_id, user_id: $user_id, factor_id: $factor_id})
WHERE f.kind = 'device' OR f.last_step < $step
WITH p, f, p IS NOT NULL AND ($factor_id = '' OR f IS NOT NULL) AS shown
FOREACH (x IN CASE WHEN shown THEN [p] ELSE [] END | SET x.state = $after)
FOREACH (x IN CASE WHEN shown AND f.kind = 'totp' THEN [f] ELSE [] END | SET x.last_step = $step)
RETURN shown;

// name: proof_applied
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, case_id STRING
// purpose: use a proof up: only from state `both`, so only once.
OPTIONAL MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u
OPTIONAL MATCH (p:Proof {tenant_id: $tenant_id, user_id: $user_id, case_id: $case_id})
WHERE p.state = 'both'
SET p.state = 'applied', p.applied_at = datetime.realtime()
RETURN p IS NOT NULL AS applied;

// name: factor_enrol
// mode: write
// scope: user
// params: tenant_id STRING, user_id STRING, factor_id STRING, kind STRING, secret STRING?, public_key STRING?, most INTEGER
// purpose: enrol a factor; a new TOTP secret takes the old one's place, a device that is known keeps its date.
MERGE (u:User {tenant_id: $tenant_id, user_id: $user_id})
SET u.lock = true
WITH u, datetime.realtime() AS now
CALL () {
  MATCH (f:Factor {tenant_id: $tenant_id, user_id: $user_id})
  WHERE f.factor_id <> $factor_id
  RETURN count(f) AS others
}
WITH now, u.erased_at IS NULL AND others < $most AS enrols
CALL (now, enrols) {
  UNWIND CASE WHEN enrols THEN [1] ELSE [] END AS one
  MERGE (f:Factor {tenant_id: $tenant_id, user_id: $user_id, factor_id: $factor_id})
    ON CREATE SET f.enrolled_at = now, f.last_step = -1
  SET f.kind = $kind, f.public_key = $public_key,
      f.enrolled_at = CASE WHEN $kind = 'totp' THEN now ELSE f.enrolled_at END, f.last_step = CASE WHEN $kind = 'totp' THEN -1 ELSE f.last_step END,
      f.secret = $secret
  RETURN collect(f.enrolled_at.epochMillis) AS enrolled
}
RETURN enrolled;
