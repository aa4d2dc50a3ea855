"""How a judge treats good and bad answers: shares, their bounds, and what they decide.

`labelled.pair_with_labels` lays out labels and outputs, `shares.measure_shares` bounds the shares, `decision` and
`gates` decide what they show. `bounds` and `intervals` have the statistics.
"""
