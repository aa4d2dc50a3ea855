"""Answer the conformance suite with rubric-lint."""

import json

from protocol import refused, serve

import rubric_lint


def lint(request):
    """Return the findings, each with its span in code points."""
    found = rubric_lint.lint_source(request["file"], request["text"]).findings
    return {
        "findings": [
            {"rule": each.rule, "severity": each.severity, "start": each.span.start, "end": each.span.end}
            for each in found
        ]
    }


def score(request):
    """Return the exact score, the verdict and the missed gates, or why the output is not valid."""
    (rubric,) = rubric_lint.load_rubrics("case.rubric.json", json.dumps({"rubrics": request["rubric"]})).values()
    try:
        scored = rubric_lint.score(rubric, request["output"])
    except rubric_lint.OutputError as fault:
        return refused(fault)
    missed = [criterion.criterion.id for criterion in scored.criteria if not criterion.grade.gate_met]
    return {"valid": True, "score": str(scored.score), "verdict": scored.verdict, "missed": missed}


serve("rubric-lint", rubric_lint.__version__, lint=lint, score=score)
