"""A rubric of two criteria, and judge outputs for it."""

RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 3
    score_ranges: {0: Wrong facts, 3: Several errors, 7: Small omissions, 9: Fully correct}
  - id: depth
    score_ranges: {0: No detail given, 3: Some detail, 6: Most details, 9: All the details}
"""


def output(accuracy, depth):
    return {"checks": [{"id": "accuracy", "score": accuracy}, {"id": "depth", "score": depth}]}
