"""Remove the thoughts of a reasoning model from its text."""

import re
from collections.abc import Iterator

from rubric_lint.scoring.blanks import IN_LINE, blank
from rubric_lint.scoring.extract import OutputError, decode_with_flaws, line_of

MOST_BROKEN = 50
"""The most broken objects to examine in one text. Each may scan the whole text; no judge writes more."""

Spans = list[tuple[int, int]]


def blank_thoughts(text: str) -> str:
    """Replace the thoughts in a text with blanks; lines and offsets stay the same.

    Thoughts are: text between tags such as `<think>`; all text before a closing tag without an opening one, because
    servers often remove the opening tag; and the thinking channels of the Harmony format.

    Raises:
        OutputError: if a thought is never closed, so that the rest may be a draft; or if a closing tag makes it unclear
            whether an object before it is a draft.
    """
    if not _may_think(text):
        return text
    messages = _read_messages(text) if _HARMONY.search(text) else [(_end_of_bare_channels(text), len(text))]
    kept = [span for message in messages for span in _remove_tags(text, *message)]
    pieces: list[str] = []
    done = 0
    for start, end in kept:
        pieces += [blank(text[done:start]), text[start:end]]
        done = end
    return "".join([*pieces, blank(text[done:])])


def _may_think(text: str) -> bool:
    """Return whether a text may have a thought, or so many brackets that reading its objects is refused."""
    return (
        any(sign in text for sign in _SIGNS)
        or _BARE_CHANNEL.match(text) is not None
        or text.count("{") + text.count("[") > MOST_BROKEN
    )


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
        raise _cut_off(text, len(text) - len(text.lstrip()))
    if len(ends) > 1:
        line = line_of(text, ends[1])
        raise OutputError(f"`assistantfinal` at line {line} occurs there again: one of them is a quote", line=line)
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
        raise _cut_off(text, start)
    if not header and role in ("", "assistant"):
        yield start, len(text)


def _cut_off(text: str, start: int) -> OutputError:
    line = line_of(text, start)
    return OutputError(f"cut off inside its thoughts, which begin at line {line} and never end", line=line)


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
_OBJECT = r'\{[ \t\r\n]*["}]'
_LANDMARK = re.compile(rf"{_TAG}|^[{IN_LINE}]*[*_]{{0,3}}(?={_OBJECT})", re.IGNORECASE | re.MULTILINE)
"""The tag of a thought, or the start of a line with an object: a tag inside a string of the object does not count."""

_BEGINS_OBJECT = re.compile(rf"[{IN_LINE}\n]*(?={_OBJECT})")


def _remove_tags(text: str, begin: int, end: int) -> Spans:
    """Return the spans of a part of the text that are outside all thoughts."""
    kept: Spans = []
    start = position = begin
    has_thought = has_object = False
    broken = 0
    while True:
        mark = _BEGINS_OBJECT.match(text, position, end) if position == start else None
        mark = mark or _LANDMARK.search(text, position, end)
        if mark is None:
            return [*kept, (start, end)]
        position = mark.end()
        if mark.re is _BEGINS_OBJECT or mark[2] is None:
            try:
                position, has_object = decode_with_flaws(text, position)[1], True
            except OutputError as fault:
                broken += 1
                if fault.offset is None or broken > MOST_BROKEN:
                    raise
                position = max(position + 1, fault.offset)
            continue
        if not mark[1] or mark[3]:
            kept.append((start, mark.start()))
            start = position = position if mark[3] else _end_of_thought(text, mark, end)
            has_thought = True
            continue
        if has_thought and has_object:
            line = line_of(text, mark.start())
            message = f"`{mark[0]}` at line {line} closes nothing, so the object before it may be a draft"
            raise OutputError(message, line=line)
        kept.clear()
        start, has_thought, has_object = position, True, False


def _end_of_thought(text: str, opening: re.Match[str], end: int) -> int:
    """Return where a thought ends; a thought that opens again inside itself must close as often."""
    name, depth = opening[2].lower(), 1
    for mark in _THOUGHT.finditer(text, opening.end(), end):
        if mark[2].lower() == name and not mark[3]:
            depth += -1 if mark[1] else 1
            if not depth:
                return mark.end()
    raise _cut_off(text, opening.start())
