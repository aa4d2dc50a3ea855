"""Measure how well judges agree with people and with each other, for a whole rubric, each criterion and each band.

`reading.RatingReader` reads results and labels and joins them by rubric and id to `ratings.Ratings`;
`analysis.analyse_all` measures them, with `comparison` for any two raters and `coefficients` for the arithmetic.
`sheets` draws answers and writes the sheet that people fill in.
"""
