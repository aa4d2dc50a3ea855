"""Store totals as JSON and read them back, exactly: totals of parts that are scored at different times add up."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rubric_lint.scoring.grading import ScoringRubric, Verdict
from rubric_lint.scoring.totals import Panel, Totals


def store_totals(totals: Totals) -> dict[str, Any]:
    """Return totals as JSON that `restore_totals` reads; fractions are strings."""
    return {
        "invalid": totals.invalid,
        "rubrics": {
            name: {
                "rubric_hash": part.rubric.hash,
                "verdicts": {str(verdict): times for verdict, times in part.verdicts.items()},
                "points": str(part.points),
                "sampled": part.sampled,
                "stable": part.stable,
                "panels": [[*panel.models, panel.votes, times] for panel, times in part.panels.items()],
                "criteria": [[*each.answers.items()] for each in part.criteria],
            }
            for name, part in totals.rubrics.items()
            if part.scored
        },
    }


def restore_totals(stored: Mapping[str, Any], rubrics: Mapping[str, ScoringRubric]) -> Totals:
    """Return the totals that `store_totals` stored, of the same rubrics.

    Raises:
        ValueError: if they are of other rubrics.
        KeyError: if they are not stored totals.
        TypeError: as KeyError.
    """
    totals = Totals(rubrics.values())
    totals.invalid = int(stored["invalid"])
    for name, given in stored["rubrics"].items():
        part = totals.rubrics.get(name)
        if part is None or part.rubric.hash != given["rubric_hash"]:
            raise ValueError(f"the totals have a rubric `{name}` with another meaning")
        part.verdicts = Counter({Verdict(verdict): times for verdict, times in given["verdicts"].items()})
        part.points = Fraction(given["points"])
        part.sampled, part.stable = given["sampled"], given["stable"]
        for *models, votes, times in given["panels"]:
            part.panels[Panel(tuple(models), votes)] = times
        for criterion, answers in zip(part.criteria, given["criteria"], strict=True):
            criterion.answers = Counter(dict(answers))
    return totals
