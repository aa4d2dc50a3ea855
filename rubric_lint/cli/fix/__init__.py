"""The command `rubric-fix`."""
