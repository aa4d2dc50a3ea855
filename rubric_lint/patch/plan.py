"""Find out what of a document new data keep: which collections are changed ones, and which values stay or move."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.nodes import MappingNode, SequenceNode

from rubric_lint.patch.tracked import (
    Origin,
    StyledDict,
    StyledList,
    TrackedDict,
    TrackedList,
    children_of,
    find_origin,
    plain,
    track,
)
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path


class RefusedError(Exception):
    """The reason why new data cannot be written, and the path that it is about."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


def same(one: Any, other: Any) -> bool:
    """Return whether two scalars are equal, of the same type."""
    one, other = plain(one), plain(other)
    return type(one) is type(other) and (one == other or one != one)  # noqa: PLR0124 (not a number)


@dataclass(eq=False)
class Plan:
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
        self._collect(self.value, (), set(), collections)
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
        """Return the origin of a collection, which may be a new one in the place of an old one without a change."""
        own = self.origin(value)
        if own is not None:
            return own if _is_alike(value, own.node) else None
        if origin is None or origin.node in self._claimed or not _is_alike(value, origin.node):
            return None
        if isinstance(value, StyledDict | StyledList):
            return None
        self._claimed.add(origin.node)
        return origin

    def is_unchanged(self, value: Any) -> bool:
        """Return whether a collection is a tracked one, and nothing in it has changed."""
        if id(value) not in self._unchanged:
            self._unchanged[id(value)] = self._compare(value)
        return self._unchanged[id(value)]

    def _compare(self, value: Any) -> bool:
        origin = find_origin(value)
        if origin is None or origin.document is not self.document or not _is_alike(value, origin.node):
            return False
        old = origin.values
        if list(old) != [step for step, _ in children_of(value)]:
            return False
        return all(self.is_kept(child, old[step]) for step, child in children_of(value))

    def is_kept(self, value: Any, old: Any) -> bool:
        """Return whether a value is the old one, without a change, or a new one that equals it."""
        if not isinstance(value, dict | list):
            return value is old or (not isinstance(old, dict | list) and same(value, old))
        if value is old or self.origin(value) is not None or isinstance(value, StyledDict | StyledList):
            return value is old and self.is_unchanged(value)
        return self._is_equal(value, old)

    def _is_equal(self, value: Any, old: Any) -> bool:
        """Return whether a new collection has what an old one has, in the same order."""
        if not isinstance(old, dict if isinstance(value, dict) else list):
            return False
        former = old.origin.values
        is_alike = [step for step, _ in children_of(value)] == list(former)
        return is_alike and all(self.is_kept(child, former[step]) for step, child in children_of(value))

    def _collect(self, value: Any, path: Path, above: set[int], collections: list[Any]) -> None:
        """Note the places of tracked values, and the collections with changes, from the outside in."""
        origin = self.origin(value)
        if origin is not None:
            if origin.place is not None:
                self.kept.add(origin.place)
            self._find_root(origin)
        if not isinstance(value, dict | list):
            return
        if id(value) in above:
            raise RefusedError("the new data contain themselves", path)
        if origin is not None and _is_alike(value, origin.node):
            self._claimed.add(origin.node)
        if self.is_unchanged(value):
            return
        collections.append(value)
        above.add(id(value))
        for step, child in children_of(value):
            self._collect(child, (*path, step), above, collections)
        above.discard(id(value))

    def _find_root(self, origin: Origin) -> None:
        while self.root is None and origin.parent is not None:
            origin = origin.parent
        if self.root is None and isinstance(origin.node, MappingNode | SequenceNode):
            self.root = origin

    def _infer(self, value: Any) -> None:
        """Find the old collection that a new one is a change of, by its tracked children."""
        if isinstance(value, TrackedDict | TrackedList | StyledDict | StyledList):
            return
        origins = [origin for _, child in children_of(value) if (origin := self.origin(child)) is not None]
        parents = {origin.parent.node: origin.parent for origin in origins if origin.parent is not None}
        if len(parents) != 1:
            return
        (parent,) = parents.values()
        if parent.node in self._claimed or not _is_alike(value, parent.node):
            return
        self._claimed.add(parent.node)
        self._inferred[id(value)] = parent
        if parent.place is not None:
            self.kept.add(parent.place)


def _is_alike(value: Any, node: Any) -> bool:
    """Return whether a collection is of the same kind as a node."""
    return type(node) is (MappingNode if isinstance(value, dict) else SequenceNode)
