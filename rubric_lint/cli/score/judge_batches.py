"""Run `rubric-score judge` with the files of batch APIs: write requests, and turn results into records."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.score.answers_file import AnswersFile
from rubric_lint.cli.score.batch_options import Batch
from rubric_lint.cli.score.judging import run_judge
from rubric_lint.judge.asking import Plan, Request, list_requests
from rubric_lint.judge.batches import BatchAsker, BatchError, BatchResults, check_form, list_names, write_batch
from rubric_lint.judge.call import Call
from rubric_lint.judge.journal import Journal
from rubric_lint.judge.run import Panel
from rubric_lint.judge.spending import Prices
from rubric_lint.messages import join_words
from rubric_lint.project.writing import WriteError
from rubric_lint.report.visible import visible
from rubric_lint.run.console import complain
from rubric_lint.run.summary import counted

_MOST_NAMED = 20


class BatchWork:
    """The answers of a run, and the requests that it has for them."""

    def __init__(self, source: AnswersFile, journal: Journal, calls: Sequence[Call], plan: Plan) -> None:
        self.source = source
        self.journal = journal
        self.calls = calls
        # A batch has one attempt: what it returned is all there is.
        self.plan = replace(plan, max_attempts=1, concurrency=1)
        self.judged = set(journal.judged)

    def list_all(self) -> Iterator[Request]:
        """Yield the requests for all answers."""
        for answer in self.source.read():
            yield from list_requests(answer, self.calls, self.plan)

    def list_left(self, call: Call) -> Iterator[Request]:
        """Yield the requests to one model for the answers that have no result."""
        for answer in self.source.read():
            if answer.key not in self.judged:
                yield from list_requests(answer, [call], self.plan)


class _Noting:
    """A results file that notes which answers got a record."""

    def __init__(self, journal: Journal, written: set[str]) -> None:
        self.judged = journal.judged
        self._journal = journal
        self._written = written

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one result."""
        self._journal.append(record, is_costly=False)
        self._written.add(json.dumps(record["id"]))


def run_batch(batch: Batch, work: BatchWork, left: int, prices: Prices | None) -> Exit:
    """Read the results of a batch, then write the requests that are left, as far as the options ask for it.

    `left` is the number of answers without a record.

    Raises:
        click.UsageError: if requests cannot be written as a batch.
    """
    try:
        check_form(batch.form, work.calls)
    except BatchError as fault:
        raise click.UsageError(str(fault)) from None
    code = Exit.CLEAN
    with ExitStack() as opened:
        results = opened.enter_context(BatchResults(batch.results)) if batch.results else None
        if results is not None:
            code = _read_results(results, work, left, prices, writes=batch.requests is not None)
        if batch.requests:
            _write_requests(work, results, batch.requests, batch)
    return code


def _read_results(results: BatchResults, work: BatchWork, left: int, prices: Prices | None, *, writes: bool) -> Exit:
    """Write a record for each answer whose results are all there."""
    for fault in results.unreadable[:_MOST_NAMED]:
        complain(fault)
    if (more := len(results.unreadable) - _MOST_NAMED) > 0:
        complain(f"{counted(more, 'more line')} that cannot be read")
    panel = Panel([BatchAsker(call, results) for call in work.calls], is_live=False)
    advice = "" if writes else "the answers without a result are still to be judged; --batch-requests writes only those"
    code = run_judge(
        panel, _Noting(work.journal, work.judged), work.source.read(), left, work.plan, prices=prices, advice=advice
    )
    foreign = results.list_foreign(work.list_all())
    differ = "because the answers, the rubric, the model or an option differ"
    for names, noun, one, several, what in (
        (foreign, "result", "belongs", "belong", f"to no request of this run, {differ}: not used"),
        (results.doubled, "request", "has", "have", "several results, which are the same: the first counts"),
        (results.contradicting, "request", "has", "have", "several results, which differ: not used"),
    ):
        if names:
            ids = join_words(list(list_names(names)))
            complain(f"{counted(len(names), noun)} {one if len(names) == 1 else several} {what} ({ids})")
    is_clean = not (results.unreadable or foreign or results.doubled or results.contradicting)
    return code if is_clean else max(code, Exit.FOUND)


def _write_requests(work: BatchWork, results: BatchResults | None, path: Path, batch: Batch) -> None:
    """Write the requests that have no reply; those of each model to files of their own, as providers ask."""
    number = 1
    for call in work.calls:
        requests = (each for each in work.list_left(call) if not (results and results.has_reply(each.name)))
        try:
            written = write_batch(requests, path, batch.form, batch.size, number)
        except WriteError as fault:
            raise click.UsageError(f"--batch-requests: {path}: {fault}") from None
        except BatchError as fault:
            raise click.UsageError(f"--batch-requests: {fault}") from None
        if written.files:
            number += len(written.files)
            names = join_words([visible(str(file)) for file in written.files])
            model = f" to `{visible(call.model)}`" if len(work.calls) > 1 else ""
            click.echo(f"{counted(written.requests, 'request')}{model} written to {names}; nothing was sent", err=True)
    if number == 1:
        click.echo("no requests are left to write", err=True)
