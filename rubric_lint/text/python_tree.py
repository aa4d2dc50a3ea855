"""Read the literals of Python files and notebooks as one document: each under the name that it is assigned to.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.text.deadline import check_time
from rubric_lint.text.json_tree import read_json
from rubric_lint.text.source import Kind, Source, Span
from rubric_lint.text.tree import UNTAGGED, Mark, Root, SyntaxFaultError, Tree

CALL = "()"
"""The key of the function's name in the mapping of a call."""

COMPUTED = "computed"
"""The key of an expression that is not a literal, with the start of its source text as the value."""

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


class Piece(NamedTuple):
    """Python source, and where each of its characters begins and ends in the file."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def place(self, at: int) -> int:
        """Return where a character begins in the file; behind the last one, where that ends."""
        return self.starts[at] if at < len(self.text) else (self.ends[-1] if self.text else 0)


def parse(piece: Piece) -> ast.Module:
    """Parse Python source.

    Raises:
        SyntaxFaultError: if it is not valid for the Python that runs this.
    """
    whole = Span(piece.starts[0], piece.ends[-1]) if piece.text else Span(0, 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the author of the source sees those of Python itself
            return ast.parse(piece.text)
    except SyntaxError as fault:
        at = piece.place(_Places(piece).line_start(fault.lineno or 1) + max((fault.offset or 1) - 1, 0))
        message = f"not Python: {fault.msg}"
        raise SyntaxFaultError(message, Span(at, at + 1), within=whole) from None
    except (RecursionError, MemoryError):
        raise SyntaxFaultError("not read: it is nested too deep", whole, within=whole) from None
    except ValueError:
        raise SyntaxFaultError("not Python: it has a NUL character", whole, within=whole) from None


def find_literals(piece: Piece) -> list[tuple[Any, Any]]:
    """Return the outermost calls, dictionaries and lists of Python source: key nodes and value nodes.

    A key is the name to which the value is assigned, or that of the function that is called, after the names of the
    functions and classes around it.

    Raises:
        SyntaxFaultError: as `parse`.
    """
    module = parse(piece)
    try:
        reader = _Reader(piece)
        for statement in module.body:
            reader.read(statement, "")
            check_time()
    except RecursionError:
        whole = Span(piece.starts[0], piece.ends[-1])
        raise SyntaxFaultError("not read: it is nested too deep", whole, within=whole) from None
    return reader.found


def find_start(piece: Piece) -> int:
    """Return where the first statement begins; where the text ends if there is none."""
    found = re.match(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*", piece.text)
    return piece.place(found.end() if found else 0)


def find_comments(piece: Piece) -> Iterator[Span]:
    """Yield the comments of Python source, in order; up to the first error if there is one."""
    places = _Places(piece)
    try:
        for token in tokenize.generate_tokens(io.StringIO(piece.text).readline):
            if token.type == tokenize.COMMENT:
                start = places.line_start(token.start[0]) + token.start[1]
                yield Span(piece.starts[start], piece.ends[start + len(token.string) - 1])
    except (tokenize.TokenError, SyntaxError):
        return


class _Places:
    """Finds the places of nodes, whose columns count the bytes of UTF-8."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._lines = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", piece.text))]
        self._is_ascii = piece.text.isascii()
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
            end = self._lines[line] if line < len(self._lines) else len(self._piece.text)
            for found in _WIDE.finditer(self._piece.text, start, end):
                more.append(more[-1] + len(found[0].encode()) - 1)
                ends.append(found.end() - start + more[-1])
        ends, more = self._wide[line]
        return start + column - more[bisect_right(ends, column)]

    def span(self, node: Any) -> Span:
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )


class _Reader:
    """Makes nodes of expressions; `found` are the outermost ones that are literals."""

    def __init__(self, piece: Piece) -> None:
        self.found: list[tuple[Any, Any]] = []
        self._piece = piece
        self._places = _Places(piece)
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
            name, span = self._name(node.targets[0] if isinstance(node, ast.Assign) else node.target)
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
        return self._piece.text[span.start : min(span.end, span.start + _LONGEST)], span

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
            return self._scalar("null" if value is None else str(value).lower(), span)
        if isinstance(value, int) and abs(value) < 10**_MOST_DIGITS:
            return self._scalar(str(value), span)
        if isinstance(value, float):
            return self._scalar(repr(value) if isfinite(value) else ".inf", span)
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
            span = self._places.span(value if key is None else key)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and not _SURROGATE.search(key.value):
                name = key.value
            else:
                name = f"{_UNPACKED}{number}" if key is None else self._piece.text[span.start : span.end]
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
                found = _NAME.match(self._piece.text, start)
                key = self._scalar(keyword.arg, Span(start, found.end() if found else end), '"')
            pairs.append((key, self._make(keyword.value, scope)))
        return self._collection(MappingNode, pairs, self._places.span(node))

    def _make_computed(self, node: ast.AST, scope: str) -> Any:
        self._inner.extend((child, scope) for child in ast.iter_child_nodes(node))
        written, span = self._write(node)
        pair = (self._scalar(COMPUTED, span, '"'), self._scalar(written, span, '"'))
        return self._collection(MappingNode, [pair], span)

    def _scalar(self, value: str, span: Span, style: str | None = None) -> ScalarNode:
        start, end = self._marks(span)
        return ScalarNode(UNTAGGED, value, start, end, style=style)

    def _collection(self, kind: Any, value: list[Any], span: Span) -> Any:
        start, end = self._marks(span)
        return kind(UNTAGGED, value, start, end, flow_style=True)

    def _marks(self, span: Span) -> tuple[Mark, Mark]:
        start, end = span
        ends = self._piece.ends
        return Mark(self._piece.starts[start]), Mark(ends[end - 1] if end > start else self._piece.starts[start])


