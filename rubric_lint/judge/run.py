"""Judge answers concurrently: retry each until its output is valid, and write each once."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rubric_lint.judge.account import Judgement, find_fault, make_record
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import Desk, Plan, Sample, take_sample
from rubric_lint.judge.endpoint import Exchange, UnansweredError
from rubric_lint.judge.panel import Panel
from rubric_lint.judge.spending import Spending
from rubric_lint.judge.store import ReplyStore
from rubric_lint.outputs.reply import Tokens, is_other_model

_IN_A_ROW = 5
"""The number of consecutive answers without a reply after which the run stops."""


class StoppedError(Exception):
    """A run that stopped early, and why."""


class _LostError(Exception):
    """An answer that got no reply from one model, which `fault` explains; `model` is empty if only one judges."""

    def __init__(self, fault: UnansweredError, model: str) -> None:
        super().__init__(f"`{model}`: {fault}" if model else str(fault))
        self.is_lasting = fault.lasting
        self.is_of_answer = fault.of_answer
        self.model = model


@dataclass(slots=True)
class JudgeTally:
    """Count the answers of a run. `skipped` were judged by an earlier run; `stable` have one verdict in all outputs.

    `votes` is the most independent votes that an answer can have, `cached` how many requests needed no endpoint.
    `others` counts replies of another model than the one asked, by both names.
    """

    judged: int = 0
    invalid: int = 0
    unanswered: int = 0
    skipped: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    stable: int = 0
    votes: int = 1
    cached: int = 0
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    spending: Spending = field(default_factory=Spending, compare=False)

    @property
    def valid(self) -> int:
        """The number of judged answers with a valid output."""
        return self.judged - self.invalid


class Results(Protocol):
    """Where results go: `judged` has the ids, as JSON, of the answers that are not to be judged again."""

    judged: Mapping[str, str]

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one result."""


class JudgeRun:
    """Judge answers; after each, call `watch` with the id as JSON and the error (None: a valid output)."""

    def __init__(
        self,
        panel: Panel,
        journal: Results,
        plan: Plan,
        watch: Callable[[str, str | None], object],
        store: ReplyStore | None = None,
    ) -> None:
        self.tally = JudgeTally()
        self.panel = panel
        self._journal = journal
        self._plan = plan
        self._watch = watch
        self._lost_in_a_row = 0
        self._desk = Desk(self._count, store)

    async def judge(self, answers: Iterable[Answer]) -> None:
        """Judge every answer that is not in the journal.

        Raises:
            StoppedError: when no request can succeed, or `_IN_A_ROW` answers got no reply.
            OSError: when the results file cannot be written.
        """
        waiting = iter(self._skip_judged(answers))
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._plan.concurrency):
                    workers.create_task(self._work(waiting))
        except BaseExceptionGroup as group:
            raise _first(group) from None

    def _skip_judged(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        for answer in answers:
            if answer.key in self._journal.judged:
                self.tally.skipped += 1
            else:
                yield answer

    async def _work(self, waiting: Iterator[Answer]) -> None:
        for answer in waiting:
            try:
                judgement = await self._judge_one(answer)
            except _LostError as lost:
                self._take_loss(answer, lost)
                continue
            self._lost_in_a_row = 0
            record = make_record(answer, self.panel, self._plan, judgement)
            self._journal.append(record)
            self.tally.votes = max(self.tally.votes, record["judge"].get("independent_votes_at_most", 1))
            invalid = find_fault(self.panel, judgement)
            self.tally.judged += 1
            self.tally.invalid += invalid is not None
            self.tally.stable += invalid is None and _agree(answer, judgement.all)
            self._watch(answer.key, invalid and f"invalid after {self._plan.max_attempts} attempts: {invalid}")

    def _take_loss(self, answer: Answer, lost: _LostError) -> None:
        self.tally.unanswered += 1
        # An answer that is too long would stop every later run at the same place.
        self._lost_in_a_row += not lost.is_of_answer
        self._watch(answer.key, f"not judged: {lost}")
        if lost.is_lasting:
            raise StoppedError(f"all other requests {f'to `{lost.model}` ' if lost.model else ''}would fail too")
        if self._lost_in_a_row >= _IN_A_ROW and self.panel.is_live:
            raise StoppedError(f"{_IN_A_ROW} answers in a row got no reply")

    async def _judge_one(self, answer: Answer) -> Judgement:
        """Ask each model for its samples, one by one, so that `concurrency` limits all requests.

        The first invalid sample makes the answer invalid, so nothing more is asked.
        """
        panel = self.panel
        samples: list[list[Sample]] = [[] for _ in panel.endpoints]
        for endpoint, name, given in zip(panel.endpoints, panel.names, samples, strict=True):
            for number in range(1, self._plan.samples + 1):
                try:
                    given.append(await take_sample(endpoint, answer, self._plan, number, self._desk))
                except UnansweredError as fault:
                    raise _LostError(fault, "" if panel.is_single else name) from None
                if given[-1].output is None:
                    return Judgement(samples)
        return Judgement(samples)

    def _count(self, model: str, exchange: Exchange) -> None:
        replied = exchange.reply.model
        if replied and is_other_model(model, replied):
            self.tally.others[model, replied] += 1
        if exchange.is_cached:
            self.tally.cached += 1
            return
        self.tally.tokens = self.tally.tokens.plus(exchange.reply.tokens)
        self.tally.spending.add(model, exchange.reply)


def _agree(answer: Answer, samples: list[Sample]) -> bool:
    """Return whether there are several samples, and all have one verdict."""
    verdicts = {answer.rubric.grade(sample.output).verdict for sample in samples if sample.output}
    return len(samples) > 1 and len(verdicts) == 1


def _first(fault: BaseException) -> BaseException:
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
