"""A plain scalar that readers of YAML 1.1 and of YAML 1.2 take differently."""

from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.rubric import Rubric
from rubric_lint.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Word what was found while the document was read."""
    for path, (text, readings, advice) in rubric.ambiguous:
        yield Problem(f"`{text}` is {readings}; {advice}", path)


RULE = Rule("ambiguous-scalar", Severity.WARNING, check)
