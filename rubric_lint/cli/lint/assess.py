"""Define `assess`, which says whether a rubric and its judge can be trusted, and `improve`, which proposes wordings."""

import sys
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import JUDGING, STDIN, Given, command
from rubric_lint.cli.score.judge import Work, judge_answers, name_results, read_limit
from rubric_lint.cli.score.judge_options import SEED, find_access, make_plan
from rubric_lint.cli.score.options import require_existing
from rubric_lint.messages import visible
from rubric_lint.run.console import Progress
from rubric_lint.run.summary import counted

if TYPE_CHECKING:
    from rubric_lint.agree.probes import Probes
    from rubric_lint.cli.lint.assessing import Linted

_FORMS = {".json": "json", ".md": "markdown", ".markdown": "markdown", ".txt": "full"}

_CALL = "rubric-lint assess examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "labels results model max-cost prices probe history map:answers format:assess output:assess"
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
        Exit.UNDECIDED: "undecided: the report says how many labels would decide",
    },
    clashes="""
        --max-requests needs --model
        --probe needs --model
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
    from rubric_lint.cli.lint.assessing import Linted, list_ids, refuse_other_texts  # noqa: PLC0415
    from rubric_lint.cli.output import (  # noqa: PLC0415
        choose_by_ending,
        escape_what_cannot_be_encoded,
        make_style,
        open_report,
    )
    from rubric_lint.report import assessment  # noqa: PLC0415

    _check(given)
    given.form = given.form or choose_by_ending(given.output, _FORMS, "full")
    escape_what_cannot_be_encoded()
    linted = Linted(given.rubric, given.finder())
    recorded: tuple[str, ...] = ()
    probes: dict[str, Probes] = {}
    if not linted.has_errors and given.models:
        code, recorded, probes = _judge(given, linted)
        if code == Exit.USAGE:
            return code
    elif not linted.has_errors:
        recorded = given.results or _find_results(given.answers) or linted.judged
        if given.answers != STDIN and given.answers not in recorded:
            refuse_other_texts(given.answers, given.fields, recorded)
    asked = Asked(Fraction(str(given.target)), given.look)
    saved = f"; {recorded[0]} has what was judged" if given.models and recorded else ""
    with Progress(sys.stderr).reporting_interrupt(lambda: f"before the report was written{saved}"):
        labels = given.labels or linted.labels
        is_apart = given.answers != STDIN and given.answers not in recorded
        among = list_ids(given.answers, given.fields) if recorded and is_apart else ()
        found = linted.assess(recorded, labels, asked, probes, among)
        if given.history and not linted.has_errors:
            past = linted.trace(recorded, labels, given.answers)
            found = [each._replace(history=past.get(each.rubric)) for each in found]
    files = given.rubric, given.answers, recorded, labels
    basis = assessment.Given(*files, linted.records, linted.unmatched, linted.ignored, linted.off, linted.unread)
    style = make_style(given.color, is_file=given.output is not None)
    with open_report(given.output, Progress(sys.stderr), style) as write:
        assessment.FORMATS[given.form](found, basis, style, write)
    if given.output is not None:
        for each in found:
            click.echo(f"{visible(each.rubric)}: {visible(assessment.word_headline(each))}")
    return max((_EXITS[each.trust] for each in found), key=_ORDER.index)


def _check(given: Given) -> None:
    """Refuse what cannot be read.

    Raises:
        click.UsageError: if stdin cannot be used, or --results names several files to write.
        UserError: if a file does not exist.
    """
    if given.probe and given.answers == STDIN:
        raise click.UsageError("--probe reads ANSWERS twice, so they cannot come from stdin; name a file")
    if given.models and len(given.results) > 1:
        raise click.UsageError("--results: with --model, name one file")
    if given.rubric == STDIN:
        raise click.UsageError("RUBRIC cannot be read from stdin, as its tests and results are beside it; name a file")
    named = given.labels if given.models else (*given.labels, *given.results)
    require_existing([name for name in named if name != STDIN])


def _judge(given: Given, linted: "Linted") -> "tuple[int, tuple[str, ...], dict[str, Probes]]":
    """Judge the answers, and variants of some; return the exit code, the file of results, and what variants show."""
    from rubric_lint.agree.probes import PROBES  # noqa: PLC0415
    from rubric_lint.judge.spending import Spending  # noqa: PLC0415

    output = Path(given.results[0]) if given.results else name_results(given.answers, None, "--results")
    access, plan = find_access(given.models, vars(given)), make_plan({**vars(given), "shuffle": SEED})
    limit, spending = read_limit(given, access), Spending()
    work = Work(given, output, linted.prepare(), access, plan, limit, spending=spending, option="--results")
    if given.probe:
        most = given.probe * len(work.rubrics) * len(PROBES) * plan.samples * len(access.calls)
        click.echo(f"up to {most:,} more requests for --probe, after the answers are judged", err=True)
    code = judge_answers(work)
    recorded = (str(output),) if output.stat().st_size else ()
    if code == Exit.USAGE or not given.probe:
        return code, recorded, {}
    code, probes = _probe(work, given.probe)
    return code, recorded, probes


def _probe(work: Work, count: int) -> "tuple[int, dict[str, Probes]]":
    """Have variants of some answers judged, and return the exit code and what they show, by the rubric."""
    from rubric_lint.agree.probes import choose, compare, is_in, make_variants, read_scored  # noqa: PLC0415
    from rubric_lint.judge.journal import encode  # noqa: PLC0415

    with ExitStack() as opened:
        drawn = choose(work.open_answers(opened).read(), count, SEED)
    judged = read_scored(str(work.output), work.rubrics)
    variants = [record for each in drawn if is_in(each, judged) for record in make_variants(each)]
    output = Path(f"{str(work.output).removesuffix('.jsonl').removesuffix('.judged')}.probed.jsonl")
    code: int = Exit.CLEAN
    if variants:
        told = f"probing: {counted(len(variants), 'variant')} of {counted(len(drawn), 'answer')} to judge"
        click.echo(visible(f"{told}, with results in {output}"), err=True)
        made = b"".join(encode(record) + b"\n" for record in variants)
        code = judge_answers(work._replace(made=made, output=output))
    found = read_scored(str(output), work.rubrics) if output.is_file() else {}
    return code, {name: compare(rubric, drawn, judged, found) for name, rubric in work.rubrics.items()}


_EXITS = {"trusted": Exit.CLEAN, "not trusted": Exit.FOUND, "undecided": Exit.UNDECIDED}
_ORDER = (Exit.CLEAN, Exit.UNDECIDED, Exit.FOUND)
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


_IMPROVE = "rubric-lint improve examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "model! labels tries writer-model write max-requests max-cost prices format:improve output:improve"
    f" | results samples:two {JUDGING} map:answers no-cache cache-dir color config isolated",
    short="Propose wordings, and offer those that measure better.",
    examples={
        f"{_IMPROVE} --model gpt-5 --labels labels.csv": "Show what measures better, as a diff with its evidence",
        f"{_IMPROVE} --model gpt-5 --max-requests 2000": "Send at most 2000 requests in all",
        f"{_IMPROVE} --model gpt-5 --write": "Write what is offered; replies come from the cache",
    },
    exits={
        Exit.CLEAN: "nothing to fix, or a wording is offered for every criterion to fix",
        Exit.FOUND: "a criterion to fix for which nothing is offered",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or an endpoint that refuses every request",
        Exit.UNDECIDED: "cannot say: too few answers",
    },
    clashes="""
        --max-cost needs --prices; it has the prices of the models
    """,
)
def improve(given: Given) -> int:
    """Propose other wordings for the criteria that `assess` says to fix, one at a time, and prove them.

    A wording is offered only if the linter finds nothing in it, rubric tests still hold, and judged anew on answers
    that were not used to write it, it measures better. At least 40 answers are needed. Nothing is written without
    --write.
    """
    from rubric_lint.cli.lint.improve import propose  # noqa: PLC0415  (--help does without it)

    return propose(given)
