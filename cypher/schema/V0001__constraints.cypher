// identity, "one current memory per slot" and "one version once", held by the database; every form exists in Community

CREATE CONSTRAINT user_key IF NOT EXISTS FOR (u:User) REQUIRE (u.tenant_id, u.user_id) IS UNIQUE;
CREATE CONSTRAINT memory_key IF NOT EXISTS FOR (m:Memory) REQUIRE (m.tenant_id, m.mid) IS UNIQUE;
CREATE CONSTRAINT concept_key IF NOT EXISTS FOR (c:Concept) REQUIRE (c.tenant_id, c.ckey) IS UNIQUE;
CREATE CONSTRAINT session_key IF NOT EXISTS FOR (s:Session) REQUIRE (s.tenant_id, s.user_id, s.session_id) IS UNIQUE;
CREATE CONSTRAINT source_key IF NOT EXISTS FOR (s:Source) REQUIRE (s.tenant_id, s.user_id, s.source_id) IS UNIQUE;
CREATE CONSTRAINT turn_ref IF NOT EXISTS FOR (t:Turn) REQUIRE (t.tenant_id, t.ref) IS UNIQUE;
CREATE CONSTRAINT change_key IF NOT EXISTS FOR (c:Change) REQUIRE (c.tenant_id, c.user_id, c.op) IS UNIQUE;
CREATE CONSTRAINT receipt_key IF NOT EXISTS FOR (r:Receipt) REQUIRE (r.tenant_id, r.user_id, r.receipt_id) IS UNIQUE;
CREATE CONSTRAINT outbox_key IF NOT EXISTS FOR (o:Outbox) REQUIRE o.oid IS UNIQUE;
CREATE CONSTRAINT key_key IF NOT EXISTS FOR (k:Key) REQUIRE (k.tenant_id, k.key) IS UNIQUE;

// current_slot stands on the row that holds now and nowhere else: a partial unique index
CREATE CONSTRAINT fact_current IF NOT EXISTS FOR ()-[r:FACT]-() REQUIRE r.current_slot IS UNIQUE;
CREATE CONSTRAINT preference_current IF NOT EXISTS FOR ()-[r:PREFERENCE]-() REQUIRE r.current_slot IS UNIQUE;
CREATE CONSTRAINT context_current IF NOT EXISTS FOR ()-[r:CONTEXT]-() REQUIRE r.current_slot IS UNIQUE;

// versions of a slot never collide
CREATE CONSTRAINT fact_slot_version IF NOT EXISTS FOR ()-[r:FACT]-() REQUIRE (r.slot, r.version) IS UNIQUE;
CREATE CONSTRAINT preference_slot_version IF NOT EXISTS FOR ()-[r:PREFERENCE]-() REQUIRE (r.slot, r.version) IS UNIQUE;
CREATE CONSTRAINT context_slot_version IF NOT EXISTS FOR ()-[r:CONTEXT]-() REQUIRE (r.slot, r.version) IS UNIQUE;
