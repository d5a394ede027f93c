// review cases and proofs: identity, the inbox of a tenant, the cases of a user's day

CREATE CONSTRAINT review_key IF NOT EXISTS FOR (v:Review) REQUIRE (v.tenant_id, v.case_id) IS UNIQUE;
CREATE CONSTRAINT proof_key IF NOT EXISTS FOR (p:Proof) REQUIRE (p.tenant_id, p.user_id, p.case_id) IS UNIQUE;
CREATE CONSTRAINT factor_key IF NOT EXISTS FOR (f:Factor) REQUIRE (f.tenant_id, f.user_id, f.factor_id) IS UNIQUE;

// the inbox, oldest first, paged by (opened_at, case_id)
CREATE INDEX review_inbox IF NOT EXISTS FOR (v:Review) ON (v.tenant_id, v.state, v.opened_at, v.case_id);
CREATE INDEX review_user IF NOT EXISTS FOR (v:Review) ON (v.tenant_id, v.user_id, v.state);

CREATE INDEX proof_day IF NOT EXISTS FOR (p:Proof) ON (p.tenant_id, p.user_id, p.opened_at);
CREATE INDEX proof_memory IF NOT EXISTS FOR (p:Proof) ON (p.tenant_id, p.user_id, p.mid);
