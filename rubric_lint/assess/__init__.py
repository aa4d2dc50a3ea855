"""What judges and people say of a rubric: agreement, the measure of a judge, rubric tests, better wordings.

`assess.assess` gives the answer as a whole. `agreement` joins results and labels and has figures for all raters,
`measure` bounds the shares of bad and good answers that a judge gets right, and `judged` has the rules on recorded
outputs. `probes` makes answers worse on purpose. `diff` compares runs and rubrics, `rubric_tests` runs tests and
mutates rubrics, and `improve` proposes other wordings.
"""
