"""What judges and people say of a rubric: agreement, the measure of a judge, rubric tests, better wordings.

Call `assess.assess` for the answer as a whole, `agreement.analysis` for figures, `judged.run` for rules on judged data,
`diff` to compare runs and rubrics, `rubric_tests.running`, `improve.run`.
"""
