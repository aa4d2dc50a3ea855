"""Find out what of a document new data keep: which collections are changed ones, and which values stay or move."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.nodes import MappingNode, SequenceNode

from rubric_lint.source.document import Document
from rubric_lint.source.patch.tracked import (
    Origin,
    TrackedDict,
    TrackedList,
    find_origin,
    is_in_brackets,
    plain,
    track,
)
from rubric_lint.source.path import Path
from rubric_lint.source.source import Span
from rubric_lint.source.tree import items_of

DEEPEST = 60
"""The deepest nesting of collections that is rewritten."""


class UnwritableError(Exception):
    """The reason why new data cannot be written, the path that it is about, and its place if that is another one."""

    def __init__(self, reason: str, path: Path, place: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.place = place


def same(one: Any, other: Any) -> bool:
    """Return whether two scalars are equal, of the same type."""
    one, other = plain(one), plain(other)
    return type(one) is type(other) and (one == other or one != one)  # noqa: PLR0124 (not a number)


@dataclass(eq=False)
class ChangePlan:
    """What new data keep of a document. `kept` are the places of the values that stay or move.

    The origin of a collection is that of the old one that it is a change of: the tracked one itself, or else the one
    that all its tracked children come from.
    """

    document: Document
    value: Any
    root: Origin | None = None
    kept: set[tuple[Any, str | int]] = field(default_factory=set)
    _inferred: dict[int, Origin] = field(default_factory=dict)
    _claimed: set[Any] = field(default_factory=set)
    _unchanged: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        collections: list[Any] = []
        self._collect(self.value, (), collections)
        for collection in collections:
            self._infer(collection)
        if self.root is None:
            self.root = find_origin(track(self.document))

    def origin(self, value: Any) -> Origin | None:
        """Return where a value was read, or for a new collection, the one that it is a change of."""
        origin = find_origin(value)
        if origin is None:
            return self._inferred.get(id(value))
        return origin if origin.document is self.document else None

    def claim(self, value: Any, origin: Origin | None) -> Origin | None:
        """Return the origin of a collection; a new one may be a change of the one in whose place it is."""
        own = self.origin(value)
        if own is not None:
            return own if is_alike(value, own.node) else None
        is_free = origin is not None and origin.home not in self._claimed and is_alike(value, origin.node)
        if not is_free or origin is None or is_in_brackets(value):
            return None
        self._claimed.add(origin.home)
        return origin

    def is_unchanged(self, value: Any) -> bool:
        """Return whether a collection is a tracked one, and nothing in it has changed."""
        origin = find_origin(value)
        if origin is None or origin.document is not self.document or not is_alike(value, origin.node):
            return False
        if id(value) not in self._unchanged:
            self._unchanged[id(value)] = self._equals(value, origin)
        return self._unchanged[id(value)]

    def _equals(self, value: Any, origin: Origin) -> bool:
        """Return whether a collection has what an old one had, in the same order."""
        if [step for step, _ in items_of(value)] != list(origin.values):
            return False
        for step, child in items_of(value):  # noqa: SIM110 (`all` would take twice the depth of recursion)
            if not self.is_kept(child, origin.values[step]):
                return False
        return True

    def is_kept(self, value: Any, old: Any) -> bool:
        """Return whether a value is the old one, without a change, or a new one that equals it."""
        if not isinstance(value, dict | list):
            return value is old or (not isinstance(old, dict | list) and same(value, old))
        if value is old:
            return self.is_unchanged(value)
        is_new = self.origin(value) is None and not is_in_brackets(value)
        origin = find_origin(old)
        return is_new and origin is not None and is_alike(value, origin.node) and self._equals(value, origin)

    def _collect(self, value: Any, path: Path, collections: list[Any]) -> None:
        """Note the places of tracked values, and the collections with changes, from the outside in."""
        origin = self.origin(value)
        if origin is not None:
            if origin.place is not None:
                self.kept.add(origin.place)
            self._find_root(origin)
        if not isinstance(value, dict | list):
            return
        if len(path) > DEEPEST:
            raise UnwritableError(f"what changes is nested more than {DEEPEST} levels deep; change it by hand", path)
        if origin is not None and is_alike(value, origin.node):
            self._claimed.add(origin.home)
        if self.is_unchanged(value):
            return
        collections.append(value)
        for step, child in items_of(value):
            self._collect(child, (*path, step), collections)

    def _find_root(self, origin: Origin) -> None:
        while self.root is None and origin.parent is not None:
            origin = origin.parent
        if self.root is None and isinstance(origin.node, MappingNode | SequenceNode):
            self.root = origin

    def _infer(self, value: Any) -> None:
        """Find the old collection that a new one is a change of, by its tracked children."""
        if isinstance(value, TrackedDict | TrackedList):
            return
        origins = [self.origin(child) for _, child in items_of(value)]
        parents = {origin.parent.home: origin.parent for origin in origins if origin and origin.parent}
        if len(parents) != 1:
            return
        (parent,) = parents.values()
        if parent.home in self._claimed or parent.is_copy or not is_alike(value, parent.node):
            return
        self._claimed.add(parent.home)
        self._inferred[id(value)] = parent
        if parent.place is not None:
            self.kept.add(parent.place)


def is_alike(value: Any, node: Any) -> bool:
    """Return whether a collection is of the same kind as a node."""
    expected = MappingNode if isinstance(value, dict) else SequenceNode
    return type(node) is expected


def find_within(spans: Sequence[Span], around: Span) -> Sequence[Span]:
    """Return those of some spans, which are in order, that are within one."""
    return spans[bisect_left(spans, around) : bisect_left(spans, Span(around.end, 0))]
