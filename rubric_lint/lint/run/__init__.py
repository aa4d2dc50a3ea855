"""Lint many files: processes, cache, filters, progress, watching.

Call `batch.lint_files` for the results of files, `linting.LintRun` to report them too, and `watching.Watch` to do that
again whenever they change. `git` and `baseline` have the filters of findings, `summary` the counts and what is said.
"""
