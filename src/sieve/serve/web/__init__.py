"""HTTP: routes, bodies and their fields, the schema, errors, connections. Knows no translation."""
