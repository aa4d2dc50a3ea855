"""Find the verdict in what a judge wrote, by structure alone: what the words around it mean decides nothing.

In doubt there is none: a text that is refused costs one more request, a wrong verdict is believed.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import pairwise
from types import NoneType
from typing import Any, NamedTuple, Never, Self

from rubric_lint.model.messages import join_words
from rubric_lint.scoring.records.chat_tokens import break_tokens, find_token
from rubric_lint.scoring.records.decoding import (
    OutputError,
    decode_leniently,
    has_raw_controls,
    line_of,
    refuse_flaws,
    shorten,
)

IN_LINE = (
    " \t\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b"
    "\u200c\u200d\u200e\u200f\u202f\u205f\u2060\u3000\ufeff"
)
"""Characters that are invisible in a line: spaces of any width (zero too) and direction marks."""

BLANK = IN_LINE + "\n"

_LONE_CR = re.compile(r"\r(?!\n)")


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
    kept = [span for message in messages for span in _remove_tags(text, *message)]
    pieces: list[str] = []
    done = 0
    for start, end in kept:
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
        raise _cut_off(text, len(text) - len(text.lstrip()))
    if len(ends) > 1:
        raise _fault(text, ends[1], "`assistantfinal`", " occurs there again: one of them is a quote")
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


def _fault(text: str, offset: int, what: str, why: str) -> OutputError:
    """Return the error that says what is wrong at the line of an offset: `what` at that line, then `why`."""
    line = line_of(text, offset)
    return OutputError(f"{what} at line {line}{why}", line=line)


def _cut_off(text: str, start: int) -> OutputError:
    return _fault(text, start, "cut off inside its thoughts, which begin", " and never end")


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
        if mark[2] is None:
            if broken < _MOST_BROKEN:
                try:
                    position = decode_leniently(text, mark.start())[1]
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
            why = " closes nothing, so what it ends may not be a thought"
            raise _fault(text, mark.start(), f"`{mark[0]}`", why)
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


_MOST = 50
"""The most objects to look up in the judged answer. Each look-up scans the whole answer; no judge gives more."""

_BEGINS_JSON, _ENDS_JSON = '["-0123456789tfnNI', ']"0123456789elyN'
"""The characters that JSON other than an object begins and ends with, as Python reads it: `NaN`, `-Infinity`."""


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
    *("<|im_end|>", "<|end|>", "<|return|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"),
    *("<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"),  # noqa: RUF001
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


class Extract(StrEnum):
    """What of a raw text, without its thoughts, may be the verdict: the text, its end, or the only one in it."""

    WHOLE = "whole"
    LAST = "last"
    ONLY = "only"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        raise ValueError(f"extract is {value!r}; expected {join_words([repr(choice.value) for choice in cls], 'or')}")


class ExtraFields(StrEnum):
    """Whether fields of an output that neither its schema nor the request has are refused, or accepted unread."""

    REFUSE = "refuse"
    ACCEPT = "accept"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        expected = join_words([repr(choice.value) for choice in cls], "or")
        raise ValueError(f"extra_fields is {value!r}; expected {expected}")


class ParseOptions(NamedTuple):
    """How outputs are read. Without `extra_fields`, `whole` refuses them; the others refuse numbers and booleans.

    `grades` has what letter grades are worth.
    """

    extract: Extract = Extract.LAST
    extra_fields: ExtraFields | None = None
    grades: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, extract: str, extra_fields: str | None = None, grades: tuple[tuple[str, int], ...] = ()) -> Self:
        """Return the reading that two options name.

        Raises:
            ValueError: if one of them has another value.
        """
        return cls(Extract(extract), None if extra_fields is None else ExtraFields(extra_fields), grades)

    def refuses(self, value: Any) -> bool:
        """Return whether a field that nobody asked for makes an output invalid by its value."""
        if self.extra_fields:
            return self.extra_fields is ExtraFields.REFUSE
        return self.extract is Extract.WHOLE or isinstance(value, int | float)


DEFAULT_OPTIONS = ParseOptions()
WHOLE = ParseOptions(Extract.WHOLE)


class _Fence(NamedTuple):
    """A Markdown fence: where it begins, its label, where its content begins and ends, and where it ends."""

    begin: int
    label: str
    start: int
    stop: int
    end: int


class _Object(NamedTuple):
    """An object in a text that no other object contains, and the fence around it, if any."""

    value: dict[str, Any]
    start: int
    end: int
    fence: _Fence | None = None


class FoundVerdict(NamedTuple):
    """The verdict in a raw text, and whether strings in it hold line breaks that JSON would escape."""

    value: dict[str, Any]
    has_raw_controls: bool


def find_verdict(
    text: str,
    field: str,
    *,
    answer: str | None = None,
    extract: Extract = Extract.LAST,
    is_verdict: Callable[[Mapping[str, Any]], bool] = lambda _: False,
) -> FoundVerdict:
    """Find the object in a text that is the verdict; objects with the answer field `field` compete for it.

    So do those that are one in another form, as `is_verdict` says. An object that `answer` contains is a quote, unless
    it is the whole text.

    Raises:
        OutputError: if there is no such object, more than one, or one that is broken, cut off or part of something
            broken: part of a broken output could contain a score that the judge never gave.
    """
    # Each line end becomes LF, which keeps the length of the text and the meaning of its JSON.
    text = _LONE_CR.sub("\n", text) if "\r" in text else text
    body = text.strip(BLANK)
    if not body:
        raise OutputError("the text is empty; expected a JSON object")
    _refuse_other_json(body)
    rest = blank_thoughts(text)
    begin, end = strip_turn(rest)
    if begin == end:
        raise OutputError("thoughts without an answer: nothing follows them")
    if rest.find("{", begin, end) < 0:
        raise OutputError(f"no JSON object in this text: {shorten(rest[begin:end])}")
    shown = squeeze(answer or "")

    def is_quote(object_: _Object) -> bool:
        return bool(shown) and squeeze(rest[object_.start : object_.end]) in shown

    try:
        found = _read_whole(rest, begin, end)
    except OutputError:
        if extract is Extract.WHOLE:
            raise
        without_forms = _FORM.sub(_blank_form, rest)
        is_all = without_forms.find("{", begin, end) < 0
        found = _find_only(rest if is_all else without_forms, begin, end, field, is_quote, is_verdict=is_verdict)
        if extract is Extract.LAST:
            _refuse_place(rest, begin, end, found)
    else:  # a quote only if the answer may have ended the judge's thoughts
        marks = (_THOUGHT, _HARMONY, _BARE_FINAL)
        if rest != text and is_quote(found) and any(mark.search(answer or "") for mark in marks):
            raise _quoted(rest, found.start)
    refuse_flaws(found.value)
    return FoundVerdict(found.value, has_raw_controls(rest, found.start, found.end))


def unwrap(text: str) -> str:
    """Return the content of a text that is one plain fence, else the text without surrounding blanks."""
    body = text.strip(BLANK)
    if not body.endswith("```"):
        return body
    return body[8:-3] if body.startswith("```json\n") else body[4:-3] if body.startswith("```\n") else body


def _refuse_other_json(body: str) -> None:
    """Raise an error if the whole text is a JSON value other than an object."""
    if body[0] not in _BEGINS_JSON or body[-1] not in _ENDS_JSON:
        return
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return
    kind = {list: "a list", str: "a string", bool: str(value).lower(), type(None): "null"}
    raise OutputError(f"found {kind.get(type(value), f'the number {body[:20]}')}; expected a JSON object")


def _read_whole(text: str, begin: int, end: int) -> _Object:
    """Return the object that a part of a text consists of, bare or in a fence; raise OutputError if it does not."""
    opening = _LANDMARK.match(text, text.rfind("\n", 0, begin) + 1, end)
    fence = _read_fence(text, opening, end) if opening and opening["marks"] else None
    start, stop = (fence.start, fence.stop) if fence else (begin, end)
    if text.startswith("{", start, stop) and (not fence or fence.end == end):
        value, after = decode_leniently(text, start)
        if after == stop:
            if fence:
                _refuse_label(text, fence)
            return _Object(value, start, stop)
    raise OutputError(f"expected one JSON object and nothing else, found {shorten(text[begin:end])}")


_LANDMARK = re.compile(
    rf"(?P<indent>^[{IN_LINE}]*)(?P<marks>`{{3,}}(?=[^`\n]*$)|~{{3,}})(?P<label>[^\n]*)|{BEGINS_OBJECT}", re.MULTILINE
)
"""A line that opens a fence, or an object."""

_PLACEHOLDER = (
    r"(?:[A-Z]|int|integer|number|float|str|string|bool|boolean|<[^<>{}\"\n]{1,60}>|\.\.\.|\u2026"
    r"|\d{1,3}\s?(?:-|\u2013|\.\.)\s?\d{1,3})"
)
"""What stands for a value: a letter, a type, a text in angle brackets, dots, a range. Other words may be verdicts."""
_PAIR = rf'"[\w-]{{1,60}}"\s*:\s*(?:{_PLACEHOLDER}|"[^"\\\n]{{0,200}}")'
_FORM = re.compile(rf"\{{\s*{_PAIR}(?:\s*,\s*{_PAIR}){{0,9}}\s*\}}")
"""An object as a judge restates what it is to write: `{"score": N}`, `{"score": <0-10>}`. It holds no score."""


def _blank_form(found: re.Match[str]) -> str:
    """Return blanks for an object with placeholders; one that is JSON stays."""
    try:
        json.loads(found[0])
    except ValueError:
        return blank(found[0])
    return found[0]


_OBJECT = re.compile(BEGINS_OBJECT)
_CLOSES_FENCE = re.compile(rf"^[{IN_LINE}]*(`{{3,}}|~{{3,}})[{IN_LINE}]*$", re.MULTILINE)


def _read_fence(text: str, opening: re.Match[str], end: int) -> _Fence:
    """Return the fence that a line opens; without a closing line, it ends with the text, as in Markdown."""
    marks = opening["marks"]
    closing = next(
        (line for line in _CLOSES_FENCE.finditer(text, opening.end(), end) if line[1].startswith(marks)), None
    )
    stop = closing.start() if closing else end
    content = text[opening.end() : stop].rstrip(BLANK)
    if not closing:
        content = content.removesuffix(marks).rstrip(BLANK)
    start = opening.end() + len(content) - len(content.lstrip(BLANK))
    label = opening["label"].strip(IN_LINE)
    after = closing.end() if closing else end
    return _Fence(opening.start(), label, start, opening.end() + len(content), after)


def _refuse_label(text: str, fence: _Fence) -> None:
    if fence.label.lower() not in ("", "json"):
        why = f" is labelled {shorten(fence.label)}; expected `json` or no label"
        raise _fault(text, fence.begin, "the fence", why)


def _find_objects(text: str, begin: int, end: int) -> Iterator[_Object]:
    """Yield the outermost objects of a part of a text; raise OutputError if one is broken.

    One in a fence that is closed before the end may be broken: nothing behind that can be part of it.
    """
    position = begin
    while mark := _LANDMARK.search(text, position, end):
        if mark["marks"]:
            fence = _read_fence(text, mark, end)
            yield from _find_fenced(text, fence, is_last=fence.end == end)
            position = fence.end
        else:
            value, position = decode_leniently(text, mark.start())
            yield _Object(value, mark.start(), position)


def _find_fenced(text: str, fence: _Fence, *, is_last: bool) -> Iterator[_Object]:
    """Yield the outermost objects in a fence, up to one that is broken; raise its error if the fence is the last."""
    # A part of the text: an error counts the lines before it, which would be all of the text for each fence.
    first = 0 if is_last else fence.start
    content = text[first : fence.stop]
    position = fence.start - first
    while mark := _OBJECT.search(content, position):
        try:
            value, position = decode_leniently(content, mark.start())
        except OutputError:
            if is_last:
                raise
            return
        yield _Object(value, first + mark.start(), first + position, fence)


_QUOTE = (
    "(?:[\"'`\u00b4\u00ab\u00bb\u2018-\u201f\u2039\u203a\u300c-\u300f\uff02\uff07]"
    "|&(?:quot|apos|[lr][sd]quo|[lr]aquo|#0{0,5}3[49]|#x0{0,5}2[27]);)"
)
"""A quotation mark in any notation, as HTML writes it too."""

_COLON = "(?:[:\uff1a\ufe13\ufe55]|&colon;|&#0{0,5}58;|&#x0{0,5}3a;)"
_ARROW = "(?:=>|=&gt;|&rArr;|[\u21d2\u2192]|->)"


@cache
def _key(field: str) -> re.Pattern[str]:
    """Return the pattern of a field's name as a key, in JSON or what imitates it; JSON may escape its letters."""
    name = "".join(rf"(?:{letter}|\\u00{ord(letter):x})" for letter in field)
    return re.compile(
        rf"{_QUOTE}\s*{name}[\s\\]*{_QUOTE}[\s\])]*(?:{_COLON}|{_ARROW})"  # also ["score"] => and ("score" =>
        rf"|[{{\uff5b](?:[^{{}}\"]{{0,300}}[,;])?\s*:?{name}\s*(?:{_COLON}|=|{_ARROW})|:{name}\s*{_ARROW}",
        re.IGNORECASE,
    )


