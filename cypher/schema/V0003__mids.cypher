// an edge by its own id: candidates are joined back without a walk over everything else that hangs on the memory

CREATE INDEX fact_mid IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.mid);
CREATE INDEX preference_mid IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.mid);
CREATE INDEX context_mid IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.mid);
