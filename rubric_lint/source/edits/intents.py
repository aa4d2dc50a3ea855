"""Define the intents of repairs: what each does to the data, for the proof.

What they do to the text is in `rubric_lint.source.edits.making`: rules state repairs in every run, and few runs make
one.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, dataclass_transform

from rubric_lint.source.path import Path
from rubric_lint.source.scalar import read_scalar, resolve
from rubric_lint.source.source import Edit, Span

if TYPE_CHECKING:
    from rubric_lint.source.document import Document
    from rubric_lint.source.edits.alias_graph import AliasGraph


@dataclass_transform(frozen_default=True)
class Intent:
    """What a fix does at one place of a document. The annotations of a subclass are its fields.

    This base class does what `@dataclass(frozen=True)` would, which takes ten times as long to set up: all intents are
    defined at every start. For the same reason it is no `ABC`: mypy looks after abstract methods without it.
    """

    moves_comments = False
    """Whether comments may come before others that they were after."""

    is_structural: ClassVar[bool] = False
    """Whether it is written as changed data, with all else that the fix does; the edits of others are made one by one.
    """

    adds_document = False
    """Whether it puts a new document at the end of the file."""

    keeps_value: ClassVar[bool] = False
    """Whether it changes only the field at its path, and not the value."""

    order: ClassVar[tuple[int, ...]] = (6,)
    """When the data change: those with a smaller one change first."""

    _names: ClassVar[tuple[str, ...]]
    _defaults: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls._names = tuple(cls.__annotations__)
        cls._defaults = {name: getattr(cls, name) for name in cls._names if hasattr(cls, name)}

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__dict__
        fields |= self._defaults
        fields.update(zip(self._names, values, strict=False), **named)

    def replace(self, **changes: Any) -> Self:
        """Return the intent with other values in some fields."""
        return type(self)(**vars(self) | changes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *map(self.__dict__.get, self._names)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.values))})"

    @property
    def values(self) -> list[Any]:
        """The values of its fields, in their order."""
        return [vars(self)[name] for name in self._names]

    @property
    def place(self) -> Path | None:
        """The path of the value that it is about; None for an edit of the text alone."""
        return vars(self).get("path")

    @property
    def scope(self) -> Path | None:
        """The path of the collection that it changes; None if it changes none."""
        return None if self.place is None else self.place[:-1]

    def list_scopes(self) -> Iterator[Path]:
        """Yield the paths of the collections that it changes, or copies with changes."""
        if self.scope is not None:
            yield self.scope

    def shift(self, depth: int, by: int) -> Self:
        """Return the intent with a smaller index of the list that has its paths at a depth."""
        shifted: dict[str, Path] = {}
        for name in ("path", "holder"):
            path = vars(self).get(name)
            if path:
                shifted[name] = (*path[:depth], path[depth] - by, *path[depth + 1 :])
        return self.replace(**shifted)

    def check(self, aliases: "AliasGraph") -> None:
        """Refuse what would change other places of the document too.

        Raises:
            ObstacleError: if it would.
        """
        if self.place is not None:
            aliases.check_alone(self.place, keeps_value=self.keeps_value)

    def complete(self, _aliases: "AliasGraph") -> Self:
        """Fill in the fields that depend on the whole document.

        Raises:
            ObstacleError: if it is impossible.
        """
        return self

    def is_sure(self, _aliases: "AliasGraph") -> bool:
        """Return whether it surely can be made in a document that `is_plain`, so that its edits can wait."""
        return False

    def find(self, document: "Document") -> Any:
        """Look up what is to change in the data: if nothing else is said, what holds the value, and its step there."""
        path = vars(self)["path"]
        return document.value(path[:-1]), path[-1]

    @abstractmethod
    def change(self, found: Any) -> None:
        """Change what was found, to compare the data with the edited text."""

    def list_written(self) -> Iterator[tuple[Path, str]]:
        """Yield the paths of the scalars that it writes, which may be placeholders, and the scalars."""
        yield from ()


class _OfField(Intent):
    """An intent about one field, which must not be written twice."""

    def check(self, aliases: "AliasGraph") -> None:
        super().check(aliases)
        aliases.check_field(vars(self)["path"])


class RenameKey(_OfField):
    """Write the field at `path` under the key `name`."""

    path: Path
    name: str

    keeps_value = True
    order = (5,)

    def check(self, aliases: "AliasGraph") -> None:
        super().check(aliases)
        aliases.check_covering(self.path)

    def is_sure(self, aliases: "AliasGraph") -> bool:
        return aliases.is_plain_key(self.path)

    def change(self, found: Any) -> None:
        from rubric_lint.source.patch import rename

        holder, key = found
        rename(holder, {key: self.name})


class ReplaceValue(_OfField):
    """Replace the scalar at `path` with `text`: a scalar, or a range such as `[0, 3]`."""

    path: Path
    text: str

    order = (4,)

    def is_sure(self, aliases: "AliasGraph") -> bool:
        return aliases.document.value(self.path) is not None

    def change(self, found: Any) -> None:
        holder, step = found
        holder[step] = read_scalar(self.text)

    def list_written(self) -> Iterator[tuple[Path, str]]:
        yield self.path, self.text


class RemoveField(_OfField):
    """Remove the field at `path`, keeping its comments."""

    path: Path

    order = (4,)

    def check(self, aliases: "AliasGraph") -> None:
        aliases.check_field(self.path)
        aliases.check_alone(self.path, keeps_value=aliases.document.is_alias(self.path))
        aliases.check_covering(self.path)

    def change(self, found: Any) -> None:
        holder, step = found
        holder.pop(step)


class AddField(Intent):
    """Add the missing field `name` with the scalar `text` to the mapping at `path`."""

    path: Path
    name: str
    text: str

    order = (1,)

    @property
    def scope(self) -> Path:
        return self.path

    def is_sure(self, aliases: "AliasGraph") -> bool:
        return bool(aliases.document.value(self.path))

    def find(self, document: "Document") -> Any:
        return document.value(self.path)

    def change(self, found: Any) -> None:
        found[self.name] = read_scalar(self.text)

    def list_written(self) -> Iterator[tuple[Path, str]]:
        yield (*self.path, self.name), self.text


class InsertField(Intent):
    """Add the field `name` whose value is written as the JSON `text`, above the field at `path`."""

    path: Path
    name: str
    text: str

    is_structural = True
    keeps_value = True

    def is_sure(self, _aliases: "AliasGraph") -> bool:
        return True

    def change(self, found: Any) -> None:
        from rubric_lint.source.patch import put

        holder, key = found
        put(holder, key, self.name, json.loads(self.text))

    def list_written(self) -> Iterator[tuple[Path, str]]:
        yield (*self.path[:-1], self.name), self.text


class WrapText(Intent):
    """Replace the value at `path` with a mapping that has it in the field `name`, alone, or after or between others.

    `before` and `after` are the names and scalars of those fields.
    """

    path: Path
    name: str
    before: tuple[str, str] | None = None
    after: tuple[str, str] | None = None

    is_structural = True
    keeps_value = True
    order = (2,)

    def is_sure(self, _aliases: "AliasGraph") -> bool:
        return True

    def change(self, found: Any) -> None:
        holder, step = found
        fields: dict[str, Any] = {}
        if self.before:
            fields[self.before[0]] = resolve(self.before[1])
        fields[self.name] = holder[step]
        if self.after:
            fields[self.after[0]] = resolve(self.after[1])
        holder[step] = fields


class EscapeText(Intent):
    """Write the string at `path` so that a renderer of Nunjucks templates gives it back unchanged.

    What is escaped already stays as it is.
    """

    path: Path

    def change(self, found: Any) -> None:
        from rubric_lint.source.nunjucks import escape

        holder, step = found
        holder[step] = escape(holder[step], has_escapes=True)


class Reorder(Intent):
    """Put the items of the list, or the fields of the mapping, at `path` in the order of `steps`."""

    path: Path
    steps: tuple[str | int, ...]

    is_structural = True
    moves_comments = True

    order = (0,)

    @property
    def scope(self) -> Path:
        return self.path

    def check(self, aliases: "AliasGraph") -> None:
        super().check(aliases)
        for step in self.steps:
            if isinstance(step, str):
                aliases.check_field((*self.path, step))

    def complete(self, aliases: "AliasGraph") -> Self:
        from rubric_lint.source.edits.moving import check_order

        check_order(aliases, self.path, self.steps)
        return self

    def find(self, document: "Document") -> Any:
        return document.value(self.path)

    def change(self, found: Any) -> None:
        if isinstance(found, dict):
            _refill(found, [(step, found[step]) for step in self.steps])
        else:
            found[:] = [found[int(step)] for step in self.steps]


class InsertItems(Intent):
    """Insert copies of the list item at `path` after it, or `before` it.

    Each copy is the item with other scalars: their paths in the item, empty if it is one, and what is written there. A
    field that the item has not is added as the last one.
    If the list is put in another order at the same time, `at` is where the copies go in that order.
    """

    path: Path
    copies: tuple[tuple[tuple[Path, str], ...], ...]
    before: bool = False
    at: int | None = None

    is_structural = True

    @property
    def index(self) -> int:
        """Where the copies go in the list as it is, or in its new order."""
        if self.at is not None:
            return self.at
        return int(self.path[-1]) + (not self.before)

    @property
    def order(self) -> tuple[int, ...]:  # type: ignore[override]
        # Those that go further down are inserted first; at one place, the copies that belong to the item below it.
        return (7, -self.index, not self.before)

    def is_sure(self, _aliases: "AliasGraph") -> bool:
        return True

    def list_scopes(self) -> Iterator[Path]:
        yield from super().list_scopes()
        for changes in self.copies:
            yield from ((*self.path, *place[:-1]) for place, _ in changes if place)

    def find(self, document: "Document") -> Any:
        items, index = super().find(document)
        return items, [_copy(items[index], changes) for changes in self.copies]

    def change(self, found: Any) -> None:
        items, copies = found
        items[self.index : self.index] = copies

    def list_written(self) -> Iterator[tuple[Path, str]]:
        for number, changes in enumerate(self.copies, self.index):
            for place, text in changes:
                yield (*self.path[:-1], number, *place), text


class MoveItems(Intent):
    """Move the items `steps` of the list at `path` into a copy of `holder`, whose only items there they are.

    The holder is the list item that has the list, and the copy comes right after it; or it is the whole document, and
    the copy becomes the last document of the file, with the index `number`. `changes` are the other scalars of the
    copy: their paths in the holder, and what is written there. `complete` fills in `number` and `changes`.
    """

    path: Path
    steps: tuple[int, ...]
    holder: Path
    changes: tuple[tuple[Path, str], ...] = ()
    number: int = 0

    is_structural = True
    moves_comments = True

    @property
    def scope(self) -> Path:
        return self.holder[:-1]

    @property
    def adds_document(self) -> bool:  # type: ignore[override]
        return not self.holder

    def complete(self, aliases: "AliasGraph") -> "MoveItems":
        from rubric_lint.source.edits.moving import complete_move

        changes, number = complete_move(aliases, self.path, self.steps, self.holder)
        return self.replace(changes=changes, number=number)

    def split_off(self, document: "Document") -> Any:
        """Return the copy of the holder with the items that move into it; call this before the data change."""
        from rubric_lint.source.patch import duplicate

        items = document.value(self.path)
        copy = duplicate(document.value(self.holder))
        reduce(getitem, self.path[len(self.holder) :], copy)[:] = [items[step] for step in self.steps]
        for place, written in self.changes:
            _put(copy, place, read_scalar(written))
        return copy

    def find(self, document: "Document") -> Any:
        items, copy = document.value(self.path), self.split_off(document)
        kept = [item for index, item in enumerate(items) if index not in self.steps]
        holders = document.value(self.holder[:-1]) if self.holder else []
        return items, kept, holders, document.value(self.holder), copy

    def change(self, found: Any) -> None:
        items, kept, holders, holder, copy = found
        items[:] = kept
        at = next((index for index, item in enumerate(holders) if item is holder), None)
        if at is not None:
            holders.insert(at + 1, copy)


class _WithoutData(Intent):
    """An intent that leaves the data as they are."""

    scope = None

    def is_sure(self, _aliases: "AliasGraph") -> bool:
        return True

    def find(self, document: "Document") -> None:
        pass

    def change(self, found: None) -> None:
        pass


class Arrange(_WithoutData):
    """Say that a fix arranges all bands of the scale at `path`, which only one fix may do at a time."""

    path: Path

    def check(self, _aliases: "AliasGraph") -> None:
        pass


class Replace(_WithoutData):
    """Replace `span` with `text`, for places without a path, such as a comment."""

    span: Span
    text: str


def _refill(mapping: dict[Any, Any], fields: Sequence[tuple[Any, Any]]) -> None:
    mapping.clear()
    mapping.update(fields)


def change_all(document: "Document", intents: Iterable[Intent]) -> list[tuple[Intent, Any]]:
    """Change the data of a document as intents say; return them in the order of the changes, with what they found."""
    # All is looked up before anything changes: a path is invalid after a key in it is renamed.
    prepared = [(intent, intent.find(document)) for intent in intents]
    prepared.sort(key=lambda pair: pair[0].order)
    for intent, found in prepared:
        intent.change(found)
    return prepared


def find_common(paths: Sequence[Path]) -> Path:
    """Return the longest path with which all of some paths begin."""
    for at, step in enumerate(paths[0]):
        if any(path[at : at + 1] != (step,) for path in paths):
            return paths[0][:at]
    return paths[0]


def _copy(item: Any, changes: tuple[tuple[Path, str], ...]) -> Any:
    from rubric_lint.source.patch import duplicate

    copy = duplicate(item)
    for place, written in changes:
        if not place:  # the item is a scalar
            return read_scalar(written)
        _put(copy, place, read_scalar(written))
    return copy


def _put(holder: Any, place: Path, value: Any) -> None:
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value


class Repair(NamedTuple):
    """A fix as a rule states it: what to do to which paths. `safe`: it cannot change the meaning of the rubric.

    `choice` is the name of this answer where several are possible.
    """

    title: str
    intents: tuple[Intent, ...]
    safe: bool
    choice: str = ""


_set = object.__setattr__


class Fix:
    """A fix in terms of the text: sorted, disjoint edits. `safe`: it cannot change what the rubric means.

    `intents` describe the same change of the data; the result of the edits is compared with it. `choice` is the name of
    this answer where several are possible. Without `edits`, `make` makes them when they are first looked at; without
    `make` too, nobody may look.
    """

    __slots__ = ("_made", "_make", "choice", "safe", "title")
    title: str
    safe: bool
    choice: str
    _made: tuple[tuple[Edit, ...], tuple[Intent, ...]] | None
    _make: "Callable[[], Fix] | None"

    def __init__(
        self,
        title: str,
        edits: tuple[Edit, ...] | None,
        safe: bool,
        intents: tuple[Intent, ...] = (),
        choice: str = "",
        *,
        make: "Callable[[], Fix] | None" = None,
    ) -> None:
        _set(self, "title", title)
        _set(self, "safe", safe)
        _set(self, "choice", choice)
        made = None if edits is None else (edits, intents)
        _set(self, "_made", made)
        _set(self, "_make", make)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a fix does not change: {name}")

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits, in order."""
        return self.make()[0]

    @property
    def intents(self) -> tuple[Intent, ...]:
        """What they do."""
        return self.make()[1]

    @property
    def is_made(self) -> bool:
        """Whether the edits are known."""
        return self._made is not None

    def make(self) -> tuple[tuple[Edit, ...], tuple[Intent, ...]]:
        """Return the edits and intents; make them the first time."""
        made = self._made
        if made is None:
            if self._make is None:
                raise RuntimeError(f"the edits of {self.title!r} were left out")
            made = self._make().make()
            _set(self, "_made", made)
            _set(self, "_make", None)
        return made

    def with_intents(self, intents: tuple[Intent, ...]) -> "Fix":
        """Return the same fix with other intents."""
        return Fix(self.title, self.edits, self.safe, intents, self.choice)

    def unmade(self) -> "Fix":
        """Return the same fix without edits, at which nobody may look."""
        return Fix(self.title, None, self.safe, choice=self.choice)

    def __reduce__(self) -> tuple[Any, ...]:
        is_left_out = self._made is None and self._make is None
        edits, intents = (None, ()) if is_left_out else self.make()
        return Fix, (self.title, edits, self.safe, intents, self.choice)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fix) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.title, self.safe, self.choice))

    def __repr__(self) -> str:
        return f"Fix({', '.join(map(repr, self.__reduce__()[1]))})"