def _find_only(
    text: str,
    begin: int,
    end: int,
    field: str,
    is_quote: Callable[[_Object], bool],
    *,
    is_verdict: Callable[[Mapping[str, Any]], bool],
) -> _Object:
    """Return the only verdict that is not a quote; a token of a chat template is an error too."""
    key, found, looks, all_have_key = _key(field), None, 0, True
    spans: list[tuple[int, int]] = []
    for object_ in _find_objects(text, begin, end):
        has_key = bool(key.search(text, object_.start, object_.end))
        if not has_key and not any(map(is_verdict, _list_objects(object_.value))):
            continue
        all_have_key = all_have_key and has_key
        looks += 1
        if looks > _MOST or not is_quote(object_):
            if found:
                _refuse_another(text, f"`{field}`" if all_have_key else "a verdict", found.start, object_.start)
            found = object_
        spans.append((object_.start, object_.end))
    if not found and spans:
        raise _quoted(text, spans[0][0])
    if not found:
        raise OutputError(f"no JSON object with the field `{field}` in this text: {shorten(text[begin:end])}")
    if field not in found.value and not is_verdict(found.value):
        raise _fault(text, found.start, f"`{field}` is not a field of the JSON object", ", but within it")
    _refuse_beside(text, [(begin, begin), *spans, (end, end)], field, found.start)
    return found


