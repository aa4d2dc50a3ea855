"""Checks, fixes and scores the YAML rubrics that language models are judged by."""

__version__ = "0.1.0"
