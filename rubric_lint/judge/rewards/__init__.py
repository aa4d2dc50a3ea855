"""Functions that reward completions: `options` and counts, `asking` the judge, `rewarding` by its outputs.

`rubric_lint.rewards` offers them.
"""
