"""Run `rubric-score judge`: show its progress, report problems and totals, and say how to resume."""

import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import repeat_command
from rubric_lint.cli.score.judge_options import AnswersFile, BatchOptions, holds_secret
from rubric_lint.judge.account import Account, LimitedRun, RunLimit
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import JudgeOptions, Request, list_requests
from rubric_lint.judge.batches import BatchError, BatchReplies, BatchResults, check_batch_format, write_batch
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import NO_REMEDY, Remedy
from rubric_lint.judge.journal import Journal
from rubric_lint.judge.run import JudgeRun, JudgeTally, Panel, ResultsWriter, StoppedError
from rubric_lint.judge.spending import (
    CHARACTERS,
    Prices,
    PricesError,
    Spending,
    format_cost,
    format_requests,
    guess_tokens,
    read_prices,
    write_amount,
)
from rubric_lint.judge.store import ReplyStore
from rubric_lint.lint.project.writing import WriteError
from rubric_lint.lint.run.cache import JUDGED, cache_folder
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import counted, join_first, join_words, pluralize, visible
from rubric_lint.scoring.records.reply import Tokens

_TICK = 0.2
"""Seconds between two updates of the progress bar; requests may take long."""

_GRACE = 30.0
"""Seconds to wait, after an interrupt, for the replies to requests that were sent."""

_SHORT = 0.02
"""Seconds between two looks whether all of them have come."""

_SHOWN = 5
"""How many answers with the same error are listed one by one."""

_MOST_SHOWN = 50
"""How many are listed in all: an error that quotes the model may differ for every answer."""

_VARYING = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{7,}|[0-9]+")
"""Matches the parts that vary in reports of one error: numbers and request ids."""


_OVERLOAD = re.compile(r"HTTP 5|the endpoint failed")
"""Matches a pause that no limit of requests causes."""


class FaultLog:
    """Report the first answers with each error as they come, and at the end count the others."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._hidden: Counter[str] = Counter()
        self._firsts: dict[str, str] = {}
        self._shown = 0

    def add(self, key: str, fault: str) -> str | None:
        """Count an error of the answer `key`; return the message, or None if `end` sums it up."""
        kind = _VARYING.sub("#", fault)
        self._seen[kind] += 1
        if self._seen[kind] <= _SHOWN and self._shown < _MOST_SHOWN:
            self._shown += 1
            return f"answer {key}: {fault}"
        self._hidden[kind] += 1
        self._firsts.setdefault(kind, fault)
        return None

    def end(self) -> Iterator[str]:
        """Yield a message for each of the most frequent errors not yet listed, and one for the rest."""
        named = self._hidden.most_common(_SHOWN)
        for kind, count in named:
            yield f"{counted(count, 'more answer')}: {self._firsts[kind]}"
        others = self._hidden.total() - sum(count for _, count in named)
        if others:
            yield f"{counted(others, 'more answer')} with other errors"


def load_prices(path: str | None) -> Prices | None:
    """Read the table of prices before the first request; raise click.UsageError if it cannot be read."""
    try:
        return None if path is None else read_prices(path)
    except PricesError as wrong:
        raise click.UsageError(f"--prices: {path}: {wrong}") from None
    except OSError as fault:
        raise click.UsageError(f"--prices: {path}: {fault.strerror}") from None


def estimate_cost(answers: Iterable[Answer], calls: Sequence[Call], plan: JudgeOptions, prices: Prices) -> str:
    """Say roughly what the texts to send will cost; what replies add is not known before."""
    spending = Spending()
    for answer in answers:
        for request in list_requests(answer, calls, plan):
            tokens = guess_tokens(text for _, text in request.messages)
            spending.add(request.call.model, Tokens(tokens, 0), None)
    cost, *others = format_cost(spending.find_cost(prices), prices.currency)
    about = f"what is sent will {cost} or so, at {CHARACTERS} characters a token; the replies come on top"
    return "; ".join([about, *others])


@contextmanager
def open_store(folder: str | None) -> Iterator[ReplyStore | None]:
    """Open the cache of replies in a folder, or in that of the linter's cache; None if there is no folder for it."""
    shared = cache_folder()
    if folder:
        place = Path(folder)
    elif shared is None:
        yield None
        return
    else:
        place = shared / JUDGED
    with ReplyStore(place) as store:
        yield store