def _refuse_beside(text: str, spans: list[tuple[int, int]], field: str, start: int) -> None:
    """Raise an error if there is another answer field, or a token of a chat template, between some spans."""
    for (_, done), (following, _) in pairwise(spans):
        if other := _key(field).search(text, done, following):
            _refuse_another(text, f"`{field}`", start, other.start())
        if token := find_token(text, done, following):
            why = " begins or ends a turn, so the verdict may not be the judge's"
            raise _fault(text, token.start(), f"`{token[0]}`", why)


def _refuse_another(text: str, what: str, one: int, other: int) -> Never:
    lines = sorted([line_of(text, one), line_of(text, other)])
    raise OutputError(f"2 objects with {what}, at lines {lines[0]} and {lines[1]}; expected one", line=lines[1])


def _list_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield an object and all objects in it."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            yield item
            pending += item.values()
        elif isinstance(item, list):
            pending += item


def _quoted(text: str, start: int) -> OutputError:
    return _fault(text, start, "the JSON object", " is quoted: the judged answer contains it word for word")


_ENCLOSES = re.compile(
    r"""
      (?: [\[{(] | <!-- ) \Z                                         # brackets that open
    | (?:["}\]] | "\s*:\s*[\w.+-]{1,40})\s*, \Z | "\s*: \Z         # items and keys of JSON
    """,
    re.VERBOSE,
)
"""The end of a text that opens something which the object behind it is part of.

A quotation mark is none: nothing follows the object, so the mark is never closed and quotes nothing.
"""


