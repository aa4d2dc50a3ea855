"""Rubrics, records and ratings for tests of agreement."""

import json

from rubric_lint.assess.agreement.analysis import analyse
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.measure.decision import MeasureOptions
from rubric_lint.scoring.loading import load_rubrics

CHECK = "rubrics: [{id: c, expected_outcome: Names the pivot, required_min_score: 10}]\n"
SCORES = """\
rubrics:
  - {id: c, required_min_score: 7, score_ranges: {0: Wrong, 3: Partly wrong, 7: Right in most, 10: Right in all}}
"""
LEVELS = """\
rubrics:
  - {id: c, required_min_level: 3, levels: {1: Off topic, 2: Has a gap, 3: Right in the main, 5: Right in all}}
"""
RUBRICS = {"A": CHECK, "B": SCORES, "C": LEVELS}
FIELDS = {"A": "satisfied", "B": "score", "C": "level"}


def record(shape, name, value, **more):
    """A record of one criterion."""
    value = bool(value) if shape == "A" else value
    return {"id": name, **more, "output": {"checks": [{"id": "c", FIELDS[shape]: value}]}}


def records(shape, rater, values, ids=None, **more):
    """The records of one rater, without those that are missing."""
    ids = ids or [f"a{number:03}" for number in range(len(values))]
    return [
        record(shape, name, value, rater=rater, **more)
        for name, value in zip(ids, values, strict=True)
        if value is not None
    ]


def lines(entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def read(rubric, results=(), labels=(), **options):
    """Read records as the command reads files."""
    reader = RatingReader(load_rubrics("r.yaml", rubric), **options)
    for name, entries, are_labels in (("results.jsonl", results, False), ("labels.jsonl", labels, True)):
        if entries:
            reader.read(name, [lines(entries).encode()], labels=are_labels)
    return reader


def measure(rubric, results=(), labels=(), *, plan=None):
    """Return the agreement on the only rubric."""
    (ratings,) = read(rubric, results, labels).join()
    return analyse(ratings, plan or MeasureOptions())
