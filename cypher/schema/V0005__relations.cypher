// cohorts: plans that are due and not promoted yet, by concept, so that a page costs what it returns and not what the tenant plans

CREATE INDEX fact_concept_planned IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.ckey, r.planned_slot);
CREATE INDEX preference_concept_planned IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.ckey, r.planned_slot);
CREATE INDEX context_concept_planned IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.ckey, r.planned_slot);