def _refuse_place(text: str, begin: int, end: int, found: _Object) -> None:
    """Raise an error if an object is not on lines of its own or in a fence, or not the last thing in a text."""
    fence, line = found.fence, line_of(text, found.start)
    named = f"the JSON object at line {line}"
    if fence and (found.start, found.end) != (fence.start, fence.stop):
        raise OutputError(f"{named} is in a fence beside other text, so it is not the verdict", line=line)
    start = fence.begin if fence else text.rfind("\n", 0, found.start) + 1
    if not fence and text[max(start, begin) : found.start].strip(IN_LINE):
        raise OutputError(f"{named} is in the middle of a line, so it is not the verdict", line=line)
    after = text[fence.end if fence else found.end : end].strip(BLANK)
    if after:
        raise OutputError(f"text follows {named}, so it is not the verdict: {shorten(after)}", line=line)
    if fence:
        _refuse_label(text, fence)
    before = text[begin:start]
    last = before.rstrip(BLANK)
    is_block_quote = before.count("\n", len(last)) == 1 and _ends_in_block_quote(last)
    if not fence and (is_block_quote or _ENCLOSES.search(last[-80:])):
        mark = ">" if is_block_quote else "<!--" if last.endswith("<!--") else last[-1]
        raise OutputError(f"{named} is part of what begins before it with `{mark}`: {shorten(last[-40:])}", line=line)


