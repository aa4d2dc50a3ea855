"""Read what endpoints and batches return: the model's text, why there is none, and its tokens."""

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from rubric_lint.model import messages

_SNAPSHOT = re.compile(r"(?:[-@:](?:latest|v?\d{3,8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4})){1,3}$")
"""Matches what names a version of a model, such as `-2024-08-06`, `-0613` and `:latest`."""


def is_other_model(asked: str, replied: str) -> bool:
    """Return whether a reply is of another model than the one asked, or of another version than the one pinned."""
    # Gateways put the maker before the name, as in `openai/gpt-5`.
    one, two = (name.casefold().rpartition("/")[2] for name in (asked, replied))
    if one == two or _SNAPSHOT.sub("", one) == two:
        return False
    # Who asks for a version has to get this one; only `latest` stands for any.
    return _SNAPSHOT.sub("", two) != re.sub("[-@:]latest$", "", one)


class ReplyError(Exception):
    """A response that is not a chat completion, and why; `is_overload` if it says that the endpoint is overloaded."""

    def __init__(self, message: str, *, is_overload: bool = False) -> None:
        super().__init__(message)
        self.is_overload = is_overload


CUT_OFF = "the output was cut off at the token limit"
"""How the fault of a reply begins that has as many tokens as it may have, but no end."""

_CUT = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_ENDS = {
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "prohibited_content", "blocklist"),
        "a content filter withheld the output",
    ),
    "error": "the endpoint reports an error in the midst of the output",
    "failed": "the endpoint reports that it failed",
    "cancelled": "the request was cancelled",
    "incomplete": "the output is incomplete",
    "in_progress": "the output is incomplete",
    "queued": "the request was not yet answered",
}
"""The other reasons for which a model stops before its end, and what to say of them."""

_OTHERS = ("system", "developer", "user", "tool", "function")
"""The roles of messages that the model did not write."""

_OVERLOADS = frozenset({
    *("overloaded", "overloaded_error", "server_overloaded", "engine_overloaded", "server_is_overloaded"),
    *("rate_limit_exceeded", "rate_limit_error", "too_many_requests", "capacity_exceeded", "unavailable"),
    *("resource_exhausted", "slow_down", "429", "503", "529"),
})  # fmt: skip
"""The codes and types of errors that ask all requests to wait."""


_MOST_TOKENS = 1_000_000_000
"""The highest count of tokens that can be one."""


