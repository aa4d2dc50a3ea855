"""The user's project: its settings, its files, and how they are opened and written."""
