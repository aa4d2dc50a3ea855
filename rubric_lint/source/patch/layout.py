"""Find which part of a text each field and item of a collection owns: its comments, key, value and what follows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.source.document import Document
from rubric_lint.source.lines import LINE, line_end, skip_blanks, skip_blanks_back
from rubric_lint.source.patch.tracked import Origin
from rubric_lint.source.path import Path
from rubric_lint.source.source import Span
from rubric_lint.source.tree import AliasNode, is_merge, keeps_blank_lines, node_start, scalar_end, walk_nodes

_COLON = re.compile(r"\s*:")
_PROPERTIES = re.compile(r"(?:[ \t]*[&!][^\s,\[\]{}]*)+")
_BLANKS = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_NOWHERE = Span(0, 0)


@dataclass(slots=True, eq=False)
class LayoutEntry:
    """A field or item of a collection, and its text, as offsets in the order of the text.

    In a block, `first` is where the blank lines above it begin, `lead` the comments above it, `start` its key or dash;
    `code` is where the colon or dash ends, with the `properties` of a block collection after it, `value` where its
    value begins, which for a block collection is a line, and `stop` where it ends. `comment` is the rest of the line
    after a value, or after the key of a block collection; `below` is where the comment lines begin that are indented
    more, and `end` where they end.
    Between brackets there is only `start` to `stop`. Its further lines are indented as `column` is.
    `owner` identifies the collection; `is_copy` says that it is a copy, which has no comments.
    """

    owner: Any
    step: str | int
    key: Any
    node: Any
    column: int
    is_flow: bool = False
    first: int = 0
    lead: int = 0
    start: int = 0
    code: int = 0
    properties: Span = _NOWHERE
    comment: Span = _NOWHERE
    value: int = 0
    stop: int = 0
    below: int = 0
    end: int = 0
    is_copy: bool = False

    @property
    def target(self) -> Any:
        """The node of the value; of an alias, the node that it repeats."""
        return self.node.target if self.is_alias else self.node

    @property
    def is_alias(self) -> bool:
        """Whether its value is written as an alias."""
        return type(self.node) is AliasNode

    @property
    def has_lines(self) -> bool:
        """Whether its value is a collection that is written over lines of its own."""
        return is_block(self.node)


@dataclass(slots=True, eq=False)
class Layout:
    """A collection as it was read: its entries, and their indentation.

    `unusual` says why the entries cannot be rearranged, if so. `is_inline` says that its block begins on the line of a
    dash, and `gap` is what separates the entries of a block, if all are separated by blank lines. Of some items of a
    list, `whole` is the layout of the list.
    """

    node: Any
    column: int
    start: int
    end: int = 0
    is_flow: bool = False
    is_inline: bool = False
    entries: list[LayoutEntry] = field(default_factory=list)
    by_step: dict[str | int, LayoutEntry] = field(default_factory=dict)
    unusual: str = ""
    gap: str = ""
    origin: Origin | None = None
    whole: "Layout | None" = None

    @property
    def is_list(self) -> bool:
        """Whether the collection is a list."""
        return type(self.node) is SequenceNode

    @property
    def home(self) -> Any:
        """What identifies the collection."""
        return self.node if self.origin is None else self.origin.home

    @property
    def path(self) -> Path:
        """Where the collection was read."""
        return () if self.origin is None else self.origin.path

    @property
    def is_part(self) -> bool:
        """Whether some items of the list are left out."""
        return self.whole is not None and len(self.entries) < len(self.whole.entries)

    def value(self, entry: LayoutEntry) -> Any:
        """Return the value of an entry, as it was tracked."""
        return None if self.origin is None else self.origin.values[entry.step]

    def add(self, entry: LayoutEntry) -> None:
        """Add the next entry."""
        if entry.key is not None and is_merge(entry.key, entry.node):
            self.unusual = "a merge key brings in some of it; write it out"
        elif entry.step in self.by_step:
            self.unusual = f"`{entry.step}` is written twice; remove one"
        self.by_step[entry.step] = entry
        self.entries.append(entry)


def is_block(node: Any) -> bool:
    """Return whether a node is a collection that is written over lines of its own."""
    return (type(node) is MappingNode or type(node) is SequenceNode) and not node.flow_style and bool(node.value)


def _format_unusual(step: str | int) -> str:
    return f"the key `{step}` is not written as `{step}: value`; write it so"


class Layouts:
    """The layouts of the collections of a document, each made once it is needed."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._text = document.source.text
        self._known: dict[Any, Layout] = {}
        self._ends: dict[Any, int] = {}
        self.style: Any = None

    def of(self, node: Any) -> Layout:
        """Return the layout of a collection."""
        if node not in self._known:
            self._known[node] = self._read_block(node) if is_block(node) else self._read_flow(node)
        return self._known[node]

    def of_tracked(self, origin: Origin) -> Layout:
        """Return the layout of a collection that is tracked: of those of its items that are, or of a copy."""
        whole = self.of(origin.node)
        layout = replace(whole, origin=origin)
        if origin.home is not origin.node:
            layout.whole, entries = whole, whole.entries
            if layout.is_list:
                entries = entries[origin.offset : origin.offset + len(origin.values)]
            steps = [entry.step - origin.offset if isinstance(entry.step, int) else entry.step for entry in entries]
            changed = [
                replace(entry, owner=origin.home, step=step, is_copy=origin.is_copy)
                for entry, step in zip(entries, steps, strict=True)
            ]
            layout.entries, layout.by_step = changed, dict(zip(steps, changed, strict=True))
            if layout.is_part:
                layout.start = entries[0].start if layout.is_flow else entries[0].first
                layout.end = entries[-1].stop if layout.is_flow else entries[-1].end
        return layout

    @cached_property
    def anchors(self) -> list[tuple[int, Any, bool]]:
        """The offsets of the aliases, and of the anchors that they repeat, with their nodes, and whether it is one."""
        nodes = list(walk_nodes(self.document.root)) if self.document.has_aliases else []
        aliases = [node for node in nodes if type(node) is AliasNode]
        targets = {node.target for node in aliases}
        found = [(node.start_mark.index, node.target, True) for node in aliases]
        found += [(node.start_mark.index, node, False) for node in nodes if node in targets]
        return sorted(found, key=itemgetter(0))

    def keeps_blank_lines(self, node: Any) -> bool:
        """Return whether a value ends with a text block that all blank lines below it are part of."""
        while is_block(node):
            node = node.value[-1][1] if type(node) is MappingNode else node.value[-1]
        return keeps_blank_lines(self._text, node)

    def indentation(self, at: int) -> int:
        """Return the number of blanks at the start of the line of an offset."""
        start = self.line_start(at)
        return min(skip_blanks(self._text, start), at) - start

    def line_start(self, at: int) -> int:
        """Return where the line of an offset begins; searching backward would take long where a text is one line."""
        return at - self.document.source.position(at).column + 1

    def column_of(self, node: Any) -> int:
        """Return the column of the entries of a block collection."""
        start = node_start(self._text, node)
        return start - self.line_start(start)

    def _children(self, node: Any) -> Iterator[tuple[str | int, Any, Any]]:
        if type(node) is SequenceNode:
            yield from ((index, None, item) for index, item in enumerate(node.value))
        else:
            yield from ((self.document.name_key(key), key, value) for key, value in node.value)

    def _read_flow(self, node: Any) -> Layout:
        start = node_start(self._text, node)
        layout = Layout(node, self.indentation(start), start, node.end_mark.index, is_flow=True)
        if self._text[start : start + 1] not in ("[", "{"):
            layout.unusual = "it is written without brackets; add them"
        for step, key, value in self._children(node):
            first = value if key is None else key
            begin = first.start_mark.index
            entry = LayoutEntry(node, step, key, value, self.indentation(begin), is_flow=True)
            entry.first = entry.lead = entry.start = entry.code = begin
            if key is not None:
                colon = _COLON.match(self._text, key.end_mark.index)
                entry.code = key.end_mark.index if colon is None else colon.end()
                if colon is None or not self._is_usual(key):
                    layout.unusual = _format_unusual(step)
            is_empty = value.start_mark.index >= value.end_mark.index
            entry.value = entry.code if is_empty else value.start_mark.index
            entry.stop = entry.below = entry.end = max(value.end_mark.index, entry.value)
            entry.comment = Span(entry.stop, entry.stop)
            layout.add(entry)
        return layout

    def _is_usual(self, key: Any) -> bool:
        """Return whether a key is a scalar on one line, without an anchor or a tag."""
        written = self._text[key.start_mark.index : key.end_mark.index]
        is_plain = written[:1] not in ("&", "!", "?", "|", ">", "")
        return type(key) is ScalarNode and is_plain and "\n" not in written and "\r" not in written

    def _read_block(self, node: Any) -> Layout:
        text, start = self._text, node_start(self._text, node)
        layout = Layout(node, start - self.line_start(start), start)
        is_inline = layout.is_inline = bool(text[self.line_start(start) : start].strip(" "))
        end = start if is_inline else self._find_top(node, start)
        for step, key, value in self._children(node):
            entry = LayoutEntry(node, step, key, value, layout.column, first=end)
            if layout.entries:
                entry.start = self._skip(end) if key is None else key.start_mark.index
            else:
                entry.start = start
            is_alone = not text[self.line_start(entry.start) : entry.start].strip(" ")
            entry.lead = self._skip_blank_lines(end, entry.start) if is_alone else end
            if not is_alone and (layout.entries or not is_inline):
                is_explicit = key is not None and text[end : entry.start].strip().endswith("?")
                shares_line = "one of its entries shares a line with another"
                layout.unusual = _format_unusual(step) if is_explicit else shares_line
            layout.unusual = layout.unusual or self._find_unusual(entry)
            self._find_value(entry)
            layout.add(entry)
            end = entry.end
        layout.start, layout.end = layout.entries[0].first, end
        gaps = [text[entry.first : entry.lead] for entry in layout.entries[1:]]
        layout.gap = gaps[0] if gaps and all(gaps) else ""
        return layout

    def _find_unusual(self, entry: LayoutEntry) -> str:
        if entry.key is None:
            is_dash = self._text[entry.start : entry.start + 1] == "-"
            return "" if is_dash else "an item does not begin with a dash; put it behind one"
        is_usual = self._is_usual(entry.key) and entry.start == entry.key.start_mark.index
        is_usual = is_usual and _COLON.match(self._text, entry.key.end_mark.index) is not None
        return "" if is_usual else _format_unusual(entry.step)

    def _find_top(self, node: Any, start: int) -> int:
        """Return where the lines of a block collection begin, below the line of the key or dash that it belongs to."""
        if node is self.document.root:  # the comments above may be about the whole document
            return self.line_start(start)
        head = skip_blanks_back(self.document.tree.code, start, " \t\r\n")
        return line_end(self._text, head).end

    def _skip(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return found.end() if found else at

    def _skip_blank_lines(self, at: int, limit: int) -> int:
        """Return the start of the first line after the blank ones."""
        while at < limit:
            line = LINE.match(self._text, at)
            if line is None or line[0].strip() or line.end() > limit:
                break
            at = line.end()
        return at

    def _find_value(self, entry: LayoutEntry) -> None:
        text, node = self._text, entry.node
        entry.code = max(self._end_of_colon(entry.key), entry.start + 1)
        entry.stop, entry.below, entry.end = self._find_end(node, entry.column, entry.code)
        if not entry.has_lines:
            is_empty = node.start_mark.index >= node.end_mark.index
            entry.value = entry.code if is_empty else node.start_mark.index
            entry.comment = Span(entry.stop, line_end(text, entry.stop).start)
            return
        start = node_start(text, node)
        properties = _PROPERTIES.match(text, entry.code) if node.start_mark.index < start else None
        if properties:
            entry.properties = Span(*properties.span())
            entry.code = properties.end()
        line = line_end(text, entry.code)
        is_inline = start < line.end
        entry.value = start if is_inline else line.end
        comment_start = entry.code if is_inline else line.start
        entry.comment = Span(entry.code, comment_start)

    def _find_end(self, node: Any, column: int, code: int) -> tuple[int, int, int]:
        """Return where a value ends, where what is below it begins, and the end of the comments that belong to it."""
        text = self._text
        if is_block(node):
            stop = below = self._end_of(node)
        else:
            stop = scalar_end(text, node) if type(node) is ScalarNode else node.end_mark.index
            stop = max(stop, code)
            below = line_end(text, stop).end
            if self.keeps_blank_lines(node):
                return stop, below, self._skip_comments(self._skip_blank_lines(below, len(text)), column)
        return stop, below, self._skip_comments(below, column)

    def _end_of(self, node: Any) -> int:
        """Return where the lines of a block collection end."""
        if node not in self._ends:
            start, last = node_start(self._text, node), node.value[-1]
            key, value = last if type(last) is tuple else (None, last)
            code = max(self._end_of_colon(key), value.start_mark.index)
            self._ends[node] = self._find_end(value, start - self.line_start(start), code)[2]
        return self._ends[node]

    def _end_of_colon(self, key: Any) -> int:
        """Return where the colon after a key ends; 0 without a key or a colon."""
        colon = None if key is None else _COLON.match(self._text, key.end_mark.index)
        return colon.end() if colon else 0

    def _skip_comments(self, at: int, column: int) -> int:
        """Return where the comment lines end that follow and are indented more than a column."""
        end = at
        for line in LINE.finditer(self._text, at):
            content = line[0].lstrip(" ")
            if content.strip():
                if content[0] != "#" or len(line[0]) - len(content) <= column:
                    break
                end = line.end()
        return end