def run_judge(
    panel: Panel,
    journal: ResultsWriter,
    answers: Iterator[Answer],
    left: int,
    plan: JudgeOptions,
    *,
    has_verdicts: bool = True,
    store: ReplyStore | None = None,
    advice: str = "run the same command again to judge the answers without a reply",
) -> Exit:
    """Judge the answers, `left` of which are not in the journal, and return the exit code.

    Without `has_verdicts`, the outputs may be of some criteria only, so that their verdicts say nothing. `advice` says
    what to do about answers without a reply.
    """
    stop: _Stop | None = None
    progress = Progress(sys.stderr, "judging", "answers", left)
    faults = FaultLog()

    def watch(key: str, fault: str | None) -> None:
        progress.done += 1
        message = faults.add(key, fault) if fault else None
        if message:
            progress.clear()
            complain(message)

    def warn(seconds: float, reason: str) -> None:
        progress.clear()
        what = "the endpoint is overloaded" if _OVERLOAD.match(reason) else "rate limit reached"
        complain(
            f"{what} ({reason}); waiting {_write_seconds(seconds)}, and again after each refusal. Use --rpm or a lower "
            "--concurrency to avoid this"
        )

    panel.watch_pauses(warn)
    # All runs to one endpoint share its pace, so that there may be pauses of earlier ones.
    paused_before = panel.paused
    run = JudgeRun(panel, journal, plan, watch, store)
    try:
        asyncio.run(_judge(run, answers, progress))
    except StoppedError as fault:
        stop = _Stop(f"stopped: {fault}", fault.remedy)
    except KeyboardInterrupt:
        stop = _INTERRUPTED
    progress.clear()
    for message in [*faults.end(), *_list_notes(run, store)]:
        complain(message)
    for line in run.tally.reading.format_lines():
        click.echo(visible(line), err=True)
    _report(run, plan, left, panel.paused - paused_before, has_verdicts=has_verdicts)
    _say_how_to_resume(stop, run.tally, advice, panel.account, left - run.tally.judged)
    if stop == _INTERRUPTED:
        raise click.Abort
    if stop:
        return Exit.USAGE
    is_incomplete = run.tally.invalid or run.tally.unanswered or run.tally.is_limited or panel.account.fault
    return Exit.FOUND if is_incomplete else Exit.CLEAN


async def _judge(run: JudgeRun, answers: Iterator[Answer], progress: Progress) -> None:
    async def tick() -> None:
        while True:
            waiting = max(pace.pause_left for pace in run.panel.paces)
            note = f"waiting {waiting:.0f} s for the rate limit" if waiting >= 1 else ""
            progress.show(note)
            await asyncio.sleep(_TICK)

    async with run.panel:
        ticking = asyncio.create_task(tick()) if progress.is_shown else None
        judging = asyncio.create_task(run.judge(answers))
        try:
            # Ctrl+C cancels this task, and not the requests that are under way.
            await asyncio.shield(judging)
        except asyncio.CancelledError:
            # Send no more requests, and wait some time for the replies to those sent, because they are paid for.
            for pace in run.panel.paces:
                pace.close()
            if run.panel.in_flight:
                progress.clear()
                replies = counted(run.panel.in_flight, "reply", "replies")
                complain(f"interrupted: waiting up to {_GRACE:.0f} s for {replies}; interrupt again to stop at once")
            end = time.monotonic() + _GRACE
            while run.panel.in_flight and time.monotonic() < end:
                await asyncio.sleep(_SHORT)
            raise
        finally:
            judging.cancel()
            # Unlike `await judging`, this does not raise once more what `shield` has raised.
            await asyncio.wait([judging])
            if ticking:
                ticking.cancel()


def _list_notes(run: JudgeRun, store: ReplyStore | None) -> Iterator[str]:
    """Yield what differs from what was asked: no cache, another form of the requests, or another model."""
    if store and store.fault:
        yield f"the cache of replies cannot be used: {store.fault}; use --cache-dir or --no-cache"
    for endpoint in run.panel.endpoints:
        if endpoint.refusal:
            yield (
                f"{endpoint.name} refused --response-format {endpoint.call.response_format} ({endpoint.refusal}); "
                f"asked for {endpoint.form} instead"
            )
    others = run.tally.others
    if others:
        listed = others.most_common(_SHOWN)
        models = [f"{count:,} of `{replied}` for `{requested}`" for (requested, replied), count in listed]
        more = others.total() - sum(count for _, count in listed)
        if more:
            models.append(f"{more:,} of others")
        replies = counted(others.total(), "reply", "replies")
        yield f"warning: {replies} came from another model than was asked: {join_words(models)}"


