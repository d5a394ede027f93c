// Statements of a CSV file (statements.csv shows the columns), 500 a transaction. A block that fails is left out and reported with its
// lines; the others are stored. In Browser put `:auto ` before LOAD. Then: graphmem adopt
:param tenant => 'default';
:param file => 'file:///statements.csv';

LOAD CSV WITH HEADERS FROM $file AS row
WITH row, linenumber() AS line
CALL (row) {
  MATCH (u:User {tenant_id: $tenant, user_id: row.user_id})
  CREATE (u)-[r:$(CASE toLower(row.kind) WHEN 'preference' THEN 'PREFERENCE' WHEN 'context' THEN 'CONTEXT' ELSE 'FACT' END)]->(m:Memory)
  // properties that are null are not stored. Id, slot, version and the time of recording are the service's to give
  SET m = {tenant_id: $tenant, user_id: row.user_id, value: row.value},
      r = {key: row.key, at: datetime(row.at), subject: row.subject, polarity: row.polarity, arity: row.arity, id: row.id,
           valid_from: datetime(row.valid_from), valid_to: datetime(row.valid_to), source: row.source, source_ref: coalesce(row.source_ref, $file)}
} IN TRANSACTIONS OF 500 ROWS
  ON ERROR CONTINUE
  REPORT STATUS AS status
WITH status.committed AS stored, status.errorMessage AS error, count(*) AS rows, min(line) AS first_line, max(line) AS last_line
RETURN stored, rows, first_line, last_line, error
ORDER BY first_line;
