"""Read what judges return, from files of any kind: records, and the one verdict in a text."""
