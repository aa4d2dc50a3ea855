"""Events to documents: plain data and its places, in one pass and without recursion."""

from collections.abc import Callable
from typing import Any, NamedTuple

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
from rubric_lint.events import MAX_DEPTH, SyntaxFaultError, too_deep
from rubric_lint.scalar import PROPERTIES, SPECIAL_STARTS, Ambiguity, read_plain, resolve
from rubric_lint.source import Source, Span

MAX_ALIASED = 1_000_000
"""How many values the aliases of a document may stand for. An alias bomb stands for billions in a few lines."""


BLOCK_STYLES = ("|", ">")
"""How the scalars are written that run on over the blank lines below them."""
_RESOLVING_TAGS = (":int", ":float", ":bool", ":null")


_Child = tuple[int, str | int | None]
"""A child of a container: the identity of the container, and the key or index."""


class _Anchor(NamedTuple):
    value: Any
    place: Place
    size: int
    is_open: bool = False


# The key `<<` when it merges: told from a quoted "<<" by its identity.
_MERGE = "".join(("<", "<"))  # noqa: FLY002 (a literal would be the same object as any other)


class Builder:
    """Builds the documents of one stream; only plain scalars of YAML can be ambiguous, those of JSON are not."""

    def __init__(self, source: Source, start: int = 0, *, is_yaml: bool = True) -> None:
        self.source = source
        self.is_yaml = is_yaml
        self.documents: list[Document] = []
        self.before = start
        self._reset()

    def _reset(self) -> None:
        self.children: dict[int, Children] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.alias_sites: dict[_Child, Span] = {}
        self.ambiguous: dict[_Child, Ambiguity] = {}
        self.shared: set[_Child] = set()
        self.owners: dict[_Child, int] = {}
        self.flow: set[int] = set()
        self.duplicates: list[Duplicate] = []
        self.merges: dict[int, list[Any]] = {}
        self.aliased: dict[int, int] = {}  # how many values the aliases in a container stand for
        self.unreachable: list[Any] = []  # what the data does not hold: kept, so that no other object gets its identity
        self.root: Any = None
        self.root_place: Place = (self.before, self.before)

    def build(self, next_event: Callable[[], Any]) -> list[Document]:  # noqa: C901, PLR0912, PLR0915
        """All documents of a stream of events, which `next_event` returns one by one.

        One long function on purpose: it runs once an event, and calls and attributes would double its time. The local
        variables are the state of the innermost collection; `stack` holds those of the collections around it.

        Raises:
            SyntaxFaultError: from the parser, or for an alias without an anchor, inside itself or too large.
        """
        text = self.source.text
        stack: list[tuple[Any, ...]] = []
        container: Any = None  # None at the root
        children: Any = None  # the places of what it holds
        is_map = False
        key: str | None = None  # the key whose value comes next, with its place; None where a key comes next
        key_start = key_end = 0
        opened = 0  # where the collection begins
        anchor: str | None = None
        is_flow = False
        end = 0  # where the last scalar, alias or bracket ended: block collections end with their last child
        value: Any
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                start, end = event.start_mark.index, event.end_mark.index
                value = event.value
                is_key = is_map and key is None
                if event.anchor is not None or event.ctag is not None:
                    step = None if container is None or is_key else key if is_map else len(container)
                    start, end, value = self._read_properties(event, start, end, (id(container), step), is_key=is_key)
                elif event.style:
                    if event.style in BLOCK_STYLES:
                        end = end_of_block(text, start, end)
                elif is_key:
                    if value == "<<":
                        value = _MERGE
                elif value[:1] in SPECIAL_STARTS:
                    value, ambiguity = read_plain(value)
                    if ambiguity is not None and container is not None and self.is_yaml:
                        self.ambiguous[id(container), key if is_map else len(container)] = ambiguity
                if not is_map:
                    if container is None:
                        self.root, self.root_place = value, (start, end)
                    else:
                        container.append(value)
                        children.append((start, end))
                elif key is None:
                    key, key_start, key_end = value, start, end
                    if key in container:
                        self._note_duplicate(container, children, key, Span(start, end))
                else:
                    container[key] = value
                    children[key] = (key_start, key_end, start, end)
                    key = None
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(stack) >= MAX_DEPTH:
                    raise too_deep(event.start_mark.index)
                stack.append((container, children, is_map, key, key_start, key_end, opened, anchor, is_flow))
                is_map = kind is MappingStartEvent
                key = None
                container, children = ({}, {}) if is_map else ([], [])
                self.children[id(container)] = children
                opened = event.start_mark.index
                anchor = event.anchor
                has_properties = anchor is not None or event.ctag is not None
                if has_properties and (properties := PROPERTIES.match(text, opened)):
                    opened = properties.end()
                if anchor is not None:
                    self.anchors[anchor] = _Anchor(container, (opened, opened), 0, is_open=True)
                is_flow = event.flow_style
                if is_flow:
                    end = event.end_mark.index
                    self.flow.add(id(container))
            elif kind is MappingEndEvent or kind is SequenceEndEvent or kind is AliasEvent:
                if kind is AliasEvent:
                    start, end = event.start_mark.index, event.end_mark.index
                    has_step = container is not None and (key is not None or not is_map)
                    step = None if not has_step else key if is_map else len(container)
                    value, start, stop = self._read_alias(event.anchor, container, step, key, Span(start, end))
                else:
                    value, start, closed = container, opened, anchor
                    if is_flow:
                        end = event.end_mark.index
                    stop = max(end, start)
                    if self.merges:
                        self._merge(container, children)
                    if closed is not None:
                        size = len(container) + 1 + self.aliased.get(id(container), 0)
                        self.anchors[closed] = _Anchor(container, (start, stop), size)
                    container, children, is_map, key, key_start, key_end, opened, anchor, is_flow = stack.pop()
                    if self.aliased:
                        inner = self.aliased.get(id(value), 0)
                        self._count_aliased(container, inner, "in this value", Span(start, start + 1))
                if container is None:
                    self.root, self.root_place = value, (start, stop)
                elif not is_map:
                    container.append(value)
                    children.append((start, stop))
                elif key is None:  # an alias, or a collection that only its own text can name, in the place of a key
                    key_start, key_end = start, stop
                    key = value if type(value) is str else text[start:stop]
                    self.unreachable.append(value)
                    if key in container:
                        self._note_duplicate(container, children, key, Span(start, stop))
                else:
                    if key is _MERGE and _can_merge(value):
                        self.merges.setdefault(id(container), []).append(value)
                    else:
                        container[key] = value
                        children[key] = (key_start, key_end, start, stop)
                    key = None
            elif kind is DocumentStartEvent:
                self._reset()
            elif kind is DocumentEndEvent:
                self._finish(event.end_mark.index)
            elif kind is StreamEndEvent:
                if not self.documents:  # nothing but comments is a document too: one that lacks all it should have
                    self.root_place = (len(text), len(text))
                    self._finish(len(text))
                return self.documents

    def _read_properties(
        self, event: Any, start: int, end: int, child: tuple[int, Any], *, is_key: bool
    ) -> tuple[int, int, Any]:
        """The place of a scalar without the anchor and tag before it, and its value as they say."""
        text, value, plain = self.source.text, event.value, event.implicit[0]
        if event.style in BLOCK_STYLES:
            end = end_of_block(text, start, end)
        if properties := PROPERTIES.match(text, start, end):
            start = properties.end()
        elif not event.style:
            start = end  # nothing but an anchor or a tag: the value is not written
        tag = event.tag
        if not is_key and (plain or (tag is not None and tag.endswith(_RESOLVING_TAGS))):
            value = resolve(value)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, (start, end), 1)
            if not is_key:
                self.shared.add(child)
        return start, end, value

    def _note_duplicate(self, container: dict[str, Any], children: dict[str, Place], key: str, second: Span) -> None:
        """Keep what a key that was just read is about to override."""
        if key is _MERGE:
            return
        self.duplicates.append(Duplicate(container, key, Span(*children[key][:2]), second, container[key]))
        self.alias_sites.pop((id(container), key), None)
        self.ambiguous.pop((id(container), key), None)

    def _read_alias(
        self, name: str, container: Any, step: str | int | None, key: str | None, site: Span
    ) -> tuple[Any, int, int]:
        """What an alias stands for, and where that is; for a key, where the alias is."""
        anchor = self.anchors.get(name)
        if anchor is None:
            raise SyntaxFaultError(f"alias `*{name}` has no anchor `&{name}` before it", site)
        if anchor.is_open:
            raise SyntaxFaultError(f"alias `*{name}` stands inside the value that it repeats", site)
        if container is None:
            raise SyntaxFaultError(f"alias `*{name}` cannot be a whole document", site)
        if step is None:
            return anchor.value if isinstance(anchor.value, str) else None, *site
        self._count_aliased(container, anchor.size, f"up to `*{name}`", site)
        if key is not _MERGE or not _can_merge(anchor.value):
            self.alias_sites[id(container), step] = site
            self.shared.add((id(container), step))
        return anchor.value, anchor.place[-2], anchor.place[-1]

    def _count_aliased(self, container: Any, size: int, where: str, site: Span) -> None:
        count = self.aliased[id(container)] = self.aliased.get(id(container), 0) + size
        if count > MAX_ALIASED:
            raise SyntaxFaultError(f"the aliases {where} stand for more than {MAX_ALIASED:,} values", site)

    def _merge(self, container: Any, children: Any) -> None:
        """Bring what merge keys name into a mapping whose own fields have all been read."""
        for merged in self.merges.pop(id(container), ()):
            for base in merged if type(merged) is list else [merged]:
                self.unreachable.append(base)
                places: Any = self.children[id(base)]
                for key, value in base.items():
                    if key not in container:
                        container[key] = value
                        children[key] = places[key]
                        self.owners[id(container), key] = self.owners.get((id(base), key), id(base))
                        self._bring_along((id(base), key), (id(container), key))

    def _bring_along(self, old: _Child, new: _Child) -> None:
        if old in self.alias_sites:
            self.alias_sites[new] = self.alias_sites[old]
        if old in self.ambiguous:
            self.ambiguous[new] = self.ambiguous[old]

    def _finish(self, end: int) -> None:
        self.documents.append(
            Document(
                source=self.source,
                data=self.root,
                preamble=Span(self.before, max(self.root_place[-2], self.before)),
                duplicates=tuple(self.duplicates),
                root=self.root_place,
                children=self.children,
                alias_sites=self.alias_sites,
                ambiguous=self.ambiguous,
                shared=self.shared,
                owners=self.owners,
                flow=self.flow,
            )
        )
        self.before = end


def end_of_block(text: str, start: int, end: int) -> int:
    """Where the last line of a block scalar ends: to the parser it runs on over the blank lines below."""
    return start + len(text[start:end].rstrip())


def _can_merge(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(type(item) is dict for item in value)
    return type(value) is dict
