"""The differences between two runs or two versions of a rubric, and whether limits hold.

`rubric_diff.compare_rubrics` yields the changes in meaning between rubrics, `compare_runs.OtherRun` joins the answers
of two runs, and `limits.RunLimits` decides by intervals.
"""
