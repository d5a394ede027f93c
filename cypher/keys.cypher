// Keys outside the ontology: the first use in a tenant fixes kind and arity.

// name: open_key
// mode: write
// scope: tenant
// params: tenant_id STRING, key STRING, kind STRING, arity STRING
// purpose: fix an open key's shape by its first use, and say what it is.
MERGE (k:Key {tenant_id: $tenant_id, key: $key})
  ON CREATE SET k.kind = $kind, k.arity = $arity
RETURN k.kind AS kind, k.arity AS arity;
