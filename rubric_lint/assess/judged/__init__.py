"""Test what recorded judge outputs show about a rubric: the rules named judged-*."""
