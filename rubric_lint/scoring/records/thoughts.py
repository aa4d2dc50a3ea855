"""Find what of a judge's text is its answer: without its thoughts, and the tokens around its turn."""

import re
from collections.abc import Iterator

from rubric_lint.scoring.records.decoding import OutputError, decode_leniently, line_of

IN_LINE = (
    " \t\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b"
    "\u200c\u200d\u200e\u200f\u202f\u205f\u2060\u3000\ufeff"
)
"""Characters that are invisible in a line: spaces of any width (zero too) and direction marks."""

BLANK = IN_LINE + "\n"


def blank(text: str) -> str:
    """Replace every character of a text with a space, keeping line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


_MOST_BROKEN = 50
"""The most broken objects to examine in one text: each error counts the lines before it."""

_MARK = "['`\u201c\u201d\u2018\u2019]"
BEGINS_OBJECT = (
    r"\{\s*(?:\"(?:[^\"\\\n]|\\.){0,200}+(?:\"\s*(?::|\Z)|\Z)"
    rf"|{_MARK}[^{_MARK[1:-1]}{{}}\n]{{1,200}}+{_MARK}\s*:)"
)
"""The start of an object, in JSON or what imitates it: a brace and a key, and so no set of strings."""


def blank_thoughts(text: str) -> str:
    """Replace the thoughts in a text with blanks; lines and offsets stay the same.

    Thoughts are: text between tags such as `<think>`; all text before a closing tag without an opening one, because
    servers often remove the opening tag; and the thinking channels of the Harmony format. Tags in the strings of an
    object do not count.

    Raises:
        OutputError: if a thought is never closed, so that the rest may be a draft; or if a closing tag follows the end
            of another thought.
    """
    if not any(sign in text for sign in _SIGNS) and not _BARE_CHANNEL.match(text):
        return text
    messages = _read_messages(text) if _HARMONY.search(text) else [(_end_of_bare_channels(text), len(text))]
    pieces: list[str] = []
    done = 0
    for begin, stop in messages:
        for start, end in _remove_tags(text, begin, stop):
            pieces += [blank(text[done:start]), text[start:end]]
            done = end
    return "".join([*pieces, blank(text[done:])])


_SIGNS = ("<", "&", "\uff1c", "\u25c1", "THINK]")
"""Each tag of a thought and each token of Harmony has one of these."""

_HARMONY = re.compile(r"<\|(?:channel|message)\|>")
_TOKEN = re.compile(r"<\|(start|channel|constrain|message|end|return|call)\|>")
_ENDS = ("end", "return", "call")
_SHOWN = ("", "final")
"""The channels for the reader; all others contain thoughts and tool calls."""

_BARE_CHANNEL = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?:(?=[A-Z{])|[ \t\r]*\n|[ \t]+to=)")
_BARE_FINAL = re.compile(r"assistant ?final(?=[^a-z])")


def _end_of_bare_channels(text: str) -> int:
    """Return where the thoughts end in Harmony without its tokens: `analysisWe judge.assistantfinal{...}`."""
    opening = _BARE_CHANNEL.match(text)
    if not opening:
        return 0
    ends = [found.end() for found in _BARE_FINAL.finditer(text)]
    if not ends:
        raise _refuse_open(text, len(text) - len(text.lstrip()))
    if len(ends) > 1:
        raise fault_at(text, ends[1], "`assistantfinal`", " occurs there again: one of them is a quote")
    return ends[0]


def _read_messages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of messages to the reader and of text outside all messages."""
    header, role, channel = "", "", ""
    start = 0
    in_message = False
    for token in _TOKEN.finditer(text):
        is_thought = in_message and channel not in _SHOWN
        if is_thought and token[1] not in _ENDS and not text.startswith("<|start|>assistant", token.start()):
            continue
        words = text[start : token.start()].split()
        if header == "start":
            role = "".join(words[:1])
        elif header == "channel":
            is_call = any(word.startswith("to=") for word in words)
            channel = "call" if is_call else "".join(words[:1]).lower()
        elif not header and not is_thought and role in ("", "assistant"):
            yield start, token.start()
        in_message = token[1] == "message"
        header = token[1] if token[1] in ("start", "channel", "constrain") else ""
        if token[1] == "start" or token[1] in _ENDS:
            role = channel = ""
        start = token.end()
    if in_message and channel not in _SHOWN:
        raise _refuse_open(text, start)
    if not header and role in ("", "assistant"):
        yield start, len(text)


def fault_at(text: str, offset: int, what: str, why: str) -> OutputError:
    """Return the error that says what is wrong at the line of an offset: `what` at that line, then `why`."""
    line = line_of(text, offset)
    return OutputError(f"{what} at line {line}{why}", line=line)


