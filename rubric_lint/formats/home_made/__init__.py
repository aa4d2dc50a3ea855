"""Rubrics in forms of teams.

Call `understand.understand` for the candidates in a document, each with its evidence, its open questions and the table
that describes it, and `reading.read_by_tables` for the rubrics that such tables describe; `scale_reading`,
`weight_reading` and `threshold_reading` read parts of these. `format_table` has the table, `vocabulary` all words,
`roles` what a key may be, `unmapped` the keys that nothing reads, `assignments` what a user answers to open questions.
"""
