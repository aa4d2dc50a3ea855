"""Events to documents: plain data and its places, in one pass and without recursion."""

import gc
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from rubric_lint.document import Children, Document, Duplicate, Place
from rubric_lint.events import MAX_DEPTH, SyntaxFaultError, open_c_parser, open_json, open_pure_parser, too_deep
from rubric_lint.scalar import SPECIAL_STARTS, Ambiguity, read_plain, resolve
from rubric_lint.source import Source, Span

MAX_ALIASED = 1_000_000
"""How many values the aliases of a document may stand for. An alias bomb stands for billions in a few lines."""


def read_documents(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """All documents of a file, by the suffix of its name, and the faults met; a faulty line of JSON Lines is one."""
    name = source.name.lower()
    was_enabled = gc.isenabled()
    gc.disable()  # nothing here is garbage until it is all read; collecting in between costs several times the reading
    try:
        if name.endswith(".jsonl"):
            return _read_lines(source)
        if name.endswith(".json"):
            return _number(_Builder(source).build(open_json(source.text))), []
        return _number(_read_yaml(source)), []
    except SyntaxFaultError as fault:
        return [], [fault]
    finally:
        if was_enabled:
            gc.enable()


def _read_yaml(source: Source) -> list[Document]:
    try:
        if next_event := open_c_parser(source.text):
            return _Builder(source).build(next_event)
    except YAMLError:
        pass  # libyaml refuses some good YAML, and words its refusals worse: the pure parser decides
    return _Builder(source).build(open_pure_parser(source.text))


def _read_lines(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    documents, faults = [], []
    for line in range(1, source.line_count + 1):
        start, end = source.line_span(line)
        if not source.text[start:end].strip():
            continue
        try:
            documents += _Builder(source).build(open_json(source.text, start, end))
        except SyntaxFaultError as fault:
            faults.append(fault)
    return _number(documents), faults


def _number(documents: list[Document]) -> list[Document]:
    if len(documents) < 2:
        return documents
    return [replace(document, number=number) for number, document in enumerate(documents)]


_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")
_BLOCK_STYLES = ("|", ">")
_RESOLVING_TAGS = (":int", ":float", ":bool", ":null")


class _Anchor(NamedTuple):
    value: Any
    place: Place
    size: int
    is_open: bool = False


class _Frame:
    """A mapping or sequence that is being read, with what is known of it so far."""

    __slots__ = (
        "aliased",
        "anchor",
        "children",
        "container",
        "is_flow",
        "is_merge",
        "key",
        "key_place",
        "merges",
        "start",
    )

    def __init__(self, container: Any, children: Children, start: int, *, is_flow: bool, anchor: str | None) -> None:
        self.container = container
        self.children = children
        self.start = start
        self.is_flow = is_flow
        self.anchor = anchor
        self.key: str | None = None
        self.key_place: tuple[int, int] = (start, start)
        self.is_merge = False
        self.merges: list[Any] | None = None
        self.aliased = 0


class _Builder:
    """Builds the documents of one stream."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.before = 0
        self._reset()

    def _reset(self) -> None:
        self.children: dict[int, Children] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.alias_sites: dict[tuple[int, str | int], Span] = {}
        self.ambiguous: dict[tuple[int, str | int], Ambiguity] = {}
        self.shared: set[tuple[int, str | int]] = set()
        self.owners: dict[tuple[int, str | int], int] = {}
        self.flow: set[int] = set()
        self.duplicates: list[Duplicate] = []
        self.root: Any = None
        self.root_place: Place = (self.before, self.before)

    def build(self, next_event: Callable[[], Any]) -> list[Document]:  # noqa: C901, PLR0912, PLR0915
        """All documents of a stream of events, which `next_event` returns one by one.

        One long function on purpose: it runs once an event, and calls and attributes would double its time.

        Raises:
            SyntaxFaultError: from the parser, or for an alias without an anchor, inside itself or too large.
        """
        text = self.source.text
        stack: list[_Frame | None] = []
        frame: _Frame | None = None
        container: Any = None  # the container of `frame`, and its places
        children: Any = None
        wants_key = False  # whether the next value is a key of a mapping
        end = 0  # where the last scalar, alias or bracket ended: block collections end with their last child
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                start, end = event.start_mark.index, event.end_mark.index
                value = event.value
                plain = event.implicit[0]
                ambiguity = None
                if event.anchor is not None or event.ctag is not None:
                    start, end, value = self._read_properties(event, frame, start, end, wants_key=wants_key)
                elif plain:
                    if value[:1] in SPECIAL_STARTS and not wants_key:
                        value, ambiguity = read_plain(value)
                elif event.style in _BLOCK_STYLES:  # these run on over the blank lines below
                    end = start + len(text[start:end].rstrip())
                if wants_key:
                    frame.key, frame.key_place = value, (start, end)  # type: ignore[union-attr]
                    wants_key = False
                    if value in container:
                        self._note_duplicate(frame)  # type: ignore[arg-type]
                    if value == "<<" and plain:
                        frame.is_merge = True  # type: ignore[union-attr]
                    continue
                if frame is None:
                    self.root, self.root_place = value, (start, end)
                elif frame.key is None:
                    if ambiguity is not None:
                        self.ambiguous[id(container), len(container)] = ambiguity
                    container.append(value)
                    children.append((start, end))
                else:
                    key = frame.key
                    if ambiguity is not None:
                        self.ambiguous[id(container), key] = ambiguity
                    container[key] = value
                    children[key] = (*frame.key_place, start, end)
                    frame.key, frame.is_merge = None, False
                    wants_key = True
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(stack) >= MAX_DEPTH:
                    raise too_deep(event.start_mark.index)
                stack.append(frame)
                wants_key = kind is MappingStartEvent
                container, children = ({}, {}) if wants_key else ([], [])
                self.children[id(container)] = children
                start = event.start_mark.index
                frame = _Frame(container, children, start, is_flow=event.flow_style, anchor=event.anchor)
                if event.anchor is not None:
                    self.anchors[event.anchor] = _Anchor(container, (start, start), 0, is_open=True)
                if event.flow_style:
                    end = event.end_mark.index
                    self.flow.add(id(container))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                closed: Any = frame
                if closed.is_flow:
                    end = event.end_mark.index
                frame = stack.pop()
                self._close(frame, closed, end)
                if frame is not None:
                    container, children = frame.container, frame.children
                    wants_key = type(container) is dict and frame.key is None
            elif kind is AliasEvent:
                start, end = event.start_mark.index, event.end_mark.index
                self._add_alias(frame, event.anchor, Span(start, end))
                wants_key = type(container) is dict and frame.key is None  # type: ignore[union-attr]
            elif kind is DocumentStartEvent:
                self._reset()
                wants_key = False
            elif kind is DocumentEndEvent:
                self._finish(event.end_mark.index)
            elif kind is StreamEndEvent:
                return self.documents

    def _read_properties(
        self, event: Any, frame: _Frame | None, start: int, end: int, *, wants_key: bool
    ) -> tuple[int, int, Any]:
        """The place of a scalar without the anchor and tag before it, and its value as they say."""
        text, value, plain = self.source.text, event.value, event.implicit[0]
        if event.style in _BLOCK_STYLES:
            end = start + len(text[start:end].rstrip())
        if properties := _PROPERTIES.match(text, start, end):
            start = properties.end()
        elif not event.style:
            start = end  # nothing but an anchor or a tag: the value is not written
        tag = event.tag
        if not wants_key and (plain or (tag is not None and tag.endswith(_RESOLVING_TAGS))):
            value = resolve(value)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, (start, end), 1)
            if frame is not None and not wants_key:
                self.shared.add((id(frame.container), _step(frame)))
        return start, end, value

    def _note_duplicate(self, frame: _Frame) -> None:
        """Keep what the key of `frame`, just read, is about to override."""
        key: Any = frame.key
        places: Any = frame.children
        first, second = Span(*places[key][:2]), Span(*frame.key_place)
        self.duplicates.append(Duplicate(frame.container, key, first, second, frame.container[key]))
        self.alias_sites.pop((id(frame.container), key), None)
        self.ambiguous.pop((id(frame.container), key), None)

    def _add(self, frame: _Frame | None, value: Any, place: Place) -> None:
        """Put a collection or the value of an alias where it belongs."""
        if frame is None:
            self.root, self.root_place = value, place
            return
        container: Any = frame.container
        children: Any = frame.children
        if type(container) is list:
            container.append(value)
            children.append(place)
            return
        if frame.key is None:  # a collection in the place of a key: its own text has to name it
            self._open_field(frame, self.source.text[place[0] : place[1]], place)
            return
        if frame.is_merge and _can_merge(value):
            frame.merges = [*(frame.merges or ()), value]
        else:
            container[frame.key] = value
            children[frame.key] = frame.key_place + place
        frame.key, frame.is_merge = None, False

    def _open_field(self, frame: _Frame, key: str, place: Place) -> None:
        frame.key, frame.key_place = key, (place[0], place[1])
        if key in frame.container:
            self._note_duplicate(frame)

    def _add_alias(self, frame: _Frame | None, name: str, site: Span) -> None:
        anchor = self.anchors.get(name)
        if anchor is None:
            raise SyntaxFaultError(f"alias `*{name}` has no anchor `&{name}` before it", site)
        if anchor.is_open:
            raise SyntaxFaultError(f"alias `*{name}` stands inside the value that it repeats", site)
        if frame is None:
            raise SyntaxFaultError(f"alias `*{name}` cannot be a whole document", site)
        if type(frame.container) is dict and frame.key is None:
            key = anchor.value if isinstance(anchor.value, str) else self.source.slice(site)
            self._open_field(frame, key, site)
            return
        frame.aliased += anchor.size
        if frame.aliased > MAX_ALIASED:
            raise SyntaxFaultError(f"the aliases up to `*{name}` stand for more than {MAX_ALIASED:,} values", site)
        if not (frame.is_merge and _can_merge(anchor.value)):
            self.alias_sites[id(frame.container), _step(frame)] = site
            self.shared.add((id(frame.container), _step(frame)))
        self._add(frame, anchor.value, anchor.place)

    def _close(self, parent: _Frame | None, closed: _Frame, end: int) -> None:
        if closed.merges:
            for merged in closed.merges:
                for base in merged if type(merged) is list else [merged]:
                    self._merge(closed, base)
        place = (closed.start, max(end, closed.start))
        if closed.anchor is not None:
            size = closed.aliased + len(closed.container) + 1
            self.anchors[closed.anchor] = _Anchor(closed.container, place, size)
        if parent is not None:
            parent.aliased += closed.aliased
        self._add(parent, closed.container, place)

    def _merge(self, frame: _Frame, base: dict[str, Any]) -> None:
        places: Any = self.children[id(base)]
        children: Any = frame.children
        for key, value in base.items():
            if key not in frame.container:
                frame.container[key] = value
                children[key] = places[key]
                self.owners[id(frame.container), key] = self.owners.get((id(base), key), id(base))
                tables: tuple[dict[Any, Any], ...] = (self.alias_sites, self.ambiguous)
                for table in tables:
                    if (id(base), key) in table:
                        table[id(frame.container), key] = table[id(base), key]

    def _finish(self, end: int) -> None:
        self.documents.append(
            Document(
                source=self.source,
                number=None,
                data=self.root,
                preamble=Span(self.before, max(self.root_place[-2], self.before)),
                duplicates=tuple(self.duplicates),
                _root=self.root_place,
                _children=self.children,
                _alias_sites=self.alias_sites,
                _ambiguous=self.ambiguous,
                _shared=self.shared,
                _owners=self.owners,
                _flow=self.flow,
            )
        )
        self.before = end


def _step(frame: _Frame) -> str | int:
    return len(frame.container) if type(frame.container) is list else frame.key or ""


def _can_merge(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(type(item) is dict for item in value)
    return type(value) is dict
