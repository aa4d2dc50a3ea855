"""Ask a model to judge: the prompt, one client, one loop, the journal and the limits.

Call `prompt` for the messages of a rubric, `run` to judge answers, `asking` for one reply. `rewards/` makes reward
functions, which `rubric_lint.rewards` offers.
"""
