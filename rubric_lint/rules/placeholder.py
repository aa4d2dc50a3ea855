"""A placeholder instead of an outcome: punctuation, TODO, TBD, `<...>`."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import shorten
from rubric_lint.model.rubric import Rubric, is_placeholder
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find placeholders among the outcomes, except those that a template engine replaces."""
    for outcome in rubric.outcomes:
        if is_placeholder(outcome.text):
            yield Problem("unfinished", outcome.path, values={"text": shorten(outcome.text.strip())})


RULE = Rule(
    "placeholder", Severity.WARNING, {"unfinished": '"{text}" is a placeholder; say what an observer sees'}, check
)
