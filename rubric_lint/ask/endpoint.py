"""One endpoint that speaks the chat-completions protocol: a reply for messages, whatever it takes to get one."""

import asyncio
import random
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from rubric_lint.ask.pace import Pace
from rubric_lint.ask.reply import Reply, UnreadableError, explain, read_reply, shorten
from rubric_lint.ask.waits import read_wait
from rubric_lint.judge import Message

RESPONSE_FORMATS = ("json_schema", "json_object", "text")
"""How an endpoint is asked for JSON: held to the schema, held to JSON, or by the prompt alone."""

_DEFAULT_URL = "https://api.openai.com/v1"
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
_LONGEST_WAIT = 600.0
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
    """A failure that may pass; `wait` is how many seconds the endpoint asks to wait, None if it does not say."""

    def __init__(self, message: str, wait: float | None = None, *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.is_refusal = is_refusal


class Exchange(NamedTuple):
    """A reply, when its request was sent, and how many seconds the reply took."""

    reply: Reply
    sent: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    """How to call an endpoint. `timeout`, in seconds, holds for each try; there are `retries` + 1 of them."""

    model: str
    base_url: str | None = None
    timeout: float = 120.0
    retries: int = 5
    response_format: str = RESPONSE_FORMATS[0]
    temperature: float | None = None

    @property
    def endpoint(self) -> str:
        """The address of the endpoint, without what may be secret in it."""
        url = urlsplit(self.base_url or _DEFAULT_URL)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}".rstrip("/")


class Endpoint:
    """An endpoint; use it as an asynchronous context. `key` goes into requests only, never into a message.

    A refusal for too many requests (HTTP 429) pauses all requests by `pace` and is no failed try.
    """

    def __init__(self, call: Call, key: str, pace: Pace | None = None) -> None:
        import openai  # noqa: PLC0415  (an extra, and a second to import)

        self._openai = openai
        self.call = call
        self.pace = pace or Pace()
        self._key = key
        # The client's own retries cannot be limited in time by the try, and give up on a long Retry-After in silence.
        self._client = openai.AsyncOpenAI(api_key=key, base_url=call.base_url, timeout=call.timeout, max_retries=0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    @property
    def name(self) -> str:
        """The address of the endpoint as it may be shown."""
        return self._redact(self.call.endpoint)

    async def complete(self, messages: Iterable[Message], schema: Mapping[str, Any]) -> Exchange:
        """Return the model's reply.

        Raises:
            UnansweredError: when there is none after all tries.
        """
        request = self._make_request(messages, schema)
        tried = 0
        while True:
            wave = await self.pace.wait_turn()
            try:
                exchange = await self._post(request)
            except _TryAgainError as fault:
                reason = self._redact(str(fault))
                self._hold(wave, fault, reason)
                tried += not fault.is_refusal
                if tried > self.call.retries:
                    raise UnansweredError(f"{reason} (tried {tried} times)" if tried > 1 else reason) from None
                if fault.wait is None and not fault.is_refusal:
                    await asyncio.sleep(_delay(tried))
            except UnansweredError as fault:
                self.pace.go_on()
                message = " ".join(filter(None, (self._redact(str(fault)), fault.advice)))
                raise UnansweredError(message, lasting=fault.lasting) from None
            else:
                self.pace.go_on()
                return exchange

    def _hold(self, wave: int, fault: _TryAgainError, reason: str) -> None:
        """Pause all requests where the endpoint limits them.

        Raises:
            UnansweredError: when the endpoint asks for more patience than a run has.
        """
        if not fault.is_refusal and fault.wait is None:
            return
        if (fault.wait or 0) > _LONGEST_WAIT:
            message = f"{reason}; the endpoint asks to wait {fault.wait:.0f} s: run the same command again after that"
            raise UnansweredError(message, lasting=True)
        if not self.pace.hold(wave, fault.wait, reason):
            raise UnansweredError(f"{reason}; no other reply for half an hour", lasting=True)

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

    async def _post(self, request: dict[str, Any]) -> Exchange:
        sent, start = datetime.now(UTC), time.monotonic()
        try:
            # The client's own time-out starts anew with every piece of a response that comes in drips.
            async with asyncio.timeout(self.call.timeout):
                response = await self._client.chat.completions.with_raw_response.create(**request)
                return Exchange(read_reply(response.text), sent, time.monotonic() - start)
        except (TimeoutError, self._openai.APITimeoutError):
            raise _TryAgainError(f"no reply within {self.call.timeout:g} s") from None
        except self._openai.APIConnectionError as fault:
            raise _TryAgainError(f"the connection failed: {fault.__cause__ or fault}") from None
        except self._openai.APIStatusError as fault:
            raise self._judge_status(fault) from None
        except UnreadableError as fault:
            raise _TryAgainError(str(fault)) from None
        except self._openai.OpenAIError as fault:
            raise _TryAgainError(f"the response cannot be read: {fault}") from None

    def _judge_status(self, fault: Any) -> Exception:
        """Return what a response that is an error means for the request."""
        status, response = fault.status_code, fault.response
        message = f"HTTP {status}: {explain(fault.body) or response.text}"
        if _code(fault.body) == "insufficient_quota" or status in _LASTING:
            return UnansweredError(message, lasting=True)
        if advice := self._advise(fault):
            return UnansweredError(message, lasting=True, advice=advice)
        if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            is_refusal = status == HTTPStatus.TOO_MANY_REQUESTS
            body = response.text if is_refusal else ""
            return _TryAgainError(message, read_wait(response.headers, body) or None, is_refusal=is_refusal)
        return UnansweredError(message)

    def _advise(self, fault: Any) -> str:
        """What helps against an error that is about the way in which JSON is asked for."""
        form = self.call.response_format
        if form not in _ADVICE or fault.status_code in _PASSING or not _ABOUT_FORMAT.search(fault.response.text):
            return ""
        return f"(asked with --response-format {form}; {_ADVICE[form]})"

    def _redact(self, message: str) -> str:
        """Return the message in one line and without the key; the key goes first, or a cut could leave half of it."""
        return shorten(message.replace(self._key, "***") if len(self._key) >= _SHORTEST_SECRET else message)


def _code(body: Any) -> Any:
    return body.get("code") if isinstance(body, dict) else None


def _delay(tried: int) -> float:
    """Return the seconds until the next try, doubled each time, and never the same for all requests."""
    return min(_FIRST_DELAY * 2.0 ** (tried - 1), _LONGEST_DELAY) * random.uniform(0.5, 1)  # noqa: S311 (no secret)
