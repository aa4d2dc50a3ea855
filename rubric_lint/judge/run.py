"""Judge answers concurrently by one model or several: retry each until its output is valid, and write each once."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Never, Protocol, Self

from rubric_lint.judge.account import Account, LimitError, Reservation
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import (
    Conversation,
    JudgeOptions,
    ReplySource,
    Request,
    Sample,
    ask,
    list_needs,
    list_parts,
)
from rubric_lint.judge.endpoint import NO_REMEDY, Exchange, Remedy, UnansweredError
from rubric_lint.judge.journal import make_fingerprint
from rubric_lint.judge.prompt import join_outputs
from rubric_lint.judge.spending import Spending
from rubric_lint.judge.store import ReplyStore
from rubric_lint.model.criterion import Shape
from rubric_lint.model.messages import counted
from rubric_lint.scoring.form import write_check
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric
from rubric_lint.scoring.meaning import hash_criteria
from rubric_lint.scoring.output import reader_of
from rubric_lint.scoring.panel import count_votes, name_models, read_panel
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.quotes import read_quotable
from rubric_lint.scoring.records.reply import Tokens, is_other_model
from rubric_lint.scoring.totals import ReadingTotals


class Panel:
    """One model or several, which all judge every answer; use it as an asynchronous context manager.

    `names` are those of `endpoints`, all different. `paces` has one pace for each address. All requests are sent
    through `account`. `is_live` is False for the results of a batch.
    """

    def __init__(
        self, endpoints: Sequence[ReplySource], account: Account | None = None, *, is_live: bool = True
    ) -> None:
        self.endpoints = tuple(endpoints)
        self.account = account or Account()
        for endpoint in endpoints:
            endpoint.account = self.account
        self.is_live = is_live
        self.names = name_models((endpoint.call.model, endpoint.name) for endpoint in endpoints)
        addresses = dict.fromkeys(endpoint.call.endpoint for endpoint in endpoints)
        self.paces = [self.account.find_pace(address) for address in addresses]
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for endpoint in self.endpoints:
            await self._opened.enter_async_context(endpoint)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    @property
    def is_single(self) -> bool:
        """Whether one model judges."""
        return len(self.endpoints) == 1

    @property
    def in_flight(self) -> int:
        """How many requests have been sent and not yet answered."""
        return sum(pace.in_flight for pace in self.paces)

    @property
    def paused(self) -> float:
        """The seconds of all pauses so far, also of earlier panels with the same account."""
        return sum(pace.paused for pace in self.paces)

    def watch_pauses(self, watch: Callable[[float, str], object]) -> None:
        """Call `watch` at the first pause of each endpoint with its seconds and the reason."""
        for pace in self.paces:
            pace.watch = watch


def _write_output(rubric: ScoringRubric, output: JudgeOutput) -> dict[str, Any]:
    """Return the output as the JSON that a judge would return."""
    if rubric.shape is Shape.HOLISTIC:
        answer = output.answers[0]
        return {"reasoning": output.reasoning or output.reasons[0] or "", rubric.criteria[0].field: answer}
    checks = [
        write_check(criterion, answer, reason)
        for criterion, answer, reason in zip(rubric.criteria, output.answers, output.reasons, strict=True)
    ]
    if output.reasoning is None:
        return {"checks": checks}
    return {"checks": checks, "overall_reasoning": output.reasoning}


PanelSamples = Sequence[Sequence[Sample]]
"""The samples of each model, in the order of the panel; only the last one may be invalid, as no other follows it."""


def make_record(answer: Answer, panel: Panel, options: JudgeOptions, panel_samples: PanelSamples) -> dict[str, Any]:
    """Return the record of an answer: its own fields, the outputs to score, and how they were made.

    For an output that stayed invalid it has the model's last text, so that the scorer reports the error.
    """
    outputs: list[Any] = []
    for samples in panel_samples:
        for sample in samples:
            if sample.output is None:
                outputs.append(sample.exchanges[-1].reply.text)
            else:
                outputs.append(_write_output(answer.rubric, sample.output))
    about = _describe(answer, panel, options, panel_samples)
    fault = _find_fault(panel, panel_samples)
    if fault:
        about["fault"] = fault
    about["fingerprint"] = make_fingerprint(answer, [endpoint.call for endpoint in panel.endpoints], options)
    record = dict(answer.record)
    if options.samples == 1 and panel.is_single:
        record["output"] = outputs[0]
    else:
        record["outputs"] = outputs
    return {**record, "judge": about}


def _find_fault(panel: Panel, panel_samples: PanelSamples) -> str | None:
    """Return why the output is invalid, with the model of a panel; None if it is valid."""
    invalid = _find_invalid(panel, panel_samples)
    if invalid is None:
        return None
    name, sample = invalid
    return sample.fault if panel.is_single else f"`{name}`: {sample.fault}"


def _find_invalid(panel: Panel, panel_samples: PanelSamples) -> tuple[str, Sample] | None:
    """Return the invalid sample, if there is one, with the name of its model."""
    for name, samples in zip(panel.names, panel_samples, strict=True):
        for sample in samples:
            if sample.output is None:
                return name, sample
    return None


def _describe(answer: Answer, panel: Panel, options: JudgeOptions, panel_samples: PanelSamples) -> dict[str, Any]:
    """Return the field `judge` of a record, without the fault and the fingerprint."""
    common = panel.endpoints[0].call.describe()
    if options.per_criterion:
        common["per_criterion"] = True
    if options.shuffle is not None:
        common["shuffle"] = options.shuffle
    common["rubric_hash"] = answer.rubric.hash
    common["criteria_hashes"] = hash_criteria(answer.rubric.model, answer.rubric.criteria)
    members = [_describe_model(*pair) for pair in zip(panel.endpoints, panel_samples, strict=True)]
    if panel.is_single:
        about = members[0]
        if options.samples > 1:
            about["independent_votes_at_most"] = 1
        return {**about, **common, **_describe_requests(panel_samples[0], options)}
    for member, samples in zip(members, panel_samples, strict=True):
        member["outputs"] = len(samples)
        if samples:
            member.update(_describe_requests(samples, options))
    votes = count_votes(read_panel({"judge": {"panel": members}}))
    first = panel_samples[0][0].exchanges[0]
    return {"panel": members, "independent_votes_at_most": votes, **common, **_describe_time(first)}


def _describe_model(endpoint: ReplySource, samples: Sequence[Sample]) -> dict[str, Any]:
    about: dict[str, Any] = {"model": endpoint.call.model}
    models = dict.fromkeys(exchange.reply.model for exchange in _list_exchanges(samples) if exchange.reply.model)
    if models:
        about["answered_by"] = list(models)
    about["endpoint"] = endpoint.name
    if endpoint.form != endpoint.call.response_format:
        about["asked_as"] = endpoint.form
    return about


def _describe_requests(samples: Sequence[Sample], options: JudgeOptions) -> dict[str, Any]:
    """Describe the time and tokens of one model; `latency` has the seconds of each request, `attempts` is by output.

    Of a reply from the cache they are those of the request that it answered; `from_cache` counts such replies.
    """
    exchanges = _list_exchanges(samples)
    tokens = Tokens()
    for exchange in exchanges:
        tokens = tokens.plus(exchange.reply.tokens)
    about: dict[str, Any] = _describe_time(exchanges[0])
    latency = [round(exchange.seconds, 3) for exchange in exchanges if exchange.seconds is not None]
    if latency:
        about["latency"] = latency
    about["tokens"] = {name: count for name, count in tokens._asdict().items() if count is not None}
    from_cache = sum(exchange.is_cached for exchange in exchanges)
    if from_cache:
        about["from_cache"] = from_cache
    about["attempts"] = [_count_attempts(sample, options) for sample in samples]
    if options.shuffle is not None:
        about["orders"] = [list(sample.order) for sample in samples]
    return about


def _list_exchanges(samples: Sequence[Sample]) -> list[Exchange]:
    return [exchange for sample in samples for exchange in sample.exchanges]


def _count_attempts(sample: Sample, options: JudgeOptions) -> int | dict[str, int]:
    """Return the number of requests for a sample; by criterion if each is asked for alone, as far as it was."""
    if not options.per_criterion:
        return len(sample.exchanges)
    pairs = zip(sample.order, sample.conversations, strict=False)
    return {criterion: len(conversation.replies) for criterion, conversation in pairs}


def _describe_time(exchange: Exchange) -> dict[str, Any]:
    """Return the time of a request in UTC, to the millisecond, as the field `time`; no field if it is unknown."""
    if exchange.sent is None:
        return {}
    return {"time": exchange.sent.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


_IN_A_ROW = 5
"""The number of consecutive answers without a reply after which the run stops."""


class StoppedError(Exception):
    """A run that stopped early, and why; `remedy` says what has to change before it can resume."""

    def __init__(self, reason: str, remedy: Remedy = NO_REMEDY) -> None:
        super().__init__(reason)
        self.remedy = remedy


def _stop(model: str, remedy: Remedy) -> Never:
    """Stop the run, because no other request can succeed; `model` is that of a panel, else empty."""
    to_model = f"to `{model}` " if model else ""
    raise StoppedError(f"all other requests {to_model}would fail too", remedy)


@dataclass(slots=True)
class JudgeTally:
    """Count the answers of a run. `skipped` were judged by an earlier run; `stable` have one verdict in all outputs.

    `votes` is the most independent votes that an answer can have, `cached` how many requests needed no endpoint.
    `others` counts replies of another model than the one asked, by both names, `reading` what was passed over in the
    replies, `spending` what the requests used. `is_limited`: a limit kept an answer from being judged; `unfinished` are
    those whose replies could not be used until a limit allowed no other. `stored` counts replies for later runs.
    """

    judged: int = 0
    invalid: int = 0
    unanswered: int = 0
    skipped: int = 0
    stable: int = 0
    votes: int = 1
    cached: int = 0
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    spending: Spending = field(default_factory=Spending, compare=False)
    reading: ReadingTotals = field(default_factory=ReadingTotals, compare=False)
    is_limited: bool = False
    unfinished: int = 0
    stored: int = field(default=0, compare=False)

    @property
    def is_stuck(self) -> bool:
        """Whether a limit ended the run before anything came of it, so that the same run would end there again."""
        return self.is_limited and self.unfinished > 0 and not self.judged and not self.stored

    @property
    def valid(self) -> int:
        """The number of judged answers with a valid output."""
        return self.judged - self.invalid


class ResultsWriter(Protocol):
    """Where results go: `judged` has the ids, as JSON, of the answers that are not to be judged again."""

    judged: Mapping[str, str]

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one result."""


