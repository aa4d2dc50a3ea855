"""Plain data that knows where it was read from, and the few functions that change it without losing that.

A tracked value is a dict, list, str, int or float like any other, so a conversion is plain Python: whatever is put
somewhere else keeps its text and comments. `true`, `false` and `null` cannot be tracked; they are known by their key.
"""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from rubric_lint.source.document import Child, Document
from rubric_lint.source.path import Path
from rubric_lint.source.tree import items_of

Value = TypeVar("Value")


class Origin:
    """Where a tracked value was read: its parent collection, its key or index there, and its node.

    `values` are the children of a collection as they were read. Of a list of which only some items are tracked,
    `offset` is the index of the first one. `is_copy` says that the value is a copy of the one that was read there.
    """

    __slots__ = ("document", "home", "is_copy", "node", "offset", "parent", "step", "values")

    def __init__(
        self, document: Document, parent: "Origin | None", step: str | int, node: Any, *, is_copy: bool = False
    ) -> None:
        self.document = document
        self.parent = parent
        self.step = step
        self.node = node
        self.is_copy = is_copy
        self.home: Any = self if is_copy else node
        self.offset = 0
        self.values: dict[str | int, Any] = {}

    @property
    def path(self) -> Path:
        """The path at which the value was read."""
        steps: list[str | int] = []
        origin = self
        while origin.parent is not None:
            step = origin.step
            if isinstance(step, int):
                step += origin.parent.offset
            steps.append(step)
            origin = origin.parent
        return tuple(reversed(steps))

    @property
    def place(self) -> tuple[Any, str | int] | None:
        """What identifies the place: the parent, and the step; None for the whole document."""
        return None if self.parent is None else (self.parent.home, self.step)


class TrackedDict(dict[str, Any]):
    """A mapping that was read from a document.

    `renamed` has the former keys of the fields that `rename` renamed.
    """

    def __init__(self, fields: Mapping[str, Any], origin: Origin) -> None:
        super().__init__(fields)
        self.origin = origin
        self.renamed: dict[str, str] = {}


class TrackedList(list[Any]):
    """A list that was read from a document; or a new one, without an origin, that is to be written in brackets."""

    def __init__(self, items: Iterable[Any], origin: Origin | None) -> None:
        super().__init__(items)
        self.origin = origin


class TrackedStr(str):
    """A string that was read from a document."""

    __slots__ = ("origin",)
    origin: Origin


class TrackedInt(int):
    """An integer that was read from a document."""

    origin: Origin


class TrackedFloat(float):
    """A number with decimals that was read from a document."""

    origin: Origin


_SCALARS: dict[type, Any] = {str: TrackedStr, int: TrackedInt, float: TrackedFloat}


def find_origin(value: Any) -> Origin | None:
    """Return where a value was read; None for a new one."""
    return getattr(value, "origin", None)


def former_path(data: Any, path: Path) -> Path:
    """Return where the value at a path of changed data was read, or the innermost part around it that is not new."""
    former: Path = ()
    value = data
    for step in path:
        owner = find_origin(value)
        old_step = getattr(value, "renamed", {}).get(step, step)
        value = value[step]
        origin = find_origin(value)
        is_known = owner is not None and old_step in owner.values
        if owner is not None and is_known and (origin is None or owner.values[old_step] is value):
            former = (*owner.path, old_step)
        elif origin is not None:
            former = origin.path
    return former


def track(document: Document, path: Path = (), items: range | None = None) -> Any:
    """Return a copy of the data of a document that knows where each part was read; or of a part, only some `items`.

    An alias is the same object as its anchor's value, as in `Document.data`.
    """
    parent: Origin | None = None
    for length in range(len(path)):
        step = path[length - 1] if length else ""
        parent = Origin(document, parent, step, document.child(path[:length]).node)
    tracker = _Tracker(document)
    step = path[-1] if path else ""
    value = document.value(path)
    if items is None:
        return tracker.read(document.child(path), value, parent, step)
    origin = Origin(document, parent, step, document.child(path).node)
    origin.home, origin.offset = origin, items.start
    for at in items:
        item = tracker.read(document.child((*path, at)), value[at], origin, at - items.start)
        origin.values[at - items.start] = item
    return TrackedList(origin.values.values(), origin)


def duplicate(value: Any) -> Any:
    """Return a copy of a value as it was read, which is written as that one is, without its comments."""
    origin = find_origin(value)
    if origin is None:
        return deepcopy(value)
    if origin.parent is None:
        return _duplicate(value, None, "")
    parent, step = origin.parent, origin.step
    holder = Origin(origin.document, parent.parent, parent.step, parent.node, is_copy=True)
    if isinstance(step, int):
        holder.offset, step = parent.offset + step, 0
    holder.values[step] = _duplicate(value, holder, step)
    return holder.values[step]


