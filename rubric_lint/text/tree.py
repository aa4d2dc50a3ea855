"""Represent the node trees of a text, whichever parser composed them.

All parsers produce the nodes of ruamel.yaml with their marks. An alias is a separate node, an `AliasNode`; the C parser
only composes texts without aliases.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.tag import Tag

from rubric_lint.text.kinds import Kind
from rubric_lint.text.scalar import PROPERTIES
from rubric_lint.text.source import Source, Span

UNTAGGED = Tag(suffix="")
"""The tag of every node without an explicit tag."""

MAX_DEPTH = 250
"""The deepest nesting of values. A rubric needs fewer than ten levels; more is an accident or an attack."""

BLOCK_STYLES = ("|", ">")
"""The styles of scalars whose end mark is after the blank lines below them."""


class SyntaxFaultError(Exception):
    """A syntax error: text that cannot be parsed, with the place; `within` is the part of the file that is not read."""

    def __init__(self, message: str, span: Span, within: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.within = within


class Mark:
    """A place in the text, in the form of the parsers' marks."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class AliasNode:
    """An alias: the node that it repeats, and the place of the alias itself."""

    __slots__ = ("end_mark", "start_mark", "target")

    def __init__(self, target: Node, start_mark: Any, end_mark: Any) -> None:
        self.target = target
        self.start_mark = start_mark
        self.end_mark = end_mark


class Root(NamedTuple):
    """The root node of a document (None without content), and the start of the text before it."""

    node: Any
    before: int
    has_aliases: bool = False


@dataclass(frozen=True)
class Tree:
    """The node trees of a text. `find_comments` finds the comments of a kind that has others than YAML."""

    source: Source
    roots: list[Root]
    kind: Kind = Kind.YAML
    find_comments: Callable[[], Iterable[Span]] | None = None

    @cached_property
    def head(self) -> str:
        """The text above the content of the first document."""
        root, text = self.roots[0], self.source.text
        return "" if root.node is None else text[root.before : max(root.before, node_start(text, root.node))]

    @cached_property
    def scalars(self) -> list[Span]:
        """The spans of scalars, without the header line of block scalars."""
        return list(self._find_scalars(""))

    def _find_scalars(self, sign: str) -> Iterator[Span]:
        """Yield the spans of the scalars that have a sign in their text."""
        text = self.source.text
        for root in self.roots:
            for node in walk_nodes(root.node):
                if type(node) is ScalarNode and sign in node.value:
                    start, end = node.start_mark.index, node.end_mark.index
                    if properties := PROPERTIES.match(text, start, end):
                        start = properties.end()
                    if node.style in BLOCK_STYLES:
                        header = _LINE.match(text, start, end)
                        start = header.end() if header else end
                    if start < end:
                        yield Span(start, end)

    @cached_property
    def comments(self) -> list[Span]:
        """The comments, in order."""
        text = self.source.text
        if self.kind.is_json or "#" not in text:
            return []
        if self.find_comments is not None:
            return list(self.find_comments())
        found, before = [], 0
        for start, end in [*self._find_scalars("#"), Span(len(text), len(text))]:  # in others, no `#` begins a comment
            found += [Span(*comment.span()) for comment in _COMMENT.finditer(text, before, start)]
            before = max(before, end)
        return found

    @cached_property
    def code(self) -> str:
        """The text with comments replaced by blanks."""
        text, pieces, before = self.source.text, [], 0
        if not self.comments:
            return text
        for start, end in self.comments:
            pieces += [text[before:start], " " * (end - start)]
            before = end
        return "".join([*pieces, text[before:]])


_COMMENT = re.compile(r"(?:(?<=[\s])|^)#[^\r\n]*", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]*")


def too_deep(at: int) -> SyntaxFaultError:
    """Return the error for a value that is nested below `MAX_DEPTH` others."""
    message = f"nested more than {MAX_DEPTH} levels deep; a rubric needs fewer than ten"
    return SyntaxFaultError(message, Span(at, at + 1))


_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s,\[\]{}]", re.MULTILINE)
_ALIAS = re.compile(r"(?:^|[\s\[{,:])\*[^\s,\[\]{}]", re.MULTILINE)


def may_have_aliases(text: str) -> bool:
    """Return whether a text may contain aliases."""
    return "&" in text and "*" in text and bool(_ANCHOR.search(text)) and bool(_ALIAS.search(text))


def node_start(text: str, node: Any) -> int:
    """Return where a node itself begins, after its anchor and tag."""
    start: int = node.start_mark.index
    if text[start : start + 1] not in ("&", "!"):
        return start
    kind = type(node)
    if kind is MappingNode and not node.flow_style and node.value and node.value[0][0].start_mark.index == start:
        return start  # the anchor or tag belongs to the first key
    if kind is ScalarNode:
        end = scalar_end(text, node)
        if found := PROPERTIES.match(text, start, end):
            return found.end()
        return start if node.style else end  # only an anchor or a tag: the value is not written
    found = PROPERTIES.match(text, start)
    return found.end() if found else start


def scalar_end(text: str, node: Any) -> int:
    """Return where a scalar ends, without the blank lines that parsers include in block scalars."""
    end: int = node.end_mark.index
    if node.style in BLOCK_STYLES:
        start: int = node.start_mark.index
        return start + len(text[start:end].rstrip())
    return end


def node_end(text: str, node: Any) -> int:
    """Return where a node ends: a block collection ends with its last child, not with the next token."""
    start: int = node.start_mark.index
    while type(node) is MappingNode or type(node) is SequenceNode:
        if node.flow_style or not node.value:
            return node.end_mark.index  # type: ignore[no-any-return]
        last = node.value[-1]
        node = last[1] if type(last) is tuple else last
    if type(node) is AliasNode:
        return node.end_mark.index  # type: ignore[no-any-return]
    return max(scalar_end(text, node), start)


def has_anchor(text: str, node: Any) -> bool:
    """Return whether an anchor is written before a scalar."""
    start = node.start_mark.index
    return _ANCHOR.search(text[start : node_start(text, node)]) is not None


def walk_nodes(root: Any) -> Iterator[Any]:
    """Yield every node of a tree once, in document order; the target of an alias appears where it is written."""
    stack = [root] if root is not None else []
    while stack:
        node = stack.pop()
        yield node
        kind = type(node)
        if kind is SequenceNode:
            stack.extend(reversed(node.value))
        elif kind is MappingNode:
            stack.extend(child for pair in reversed(node.value) for child in reversed(pair))
