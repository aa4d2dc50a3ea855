"""Find the rubrics of a document, in our format or in dialects, and near-rubrics.

Call `locate.search` for the rubrics and `near_misses` for what is not read, with the reason. `around` finds what may
decide a score and is not read. `described` reads the tables of dialects, `home_made` the forms of teams,
`scales_in_text` bands and levels in one text, `documents` Markdown and notebooks. `adoptable` serves `adopt`.
"""
