"""Send messages to a chat-completions endpoint and return its reply, with retries."""

import asyncio
import json
import os
import random
import re
import time
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

from rubric_lint.judge.account import Account, Charge, LimitError, NoReplyError, Reservation, find_need
from rubric_lint.judge.call import DEFAULT_URL, SCHEMA_IN_OBJECT, Call
from rubric_lint.judge.pace import Pace, read_wait
from rubric_lint.judge.prompt import Message
from rubric_lint.scoring.records.reply import (
    Reply,
    ReplyError,
    find_message,
    is_overload_error,
    read_reply,
    read_usage,
    shorten_line,
)

_MOST_BYTES = 10_000_000
"""The most bytes of a body, packed or not; a long reply has a few hundred thousand."""

_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class BodyError(Exception):
    """A body that cannot be read, and why."""


class ClientError(Exception):
    """A client that cannot be made, because a variable of the environment is wrong, and which."""


_PROXIES = "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"


def make_client(timeout: float) -> Any:
    """Return an HTTP client for the openai package.

    It does not follow redirects, because they would take the headers, which may hold keys, to another host. It reads
    the body of a response only up to a limit, unpacked, and refuses a body that is packed wrongly.

    Raises:
        ClientError: if the environment names a proxy or certificates that cannot be used.
        ImportError: without that package.
    """
    import openai  # noqa: PLC0415

    class Client(openai.DefaultAsyncHttpxClient):  # of httpx or httpx2, whichever this version of openai uses
        async def send(self, request: Any, **settings: Any) -> Any:
            response = await super().send(request, **{**settings, "stream": True})
            try:
                packing = response.headers.get("content-encoding", "").strip().lower()
                body = await read_body(response.aiter_raw(), packing)
            finally:
                await response.aclose()
            dropped = {"content-encoding", "content-length", "transfer-encoding"}
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in dropped]
            return type(response)(response.status_code, headers=headers, content=body, request=request)

    try:
        return Client(timeout=timeout, follow_redirects=False, headers={"accept-encoding": "gzip, deflate"})
    except ImportError:
        raise ClientError(
            f"{_PROXIES} names a SOCKS proxy, which needs the package socksio; install it with: pip install socksio"
        ) from None
    except OSError as fault:
        why = fault.strerror or "they cannot be read"
        raise ClientError(f"the certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be used: {why}") from None
    except Exception:  # ValueError, or an error of httpx, which has several names; its text may have a password
        raise ClientError(f"{_PROXIES} is not the address of a proxy, such as http://HOST:PORT") from None


async def read_body(chunks: AsyncIterator[bytes], packing: str) -> bytes:
    """Return the unpacked bytes of a body.

    Raises:
        BodyError: if it is too large, or not packed as `packing` says.
    """
    if packing not in {*_WINDOWS, "", "identity"}:
        raise BodyError(f"the body is packed with `{packing[:40]}`; only gzip and deflate are accepted")
    unpacker = zlib.decompressobj(_WINDOWS[packing]) if packing in _WINDOWS else None
    body = bytearray()
    try:
        async for chunk in chunks:
            # One byte more than is allowed shows that there are too many; 0 would mean no limit.
            body += unpacker.decompress(chunk, _MOST_BYTES + 1 - len(body)) if unpacker else chunk
            if len(body) > _MOST_BYTES:
                raise BodyError(f"the body has more than {_MOST_BYTES / 1e6:.0f} MB, the limit for a response")
    except zlib.error:
        raise BodyError(f"the body is not valid {packing}") from None
    if unpacker and not unpacker.eof:
        raise BodyError(f"the body is cut off inside its {packing} data")
    return bytes(body)


_BYTES_PER_TOKEN, _USUAL_OUTPUT = 3, 500
"""What is expected of a request before its reply: few bytes for a token, so that the limit of tokens holds."""

_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
_LONGEST_WAIT = 600.0
"""Seconds; an endpoint that asks for a longer pause is out of quota, and waiting would look like a hang."""

