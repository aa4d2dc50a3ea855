"""`description` on a criterion or band."""

from collections.abc import Iterator

from rubric_lint.deprecation import find_deprecated
from rubric_lint.finding import Part, Problem, Severity
from rubric_lint.rubric import Rubric
from rubric_lint.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find `description` on criteria and bands."""
    for path, mapping in rubric.mappings if "description" in rubric.field_names else ():
        if "description" in mapping:
            yield from find_deprecated(mapping, path, "description", rubric.replacements.get("description"))


RULE = Rule("deprecated-description", Severity.WARNING, check, fix="safe", marks=(Part.KEY,))
