"""Define `rubric-score judge`, which has a model judge answers and can resume a stopped run."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rubric_lint.cli.commands import Command, Exit, option
from rubric_lint.cli.options import SHUFFLE, FileName, SettingsOptions, choice, with_settings
from rubric_lint.cli.score.judge_options import (
    FORMATS,
    MODELS,
    STDIN,
    AnswersFile,
    Batch,
    Finite,
    Model,
    batch_options,
    body_options,
    check_url,
    field_options,
    find_access,
    header_options,
    hold,
    make_plan,
    read_amount,
    read_batch,
    read_fields,
)
from rubric_lint.cli.score.options import extract_option, load, rubric_argument
from rubric_lint.messages import Causes, UserError, join_words, list_names
from rubric_lint.project.api_key import KEY
from rubric_lint.report.terminal import visible
from rubric_lint.run.console import Progress, complain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rubric_lint.cli.score.judge_options import Access
    from rubric_lint.judge.answers import Fields
    from rubric_lint.judge.asking import Plan
    from rubric_lint.judge.journal import Earlier, Journal
    from rubric_lint.judge.run import Panel
    from rubric_lint.judge.spending import Limit
    from rubric_lint.scoring.grading import ScoringRubric

_BASE_URL = "OPENAI_BASE_URL"


_CALL = "rubric-score judge examples/summary.rubric.yaml answers.jsonl"


@click.command(
    cls=Command,
    short_help="Have a model judge ANSWERS by RUBRIC.",
    examples={
        f"{_CALL} --model gpt-5": "Judge answers, or resume a stopped run",
        f"{_CALL} --model qwen3 --base-url http://localhost:11434/v1": "Use a model server of your own",
        f"{_CALL} --model gpt-5 --model qwen3@http://localhost:11434/v1": "Have two models judge every answer",
    },
    exits={
        Exit.CLEAN: "every answer has a valid output",
        Exit.FOUND: "an answer has an invalid output or no reply, or a limit ended the run",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or an endpoint that refuses every request",
    },
)
@rubric_argument
@click.argument("answers", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option(
    "Model",
    "--model",
    "models",
    **MODELS,
    required=True,
    help="The model that judges: NAME, or NAME@URL at an endpoint of its own. Several are a panel.",
)
@option(
    "Model",
    "--base-url",
    metavar="URL",
    envvar=_BASE_URL,
    show_envvar=True,
    callback=check_url,
    help="The API endpoint of models without one of their own.  [default: OpenAI]",
)
@option(
    "Model",
    "--api-key-env",
    metavar="[MODEL=]NAME",
    multiple=True,
    help=f"Environment variable with the API key. Can be repeated for MODEL.  [default: {KEY}]",
)
@option("Model", "--temperature", type=Finite(0, 2), help="Sampling temperature.  [default: the endpoint's]")
@body_options
@header_options
@option(
    "Model",
    "--response-format",
    metavar="FORMAT",
    **choice(*FORMATS),
    help="How to request JSON from the endpoint.",
)
@option(
    "Requests",
    "--samples",
    type=click.IntRange(1, 99),
    default=1,
    show_default=True,
    help="Outputs per answer and model.",
)
@option("Requests", "--again", is_flag=True, help="Ask again for the invalid outputs of a results file, ANSWERS.")
@option("Requests", "--per-criterion", is_flag=True, help="Ask for one criterion per request.")
@option("Requests", "--shuffle", **SHUFFLE, help="Ask for the criteria in shuffled order.  [seed: 1]")
@option(
    "Requests",
    "--max-attempts",
    type=click.IntRange(1, 10),
    default=3,
    show_default=True,
    help="Attempts to get a valid output.",
)
@option(
    "Requests",
    "--max-requests",
    type=click.IntRange(0),
    help="Begin no answer that needs more requests than N in all.",
)
@option(
    "Requests",
    "--max-cost",
    metavar="AMOUNT",
    callback=read_amount,
    help="Begin no answer that would cost more than AMOUNT in all, by --prices.",
)
@option(
    "Requests",
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Most parallel requests; fewer after a refusal.",
)
@option(
    "Requests",
    "--rpm",
    type=Finite(0, min_open=True),
    metavar="N",
    help="At most N requests per minute and endpoint.  [default: no limit]",
)
@option(
    "Requests",
    "--tpm",
    type=Finite(0, min_open=True),
    metavar="N",
    help="At most about N tokens per minute and endpoint.  [default: no limit]",
)
@option(
    "Requests",
    "--timeout",
    type=Finite(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each request.",
)
@option(
    "Requests",
    "--retries",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="Retries after a failed request.",
)
@option(
    "Output",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Results file, required with -; an existing one is resumed.  [default: NAME.judged.jsonl for NAME.jsonl]",
)
@option(
    "Output",
    "--prices",
    metavar="FILE",
    type=FileName(),
    help="Prices of a million tokens by model, in TOML or JSON; the summary then has the cost.",
)
@option("Output", "--no-cache", is_flag=True, help="Neither read nor write the cache of replies.")
@option(
    "Output",
    "--cache-dir",
    metavar="DIR",
    type=FileName(),
    help="The folder of that cache.  [default: see `rubric-lint cache dir`]",
)
@batch_options
@field_options
@extract_option("whole")
@with_settings
def judge(
    *,
    file: str,
    settings: SettingsOptions,
    answers: str,
    models: tuple[Model, ...],
    extract: str,
    output: Path | None,
    again: bool,
    no_cache: bool,
    cache_dir: str | None,
    **asking: Any,
) -> int:
    """Have a model judge ANSWERS by RUBRIC; `rubric-score RUBRIC FILE` then scores the results.

    ANSWERS are JSON Lines or JSON: {"id", "answer", "question"?, "reference"?, "rubric"?}; - reads stdin. All answers
    are read and checked before the first request.
    """
    from rubric_lint.cli.options import require_file_name  # noqa: PLC0415
    from rubric_lint.cli.score.judging import check_batch  # noqa: PLC0415
    from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415

    fields = read_fields(asking)
    batch = read_batch(asking)
    access = find_access(models, asking, sends=batch is None)
    if batch:
        check_batch(batch, access.calls)
    limit = read_limit(asking)
    if batch and limit.is_set:
        raise click.UsageError(f"{limit}: a batch is not limited; its size is what is written")
    rubrics = load(file, settings)
    plan = make_plan(asking, extract=Extract(extract))
    require_file_name(str(output), "--output")
    if again and (output or answers == STDIN):
        raise click.UsageError("--again replaces results in the file that it reads; name that file alone")
    output = Path(answers) if again else name_results(answers, output)
    work = Work(answers, output, rubrics, fields, access, plan, limit, is_again=again)
    code = judge_answers(work, asking, batch, cache_dir=cache_dir, no_cache=no_cache)
    if code == Exit.USAGE:
        return code
    _report_scores(
        output,
        rubrics,
        [file, *(["--config", settings.config] if settings.config else ["--isolated"] * settings.isolated)],
    )
    return code


class Work(NamedTuple):
    """What a run judges and how: a file of answers, the file of results, and what its requests may cost.

    If it `is_again`, both are one file, and only its invalid outputs are asked for.
    """

    answers: str
    output: Path
    rubrics: Mapping[str, ScoringRubric]
    fields: Fields
    access: Access
    plan: Plan
    limit: Limit
    is_again: bool = False


def read_limit(asking: Mapping[str, Any]) -> Limit:
    """Return what a run may spend, and by which prices.

    Raises:
        click.UsageError: if the prices cannot be read, or are missing for a limit of the cost.
    """
    from rubric_lint.cli.score.judging import load_prices  # noqa: PLC0415
    from rubric_lint.judge.spending import Limit  # noqa: PLC0415

    if asking["max_cost"] is not None and asking["prices"] is None:
        raise click.UsageError("--max-cost requires --prices, the prices of the models")
    return Limit(asking["max_requests"], asking["max_cost"], load_prices(asking["prices"]))


def judge_answers(
    work: Work, asking: Mapping[str, Any], batch: Batch | None = None, *, cache_dir: str | None, no_cache: bool
) -> int:
    """Judge the answers that have no result yet, and return the exit code, which is 1 if any result is invalid.

    All answers are read and checked before the first request.

    Raises:
        UserError: if they or earlier results cannot be used, or the package that calls endpoints is missing.
    """
    from rubric_lint.cli.score.judging import BatchWork, open_store, run_batch, run_judge  # noqa: PLC0415
    from rubric_lint.judge.journal import JournalError  # noqa: PLC0415
    from rubric_lint.project.writing import WriteError  # noqa: PLC0415

    plan, code = work.plan, Exit.CLEAN
    reading = Progress(sys.stderr, "reading", "MB")
    try:
        with ExitStack() as opened:
            try:
                source, panel, results, left = _prepare(work, asking, batch, reading, opened)
            except KeyboardInterrupt:
                reading.clear()
                complain("interrupted before the first request")
                raise click.Abort from None
            finally:
                reading.clear()
            before, journal = set(results.invalid), results
            if work.is_again and before:
                journal = opened.enter_context(results.renewing())
                left -= len(journal.judged)
            if isinstance(panel, Batch):
                code = run_batch(panel, BatchWork(source, journal, work.access.calls, plan), left, work.limit.prices)
            elif left or not work.is_again:
                _report_requests(source, journal, work, left)
                store = opened.enter_context(open_store(cache_dir)) if left and not no_cache else None
                code = run_judge(panel, journal, source.read(), left, plan, store=store, limit=work.limit)
    except (JournalError, WriteError) as wrong:
        raise UserError(f"{work.output}: {wrong}") from None
    if work.is_again and before:
        names = list_names([str(json.loads(key)) for key in sorted(results.invalid)])
        still = f"; still invalid: {names}" if results.invalid else ""
        told = f"{len(before) - len(results.invalid):,} of {len(before):,} outputs valid now{still}"
        click.echo(visible(f"{work.output}: {told}"), err=True)
    return Exit.FOUND if code == Exit.CLEAN and results.invalid else code


def _prepare(
    work: Work, asking: Mapping[str, Any], batch: Batch | None, reading: Progress, opened: ExitStack
) -> tuple[AnswersFile, Panel | Batch, Journal, int]:
    """Return the answers, what judges them, the results file, and how many are left; say what the file already has.

    Raises:
        UserError: as `judge_answers`.
    """
    from rubric_lint.judge.answers import AnswersError, Fields  # noqa: PLC0415
    from rubric_lint.judge.journal import Journal, StaleError, check_journal  # noqa: PLC0415

    answers, output = work.answers, work.output
    try:
        if work.is_again:
            journal = opened.enter_context(Journal(output))
            lines = b"".join(line for key, line in journal.read() if key in journal.invalid)
            source = AnswersFile(BytesIO(lines), work.rubrics, Fields())
            total = source.check(taken=frozenset()) if lines else 0
            panel = batch or work.access.connect(asking["rpm"], asking["tpm"], asking["concurrency"])
        else:
            source = AnswersFile(opened.enter_context(hold(answers)), work.rubrics, work.fields)
            # To compare an existing results file with the answers, they are read a second time.
            reading.total = source.count_bytes() * (2 if output.exists() else 1)
            total = source.check(reading)
            panel = batch or work.access.connect(asking["rpm"], asking["tpm"], asking["concurrency"])
            journal = opened.enter_context(Journal(output))
        earlier = check_journal(source.read(reading), journal, work.access.calls, work.plan)
        journal.invalid.difference_update(earlier.others)  # they are not of this run
    except AnswersError as wrong:
        raise UserError(*(f"{'stdin' if answers == STDIN else answers}: {fault}" for fault in wrong.faults)) from None
    except ImportError:
        raise UserError("judging needs the openai package; install it with: pip install 'rubric-lint[judge]'") from None
    except StaleError as wrong:
        what, advice = ("resume", "name another file with --output")
        if work.is_again:
            what, advice = ("ask again", "use the options of the first run")
        raise UserError(f"{output}: cannot {what}: {wrong}; {advice}") from None
    reading.clear()
    if work.is_again:
        names = list_names([str(answer.record["id"]) for answer in source.read()])
        told = f"{total:,} of {len(journal.judged):,} outputs invalid{f'; asking again for {names}' * (total > 0)}"
        click.echo(visible(f"{output}: {told}"), err=True)
        return source, panel, journal, total
    _report_earlier(earlier, output, total)
    return source, panel, journal, total - earlier.judged


def _report_scores(output: Path, rubrics: Mapping[str, ScoringRubric], words: list[str]) -> None:
    """Print what the results score, and the command that shows more; `words` name the rubric and its settings."""
    from rubric_lint.project.opening import open_stream  # noqa: PLC0415
    from rubric_lint.report.scores import count_errors  # noqa: PLC0415
    from rubric_lint.scoring.run import Scoring  # noqa: PLC0415

    name = str(output)
    progress = Progress(sys.stderr, "scoring", "answers")
    causes = Causes()
    with open_stream(name) as results, Scoring(rubrics, lambda each: count_errors(each, causes), progress) as scoring:
        scoring.run(name, results)
    progress.clear()
    if scoring.totals.outputs:
        click.echo(f"{visible(name)}: {scoring.totals}", err=True)
        if causes.counts:
            again = shlex.join(["rubric-score", "judge", *words, name, "--again"])
            click.echo(visible(f"invalid: {causes.word()}; `{again}` with the same options asks again"), err=True)
        command = shlex.join(["rubric-score", *words, name, "--format", "table"])
        click.echo(f"Next: {visible(command)}", err=True)


def _report_requests(source: AnswersFile, journal: Journal, work: Work, left: int) -> None:
    """Print how many requests there will be if it is not one for each answer, and with a limit what they may cost."""
    models = len(work.access.calls)
    if not left or not (how := work.plan.describe(models)):
        return
    waiting = [each for each in source.read() if each.key not in journal.judged]
    requests = models * sum(work.plan.count_requests(len(each.rubric.criteria)) for each in waiting)
    answers = "1 answer" if left == 1 else f"{left:,} answers"
    click.echo(f"{requests:,} requests ({how}) for {answers}, and more if outputs are invalid", err=True)
    if work.limit.prices and work.limit.is_set:
        from rubric_lint.cli.score.judging import estimate_cost  # noqa: PLC0415

        click.echo(visible(estimate_cost(waiting, work.access.calls, work.plan, work.limit.prices)), err=True)


def _report_earlier(earlier: Earlier, output: Path, total: int) -> None:
    """Print to stderr which answers are already judged and what else the results file holds."""
    if earlier.judged:
        click.echo(
            f"{visible(str(output))} already has {earlier.judged} of {total} answers; judging the rest", err=True
        )
    if earlier.invalid:
        complain(
            f"{output}: {earlier.invalid} of these {'has' if earlier.invalid == 1 else 'have'} an invalid output; only "
            "--again asks for it again"
        )
    if others := earlier.others:
        ids = join_words([*others[:3], f"{len(others) - 3} more"] if len(others) > 4 else others)
        complain(f"{output}: also has results of answers that are not in this run (kept): {ids}")


def name_results(answers: str, output: Path | None, option: str = "--output") -> Path:
    """Return the results file, which an `option` names.

    Raises:
        click.UsageError: if it is the file of the answers, or not named and they are not in a file.
    """
    if output:
        if answers != STDIN and output.resolve() == Path(answers).resolve():
            raise click.UsageError(f"{option} is the answers file; name another file for the results")
        return output
    if Path(answers).is_file():
        # Another kind of file keeps its suffix: answers.csv beside answers.jsonl has results of its own.
        return Path(f"{answers.removesuffix('.jsonl')}.judged.jsonl")
    # Only a file has a name from which the next run can derive the name of the results.
    raise click.UsageError(f"the answers are not read from a file; name a results file with {option}")
