"""Improve a rubric: propose other wordings, and offer only what measures better on held-out answers.

`run.Improver` goes through the criteria to fix, `proposals` makes wordings and rejects bad ones before anything is
judged, and `trial.decide` compares outputs on the same answers before and after.
"""
