"""Who else uses a piece of a document that anchors, aliases and merge keys let several fields share."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rubric_lint.document import Document
from rubric_lint.finding import Path
from rubric_lint.schema import suite_fields

_Field = tuple[int, str | int]
"""A field or list item: the identity of the mapping or list in which it is written, and its key or index."""


@dataclass(frozen=True)
class Sharing:
    """The users of each field of a document. `rubrics` are the paths of its rubrics: what is not below one is outside.

    Without `rubrics` nothing is outside, and neither is what stands at the top level under a name that no suite has:
    there people write what anchors are to share.
    """

    document: Document
    rubrics: Collection[Path] = ()

    def locate(self, path: Path) -> tuple[Any, str | int]:
        """The mapping or list that holds what is at `path`, and its key or index there."""
        return self.document.value(path[:-1]), path[-1]

    def field(self, path: Path) -> _Field:
        """Where what is at `path` is written, which for a merged field is another mapping."""
        container, step = self.locate(path)
        return self.document._owners.get((id(container), step), id(container)), step

    def is_alias(self, path: Path) -> bool:
        """Whether the value at `path` is written as an alias."""
        return self.field(path) in self.document._alias_sites

    def holders(self, path: Path) -> list[Any]:
        """The mappings that have the field at `path`: the one in which it is written, and those that merge it."""
        owner, step = self.field(path)
        ids = [owner, *self._merging.get((owner, step), ())]
        found = [self.objects[identity] for identity in ids if identity in self.objects]
        return found or [self.locate(path)[0]]

    def heirs(self, container: dict[str, Any]) -> list[Any]:
        """The mappings that merge fields of `container`."""
        ids = {heir for (owner, _), heirs in self._merging.items() if owner == id(container) for heir in heirs}
        return [self.objects[identity] for identity in ids if identity in self.objects]

    def sharers(self, path: Path) -> list[Path]:
        """The other fields and items whose value is the one at `path`, by anchor and alias."""
        document, field = self.document, self.field(path)
        if field not in document._shared:
            return []
        users = (
            (*document.containers[identity], step)
            for identity, step in document._shared
            if step is not None and (identity, step) != field and identity in document.containers
        )
        span = document.span(path)
        return sorted((user for user in users if document.span(user) == span), key=str)

    def outsider(self, path: Path) -> Path | None:
        """Where, outside of all rubrics, the field at `path` is used too."""
        return self._outside.get(self.field(path))

    def outsider_of(self, container: Any) -> Path | None:
        """Where, outside of all rubrics, a mapping or list, or a mapping that merges it, is used too."""
        for user in [container, *self.heirs(container)]:
            if (path := self._outside_containers.get(id(user))) is not None:
                return path
        return None

    def is_definition(self, path: Path) -> bool:
        """Return whether a field at the top level is there for anchors to share."""
        return self.field(path) in self._definitions

    @cached_property
    def objects(self) -> dict[int, Any]:
        """Every mapping and list by its identity."""
        data = self.document.data
        return {id(value): value for value in (data, *(value for _, value in _walk(data, frozenset())))}

    @cached_property
    def _merging(self) -> dict[_Field, list[int]]:
        merging: dict[_Field, list[int]] = {}
        for (identity, step), owner in self.document._owners.items():
            merging.setdefault((owner, step), []).append(identity)  # type: ignore[arg-type]
        return merging

    @cached_property
    def _outside_containers(self) -> dict[int, Path]:
        if not self.rubrics or not (self.document._owners or self.document._alias_sites):
            return {}
        doors = frozenset((id(self.locate(path)[0]), path[-1]) for path in self.rubrics) | self._definitions
        return {id(self.document.data): (), **{id(value): path for path, value in _walk(self.document.data, doors)}}

    @cached_property
    def _definitions(self) -> frozenset[_Field]:
        data = self.document.data
        if not isinstance(data, dict):
            return frozenset()
        fields = ((id(data), key) for key in data if key not in suite_fields())
        return frozenset(field for field in fields if field not in self.document._alias_sites)

    @cached_property
    def _outside(self) -> dict[_Field, Path]:
        outside: dict[_Field, Path] = {}
        for identity, path in self._outside_containers.items():
            value = self.objects[identity]
            for step in value if isinstance(value, dict) else range(len(value)):
                owner = self.document._owners.get((identity, step), identity)
                if (identity, step) not in self._definitions:
                    outside.setdefault((owner, step), (*path, step))
        return outside


def _walk(root: Any, doors: frozenset[_Field]) -> Iterator[tuple[Path, Any]]:
    """Every mapping and list below `root`, once, with the path that leads there first and through no door."""
    stack: list[tuple[Path, Any]] = [((), root)]
    seen = {id(root)}
    while stack:
        path, value = stack.pop()
        if not isinstance(value, dict | list):
            continue
        steps: Any = list(value) if isinstance(value, dict) else range(len(value))
        for step in reversed(steps):
            child = value[step]
            if isinstance(child, dict | list) and id(child) not in seen and (id(value), step) not in doors:
                seen.add(id(child))
                yield (*path, step), child
                stack.append(((*path, step), child))
