"""Read one result of a batch: the reply in it, or why there is none."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rubric_lint.outputs.reply import Reply, Tokens, UnreadableError, explain, read_reply, shorten


def find_fault(result: Mapping[str, Any]) -> str:
    """Return why a result has no reply, or an empty string."""
    fault = "the batch has an empty result for it"
    match result:
        case {"result": {"type": "succeeded"}}:
            fault = ""
        case {"result": {"type": "errored", **rest}}:
            fault = f"the batch reports an error: {_explain(rest.get('error'))}"
        case {"result": {"type": str() as kind}}:
            fault = f"the batch says: {shorten(kind, 60)}"
        case {"error": error} if error:
            fault = f"the batch reports an error: {_explain(error)}"
        case {"response": {"status_code": int() as status} as response} if status != HTTPStatus.OK:
            fault = f"the batch reports HTTP {status}: {_explain(response.get('body'))}"
        case {"response": {}}:
            fault = ""
    return shorten(fault)


def _explain(error: Any) -> str:
    """Return the message of an error object, which may be inside another, with its code."""
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return json.dumps(error)
    code = error.get("code") or error.get("type")
    message = explain(error) or json.dumps(error)
    return f"{code}: {message}" if isinstance(code, str) else message


def read_reply_of(result: Mapping[str, Any]) -> Reply:
    """Return the reply of a result without a fault.

    Raises:
        UnreadableError: if it is not one.
    """
    if "result" in result:
        return _read_message(result["result"].get("message"))
    body = result["response"].get("body")
    if isinstance(body, dict) and isinstance(body.get("output"), list):
        body = _as_completion(body)
    return read_reply(body if isinstance(body, str) else json.dumps(body))


def _as_completion(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chat completion that says the same as an object of OpenAI's Responses API."""
    items = [item for item in response["output"] if isinstance(item, dict)]
    contents = [item["content"] for item in items if _is(item, "message") and isinstance(item.get("content"), list)]
    parts = [part for content in contents for part in content if isinstance(part, dict)]
    message = {
        "content": [{**part, "type": "text"} if _is(part, "output_text") else part for part in parts],
        "tool_calls": [{"function": {"name": item.get("name")}} for item in items if _is(item, "function_call")],
        "reasoning": [item for item in items if _is(item, "reasoning")],
    }
    cut = response.get("incomplete_details")
    reason = cut.get("reason") if isinstance(cut, dict) else None
    return {
        "choices": [{"message": message, "finish_reason": "length" if reason == "max_output_tokens" else reason}],
        "model": response.get("model"),
    }


def _read_message(message: Any) -> Reply:
    """Return the reply in a message of Anthropic, by way of the chat completion that says the same.

    Raises:
        UnreadableError: if it is not one.
    """
    if not isinstance(message, dict) or not isinstance(content := message.get("content"), list):
        raise UnreadableError("it is not a message")
    kinds = [part.get("type") for part in content if isinstance(part, dict)]
    stop = message.get("stop_reason")
    tools = [{"function": {"name": part.get("name")}} for part in content if _is(part, "tool_use")]
    shown = {
        "role": message.get("role"),
        "content": content,
        "tool_calls": tools,
        **({"refusal": "it stopped with `refusal`"} if stop == "refusal" else {}),
        **({"thinking": "..."} if "redacted_thinking" in kinds else {}),
    }
    choice = {"message": shown, "finish_reason": stop}
    reply = read_reply(json.dumps({"choices": [choice], "model": message.get("model")}))
    return reply._replace(tokens=_read_usage(message.get("usage")))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


def _read_usage(usage: Any) -> Tokens:
    """Return the tokens of a message: `input_tokens` does not include those read from the cache or written to it."""
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int | None:
        value = counts.get(name)
        return value if type(value) is int and value >= 0 else None

    parts = [count(name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
    read = None if parts[0] is None else sum(each or 0 for each in parts)
    return Tokens(read, count("output_tokens"), parts[1])