class Tokens(NamedTuple):
    """The tokens of a request, None if unknown; `input` includes `cached`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None

    def plus(self, other: "Tokens") -> "Tokens":
        """Return the sum of both."""
        pairs = zip(self, other, strict=True)
        return Tokens._make(one if two is None else (one or 0) + two for one, two in pairs)


class Reply(NamedTuple):
    """The text of a model; `fault` says why it is unusable, as far as the endpoint says; `model` wrote it."""

    text: str
    fault: str | None = None
    tokens: Tokens = Tokens()
    model: str | None = None


def read_reply(body: str) -> Reply:
    """Return the reply in the body of a response.

    Raises:
        ReplyError: when it is not a chat completion.
    """
    completion = _decode(body)
    match completion:
        case {"choices": [{"error": {} as error}, *_]} if error:  # as some gateways report a broken provider
            raise _report(error)
        case {"choices": [{"message": {} as message} as choice, *others]}:
            if any(other != {**choice, "index": other.get("index")} for other in others if isinstance(other, dict)):
                raise ReplyError(f"the response has {len(others) + 1} different choices, and one was asked for")
            if message.get("role") in _OTHERS:
                raise ReplyError(f"the response has a message of the role `{message['role']}`, not of the model")
            fault = _find_fault(message, choice.get("finish_reason"))
            return Reply("".join(_parts(message.get("content"), "text")), fault, *_read_usage(completion))
        case {"error": error}:  # with status 200, as some gateways send it
            raise _report(error)
    raise ReplyError(f"the response is not a chat completion: {body.strip() or 'it is empty'}")


def _decode(body: str) -> Any:
    """Return the JSON of a body, None if it is none."""
    try:
        # `json` refuses a byte order mark.
        return json.loads(body.removeprefix("\ufeff"), object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError):
        return None


class Usage(NamedTuple):
    """What a response says that it used, also one without a usable reply; `model` wrote it."""

    tokens: Tokens = Tokens()
    model: str | None = None


def read_usage(body: str) -> Usage:
    """Return the usage in the body of a response of any kind, as far as it says it."""
    found = _decode(body)
    return _read_usage(found) if isinstance(found, dict) else Usage()


def _read_usage(response: Mapping[str, Any]) -> Usage:
    model, usage = response.get("model"), response.get("usage")
    read = _count(usage, "prompt_tokens")
    cached = (
        _count(usage, "prompt_tokens_details", "cached_tokens"),
        _count(usage, "prompt_cache_hit_tokens"),
        _count(usage, "cache_read_input_tokens"),
    )
    # More than were read cannot come from the cache; how many did is unknown.
    possible = (count for count in cached if count is not None and (read is None or count <= read))
    reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens")
    tokens = Tokens(read, _count_output(usage, read, reasoning), next(possible, None), reasoning)
    name = model if isinstance(model, str) and model else None
    return Usage(tokens, name)


def _count_output(usage: Any, read: int | None, reasoning: int | None) -> int | None:
    """Return the output tokens that are billed, None if unknown: some endpoints count the reasoning only elsewhere."""
    written, total = _count(usage, "completion_tokens"), _count(usage, "total_tokens")
    if written is None:
        return None
    outputs = [written]
    if read is not None and total is not None:
        outputs.append(total - read)
    if reasoning is not None and reasoning > written:
        outputs.append(written + reasoning)
    return max(outputs)


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of two values for one key, none is known to be the right one.

    Raises:
        ValueError: if a key occurs twice.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"`{shorten_line(name, 60)}` is given twice in one object")
        found[name] = value
    return found


def _report(error: Any) -> ReplyError:
    message = f"the endpoint failed: {find_message(error) or json.dumps(error)}"
    return ReplyError(message, is_overload=is_overload_error(error))


NOT_JUDGED = "no judge output"
"""Begins what is said of a record that holds nothing of a judge, also in results."""


def find_reason(record: Mapping[str, Any]) -> str:
    """Return why a record has no output, as its `error`, `refusal` or `finish_reason` says; empty if none does."""
    error, refusal, reason = record.get("error"), record.get("refusal"), record.get("finish_reason")
    if error:
        message = find_message(error)
        if not message:
            message = error if isinstance(error, str) else json.dumps(error, default=str)
        return shorten_line(message)
    if isinstance(refusal, str) and refusal.strip():
        return f"the model refused: {shorten_line(refusal)}"
    return _explain_end(reason) or ""


def _explain_end(finish_reason: Any) -> str | None:
    """Return the fault of an output that ends for this reason; None if it is complete."""
    reason = finish_reason.lower() if isinstance(finish_reason, str) else ""
    return CUT_OFF if reason in _CUT else _ENDS.get(reason)


def is_overload_error(error: Any) -> bool:
    """Return whether an error object says that the endpoint is overloaded or limits the rate of requests."""
    if isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return False
    return any(str(error.get(name)).lower() in _OVERLOADS for name in ("code", "type", "status"))


def find_message(error: Any) -> str:
    """Return the message of an error object, or an empty string."""
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""


def shorten_line(text: str, most: int = 300) -> str:
    """Return a text as one line of at most `most` characters."""
    return messages.shorten(" ".join(text.split()), most)


def _parts(content: Any, kind: str) -> Iterator[str]:
    """Yield the texts of one kind in a message, which some endpoints send in parts."""
    if isinstance(content, str) and kind == "text":
        yield content
    if not isinstance(content, list):
        return
    for part in content:
        text = part.get(kind) if _is(part, kind) else None
        if isinstance(text, str):
            yield text


def _find_fault(message: Mapping[str, Any], finish_reason: Any) -> str | None:
    content = message.get("content")
    refusal = message.get("refusal") or "".join(_parts(content, "refusal"))
    if isinstance(refusal, str) and refusal:
        return f"the model refused: {shorten_line(refusal)}"
    if not isinstance(content, str | list | None):
        return f"the content of the message is {shorten_line(json.dumps(content), 60)}, which is not text"
    is_blank = not "".join(_parts(content, "text")).strip()
    end = _explain_end(finish_reason)
    if end == CUT_OFF and is_blank and _has_reasoning(message):
        return f"{CUT_OFF} inside the model's reasoning"
    if end:
        return end
    return _explain_blank(message) if is_blank else None


def _explain_blank(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    found = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    for function in [*found, message.get("function_call")]:
        if isinstance(function, dict):
            return f"the model called the tool `{shorten_line(str(function.get('name')), 60)}` instead of answering"
    return "the model returned reasoning but no answer" if _has_reasoning(message) else "the output is empty"


def _has_reasoning(message: Mapping[str, Any]) -> bool:
    fields = (message.get(name) for name in ("reasoning_content", "reasoning", "reasoning_details", "thinking"))
    content = message.get("content")
    kinds = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return any(fields) or bool({"thinking", "reasoning"} & {kind for kind in kinds if isinstance(kind, str)})


def _count(usage: Any, *path: str) -> int | None:
    for field in path:
        usage = usage.get(field) if isinstance(usage, dict) else None
    return usage if type(usage) is int and 0 <= usage <= _MOST_TOKENS else None


def find_fault(result: Mapping[str, Any]) -> str:
    """Return why a result has no reply, or an empty string."""
    fault = "the batch has an empty result for it"
    match result:
        case {"result": {"type": "succeeded"}}:
            fault = ""
        case {"result": {"type": "errored", **rest}}:
            fault = f"the batch reports an error: {_explain(rest.get('error'))}"
        case {"result": {"type": str() as kind}}:
            fault = f"the batch says: {shorten_line(kind, 60)}"
        case {"error": error} if error:
            fault = f"the batch reports an error: {_explain(error)}"
        case {"response": {"status_code": int() as status} as response} if status != HTTPStatus.OK:
            fault = f"the batch reports HTTP {status}: {_explain(response.get('body'))}"
        case {"response": {}}:
            fault = ""
    return shorten_line(fault)


def _explain(error: Any) -> str:
    """Return the message of an error object, which may be inside another, with its code."""
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return json.dumps(error)
    code = error.get("code") or error.get("type")
    message = find_message(error) or json.dumps(error)
    return f"{code}: {message}" if isinstance(code, str) else message


def read_reply_of(result: Mapping[str, Any]) -> Reply:
    """Return the reply of a result without a fault.

    Raises:
        ReplyError: if it is not one.
    """
    if "result" in result:
        return _read_message(result["result"].get("message"))
    body = result["response"].get("body")
    if isinstance(body, dict) and isinstance(body.get("output"), list):
        body = _convert_response(body)
    text = body if isinstance(body, str) else json.dumps(body)
    return read_reply(text)


def _convert_response(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chat completion that says the same as an object of OpenAI's Responses API."""
    if body.get("error"):
        return {"error": body["error"], "model": body.get("model")}
    items = [item for item in body["output"] if isinstance(item, dict)]
    messages = [item for item in items if _is(item, "message") and isinstance(item.get("content"), list)]
    content: list[dict[str, Any]] = []
    for item in messages:
        content += [part for part in item["content"] if isinstance(part, dict)]
    others = [item["role"] for item in messages if item.get("role") in _OTHERS]
    message = {
        "role": others[0] if others else "assistant",
        "content": [{**part, "type": "text"} if _is(part, "output_text") else part for part in content],
        "tool_calls": [{"function": {"name": item.get("name")}} for item in items if _is(item, "function_call")],
        "reasoning": [item for item in items if _is(item, "reasoning")],
    }
    cut = body.get("incomplete_details")
    states = [cut.get("reason") if isinstance(cut, dict) else None]
    states += [item.get("status") for item in [body, *messages]]
    reason = next((state for state in states if state not in (None, "completed")), None)
    if reason == "max_output_tokens":
        reason = "length"
    return {"choices": [{"message": message, "finish_reason": reason}], "model": body.get("model")}


