// range indexes; nullable properties make them partial

// rows of a slot, and rows about a thing, that still matter after a moment: a write reads these and no older history
CREATE INDEX fact_slot_until IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.slot, r.until);
CREATE INDEX preference_slot_until IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.slot, r.until);
CREATE INDEX context_slot_until IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.slot, r.until);
CREATE INDEX fact_thing_until IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.thing, r.until);
CREATE INDEX preference_thing_until IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.thing, r.until);

// rows whose start is still to come, and undecided pending ones
CREATE INDEX fact_planned IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.planned_slot);
CREATE INDEX preference_planned IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.planned_slot);
CREATE INDEX context_planned IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.planned_slot);
CREATE INDEX fact_pending IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.pending_slot);
CREATE INDEX preference_pending IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.pending_slot);
CREATE INDEX context_pending IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.pending_slot);

// current rows by concept: "all coffee memories of this user" and cohort pages, without history
CREATE INDEX fact_concept IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.ckey, r.current_slot);
CREATE INDEX preference_concept IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.ckey, r.current_slot);
CREATE INDEX context_concept IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.ckey, r.current_slot);

// sweeps
CREATE INDEX preference_expiry IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.expires_at);
CREATE INDEX context_expiry IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.expires_at);
CREATE INDEX fact_expiry IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.expires_at);
CREATE INDEX change_time IF NOT EXISTS FOR (c:Change) ON (c.tenant_id, c.at);

// the outbox: pending_at is the lease; a user's own records answer "not projected yet"
CREATE INDEX outbox_pending IF NOT EXISTS FOR (o:Outbox) ON (o.pending_at);
CREATE INDEX outbox_user IF NOT EXISTS FOR (o:Outbox) ON (o.tenant_id, o.user_id);
