"""Ask a model until its output is valid, and list the requests for an answer.

`converse` is the one loop that asks: `judge`, `assess`, `improve` and `test --record` call it through `ask`, rewards
with their own judge.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rubric_lint.judge.account import Account, Need, NoReplyError, Reservation, find_need
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.call import Call, hash_json
from rubric_lint.judge.endpoint import Exchange, RequestId
from rubric_lint.judge.prompt import Message, divide_criteria, order_criteria, output_schema, say, write_prompt
from rubric_lint.judge.store import ReplyStore, make_key
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.parse_options import WHOLE, ParseOptions


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How each model judges each answer: `samples` outputs, each with up to `max_attempts` attempts until it is valid.

    `reading` says how to find the verdict in what the model writes. With `per_criterion`, a request asks for only one
    criterion. `shuffle` is the seed of the order of the criteria, None for that of the rubric.
    """

    samples: int = 1
    max_attempts: int = 3
    concurrency: int = 8
    reading: ParseOptions = WHOLE
    per_criterion: bool = False
    shuffle: int | None = None

    def count_requests(self, criteria: int) -> int:
        """Return how many requests each model gets for an answer if every first attempt is valid."""
        requests = criteria if self.per_criterion else 1
        return self.samples * requests

    def describe(self, models: int) -> str:
        """Return why there are more requests than answers, or an empty string if there are not."""
        parts = []
        if models > 1:
            parts.append(f"{models} models")
        if self.samples > 1:
            parts.append(f"{self.samples} samples")
        if self.per_criterion:
            parts.append("one criterion per request")
        return ", ".join(parts)

    def order(self, answer: Answer, model: str, sample: int) -> tuple[str, ...]:
        """Return the ids of the criteria in the order in which a sample, counted from 1, asks for them."""
        if self.shuffle is None:
            return tuple(criterion.id for criterion in answer.rubric.criteria)
        return order_criteria(answer.rubric, self.shuffle, answer.key, model, sample)


class ReplySource(AbstractAsyncContextManager[Any], Protocol):
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
        place: RequestId | None = None,
        reserved: Reservation | None = None,
        /,
    ) -> Exchange:
        """Return the model's reply.

        Raises:
            UnansweredError: when there is none.
            LimitError: when a limit of the run does not allow a request.
        """


Replied = TypeVar("Replied")
Output = TypeVar("Output")


@dataclass
class Conversation(Generic[Replied, Output]):
    """The replies to one request and its corrections, and the output in the last one; None if it is invalid.

    Then `fault` is the error of the last output, if there is one, and `lost` why the last request got no reply, if so.
    """

    replies: list[Replied] = field(default_factory=list)
    output: Output | None = None
    fault: OutputError | None = None
    lost: NoReplyError | None = None

    @property
    def reason(self) -> str:
        """Why there is no output."""
        if not (self.lost and self.fault):
            return str(self.lost or self.fault)
        how = "was refused" if self.lost.is_refused else "got no reply"
        return f"{self.fault}; the correction {how}: {self.lost}"


async def converse(
    prompt: tuple[Message, ...],
    send: Callable[[tuple[Message, ...]], Awaitable[Replied]],
    read: Callable[[Replied], Output],
    text_of: Callable[[Replied], str],
    attempts: int,
) -> Conversation[Replied, Output]:
    """Send a prompt until its reply can be read, each time with the error of the last one."""
    conversation = Conversation[Replied, Output]()
    messages = prompt
    while conversation.output is None and len(conversation.replies) < attempts:
        try:
            replied = await send(messages)
            conversation.replies.append(replied)
            conversation.output = read(replied)
        except NoReplyError as lost:
            conversation.lost = lost
            break
        except OutputError as fault:
            conversation.fault = fault
            messages = prompt + tuple(correct(text_of(replied), fault))
    return conversation


class Sample(NamedTuple):
    """One output of one model, or None if it stayed invalid; then `fault` describes the last of its requests."""

    output: JudgeOutput | None
    conversations: tuple[Conversation[Exchange, JudgeOutput], ...]
    order: tuple[str, ...]
    fault: str = ""

    @property
    def exchanges(self) -> list[Exchange]:
        """All exchanges, in order."""
        return [exchange for conversation in self.conversations for exchange in conversation.replies]


def correct(text: str, fault: OutputError) -> Iterator[Message]:
    """Yield the messages that ask for an invalid output once more: the text of the judge, if any, and the error."""
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
    place: RequestId
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


async def ask(
    endpoint: ReplySource,
    request: Request,
    read: Callable[[Exchange], Output],
    *,
    attempts: int = 1,
    store: ReplyStore | None = None,
    reserved: Reservation | None = None,
) -> Conversation[Exchange, Output]:
    """Return a reply that can be read: from the store, else from the endpoint, and then put into the store.

    Raises:
        NoReplyError: if there is none.
    """
    key = make_key(request.call, request.body, request.place.sample) if store else ""
    cached = store.get(key) if store else None
    if cached:
        with suppress(OutputError):  # for example with another --extract
            return Conversation([cached], read(cached))

    async def send(messages: tuple[Message, ...]) -> Exchange:
        return await endpoint.complete(messages, request.schema, request.place, reserved)

    conversation = await converse(request.messages, send, read, lambda exchange: exchange.reply.text, attempts)
    # If only a correction got no reply, the output before it is still there to be shown and recorded.
    if conversation.lost and not conversation.replies:
        raise conversation.lost
    if store and conversation.output is not None:
        # Under the key of the first request: a later run then needs no correction.
        store.put(key, conversation.replies[-1])
    return conversation


def list_needs(answer: Answer, calls: Sequence[Call], options: JudgeOptions) -> list[Need]:
    """Return the needs of the requests for an answer, if each gets a valid output."""
    return [find_need(request.call, request.body) for request in list_requests(answer, calls, options)]


def list_requests(answer: Answer, calls: Sequence[Call], options: JudgeOptions) -> Iterator[Request]:
    """Yield the requests for an answer, in the order in which a run sends them, if each gets a valid output."""
    for call in calls:
        for sample in range(1, options.samples + 1):
            yield from (request for _, request in list_parts(answer, call, options, sample))


def list_parts(
    answer: Answer, call: Call, options: JudgeOptions, sample: int
) -> Iterator[tuple[ScoringRubric, Request]]:
    """Yield the requests for one output, each with a rubric of the criteria that it asks for."""
    order = options.order(answer, call.model, sample)
    for part in divide_criteria(answer.rubric, order, per_criterion=options.per_criterion):
        yield part, Request(call, RequestId(answer.key, sample), write_prompt(part, answer.case), output_schema(part))
