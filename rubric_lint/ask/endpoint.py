"""One endpoint that speaks the chat-completions protocol: a reply for messages, whatever it takes to get one."""

import asyncio
import json
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, NamedTuple, Self

from rubric_lint.judge import Message

RESPONSE_FORMATS = ("json_schema", "json_object", "text")
"""How an endpoint is asked for JSON: held to the schema, held to JSON, or by the prompt alone."""

_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
_LONGEST_RETRY_AFTER = 600.0
"""Seconds; an endpoint that wants a longer pause is out of quota, and no run should seem to hang for that."""

_PASSING = {408, 409, 425, 429}
"""The statuses below 500 that another try may mend."""

_LASTING = {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND}
"""The statuses that every other request would get as well: the key, the credit, the model or the address is wrong."""


_ABOUT_FORMAT = re.compile(r"response[_ ]?format|json[_ ](?:schema|object|mode)|structured[_ ]output", re.IGNORECASE)
"""What an endpoint names that does not know the response format, or not this kind of it."""

_ADVICE = {
    "json_schema": "json_object asks for less, text for nothing but what the prompt says",
    "json_object": "text asks for nothing but what the prompt says",
}

_SHORTEST_SECRET = 8
"""Shorter ones are placeholders such as `none`, for endpoints that want no key; they are words of messages too."""


class UnansweredError(Exception):
    """A request that got no reply, and why; `lasting` when no other request would get one; `advice` what would help."""

    def __init__(self, message: str, *, lasting: bool = False, advice: str = "") -> None:
        super().__init__(message)
        self.lasting = lasting
        self.advice = advice


