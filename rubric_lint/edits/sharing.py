"""Find the fields that share a piece of a document through anchors, aliases and merge keys, and what that forbids."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ruamel.yaml.nodes import ScalarNode

from rubric_lint.edits.lines import ObstacleError
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path, pointer
from rubric_lint.text.source import Kind, Span
from rubric_lint.text.tree import BLOCK_STYLES

_Field = tuple[Any, str | int]
"""A field or list item: the node of the mapping or list that contains it, and its key or index."""


@dataclass(frozen=True)
class Sharing:
    """The users of each field of a document; `rubrics` are the paths of its rubrics, and all else is outside.

    Without `rubrics` nothing is outside. Neither are top-level fields that are none of `known`, those of the suite
    format, if rubrics use a part of them: authors put there what anchors share. `check_apart` refuses to move items of
    a list to another document, if they, or the items that are left, would not be read as a rubric there.
    """

    document: Document
    rubrics: Collection[Path] = ()
    known: Collection[str] = ()
    check_apart: Callable[[Path, Sequence[int]], None] = lambda _path, _steps: None

    @cached_property
    def is_needed(self) -> bool:
        """True if something in the document may be used in two places."""
        return self.document.has_aliases or bool(self.document.merging)

    @cached_property
    def is_plain(self) -> bool:
        """True if nothing in the document can be used in two places or be written twice, and it can be rewritten."""
        document = self.document
        is_data = document.kind is not Kind.TOML and not document.kind.is_program
        return is_data and not (self.is_needed or document.duplicates or "&" in document.source.text)

    @cached_property
    def repeated(self) -> frozenset[_Field]:
        """The fields that are written twice in their mapping."""
        return frozenset((duplicate.mapping, duplicate.key) for duplicate in self.document.duplicates)

    def locate(self, path: Path) -> tuple[Any, str | int]:
        """Return the mapping or list that contains the value at `path`, and its key or index there."""
        return self.document.value(path[:-1]), path[-1]

    def field(self, path: Path) -> _Field:
        """Return where the field at `path` is written; a merged field is written in another mapping."""
        return self.document.child(path).owner, path[-1]

    def holders(self, path: Path) -> list[Any]:
        """Return the mappings that have the field at `path`: the one that contains it, and those that merge it."""
        return [self.document.value(user) for user in self.users(path)] or [self.locate(path)[0]]

    def users(self, path: Path) -> list[Path]:
        """Return the paths of the mappings that have the field at `path`."""
        owner, step = self.field(path)
        nodes = [owner, *self._merging.get((owner, step), ())]
        return [self.document.paths[node] for node in nodes if node in self.document.paths]

    def find_odd(self, path: Path, name: str) -> Path | None:
        """Return the path of a mapping that has the field at `path` but not the same field `name` as the others.

        A definition without it that is used by merge keys only does not count.
        """
        key = ("odd", *self.field(path), name)
        if key not in self._known:
            own = self.document.value(path[:-1])[name]
            users = ((user, self.document.value(user)) for user in self.users(path))
            odd = (user for user, fields in users if not is_same(fields.get(name), own))
            self._known[key] = next((each for each in odd if not self._is_merged(each, name)), None)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[Any, ...], Path | None]:
        """What was found already, as a list may have thousands of users."""
        return {}

    def _is_merged(self, path: Path, name: str) -> bool:
        """Return whether the mapping at `path` is a definition without `name` that is used by merge keys only."""
        is_defined = bool(path) and self.is_definition(path) and name not in self.document.value(path)
        return is_defined and self.document.child(path).node not in self._aliased

    def heirs(self, path: Path) -> list[Any]:
        """Return the mappings that merge fields of the one at `path`."""
        return [self.document.merging[heir] for heir in self._heirs(self.document.child(path).node)]

    def find_rival(self, path: Path, name: str) -> Path | None:
        """Return the path of a mapping that has the field at `path`, perhaps by a merge key, and a field `name`."""
        key = ("rival", *self.field(path), name)
        if key not in self._known:
            self._known[key] = next((at for at in self.users(path) if name in self.document.value(at)), None)
        return self._known[key]

    def is_used(self, path: Path) -> bool:
        """Return whether the field at `path` counts in the mapping where it is written or in one that merges it."""
        in_rubric = not self.rubrics or any(path[: len(rubric)] == rubric for rubric in self.rubrics)
        owner, step = self.field(path)
        return in_rubric or owner in self._aliased or bool(self._merging.get((owner, step)))

    def outsider(self, path: Path) -> Path | None:
        """Return the path of another use of the field at `path` outside all rubrics."""
        return self._outside.get(self.field(path))

    def find_sharer(self, path: Path) -> int | None:
        """Return the offset of another use, by alias or merge key, of the value at `path` or of one that holds it."""
        document = self.document
        for length in range(1, len(path) + 1):
            part = path[:length]
            child = document.child(part)
            if child.site is not None:
                return document.span(part).start
            if child.node in self._aliased:
                return self._aliased[child.node]
            if (child.owner, part[-1]) in self._merging:
                heirs = [node for node in self._merging[child.owner, part[-1]] if node in document.paths]
                return document.span(document.paths[heirs[0]]).start if heirs else document.span(part).start
            if child.owner is not document.child(part[:-1]).node:
                return document.span(part).start
        return None

    @cached_property
    def _aliased(self) -> dict[Any, int]:
        """The offset of the first alias of each value that has one."""
        found: dict[Any, int] = {}
        for path, span in self.document.entries():
            if self.document.is_alias(path):
                found.setdefault(self.document.child(path).node, span.start)
        return found

    def is_definition(self, path: Path) -> bool:
        """Return whether a top-level field exists only for anchors to share."""
        return self.field(path) in self._definitions

    def _heirs(self, node: Any) -> list[Any]:
        return [heir for heir in self._heirs_by_node.get(node, ()) if heir in self.document.paths]

    @cached_property
    def _heirs_by_node(self) -> dict[Any, dict[Any, None]]:
        found: dict[Any, dict[Any, None]] = {}
        for (owner, _), heirs in self._merging.items():
            found.setdefault(owner, {}).update(dict.fromkeys(heirs))
        return found

    @cached_property
    def _shared(self) -> dict[Span, dict[Path, _Field]]:
        """The fields and items that have an alias or an anchor, by the place of their value and by their paths."""
        document, found = self.document, dict[Span, dict[Path, _Field]]()
        for path, _ in document.entries():
            if document.is_shared(path):
                owner, step = field = self.field(path)
                if owner in document.paths:
                    user = (*document.paths[owner], step)
                    found.setdefault(document.span(user), {})[user] = field
        return found

    @cached_property
    def _merging(self) -> dict[_Field, list[Any]]:
        merging: dict[_Field, list[Any]] = {}
        if self.document.merging:
            for node, path in self.document.paths.items():
                for step, owner in self.document.merged_fields(path):
                    merging.setdefault((owner, step), []).append(node)
        return merging

    @cached_property
    def _outside_collections(self) -> dict[Any, Path]:
        """The path of each collection that can be reached from the root without going through a rubric."""
        document = self.document
        if not self.rubrics or not (document.has_aliases or document.merging):
            return {}
        doors = {*self._definitions, *map(self.field, self.rubrics)}
        doors |= {(document.child(path[:-1]).node, path[-1]) for path in self.rubrics if path}  # perhaps merged
        found: dict[Any, Path] = {document.root: ()}
        stack: list[Path] = [()]
        while stack:
            path = stack.pop()
            value, holder = document.value(path), document.child(path).node
            steps: Any = list(value) if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
            for step in reversed(steps):
                node = document.child((*path, step)).node
                if isinstance(value[step], dict | list) and node not in found and (holder, step) not in doors:
                    found[node] = (*path, step)
                    stack.append((*path, step))
        return found

    @cached_property
    def _definitions(self) -> frozenset[_Field]:
        document, data = self.document, self.document.data
        if not isinstance(data, dict):
            return frozenset()
        keys = [key for key in data if key not in self.known and not document.is_alias((key,))]
        if keys and self.rubrics and self.is_needed:
            used = _reach(document, frozenset(self.rubrics))
            keys = [key for key in keys if not used.isdisjoint(_reach(document, [(key,)], is_written=True))]
        return frozenset((document.root, key) for key in keys)

    @cached_property
    def _outside(self) -> dict[_Field, Path]:
        outside: dict[_Field, Path] = {}
        for node, path in self._outside_collections.items():
            value = self.document.value(path)
            for step in value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0):
                if (node, step) not in self._definitions:
                    outside.setdefault(self.field((*path, step)), (*path, step))
        return outside

    def is_plain_key(self, path: Path) -> bool:
        """Return whether the key at `path` is one plain or quoted word, which surely can be renamed."""
        key = self.document.child(path).key
        if type(key) is not ScalarNode or key.style in BLOCK_STYLES:
            return False
        return bool(key.style) or key.value[:1].isalnum() or key.value[:1] == "_"

    def check_field(self, path: Path) -> None:
        """Refuse a field that is also used outside all rubrics, or written twice.

        Raises:
            ObstacleError: if it is; so do the other checks.
        """
        self._check_outsider(self.outsider(path))
        if self.repeated and (field := self.field(path)) in self.repeated:
            raise ObstacleError(f"`{field[1]}` is written twice in this mapping; remove one")

    def check_collection(self, path: Path) -> None:
        """Refuse a collection that is also used outside all rubrics, or that a mapping merges which is."""
        node = self.document.child(path).node
        places = (self._outside_collections.get(user) for user in [node, *self._heirs(node)])
        self._check_outsider(next((place for place in places if place is not None), None))

    def _check_outsider(self, outsider: Path | None, what: str = "it") -> None:
        if outsider is not None:
            told = f"{what} is shared with {self._name(outsider)}, which is outside all rubrics; change it by hand"
            raise ObstacleError(told)

    def check_alone(self, path: Path) -> None:
        """Refuse a value that is also used elsewhere, in a rubric or not."""
        if (site := self.find_sharer(path)) is not None:
            line = self.document.source.position(site).line
            raise ObstacleError(f"an anchor shares it with line {line}; write it out there, or change it by hand")

    def check_free(self, path: Path, name: str) -> None:
        """Refuse another field `name` beside the one at `path`."""
        if name in self.locate(path)[0]:
            raise ObstacleError(f"its value is shared with {self._name(path)}, beside `{name}`")

    def check_sharers(self, path: Path, *, is_removed: bool = False) -> list[Path]:
        """Return the fields that must change too, because they share the text of their value."""
        document, field = self.document, self.field(path)
        users = self._shared.get(document.span(path), {}) if document.is_shared(path) else {}
        others = sorted((user for user, place in users.items() if place != field), key=str)
        for other in others:
            self._check_outsider(other if self.outsider(other) else None, "its value")
        if is_removed and self.document.is_alias(path):
            return []
        for other in others:
            if other[-1] != path[-1] and not self.is_definition(other):
                raise ObstacleError(f"its value is shared with {self._name(other)}; change it by hand")
            self.check_field(other)
        return others

    def check_merging(self, path: Path, *, renamed: str = "", beside: str = "", keeps_value: bool) -> None:
        """Refuse what would change a mapping that merges the field in more than the field, or let a merged one count.

        The field gets the key `renamed`, or goes because it repeats the one `beside` it.
        """
        if not self.is_needed:
            return
        document, places = self.document, [path]
        if (hidden := document.shadowed(path)) is not None:
            owner = document.paths.get(hidden.owner)
            places += [] if owner is None else [(*owner, path[-1])]
            is_alike = owner is not None and (keeps_value or is_same(document.value(path), document.value(places[-1])))
            if not is_alike or not self.is_used(places[-1]):
                line = document.source.position(document.key_start(hidden)).line
                raise ObstacleError(
                    f"the `{path[-1]}` of line {line} would take its place, by a merge key; change both by hand"
                )
        if beside and (odd := self.find_odd(path, beside)) is not None:
            line = document.source.position(document.span(odd, Part.ENTRY).start).line
            raise ObstacleError(f"line {line} shares it without the same `{beside}`; change it by hand")
        for place in places if renamed else ():
            if (rival := self.find_rival(place, renamed)) is not None and rival != path[:-1]:
                line = document.source.position(document.span(rival, Part.ENTRY).start).line
                raise ObstacleError(f"line {line} merges it beside its own `{renamed}`; keep one of the two there")

    def _name(self, path: Path) -> str:
        if not path:
            return "the whole document"
        part = Part.ENTRY if isinstance(path[-1], int) else Part.KEY
        return f"`{pointer(path)}` (line {self.document.source.position(self.document.span(path, part).start).line})"


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type."""
    return type(one) is type(other) and bool(one == other)


def _reach(document: Document, starts: Collection[Path], *, is_written: bool = False) -> set[Any]:
    """Return the nodes at and below some paths, with the mappings that fields are merged from.

    With `is_written` only those that are written there.
    """
    found: set[Any] = set()
    stack = list(starts)
    while stack:
        path = stack.pop()
        child, value = document.child(path), document.value(path)
        is_borrowed = path not in starts and (
            document.is_alias(path) or child.owner is not document.child(path[:-1]).node
        )
        if child.node in found or (is_written and is_borrowed):
            continue
        found |= {child.node, child.owner} if is_borrowed else {child.node}
        steps: Any = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
        stack += [(*path, step) for step in steps]
    return found
