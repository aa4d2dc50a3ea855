"""Read the literals of a Python file as one document: each under the name that it is assigned to.

Nothing is run. A call is a mapping from its keywords to their values, with its function under `CALL`; other expressions
are mappings whose only key is `COMPUTED`.
"""

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.source.deadline import check_time
from rubric_lint.source.source import Kind, Source, Span
from rubric_lint.source.tree import CALL, UNTAGGED, Mark, Root, SyntaxFaultError, Tree

COMPUTED = "computed"
"""The key of an expression that is not a literal, with the start of its source text as the value."""

NOT_LITERAL = "a part of this rubric is computed when the program runs; write literal values"
"""What is reported of a rubric that is not a literal."""

_LONGEST = 60  # characters of such a text
_NAME = re.compile(r"\w+")
_MOST_DIGITS = 4000
_WIDE = re.compile(r"[^\x00-\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


_UNPACKED = "**"
"""The start of the key of what `**` puts into a call or a dictionary."""


def has_unpacked(value: Mapping[str, Any]) -> bool:
    """Return whether `**` puts computed fields into a call or a dictionary."""
    return any(key.startswith(_UNPACKED) for key in value)


def _parse(text: str) -> ast.Module:
    """Parse Python source.

    Raises:
        SyntaxFaultError: if it is not valid for the Python that runs this.
    """
    whole = Span(0, len(text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the author of the source sees those of Python itself
            return ast.parse(text)
    except SyntaxError as fault:
        at = min(_SourcePlaces(text).line_start(fault.lineno or 1) + max((fault.offset or 1) - 1, 0), len(text))
        message = f"not Python: {fault.msg}"
        raise SyntaxFaultError(message, Span(at, at + 1)) from None
    except (RecursionError, MemoryError):
        raise SyntaxFaultError("not read: it is nested too deep", whole) from None
    except ValueError:
        raise SyntaxFaultError("not Python: it has a NUL character", whole) from None


def _find_comments(text: str) -> Iterator[Span]:
    """Yield the comments of Python source, in order; up to the first error if there is one."""
    places = _SourcePlaces(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                start = places.line_start(token.start[0]) + token.start[1]
                yield Span(start, start + len(token.string))
    except (tokenize.TokenError, SyntaxError):
        return


class _SourcePlaces:
    """Finds the places of nodes, whose columns count the bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
        self._is_ascii = text.isascii()
        self._wide: dict[int, tuple[list[int], list[int]]] = {}

    def line_start(self, line: int) -> int:
        """Return the offset of a 1-based line in the source."""
        return self._lines[min(line, len(self._lines)) - 1]

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the source of a 1-based line and a column in bytes."""
        start = self.line_start(line)
        if self._is_ascii:
            return start + column
        if line not in self._wide:
            # Where each character of several bytes ends, and how many more bytes than characters so many of them have.
            ends, more = self._wide[line] = list[int](), [0]
            end = self._lines[line] if line < len(self._lines) else len(self._text)
            for found in _WIDE.finditer(self._text, start, end):
                more.append(more[-1] + len(found[0].encode()) - 1)
                ends.append(found.end() - start + more[-1])
        ends, more = self._wide[line]
        return start + column - more[bisect_right(ends, column)]

    def span(self, node: Any) -> Span:
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )


class _LiteralReader:
    """Makes nodes of expressions; `found` are the outermost ones that are literals."""

    def __init__(self, text: str) -> None:
        self.found: list[tuple[Any, Any]] = []
        self._text = text
        self._places = _SourcePlaces(text)
        self._inner: deque[tuple[ast.AST, str]] = deque()  # expressions inside computed ones, to be read on their own
        self._makers: dict[type, Callable[[Any, str], Any]] = {
            ast.Constant: self._make_constant,
            ast.Call: self._make_call,
            ast.Dict: self._make_dictionary,
            ast.List: self._make_list,
            ast.Tuple: self._make_list,
            ast.BinOp: self._make_sum,
            ast.UnaryOp: self._make_signed,
            ast.JoinedStr: self._make_joined,
        }

    def read(self, node: ast.AST, scope: str) -> None:
        self._read(node, scope)
        while self._inner:
            self._read(*self._inner.popleft())

    def _read(self, node: ast.AST, scope: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}{node.name}."
        value: Any
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and type(node.value) in _HOLDERS:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name, span = self._name(target)
            value = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            # A part of another value, under the text of the target.
            name, span = self._write(node.targets[0])
            value = node.value
        elif type(node) in _HOLDERS:
            name, span = self._name(node)
            value = node
        else:
            for child in ast.iter_child_nodes(node):
                self._read(child, scope)
            return
        self.found.append((self._scalar(scope + name, span, '"'), self._make(value, scope)))

    def _write(self, node: Any) -> tuple[str, Span]:
        """Return the start of the source text of an expression, and its place."""
        span = self._places.span(node)
        return self._text[span.start : min(span.end, span.start + _LONGEST)], span

    def _name(self, node: Any) -> tuple[str, Span]:
        """Return the name of what is assigned or called, and its place."""
        match node:
            case ast.Call():
                return self._name(node.func)
            case ast.Name():
                return node.id, self._places.span(node)
            case ast.Attribute():
                start, end = self._places.span(node)
                return node.attr, Span(max(end - len(node.attr), start), end)
            case ast.Subscript(slice=ast.Constant(value=str() as key)):
                return key, self._places.span(node)
        start, _ = self._places.span(node)
        return "literal", Span(start, start + 1)

    def _make(self, node: Any, scope: str) -> Any:
        maker: Callable[[Any, str], Any] = self._makers.get(type(node), self._make_computed)
        return maker(node, scope)

    def _make_constant(self, node: ast.Constant, scope: str) -> Any:
        value, span = node.value, self._places.span(node)
        if isinstance(value, str):
            return self._make_text(value, node, scope)
        if value is None or isinstance(value, bool):
            text = "null" if value is None else str(value).lower()
            return self._scalar(text, span)
        if isinstance(value, int) and abs(value) < 10**_MOST_DIGITS:
            return self._scalar(str(value), span)
        if isinstance(value, float):
            text = repr(value) if isfinite(value) else ".inf"
            return self._scalar(text, span)
        return self._make_computed(node, scope)

    def _make_signed(self, node: ast.UnaryOp, scope: str) -> Any:
        number = node.operand
        if isinstance(node.op, ast.USub) and isinstance(number, ast.Constant) and type(number.value) in (int, float):
            made = self._make_constant(number, scope)
            if type(made) is ScalarNode:
                return self._scalar(f"-{made.value}", self._places.span(node))
        return self._make_computed(node, scope)

    def _make_joined(self, node: ast.JoinedStr, scope: str) -> Any:
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if len(parts) < len(node.values):
            return self._make_computed(node, scope)
        return self._make_text("".join(map(str, parts)), node, scope)

    def _make_text(self, value: str, node: ast.expr, scope: str) -> Any:
        """Return a string; one with half a surrogate pair cannot be encoded, so it counts as computed."""
        if not value.isascii() and _SURROGATE.search(value):
            return self._make_computed(node, scope)
        return self._scalar(value, self._places.span(node), '"')

    def _make_sum(self, node: ast.BinOp, scope: str) -> Any:
        """Return the string that `+` joins of others."""
        parts: list[str] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            if not (isinstance(left.right, ast.Constant) and isinstance(left.right.value, str)):
                return self._make_computed(node, scope)
            parts.append(left.right.value)
            left = left.left
        if not (isinstance(left, ast.Constant) and isinstance(left.value, str)):
            return self._make_computed(node, scope)
        return self._make_text("".join([left.value, *reversed(parts)]), node, scope)

    def _make_list(self, node: ast.List | ast.Tuple, scope: str) -> Any:
        items = [self._make(item, scope) for item in node.elts]
        return self._collection(SequenceNode, items, self._places.span(node))

    def _make_dictionary(self, node: ast.Dict, scope: str) -> Any:
        pairs = []
        for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            named = value if key is None else key
            span = self._places.span(named)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and not _SURROGATE.search(key.value):
                name = key.value
            else:
                name = f"{_UNPACKED}{number}" if key is None else self._text[span.start : span.end]
            pairs.append((self._scalar(name, span, '"'), self._make(value, scope)))
        return self._collection(MappingNode, pairs, self._places.span(node))

    def _make_call(self, node: ast.Call, scope: str) -> Any:
        name, span = self._name(node)
        if not isinstance(node.func, ast.Name):  # a rubric may be in the call that returns the function
            self._inner.append((node.func, scope))
        pairs = [(self._scalar(CALL, span, '"'), self._scalar(name, span, '"'))]
        for number, value in enumerate(node.args):
            pairs.append((self._scalar(str(number), self._places.span(value), '"'), self._make(value, scope)))
        for number, keyword in enumerate(node.keywords):
            start, end = self._places.span(keyword)
            if keyword.arg is None:
                key = self._scalar(f"{_UNPACKED}{number}", Span(start, end), '"')
            else:
                found = _NAME.match(self._text, start)
                name_end = found.end() if found else end
                key = self._scalar(keyword.arg, Span(start, name_end), '"')
            pairs.append((key, self._make(keyword.value, scope)))
        return self._collection(MappingNode, pairs, self._places.span(node))

    def _make_computed(self, node: ast.AST, scope: str) -> Any:
        self._inner.extend((child, scope) for child in ast.iter_child_nodes(node))
        written, span = self._write(node)
        pair = (self._scalar(COMPUTED, span, '"'), self._scalar(written, span, '"'))
        return self._collection(MappingNode, [pair], span)

    def _scalar(self, value: str, span: Span, style: str | None = None) -> ScalarNode:
        return ScalarNode(UNTAGGED, value, Mark(span.start), Mark(span.end), style=style)

    def _collection(self, kind: Any, value: list[Any], span: Span) -> Any:
        return kind(UNTAGGED, value, Mark(span.start), Mark(span.end), flow_style=True)


_HOLDERS = (ast.Call, ast.Dict, ast.List, ast.Tuple, ast.DictComp)
"""The expressions that hold others."""


_HEAD = re.compile(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*")
"""The lines before the first statement."""


def read_program(source: Source) -> Tree:
    """Read the outermost calls, dictionaries and lists of a Python file.

    A key is the name to which the value is assigned, or that of the function that is called, after the names of the
    functions and classes around it.

    Raises:
        SyntaxFaultError: if it cannot be read.
    """
    text = source.text
    reader = _LiteralReader(text)
    try:
        for statement in _parse(text).body:
            reader.read(statement, "")
            check_time()
    except RecursionError:
        raise SyntaxFaultError("not read: it is nested too deep", Span(0, len(text))) from None
    head = _HEAD.match(text)
    start = head.end() if head else 0
    root = _make_root(reader.found, start, len(text))
    return Tree(source, [Root(root, 0)], Kind.PYTHON, lambda: _find_comments(text))


def find_texts(source: Source) -> Iterator[tuple[str, str, int]]:
    """Yield the strings of a Python file: the variable of each or nothing, its text, and where it begins.

    The parts of an f-string between its placeholders are strings. A file with syntax errors has none.
    """
    with suppress(SyntaxFaultError):
        module = _parse(source.text)
        places, names = _SourcePlaces(source.text), dict[int, str]()
        for node in ast.walk(module):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = target.id if isinstance(target, ast.Name) else ""
                names |= dict.fromkeys(map(id, ast.walk(node.value)), name)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _SURROGATE.search(node.value):
                yield names.get(id(node), ""), node.value, places.offset(node.lineno, node.col_offset)


def _make_root(pairs: list[tuple[Any, Any]], start: int, end: int) -> MappingNode:
    """Return the mapping of all literals; a name that comes again gets a number."""
    last: dict[str, int] = {}  # the highest number that each name has got
    for key, _ in pairs:
        name = key.value
        while key.value in last:
            last[name] += 1
            key.value = f"{name}#{last[name]}"
        last[key.value] = 1
    return MappingNode(UNTAGGED, pairs, Mark(start), Mark(max(start, end)), flow_style=True)
