"""One document: plain data, with a side table that knows where every key and value stands."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.finding import Part, Path
from rubric_lint.scalar import Ambiguity
from rubric_lint.source import Source, Span

_DASH = r"-(?:[ \t]+[&!]\S*)*[ \t]*\Z"


class Duplicate(NamedTuple):
    """A key that a mapping has twice: which mapping, which key, both places, and the value that was overridden."""

    mapping: dict[str, Any]
    key: str
    first: Span
    second: Span
    shadowed: Any


# Where a child stands: (key start, key end, value start, value end) in a mapping, without the key in a sequence.
Place = tuple[int, ...]
Children = dict[str, Place] | list[Place]


class Document:
    """One document: plain dict, list, str, number, bool and None, whose keys are always texts, as they are written.

    An alias is the very object that its anchor names, so what is wrong in it has one place, at the definition. Merge
    keys (`<<`) are merged. `number` is the document's place in its file, None when it is alone there.
    """

    def __init__(
        self,
        source: Source,
        data: Any,
        preamble: Span,
        duplicates: tuple[Duplicate, ...],
        *,
        root: Place,
        children: dict[int, Children],
        alias_sites: dict[tuple[int, str | int | None], Span],
        ambiguous: dict[tuple[int, str | int | None], Ambiguity],
        shared: set[tuple[int, str | int | None]],
        owners: dict[tuple[int, str | int | None], int],
        flow: set[int],
    ) -> None:
        self.source = source
        self.number: int | None = None
        self.data = data
        self.preamble = preamble
        self.duplicates = duplicates
        self._root = root
        self._children = children
        self._alias_sites = alias_sites
        self._ambiguous = ambiguous
        self._shared = shared
        self._owners = owners
        self._flow = flow

    def span(self, path: Path, part: Part = Part.VALUE) -> Span:
        """Where a part of the thing at `path` stands. For a value that is not written out: its key, or its dash."""
        if not path:
            return self._head(self.data, self._root) if part is Part.HEAD else Span(*self._root[-2:])
        container = self._container(path)
        place = self._child(container, path[-1])
        if part is Part.KEY and len(place) == 4:
            return Span(place[0], place[1])
        if part is Part.ENTRY and (site := self._alias_sites.get((id(container), path[-1]))):
            return site
        start, end = place[-2:]
        if start == end:
            return Span(place[0], place[1]) if len(place) == 4 else self._dash(start)
        if part in (Part.HEAD, Part.ENTRY):
            return self._head(container[path[-1]], place)  # type: ignore[index]
        return Span(start, end)

    def _dash(self, at: int) -> Span:
        """The dash of the list item that ends at `at` and has nothing but an anchor or a tag; `at` if there is none."""
        text = self.source.text
        found = re.compile(_DASH).search(text, text.rfind("\n", 0, at) + 1, at)
        return Span(found.start(), found.start() + 1) if found else Span(at, at)

    def value(self, path: Path) -> Any:
        """The value at `path`."""
        value = self.data
        for step in path:
            value = value[step]
        return value

    def _container(self, path: Path) -> dict[str, Any] | list[Any]:
        return self.value(path[:-1])  # type: ignore[no-any-return]

    def _child(self, container: dict[str, Any] | list[Any], step: str | int) -> Place:
        return self._children[id(container)][step]  # type: ignore[index]

    def _head(self, value: Any, place: Place) -> Span:
        if isinstance(value, dict) and value:
            own = self._children[id(value)]
            first = next(iter(own.values()))  # type: ignore[union-attr]
            # A merged key stands elsewhere: then the whole entry has to serve.
            if place[-2] <= first[0] < place[-1]:
                return Span(first[0], first[1])
        return Span(*place[-2:])

    def entries(self, within: Path = ()) -> Iterator[tuple[Path, Span]]:
        """Every field and list item below `within` that is written there, with its extent, in document order."""
        stack: list[tuple[Path, Any]] = [(within, self.value(within))]
        seen: set[int] = set()
        while stack:
            path, value = stack.pop()
            if not isinstance(value, dict | list) or id(value) in seen:
                continue
            seen.add(id(value))
            children = self._children[id(value)]
            steps: list[Any] = list(children) if isinstance(children, dict) else list(range(len(children)))
            for step in steps:
                place = children[step]
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

    def _extent(self, owner: int, step: str | int, place: Place) -> Span:
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

    def is_merged(self, mapping: dict[str, Any], key: str) -> bool:
        """Whether a merge key brings a field of a mapping of this document in."""
        return (id(mapping), key) in self._owners

    def written(self, container: dict[str, Any] | list[Any], step: str | int) -> str:
        """The source text of a child of a container of this document, at its definition."""
        place = self._child(container, step)
        return self.source.text[place[-2] : place[-1]]

    @cached_property
    def containers(self) -> dict[int, Path]:
        """The path at which each mapping and sequence is met first, by the identity of its object."""
        paths = {id(self.data): ()} if isinstance(self.data, dict | list) else {}
        for path, _ in self.entries():
            value = self.value(path)
            if isinstance(value, dict | list):
                paths.setdefault(id(value), path)  # type: ignore[arg-type]
        return paths  # type: ignore[return-value]
