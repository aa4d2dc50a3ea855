"""Remove the thoughts of a reasoning model from its text."""

import re
from collections.abc import Iterator

from rubric_lint.outputs.blanks import blank
from rubric_lint.outputs.extract import OutputError, decode_with_flaws, line_of

_MOST_BROKEN = 50
"""The most broken objects to examine in one text: each error counts the lines before it."""

_MARK = "['`\u201c\u201d\u2018\u2019]"
BEGINS_OBJECT = (
    r"\{\s*(?:\"(?:[^\"\\\n]|\\.){0,200}+(?:\"\s*(?::|\Z)|\Z)"
    rf"|{_MARK}[^{_MARK[1:-1]}{{}}\n]{{1,200}}+{_MARK}\s*:)"
)
"""The start of an object, in JSON or what imitates it: a brace and a key, and so no set of strings."""

Spans = list[tuple[int, int]]


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
    kept = [span for message in messages for span in _remove_tags(text, *message)]
    pieces: list[str] = []
    done = 0
    for start, end in kept:
        pieces += [blank(text[done:start]), text[start:end]]
        done = end
    return "".join([*pieces, blank(text[done:])])


def ends_thoughts(text: str) -> bool:
    """Return whether a text has a mark that begins or ends thoughts."""
    return any(marks.search(text) for marks in (_THOUGHT, _HARMONY, _BARE_FINAL))


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
_LANDMARK = re.compile(rf"{_TAG}|{BEGINS_OBJECT}", re.IGNORECASE)
"""The tag of a thought, or an object: a tag inside a string of the object does not count."""


def _remove_tags(text: str, begin: int, end: int) -> Spans:
    """Return the spans of a part of the text that are outside all thoughts."""
    kept: Spans = []
    start = position = begin
    has_thought = False
    broken = 0
    while mark := _LANDMARK.search(text, position, end):
        position = mark.end()
        if mark[2] is None:
            if broken < _MOST_BROKEN:
                try:
                    position = decode_with_flaws(text, mark.start())[1]
                except OutputError as fault:
                    broken += 1
                    if fault.offset is None:
                        raise
        elif mark[3]:
            kept.append((start, mark.start()))
            start = position
        elif not mark[1]:
            kept.append((start, mark.start()))
            start = position = _end_of_thought(text, mark, end)
            has_thought = True
        elif has_thought:
            line = line_of(text, mark.start())
            raise OutputError(
                f"`{mark[0]}` at line {line} closes nothing, so what it ends may not be a thought", line=line
            )
        else:
            kept.clear()
            start, has_thought = position, True
    return [*kept, (start, end)]


def _end_of_thought(text: str, opening: re.Match[str], end: int) -> int:
    """Return where a thought ends; a thought that opens again inside itself must close as often."""
    name, depth = opening[2].lower(), 1
    for mark in _THOUGHT.finditer(text, opening.end(), end):
        if mark[2].lower() == name and not mark[3]:
            depth += -1 if mark[1] else 1
            if not depth:
                return mark.end()
    raise _cut_off(text, opening.start())
