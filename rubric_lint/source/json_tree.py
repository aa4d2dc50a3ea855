"""Read JSON (RFC 8259) to a node tree: `json` says whether it is valid, its tokens where everything is."""

import json
import re
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.source.deadline import check_time
from rubric_lint.source.source import Span
from rubric_lint.source.tree import MAX_DEPTH, UNTAGGED, Mark, Root, SyntaxFaultError, join_surrogates, too_deep

# A string that is never closed is one token to the end of the text, so no quote is visited twice.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]|[^\s,:\[\]{}"]++', re.DOTALL)

Token = re.Match[str]


def read_json(text: str, start: int = 0, end: int | None = None) -> Root:
    """Read the JSON value in `text[start:end]`.

    Raises:
        SyntaxFaultError: at the first character that is not JSON.
    """
    end = len(text) if end is None else end
    tokens = list(_TOKEN.finditer(text, start, end))
    _check_depth(tokens)
    try:
        # The values come from the tokens; an int, though, may be too long for Python.
        json.loads(text[start:end], parse_constant=_refuse_constant, parse_int=float)
    except json.JSONDecodeError as fault:
        raise _describe_fault(text, Span(start, end), start + fault.pos, fault.msg, tokens) from None
    except _ConstantError as refused:
        (name,) = refused.args
        constant = next(token for token in tokens if token[0].startswith(name))
        raise SyntaxFaultError(f"`{name}` is not JSON; a number here must be finite", Span(*constant.span())) from None
    check_time()
    return Root(_compose(tokens), start)


def _compose(tokens: list[Token]) -> Any:
    """Return the node of the value with these tokens, which are valid JSON."""
    node: Any = None  # the innermost collection that is open
    key: Any = None
    stack: list[tuple[Any, Any]] = []
    child: Any = None
    for count, token in enumerate(tokens):
        if not count & 1023:
            check_time()
        word, start, end = token[0], Mark(token.start()), Mark(token.end())
        first = word[0]
        if first in "[{":
            stack.append((node, key))
            kind = MappingNode if first == "{" else SequenceNode
            node, key = kind(UNTAGGED, [], start, end, flow_style=True), None
            continue
        if first in "]}":
            child = node
            child.end_mark = end
            node, key = stack.pop()
        elif first == '"':
            value = join_surrogates(json.loads(word), start.index) if "\\" in word else word[1:-1]
            child = ScalarNode(UNTAGGED, value, start, end, style='"')
        else:
            child = ScalarNode(UNTAGGED, word, start, end)
        if type(node) is SequenceNode:
            node.value.append(child)
        elif node is not None and key is None:
            key = child
        elif node is not None:
            node.value.append((key, child))
            key = None
    return child


# The messages of Python's reader, which depend on its version, and ours.
_WORDS = (
    ("Unterminated string", "this quote is never closed"),
    ("Invalid control character", "a control character inside a string; write it as an escape, such as \\n"),
    ("Invalid \\", "JSON has no such escape; write a backslash as two"),
    ("Expecting property name", "expected a field name in double quotes"),
    ("Expecting ':'", "expected a `:` between the field and its value"),
    ("Expecting ','", "expected a comma between items, or the closing bracket"),
    ("Extra data", "text after the end of the value"),
    ("Expecting value", "expected a value: a string in double quotes, a number, true, false, null, [ or {"),
)


def _describe_fault(text: str, within: Span, at: int, message: str, tokens: list[Token]) -> SyntaxFaultError:
    """Describe an error at `at`, reading only the text `within`, because every line of JSON Lines may have an error."""
    value, end = text[within.start : within.end], within.end
    if at >= within.start + len(value.rstrip()):
        opened: list[int] = []
        for token in tokens:
            first = _first(token)
            if first in "[{":
                opened.append(token.start())
            elif first in "]}" and opened:
                opened.pop()
        if opened:
            message = f"not JSON: this `{text[opened[-1]]}` is never closed"
            return SyntaxFaultError(message, Span(opened[-1], opened[-1] + 1))
    before = within.start + len(value[: at - within.start].rstrip())
    comma = at if text[at : at + 1] == "," else before - 1
    if text[comma : comma + 1] == "," and text[comma + 1 : end].lstrip()[:1] in ("]", "}"):
        return SyntaxFaultError("not JSON: a comma after the last item; remove it", Span(comma, comma + 1))
    words = next((ours for theirs, ours in _WORDS if message.startswith(theirs)), "this does not belong here")
    if text[at : at + 1] in ("#", "/"):
        words = "JSON has no comments"
    at = min(at, max(end - 1, 0))
    return SyntaxFaultError(f"not JSON: {words}", Span(at, min(at + 1, end)))


def _first(token: Token) -> str:
    """Return the first character of a token, without copying a string that may have many megabytes."""
    return token.string[token.start()]


def _check_depth(tokens: list[Token]) -> None:
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
    """A number that is not finite, by its name."""


def _refuse_constant(name: str) -> None:
    raise _ConstantError(name)
