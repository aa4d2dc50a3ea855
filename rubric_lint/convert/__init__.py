"""A rubric written for another system, another release or another version, with the same scores.

Call `export.load_target` for a writer, `importing` for tables, `release.rewrite` for suites of AgentV and
`raising.raise_file` for a newer version. It stands above `scoring`: what is written must score as before.
"""
