"""The node trees of a text, whichever parser composed them, and the plain data in them.

All parsers produce the nodes of ruamel.yaml with their marks. An alias is a separate node, an `AliasNode`; the C parser
only composes texts without aliases. Plain data are dict, list, str, number, bool and None, by the core schema of YAML
1.2.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.tag import Tag

from rubric_lint.source.scalar import LONGEST_WORD, NON_SPECIFIC, PROPERTIES, SPECIAL_STARTS, read_plain, resolve
from rubric_lint.source.source import Kind, Source, Span
from rubric_lint.source.values import as_list

UNTAGGED = Tag(suffix="")
"""The tag of every node without an explicit tag."""

CALL = "()"
"""The key of the function's name in the mapping that stands for a call in a program."""

MAX_DEPTH = 250
"""The deepest nesting of values. A rubric needs fewer than ten levels; more is an accident or an attack."""

BLOCK_STYLES = ("|", ">")
"""The styles of scalars whose end mark is after the blank lines below them."""


class SyntaxFaultError(Exception):
    """A syntax error: text that cannot be parsed, with the place."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


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


_SURROGATE = "[\ud800-\udfff]"


def join_surrogates(value: str, at: int) -> str:
    """Join the characters that a string in double quotes, which begins `at` an offset, writes as two escapes.

    Raises:
        SyntaxFaultError: if one of the two is missing.
    """
    if not re.search(_SURROGATE, value):
        return value
    try:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        message = "an escape in this string is half a surrogate pair, not a character; write both halves or neither"
        raise SyntaxFaultError(message, Span(at, at + 1)) from None


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


def keeps_blank_lines(text: str, node: Any) -> bool:
    """Return whether a node is a text block with a `+`: all blank lines below it are part of it."""
    if type(node) is not ScalarNode or node.style not in BLOCK_STYLES:
        return False
    header = _LINE.match(text, node_start(text, node))
    return header is not None and "+" in header[0].partition("#")[0]


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
            for key, value in reversed(node.value):
                stack += (value, key)


_RESOLVING_TAGS = (":int", ":float", ":bool", ":null")
MERGE = "<<"


class NodeReader:
    """A reader of the nodes of one document as plain data. An alias is the same object as its anchor's value.

    `repeated` are the duplicate keys: the mapping, the key as text, both key nodes, and the overridden value.
    `is_ambiguous` says that YAML 1.1 readers read a scalar differently, `has_long_decimals` that a float may not equal
    the decimal as written. `merging` are the mappings with fields from merge keys, as data.
    """

    def __init__(self, source: Source, *, has_aliases: bool) -> None:
        self.text = source.text
        self.has_aliases = has_aliases
        self._may_be_tagged = source.may_be_tagged
        self.repeated: list[tuple[MappingNode, str, Any, Any, Any]] = []
        self.is_ambiguous = False
        self.has_long_decimals = False
        self.merging: dict[MappingNode, dict[str, Any]] = {}
        self.inherited: dict[Any, dict[str | int, Any]] = {}  # what merge keys bring in too, by mapping node
        self._made: dict[Any, Any] = {}  # collections by node, for aliases
        self._earlier: dict[Any, dict[Any, Any]] = {}  # keys by mapping node, for those that they repeat

    def read(self, node: Any) -> Any:
        """Return the value of a node; recursive, as trees are at most `MAX_DEPTH` deep."""
        return _READ_BY_TYPE[type(node)](self, node)

    def _read_alias(self, node: Any) -> Any:
        return self._made[node.target] if node.target in self._made else self.read(node.target)

    def _read_scalar(self, node: Any) -> Any:
        if node.ctag is not UNTAGGED:
            if not str(node.ctag).endswith(_RESOLVING_TAGS):
                return node.value
            self.has_long_decimals = True
            return resolve(node.value)
        value = node.value
        if node.style or value[:1] not in SPECIAL_STARTS or (len(value) > LONGEST_WORD and value > ":"):
            return value
        return self._read_special(node)

    def _read_sequence(self, node: Any) -> list[Any]:
        found = [_READ_BY_TYPE[type(child)](self, child) for child in node.value]
        if self.has_aliases:
            self._made[node] = found
        return found

    def _read_special(self, node: Any) -> Any:
        value, ambiguity = read_plain(node.value)
        if self._may_be_tagged and NON_SPECIFIC.match(self.text, node.start_mark.index):
            return node.value
        if ambiguity is not None:
            self.is_ambiguous = True
        if type(value) is float and str(value) != node.value:
            self.has_long_decimals = True
        return node.value if type(value) is str else value  # not the remembered string: only aliases share theirs

    def _read_mapping(self, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merges: list[Any] = []
        for key_node, child in node.value:
            key = key_node.value if type(key_node) is ScalarNode else self.name_key(key_node)
            # Most values are strings; a function call for each would double the time.
            if type(child) is ScalarNode and child.ctag is UNTAGGED:
                value = child.value
                if not child.style and value[:1] in SPECIAL_STARTS and (len(value) <= LONGEST_WORD or value < ":"):
                    value = self._read_special(child)
            else:
                value = _READ_BY_TYPE[type(child)](self, child)
                if key == MERGE and is_merge(key_node, child):
                    merges += value if type(value) is list else [value]
                    continue
            if key in found and not _names_merge(key_node):
                first = self._find_earlier(node).get(key_node, key_node)
                self.repeated.append((node, key, first, key_node, found[key]))
            found[key] = value
        if merges:
            self.merging[node] = found
            for base in merges:
                for key, value in base.items():
                    found.setdefault(key, value)
        if self.has_aliases:
            self._made[node] = found
        return found

    def _find_earlier(self, node: Any) -> dict[Any, Any]:
        """Return for each key of a mapping that repeats one the last one above it that it repeats."""
        if node not in self._earlier:
            last: dict[str, Any] = {}
            found = self._earlier[node] = dict[Any, Any]()
            for key, _ in node.value:
                name = self.name_key(key)
                if name in last:
                    found[key] = last[name]
                last[name] = key
        return self._earlier[node]

    def name_key(self, node: Any) -> str:
        """Return the text of a key: of a scalar, of the string behind an alias, or else its source text."""
        if type(node) is ScalarNode:
            return node.value  # type: ignore[no-any-return]
        if type(node) is AliasNode and type(node.target) is ScalarNode and type(self.read(node.target)) is str:
            return node.target.value  # type: ignore[no-any-return]
        start = node.start_mark.index if type(node) is AliasNode else node_start(self.text, node)
        return self.text[start : node_end(self.text, node)]


_READ_BY_TYPE: dict[type, Callable[[NodeReader, Any], Any]] = {
    ScalarNode: NodeReader._read_scalar,
    MappingNode: NodeReader._read_mapping,
    SequenceNode: NodeReader._read_sequence,
    AliasNode: NodeReader._read_alias,
    type(None): lambda _reader, _node: None,
}


def parts_of(value: Any) -> Collection[Any]:
    """Return the values of a mapping or the items of a list; of any other value, none."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def items_of(value: Any) -> Iterable[tuple[str | int, Any]]:
    """Return the parts of a mapping or a list, each with its key or its index; of any other value, none."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(as_list(value))


def walk_mappings(
    root: Any, without: Container[tuple[str | int, ...]] = (), *, is_backward: bool = False
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield every mapping of plain data once, in order, with the path that leads there first.

    What is at the paths `without` is left out; the caller may add to them on the way. With `is_backward`, what comes
    last in a mapping or list is first.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    seen: set[int] = set()  # aliases repeat the same object
    while stack:
        path, value = stack.pop()
        if id(value) in seen or path in without:
            continue
        seen.add(id(value))
        children: Iterable[tuple[str | int, Any]] = ()
        if type(value) is dict:
            yield path, value
            children = value.items()
        elif type(value) is list:
            children = enumerate(value)
        below = [((*path, step), child) for step, child in children if type(child) is dict or type(child) is list]
        stack += below if is_backward else reversed(below)


def _names_merge(key: Any) -> bool:
    """Return whether a key is a plain `<<`, which a mapping may have several times."""
    return type(key) is ScalarNode and key.value == MERGE and not key.style and key.ctag is UNTAGGED


def is_merge(key: Any, value: Any) -> bool:
    """Return whether a pair of nodes is a merge key: a plain `<<` with a mapping, or with a list of mappings."""
    if not _names_merge(key):
        return False
    value = value.target if type(value) is AliasNode else value
    if type(value) is SequenceNode:
        items = [item.target if type(item) is AliasNode else item for item in value.value]
        return bool(items) and all(type(item) is MappingNode for item in items)
    return type(value) is MappingNode
