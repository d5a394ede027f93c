// What a subscription reads: where users stand, and what was written since. A user's writes are serialised by the lock, so that their
// revisions are committed in order: nothing with a lower revision can appear later.

// name: marks_of
// mode: read
// scope: system
// params: people LIST
// purpose: where some users stand, one statement however many are watched; a user who never wrote has no entry.
UNWIND $people AS p
MATCH (u:User {tenant_id: p.tenant_id, user_id: p.user_id})
RETURN collect({tenant_id: u.tenant_id, user_id: u.user_id, rev: coalesce(u.rev, 0), erased: u.erased_at IS NOT NULL}) AS marks;

// name: changes_since
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, since INTEGER, most INTEGER
// purpose: the records of a user's writes after a revision, in their order.
MATCH (c:Change {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX SEEK c:Change(tenant_id, user_id, op)
// a bound on the third property, or the index is not used
WHERE c.op >= '' AND c.rev > $since
WITH c
ORDER BY c.rev
LIMIT $most
RETURN collect({op: c.op, route: c.route, actor: c.actor, at: c.at.epochMillis, outcome: c.outcome, mids: c.mids, verdicts: c.verdicts, rev: c.rev}) AS changes;

// name: person
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING
// purpose: the node of a user and how many sessions and turns they have.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
RETURN coalesce(u.rev, 0) AS rev, u.erased_at.epochMillis AS erased_at, COUNT { (u)-[:OPENED]->(:Session) } AS sessions,
       COUNT { (u)-[:OPENED]->(:Session)-[:SAID]->(:Turn) } AS turns;

// name: sessions_of
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING
// purpose: the sessions of a user, without their turns.
MATCH (s:Session {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX SEEK s:Session(tenant_id, user_id, session_id)
WHERE s.session_id >= ''
RETURN collect({session_id: s.session_id, started_at: s.started_at.epochMillis, last_at: s.last_at.epochMillis, turns: coalesce(s.turns, 0)}) AS sessions;

// name: turns_of_sessions
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING, sessions LIST, most INTEGER
// purpose: the last turns of some sessions, newest first, one statement for all of them.
UNWIND $sessions AS session_id
MATCH (s:Session {tenant_id: $tenant_id, user_id: $user_id, session_id: session_id})
CALL (s) {
  MATCH (s)-[said:SAID]->(t:Turn)
  WITH said, t
  ORDER BY said.seq DESC
  LIMIT $most
  RETURN collect({ref: t.ref, turn_id: t.turn_id, session_id: t.session_id, role: t.role, text: coalesce(t.text, ''), blanks: t.blanks, at: t.at.epochMillis,
      seq: said.seq, zone: t.zone, language: t.language, speaker: t.speaker, answers: t.answers}) AS turns
}
RETURN session_id, turns;