def _refuse_open(text: str, start: int) -> OutputError:
    return fault_at(text, start, "cut off inside its thoughts, which begin", " and never end")


_NAME = (
    r"think|thinking|thoughts?(?:[_-]process)?|reasoning|analysis|(?:self[_-])?reflection|scratch[_-]?pad|inner[_-]monologue"
    r"|chain[_-]of[_-]thoughts?|cot|deliberation|rationale|critique|draft"
)
_TAG = (
    r"(?:<[|\uff5c]?|\uff1c|<[ \t]{1,9}(?=/?[ \t]{0,9}[\w:-]{1,60}[ \t]{0,9}>)|&lt;|\u25c1|\[(?=(?-i:/?THINK\])))"
    r"(?:(/[ \t]{0,9}|end[_\u2581](?:of[_\u2581])?)|(?:begin|start)[_\u2581](?:of[_\u2581])?)?"
    rf"((?:[\w-]{{1,40}}:)?(?:{_NAME}))(?:\s[^<>&\u25c1\uff1c\uff1e]*)?(/?)"
    r"(?:[|\uff5c]?>|\uff1e|&gt;|\u25b7|\])"
)
"""Tags such as <think>, < think >, </seed:think>, <|START_THINKING|>, [THINK], &lt;think&gt;, and in triangles."""

_THOUGHT = re.compile(_TAG, re.IGNORECASE)
_TAG_OR_OBJECT = re.compile(rf"{_TAG}|{BEGINS_OBJECT}", re.IGNORECASE)
"""The tag of a thought, or an object: a tag inside a string of the object does not count."""


def _remove_tags(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of a part of the text that are outside all thoughts."""
    kept: list[tuple[int, int]] = []
    start = position = begin
    has_thought = False
    broken = 0
    while mark := _TAG_OR_OBJECT.search(text, position, end):
        position = mark.end()
        is_closing, name, is_empty = mark[1], mark[2], mark[3]
        if name is None:
            if broken == _MOST_BROKEN:
                continue
            try:
                position = decode_leniently(text, mark.start())[1]
            except OutputError as fault:
                broken += 1
                if fault.offset is None:
                    raise
        elif is_empty:
            kept.append((start, mark.start()))
            start = position
        elif not is_closing:
            kept.append((start, mark.start()))
            start = position = _end_of_thought(text, mark, end)
            has_thought = True
        elif has_thought:
            why = " closes nothing, so what it ends may not be a thought"
            raise fault_at(text, mark.start(), f"`{mark[0]}`", why)
        else:
            kept.clear()
            start, has_thought = position, True
    return [*kept, (start, end)]


def may_end_thoughts(text: str) -> bool:
    """Return whether a text has a mark that ends thoughts, so that a judge who quotes it seems to end its own."""
    return any(mark.search(text) for mark in (_THOUGHT, _HARMONY, _BARE_FINAL))


def _end_of_thought(text: str, opening: re.Match[str], end: int) -> int:
    """Return where a thought ends; a thought that opens again inside itself must close as often."""
    name, depth = opening[2].lower(), 1
    for mark in _THOUGHT.finditer(text, opening.end(), end):
        if mark[2].lower() == name and not mark[3]:
            depth += -1 if mark[1] else 1
            if not depth:
                return mark.end()
    raise _refuse_open(text, opening.start())


_BEGINS_TURN = re.compile(
    r"""
    <\|im_start\|>assistant\b | <\|start_header_id\|>assistant<\|end_header_id\|> | <start_of_turn>model\b
    | <\|turn>model\b | <\|assistant\|> | <\|START_RESPONSE\|> | <\|begin_of_solution\|>
    | <\|begin_of_text\|> | <s> | <bos>
    """,
    re.VERBOSE,
)
"""The tokens that begin the judge's own turn."""

_ENDS_TURN = (
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<turn|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<|END_RESPONSE|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_solution|>",
)
"""The tokens that chat templates put after a message, which servers sometimes leave there."""


def strip_turn(text: str) -> tuple[int, int]:
    """Return where a text begins and ends without blanks and the tokens that begin and end the judge's own turn."""
    start, end = 0, len(text.rstrip(BLANK))
    for _ in range(5):
        end -= next((len(token) for token in _ENDS_TURN if text.endswith(token, 0, end)), 0)
        end = len(text[:end].rstrip(BLANK))
        start = end - len(text[start:end].lstrip(BLANK))
        token = _BEGINS_TURN.match(text, start, end)
        start = token.end() if token else start
    return start, end
