"""Test what recorded judge outputs show about a rubric: the rules named judged-*.

`review.JudgedRun` adds them to the results of a run over files; `table.build_table` lays the answers of a rubric out
in columns, `rules.apply_rules` yields `outcomes`.
"""
