"""A rubric with everything that version 3 adds, and outputs for it."""

import json

from rubric_lint.scoring import load_rubrics

SCHEMA = "https://rubric-lint.github.io/schemas/v3/rubric.json"

REPLY = {
    "id": "reply",
    "expected_outcome": "A reply to a customer",
    "scale": [1, 5],
    "pass_threshold": 3.5,
    "borderline_threshold": 3,
    "grades": {"A": "90%", "C": "50%", "F": "10%"},
    "criteria": [
        {"id": "accuracy", "expected_outcome": "Every figure is right", "weight": 3, "required_min_score": 4},
        {"id": "method", "expected_outcome": "The sample", "levels": {"1": "Not said", "3": "Said", "5": "Why"}},
        {"id": "polite", "expected_outcome": "Greets back", "scale": [0, 1], "applies_if": "The customer greets"},
        {"id": "flow", "expected_outcome": "Flow", "scale": [0, 100], "score_ranges": {"0": "Jumps", "50": "Follows"}},
        {
            "id": "code",
            "expected_outcome": "The code",
            "weight": 2,
            "required_min_score": 2,
            "applies_if": "There is code",
            "criteria": [
                "The file exists",
                {"id": "style", "expected_outcome": "Style", "scale": [0.0, 1.0]},
                {"id": "harm", "expected_outcome": "Deletes a file", "scale": [0, 1], "weight": -1},
            ],
        },
    ],
    "critical_failures": ["Fabricates a source"],
}

BEST = {
    "accuracy": {"level": 5},
    "method": {"level": 5},
    "polite": {"satisfied": True},
    "flow": {"score": 100},
    "code/1": {"level": 5},
    "code/style": {"level": 1.0},
    "code/harm": {"satisfied": False},
    "failure-1": {"satisfied": False},
}

LEFT_OUT = {"applicable": False}

NO_CODE = dict.fromkeys(("code/1", "code/style", "code/harm"), LEFT_OUT)


def load(rubric):
    (found,) = load_rubrics("r.json", json.dumps({"$schema": SCHEMA, "rubrics": rubric})).values()
    return found


def of(checks):
    """An output with the best answers, except to some criteria."""
    return {"checks": [{"id": name, **check} for name, check in (BEST | checks).items()]}


NOTHING = {"criteria": [{"expected_outcome": "Figures match", "applies_if": "There are figures"}]}
