"""An outcome that only keeps the place of one: punctuation, TODO, TBD, `<...>`."""

from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.outcomes import is_placeholder
from rubric_lint.rubric import Rubric
from rubric_lint.rule import Rule
from rubric_lint.wording import shorten


def check(rubric: Rubric) -> Iterator[Problem]:
    """Look at every outcome; what a template engine replaces is left alone."""
    for outcome in rubric.outcomes:
        if is_placeholder(outcome.text):
            message = f'"{shorten(outcome.text.strip())}" is a placeholder; say what an observer sees'
            yield Problem(message, outcome.path)


RULE = Rule("placeholder", Severity.WARNING, check)
