"""Events to plain data, with a side table that knows where every key and value stands."""

import gc
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from rubric_lint.events import MAX_DEPTH, RESTART, SyntaxFaultError, parse_json, parse_yaml, too_deep
from rubric_lint.finding import Part, Path
from rubric_lint.scalar import FIRST_OF_AMBIGUOUS, Ambiguity, find_ambiguity, resolve
from rubric_lint.source import Source, Span

MAX_ALIASED = 1_000_000
"""How many values the aliases of a document may stand for. An alias bomb stands for billions in a few lines."""


class Duplicate(NamedTuple):
    """A key that a mapping has twice: which mapping, which key, both places, and the value that was overridden."""

    mapping: dict[str, Any]
    key: str
    first: Span
    second: Span
    shadowed: Any


# Where a child stands: (key start, key end, value start, value end) in a mapping, without the key in a sequence.
_Place = tuple[int, ...]
_Children = dict[str, _Place] | list[_Place]


@dataclass(frozen=True)
class Document:
    """One document: plain dict, list, str, number, bool and None, whose keys are always texts, as they are written.

    An alias is the very object that its anchor names, so what is wrong in it has one place, at the definition. Merge
    keys (`<<`) are merged. `number` is the document's place in its file, None when it is alone there.
    """

    source: Source
    number: int | None
    data: Any
    preamble: Span
    duplicates: tuple[Duplicate, ...]
    _root: _Place
    _children: dict[int, _Children]
    _alias_sites: dict[tuple[int, str | int], Span]
    _ambiguous: dict[tuple[int, str | int], Ambiguity]
    _shared: set[tuple[int, str | int]]
    _owners: dict[tuple[int, str | int], int]
    _flow: set[int]

    def span(self, path: Path, part: Part = Part.VALUE) -> Span:
        """Where a part of the thing at `path` stands. For a value that is not written out: its key."""
        if not path:
            return self._head(self.data, self._root) if part is Part.HEAD else Span(*self._root[-2:])
        container = self._container(path)
        place = self._child(container, path[-1])
        if part is Part.KEY and len(place) == 4:
            return Span(place[0], place[1])
        if part is Part.ENTRY and (site := self._alias_sites.get((id(container), path[-1]))):
            return site
        if part in (Part.HEAD, Part.ENTRY):
            return self._head(container[path[-1]], place)  # type: ignore[index]
        start, end = place[-2:]
        return Span(start, end) if start < end or len(place) == 2 else Span(place[0], place[1])

    def _container(self, path: Path) -> dict[str, Any] | list[Any]:
        value = self.data
        for step in path[:-1]:
            value = value[step]
        return value  # type: ignore[no-any-return]

    def _child(self, container: dict[str, Any] | list[Any], step: str | int) -> _Place:
        return self._children[id(container)][step]  # type: ignore[index]

    def _head(self, value: Any, place: _Place) -> Span:
        if isinstance(value, dict) and value:
            own = self._children[id(value)]
            first = next(iter(own.values()))  # type: ignore[union-attr]
            # A merged key stands elsewhere: then the whole entry has to serve.
            if place[-2] <= first[0] < place[-1]:
                return Span(first[0], first[1])
        return Span(*place[-2:])

    def entries(self, within: Path = ()) -> Iterator[tuple[Path, Span]]:
        """Every field and list item below `within` that is written there, with its extent, in document order."""
        value = self.data
        for step in within:
            value = value[step]
        stack: list[tuple[Path, Any]] = [(within, value)]
        seen: set[int] = set()
        while stack:
            path, value = stack.pop()
            if not isinstance(value, dict | list) or id(value) in seen:
                continue
            seen.add(id(value))
            children = self._children[id(value)]
            steps = list(children) if isinstance(children, dict) else range(len(children))
            for step in steps:
                place = children[step]  # type: ignore[index]
                site = self._alias_sites.get((id(value), step))
                extent = site if site and len(place) == 2 else self._extent(id(value), step, place)
                yield (*path, step), extent
            stack.extend(((*path, step), value[step]) for step in reversed(steps))

    def is_shared(self, path: Path) -> bool:
        """Whether the value at `path` is an alias, or a scalar with an anchor that aliases elsewhere may repeat."""
        container = self._container(path)
        return bool({(id(container), path[-1]), (self._owner(path), path[-1])} & self._shared)

    def is_flow(self, path: Path) -> bool:
        """Whether the field at `path` is written in flow style, between brackets."""
        return self._owner(path) in self._flow

    def siblings(self, path: Path) -> list[Span]:
        """The extents of the other fields of the mapping in which the field at `path` is written, in order."""
        owner = self._owner(path)
        children: Any = self._children[owner]
        own = (step for step in children if step != path[-1] and (owner, step) not in self._owners)
        return sorted(self._extent(owner, step, children[step]) for step in own)

    def extent(self, path: Path) -> Span:
        """From the start of a field's key to the end of its value, or of the alias that stands for it."""
        owner = self._owner(path)
        return self._extent(owner, path[-1], self._children[owner][path[-1]])  # type: ignore[index]

    def _extent(self, owner: int, step: str | int, place: _Place) -> Span:
        site = self._alias_sites.get((owner, step))
        return Span(place[0], max(place[1], site.end if site else place[-1]))

    def _owner(self, path: Path) -> int:
        container = id(self._container(path))
        return self._owners.get((container, path[-1]), container)

    def ambiguous_scalars(self, within: Path) -> Iterator[tuple[Path, Ambiguity]]:
        """The plain scalars below `within` that readers of YAML 1.1 and 1.2 take differently."""
        if self._ambiguous:
            for path, _ in self.entries(within):
                if ambiguity := self._ambiguous.get((id(self._container(path)), path[-1])):
                    yield path, ambiguity

    def written_at(self, path: Path) -> str:
        """The source text of the value at `path`, at its definition."""
        return self.source.slice(self.span(path))

    def is_alias(self, container: dict[str, Any] | list[Any], step: str | int) -> bool:
        """Whether a child of a container of this document is written as an alias."""
        return (id(container), step) in self._alias_sites

    def written(self, container: dict[str, Any] | list[Any], step: str | int) -> str:
        """The source text of a child of a container of this document, at its definition."""
        place = self._child(container, step)
        return self.source.text[place[-2] : place[-1]]

    @cached_property
    def containers(self) -> dict[int, Path]:
        """The path at which each mapping and sequence is met first, by the identity of its object."""
        paths = {id(self.data): ()} if isinstance(self.data, dict | list) else {}
        for path, _ in self.entries():
            value = self._container(path)[path[-1]]  # type: ignore[index]
            if isinstance(value, dict | list):
                paths.setdefault(id(value), path)  # type: ignore[arg-type]
        return paths  # type: ignore[return-value]