class JudgeRun:
    """Judge answers; after each, call `watch` with the id as JSON and the error (None: a valid output).

    No answer is begun whose requests may exceed the limits of the panel's account.
    """

    def __init__(
        self,
        panel: Panel,
        journal: ResultsWriter,
        options: JudgeOptions,
        watch: Callable[[str, str | None], object],
        store: ReplyStore | None = None,
    ) -> None:
        self.tally = JudgeTally(spending=panel.account.meter())
        self.panel = panel
        self._journal = journal
        self._options = options
        self._watch = watch
        self._lost_in_a_row = 0
        self._store = store

    async def judge(self, answers: Iterable[Answer]) -> None:
        """Judge every answer that is not in the journal.

        Raises:
            StoppedError: when no request can succeed, or `_IN_A_ROW` answers got no reply.
            OSError: when the results file cannot be written.
        """
        waiting = iter(answers)
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._options.concurrency):
                    workers.create_task(self._work(waiting))
        except BaseExceptionGroup as group:
            fault = group
            while isinstance(fault, BaseExceptionGroup):
                fault = fault.exceptions[0]
            # Callers catch the exception itself, not the group in which the workers end.
            raise fault from None

    async def _work(self, waiting: Iterator[Answer]) -> None:
        """Judge one answer after the other, until none is left or a limit is reached; workers share the iterator."""
        calls = [endpoint.call for endpoint in self.panel.endpoints]
        account = self.panel.account
        for answer in waiting:
            if answer.key in self._journal.judged:
                self.tally.skipped += 1
                continue
            # Without a limit nothing is reserved, and no body is written twice.
            needs = list_needs(answer, calls, self._options) if account.limit.is_set else []
            try:
                with await account.reserve(needs) as reserved:
                    panel_samples = await self._judge_one(answer, reserved)
            except LimitError as limit:
                self._note_limit(answer, limit)
                return
            except UnansweredError as fault:
                self._note_loss(answer, fault)
            else:
                self._keep(answer, panel_samples)

    def _note_limit(self, answer: Answer, limit: LimitError) -> None:
        """Count an answer that a limit left unjudged, if a request for it had failed before: others were not begun."""
        self.tally.is_limited = True
        if not limit.reason:
            return
        if limit.is_invalid:
            self.tally.unfinished += 1
        else:
            self.tally.unanswered += 1
        self._watch(answer.key, f"not judged: {limit.reason}; no other try ({limit})")

    def _note_loss(self, answer: Answer, fault: UnansweredError) -> None:
        """Count an answer without a reply; raise StoppedError if the others would not get one either."""
        self.tally.unanswered += 1
        # An answer that is too long would stop every later run at the same place.
        if not fault.of_answer:
            self._lost_in_a_row += 1
        model = f"`{fault.model}`: " if fault.model else ""
        self._watch(answer.key, f"not judged: {model}{fault}")
        if fault.lasting:
            _stop(fault.model, fault.remedy)
        if self._lost_in_a_row >= _IN_A_ROW and self.panel.is_live:
            raise StoppedError(f"{_IN_A_ROW} answers in a row got no reply")

    def _keep(self, answer: Answer, panel_samples: PanelSamples) -> None:
        """Write the record of an answer, and count it."""
        self._lost_in_a_row = 0
        record = make_record(answer, self.panel, self._options, panel_samples)
        self._journal.append(record)
        self.tally.votes = max(self.tally.votes, record["judge"].get("independent_votes_at_most", 1))
        self.tally.judged += 1
        invalid = _find_invalid(self.panel, panel_samples)
        if invalid is None:
            outputs = [sample.output for samples in panel_samples for sample in samples if sample.output]
            verdicts = {answer.rubric.decide_output(output) for output in outputs}
            if len(outputs) > 1 and len(verdicts) == 1:
                self.tally.stable += 1
            self._watch(answer.key, None)
            return
        self.tally.invalid += 1
        name, sample = invalid
        last = sample.conversations[-1]
        fault = _find_fault(self.panel, panel_samples)
        self._watch(answer.key, f"invalid after {counted(len(last.replies), 'attempt')}: {fault}")
        if isinstance(last.lost, UnansweredError) and last.lost.lasting:
            judge = "" if self.panel.is_single else name
            _stop(judge, last.lost.remedy)

    async def _judge_one(self, answer: Answer, reserved: Reservation) -> PanelSamples:
        """Ask each model for its samples, one by one, so that `concurrency` limits all requests.

        The first invalid sample makes the answer invalid, so nothing more is asked.
        """
        panel_samples: list[list[Sample]] = [[] for _ in self.panel.endpoints]
        for endpoint, name, samples in zip(self.panel.endpoints, self.panel.names, panel_samples, strict=True):
            for number in range(1, self._options.samples + 1):
                try:
                    samples.append(await self._sample(endpoint, answer, number, reserved))
                except UnansweredError as fault:
                    fault.model = "" if self.panel.is_single else name
                    raise
                except LimitError as limit:
                    if limit.reason and not self.panel.is_single:
                        limit.reason = f"`{name}`: {limit.reason}"
                    raise
                if samples[-1].output is None:
                    return panel_samples
        return panel_samples

    async def _sample(self, endpoint: ReplySource, answer: Answer, number: int, reserved: Reservation) -> Sample:
        """Ask a model for its output with this number, from 1; raise UnansweredError when a request got no reply.

        The first request whose output stays invalid makes the sample invalid, and the others are not made.
        """
        order = self._options.order(answer, endpoint.call.model, number)
        conversations: list[Conversation[Exchange, JudgeOutput]] = []
        outputs: list[tuple[ScoringRubric, JudgeOutput]] = []
        for part, request in list_parts(answer, endpoint.call, self._options, number):
            conversation = await self._ask(endpoint, request, part, answer, reserved)
            conversations.append(conversation)
            output = conversation.output
            if output is None:
                is_part = len(part.criteria) < len(answer.rubric.criteria)
                where = f"criterion `{part.criteria[0].id}`: " if is_part else ""
                return Sample(None, tuple(conversations), order, where + conversation.reason)
            outputs.append((part, output))
        return Sample(join_outputs(answer.rubric, outputs), tuple(conversations), order)

    async def _ask(
        self, endpoint: ReplySource, request: Request, rubric: ScoringRubric, answer: Answer, reserved: Reservation
    ) -> Conversation[Exchange, JudgeOutput]:
        def read(exchange: Exchange) -> JudgeOutput:
            if exchange.reply.fault:
                raise OutputError(exchange.reply.fault)
            text = exchange.reply.text
            return reader_of(rubric).read(text, lambda: read_quotable(*answer.case), self._options.reading).output

        conversation = await ask(
            endpoint, request, read, attempts=self._options.max_attempts, store=self._store, reserved=reserved
        )
        for exchange in conversation.replies:
            model = exchange.reply.model
            if model and is_other_model(request.call.model, model):
                self.tally.others[request.call.model, model] += 1
            self.tally.cached += exchange.is_cached
        if isinstance(conversation.lost, LimitError):
            conversation.lost.follow(len(conversation.replies), str(conversation.fault))
            raise conversation.lost
        if conversation.output is not None:
            self.tally.reading.note(conversation.output.notes)
            if self._store and not conversation.replies[-1].is_cached:
                self.tally.stored += 1
        return conversation
