"""A criterion that costs points and is worded with a negation."""

import re
from collections.abc import Iterator

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.wording import NEGATION, find_demand, opening
from rubric_lint.rules.rule import Rule

_NEGATED = re.compile(opening(NEGATION))
_SHOWN = 3
"""How many of the other penalties a finding points to."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the penalties whose main verb is negated, at the start of the outcome, and report them once."""
    found = [(criterion, said) for criterion in rubric.criteria if (said := _find_negation(criterion))]
    if not found:
        return
    (first, said), *others = found
    values: dict[str, object] = {"said": said}
    if others:
        values["count"] = len(found)
    places = tuple(Place("also negated", other.outcome_path) for other, _ in others[:_SHOWN])
    yield Problem("several" if others else "negated", first.outcome_path, values=values, related=places)


def _find_negation(criterion: Criterion) -> str:
    """Return the negation that a penalty begins with; empty for one of which `contradicting-sign` says more."""
    if not criterion.is_penalty or not criterion.outcome or find_demand(criterion.outcome):
        return ""
    found = _NEGATED.match(criterion.outcome)
    return " ".join(found["said"].split()) if found else ""


_ADVICE = "so a judge may call a good answer met; give points for the opposite instead"
RULE = Rule(
    "negated-penalty",
    Severity.HINT,
    {
        "negated": f'it counts against an answer, and "{{said}}" negates it, {_ADVICE}',
        "several": (
            f'it counts against an answer, and "{{said}}" negates it, as in {{count}} penalties of this rubric, '
            f"{_ADVICE}"
        ),
    },
    check,
)
