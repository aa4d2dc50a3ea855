"""Formats that are described by a table, in the settings or built in: the table, and the reader that follows it."""
