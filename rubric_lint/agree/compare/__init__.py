"""Compare two versions of rubrics: changes in meaning, and their effect on judge outputs."""