def _ends_in_block_quote(text: str) -> bool:
    """Return whether the next line belongs to a block quote; as in CommonMark, its paragraphs go on without a `>`."""
    for line in reversed(text.split("\n")):
        begin = line.lstrip(IN_LINE)
        if not begin or begin[0] in "#-*+`~|<":  # a blank line, or the start of another block
            return False
        if begin[0] == ">":
            return True
    return False


def read_quotable(*texts: object) -> str:
    """Return everything that a judge may quote from its input: these texts, as they are and as a prompt shows them.

    Of a conversation, and of any other value, these are all strings in it, and the value as JSON.
    """
    known = "\n".join(_list_texts(texts))
    if not known:
        return known
    broken = break_tokens(known)
    return known if broken == known else f"{known}\n{broken}"


def _list_texts(given: tuple[object, ...]) -> Iterator[str]:
    """Yield the strings in some values, what is in those that are JSON, and the other values as JSON."""
    pending = [*given]
    for value in given:
        if not isinstance(value, str | NoneType):
            with suppress(ValueError, TypeError, RecursionError):
                yield json.dumps(
                    value, ensure_ascii=False, default=lambda item: getattr(item, "tolist", item.__str__)()
                )
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
            if "\\" in value and value.lstrip()[:1] in ("[", "{"):  # its strings are escaped
                with suppress(ValueError, RecursionError):
                    pending.append(json.loads(value))
        elif isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif hasattr(value, "tolist"):  # an array of NumPy
            pending.append(value.tolist())


def squeeze(text: str) -> str:
    """Remove all blanks from a text, so that quotes match whatever their line breaks."""
    return "".join(text.split())
