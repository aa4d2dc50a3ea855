"""Lint many files: processes, cache, filters, progress, watching."""
