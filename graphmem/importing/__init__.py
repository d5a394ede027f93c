"""Files of statements, many at a time: read, checked, judged and stored; and whole tenants brought back as they were."""
