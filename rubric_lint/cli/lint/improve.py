"""Run `rubric-lint improve`: propose other wordings, and offer those that measure better."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from rubric_lint.assess.assess import Assessment, Standing
from rubric_lint.assess.improve.proposals import RubricState, find_findings
from rubric_lint.assess.improve.run import NEEDED, EndedError, Improver, PassedTest, StopReason
from rubric_lint.assess.improve.trial import ASIDE
from rubric_lint.assess.measure.decision import USUAL
from rubric_lint.assess.rubric_tests.recorder import find_case
from rubric_lint.assess.rubric_tests.running import UnrecordedTest
from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given, repeat_command
from rubric_lint.cli.lint.assessing import LintedFile, check_results
from rubric_lint.cli.output import choose_by_ending, escape_what_cannot_be_encoded, make_style, open_report
from rubric_lint.cli.score.judge import JudgeWork, judge_answers, name_results, open_account
from rubric_lint.cli.score.judge_options import SEED, AnswersFile, ModelAccess, find_access, hold, make_plan
from rubric_lint.cli.score.judging import (
    estimate_cost,
    format_limit,
    holds_secrets,
    load_prices,
    open_store,
    print_command,
    run_judge,
)
from rubric_lint.cli.score.options import check_answer_fields, refuse_own_labels, require_existing
from rubric_lint.judge.account import LimitError
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import Request, ask
from rubric_lint.judge.endpoint import Exchange, RequestId, UnansweredError
from rubric_lint.judge.prompt import Message
from rubric_lint.judge.store import ReplyStore
from rubric_lint.lint.engine import Examined
from rubric_lint.lint.project.files import File, read
from rubric_lint.lint.project.opening import STDIN
from rubric_lint.lint.project.writing import WriteError, replace_file
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, counted, join_words, visible
from rubric_lint.model.suggest import suggest
from rubric_lint.report import improvement
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import load_examined
from rubric_lint.scoring.records.decoding import OutputError


def propose(given: Given) -> int:
    """Judge the answers, propose wordings, and return the exit code; see `improve`."""
    given.form = given.form or choose_by_ending(given.output, {".json": "json", ".txt": "full"}, "full")
    check_results(given.results)
    if STDIN in (given.rubric, given.answers):
        raise click.UsageError("RUBRIC and ANSWERS are read more than once; name files")
    require_existing(given.labels)
    linted = LintedFile(given.rubric, given.finder())
    if linted.has_errors:
        command = suggest("check", given.rubric, **given.settings)
        raise UserError(f"{given.rubric}: has errors; fix them first: `{command}`")
    check_answer_fields(given)
    source = linted.examined.result.source
    if source.to_bytes(source.text) != read(File(given.rubric, linted.file.settings._replace(claimed=True))):
        raise UserError(f"{given.rubric}: its bytes cannot be reproduced exactly, so nothing could be written")
    output = Path(given.results[0]) if given.results else name_results(given.answers, None, "--results")
    refuse_own_labels(given.labels or linted.labels, [str(output)], {})
    rubrics, plan = linted.prepare(), make_plan({**vars(given), "shuffle": SEED})
    judges, models = len(given.models), list(given.models)
    writer = given.writers[0] if given.writers else models[0]
    if writer not in models:
        models.append(writer)
    access = find_access(models, vars(given))
    account = open_account(given, access)
    answers = _read_answers(given.answers, rubrics, given.mapping)
    judged = {answer.key for answer in _read_answers(str(output), rubrics)} if output.exists() else set()
    left = [answer for answer in answers if answer.key not in judged]
    trials = []  # as if every criterion were to be fixed
    for rubric in rubrics.values():
        half = _take_half(_choose(answers, rubric.name))
        trials += [_TrialCount(half, given.tries, given.tries)] * len(rubric.criteria)
    _say_most(left, trials, given, access)
    work = JudgeWork(given, output, rubrics, access.part(0, judges), plan, account, option="--results")
    if judge_answers(work) == Exit.USAGE:
        return Exit.USAGE
    # A limit may end the run before its first result, and a file without records would be refused.
    recorded = (str(output),) if output.stat().st_size else ()
    found = linted.assess(recorded, given.labels or linted.labels, USUAL)
    with ExitStack() as opened:
        store = None if given.no_cache else opened.enter_context(open_store(given.cache_dir))
        of_writer = models.index(writer)
        asking = _ModelAsker((work.access, access.part(of_writer, of_writer + 1)), work, store)
        return _improve(given, linted, found, _read_answers(str(output), rubrics), asking)


def _format_again(*, is_stopped: bool) -> str:
    """Return the command that goes on with a run that was stopped, or else writes what is offered."""
    context = click.get_current_context()
    if holds_secrets(context):
        return ""
    return repeat_command(context) if is_stopped else repeat_command(context, write=True)


def _improve(
    given: Given, linted: LintedFile, found: Sequence[Assessment], answers: Sequence[Answer], asking: _ModelAsker
) -> int:
    """Improve the rubrics of a file one after the other, report, and write if asked to."""
    name, examined = given.rubric, linted.examined
    bases = _load(name, linted, examined)
    passed_tests = {assessment.rubric: _list_passed(linted, assessment.rubric) for assessment in found}
    trials = []
    for assessment in found:
        base = bases[assessment.rubric]
        half = _take_half(_choose(answers, assessment.rubric))
        tests = [Answer("", base.rubric, test.case, {}) for test in passed_tests[assessment.rubric] if test.case]
        for criterion in assessment.list(Standing.FIX):
            choices = sum(len(finding.choices) for finding in find_findings(base, criterion.id))
            trials.append(_TrialCount(half and [*half, *tests], given.tries + choices, given.tries))
    _say_most([], trials, given, asking.access)
    done: list[Improver] = []
    is_stopped = False
    for assessment in found:
        # With what was offered for the rubrics before it, as they stand in one file.
        base = _load(name, linted, examined)[assessment.rubric]
        own = _choose(answers, assessment.rubric)
        improver = Improver(assessment, base, own, passed_tests[assessment.rubric], asking)
        done.append(improver)
        try:
            improver.run(given.tries)
        except (click.Abort, KeyboardInterrupt):
            is_stopped = True
            break
        examined = improver.base.examined
    return _report(given, linted, done, asking, is_stopped=is_stopped)


def _load(name: str, linted: LintedFile, examined: Examined) -> dict[str, RubricState]:
    """Return the rubrics of a file as they are now, by name."""
    bases = {}
    for rubric, loaded in load_examined(name, examined).items():
        bases[rubric] = RubricState(name, linted.file.settings, examined, loaded, loaded.prepare())
    return bases


def _report(
    given: Given, linted: LintedFile, done: Sequence[Improver], asking: _ModelAsker, *, is_stopped: bool
) -> int:
    escape_what_cannot_be_encoded()
    style = make_style(given.color, is_file=given.output is not None)
    before, after = linted.examined.result.source, done[-1].base.examined.result.source
    is_written = given.write and not is_stopped and after.text != before.text
    if is_written:
        try:
            replace_file(Path(given.rubric), before.to_bytes(before.text), before.to_bytes(after.text))
        except WriteError as fault:
            raise UserError(f"{given.rubric}: {fault}") from None
    account = asking.account
    page = improvement.ImprovementPage(
        [improver.found for improver in done],
        account.spending,
        account.limit.prices,
        is_written=is_written,
        is_stopped=is_stopped,
        again=_format_again(is_stopped=is_stopped),
    )
    with open_report(given.output, Progress(sys.stderr), style) as write:
        improvement.FORMATS[given.form](page, style, write)
    if given.output is not None:
        for improved in page.several:
            click.echo(f"{visible(improved.assessment.rubric)}: {visible(improvement.format_headline(improved))}")
    if is_stopped:
        raise click.Abort
    return _find_code(page)


def _find_code(page: improvement.ImprovementPage) -> Exit:
    outcomes = [outcome for found in page.several for outcome in found.outcomes]
    if not outcomes:
        if any(improved.whole for improved in page.several):
            return Exit.FOUND
        return Exit.CLEAN if page.has_enough_answers else Exit.UNDECIDED
    reasons = {outcome.left for outcome in outcomes if not outcome.offered}
    if not reasons:
        return Exit.CLEAN
    return Exit.UNDECIDED if reasons <= {StopReason.FEW, StopReason.FEW_WRONG} else Exit.FOUND


def _read_answers(
    name: str, rubrics: Mapping[str, ScoringRubric], mapping: Mapping[str, str] = MappingProxyType({})
) -> list[Answer]:
    """Return the answers of a file, or those of its results; raise UserError if they cannot be used."""
    require_existing([name])
    with hold(name) as stream:
        source = AnswersFile(stream, rubrics, mapping, name)
        if Path(name).stat().st_size:
            source.check(reserved=frozenset())
        return list(source.read())


def _list_passed(linted: LintedFile, rubric: str) -> list[PassedTest]:
    """Return the rubric tests that pass, with what a judge is shown of each."""
    found = []
    for ran, recordings in linted.ran.get(rubric, ()):
        recording = recordings.found.get(ran.test.key) if recordings else None
        if ran.passed:
            found.append(PassedTest(ran, find_case(UnrecordedTest(ran.test, ran.file, recording, ()))))
    return found


class _TrialCount(NamedTuple):
    """The trials for a criterion: what each has judged, how many there can be, and how many a model has to write."""

    answers: Sequence[Answer]
    proposals: int
    written: int


def _choose(answers: Sequence[Answer], rubric: str) -> list[Answer]:
    return [answer for answer in answers if answer.rubric.name == rubric]


def _take_half(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return as many answers of a rubric as a wording is proved on; none if there are too few."""
    return answers[: max(ASIDE, len(answers) // 2)] if len(answers) >= NEEDED else []


def _say_most(left: Sequence[Answer], trials: Sequence[_TrialCount], given: Given, access: ModelAccess) -> None:
    """Say how many requests there can be: to judge answers, and for each proposal for a criterion to fix."""
    plan, models = make_plan({**vars(given), "shuffle": SEED}), len(given.models)
    trials = [trial for trial in trials if trial.answers]
    to_judge = list(left)
    for trial in trials:
        to_judge += list(trial.answers) * trial.proposals
    requests = models * sum(plan.count_requests(len(answer.rubric.criteria)) for answer in to_judge)
    proposals = sum(trial.proposals for trial in trials)
    parts = []
    if left:
        parts.append(f"{counted(len(left), 'answer')} to judge")
    if proposals:
        criteria = counted(len(trials), "criterion", "criteria")
        parts.append(f"{counted(proposals, 'proposal')} for {criteria} to write and to prove")
    if not parts:
        return
    most = requests + sum(trial.written for trial in trials)
    click.echo(f"about {most:,} requests, as invalid outputs are retried: {' and '.join(parts)}", err=True)
    prices = load_prices(given.prices)
    if prices:
        click.echo(visible(estimate_cost(to_judge, access.calls[:models], plan, prices)), err=True)


class _TrialRecords:
    """Keeps the results of a trial in memory; the replies are in the cache."""

    def __init__(self) -> None:
        self.judged: Mapping[str, str] = {}
        self.all: list[Mapping[str, Any]] = []

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one result."""
        self.all.append(record)


class _ModelAsker:
    """Asks the judges and the model that proposes, within the limit that the whole run shares."""

    def __init__(self, access: tuple[ModelAccess, ModelAccess], work: JudgeWork, store: ReplyStore | None) -> None:
        self.access, self._writer = access
        self.account, self._plan, self._store = work.account, work.plan, store
        self._has_reported = False

    def judge(self, answers: Sequence[Answer], what: str) -> list[Mapping[str, Any]]:
        """Return the records of answers; see `Asker`."""
        click.echo(visible(f"{what}: judging {counted(len(answers), 'answer')}"), err=True)
        records = _TrialRecords()
        panel, n = self.access.connect(self.account), len(answers)
        # What stopped an earlier trial need not stop this one.
        self.account.stop = ""
        code = run_judge(panel, records, iter(answers), n, self._plan, store=self._store)
        if code == Exit.USAGE:
            raise EndedError(StopReason.NO_REPLY, "the endpoint gives no replies")
        if self.account.stop:
            raise EndedError(StopReason.LIMIT, self.account.stop)
        return records.all

    def _report_limit(self, limit: LimitError) -> None:
        """Say once that a limit ended the run while a proposal was to be written, and print the command to resume."""
        if self._has_reported:
            return
        self._has_reported = True
        account = self.account
        # After one request whose reply is of no use the cache has nothing that would take the next run further.
        is_stuck = bool(account.too_low) or (limit.is_invalid and account.spending.requests == 1)
        advice = "Run the same command to resume"
        if is_stuck:
            advice = f"The same command would end there too: raise {join_words(list(account.limit.options), 'or')}"
        complain(format_limit(account, "the next proposal is not written", advice))
        if not (is_stuck or account.fault):
            print_command()

    def write(self, messages: tuple[Message, ...], schema: Mapping[str, Any], number: int) -> str:
        """Return the reply of the model that proposes; see `Asker`."""
        request = Request(self._writer.calls[0], RequestId("", number), messages, schema)

        async def write() -> str:
            async with self._writer.connect(self.account) as panel:
                found = await ask(panel.endpoints[0], request, _read_text, store=self._store)
                return found.replies[-1].reply.text

        try:
            return asyncio.run(write())
        except LimitError as limit:
            self._report_limit(limit)
            reason = f"{limit}: {limit.reason}" if limit.reason else str(limit)
            raise EndedError(StopReason.LIMIT, reason) from None
        except UnansweredError as fault:
            raise EndedError(StopReason.NO_REPLY, str(fault)) from None


def _read_text(exchange: Exchange) -> str:
    if exchange.reply.fault:
        raise OutputError(exchange.reply.fault)
    return exchange.reply.text
