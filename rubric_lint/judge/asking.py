"""Ask one model for one output, in one request or one for each criterion."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rubric_lint.judge.answers import Answer
from rubric_lint.judge.call import Call, hash_json
from rubric_lint.judge.endpoint import Exchange, Place
from rubric_lint.judge.pace import Pace
from rubric_lint.judge.prompt import Message, divide, join_outputs, order_criteria, output_schema, say, write_prompt
from rubric_lint.judge.spending import Need, guess_tokens
from rubric_lint.judge.store import ReplyStore, make_key
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.reply import Reply
from rubric_lint.outputs.verdict import Extract, read_quotable
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric
from rubric_lint.scoring.output import reader_of


@dataclass(frozen=True, slots=True)
class Plan:
    """How each model judges each answer: `samples` outputs, each with up to `max_attempts` attempts until it is valid.

    `extract` says how to find the verdict in what the model writes. With `per_criterion`, a request asks for only one
    criterion. `shuffle` is the seed of the order of the criteria, None for that of the rubric.
    """

    samples: int = 1
    max_attempts: int = 3
    concurrency: int = 8
    extract: Extract = Extract.WHOLE
    per_criterion: bool = False
    shuffle: int | None = None

    def count_requests(self, criteria: int) -> int:
        """Return how many requests each model gets for an answer if every first attempt is valid."""
        return self.samples * (criteria if self.per_criterion else 1)

    def describe(self, models: int) -> str:
        """Return why there are more requests than answers, or an empty string if there are not."""
        parts = [f"{models} models"] if models > 1 else []
        parts += [f"{self.samples} samples"] if self.samples > 1 else []
        parts += ["one criterion per request"] if self.per_criterion else []
        return ", ".join(parts)

    def order(self, answer: Answer, model: str, sample: int) -> tuple[str, ...]:
        """Return the ids of the criteria in the order in which a sample, counted from 1, asks for them."""
        if self.shuffle is None:
            return tuple(criterion.id for criterion in answer.rubric.criteria)
        return order_criteria(answer.rubric, self.shuffle, answer.key, model, sample)


class Asker(AbstractAsyncContextManager[Any], Protocol):
    """What returns the replies of a model: an endpoint, or the results of a batch."""

    call: Call
    pace: Pace

    @property
    def name(self) -> str:
        """The address of the endpoint, safe to show."""

    async def complete(
        self, messages: Iterable[Message], schema: Mapping[str, Any], place: Place | None = None, /
    ) -> Exchange:
        """Return the model's reply.

        Raises:
            UnansweredError: when there is none.
        """


class Asked(NamedTuple):
    """The exchanges of one request and its corrections; `fault` describes the last if `output` is None."""

    rubric: ScoringRubric
    exchanges: tuple[Exchange, ...]
    output: JudgeOutput | None
    fault: str = ""


class Sample(NamedTuple):
    """One output of one model, or None if it stayed invalid; then `fault` describes the last of its requests."""

    output: JudgeOutput | None
    asked: tuple[Asked, ...]
    order: tuple[str, ...]
    fault: str = ""

    @property
    def exchanges(self) -> list[Exchange]:
        """All exchanges, in order."""
        return [exchange for each in self.asked for exchange in each.exchanges]


class Sampler:
    """Asks models for outputs; `count` is called with the name of the model and each exchange."""

    def __init__(self, plan: Plan, count: Callable[[str, Exchange], object], store: ReplyStore | None = None) -> None:
        self._plan = plan
        self._count = count
        self._store = store

    async def take(self, endpoint: Asker, answer: Answer, number: int) -> Sample:
        """Ask a model for its output with this number, from 1.

        The first request whose output stays invalid makes the sample invalid, and the others are not made.

        Raises:
            UnansweredError: when a request got no reply.
        """
        order = self._plan.order(answer, endpoint.call.model, number)
        asked: list[Asked] = []
        for part in divide(answer.rubric, order, per_criterion=self._plan.per_criterion):
            asked.append(await self._ask(endpoint, answer, part, number))
            if asked[-1].output is None:
                is_part = len(part.criteria) < len(answer.rubric.criteria)
                where = f"criterion `{part.criteria[0].id}`: " if is_part else ""
                return Sample(None, tuple(asked), order, where + asked[-1].fault)
        outputs = ((each.rubric, each.output) for each in asked if each.output)
        return Sample(join_outputs(answer.rubric, outputs), tuple(asked), order)

    async def _ask(self, endpoint: Asker, answer: Answer, rubric: ScoringRubric, number: int) -> Asked:
        prompt = write_prompt(rubric, answer.case)
        schema = output_schema(rubric)
        store, model = self._store, endpoint.call.model
        key = make_key(endpoint.call, endpoint.call.make_body(prompt, schema), number) if store else ""
        if store and (kept := store.get(key)):
            with suppress(OutputError):  # for example with another --extract
                output = self._read(kept.reply, answer, rubric)
                self._count(model, kept)
                return Asked(rubric, (kept,), output)
        messages: tuple[Message, ...] = prompt
        exchanges: list[Exchange] = []
        while True:
            exchanges.append(await endpoint.complete(messages, schema, Place(answer.key, number)))
            reply = exchanges[-1].reply
            self._count(model, exchanges[-1])
            try:
                output = self._read(reply, answer, rubric)
            except OutputError as fault:
                if len(exchanges) == self._plan.max_attempts:
                    return Asked(rubric, tuple(exchanges), None, str(fault))
                messages = (*prompt, *correct(reply.text, fault))
            else:
                if store:
                    store.put(key, exchanges[-1])
                return Asked(rubric, tuple(exchanges), output)

    def _read(self, reply: Reply, answer: Answer, rubric: ScoringRubric) -> JudgeOutput:
        if reply.fault:
            raise OutputError(reply.fault)
        return reader_of(rubric).read(reply.text, lambda: read_quotable(*answer.case), self._plan.extract).output


def correct(text: str, fault: OutputError) -> Iterator[Message]:
    """Yield the messages that ask for an invalid output once more: the text of the judge, if any, and what is wrong."""
    if text.strip():
        yield say("assistant", text)
    place = f" at {fault.path}" if fault.path else ""
    yield say(
        "user",
        f"That cannot be used: {fault}{place}. Return the whole JSON object once more, with this put right, and "
        "nothing before or after it. The answer and the rubric are the same.",
    )


class Request(NamedTuple):
    """One request: what it is for, and what is sent."""

    call: Call
    place: Place
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]

    @property
    def body(self) -> dict[str, Any]:
        """The body that an endpoint for chat completions gets."""
        return self.call.make_body(self.messages, self.schema)

    @property
    def name(self) -> str:
        """The `custom_id`, which joins it with its result: a hash of the endpoint, the body and the place."""
        return "r-" + hash_json([self.call.endpoint, self.body, *self.place])[:40]


def list_needs(answer: Answer, calls: Sequence[Call], plan: Plan) -> list[Need]:
    """Return what the requests for an answer may use, if each gets a valid output."""
    return [
        Need(each.call.model, guess_tokens(text for _, text in each.messages), each.call.max_tokens)
        for each in list_requests(answer, calls, plan)
    ]


def list_requests(answer: Answer, calls: Sequence[Call], plan: Plan) -> Iterator[Request]:
    """Yield the requests for an answer, in the order in which a run sends them, if each gets a valid output."""
    for call in calls:
        for sample in range(1, plan.samples + 1):
            for part in divide(answer.rubric, plan.order(answer, call.model, sample), per_criterion=plan.per_criterion):
                place = Place(answer.key, sample)
                yield Request(call, place, write_prompt(part, answer.case), output_schema(part))
