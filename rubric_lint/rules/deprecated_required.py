"""`required` on a criterion."""

from collections.abc import Iterator

from rubric_lint.deprecation import find_deprecated
from rubric_lint.finding import Problem, Severity
from rubric_lint.rubric import Rubric, Shape
from rubric_lint.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Look at every criterion that may have a gate on its score; on others the field is misplaced, not deprecated."""
    for criterion in rubric.criteria:
        if criterion.fields and "required" in criterion.fields and criterion.shapes[0] in _WITH_GATE:
            replacement = rubric.replacements.get("required")
            yield from find_deprecated(criterion.fields, criterion.path, "required", replacement)


_WITH_GATE = (Shape.CHECKLIST, Shape.SCORE_RANGES)

RULE = Rule("deprecated-required", Severity.WARNING, check, fix="safe")
