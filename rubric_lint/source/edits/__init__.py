"""Intents of repairs, and the edits of a text that carry them out and leave every other byte alone."""
