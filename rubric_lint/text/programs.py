"""Read the literals of Python files and notebooks as one document: each by the name that it is assigned to."""

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.text.composer import compose_events
from rubric_lint.text.events import open_json
from rubric_lint.text.kinds import Kind
from rubric_lint.text.python_tree import Piece, find_comments, find_literals, find_start
from rubric_lint.text.source import Source, Span
from rubric_lint.text.tree import UNTAGGED, Mark, Root, SyntaxFaultError, Tree


def read_program(source: Source, kind: Kind) -> tuple[Tree, list[SyntaxFaultError]]:
    """Read a Python file or a notebook; return also the syntax errors of cells, because the others can be read.

    Raises:
        SyntaxFaultError: if the file as a whole cannot be read.
    """
    if kind is Kind.NOTEBOOK:
        return _read_notebook(source)
    piece = Piece(source.text, range(len(source.text)), range(1, len(source.text) + 1))
    root = _make_root(find_literals(piece), find_start(piece), len(source.text))
    return Tree(source, [Root(root, 0)], Kind.PYTHON, lambda: find_comments(piece)), []


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


def _read_notebook(source: Source) -> tuple[Tree, list[SyntaxFaultError]]:
    """Read the cells of a notebook (nbformat 4 or 3); each is parsed on its own."""
    (root,) = compose_events(open_json(source.text, without=_UNREAD))
    pieces, pairs, faults = list(_find_cells(source.text, root.node)), [], list[SyntaxFaultError]()
    for piece in pieces:
        try:
            pairs += find_literals(piece)
        except SyntaxFaultError:
            try:
                pairs += find_literals(piece._replace(text=_blank_magics(piece.text)))
            except SyntaxFaultError as fault:
                faults.append(fault)

    def find() -> Iterator[Span]:
        for piece in pieces:
            yield from find_comments(piece._replace(text=_blank_magics(piece.text)))

    start = find_start(pieces[0]) if pieces else len(source.text)
    made = _make_root(pairs, start, len(source.text))
    return Tree(source, [Root(made, 0)], Kind.NOTEBOOK, find), faults


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


_MAGIC = re.compile(r"^([ \t]*+(?:[\w.,\[\]][\w.,\[\] ]*=[ \t]*+)?)([%!?].*|[^#'\"\n]*\?)$", re.MULTILINE)


def _blank_magics(text: str) -> str:
    """Replace the lines that only IPython understands with `pass` or `None`, without moving anything else."""

    def blank(found: re.Match[str]) -> str:
        before, magic = found.groups()
        word = "None" if "=" in before else "pass"
        return before + (word.ljust(len(magic)) if len(magic) >= len(word) else " " * len(magic))

    return _MAGIC.sub(blank, text)
