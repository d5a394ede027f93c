// Users of a CSV file, one node each. Run again it changes nothing.
:param tenant => 'default';
:param file => 'file:///statements.csv';

LOAD CSV WITH HEADERS FROM $file AS row
WITH row
WHERE row.user_id IS NOT NULL
CALL (row) {
  MERGE (:User {tenant_id: $tenant, user_id: row.user_id})
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS rows;
