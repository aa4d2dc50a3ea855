"""Complete keys, values, ids and whole criteria."""
