"""Two versions of rubrics: what changed in meaning, and what that does to judge outputs."""
