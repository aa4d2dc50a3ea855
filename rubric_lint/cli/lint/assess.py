"""Define `rubric-lint assess`, which says whether a rubric and its judge can be trusted, and what to fix."""

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from rubric_lint.cli.commands import Command, Exit, option
from rubric_lint.cli.options import COLOR, Choice, FileName, SettingsOptions, with_settings
from rubric_lint.cli.score.judge import Work, judge, judge_answers, name_results, read_limit
from rubric_lint.cli.score.judge_options import MODELS, STDIN, Model, find_access, make_plan, read_fields
from rubric_lint.cli.score.options import rubric_argument
from rubric_lint.messages import visible
from rubric_lint.run.console import Progress

_ASKING = (
    *("base_url", "api_key_env", "temperature", "seed", "max_tokens", "extra_body", "headers", "secret_headers"),
    *("response_format", "per_criterion", "max_attempts", "concurrency", "rpm", "tpm", "timeout", "retries"),
    *("max_requests", "max_cost", "prices", "no_cache", "cache_dir"),
    *("id_field", "answer_field", "question_field", "reference_field", "rubric_field"),
)
_SEED = 1
"""The seed of the orders in which criteria are asked for: only shuffled ones show whether the place matters."""

_UNDECIDED = 4

_FORMS = {".json": "json", ".md": "markdown", ".markdown": "markdown"}

_CALL = "rubric-lint assess examples/summary.rubric.yaml answers.jsonl"


@click.command(
    "assess",
    cls=Command,
    short_help="Say whether a rubric can be trusted, and what to fix.",
    examples={
        f"{_CALL} --model gpt-5": "Have a model judge the answers twice, then assess the rubric",
        f"{_CALL} --labels labels.csv": "Assess what is recorded, with labels of people",
        f"{_CALL} --labels labels.csv -o assessment.md": "Write a comment for a pull request",
    },
    exits={
        Exit.CLEAN: "trusted: labels of people show that the judge is good enough, and no rule found a fault",
        Exit.FOUND: "not trusted: an error, a criterion to fix, or verdicts that people do not share",
        _UNDECIDED: "undecided: the report says how many labels would decide",
    },
    params=[param for param in judge.params if param.name in _ASKING],
)
@rubric_argument
@click.argument("answers", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option("Input", "--labels", multiple=True, metavar="FILE", type=FileName(), help="Labels of people. Can be repeated.")
@option(
    "Input",
    "--results",
    multiple=True,
    metavar="FILE",
    type=FileName(),
    help="Recorded judge outputs; with --model, the file to write and resume.  [default: NAME.judged.jsonl for "
    "NAME.jsonl]",
)
@option(
    "Model",
    "--model",
    "models",
    **MODELS,
    help="The model that judges answers without a recorded output: NAME or NAME@URL. Several are a panel.",
)
@option(
    "Requests",
    "--samples",
    type=click.IntRange(2, 99),
    default=2,
    show_default=True,
    help="Outputs per answer and model.",
)
@option(
    "Decision",
    "--target",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Share of bad answers to catch and of good ones to pass.",
)
@option(
    "Decision",
    "--look",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How often you have looked at these data as they grew, this time included.",
)
@option(
    "Output",
    "--format",
    "form",
    type=Choice(("full", "json", "markdown")),
    help="Report format.  [default: by the ending of --output-file, else full]",
)
@option(
    "Output",
    "-o",
    "--output-file",
    metavar="FILE",
    type=FileName(),
    help="Write the report to FILE, as JSON or Markdown if its name ends in .json or .md.",
)
@option("Output", "--color", **COLOR)
@with_settings
def assess(  # long, because click passes each option by itself
    *,
    file: str,
    answers: str,
    labels: tuple[str, ...],
    results: tuple[str, ...],
    models: tuple[Model, ...],
    target: float,
    look: int,
    form: str | None,
    output_file: str | None,
    color: str,
    settings: SettingsOptions,
    **asking: Any,
) -> int:
    """Say on one page whether a rubric is any good: which criteria to keep, which to fix, and what is still unknown.

    Lints RUBRIC, runs its tests, judges ANSWERS that have no recorded output if --model names a judge, and compares the
    verdicts with labels of people. ANSWERS are as for `rubric-score judge`.
    """
    from rubric_lint.agree.assess import Asked  # noqa: PLC0415
    from rubric_lint.cli.lint.assessing import Linted  # noqa: PLC0415
    from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style, open_report  # noqa: PLC0415
    from rubric_lint.report.assessment import FORMATS, Given, word_headline  # noqa: PLC0415

    if models and len(results) > 1:
        raise click.UsageError("--results: with --model, name one file")
    if not models and (asking["max_requests"] is not None or asking["max_cost"] is not None):
        raise click.UsageError("--max-requests and --max-cost require --model")
    form = form or _FORMS.get(Path(output_file or "").suffix.lower(), "full")
    escape_what_cannot_be_encoded()
    linted = Linted(file, settings.finder())
    fields = read_fields(asking)
    recorded: tuple[str, ...] = ()
    if not linted.has_errors and models:
        output = Path(results[0]) if results else name_results(answers, None, "--results")
        access, plan = find_access(models, asking), make_plan({**asking, "shuffle": _SEED})
        work = Work(answers, output, linted.prepare(), fields, access, plan, read_limit(asking))
        code = judge_answers(work, asking, cache_dir=asking["cache_dir"], no_cache=asking["no_cache"])
        if code == Exit.USAGE:
            return code
        recorded = (str(output),)
    elif not linted.has_errors:
        recorded = results or _find_results(answers) or linted.judged
    saved = f"; {recorded[0]} has what was judged" if models and recorded else ""
    with Progress(sys.stderr).reporting_interrupt(lambda: f"before the report was written{saved}"):
        found = linted.assess(recorded, labels or linted.labels, Asked(Fraction(str(target)), look))
    given = Given(file, answers, recorded, labels, linted.records, linted.unmatched, linted.ignored)
    style = make_style(color, is_file=output_file is not None)
    with open_report(output_file, Progress(sys.stderr), style) as write:
        FORMATS[form](found, given, style, write)
    if output_file is not None:
        for each in found:
            click.echo(f"{visible(each.rubric)}: {visible(word_headline(each))}")
    return max((_EXITS[each.trust] for each in found), key=_ORDER.index)


_EXITS = {"trusted": Exit.CLEAN, "not trusted": Exit.FOUND, "undecided": _UNDECIDED}
_ORDER = (Exit.CLEAN, _UNDECIDED, Exit.FOUND)
"""The exit codes; of several rubrics the one that is last here counts."""


def _find_results(answers: str) -> tuple[str, ...]:
    """Return the results beside the answers, or the file of answers itself if it has outputs; none if neither is."""
    if answers == STDIN:
        return ()
    beside = name_results(answers, None, "--results")
    if beside.is_file():
        return (str(beside),)
    from rubric_lint.agree.judged.run import read_records  # noqa: PLC0415

    firsts = [lines[0].text for lines in read_records(answers).lines.values()]
    return (answers,) if any(b'"output' in text for text in firsts) else ()
