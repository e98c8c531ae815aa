"""The database: schema, statements, leases, copies."""
