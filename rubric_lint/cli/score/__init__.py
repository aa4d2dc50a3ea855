"""The commands of `rubric-score`."""
