"""`description` on a criterion or band."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.repairs import MESSAGES, find_deprecated
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find `description` on criteria and bands."""
    for path, fields, name in rubric.outdated:
        if name == "description":
            yield from find_deprecated(rubric, fields, path, name)


RULE = Rule("deprecated-description", Severity.WARNING, MESSAGES, check, fix="safe", marks=(Part.KEY,))
