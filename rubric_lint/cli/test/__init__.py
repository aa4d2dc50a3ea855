"""The commands of `rubric-test`."""
