// Relations between statements of the same file, by their ids (relations.csv shows the columns); before `graphmem adopt`, which carries
// them over to the memories. In Browser put `:auto ` before LOAD.
:param tenant => 'default';
:param file => 'file:///relations.csv';

LOAD CSV WITH HEADERS FROM $file AS row
WITH row, linenumber() AS line
WHERE row.type IN ['HAS_CONDITION', 'AFFECTS_MEDICATION', 'CONTRADICTS', 'DERIVED_FROM']
CALL (row) {
  MATCH (u:User {tenant_id: $tenant, user_id: row.user_id})
  MATCH (u)-[p:FACT|PREFERENCE|CONTEXT]->(a:Memory)
  WHERE p.id = row.from_id AND p.mid IS NULL
  MATCH (u)-[q:FACT|PREFERENCE|CONTEXT]->(b:Memory)
  WHERE q.id = row.to_id AND q.mid IS NULL
  MERGE (a)-[x:$(row.type)]->(b)
    ON CREATE SET x.weight = toFloat(coalesce(row.weight, '1'))
} IN TRANSACTIONS OF 500 ROWS
  ON ERROR CONTINUE
  REPORT STATUS AS status
WITH status.committed AS stored, status.errorMessage AS error, count(*) AS rows, min(line) AS first_line, max(line) AS last_line
RETURN stored, rows, first_line, last_line, error
ORDER BY first_line;
