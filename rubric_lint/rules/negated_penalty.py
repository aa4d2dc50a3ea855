"""A criterion that costs points and is worded with a negation."""

import re
from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.signs import SUBJECT
from rubric_lint.rules.rule import Rule

_NEGATED = re.compile(
    rf"\s*{SUBJECT}(?:\w+ly\s+)?(?P<said>(?:does|do|did|is|has)(?:\s+not|n['’]t)|fail(?:s|ed)?\s+to|neglects?\s+to|never)\b",  # noqa: RUF001
    re.IGNORECASE,
)


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the penalties whose main verb is negated, at the start of the outcome."""
    for criterion in rubric.criteria:
        costs = criterion.is_negated or (criterion.weight is not None and criterion.weight < 0)
        if costs and criterion.outcome and (found := _NEGATED.match(criterion.outcome)):
            yield Problem("negated", criterion.outcome_path, values={"said": found["said"]})


RULE = Rule(
    "negated-penalty",
    Severity.HINT,
    {
        "negated": (
            'it counts against an answer, and "{said}" negates it, so a judge may call a good answer met; say what the '
            "bad answer does"
        )
    },
    check,
)
