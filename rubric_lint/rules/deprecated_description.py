"""`description` on a criterion or band."""

from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.repairs import MESSAGES, find_deprecated
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find `description` on criteria and bands."""
    for path, fields, name in rubric.outdated:
        if name == "description":
            yield from find_deprecated(rubric, fields, path, name)


RULE = Rule("deprecated-description", Severity.WARNING, MESSAGES, check, fix="safe", marks=(Part.KEY,))
