"""Separate the judge's turn from others by the chat-template tokens in a text."""

import re

from rubric_lint.scoring.blanks import BLANK, blank
from rubric_lint.scoring.chat_tokens import TEMPLATE_TOKEN
from rubric_lint.scoring.extract import OutputError, line_of, shorten

_OWN = re.compile(
    r"""
    <\|im_start\|>assistant\b | <\|start_header_id\|>assistant<\|end_header_id\|> | <start_of_turn>model\b
    | <\|turn>model\b | <\|assistant\|> | <\|(?:START|END)_RESPONSE\|> | <\|(?:begin|end)_of_solution\|>
    | <\|begin_of_text\|> | <s> | <bos>
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The tokens that begin and end the judge's own turn."""

_END_TOKENS = (
    *("<|im_end|>", "<|end|>", "<|return|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"),
    *("<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"),  # noqa: RUF001
)
"""The tokens that chat templates put after a message, which servers sometimes leave there."""

_WHOLE_TOKEN = re.compile(r"[^\s>\]]{1,70}[>\]]?")


_TOOL_CALL = re.compile(r"<(?:\||｜)?(?:tool|function)[_▁]calls?\b|\[TOOL_CALLS\]")  # noqa: RUF001 (as models write it)


def may_have_tokens(text: str, objects: list[tuple[int, int]]) -> bool:
    """Return whether a text has a bracket outside its objects, as each token and each call of a tool has."""
    return any(text.count(sign) > sum([text.count(sign, *span) for span in objects]) for sign in "<[]")


def refuse_tool_calls(words: str) -> None:
    """Raise an error if a text calls a tool.

    Raises:
        OutputError: if it does.
    """
    if found := _TOOL_CALL.search(words):
        line = line_of(words, found.start())
        raise OutputError(f"a tool call instead of a verdict: {shorten(words[found.start() :])}", line=line)


def refuse_other_turns(text: str) -> None:
    """Raise an error if a text, without objects and quotes, contains a chat-template token.

    Only the model's template says whose turn begins there and whether it is a thought.

    Raises:
        OutputError: at the first such token.
    """
    if not TEMPLATE_TOKEN.search(text):
        return
    rest = _OWN.sub(lambda found: blank(found[0]), text)
    for found in TEMPLATE_TOKEN.finditer(rest):
        token = _WHOLE_TOKEN.match(rest, found.start())
        if token and "\\" not in token[0]:
            line = line_of(rest, found.start())
            message = f"`{token[0]}` at line {line} begins or ends a turn, so the verdict may not be the judge's"
            raise OutputError(message, line=line)


def skip_end_tokens(text: str) -> int:
    """Return where a text ends, without the end tokens of a chat template."""
    end = len(text)
    for _ in range(5):
        while end and text[end - 1] in BLANK:
            end -= 1
        if not text.endswith(_END_TOKENS, 0, end):
            break
        end -= next(len(token) for token in _END_TOKENS if text.endswith(token, 0, end))
    return end
