"""Find the verdict in what a judge wrote, by structure alone: what the words around it mean decides nothing.

In doubt there is none: a text that is refused costs one more request, a wrong verdict is believed.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, Never

from rubric_lint.scoring.records.chat_tokens import find_token
from rubric_lint.scoring.records.decoding import (
    OutputError,
    decode_leniently,
    has_raw_controls,
    line_of,
    quote_start,
    refuse_flaws,
)
from rubric_lint.scoring.records.parse_options import Extract
from rubric_lint.scoring.records.quotes import squeeze
from rubric_lint.scoring.records.thoughts import (
    BEGINS_OBJECT,
    BLANK,
    IN_LINE,
    blank,
    blank_thoughts,
    fault_at,
    may_end_thoughts,
    strip_turn,
)

_LONE_CR = re.compile(r"\r(?!\n)")

_MOST = 50
"""The most objects to look up in the judged answer. Each look-up scans the whole answer; no judge gives more."""

_BEGINS_JSON, _ENDS_JSON = '["-0123456789tfnNI', ']"0123456789elyN'
"""The characters that JSON other than an object begins and ends with, as Python reads it: `NaN`, `-Infinity`."""


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


def find_verdict(
    text: str,
    field: str,
    *,
    answer: str | None = None,
    extract: Extract = Extract.LAST,
    is_verdict: Callable[[Mapping[str, Any]], bool] = lambda _: False,
) -> tuple[dict[str, Any], bool]:
    """Find the object in a text that is the verdict; objects with the answer field `field` compete for it.

    So do those that are one in another form, as `is_verdict` says. An object that `answer` contains is a quote, unless
    it is the whole text.

    Returns:
        The object, and whether strings in it hold line breaks that JSON would escape.

    Raises:
        OutputError: if there is no such object, more than one, or one that is broken, cut off or part of something
            broken: part of a broken output could contain a score that the judge never gave.
    """
    # Each line end becomes LF, which keeps the length of the text and the meaning of its JSON.
    text = _LONE_CR.sub("\n", text) if "\r" in text else text
    rest, begin, end = _find_answer(text)
    shown = squeeze(answer or "")

    def is_quote(found: _Object) -> bool:
        return bool(shown) and squeeze(rest[found.start : found.end]) in shown

    try:
        found = _read_whole(rest, begin, end)
    except OutputError:
        if extract is Extract.WHOLE:
            raise
        without_forms = _FORM.sub(_blank_form, rest)
        has_others = without_forms.find("{", begin, end) >= 0
        searched = without_forms if has_others else rest
        found = _find_only(searched, begin, end, field, is_quote, is_verdict=is_verdict)
        if extract is Extract.LAST:
            _refuse_place(rest, begin, end, found)
    else:
        if rest != text and is_quote(found) and may_end_thoughts(answer or ""):
            raise _refuse_quote(rest, found.start)
    refuse_flaws(found.value)
    return found.value, has_raw_controls(rest, found.start, found.end)


def _find_answer(text: str) -> tuple[str, int, int]:
    """Return a text with its thoughts as blanks, and where the rest begins and ends without the tokens of a turn.

    Raises:
        OutputError: if it is empty, JSON of another kind, or has nothing that looks like an object after its thoughts.
    """
    body = text.strip(BLANK)
    if not body:
        raise OutputError("the text is empty; expected a JSON object")
    _refuse_other_json(body)
    rest = blank_thoughts(text)
    begin, end = strip_turn(rest)
    if begin == end:
        raise OutputError("thoughts without an answer: nothing follows them")
    if rest.find("{", begin, end) < 0:
        raise OutputError(f"no JSON object in this text: {quote_start(rest[begin:end])}")
    return rest, begin, end


def unwrap(text: str) -> str:
    """Return the content of a text that is one plain fence, else the text without surrounding blanks."""
    body = text.strip(BLANK)
    if body.endswith("```"):
        for opening in ("```json\n", "```\n"):
            if body.startswith(opening):
                return body[len(opening) : -3]
    return body


def _refuse_other_json(body: str) -> None:
    """Raise an error if the whole text is a JSON value other than an object."""
    if body[0] not in _BEGINS_JSON or body[-1] not in _ENDS_JSON:
        return
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return
    kinds = {list: "a list", str: "a string", bool: str(value).lower(), type(None): "null"}
    kind = kinds.get(type(value), f"the number {body[:20]}")
    raise OutputError(f"found {kind}; expected a JSON object")


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
    raise OutputError(f"expected one JSON object and nothing else, found {quote_start(text[begin:end])}")


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
    lines = _CLOSES_FENCE.finditer(text, opening.end(), end)
    closing = next((line for line in lines if line[1].startswith(marks)), None)
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
        why = f" is labelled {quote_start(fence.label)}; expected `json` or no label"
        raise fault_at(text, fence.begin, "the fence", why)


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
    key, found, all_have_key = _key(field), None, True
    spans: list[tuple[int, int]] = []
    for candidate in _find_objects(text, begin, end):
        has_key = bool(key.search(text, candidate.start, candidate.end))
        if not has_key and not any(map(is_verdict, _list_objects(candidate.value))):
            continue
        all_have_key = all_have_key and has_key
        if len(spans) >= _MOST or not is_quote(candidate):
            if found:
                what = f"`{field}`" if all_have_key else "a verdict"
                _refuse_another(text, what, found.start, candidate.start)
            found = candidate
        spans.append((candidate.start, candidate.end))
    if not found and spans:
        raise _refuse_quote(text, spans[0][0])
    if not found:
        raise OutputError(f"no JSON object with the field `{field}` in this text: {quote_start(text[begin:end])}")
    if field not in found.value and not is_verdict(found.value):
        raise fault_at(text, found.start, f"`{field}` is not a field of the JSON object", ", but within it")
    _refuse_between(text, [(begin, begin), *spans, (end, end)], field, found.start)
    return found


def _refuse_between(text: str, spans: list[tuple[int, int]], field: str, start: int) -> None:
    """Raise an error if there is another answer field, or a token of a chat template, between some spans."""
    for (_, done), (following, _) in pairwise(spans):
        other = _key(field).search(text, done, following)
        if other:
            _refuse_another(text, f"`{field}`", start, other.start())
        token = find_token(text, done, following)
        if token:
            why = " begins or ends a turn, so the verdict may not be the judge's"
            raise fault_at(text, token.start(), f"`{token[0]}`", why)


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


def _refuse_quote(text: str, start: int) -> OutputError:
    return fault_at(text, start, "the JSON object", " is quoted: the judged answer contains it word for word")


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
        raise OutputError(f"{named} is in a fence with other text around it, so it is not the verdict", line=line)
    start = fence.begin if fence else text.rfind("\n", 0, found.start) + 1
    if not fence and text[max(start, begin) : found.start].strip(IN_LINE):
        raise OutputError(f"{named} is in the middle of a line, so it is not the verdict", line=line)
    found_end = fence.end if fence else found.end
    after = text[found_end:end].strip(BLANK)
    if after:
        raise OutputError(f"text follows {named}, so it is not the verdict: {quote_start(after)}", line=line)
    if fence:
        _refuse_label(text, fence)
    before = text[begin:start]
    last = before.rstrip(BLANK)
    is_block_quote = before.count("\n", len(last)) == 1 and _ends_in_block_quote(last)
    if not fence and (is_block_quote or _ENCLOSES.search(last[-80:])):
        mark = "<!--" if last.endswith("<!--") else last[-1]
        if is_block_quote:
            mark = ">"
        raise OutputError(
            f"{named} is part of what begins before it with `{mark}`: {quote_start(last[-40:])}", line=line
        )


def _ends_in_block_quote(text: str) -> bool:
    """Return whether the next line belongs to a block quote; as in CommonMark, its paragraphs go on without a `>`."""
    for line in reversed(text.split("\n")):
        begin = line.lstrip(IN_LINE)
        if not begin or begin[0] in "#-*+`~|<":  # a blank line, or the start of another block
            return False
        if begin[0] == ">":
            return True
    return False