def _read_message(message: Any) -> Reply:
    """Return the reply in a message of Anthropic, by way of the chat completion that says the same."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        raise ReplyError("it is not a message")
    kinds = [part.get("type") for part in content if isinstance(part, dict)]
    stop = message.get("stop_reason")
    tools = [{"function": {"name": part.get("name")}} for part in content if _is(part, "tool_use")]
    shown = {"role": message.get("role"), "content": content, "tool_calls": tools}
    if stop == "refusal":
        shown["refusal"] = "it stopped with `refusal`"
    if "redacted_thinking" in kinds:
        shown["thinking"] = "..."
    choice = {"message": shown, "finish_reason": stop}
    reply = read_reply(json.dumps({"choices": [choice], "model": message.get("model")}))
    usage = message.get("usage")
    # The input tokens do not include those read from the cache or written to it.
    read, cached, written = (
        _count(usage, name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    read = None if read is None else read + (cached or 0) + (written or 0)
    return reply._replace(tokens=Tokens(read, _count(usage, "output_tokens"), cached))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


_OF_BATCH = frozenset({"response", "result", "error"})


def convert_result(result: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return a result of a batch as a record: its `custom_id` is the `id`; None if it is something else.

    `judge` has the model, and why there is no output.
    """
    if "custom_id" not in result or _OF_BATCH.isdisjoint(result) or "output" in result:
        return None
    output, model = "", None
    fault: str | None = find_fault(result)
    if not fault:
        try:
            output, fault, _, model = read_reply_of(result)
        except ReplyError as unreadable:
            fault = shorten_line(str(unreadable))
    record: dict[str, Any] = {"id": result["custom_id"], "output": output}
    judge = {name: value for name, value in {"model": model, "fault": fault}.items() if value}
    if judge:
        record["judge"] = judge
    return [record]
