// what a user held on a past day: rows by their owner that still mattered after a moment, so that older history is not read
CREATE INDEX fact_owner_until IF NOT EXISTS FOR ()-[r:FACT]-() ON (r.owner, r.until);
CREATE INDEX preference_owner_until IF NOT EXISTS FOR ()-[r:PREFERENCE]-() ON (r.owner, r.until);
CREATE INDEX context_owner_until IF NOT EXISTS FOR ()-[r:CONTEXT]-() ON (r.owner, r.until);
// the owner is the slot's start: `1|tenant|user|`, its parts escaped, so that a bar only ever separates them
MATCH (:User)-[r:FACT|PREFERENCE|CONTEXT]->(:Memory)
WHERE r.owner IS NULL AND r.slot IS NOT NULL
CALL (r) {
  WITH split(r.slot, '|') AS parts
  SET r.owner = parts[0] + '|' + parts[1] + '|' + parts[2] + '|'
} IN TRANSACTIONS OF 5000 ROWS;
