"""A criterion that costs points and is worded with a negation."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.openings import find_demand, find_negation
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule

_SHOWN = 3
"""How many of the other penalties a finding points to."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the penalties whose main verb is negated, at the start of the outcome, and report them once."""
    found = []
    for criterion in rubric.criteria:
        text = criterion.outcome
        may_gain = criterion.is_penalty and not criterion.is_failure  # which has no opposite that gives points
        if may_gain and text and not find_demand(text):  # of which `contradicting-sign` says more
            said = find_negation(text)
            found += [(criterion, said)] if said else []
    if found:  # which is dear to compare
        mirrors = {id(penalty) for penalty, _ in rubric.mirrors}  # `mirrored-criterion` says more of them
        found = [(criterion, said) for criterion, said in found if id(criterion) not in mirrors]
    if not found:
        return
    (first, said), *others = found
    code = "negated"
    values: dict[str, object] = {"said": said}
    if others:
        code, values["count"] = "several", len(found)
    places = tuple(RelatedPlace("also negated", other.outcome_path) for other, _ in others[:_SHOWN])
    yield Problem(code, first.outcome_path, values=values, related=places)


_ADVICE = "so a judge may call a good answer met; give points for the opposite instead"
RULE = Rule(
    "negated-penalty",
    Severity.HINT,
    {
        "negated": f'it counts against an answer, and "{{said}}" negates it, {_ADVICE}',
        "several": (
            f'it counts against an answer, and "{{said}}" negates it ({{count}} penalties of this rubric are negated), '
            f"{_ADVICE}"
        ),
    },
    check,
    once=True,
)
