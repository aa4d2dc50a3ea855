"""A weight that is negative, infinite or not a number, weights of two kinds, or weights that add up to 0."""

import math
from collections.abc import Iterator

from rubric_lint.model.criterion import weigh_nothing
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import describe_infinite
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find what JSON Schema cannot: NaN, infinity and a total of 0; the schema finds negative weights."""
    may_deduct = rubric.view is not None and rubric.view.dialect.has_deductions
    least = "" if may_deduct else " of at least 0"
    for criterion in rubric.criteria:
        value = (criterion.fields or {}).get("weight")
        if isinstance(value, float) and (math.isnan(value) or value == math.inf or (may_deduct and math.isinf(value))):
            values = {"field": rubric.format_field("weight"), "found": describe_infinite(value), "least": least}
            yield Problem("infinite", criterion.path_of("weight"), values=values)
    is_by_group = rubric.view is not None and not rubric.dialect  # which `model/version_3.py` looks at
    if rubric.criteria and weigh_nothing(rubric.criteria) and not is_by_group:
        places = tuple(RelatedPlace("weighs nothing", criterion.path_of("weight")) for criterion in rubric.criteria[:3])
        yield Problem("all-zero", rubric.path, Part.KEY, related=places)


RULE = Rule(
    "weight",
    Severity.ERROR,
    {
        **of_schema("unexpected", "minimum", "none-counts"),
        "below-zero": "{subject} {found}, expected at least {least}; version 3 has weights below 0: to use it, {how}",
        "infinite": "{field} is {found}, expected a finite number{least}",
        "lacking": "no `{field}`, which other criteria have; say how much it counts",
        "unknown-word": '`{field}` is "{word}", for which the settings have no weight; they have {known}',
        "two-kinds": "`{weight}` is a weight of another kind than `{other}` ({line}); write all with % or none",
        "total": "the weights add up to {sum}, not to {total}; correct one of them",
        "parts": "the `{field}` of the parts add up to {sum}, not to {whole}; correct one of them",
        "highest-level": "`{field}` is {points}, but the highest level is worth {highest} points; correct one of them",
        "all-zero": "all weights are 0, so there is no average; give at least one criterion a weight above 0",
        "none-above-zero": (
            "no weight in here is above 0, so there is nothing to divide by; give at least one a weight above 0"
        ),
        "penalty-alone": (
            "this penalty costs nothing where no criterion of its group that earns points applies; move it out of the "
            "group, or move `applies_if` to the group"
        ),
        "harbor-infinite": "`weight` is not a finite number",
        "harbor-negative": '`weight` is {found}; Harbor takes one below 0 only with `aggregation = "weighted-sum"`',
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)
