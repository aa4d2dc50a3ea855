"""Say what a run asks of models: the plan of a run, the requests for an answer, and what came of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rubric_lint.judge.account import Account, Need, Reservation, count_bytes
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.call import Call, hash_json
from rubric_lint.judge.endpoint import Exchange, Place, UnansweredError
from rubric_lint.judge.prompt import Message, divide, order_criteria, output_schema, say, write_prompt
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.verdict import WHOLE, Reading
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric


@dataclass(frozen=True, slots=True)
class Plan:
    """How each model judges each answer: `samples` outputs, each with up to `max_attempts` attempts until it is valid.

    `reading` says how to find the verdict in what the model writes. With `per_criterion`, a request asks for only one
    criterion. `shuffle` is the seed of the order of the criteria, None for that of the rubric.
    """

    samples: int = 1
    max_attempts: int = 3
    concurrency: int = 8
    reading: Reading = WHOLE
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
    """What returns the replies of a model: an endpoint, or the results of a batch.

    `form` is how it is asked for JSON: not by `response_format` if the endpoint refused that, with the words `refusal`.
    """

    call: Call
    account: Account
    form: str
    refusal: str

    @property
    def name(self) -> str:
        """The address of the endpoint, safe to show."""

    async def complete(
        self,
        messages: Iterable[Message],
        schema: Mapping[str, Any],
        place: Place | None = None,
        reserved: Reservation | None = None,
        /,
    ) -> Exchange:
        """Return the model's reply.

        Raises:
            UnansweredError: when there is none.
            LimitError: when a limit of the run does not allow a request.
        """


class Asked(NamedTuple):
    """The exchanges of one request and its corrections; `fault` describes the last if `output` is None.

    `last` is why a correction failed, if every other request would fail as it did.
    """

    rubric: ScoringRubric
    exchanges: tuple[Exchange, ...]
    output: JudgeOutput | None
    fault: str = ""
    last: UnansweredError | None = None


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
        return self.call.make_body(self.messages, self.schema, self.place.sample)

    @property
    def name(self) -> str:
        """The `custom_id`, which joins it with its result: a hash of the endpoint, the body and the place."""
        return "r-" + hash_json([self.call.endpoint, self.body, *self.place])[:40]


def list_needs(answer: Answer, calls: Sequence[Call], plan: Plan) -> list[Need]:
    """Return what the requests for an answer may use, if each gets a valid output."""
    return [
        Need(request.call.model, count_bytes(request.body), request.call.most_output)
        for request in list_requests(answer, calls, plan)
    ]


def list_requests(answer: Answer, calls: Sequence[Call], plan: Plan) -> Iterator[Request]:
    """Yield the requests for an answer, in the order in which a run sends them, if each gets a valid output."""
    for call in calls:
        for sample in range(1, plan.samples + 1):
            for part in divide(answer.rubric, plan.order(answer, call.model, sample), per_criterion=plan.per_criterion):
                place = Place(answer.key, sample)
                yield Request(call, place, write_prompt(part, answer.case), output_schema(part))