class _TryAgainError(Exception):
    """A failure that may pass, and after how many seconds the endpoint wants to be asked again, if it said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Reply(NamedTuple):
    """What a model wrote, why that is no output if the endpoint says so, and the tokens read and written."""

    text: str
    fault: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """How an endpoint is called. `timeout` in seconds holds for each try; there are `retries` + 1 of them."""

    model: str
    base_url: str | None = None
    timeout: float = 120.0
    retries: int = 5
    response_format: str = RESPONSE_FORMATS[0]
    temperature: float | None = None


class Endpoint:
    """An endpoint; use it as an asynchronous context. `key` goes into requests only, never into a message."""

    def __init__(self, call: Call, key: str) -> None:
        import openai  # noqa: PLC0415  (an extra, and a second to import)

        self._openai = openai
        self.call = call
        self._key = key
        # The client's own retries cannot be limited in time by the try, and give up on a long Retry-After in silence.
        self._client = openai.AsyncOpenAI(api_key=key, base_url=call.base_url, timeout=call.timeout, max_retries=0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def complete(self, messages: Iterable[Message], schema: Mapping[str, Any]) -> Reply:
        """The model's reply.

        Raises:
            UnansweredError: when there is none after all tries.
        """
        request = self._make_request(messages, schema)
        retries = self.call.retries
        for tried in range(retries + 1):
            try:
                return read_reply(await self._post(request))
            except _TryAgainError as fault:
                reason = self._redact(str(fault))
                if (fault.retry_after or 0) > _LONGEST_RETRY_AFTER:
                    raise UnansweredError(f"{reason}; asked to wait for {fault.retry_after:.0f} s") from None
                if tried < retries:
                    await asyncio.sleep(_delay(tried, fault.retry_after))
            except UnansweredError as fault:
                message = " ".join(filter(None, (self._redact(str(fault)), fault.advice)))
                raise UnansweredError(message, lasting=fault.lasting) from None
        raise UnansweredError(f"{reason} (tried {retries + 1} times)" if retries else reason)

    def _make_request(self, messages: Iterable[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.call.model,
            "messages": [message._asdict() for message in messages],
        }
        form = self.call.response_format
        if form == "json_schema":
            described = {"name": "judge_output", "strict": True, "schema": schema}
            request["response_format"] = {"type": form, form: described}
        elif form == "json_object":
            request["response_format"] = {"type": form}
        if self.call.temperature is not None:
            request["temperature"] = self.call.temperature
        return request

    async def _post(self, request: dict[str, Any]) -> str:
        """The body of the response."""
        try:
            # The client's own time-out starts anew with every piece of a response that comes in drips.
            async with asyncio.timeout(self.call.timeout):
                response = await self._client.chat.completions.with_raw_response.create(**request)
                body: str = response.text
                return body
        except (TimeoutError, self._openai.APITimeoutError):
            raise _TryAgainError(f"no reply within {self.call.timeout:g} s") from None
        except self._openai.APIConnectionError as fault:
            raise _TryAgainError(f"the connection failed: {fault.__cause__ or fault}") from None
        except self._openai.APIStatusError as fault:
            message = f"HTTP {fault.status_code}: {_explain(fault.body) or fault.response.text}"
            if _code(fault.body) == "insufficient_quota" or fault.status_code in _LASTING:
                raise UnansweredError(message, lasting=True) from None
            if advice := self._advise(fault):
                raise UnansweredError(message, lasting=True, advice=advice) from None
            if fault.status_code in _PASSING or fault.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _TryAgainError(message, _read_retry_after(fault.response.headers)) from None
            raise UnansweredError(message) from None
        except self._openai.OpenAIError as fault:
            raise _TryAgainError(f"the response cannot be read: {fault}") from None

    def _advise(self, fault: Any) -> str:
        """What helps against an error that is about the way in which JSON is asked for."""
        form = self.call.response_format
        if form not in _ADVICE or fault.status_code in _PASSING or not _ABOUT_FORMAT.search(fault.response.text):
            return ""
        return f"(asked with --response-format {form}; {_ADVICE[form]})"

    def _redact(self, message: str) -> str:
        """The message in a line, without the key; that goes first, or a cut could leave half of it."""
        return _shorten(message.replace(self._key, "***") if len(self._key) >= _SHORTEST_SECRET else message)


def read_reply(body: str) -> Reply:
    """The reply in the body of a response.

    Raises:
        _TryAgainError: when it is no chat completion.
    """
    try:
        completion = json.loads(body)
    except (ValueError, RecursionError):
        completion = None
    match completion:
        case {"choices": [{"message": {} as message} as choice, *_]}:
            usage = completion.get("usage")
            return Reply(
                _join(message.get("content")),
                _find_fault(message, choice.get("finish_reason")),
                _count(usage, "prompt_tokens"),
                _count(usage, "completion_tokens"),
            )
        case {"error": error}:  # with status 200, as gateways send it
            raise _TryAgainError(f"the endpoint failed: {_explain(error) or json.dumps(error)}")
    raise _TryAgainError(f"the response is no chat completion: {body.strip() or 'it is empty'}")


def _join(content: Any) -> str:
    """The text of a message; some endpoints send it in parts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _find_fault(message: Mapping[str, Any], finish_reason: Any) -> str | None:
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        return f"the model refused: {_shorten(refusal)}"
    if finish_reason == "length":
        return "the output was cut off at the limit of its tokens"
    if finish_reason == "content_filter":
        return "the output was withheld by a content filter"
    return None if _join(message.get("content")).strip() else "the output is empty"


def _count(usage: Any, field: str) -> int:
    count = usage.get(field) if isinstance(usage, dict) else None
    return count if type(count) is int else 0


def _explain(body: Any) -> str:
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, str) else ""


def _code(body: Any) -> Any:
    return body.get("code") if isinstance(body, dict) else None


def _shorten(text: str, most: int = 300) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _delay(tried: int, retry_after: float | None) -> float:
    """Seconds until the next try: as the endpoint asks or doubled each time, and never the same for all requests."""
    if retry_after:
        return retry_after * random.uniform(1, 1.1)  # noqa: S311  (spreads load, keeps no secret)
    return min(_FIRST_DELAY * 2.0**tried, _LONGEST_DELAY) * random.uniform(0.5, 1)  # noqa: S311


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, RFC 9110, 10.2.3: a number or a date."""
    value = headers.get("retry-after", "")
    try:
        return max(float(value), 0) if value.replace(".", "", 1).isdecimal() else _until(parsedate_to_datetime(value))
    except (ValueError, TypeError):
        return None


def _until(moment: datetime) -> float:
    return max((moment.astimezone(UTC) - datetime.now(UTC)).total_seconds(), 0.0)