def _report(run: JudgeRun, plan: JudgeOptions, left: int, paused: float, *, has_verdicts: bool) -> None:
    """Print the totals of a run in one line; `paused` are the seconds of waiting for rate limits."""
    tally, limit, spending = run.tally, run.panel.account.limit, run.tally.spending
    parts = [f"{tally.judged} of {left} answers judged"]
    for count, what in (
        (tally.invalid, "with an invalid output"),
        (tally.unanswered, "without a reply"),
        (left - tally.judged - tally.unanswered, "not yet judged"),
    ):
        if count:
            parts.append(f"{count} {what}")
    if has_verdicts and tally.valid:
        parts += _format_votes(tally, len(run.panel.endpoints), plan.samples)
    if tally.cached:
        parts.append(f"{counted(tally.cached, 'reply', 'replies')} from the cache (--no-cache asks again)")
    if spending.requests and (limit.is_set or limit.prices or spending.unusable):
        parts.append(format_requests(spending))
    if any(spending.tokens):
        parts.append(_format_tokens(spending.tokens))
    if limit.prices:
        parts += format_cost(spending.find_cost(limit.prices), limit.prices.currency)
    if paused:
        parts.append(f"paused {_write_seconds(paused)} for the rate limit")
    click.echo(visible("; ".join(parts)), err=True)


def _format_votes(tally: JudgeTally, models: int, samples: int) -> list[str]:
    """Say for how many answers all outputs come to one verdict, and how many votes that is."""
    if models > 1:
        votes = f"at most {counted(tally.votes, 'independent vote')} per answer"
        if samples > 1:
            votes += " (samples of one model are one)"
        return [f"{tally.stable} with the same verdict in all {models * samples} outputs", votes]
    if samples > 1:
        return [f"{counted(tally.stable, 'answer')} got one verdict in all samples"]
    return []


def _format_tokens(tokens: Tokens) -> str:
    counts = []
    if tokens.input is not None:
        cached = f" ({tokens.cached:,} cached)" if tokens.cached else ""
        counts.append(f"{tokens.input:,} input tokens{cached}")
    if tokens.output is not None:
        counts.append(f"{tokens.output:,} output tokens")
    return ", ".join(counts)


def _write_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1g} s"


class _Stop(NamedTuple):
    """Why a run stopped, and what has to change before it can go on."""

    why: str
    remedy: Remedy = NO_REMEDY

    def word(self, given: str) -> str:
        """Say it, and how to go on; `given` says what to give the command again."""
        first, options = self.remedy
        how = f"run the same command{given} to resume"
        if options:
            how = f"run the command{given} with {options} to resume"
        elif first:
            how = f"{first}, then {how}"
        return f"{self.why}; the results so far are saved. {how[0].upper()}{how[1:]}"


_INTERRUPTED = _Stop("interrupted")


def _say_how_to_resume(stop: _Stop | None, tally: JudgeTally, advice: str, account: Account, left: int) -> None:
    """Print what the same command would do; `stop` is why the run stopped, None if it did not.

    `left` is the number of answers that have no result.
    """
    context = click.get_current_context()
    given = " with the same answers" if context.params.get("answers") == "-" else ""
    end = _format_end(tally, account, given, left)
    goes_on = tally.is_limited and not (account.fault or account.too_low or tally.is_stuck)
    account.ending = LimitedRun(end, left, goes_on) if end and left else None
    if stop:
        complain(stop.word(given))
    elif end:
        complain(end)
    elif tally.unanswered and advice:
        complain(advice)
    if goes_on or (stop and not stop.remedy.options):
        print_command()


def _format_end(tally: JudgeTally, account: Account, given: str, left: int) -> str:
    """Return how a limit ended a run, and what to do; empty if none did."""
    limit = account.limit
    if not (tally.is_limited or account.fault):
        return ""
    if account.too_low:
        advice = account.too_low
    elif tally.is_stuck:
        names = join_words(list(limit.options), "or")
        first = "the first answer" if tally.unfinished == 1 else f"the first {tally.unfinished:,} answers"
        used = f"Replies that cannot be used took all of it for {first}, and the same command would end there too"
        fewer = "" if limit.requests is None else ", lower --max-attempts"
        advice = f"{used}: raise {names}{fewer}, or use another model"
    else:
        answers = "the answer that is left" if left == 1 else f"the {left:,} answers that are left"
        advice = f"Run the same command{given} to ask for {answers}, with {limit} for that run"
    return format_limit(account, "the results so far are saved", advice, is_stopped=tally.is_limited)


def format_limit(account: Account, outcome: str, advice: str, *, is_stopped: bool = True) -> str:
    """Return how a limit ended a run, what the outcome is, and what to do.

    Where a model did not keep to a limit of tokens, that is what to change, whatever the `advice`; the run may have
    come to its end all the same.
    """
    if not account.fault:
        return f"stopped at {account.limit}; {outcome}. {advice}"
    stop = "stopped: " if is_stopped else ""
    over = ""
    if account.excess:
        over = f" ({RunLimit(cost=account.limit.cost)} is exceeded by {write_amount(account.excess)})"
    advice = "This model does not keep to a limit of tokens: use --max-requests alone"
    return f"{stop}{account.fault}{over}; {outcome}. {advice}"


def print_command() -> None:
    """Print the command of this run, to run it again, unless it may hold secrets."""
    context = click.get_current_context()
    if not holds_secrets(context):
        click.echo(f"  {visible(repeat_command(context))}", err=True)


