"""List the requests that a run makes, without sending them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import Plan
from rubric_lint.judge.call import Call, hash_json
from rubric_lint.judge.endpoint import Place
from rubric_lint.judge.parts import divide
from rubric_lint.judge.prompt import Message, output_schema, write_prompt


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


def list_requests(answer: Answer, calls: Sequence[Call], plan: Plan) -> Iterator[Request]:
    """Yield the requests for an answer, in the order in which a run sends them, if each gets a valid output."""
    for call in calls:
        for sample in range(1, plan.samples + 1):
            for part in divide(answer.rubric, plan.order(answer, call.model, sample), per_criterion=plan.per_criterion):
                place = Place(answer.key, sample)
                yield Request(call, place, write_prompt(part, answer.case), output_schema(part))
