"""Find what is at a place in a document: its field, its schema, its criterion."""