def holds_secrets(context: click.Context) -> bool:
    """Return whether the command line of a run may hold secrets, so that it is not printed."""
    urls = [context.params["base_url"], *(model.url for model in context.params["models"])]
    if any(map(holds_secret, urls)):
        return True
    # Their values may be keys.
    return any(context.params.get(name) for name in ("headers", "secret_headers", "extra_body"))


_MOST_NAMED = 20


class BatchWork:
    """A batch of requests in the place of a run that sends them: the answers, and what judges them.

    It is what `JudgeRun` asks of its results, and notes which answers got a record.
    """

    def __init__(
        self, batch: BatchOptions, source: AnswersFile, journal: Journal, calls: Sequence[Call], plan: JudgeOptions
    ) -> None:
        self.judged = journal.judged
        self._batch, self._source, self._journal, self._calls = batch, source, journal, calls
        # A batch has one attempt: what it returned is all there is.
        self._plan = replace(plan, max_attempts=1, concurrency=1)
        self._written: set[str] = set()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record, which can be made again at no cost."""
        self._journal.append(record, is_costly=False)
        self._written.add(json.dumps(record["id"]))

    def run(self, left: int, prices: Prices | None) -> Exit:
        """Read the results of a batch, then write the requests that are left, as far as the options ask for it.

        `left` is the number of answers without a record.
        """
        code = Exit.CLEAN
        with ExitStack() as opened:
            results = opened.enter_context(BatchResults(self._batch.results)) if self._batch.results else None
            if results is not None:
                code = self._read_results(results, left, prices)
            if self._batch.requests:
                self._write_requests(results, self._batch.requests)
        return code

    def _read_results(self, results: BatchResults, left: int, prices: Prices | None) -> Exit:
        """Write a record for each answer whose results are all there."""
        for fault in results.unreadable[:_MOST_NAMED]:
            complain(fault)
        if len(results.unreadable) > _MOST_NAMED:
            complain(f"{counted(len(results.unreadable) - _MOST_NAMED, 'more line')} that cannot be read")
        account = Account(RunLimit(prices=prices))
        panel = Panel([BatchReplies(call, results) for call in self._calls], account, is_live=False)
        advice = ""
        if not self._batch.requests:
            advice = "the answers without a result are still to be judged; --batch-requests writes only those"
        code = run_judge(panel, self, self._source.read(), left, self._plan, advice=advice)
        every = (
            request for answer in self._source.read() for request in list_requests(answer, self._calls, self._plan)
        )
        foreign = results.list_foreign(every)
        differ = "because the answers, the rubric, the model or an option differ"
        for names, noun, one, several, what in (
            (foreign, "result", "belongs", "belong", f"to no request of this run, {differ}: not used"),
            (results.doubled, "request", "has", "have", "several results, which are the same: the first counts"),
            (results.contradicting, "request", "has", "have", "several results, which differ: not used"),
        ):
            if names:
                verb = pluralize(len(names), one, several)
                complain(f"{counted(len(names), noun)} {verb} {what} ({join_first(sorted(names), 3)})")
        is_clean = not (results.unreadable or foreign or results.doubled or results.contradicting)
        return code if is_clean else max(code, Exit.FOUND)

    def _write_requests(self, results: BatchResults | None, path: Path) -> None:
        """Write the requests that have no reply; those of each model to files of their own, as providers ask."""
        number = 1
        for call in self._calls:
            requests = self._list_open(results, call)
            try:
                files, count = write_batch(requests, path, self._batch.form, self._batch.size, number)
            except WriteError as fault:
                raise click.UsageError(f"--batch-requests: {path}: {fault}") from None
            except BatchError as fault:
                raise click.UsageError(f"--batch-requests: {fault}") from None
            if files:
                number += len(files)
                names = join_words([visible(str(file)) for file in files])
                model = f" to `{visible(call.model)}`" if len(self._calls) > 1 else ""
                click.echo(f"{counted(count, 'request')}{model} written to {names}; nothing was sent", err=True)
        if number == 1:
            click.echo("no requests are left to write", err=True)

    def _list_open(self, results: BatchResults | None, call: Call) -> Iterator[Request]:
        """Yield the requests to a model that have neither a record nor a reply."""
        for answer in self._source.read():
            if answer.key in self.judged or answer.key in self._written:
                continue
            for request in list_requests(answer, [call], self._plan):
                if not (results and results.has_reply(request.name)):
                    yield request


def check_batch(batch: BatchOptions, calls: Iterable[Call]) -> None:
    """Refuse requests that cannot be written as a batch; raise click.UsageError naming the option."""
    try:
        check_batch_format(batch.form, calls)
    except BatchError as fault:
        raise click.UsageError(str(fault)) from None
