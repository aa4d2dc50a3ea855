"""Read prompts and completions, which are strings or lists of chat messages."""

import json
from typing import Any

from rubric_lint.judge.answers import is_conversation, write_conversation
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.rewards.options import RewardError


def text_of(value: Any, what: str) -> str:
    """Return a string as it is, a single message as its text, and several messages as a conversation.

    Raises:
        RewardError: if it is something else, or has parts that cannot be judged; `what` describes it.
    """
    if isinstance(value, str):
        return value
    if not is_conversation(value):
        raise RewardError(f"{what} is of the type {type(value).__name__}; expected a string or a list of messages")
    if len(value) == 1 and isinstance(value[0].get("content"), str):
        (message,) = value
        if not (message.get("tool_calls") or message.get("refusal")):
            return str(message["content"])
    try:
        return write_conversation(value)
    except OutputError as fault:
        raise RewardError(f"{what} cannot be judged: {fault.path}: {fault.message}") from None


def name_group(*parts: Any) -> str:
    """Return a text that is the same for completions of one prompt: the JSON of its parts.

    Of what JSON cannot express, such as an image, only the type counts.
    """
    return json.dumps(parts, sort_keys=True, default=lambda value: type(value).__name__)