_PASSING = {408, 409, 425, 429}
"""The statuses below 500 that a retry may resolve."""

_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
"""Matches the refusal of a request that alone needs more than a limit; it would be refused for ever."""

_OF_ANSWER = re.compile(
    r"context[ _](?:length|window|size)|too[ _]long|too many (?:input )?tokens|content[ _](?:filter|management)|"
    r"exceeds the maximum number of tokens|must have less than|above_max_length",
    re.IGNORECASE,
)
"""Matches the refusal of a request for its length, or for its content."""

_MOST_REFUSALS = 100
"""How often one request is refused before it is given up, while others get their replies."""

_NOT_CONNECTED = {"ConnectError", "ConnectTimeout", "PoolTimeout"}
"""The errors of httpx, by whichever name it is installed, of a request that was not sent."""

_OVERLOADED = {HTTPStatus.SERVICE_UNAVAILABLE, 529}
"""The statuses of an endpoint with too many requests of all its callers; 529 is not registered, but used."""

_LASTING = {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND}
"""The statuses that every request would get: the key, the credit, the model or the address is wrong."""

_ABOUT_FORMAT = re.compile(r"response[_ ]?format|json[_ ](?:schema|object|mode)|structured[_ ]output", re.IGNORECASE)
"""Matches the error of an endpoint that does not support the response format."""

_JSON_FORMS = ("json_schema", "json_object")

NO_KEY = "none"
"""The key sent to an endpoint that needs none, such as a local model server."""

_SHORTEST_SECRET = 8
"""Shorter keys are placeholders such as `none`, for endpoints without a key, and may occur in messages as words."""


class Remedy(NamedTuple):
    """What has to change before a run can resume: something to do `first`, or the `options` of its command."""

    first: str = ""
    options: str = ""


NO_REMEDY = Remedy()


@dataclass(eq=False)
class UnansweredError(NoReplyError):
    """A request that got no reply; `lasting` if no other request would get one, `advice` on what would help.

    `remedy` says what has to change before another run, as far as it is known.

    `of_answer` if the cause is the length or the content of the answer, which says nothing about other requests.
    `is_refused` if the same request would be refused again, `is_of_format` if for how it asks for JSON.
    `model` is the one of a panel that gave none, empty if only one judges.
    """

    message: str
    lasting: bool = False
    of_answer: bool = False
    is_refused: bool = False
    is_of_format: bool = False
    advice: str = ""
    remedy: Remedy = NO_REMEDY
    model: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".rstrip()


_NO_KEY = Remedy(options="the variable of the API key in --api-key-env")
_NO_CREDIT = Remedy("see that the account has credit")
_REMEDIES = {
    HTTPStatus.UNAUTHORIZED: Remedy("put the right API key into its variable"),
    HTTPStatus.PAYMENT_REQUIRED: _NO_CREDIT,
    HTTPStatus.NOT_FOUND: Remedy(options="the right --model and --base-url"),
}


@dataclass(eq=False)
class _TryAgainError(Exception):
    """A failure that a retry may resolve; `wait` is the seconds that the endpoint asks to wait, None if unknown.

    `is_refusal`: the rate of requests is limited. `is_overload`: the endpoint is overloaded. Both pause all requests.
    """

    message: str
    wait: float | None = None
    is_refusal: bool = False
    is_overload: bool = False

    @property
    def pauses_all(self) -> bool:
        """Whether no request is sent for a while."""
        return self.is_refusal or self.is_overload or self.wait is not None


class RequestId(NamedTuple):
    """What a request is for: the id of the answer, as JSON, and the number of the sample, from 1."""

    key: str
    sample: int


class Exchange(NamedTuple):
    """A reply, the time its request was sent, and the seconds until the reply; None if a batch does not say it."""

    reply: Reply
    sent: datetime | None
    seconds: float | None
    is_cached: bool = False


