"""A criterion whose sign contradicts its wording."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.openings import find_demand, opening
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule

_FAILS = re.compile(opening(r"(?:fail|neglect)s?\s+to"))


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find penalties for what a good answer does, and points for what a bad one does."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if not text or not criterion.is_check:
            continue
        if criterion.is_penalty:
            said = find_demand(text)
            if said:
                yield Problem("penalty", criterion.outcome_path, values={"said": said})
            continue
        found = _FAILS.match(text) if criterion.weight else None
        if found:
            code = "points" if rubric.view else "own-points"  # in our own format no criterion takes points
            yield Problem(code, criterion.outcome_path, values={"said": " ".join(found["said"].split())})


RULE = Rule(
    "contradicting-sign",
    Severity.WARNING,
    {
        "penalty": (
            'it counts against an answer, but "{said}" asks for it, so a good answer meets it and loses; let it count '
            "for an answer, or say what a bad answer does"
        ),
        "points": (
            'it counts for an answer, but "{said}" says what a bad answer does, which meets it and gains; let it count '
            "against an answer, or say what a good answer does"
        ),
        "own-points": (
            'it counts for an answer, but "{said}" says what a bad answer does, which meets it and gains; say what a '
            "good answer does"
        ),
    },
    check,
)
