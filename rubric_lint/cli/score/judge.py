"""Define `rubric-score judge`, which has a model judge answers and can resume a stopped run."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given, repeat_command
from rubric_lint.cli.options import JUDGING, command, require_file_name
from rubric_lint.cli.output import JSON_LINES, choose_by_ending
from rubric_lint.cli.score.judge_options import AnswersFile, BatchOptions, find_access, hold, make_plan, read_batch
from rubric_lint.cli.score.options import check_answer_fields, load
from rubric_lint.lint.project.opening import STDIN, explain_os_error, open_stream
from rubric_lint.lint.project.paths import is_same, is_there
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, counted, join_words, list_names, pluralize, visible
from rubric_lint.model.suggest import format_need, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rubric_lint.cli.score.judge_options import ModelAccess
    from rubric_lint.judge.account import Account
    from rubric_lint.judge.asking import JudgeOptions
    from rubric_lint.judge.journal import EarlierResults, Journal
    from rubric_lint.judge.run import Panel
    from rubric_lint.scoring.grading import ScoringRubric

_CALL = "rubric-lint judge examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "model! base-url api-key-env samples max-cost prices again map:answers output:journal"
    f" | {JUDGING} shuffle max-requests no-cache cache-dir batch-requests batch-results"
    " batch-format batch-size extract=whole,last,only extra-fields config isolated",
    short="Have a model judge answers.",
    examples={
        f"{_CALL} --model gpt-5": "Judge answers, or resume a stopped run",
        f"{_CALL} --model qwen3 --base-url http://localhost:11434/v1": "Use a model server of your own",
        f"{_CALL} --model gpt-5 --model qwen3@http://localhost:11434/v1": "Have two models judge every answer",
    },
    exits={
        Exit.CLEAN: "every answer has a valid judge output",
        Exit.FOUND: "an answer has an invalid judge output or no reply, or a limit ended the run",
        Exit.USAGE: "usage error, a file that cannot be read or has errors, or an endpoint that refuses every request",
    },
    clashes="""
        --again excludes --output; it replaces results in the file that it reads
        --max-cost needs --prices; it has the prices of the models
        --batch-size needs --batch-requests
        --batch-format needs --batch-requests --batch-results
    """,
)
def judge(given: Given) -> int:
    """Have a model judge ANSWERS by RUBRIC; `rubric-lint score RUBRIC FILE` then scores the results.

    ANSWERS are JSON Lines, JSON, CSV, TSV, Parquet or xlsx: {"id", "answer", "question"?, "reference"?, "rubric"?}; -
    reads stdin. All answers are read and checked before the first request.
    """
    from rubric_lint.cli.score.judging import check_batch
    from rubric_lint.scoring.records.parse_options import ParseOptions

    check_answer_fields(given)
    batch = read_batch(vars(given))
    access = find_access(given.models, vars(given), sends=batch is None)
    if batch:
        check_batch(batch, access.calls)
    account = open_account(given, access)
    if batch and account.limit.is_set:
        raise click.UsageError(f"{account.limit}: a batch is not limited; its size is what is written")
    rubrics = load(given.rubric, given)
    plan = make_plan(vars(given), reading=ParseOptions.of(given.extract, given.extra_fields))
    if given.output is not None:
        require_file_name(given.output, "--output")
        advice = "; `score -o` turns results into other formats"
        choose_by_ending(given.output, JSON_LINES, "jsonl", advice=advice)
    if given.again and given.answers == STDIN:
        raise click.UsageError("--again replaces results in the file that it reads; name that file")
    output = Path(given.answers) if given.again else name_results(given.answers, given.output)
    work = JudgeWork(given, output, rubrics, access, plan, account, is_again=given.again)
    code = judge_answers(work, batch)
    if code == Exit.USAGE:
        return code
    _report_scores(output, rubrics, given)
    return code


class JudgeWork(NamedTuple):
    """What a run judges and how: what is given, the file of results, and the account of its requests.

    If it `is_again`, the answers are that file too, and only its invalid outputs are asked for. `made` are answers in
    JSON Lines to judge instead of those that are given, and `option` names the file of results.
    """

    given: Given
    output: Path
    rubrics: Mapping[str, ScoringRubric]
    access: ModelAccess
    plan: JudgeOptions
    account: Account
    is_again: bool = False
    made: bytes | None = None
    option: str = "--output"

    def open_answers(self, opened: ExitStack) -> AnswersFile:
        """Return the answers to judge, in a file that `opened` closes."""
        if self.made is not None:
            return AnswersFile(BytesIO(self.made), self.rubrics, label=self.given.answers)
        stream = opened.enter_context(hold(self.given.answers))
        return AnswersFile(stream, self.rubrics, self.given.mapping, self.given.answers)


def open_account(given: Given, access: ModelAccess) -> Account:
    """Return the account of a run, with what it may spend and by which prices.

    Raises:
        click.UsageError: if the prices cannot be read, or a limit of the cost lacks that of a model.
    """
    from rubric_lint.cli.score.judging import load_prices
    from rubric_lint.judge.account import Account, RunLimit

    limit = RunLimit(given.max_requests, given.max_cost, load_prices(given.prices), given.rpm, given.tpm)
    if limit.cost is not None and limit.prices:
        models = dict.fromkeys(call.model for call in access.calls)
        missing = [model for model in models if model not in limit.prices.models]
        if missing:
            raise click.UsageError(
                f"--prices: {given.prices}: no price for {join_words([f'`{name}`' for name in missing])}, so "
                f"--max-cost cannot be kept; add [models.{json.dumps(missing[0])}] with `input` and `output`"
            )
    return Account(limit)


def judge_answers(work: JudgeWork, batch: BatchOptions | None = None) -> int:
    """Judge the answers that have no result yet, and return the exit code, which is 1 if any result is invalid.

    All answers are read and checked before the first request.

    Raises:
        UserError: if they or earlier results cannot be used, or the package that calls endpoints is missing.
    """
    from rubric_lint.cli.score.judging import BatchWork, open_store, run_judge
    from rubric_lint.judge.journal import JournalError
    from rubric_lint.lint.project.writing import WriteError

    code = Exit.CLEAN
    reading = Progress(sys.stderr, "reading", "MB")
    try:
        with ExitStack() as opened:
            try:
                source, panel, results, left = _prepare(work, batch, reading, opened)
            except KeyboardInterrupt:
                reading.clear()
                complain("interrupted before the first request")
                raise click.Abort from None
            finally:
                reading.clear()
            invalid_before, journal = len(results.invalid), results
            if work.is_again and invalid_before:
                journal = opened.enter_context(results.renewing())
                left -= len(journal.judged)
            elif work.is_again:
                results.replace({})
            if isinstance(panel, BatchOptions):
                batch_work = BatchWork(panel, source, journal, work.access.calls, work.plan)
                code = batch_work.run(left, work.account.limit.prices)
            elif left or not work.is_again:
                _report_requests(source, journal, work, left)
                store = None
                if left and not work.given.no_cache:
                    store = opened.enter_context(open_store(work.given.cache_dir))
                code = run_judge(panel, journal, source.read(), left, work.plan, store=store)
    except (JournalError, WriteError) as wrong:
        raise UserError(f"{work.output}: {wrong}") from None
    if work.is_again and invalid_before:
        renewed = f"{invalid_before - len(results.invalid):,} of {invalid_before:,} outputs valid now"
        if results.invalid:
            renewed += f"; still invalid: {list_names([str(json.loads(key)) for key in sorted(results.invalid)])}"
        click.echo(visible(f"{work.output}: {renewed}"), err=True)
    return Exit.FOUND if code == Exit.CLEAN and results.invalid else code


def _prepare(
    work: JudgeWork, batch: BatchOptions | None, reading: Progress, opened: ExitStack
) -> tuple[AnswersFile, Panel | BatchOptions, Journal, int]:
    """Return the answers, what judges them, the results file, and how many are left; say what the file already has."""
    from rubric_lint.judge.journal import Journal, StaleError, check_journal

    output = work.output
    try:
        if work.is_again:
            journal = opened.enter_context(Journal(output))
            lines = b"".join(line for key, line in journal.read() if key in journal.invalid)
            source = AnswersFile(BytesIO(lines), work.rubrics, label=work.given.answers)
            total = source.check(reserved=frozenset()) if lines else 0
            panel = batch or work.access.connect(work.account)
        else:
            source = work.open_answers(opened)
            # To compare an existing results file with the answers, they are read a second time.
            times = 2 if output.exists() else 1
            reading.total = source.count_bytes() * times
            total = source.check(reading)
            panel = batch or work.access.connect(work.account)
            journal = opened.enter_context(Journal(output))
        earlier = check_journal(source.read(reading), journal, work.access.calls, work.plan)
        journal.invalid.difference_update(earlier.others)  # they are not of this run
    except ImportError:
        raise UserError(f"judging {format_need('judge')}") from None
    except StaleError as wrong:
        what, advice = "resume", f"name another file with {work.option}"
        if work.is_again:
            what, advice = "ask again", "use the options of the first run"
        raise UserError(f"{output}: cannot {what}: {wrong}; {advice}") from None
    reading.clear()
    if work.is_again:
        summary = f"{total:,} of {len(journal.judged):,} outputs invalid"
        if total:
            names = list_names([str(answer.record["id"]) for answer in source.read()])
            summary += f"; asking again for {names}"
        if journal.renewed:
            summary += f"; removing {counted(len(journal.renewed), 'invalid record')} that a later one renews"
        click.echo(visible(f"{output}: {summary}"), err=True)
        return source, panel, journal, total
    _report_earlier(earlier, output, total)
    return source, panel, journal, total - earlier.judged


def _report_scores(output: Path, rubrics: Mapping[str, ScoringRubric], given: Given) -> None:
    """Print what the results score, and the commands that ask again for invalid ones and show more."""
    from rubric_lint.scoring.run import ScoringRun

    name = str(output)
    progress = Progress(sys.stderr, "scoring", "answers")
    scoring = ScoringRun(rubrics, lambda _: None, progress)
    with open_stream(name) as results:
        scoring.run(name, results)
    progress.clear()
    if scoring.totals.outputs:
        click.echo(f"{visible(name)}: {scoring.totals}", err=True)
        if scoring.totals.invalid:
            click.echo(visible(f"invalid: {scoring.causes.word()}"), err=True)
            click.echo(f"To ask again: {_suggest_again(given, name)}", err=True)
        command = suggest("score", given.rubric, name, format="table", **given.settings)
        click.echo(f"Next: {command}", err=True)


def _suggest_again(given: Given, results: str) -> str:
    """Return the command that asks again for the invalid results of this run."""
    from rubric_lint.cli.score.judging import holds_secrets

    context = click.get_current_context()
    if holds_secrets(context):
        return "the same command with the results in the place of the answers, without --output and with --again"
    requests = str(given.batch_requests.with_stem("again")) if given.batch_requests else None
    # Results have our names of fields. A batch has been read.
    left_out = ("output", "mapping", "batch_requests", "batch_results", "again")
    options = {"batch-requests": requests or ("again.jsonl" if given.batch_results else None), "again": True}
    return repeat_command(context, given.rubric, results, without=left_out, **options)


def _report_requests(source: AnswersFile, journal: Journal, work: JudgeWork, left: int) -> None:
    """Print how many requests there will be if it is not one for each answer, and with a limit what they may cost."""
    models = len(work.access.calls)
    how = work.plan.describe(models)
    if not left or not how:
        return
    waiting = [answer for answer in source.read() if answer.key not in journal.judged]
    requests = models * sum(work.plan.count_requests(len(answer.rubric.criteria)) for answer in waiting)
    answers = counted(left, "answer")
    click.echo(f"{requests:,} requests ({how}) for {answers}, and more if outputs are invalid", err=True)
    limit = work.account.limit
    if limit.prices and limit.is_set:
        from rubric_lint.cli.score.judging import estimate_cost

        click.echo(visible(estimate_cost(waiting, work.access.calls, work.plan, limit.prices)), err=True)


def _report_earlier(earlier: EarlierResults, output: Path, total: int) -> None:
    """Print to stderr which answers are already judged and what else the results file holds."""
    if earlier.judged:
        click.echo(
            f"{visible(str(output))} already has {earlier.judged} of {total} answers; judging the rest", err=True
        )
    if earlier.invalid:
        have = pluralize(earlier.invalid, "has an invalid output, which is", "have an invalid output, which are")
        complain(f"{output}: {earlier.invalid} of these {have} not asked for again")
    ids = list(earlier.others)
    if len(ids) > 4:
        ids[3:] = [f"{len(ids) - 3} more"]
    if ids:
        complain(f"{output}: also has results of answers that are not in this run (kept): {join_words(ids)}")


def name_results(answers: str, named: str | None, option: str = "--output") -> Path:
    """Return the results file, which an `option` names.

    Raises:
        click.UsageError: if it is the file of the answers or in no folder, or not named and they are not in a file.
        UserError: if the answers do not exist.
    """
    if named:
        output = Path(named)
        if not output.parent.is_dir():
            raise click.UsageError(f"{option}: {named}: the folder {output.parent} does not exist; create it first")
        if answers != STDIN and is_same(output, answers):
            raise click.UsageError(f"{option} is the answers file; name another file for the results")
        return output
    if Path(answers).is_file():
        # Another kind of file keeps its suffix: answers.csv next to answers.jsonl has results of its own.
        return Path(f"{answers.removesuffix('.jsonl')}.judged.jsonl")
    if answers != STDIN and not is_there(answers):
        raise UserError(f"{answers}: {explain_os_error(answers, FileNotFoundError())}")
    # Only a file has a name from which the next run can derive the name of the results.
    raise click.UsageError(f"the answers are not read from a file; name a results file with {option}")
