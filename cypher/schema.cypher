// Which migrations ran. The chain itself is in schema/.

// name: schema_versions
// mode: read
// scope: system
// params: none
// purpose: versions and checksums that are in the graph; the first row keeps the label known to the planner.
OPTIONAL MATCH (v:SchemaVersion)
RETURN v.version AS version, v.checksum AS checksum
ORDER BY version;

// name: record_migration
// mode: write
// scope: system
// params: version INTEGER, name STRING, checksum STRING
// purpose: remember that a migration ran; the uniqueness of version makes a second record fail.
CREATE (v:SchemaVersion {version: $version, name: $name, checksum: $checksum, applied_at: datetime.realtime()})
RETURN v.version AS version;
