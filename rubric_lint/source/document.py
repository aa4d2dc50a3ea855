"""Represent one document: its node tree, its plain data, and the place of each key and value."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from decimal import Decimal
from functools import cached_property, reduce
from operator import getitem
from typing import Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.source.path import Part, Path, pointer
from rubric_lint.source.scalar import Ambiguity, read_plain
from rubric_lint.source.source import Kind, Span
from rubric_lint.source.tree import (
    BLOCK_STYLES,
    MERGE,
    UNTAGGED,
    AliasNode,
    NodeReader,
    Root,
    Tree,
    has_anchor,
    is_merge,
    node_end,
    node_start,
    walk_mappings,
)

_DASH = re.compile(r"-(?:[ \t]+[&!]\S*)*[ \t]*\Z")


class DuplicateKey(NamedTuple):
    """A duplicate key: the mapping and its path, the key, both places, and the overridden value."""

    mapping: MappingNode
    owner: Path
    key: str
    first: Span
    second: Span
    shadowed: Any


class Child:
    """A value in a collection: the node of the collection where it is written, its key if any, and its own node.

    `site` is the alias in its place, if any; `node` is then the node that the alias repeats.
    """

    __slots__ = ("_children", "key", "node", "owner", "site")

    def __init__(self, owner: Any, key: Any, node: Any) -> None:
        self.owner = owner
        self.key = key
        self.site: Any = node if type(node) is AliasNode else None
        self.node: Any = node if self.site is None else node.target
        self._children: dict[str | int, Child] | None = None

    def children(self, reader: NodeReader) -> "dict[str | int, Child]":
        """Return the children of a collection by key or index."""
        if self._children is None:
            self._children = _find_children(reader, self.node)
        return self._children


class Document:
    """One document: plain dict, list, str, number, bool and None, whose keys are always strings, as they are written.

    An alias is the same object as its anchor's value, so an error in it has one place, at the definition. Merge keys
    (`<<`) are merged. `number` is the document's index in its file, or None if it is the only one. `part` says what
    another file needs this one for, if whoever reads it knows one.
    """

    def __init__(self, tree: Tree, root: Root) -> None:
        self.tree = tree
        self.source = tree.source
        self.number: int | None = None
        self.part = ""
        self.root = root.node
        self.has_aliases = root.has_aliases
        self._before = root.before
        self._reader = NodeReader(tree.source, has_aliases=root.has_aliases)
        self._children: dict[Path, Child] = {(): Child(None, None, root.node)}  # children by path, once requested

    @property
    def kind(self) -> Kind:
        """The kind of text that it is written in."""
        return self.tree.kind

    @cached_property
    def data(self) -> Any:
        """The whole document as plain data."""
        return self._reader.read(self.root)

    def _read(self) -> NodeReader:
        """Read the data, if they were not yet, and return the reader with what it noticed."""
        _ = self.data
        return self._reader

    @cached_property
    def mappings(self) -> tuple[tuple[Path, dict[str, Any]], ...]:
        """Every mapping of the data once, in order, with the path that leads there first."""
        return tuple(walk_mappings(self.data))

    def with_last_paths(self) -> "Document":
        """Return the same document whose `mappings` have the paths that lead to them last: where aliases are used."""
        return self.with_mappings(reversed(list(walk_mappings(self.data, is_backward=True))))

    def with_mappings(self, mappings: Iterable[tuple[Path, dict[str, Any]]]) -> "Document":
        """Return the same document with other `mappings`."""
        other = copy(self)
        other.mappings = tuple(mappings)
        return other

    def with_own_data(self) -> "Document":
        """Return the same document with a copy of the data, which may be changed."""
        other = copy(self)
        for name in ("data", "mappings", "duplicates"):
            vars(other).pop(name, None)
        other._reader = NodeReader(self.source, has_aliases=self.has_aliases)
        return other

    def with_data(self, data: Any) -> "Document":
        """Return the same document with other data."""
        other = copy(self)
        other.data = data
        return other

    def pointer(self, path: Path) -> str:
        """Return the JSON Pointer of a path, which begins with the document's number if the file has several."""
        own_path = path if self.number is None else (self.number, *path)
        return pointer(own_path)

    @property
    def quick_text(self) -> str:
        """A text that has all of the document in it: the file's, unless that may hold thousands of documents."""
        return self.source.text if self.number is None else self.written_at(())

    def mentions(self, word: str) -> bool:
        """Return whether `quick_text` has a word; looked up once, as a document may hold thousands of rubrics."""
        found = self._mentioned.get(word)
        if found is None:
            found = self._mentioned[word] = word in self.quick_text
        return found

    @cached_property
    def _mentioned(self) -> dict[str, bool]:
        return {}

    @cached_property
    def preamble(self) -> Span:
        """What precedes the content: comments, directives, the `---`."""
        start = len(self.source.text) if self.root is None else node_start(self.source.text, self.root)
        return Span(self._before, max(start, self._before))

    @cached_property
    def duplicates(self) -> tuple[DuplicateKey, ...]:
        """The keys that are written twice in one mapping."""
        return tuple(
            DuplicateKey(node, self.paths.get(node, ()), key, self._node_span(first), self._node_span(second), shadowed)
            for node, key, first, second, shadowed in self._read().repeated
        )

    @cached_property
    def paths(self) -> dict[Any, Path]:
        """The path at which each collection is met first, by its node."""
        found: dict[Any, Path] = {self.root: ()}
        for path, child in self._walk(()):
            if type(child.node) is not ScalarNode:
                found.setdefault(child.node, path)
        return found

    def child(self, path: Path) -> Child:
        """Find the node that is written at `path`, with its owner, its key and its alias.

        Raises:
            KeyError: if nothing is.
        """
        found = self._children.get(path)
        if found is None:
            holder, step = self.child(path[:-1]), path[-1]
            node = holder.node
            if type(node) is SequenceNode:
                if type(step) is int and step < len(node.value):
                    found = Child(node, None, node.value[step])
            elif type(node) is MappingNode and step != MERGE and len(node.value) < _FEW:
                for key, value in reversed(node.value):  # the last one of duplicate keys counts
                    if type(key) is not ScalarNode:
                        break  # its resolved value may be the same name
                    if key.value == step:
                        found = Child(node, key, value)
                        break
            found = self._children[path] = found or holder.children(self._reader)[step]
        return found

    def children(self, child: Child) -> dict[str | int, Child]:
        """Return the children of a collection by key or index, with those that merge keys bring in."""
        return child.children(self._reader)

    def name_key(self, key: Any) -> str:
        """Return the text of a key node, as the data have it."""
        return self._reader.name_key(key)

    @property
    def merging(self) -> Mapping[Any, dict[str, Any]]:
        """The mappings into which merge keys bring fields, as they are in the data, by their nodes."""
        return self._read().merging

    def value(self, path: Path) -> Any:
        """Return the value at `path`."""
        return reduce(getitem, path, self.data)

    def span(self, path: Path, part: Part = Part.VALUE) -> Span:
        """Return the span of a part of the node at `path`; for a value that is not written out, its key or its dash."""
        child = self.child(path)
        if not path:
            return self._head(child) if part is Part.HEAD else self._node_span(self.root)
        if part is Part.KEY and child.key is not None:
            return self._node_span(child.key)
        if part is Part.ENTRY and child.site is not None:
            return self._node_span(child.site)
        start, end = self._node_span(child.node)
        if start == end:
            if child.key is not None:
                return self._node_span(child.key)
            # A list item with only an anchor or a tag: its dash.
            text = self.source.text
            found = _DASH.search(text, text.rfind("\n", 0, start) + 1, start)
            return Span(found.start(), found.start() + 1) if found else Span(start, start)
        return self._head(child) if part in (Part.HEAD, Part.ENTRY) else Span(start, end)

    def nearest_span(self, path: Path, part: Part = Part.VALUE) -> Span:
        """Return the span of a part of the node at `path`, or of the innermost node around it that is there."""
        while path:
            with suppress(KeyError, IndexError, AttributeError):
                return self.span(path, part)
            path = path[:-1]
        return self.span((), part)

    def _node_span(self, node: Any) -> Span:
        """Return the place of a node without its anchor and tag, or of an alias."""
        text, kind = self.source.text, type(node)
        if node is None:
            return Span(len(text), len(text))
        start = node.start_mark.index
        if kind is AliasNode or (
            kind is ScalarNode and node.style not in BLOCK_STYLES and text[start : start + 1] not in ("&", "!")
        ):
            return Span(start, node.end_mark.index)
        start = node_start(text, node)
        return Span(start, max(start, node_end(text, node)))

    def key_start(self, child: Child) -> int:
        """Return where the key of a field begins."""
        return self._node_span(child.key).start

    def _head(self, child: Child) -> Span:
        span = self._node_span(child.node)
        fields = child.children(self._reader) if type(child.node) is MappingNode else {}
        if fields:
            first = self._node_span(next(iter(fields.values())).key)
            # A merged key is written elsewhere: use the whole entry.
            if span.start <= first.start < span.end:
                return first
        return span

    def _walk(self, within: Path) -> Iterator[tuple[Path, Child]]:
        """Yield every child below `within` once, level by level within each collection, in document order."""
        stack: list[tuple[Path, Child]] = [(within, self.child(within))]
        seen: set[Any] = set()
        while stack:
            path, owner = stack.pop()
            node = owner.node
            if node is None or type(node) is ScalarNode or node in seen:
                continue
            seen.add(node)
            children = [((*path, step), child) for step, child in owner.children(self._reader).items()]
            yield from children
            stack.extend(reversed(children))

    def entries(self) -> Iterator[tuple[Path, Span]]:
        """Yield every field and list item, with its extent, in document order."""
        for path, child in self._walk(()):
            yield path, self._extent(child)

    @cached_property
    def extents(self) -> dict[Path, Span]:
        """The extent of every field and list item, in document order."""
        return dict(self.entries())

    def _extent(self, child: Child) -> Span:
        if child.key is None:
            return self._node_span(child.node) if child.site is None else self._node_span(child.site)
        start, end = self._node_span(child.key)
        value_end = child.site.end_mark.index if child.site else self._node_span(child.node).end
        return Span(start, max(end, value_end))

    def extent(self, path: Path) -> Span:
        """Return the span from the start of a field's key to the end of its value, or of the alias in its place."""
        return self._extent(self.child(path))

    def find_path(self, at: int) -> Path:
        """Return the path of the innermost field or item around an offset, or of the last one before it on its line."""
        found: Path = ()
        for path, (start, end) in self.entries():
            is_around = start <= at < end
            is_before = end <= at and "\n" not in self.source.text[end:at]
            if is_around or is_before:
                found = path
        return found

    def siblings(self, path: Path) -> list[Span]:
        """Return the extents of the other fields of the mapping in which the field at `path` is written, in order."""
        child = self.child(path)
        fields = _find_children(self._reader, child.owner).items()
        return sorted(self._extent(other) for step, other in fields if step != path[-1] and other.owner is child.owner)

    @property
    def may_borrow(self) -> bool:
        """Whether there are aliases or merge keys, so that something may be written elsewhere."""
        return self.has_aliases or bool(self._reader.merging)

    @property
    def has_exact_numbers(self) -> bool:
        """Whether each number that was read gives back the decimal that is written."""
        return not self._reader.has_long_decimals

    def is_shared(self, path: Path) -> bool:
        """Return whether the value at `path` is an alias, or a scalar with an anchor that aliases may repeat."""
        child = self.child(path)
        return child.site is not None or (type(child.node) is ScalarNode and has_anchor(self.source.text, child.node))

    def is_flow(self, path: Path) -> bool:
        """Return whether the field at `path` is written in flow style, between brackets."""
        return bool(self.child(path).owner.flow_style)

    def is_alias(self, path: Path) -> bool:
        """Return whether the value at `path` is written as an alias."""
        return self.has_aliases and self.child(path).site is not None

    def is_merged(self, path: Path) -> bool:
        """Return whether a merge key brings the field at `path` in."""
        return bool(self.merging) and self.child(path).owner is not self.child(path[:-1]).node

    def merged_fields(self, path: Path) -> Iterator[tuple[str | int, Any]]:
        """Yield the keys that merge keys bring into the mapping at `path`, each with the node where it is written."""
        child = self.child(path)
        if child.node in self.merging:
            for step, field in child.children(self._reader).items():
                if field.owner is not child.node:
                    yield step, field.owner

    def shadowed(self, path: Path) -> Child | None:
        """Return the field of a merge key that the one at `path` overrides where it is written."""
        owner = self.child(path).owner
        if not self.merging or type(owner) is not MappingNode:
            return None
        _, bases = _split(self._reader, owner)
        found = (_find_children(self._reader, base).get(path[-1]) for base in bases)
        return next(filter(None, found), None)

    def ambiguous_scalars(self, within: Path) -> Iterator[tuple[Path, Ambiguity]]:
        """Yield the plain scalars below `within` that readers of YAML 1.1 and 1.2 take differently."""
        if self.kind is not Kind.YAML or not self._read().is_ambiguous:
            return
        for path, child in self._walk(within):
            node = child.node
            if type(node) is ScalarNode and not node.style and node.ctag is UNTAGGED and child.site is None:
                ambiguity = read_plain(node.value)[1]
                if ambiguity is not None and self.source.text[node.start_mark.index] not in "&!":
                    yield path, ambiguity

    def written_at(self, path: Path) -> str:
        """Return the source text of the value at `path`, at its definition."""
        return self.source.slice(self.span(path))

    def decimal(self, path: Path) -> Decimal:
        """Return the finite number at `path` exactly as it is written."""
        value = self.value(path)
        if type(value) is int or not self._reader.has_long_decimals:
            return Decimal(str(value))
        return Decimal(self.child(path).node.value)


