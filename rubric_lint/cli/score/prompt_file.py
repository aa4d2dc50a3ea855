"""Print the requests for all answers of a file, for engines that run models offline."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.score.answers_file import STDIN, AnswersFile, hold
from rubric_lint.cli.score.judge_options import check_call, read_fields
from rubric_lint.judge.answers import AnswersError
from rubric_lint.judge.asking import Plan, list_requests
from rubric_lint.judge.call import Call
from rubric_lint.judge.journal import encode
from rubric_lint.run.console import complain
from rubric_lint.scoring.grading import ScoringRubric

_BODY = ("response_format", "temperature", "seed", "max_tokens", "extra_body")


def print_requests(answers: str, rubrics: Mapping[str, ScoringRubric], asking: dict[str, Any]) -> Exit:
    """Print one line for each request; `asking` has the values of the options. Return the exit code.

    Raises:
        click.UsageError: if the order of the criteria depends on a model that is not named.
    """
    fields = read_fields(asking)
    check_call(asking)
    model, sample = asking["model"], asking["sample"] or 1
    if asking["shuffle"] is not None and model is None:
        raise click.UsageError("--shuffle requires --model: the order depends on the answer and the model")
    if asking["sample"] is not None and asking["shuffle"] is None:
        raise click.UsageError("--sample requires --shuffle; without it, the order does not depend on it")
    body_settings: dict[str, Any] = {name: asking[name] for name in _BODY}
    call = Call(model or "", **body_settings)
    plan = Plan(samples=sample, per_criterion=asking["per_criterion"], shuffle=asking["shuffle"])
    out = sys.stdout.buffer
    with hold(answers) as stream:
        source = AnswersFile(stream, rubrics, fields)
        try:
            source.check()
        except AnswersError as wrong:
            for fault in wrong.faults:
                complain(f"{'stdin' if answers == STDIN else answers}: {fault}")
            return Exit.USAGE
        for answer in source.read():
            named = {"id": answer.record["id"], "rubric": answer.rubric.name}
            for request in list_requests(answer, [call], plan):
                if request.place.sample == sample:
                    body = {name: value for name, value in request.body.items() if name != "model" or model}
                    out.write(encode({**named, "custom_id": request.name, **body}) + b"\n")
    out.flush()
    return Exit.CLEAN
