"""Tell the judge's own turn from others by the tokens of chat templates in a text."""

import re
from collections.abc import Iterable

from rubric_lint.scoring.extract import OutputError, line_of
from rubric_lint.template_tokens import TEMPLATE_TOKEN

_OWN = re.compile(
    r"""
    <\|im_start\|>assistant\b | <\|start_header_id\|>assistant<\|end_header_id\|> | <start_of_turn>model\b
    | <\|turn>model\b | <\|assistant\|> | <\|(?:START|END)_RESPONSE\|> | <\|(?:begin|end)_of_solution\|>
    | <\|begin_of_text\|> | <s> | <bos>
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What begins and ends the judge's own turn."""

_END_TOKENS = (
    *("<|im_end|>", "<|end|>", "<|return|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"),
    *("<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"),  # noqa: RUF001
)
"""What chat templates put behind a message, and servers sometimes leave there."""

_QUOTED = re.compile(r'`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»')
_WHOLE_TOKEN = re.compile(r"[^\s>\]]{1,70}[>\]]?")


def refuse_other_turns(text: str, objects: Iterable[tuple[int, int]]) -> None:
    """Refuse a text that has a token of a template besides its objects and quotes.

    Whose turn begins there, and whether it is a thought, only the template of the model says.

    Raises:
        OutputError: at the first such token.
    """
    if not TEMPLATE_TOKEN.search(text):
        return
    pieces, done = [], 0
    for start, end in objects:
        if start >= done:
            pieces += [text[done:start], _blank(text[start:end])]
            done = end
    rest = "".join([*pieces, text[done:]])
    for pattern in (_OWN, _QUOTED):
        rest = pattern.sub(lambda found: _blank(found[0]), rest)
    for found in TEMPLATE_TOKEN.finditer(rest):
        token = _WHOLE_TOKEN.match(rest, found.start())
        if token and "\\" not in token[0]:
            line = line_of(rest, found.start())
            message = (
                f"`{token[0]}` at line {line} begins or ends a turn, so it is open whether the verdict is the judge's"
            )
            raise OutputError(message, line=line)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def skip_end_tokens(text: str) -> int:
    """Where a text ends, without what a chat template put there."""
    end = len(text)
    for _ in range(5):
        while end and text[end - 1] in " \t\r\n":
            end -= 1
        end -= next((len(token) for token in _END_TOKENS if text.endswith(token, 0, end)), 0)
    return end
