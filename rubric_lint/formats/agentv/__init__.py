"""Suites of AgentV: what each release reads of them, and their conversion to another release.

`releases` has the table of each release, from its schema. `suites` tells suites and criteria of AgentV from those of
others, `parts` lists the parts of a suite and finds what a release does not read of them, `files` lists the files that
a suite names. Call `convert.find_blockers` and `convert.convert`; `suite_4` and `suite_5` know one release each.
"""
