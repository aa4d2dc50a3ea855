"""Define `rubric-lint assess`, which says whether a rubric and its judge can be trusted, and what to fix."""

import sys
from fractions import Fraction
from pathlib import Path

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import JUDGING, STDIN, Given, command
from rubric_lint.cli.score.judge import Work, judge_answers, name_results, read_limit
from rubric_lint.cli.score.judge_options import find_access, make_plan
from rubric_lint.messages import UserError, visible
from rubric_lint.project.files import explain_os_error
from rubric_lint.run.console import Progress

_SEED = 1
"""The seed of the orders in which criteria are asked for: only shuffled ones show whether the place matters."""

_UNDECIDED = 4

_FORMS = {".json": "json", ".md": "markdown", ".markdown": "markdown"}

_CALL = "rubric-lint assess examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "labels results model base-url max-cost prices map:answers format:assess output:assess"
    f" | samples:two {JUDGING} max-requests no-cache cache-dir target look color config isolated",
    short="Say whether a rubric can be trusted, and what to fix.",
    examples={
        f"{_CALL} --model gpt-5": "Have a model judge the answers twice, then assess the rubric",
        f"{_CALL} --labels labels.csv": "Assess what is recorded, with labels of people",
        f"{_CALL} --labels labels.csv -o assessment.md": "Write Markdown",
    },
    exits={
        Exit.CLEAN: "trusted: labels of people show that the judge is good enough, and no rule found a fault",
        Exit.FOUND: "not trusted: an error, a criterion to fix, or verdicts that people do not share",
        _UNDECIDED: "undecided: the report says how many labels would decide",
    },
    clashes="""
        --max-requests needs --model
        --max-cost needs --model
        --max-cost needs --prices; it has the prices of the models
    """,
)
def assess(given: Given) -> int:
    """Say on one page whether a rubric is any good: which criteria to keep, which to fix, and what is still unknown.

    Lints RUBRIC, runs its tests, judges ANSWERS that have no recorded output if --model names a judge, and compares the
    verdicts with labels of people. ANSWERS are as for `judge`.
    """
    from rubric_lint.agree.assess import Asked  # noqa: PLC0415
    from rubric_lint.cli.lint.assessing import Linted, refuse_other_texts  # noqa: PLC0415
    from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style, open_report  # noqa: PLC0415
    from rubric_lint.report import assessment  # noqa: PLC0415

    if given.models and len(given.results) > 1:
        raise click.UsageError("--results: with --model, name one file")
    given.form = given.form or _FORMS.get(Path(given.output or "").suffix.lower(), "full")
    escape_what_cannot_be_encoded()
    if given.rubric == STDIN:
        raise click.UsageError("RUBRIC cannot be read from stdin, as its tests and results are beside it; name a file")
    named = given.labels if given.models else (*given.labels, *given.results)
    if missing := [name for name in named if name != STDIN and not Path(name).exists()]:
        raise UserError(*(f"{name}: {explain_os_error(name, FileNotFoundError())}" for name in missing))
    linted = Linted(given.rubric, given.finder())
    recorded: tuple[str, ...] = ()
    if not linted.has_errors and given.models:
        output = Path(given.results[0]) if given.results else name_results(given.answers, None, "--results")
        access, plan = find_access(given.models, vars(given)), make_plan({**vars(given), "shuffle": _SEED})
        work = Work(given, output, linted.prepare(), access, plan, read_limit(given))
        code = judge_answers(work)
        if code == Exit.USAGE:
            return code
        recorded = (str(output),) if output.stat().st_size else ()
    elif not linted.has_errors:
        recorded = given.results or _find_results(given.answers) or linted.judged
        if given.answers != STDIN and given.answers not in recorded:
            refuse_other_texts(given.answers, given.fields, recorded)
    saved = f"; {recorded[0]} has what was judged" if given.models and recorded else ""
    with Progress(sys.stderr).reporting_interrupt(lambda: f"before the report was written{saved}"):
        found = linted.assess(recorded, given.labels or linted.labels, Asked(Fraction(str(given.target)), given.look))
    files = given.rubric, given.answers, recorded, given.labels
    basis = assessment.Given(*files, linted.records, linted.unmatched, linted.ignored, linted.off, linted.unread)
    style = make_style(given.color, is_file=given.output is not None)
    with open_report(given.output, Progress(sys.stderr), style) as write:
        assessment.FORMATS[given.form](found, basis, style, write)
    if given.output is not None:
        for each in found:
            click.echo(f"{visible(each.rubric)}: {visible(assessment.word_headline(each))}")
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
