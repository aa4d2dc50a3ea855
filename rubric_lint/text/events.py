"""Parse text to node trees: with the C parser, with the pure one where the C parser may be wrong, and from JSON."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Any

from ruamel.yaml.composer import ComposerError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.nodes import ScalarNode

from rubric_lint.text.c_parser import compose, open_events
from rubric_lint.text.composer import compose_events
from rubric_lint.text.deadline import check_time, watch
from rubric_lint.text.source import Span
from rubric_lint.text.syntax_errors import describe_fault
from rubric_lint.text.tree import MAX_DEPTH, Mark, Root, SyntaxFaultError, may_have_aliases, too_deep, walk_nodes

# Both parsers treat these as line ends, as in YAML 1.1; in YAML 1.2 and in editors they are ordinary characters.
_OLD_LINE_ENDS = "\x85\u2028\u2029"
_PRIVATE_USE = range(0xE000, 0xF900)

_LARGE = 100_000
"""The text length, in characters, from which reading checks the time."""


def read_yaml(text: str, lines: int = 0) -> list[Root]:
    """Parse the documents of a YAML stream; if the parsers disagree, the pure one decides.

    `lines` is the number of lines left out before the text, to add to line numbers in messages.

    Raises:
        SyntaxFaultError: if no parser can read the text.
    """
    masks = _choose_masks(text)
    roots = _read_yaml(text.translate(masks) if masks else text, lines)
    if masks:
        originals = {ord(mask): old for old, mask in masks.items()}
        for root in roots:
            for node in walk_nodes(root.node):
                if type(node) is ScalarNode:
                    node.value = node.value.translate(originals)
    return roots


def _read_yaml(text: str, lines: int) -> list[Root]:
    try:
        if not may_have_aliases(text):
            try:
                return compose(text)
            except ComposerError:
                pass  # an alias without an anchor, or two anchors with the same name, which is allowed
        return compose_events(_watch(open_events(text), len(text)))
    except YAMLError as fault:  # libyaml rejects some valid YAML, with worse messages: the pure parser decides
        opened = _find_open_quote(text, fault)
    if opened is not None:
        try:
            _compose_pure(text[: opened + 1], lines)
        except SyntaxFaultError as shorter:
            if shorter.span.start == opened:  # otherwise the pure parser sees no quote there
                raise
    return _compose_pure(text, lines)


def _compose_pure(text: str, lines: int) -> list[Root]:
    return compose_events(_watch(_parse_pure(text, lines).__next__, len(text)))


def _find_open_quote(text: str, fault: YAMLError) -> int | None:
    """Return the offset of an unclosed quote, if every parser would read on to the end of the text to close it.

    Within quotes, parsers differ only over the meaning of backslashes in double quotes.
    """
    if not isinstance(fault, MarkedYAMLError) or fault.context_mark is None:
        return None
    if "quoted scalar" not in (fault.context or "") or "end of stream" not in (fault.problem or ""):
        return None
    start: int = fault.context_mark.index
    return None if text[start : start + 1] not in ("'", '"') or "\\" in text[start:] else start


def _watch(next_event: Callable[[], Any], size: int) -> Callable[[], Any]:
    return watch(next_event) if size > _LARGE else next_event


def has_old_line_ends(text: str) -> bool:
    """Return whether a text has characters that the parsers wrongly treat as line ends."""
    return not text.isascii() and any(old in text for old in _OLD_LINE_ENDS)


def _choose_masks(text: str) -> dict[int, str]:
    """Choose for each old line end a character that the text does not contain, literally or as an escape."""
    found = [ord(old) for old in _OLD_LINE_ENDS if old in text] if has_old_line_ends(text) else []
    lower = text.lower() if found else ""
    unused = (chr(code) for code in _PRIVATE_USE if chr(code) not in lower and f"{code:x}" not in lower)
    return dict(zip(found, unused, strict=False))


def _parse_pure(text: str, lines: int) -> Iterator[Event]:
    from rubric_lint.text.pure_parser import parse  # noqa: PLC0415  (most files never need it)

    # Without this guard the pure scanner would end the text at a NUL.
    if (nul := text.find("\0")) >= 0:
        raise SyntaxFaultError("a NUL character is not allowed in YAML; is this a text file?", Span(nul, nul + 1))
    brackets: list[int] = []  # where the open collections begin, if with a bracket
    try:
        for event in parse(text):
            kind = type(event)
            if kind is ScalarEvent and event.style == '"':
                event.value = _join_surrogates(event.value, event.start_mark.index)
            elif kind is SequenceStartEvent or kind is MappingStartEvent:
                brackets.append(event.end_mark.index - 1)
            elif kind is SequenceEndEvent or kind is MappingEndEvent:
                brackets.pop()
            yield event
    except (
        AssertionError,
        ValueError,
    ):  # the scanner asserts versions, and calls chr() and int() with numbers of any size
        beyond = (found for found in re.finditer(_LONG_ESCAPE, text) if int(found[1], 16) > sys.maxunicode)
        if escape := next(beyond, None):
            message = "this escape is beyond the last character, U+10FFFF"
            raise SyntaxFaultError(message, Span(*escape.span())) from None
        at = max(text.find("%YAML"), 0)
        raise SyntaxFaultError(
            "the version in this directive is not known; write `%YAML 1.2`", Span(at, at + 5)
        ) from None
    except MarkedYAMLError as fault:
        opened = [at for at in brackets if text[at : at + 1] in ("[", "{")]
        raise SyntaxFaultError(*describe_fault(fault, text, opened, lines)) from None
    except YAMLError as fault:
        at = min(getattr(fault, "position", 0), len(text) - 1)
        message = f"character U+{ord(text[at]):04X} is not allowed in YAML; write it as an escape in double quotes"
        raise SyntaxFaultError(message, Span(at, at + 1)) from None


_LONG_ESCAPE = r"\\U([0-9A-Fa-f]{8})"
_SURROGATE = "[\ud800-\udfff]"


def _join_surrogates(value: str, at: int) -> str:
    """Join characters that a double-quoted string writes as two escapes, as in JSON."""
    if not re.search(_SURROGATE, value):
        return value
    try:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        message = "an escape in this string is half a surrogate pair, not a character; write both halves or neither"
        raise SyntaxFaultError(message, Span(at, at + 1)) from None


# A string that is never closed is one token to the end of the text, so no quote is visited twice.
_JSON_PIECE = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]|[^\s,:\[\]{}"]++'


def open_json(text: str, start: int = 0, end: int | None = None, *, without: Collection[str] = ()) -> Callable[[], Any]:
    """Return a function that returns the next event of the JSON value (RFC 8259) in `text[start:end]`.

    The fields `without` are left out, with everything in them; their values may have `NaN` and nest deeper.

    Raises:
        SyntaxFaultError: at the first character that is not JSON.
    """
    import json  # noqa: PLC0415  (YAML files do without)

    end = len(text) if end is None else end
    tokens = every = list(re.compile(_JSON_PIECE, re.DOTALL).finditer(text, start, end))
    if without:
        tokens = list(_leave_out(every, frozenset(f'"{name}"' for name in without)))
    _check_depth(tokens)
    try:
        # The values come from the tokens; an int, though, may be too long for Python.
        json.loads(text[start:end], parse_constant=float if without else _refuse_constant, parse_int=float)
        constant = next((token for token in tokens if token[0] in _CONSTANTS), None) if without else None
    except json.JSONDecodeError as fault:
        raise _describe_json_fault(text, Span(start, end), start + fault.pos, fault.msg, every) from None
    except RecursionError:
        _check_depth(every)
        raise
    except _ConstantError as refused:
        constant = next(token for token in every if token[0].startswith(refused.name))
    if constant:
        name = next(name for name in _CONSTANTS if constant[0].startswith(name))
        raise SyntaxFaultError(f"`{name}` is not JSON; a number here must be finite", Span(*constant.span()))
    first, last = Mark(start), Mark(end)
    events = (_read_json_token(token, json.loads) for token in tokens)
    check_time()
    ends = (DocumentEndEvent(last, last), StreamEndEvent(last, last))
    next_event = chain([DocumentStartEvent(first, first)], events, ends).__next__
    return _watch(next_event, end - start)


# The messages of Python's reader, which depend on its version, and ours.
_JSON_WORDS = (
    ("Unterminated string", "this quote is never closed"),
    ("Invalid control character", "a control character inside a string; write it as an escape, such as \\n"),
    ("Invalid \\", "JSON has no such escape; write a backslash as two"),
    ("Expecting property name", "expected a field name in double quotes"),
    ("Expecting ':'", "expected a `:` between the field and its value"),
    ("Expecting ','", "expected a comma between items, or the closing bracket"),
    ("Extra data", "text after the end of the value"),
    ("Expecting value", "expected a value: a string in double quotes, a number, true, false, null, [ or {"),
)


def _describe_json_fault(
    text: str, within: Span, at: int, message: str, tokens: list[re.Match[str]]
) -> SyntaxFaultError:
    """Describe an error at `at`, reading only the text `within`, because every line of JSON Lines may have an error."""
    value, end = text[within.start : within.end], within.end
    if at >= within.start + len(value.rstrip()) and (bracket := _find_open_bracket(tokens)) is not None:
        return SyntaxFaultError(f"not JSON: this `{text[bracket]}` is never closed", Span(bracket, bracket + 1))
    before = within.start + len(value[: at - within.start].rstrip())
    comma = at if text[at : at + 1] == "," else before - 1
    if text[comma : comma + 1] == "," and text[comma + 1 : end].lstrip()[:1] in ("]", "}"):
        return SyntaxFaultError("not JSON: a comma after the last item; remove it", Span(comma, comma + 1))
    words = next((ours for theirs, ours in _JSON_WORDS if message.startswith(theirs)), "this does not belong here")
    if text[at : at + 1] in ("#", "/"):
        words = "JSON has no comments"
    at = min(at, max(end - 1, 0))
    return SyntaxFaultError(f"not JSON: {words}", Span(at, min(at + 1, end)))


def _find_open_bracket(tokens: list[re.Match[str]]) -> int | None:
    opened: list[int] = []
    for token in tokens:
        first = _first(token)
        if first in "[{":
            opened.append(token.start())
        elif first in "]}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _first(token: re.Match[str]) -> str:
    """Return the first character of a token, without copying a string that may have many megabytes."""
    return token.string[token.start()]


def _read_json_token(token: re.Match[str], loads: Any) -> Event:
    word, start, end = token[0], Mark(token.start()), Mark(token.end())
    match word[0]:
        case "{":
            return MappingStartEvent(None, None, True, start, end, flow_style=True)  # noqa: FBT003 (ruamel's order)
        case "[":
            return SequenceStartEvent(None, None, True, start, end, flow_style=True)  # noqa: FBT003
        case "}":
            return MappingEndEvent(start, end)
        case "]":
            return SequenceEndEvent(start, end)
        case '"':
            value = _join_surrogates(loads(word), start.index) if "\\" in word else word[1:-1]
            return ScalarEvent(None, None, (False, True), value, start, end, style='"')
        case _:
            return ScalarEvent(None, None, (True, False), word, start, end, style="")


_CONSTANTS = ("NaN", "Infinity", "-Infinity")


def _leave_out(tokens: Iterable[re.Match[str]], names: Collection[str]) -> Iterator[re.Match[str]]:
    """Yield the tokens without the fields of some names, which are written with their quotes."""
    opened: list[str] = []
    outside = -1  # the depth at which a field that is left out ends; -1 outside of one
    is_key = False
    for token in tokens:
        first = _first(token)
        if first in "[{":
            opened.append(first)
        elif first in "]}" and opened:
            opened.pop()
        if outside < 0 and is_key and first == '"' and token[0] in names:
            outside, is_key = len(opened), False
            continue
        if outside < 0:
            yield token
        elif len(opened) <= outside:
            outside = -1
        is_key = bool(opened) and opened[-1] == "{" and (first in "{]}" or not is_key)


def _check_depth(tokens: list[re.Match[str]]) -> None:
    depth = 0
    for token in tokens:
        first = _first(token)
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(token.start())
        elif first in "]}":
            depth -= 1


class _ConstantError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _refuse_constant(name: str) -> None:
    raise _ConstantError(name)
