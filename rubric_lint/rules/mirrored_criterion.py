"""Two criteria of opposite signs of which one is the negation of the other."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Report each penalty for missing what another criterion gives points for."""
    for penalty, criterion in rubric.mirrors:
        if penalty.place_in_groups != criterion.place_in_groups:  # then it does not repeat the other
            continue
        place = RelatedPlace("the other one", criterion.outcome_path)
        values = {"weight": penalty.weight, "other": criterion.label, "other_weight": criterion.weight}
        yield Problem("negation", penalty.outcome_path, values=values, related=(place,))


RULE = Rule(
    "mirrored-criterion",
    Severity.WARNING,
    {
        "negation": (
            "it takes points ({weight}) for missing what {other} ({line}) gives points for ({other_weight}), so one "
            "miss costs both; keep one of them"
        )
    },
    check,
)