def _split(reader: NodeReader, node: Any) -> tuple[dict[str | int, Child], list[Any]]:
    """Return the fields that are written in a mapping, and the mappings that its merge keys name."""
    fields: dict[str | int, Child] = {}
    bases: list[Any] = []
    for key, value in node.value:
        if is_merge(key, value):
            target = value.target if type(value) is AliasNode else value
            bases += target.value if type(target) is SequenceNode else [target]
        else:
            fields[reader.name_key(key)] = Child(node, key, value)
    return fields, [base.target if type(base) is AliasNode else base for base in bases]


def _find_children(reader: NodeReader, node: Any) -> dict[str | int, Child]:
    """Return the children of a collection, with those that merge keys bring in, also into the mappings they name."""
    if type(node) is SequenceNode:
        return {index: Child(node, None, item) for index, item in enumerate(node.value)}
    own, bases = _split(reader, node)
    if not bases:
        return own
    known = reader.inherited
    pending = [node]
    while pending:  # no recursion: each of thousands may merge the one above it
        fields, bases = _split(reader, pending[-1])
        missing = [base for base in bases if base not in known]
        if missing:
            pending += missing
            continue
        for base in bases:
            for step, child in known[base].items():
                fields.setdefault(step, child)
        known[pending.pop()] = fields
    return known[node]


_FEW = 30
"""The number of fields from which a search for each would take longer than to find them all once."""