_HOLDERS = (ast.Call, ast.Dict, ast.List, ast.Tuple, ast.DictComp)
"""The expressions that hold others."""


def read_program(source: Source, kind: Kind) -> tuple[Tree, list[SyntaxFaultError]]:
    """Read a Python file or a notebook; return also the syntax errors of cells, because the others can be read.

    Raises:
        SyntaxFaultError: if the file as a whole cannot be read.
    """
    pieces, pairs, faults = _list_pieces(source, kind), [], list[SyntaxFaultError]()
    for piece in pieces:
        try:
            pairs += find_literals(piece)
        except SyntaxFaultError:
            if kind is Kind.PYTHON:
                raise
            try:
                pairs += find_literals(piece._replace(text=_blank_magics(piece.text)))
            except SyntaxFaultError as fault:
                faults.append(fault)

    def find() -> Iterator[Span]:
        for piece in pieces:
            is_cell = kind is Kind.NOTEBOOK
            yield from find_comments(piece._replace(text=_blank_magics(piece.text)) if is_cell else piece)

    start = find_start(pieces[0]) if pieces else len(source.text)
    return Tree(source, [Root(_make_root(pairs, start, len(source.text)), 0)], kind, find), faults


def _list_pieces(source: Source, kind: Kind) -> list[Piece]:
    """Return a Python file as one piece, or the cells of a notebook (nbformat 4 or 3), each to be parsed on its own."""
    if kind is Kind.NOTEBOOK:
        return list(_find_cells(source.text, read_json(source.text, without=_UNREAD).node))
    return [Piece(source.text, range(len(source.text)), range(1, len(source.text) + 1))]


def find_texts(source: Source, kind: Kind) -> Iterator[tuple[str, str, int]]:
    """Yield the strings of a Python file or a notebook: the variable of each or nothing, its text, and where it begins.

    The parts of an f-string between its placeholders are strings. Cells with syntax errors are left out.
    """
    for piece in _list_pieces(source, kind):
        with suppress(SyntaxFaultError):
            try:
                module = parse(piece)
            except SyntaxFaultError:
                module = parse(piece._replace(text=_blank_magics(piece.text)))
            places, names = _Places(piece), dict[int, str]()
            for node in ast.walk(module):
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    name = target.id if isinstance(target, ast.Name) else ""
                    names |= {id(each): name for each in ast.walk(node.value)}
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _SURROGATE.search(node.value):
                    start = places.offset(node.lineno, node.col_offset)
                    yield names.get(id(node), ""), node.value, piece.starts[start]


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


_UNREAD = ("outputs", "metadata", "attachments")
"""The fields of notebooks without sources; Jupyter writes what is no JSON into them."""


def _find_cells(text: str, root: Any) -> Iterator[Piece]:
    sheets = [root, *_items(_field(root, "worksheets"))]  # of nbformat 3
    for cell in (cell for sheet in sheets for cell in _items(_field(sheet, "cells"))):
        kind = _field(cell, "cell_type")
        if type(kind) is not ScalarNode or kind.value != "code":
            continue
        written = _field(cell, "source") or _field(cell, "input")
        lines = [written] if type(written) is ScalarNode else _items(written)
        if all(type(line) is ScalarNode and line.style for line in lines):
            piece = _join(text, lines)
            if piece.text.strip():
                yield piece


def _field(node: Any, name: str) -> Any:
    if type(node) is not MappingNode:
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _items(node: Any) -> list[Any]:
    return node.value if type(node) is SequenceNode else []


_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)


def _join(text: str, lines: list[Any]) -> Piece:
    """Join the strings of a cell; each character keeps its place in the file, where it may be an escape."""
    starts: list[int] = []
    ends: list[int] = []
    for line in lines:
        first, last = line.start_mark.index + 1, line.end_mark.index - 1
        if last - first == len(line.value):  # no escapes
            starts += range(first, last)
            ends += range(first + 1, last + 1)
        else:
            for found in _CHARACTER.finditer(text, first, last):
                starts.append(found.start())
                ends.append(found.end())
    return Piece("".join(line.value for line in lines), starts, ends)


_MAGIC = re.compile(r"^([ \t]*+(?:[\w.,\[\]][\w.,\[\] ]*=[ \t]*+)?)([%!?].*|[^\s#'\"]*\?)$", re.MULTILINE)


def _blank_magics(text: str) -> str:
    """Replace the lines that only IPython understands with `pass` or `None`, without moving anything else."""

    def blank(found: re.Match[str]) -> str:
        before, magic = found.groups()
        word = "None" if "=" in before else "pass"
        return before + (word.ljust(len(magic)) if len(magic) >= len(word) else " " * len(magic))

    return _MAGIC.sub(blank, text)
