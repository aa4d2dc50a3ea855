"""The commands of `rubric-lint`."""