def read_documents(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """All documents of a file, by the suffix of its name, and the faults met; a faulty line of JSON Lines is one."""
    name = source.name.lower()
    was_enabled = gc.isenabled()
    gc.disable()  # nothing here is garbage until it is all read; collecting in between costs several times the reading
    try:
        if name.endswith(".jsonl"):
            return _read_lines(source)
        events = parse_json(source.text) if name.endswith(".json") else parse_yaml(source.text)
        return _number(_Builder(source).build(events)), []
    except SyntaxFaultError as fault:
        return [], [fault]
    finally:
        if was_enabled:
            gc.enable()


def _read_lines(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    documents, faults = [], []
    for line in range(1, source.line_count + 1):
        start, end = source.line_span(line)
        if not source.text[start:end].strip():
            continue
        try:
            documents += _Builder(source).build(parse_json(source.text, start, end))
        except SyntaxFaultError as fault:
            faults.append(fault)
    return _number(documents), faults


def _number(documents: list[Document]) -> list[Document]:
    if len(documents) < 2:
        return documents
    return [replace(document, number=number) for number, document in enumerate(documents)]


_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")


class _Anchor(NamedTuple):
    value: Any
    place: _Place
    size: int
    is_open: bool = False


class _Frame:
    """A mapping or sequence that is being read."""

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

    def __init__(self, container: Any, children: _Children, start: int, *, is_flow: bool, anchor: str | None) -> None:
        self.container = container
        self.children = children
        self.start = start
        self.is_flow = is_flow
        self.anchor = anchor
        self.key: str | None = None
        self.key_place: tuple[int, int] = (start, start)
        self.is_merge = False
        self.merges: list[Any] = []
        self.aliased = 0


class _Builder:
    """Builds documents from events in one pass, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.before = 0
        self._reset()

    def _reset(self) -> None:
        self.frames: list[_Frame] = []
        self.children: dict[int, _Children] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.alias_sites: dict[tuple[int, str | int], Span] = {}
        self.ambiguous: dict[tuple[int, str | int], Ambiguity] = {}
        self.shared: set[tuple[int, str | int]] = set()
        self.owners: dict[tuple[int, str | int], int] = {}
        self.flow: set[int] = set()
        self.duplicates: list[Duplicate] = []
        self.root: Any = None
        self.root_place: _Place = (self.before, self.before)

    def build(self, events: Iterable[Event]) -> list[Document]:  # noqa: C901, PLR0912, PLR0915 (the hot loop: a call an event would cost a third of all time)
        """All documents of a stream of events.

        Raises:
            SyntaxFaultError: from the parser, or for an alias without an anchor, inside itself or too large.
        """
        text = self.source.text
        frame: _Frame | None = None
        end = 0  # where the last scalar, alias or bracket ended: block collections end with their last child
        event: Any  # each kind of event has attributes of its own
        for event in events:
            kind = type(event)
            if kind is ScalarEvent:
                start, end = event.start_mark.index, event.end_mark.index
                value = event.value
                plain = event.implicit[0]
                if event.style in ("|", ">"):
                    end = start + len(text[start:end].rstrip())
                anchor, tag = event.anchor, event.tag
                if anchor is not None or tag is not None:
                    if properties := _PROPERTIES.match(text, start, end):
                        start = properties.end()
                    elif plain:
                        start = end
                if frame is not None and frame.key is None and type(frame.container) is dict:
                    self._open_field(frame, value, start, end, is_merge=plain and value == "<<")
                    if anchor is not None:
                        self.anchors[anchor] = _Anchor(value, (start, end), 1)
                    continue
                ambiguity = None
                if plain or tag is not None:
                    if plain and value[:1] in FIRST_OF_AMBIGUOUS:
                        ambiguity = find_ambiguity(value)
                    value = resolve(value) if plain or tag.endswith((":int", ":float", ":bool", ":null")) else value
                if anchor is not None:
                    self.anchors[anchor] = _Anchor(value, (start, end), 1)
                    if frame is not None:
                        self.shared.add((id(frame.container), self._step(frame)))
                self._add(frame, value, (start, end), ambiguity)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(self.frames) >= MAX_DEPTH:
                    raise too_deep(event.start_mark.index)
                if frame is not None:
                    self.frames.append(frame)
                container: Any = {} if kind is MappingStartEvent else []
                children: _Children = {} if kind is MappingStartEvent else []
                self.children[id(container)] = children
                start = event.start_mark.index
                frame = _Frame(container, children, start, is_flow=event.flow_style, anchor=event.anchor)
                if event.anchor is not None:
                    self.anchors[event.anchor] = _Anchor(container, (start, start), 0, is_open=True)
                if event.flow_style:
                    end = event.end_mark.index
                    self.flow.add(id(container))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                assert frame is not None  # noqa: S101 (for the type checker: every end has its start)
                if frame.is_flow:
                    end = event.end_mark.index
                closed = frame
                frame = self.frames.pop() if self.frames else None
                self._close(frame, closed, end)
            elif kind is AliasEvent:
                start, end = event.start_mark.index, event.end_mark.index
                self._add_alias(frame, event.anchor, Span(start, end))
            elif kind is DocumentStartEvent:
                self._reset()
                frame = None
            elif kind is DocumentEndEvent:
                self._finish(event.end_mark.index)
            elif event is RESTART:
                self.documents.clear()
                self.before = 0
                frame = None
        return self.documents

    def _open_field(self, frame: _Frame, key: str, start: int, end: int, *, is_merge: bool) -> None:
        frame.key, frame.key_place, frame.is_merge = key, (start, end), is_merge
        if key in frame.container and not is_merge:
            first = frame.children[key]  # type: ignore[call-overload]
            shadowed = frame.container[key]
            self.duplicates.append(Duplicate(frame.container, key, Span(*first[:2]), Span(start, end), shadowed))
            self.alias_sites.pop((id(frame.container), key), None)
            self.ambiguous.pop((id(frame.container), key), None)

    def _add(self, frame: _Frame | None, value: Any, place: _Place, ambiguity: Ambiguity | None = None) -> None:
        if frame is None:
            self.root, self.root_place = value, place
            return
        container = frame.container
        if type(container) is list:
            if ambiguity is not None:
                self.ambiguous[id(container), len(container)] = ambiguity
            container.append(value)
            frame.children.append(place)  # type: ignore[union-attr]
            return
        key = frame.key
        if key is None:  # a collection in the place of a key: its own text has to name it
            self._open_field(frame, self.source.text[place[0] : place[1]], *place, is_merge=False)
            return
        frame.key = None
        if frame.is_merge and _can_merge(value):
            frame.merges.append(value)
            return
        if ambiguity is not None:
            self.ambiguous[id(container), key] = ambiguity
        container[key] = value
        frame.children[key] = frame.key_place + place  # type: ignore[call-overload]

    def _add_alias(self, frame: _Frame | None, name: str, site: Span) -> None:
        anchor = self.anchors.get(name)
        if anchor is None:
            raise SyntaxFaultError(f"alias `*{name}` has no anchor `&{name}` before it", site)
        if anchor.is_open:
            raise SyntaxFaultError(f"alias `*{name}` stands inside the value that it repeats", site)
        if frame is None:
            raise SyntaxFaultError(f"alias `*{name}` cannot be a whole document", site)
        container = frame.container
        is_key = type(container) is dict and frame.key is None
        if is_key:
            key = anchor.value if isinstance(anchor.value, str) else self.source.slice(site)
            self._open_field(frame, key, *site, is_merge=False)
            return
        frame.aliased += anchor.size
        if frame.aliased > MAX_ALIASED:
            raise SyntaxFaultError(f"the aliases up to `*{name}` stand for more than {MAX_ALIASED:,} values", site)
        if not (frame.is_merge and _can_merge(anchor.value)):
            self.alias_sites[id(container), self._step(frame)] = site
            self.shared.add((id(container), self._step(frame)))
        self._add(frame, anchor.value, anchor.place)

    def _step(self, frame: _Frame) -> str | int:
        return len(frame.container) if type(frame.container) is list else frame.key or ""

    def _close(self, parent: _Frame | None, closed: _Frame, end: int) -> None:
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
        places = self.children[id(base)]
        for key, value in base.items():
            if key not in frame.container:
                frame.container[key] = value
                frame.children[key] = places[key]  # type: ignore[call-overload]
                self.owners[id(frame.container), key] = self.owners.get((id(base), key), id(base))
                for table in (self.alias_sites, self.ambiguous):
                    if (id(base), key) in table:
                        table[id(frame.container), key] = table[id(base), key]  # type: ignore[index,assignment]

    def _finish(self, end: int) -> None:
        start = self.root_place[-2]
        self.documents.append(
            Document(
                source=self.source,
                number=None,
                data=self.root,
                preamble=Span(self.before, max(start, self.before)),
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


def _can_merge(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(type(item) is dict for item in value)
    return type(value) is dict
