"""Lint one file: from its text to findings."""
