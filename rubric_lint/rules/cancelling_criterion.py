"""Two criteria with one outcome and opposite signs."""

from collections.abc import Iterator

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric, fold_outcome
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find a criterion that counts against an answer for an outcome that another counts for it."""
    seen: dict[tuple[str, bool], Criterion] = {}
    for criterion in rubric.criteria:
        if criterion.outcome is None or not criterion.weight:
            continue
        text = fold_outcome(criterion.outcome)
        seen.setdefault((text, criterion.is_penalty), criterion)
        other = seen.get((text, not criterion.is_penalty))
        if other is None:
            continue
        place = Place("the other one", other.outcome_path)
        if criterion.is_negated or other.is_negated:
            values = {"other": other.label}
            yield Problem("turned", criterion.outcome_path, values=values, related=(place,))
        else:
            weights = {"weight": criterion.weight, "other": other.label, "other_weight": other.weight}
            yield Problem("opposite-signs", criterion.outcome_path, values=weights, related=(place,))


RULE = Rule(
    "cancelling-criterion",
    Severity.ERROR,
    {
        "opposite-signs": (
            "its weight is {weight}, and {other} ({line}) has the same outcome with the weight {other_weight}, so one "
            "takes what the other gives; remove one of them"
        ),
        "turned": (
            "it has the same outcome as {other} ({line}), and one of the two is earned by not meeting it, so no answer "
            "earns both; remove one of them"
        ),
    },
    check,
)
