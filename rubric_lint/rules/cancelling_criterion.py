"""Two criteria with one outcome and opposite signs."""

from collections.abc import Iterator

from rubric_lint.model.criterion import Criterion
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric, fold_outcome, is_placeholder
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find a criterion that takes points for an outcome that another gives points for, or fails an answer for it."""
    seen: dict[tuple[str, str, bool], Criterion] = {}
    giving: dict[str, Criterion] = {}
    for criterion in rubric.criteria:
        giver = giving.get(fold_outcome(criterion.first_text)) if criterion.is_failure else None
        if giver:
            place = RelatedPlace("the criterion", giver.outcome_path)
            yield Problem("also-fails", criterion.outcome_path, values={"other": giver.label}, related=(place,))
        if criterion.outcome is None or not criterion.weight or criterion.is_negated:
            continue
        if criterion.weight > 0 and criterion.outcome.strip() and not is_placeholder(criterion.outcome):
            giving.setdefault(fold_outcome(criterion.outcome), criterion)
        text, is_penalty = fold_outcome(criterion.outcome), criterion.weight < 0
        seen.setdefault((text, criterion.place_in_groups, is_penalty), criterion)
        other = seen.get((text, criterion.place_in_groups, not is_penalty))
        if other:
            place = RelatedPlace("the other one", other.outcome_path)
            values = {"weight": criterion.weight, "other": other.label, "other_weight": other.weight}
            yield Problem("opposite-signs", criterion.outcome_path, values=values, related=(place,))


RULE = Rule(
    "cancelling-criterion",
    Severity.ERROR,
    {
        "opposite-signs": (
            "its weight is {weight}, and {other} ({line}) has the same outcome with the weight {other_weight}, so one "
            "takes what the other gives; remove one of them"
        ),
        "also-fails": (
            "{other} ({line}) gives points for the same outcome, so an answer that earns them fails; remove one of them"
        ),
    },
    check,
)