def _duplicate(value: Any, parent: Origin | None, step: str | int) -> Any:
    found = find_origin(value)
    if found is None:
        return value
    origin = Origin(found.document, parent, step, found.node, is_copy=True)
    origin.values = {inner: _duplicate(child, origin, inner) for inner, child in found.values.items()}
    if isinstance(value, dict):
        return TrackedDict(origin.values, origin)  # type: ignore[arg-type]
    if isinstance(value, list):
        return TrackedList(origin.values.values(), origin)
    return _track_scalar(plain(value), origin)


class _Tracker:
    """Makes tracked data from a document, each collection once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._made: dict[Any, Any] = {}

    def read(self, child: Child, value: Any, parent: Origin | None, step: str | int) -> Any:
        """Return the tracked copy of the value of a child; recursive, as trees are at most `MAX_DEPTH` deep."""
        if child.node in self._made:
            return self._made[child.node]
        origin = Origin(self._document, parent, step, child.node)
        if not isinstance(value, dict | list):
            return _track_scalar(value, origin)
        children = self._document.children(child)
        for inner, item in items_of(value):
            grandchild = children[inner]
            is_merged = grandchild.owner is not child.node and grandchild.owner in self._made
            if is_merged:
                origin.values[inner] = self._made[grandchild.owner].origin.values[inner]
            else:
                origin.values[inner] = self.read(grandchild, item, origin, inner)
        found: Any = TrackedList(origin.values.values(), origin)
        if isinstance(value, dict):
            found = TrackedDict(origin.values, origin)  # type: ignore[arg-type]
        self._made[child.node] = found
        return found


def _track_scalar(value: Any, origin: Origin) -> Any:
    kind = _SCALARS.get(type(value))
    if kind is None:
        return value
    tracked = kind(value)
    tracked.origin = origin
    return tracked


def like(old: Any, new: Value) -> Value:
    """Return a new value that takes the place, the style and the comments of an old one."""
    origin = find_origin(old)
    found: Any = new
    if origin is not None:
        if isinstance(new, dict):
            found = TrackedDict(new, origin)
        elif isinstance(new, list):
            found = TrackedList(new, origin)
        else:
            found = _track_scalar(plain(new), origin)
    return found  # type: ignore[no-any-return]


def rename(mapping: dict[str, Any], names: dict[str, str]) -> None:
    """Rename fields of a mapping; each keeps its place. A field that already has a new name is replaced."""
    renamed = getattr(mapping, "renamed", {})
    targets = {new for old, new in names.items() if old in mapping and new != old}
    fields = {names.get(key, key): (key, value) for key, value in mapping.items() if key in names or key not in targets}
    former = {new: renamed.get(key, key) for new, (key, _) in fields.items() if new != key or key in renamed}
    mapping.clear()
    mapping.update((key, value) for key, (_, value) in fields.items())
    renamed.clear()
    renamed.update(former)


def drop(mapping: dict[str, Any], *names: str) -> None:
    """Remove the fields with these names, if they are there."""
    for name in names:
        mapping.pop(name, None)


def put(mapping: dict[str, Any], at: str | None, name: str, value: Any) -> None:
    """Put a field above the one with the name `at`, or at the end."""
    fields = [(key, field) for key, field in mapping.items() if key != name]
    index = next((number for number, (key, _) in enumerate(fields) if key == at), len(fields))
    fields.insert(index, (name, value))
    mapping.clear()
    mapping.update(fields)


def in_brackets(items: list[Any]) -> list[Any]:
    """Return a copy of a list that is written anew, in brackets on one line."""
    return TrackedList(plain(items), None)


def is_in_brackets(value: Any) -> bool:
    """Return whether a value is a new list that is to be written in brackets."""
    return isinstance(value, TrackedList) and value.origin is None


def plain(value: Any) -> Any:
    """Return a copy of a value as plain data, without anything that is tracked."""
    if isinstance(value, dict):
        return {str(key): plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    for kind, tracked in _SCALARS.items():
        if type(value) is tracked:
            return kind(value)
    return value


def written(value: Any) -> str:
    """Return the text of a number, `true`, `false` or `null`, as it is written if it was read from a document."""
    origin = find_origin(value)
    return json.dumps(value) if origin is None else str(origin.node.value)
