"""Our format: its schemas and versions, its model, and what breaks its schema."""
