"""Write a conversation, a list of chat messages, as a text that a judge reads."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from rubric_lint.outputs.decoding import OutputError

_INDENT = "    "

_HOLDING = frozenset({"content", "refusal", "tool_calls", "function_call"})
"""The fields of a message with what it says; one without any of them has another form."""

_UNREADABLE = frozenset({"audio", "images", "parts"})
"""The fields in which some write sound, images, or what belongs into `content`."""


def is_conversation(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    """Return whether a value is meant as a list of messages."""
    return (
        isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) and "role" in each for each in value)
    )


def write_conversation(messages: list[Mapping[str, Any]]) -> str:
    """Return the messages as a text: for each a line with its number and role, then its content, indented.

    Because of the indentation no content can look like the beginning of another message. Texts, refusals and calls of
    tools are written.

    Raises:
        OutputError: if a message has a role that is not a name, or content that cannot be written as text.
    """
    return "\n".join(line for number, message in enumerate(messages, 1) for line in _write(number, message))


def _write(number: int, message: Mapping[str, Any]) -> Iterator[str]:
    path = f"/{number - 1}"
    role, name = message["role"], message.get("name")
    if not isinstance(role, str) or not role.isidentifier():
        raise OutputError("the role of a message must be a word, such as user or assistant", f"{path}/role")
    _require_text(message, path)
    named = f" ({json.dumps(name, ensure_ascii=False)})" if isinstance(name, str) else ""
    yield f"[{number}] {role}{named}:"
    for text in _list_texts(message, path):
        for line in text.splitlines() or [""]:
            yield f"{_INDENT}{line}"


def _list_texts(message: Mapping[str, Any], path: str) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for number, part in enumerate(content):
            yield _read_part(part, f"{path}/content/{number}")
    elif content is not None:
        raise OutputError("the content of a message must be a string or a list of parts", f"{path}/content")
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        yield f"refuses: {refusal}"
    for number, call in enumerate(message.get("tool_calls") or ()):
        yield _write_call(call, f"{path}/tool_calls/{number}")
    if (function := message.get("function_call")) is not None:  # as endpoints wrote calls before `tool_calls`
        yield _write_call({"function": function}, f"{path}/function_call")


def _require_text(message: Mapping[str, Any], path: str) -> None:
    """Refuse a message of which something would be left out in silence.

    Raises:
        OutputError: if it has sound, calls of tools that are not a list, or a form of its own.
    """
    for field in sorted(message.keys() & _UNREADABLE):
        if message[field]:
            raise OutputError(f"`{field}` of a message cannot be judged; only text and calls of tools can", path)
    if not isinstance(message.get("tool_calls"), list | None):
        raise OutputError("`tool_calls` must be a list of calls", f"{path}/tool_calls")
    if not message.keys() & _HOLDING:
        raise OutputError("the message has no `content`", path)


def _read_part(part: Any, path: str) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind in {"text", "input_text", "output_text"} and isinstance(part.get("text"), str):
        return str(part["text"])
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return f"refuses: {part['refusal']}"
    if kind == "tool_use":
        return f"calls {part.get('name')} with {json.dumps(part.get('input'), ensure_ascii=False)}"
    if kind == "tool_result":
        held = part.get("content")
        parts = held if isinstance(held, list) else []
        texts = [held] if isinstance(held, str) else [_read_part(each, path) for each in parts]
        return "\n".join(["returns:", *texts])
    shown = json.dumps(kind, ensure_ascii=False)[:40]
    raise OutputError(f"a part of the type {shown} cannot be judged; only text and calls of tools can", path)


def _write_call(call: Any, path: str) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise OutputError("a call of a tool must have a `function` with a `name`", path)
    arguments = function.get("arguments")
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"calls {function['name']} with {shown}"
