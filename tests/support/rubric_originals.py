"""Asks Google ADK, pydantic-evals, rubric, autorubric and tolokaforge: a JSON request a line in, a JSON answer out.

Runs in the environment of `make agreement`, where these packages are and nothing of ours. No network is used.
"""

import asyncio

from questions import original, serve


@original
def adk(entry):
    """Whether ADK takes an entry of a rubric."""
    from google.adk.evaluation.eval_rubrics import Rubric

    try:
        Rubric.model_validate(entry)
    except ValueError:
        return False
    return True


@original
def pydantic_evals(text):
    """Whether pydantic-evals loads a data set."""
    from pydantic_evals import Dataset

    try:
        Dataset[str, str, None].from_text(text, fmt="yaml")
    except Exception:  # a group of errors
        return False
    return True


@original
def rubric(data, met):
    """What the package rubric makes of criteria of which some are met."""
    from rubric import Rubric
    from rubric.autograders.per_criterion_grader import PerCriterionGrader
    from rubric.types import CriterionReport

    criteria = Rubric.from_dict(data).rubric
    reports = [
        CriterionReport(
            weight=each.weight, requirement=each.requirement, verdict="MET" if is_met else "UNMET", reason=""
        )
        for each, is_met in zip(criteria, met, strict=True)
    ]
    return asyncio.run(PerCriterionGrader(generate_fn=None).aggregate(reports)).score


@original
def autorubric(data):
    """The weights and the options that autorubric reads; None if it refuses them."""
    from autorubric import Rubric

    try:
        criteria = Rubric.from_dict(data).rubric
    except ValueError:
        return None
    return [[each.weight, [[o.label, o.value] for o in each.options or ()]] for each in criteria]


@original
def tolokaforge(rubric, met):
    """The score of tolokaforge and whether a gate failed; None if it refuses the rubric."""
    from tolokaforge.core.grading.rubric import SubmitReportValidationError, aggregate_rubric
    from tolokaforge.runner.models import CriterionResult, Rubric

    try:
        read = Rubric.model_validate(rubric)
        results = [
            CriterionResult(id=each.id, met=is_met, score=float(is_met), justification="")
            for each, is_met in zip(read.criteria, met, strict=True)
        ]
        found = aggregate_rubric(read, results)
    except (ValueError, SubmitReportValidationError):
        return None
    return [found.score, found.gate_failed]


serve()
