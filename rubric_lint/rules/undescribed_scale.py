"""Scores of a declared scale that no level describes."""

from collections.abc import Iterator

from rubric_lint.model.criterion import SPAN
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import list_scores
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the levels that only the scale of a criterion names, where others are described."""
    if not rubric.view:
        return  # in our format each level has an outcome
    for criterion in rubric.criteria:
        numbered = {level.number: level for level in criterion.levels or () if level.number is not None}
        bare = [at for at, level in numbered.items() if level.outcome is None and level.outcome_path == level.path]
        if 0 < len(bare) < len(numbered) <= _MOST:
            worst, best = (criterion.fields or {}).get(SPAN, (min(numbered), max(numbered)))
            values = {"levels": list_scores(bare), "worst": worst, "best": best}
            yield Problem("undescribed", criterion.path_of("levels"), Part.KEY, values)


_MOST = 11
"""On a scale with more answers, as 0 to 100 has, a judge goes by the nearest ones that are described."""


RULE = Rule(
    "undescribed-scale",
    Severity.HINT,
    {
        "undescribed": (
            "no level describes {levels} of the scale from {worst} to {best}; say what an observer sees there"
        )
    },
    check,
    marks=(Part.KEY,),
)