class Endpoint(AbstractAsyncContextManager[Any]):
    """An endpoint; use it as an asynchronous context manager.

    `key` and the values of `headers` are sent in requests and never shown in messages or replies. Headers from
    environment variables of the client, which may hold keys, are sent only if it `takes_variables`.

    Every request is sent through `account`, retries included. A refusal for too many requests (HTTP 429) pauses all
    requests to the endpoint and does not count as a failed try.

    `form` is how JSON is requested. It changes if the endpoint does not know `json_schema` but takes a schema in
    another way, or JSON without one; then `refusal` is what it said to the first.
    """

    def __init__(
        self,
        call: Call,
        key: str,
        account: Account | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        takes_variables: bool = True,
    ) -> None:
        import openai  # noqa: PLC0415  (an extra, and a second to import)

        self._openai = openai
        self.call = call
        self.form = call.response_format
        self.refusal = ""
        self.account = account or Account()
        self._key = key
        secrets = [key, *call.list_secrets()]
        if takes_variables:  # the client sends the headers of this variable
            lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
            secrets += [line.partition(":")[2].strip() for line in lines]
        secrets = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
        self._secrets = sorted({*secrets, *(headers or {}).values()}, key=len, reverse=True)
        # The client's own retries would not be counted, take a 429 for a failed try, give up at a long Retry-After, and
        # repeat what a header of the endpoint asks to repeat, a wrong key too. They never retry a body without a reply.
        settings: dict[str, Any] = {"timeout": call.timeout, "max_retries": 0, "default_headers": dict(headers or {})}
        settings["default_headers"].update(call.headers)
        url = call.base_url or DEFAULT_URL  # None would be the endpoint in a variable
        environment = nullcontext() if takes_variables else _without_variables()
        with environment:
            http = make_client(call.timeout)
            self._client = openai.AsyncOpenAI(api_key=key, base_url=url, http_client=http, **settings)

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    @property
    def name(self) -> str:
        """The address of the endpoint, safe to show."""
        return self._redact(self.call.endpoint)

    async def complete(
        self,
        messages: Iterable[Message],
        schema: Mapping[str, Any],
        place: RequestId | None = None,
        reserved: Reservation | None = None,
        /,
    ) -> Exchange:
        """Return the model's reply, asked for JSON in the first way that the endpoint knows.

        Its requests use what is reserved for them, if it is.

        Raises:
            UnansweredError: when all tries failed.
            LimitError: when a limit of the run does not allow a request.
        """
        messages, form = tuple(messages), self.form
        sample = place.sample if place else 1
        if reserved is None:
            need = find_need(self.call, self.call.make_body(messages, schema, sample, form))
            with await self.account.reserve([need]) as own:
                return await self.complete(messages, schema, place, own)
        try:
            return await self._complete(self.call.make_body(messages, schema, sample, form), reserved)
        except UnansweredError as refusal:
            if form != "json_schema" or not refusal.is_of_format:
                raise
            first = refusal
        for other_form in (SCHEMA_IN_OBJECT, "json_object"):
            try:
                exchange = await self._complete(self.call.make_body(messages, schema, sample, other_form), reserved)
            except UnansweredError as other:
                if other.is_of_format or (other.is_refused and not other.of_answer):
                    continue
                raise
            self.form, self.refusal = other_form, first.message
            return exchange
        raise first

    async def _complete(self, body: dict[str, Any], reserved: Reservation) -> Exchange:
        need = find_need(self.call, body)
        reason, tried, refused = "", 0, 0
        while True:
            try:
                charge = await self.account.begin(reserved, need)
            except LimitError as limit:
                limit.reason = reason
                raise
            with charge:
                try:
                    return await self._try(body, charge)
                except _TryAgainError as fault:
                    reason = fault.message
                    if fault.is_refusal:
                        refused += 1
                    else:
                        tried += 1
                    if refused > _MOST_REFUSALS:
                        raise UnansweredError(f"{reason} (refused {refused} times)") from None
                    if tried > self.call.retries:
                        if tried > 1:
                            reason = f"{reason} (tried {tried} times)"
                        raise UnansweredError(reason) from None
                    delay = 0.0 if fault.pauses_all else min(_FIRST_DELAY * 2.0 ** (tried - 1), _LONGEST_DELAY)
            await asyncio.sleep(delay * random.uniform(0.5, 1))  # noqa: S311 (spreads load, keeps no secret)

    async def _try(self, body: dict[str, Any], charge: Charge) -> Exchange:
        """Send a request once, when it is its turn; a refusal of it pauses all others."""
        pace = self.account.find_pace(self.call.endpoint)
        output = min(charge.need.output or _USUAL_OUTPUT, _USUAL_OUTPUT)
        used = expected = charge.need.size / _BYTES_PER_TOKEN + output
        sent = await pace.wait_turn(expected)
        try:
            exchange = self._clean(await self._post(body, charge), body)
            tokens = exchange.reply.tokens
            if tokens.input is not None:
                used = tokens.input + (tokens.output or 0)
        except _TryAgainError as fault:
            fault.message = self._redact(fault.message)
            if fault.pauses_all:
                _pause(pace, sent, fault)
            raise
        except UnansweredError as fault:
            pace.note_reply()
            fault.message = self._redact(fault.message)
            raise
        finally:
            pace.leave(used - expected)
        pace.note_reply()
        if charge.is_too_short:
            raise self.account.refuse_longer(self._redact(exchange.reply.fault or ""))
        return exchange

    async def _post(self, body: Mapping[str, Any], charge: Charge) -> Exchange:
        """Send a request and return its reply; note in the charge what is known of its bill."""
        named = {name: body[name] for name in ("model", "messages")}
        rest = {name: value for name, value in body.items() if name not in named}
        if charge.most_output is not None:
            rest[self.call.max_tokens_field] = charge.most_output
        sent, start = datetime.now(UTC), time.monotonic()
        charge.is_sent = True
        try:
            # The client's own timeout restarts with every chunk of a slow response.
            async with asyncio.timeout(self.call.timeout):
                response = await self._client.chat.completions.with_raw_response.create(**named, extra_body=rest)
                self._note_usage(charge, response.text)
                reply = read_reply(response.text)
        except (TimeoutError, self._openai.APITimeoutError):
            raise _TryAgainError(f"no reply within {self.call.timeout:g} s") from None
        except BodyError as fault:
            raise _TryAgainError(str(fault)) from None
        except self._openai.APIConnectionError as fault:
            cause = fault.__cause__
            charge.is_sent = type(cause).__name__ not in _NOT_CONNECTED
            message = str(cause) if isinstance(cause, BodyError) else f"the connection failed: {cause or fault}"
            raise _TryAgainError(message) from None
        except self._openai.APIStatusError as fault:
            self._note_usage(charge, fault.response.text)
            charge.is_refused = fault.status_code < HTTPStatus.INTERNAL_SERVER_ERROR or fault.status_code in _OVERLOADED
            raise self._judge_status(fault) from None
        except ReplyError as fault:
            raise _TryAgainError(str(fault), is_overload=fault.is_overload) from None
        except self._openai.OpenAIError as fault:
            raise _TryAgainError(f"cannot read the response: {fault}") from None
        charge.is_usable = reply.fault is None
        reply = reply._replace(fault=charge.explain_cut(reply.fault))
        # A text has tokens, so that a count of 0 for it is none.
        if reply.text and not charge.tokens.output:
            charge.tokens = charge.tokens._replace(output=None)
        return Exchange(reply, sent, time.monotonic() - start)

    def _note_usage(self, charge: Charge, body: str) -> None:
        tokens, model = read_usage(body)
        shown = None if model is None else _replace(model, self._secrets)
        charge.note(tokens, shown)

    def _judge_status(self, fault: Any) -> Exception:
        """Return the exception for an error response: retry, give up this request, or give up all."""
        status, response = fault.status_code, fault.response
        message = f"HTTP {status}: {find_message(fault.body) or response.text}"
        if response.is_redirect:
            where = response.headers.get("location", "").partition("?")[0]
            message = f"HTTP {status}: the endpoint redirects to {where}, and no request follows with the key"
            advice, remedy = "(name the right address with --base-url)", Remedy(options="the right --base-url")
            return UnansweredError(message, lasting=True, advice=advice, remedy=remedy)
        code = fault.body.get("code") if isinstance(fault.body, dict) else None
        # OpenAI sends the former with 429, and no pause brings credit.
        if code == "insufficient_quota" or status in _LASTING:
            no_key = status == HTTPStatus.UNAUTHORIZED and self._key == NO_KEY
            advice = "(no API key was sent; name its variable with --api-key-env)" if no_key else ""
            remedy = _NO_KEY if no_key else _REMEDIES.get(status, _NO_CREDIT)
            return UnansweredError(message, lasting=True, advice=advice, remedy=remedy)
        form = self.call.response_format
        if form in _JSON_FORMS and status not in _PASSING and _ABOUT_FORMAT.search(response.text):
            advice = (
                f"(asked with --response-format {form}; try --response-format text, which relies on the prompt alone)"
            )
            remedy = Remedy(options="--response-format text")
            return UnansweredError(message, lasting=True, is_of_format=True, advice=advice, remedy=remedy)
        if status == HTTPStatus.TOO_MANY_REQUESTS and _TOO_LARGE.search(message):
            return UnansweredError(message, of_answer=True, is_refused=True)
        is_overload = status in _OVERLOADED or is_overload_error(fault.body)
        if is_overload or status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            is_refusal = status == HTTPStatus.TOO_MANY_REQUESTS
            # To wait for 0 seconds asks for no pause; then it is as long as without the header.
            wait = read_wait(response.headers) or None
            return _TryAgainError(message, wait, is_refusal=is_refusal, is_overload=is_overload)
        is_too_large = status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        of_answer = is_too_large or bool(_OF_ANSWER.search(response.text))
        return UnansweredError(message, of_answer=of_answer, is_refused=True)

    def _redact(self, message: str) -> str:
        """Return the message on one line without secrets; they are removed first, so that a cut leaves no part."""
        return shorten_line(_replace(message, self._secrets))

    def _clean(self, exchange: Exchange, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange without secrets, which an endpoint may echo.

        What is short or in the prompt may be a word of the output, which would become invalid without it.
        """
        reply = exchange.reply
        echoed = "\n".join(text for text in (reply.text, reply.fault, reply.model) if text)
        secrets = [secret for secret in self._secrets if len(secret) >= _SHORTEST_SECRET and secret in echoed]
        if not secrets:
            return exchange
        sent = json.dumps([body["messages"], body.get("response_format")], ensure_ascii=False)
        secrets = [secret for secret in secrets if secret not in sent]
        fault = reply.fault and _replace(reply.fault, secrets)
        model = reply.model and _replace(reply.model, secrets)
        return exchange._replace(reply=reply._replace(text=_replace(reply.text, secrets), fault=fault, model=model))


def _pause(pace: Pace, sent: float, fault: _TryAgainError) -> None:
    """Pause all requests because the one that was sent at this moment was refused.

    Raises:
        UnansweredError: if the pause would be so long, or there were so many, that the run has to end.
    """
    if fault.wait and fault.wait > _LONGEST_WAIT:
        wait = f"wait {fault.wait:.0f} s"
        message = f"{fault.message}; the endpoint asks to {wait}: run the same command again after that"
        raise UnansweredError(message, lasting=True, remedy=Remedy(wait))
    if not pace.pause(sent, fault.wait, fault.message):
        raise UnansweredError(f"{fault.message}; no other reply for half an hour", lasting=True)


def _replace(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


@contextmanager
def _without_variables() -> Iterator[None]:
    """Hide the environment variables that the client reads, such as OPENAI_CUSTOM_HEADERS, whatever it reads."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.upper().startswith("OPENAI_")}
    try:
        yield
    finally:
        os.environ.update(hidden)
