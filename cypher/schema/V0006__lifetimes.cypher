// the purge finds what was forgotten, and the archive keeps where a slot's versions go on

CREATE INDEX fact_tombstoned IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.tombstoned_at);
CREATE INDEX preference_tombstoned IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.tombstoned_at);
CREATE INDEX context_tombstoned IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.tombstoned_at);
CREATE CONSTRAINT archived_key IF NOT EXISTS FOR (a:Archived) REQUIRE (a.tenant_id, a.user_id, a.slot) IS UNIQUE;
