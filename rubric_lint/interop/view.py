"""A rubric of another system, seen as one of ours: its data in the words of v2, and where each piece really stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from rubric_lint.document import Document
from rubric_lint.finding import Part, Path, Place, Problem
from rubric_lint.scalar import Ambiguity


@dataclass(frozen=True, slots=True)
class Dialect:
    """How another system writes rubrics.

    `schema` is the authored schema of its rubrics. `fields` has the names of v2 and what they are called there.
    `without` are the rules that make no sense there. `implicit_required`: a checklist criterion that says nothing of a
    gate must be met. `top` is the gate that only a full score meets, in its units. `has_borderline`: verdicts know more
    than pass and fail.
    """

    name: str
    title: str
    schema: str
    fields: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    implicit_required: bool = False
    top: int = 10
    has_borderline: bool = True


@dataclass(frozen=True)
class View:
    """One rubric of a dialect. `data` is what would stand under `rubrics:` in v2, sound or not.

    `name` is what the rubric is called and `task` what is judged as a whole, empty where there is none; `threshold` is
    the score in 0..1 from which an answer passes. `around` is set where the list holds more than the rubric: the
    definition that all of it follows. Where a path in `data` leads in the document, `place` says.
    """

    dialect: Dialect
    document: Document
    path: Path
    data: list[Any]
    name: str = ""
    task: str = ""
    threshold: Decimal | None = None
    around: str = ""
    _places: Mapping[Path, tuple[Path, bool]] = field(default_factory=dict)

    @property
    def schema(self) -> str:
        """What the value at `path` follows."""
        return self.around or self.dialect.schema

    def place(self, path: Path) -> Path:
        """The path in the document of what is at `path` in the words of v2."""
        return self._find(path)[0]

    def _find(self, path: Path) -> tuple[Path, bool]:
        """The place, and whether what is meant stands in the key there; for what is not written, what holds it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self._places:
                place, is_key = self._places[path[:length]]
                rest = path[length:]
                if not rest:
                    return place, is_key
                return ((*place, *rest), False) if self._exists((*place, *rest)) else (place, is_key)
        return path, False

    def _exists(self, path: Path) -> bool:
        value = self.document.data
        for step in path:
            is_there = step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int)
            if not is_there:
                return False
            value = value[step]
        return True

    def translate(self, problem: Problem) -> Problem:
        """A problem that a rule found in the words of v2, at its place in the document."""
        path, part = self._locate(problem.path, problem.part)
        related = tuple(
            Place(place.message, *self._locate(place.path, place.part), place.span) for place in problem.related
        )
        return problem._replace(path=path, part=part, related=related, repair=None)

    def _locate(self, path: Path, part: Part) -> tuple[Path, Part]:
        place, is_key = self._find(path)
        return place, Part.KEY if is_key else part

    # What the model asks of a document, answered for `data`.
    def is_alias(self, path: Path) -> bool:
        """Return whether the value at a path of `data` is written as an alias."""
        return (place := self._written_place(path)) is not None and self.document.is_alias(place)

    def is_merged(self, path: Path) -> bool:
        """Return whether a merge key brings the field at a path of `data` in."""
        return (place := self._written_place(path)) is not None and self.document.is_merged(place)

    def decimal(self, path: Path) -> Decimal | None:
        """Return the number at a path of `data` exactly as it is written; None where it is not written as a value."""
        place = self._written_place(path)
        return None if place is None else self.document.decimal(place)

    def ambiguous_scalars(self, within: Path) -> Iterator[tuple[Path, Ambiguity]]:
        """The plain scalars of the rubric that readers of YAML 1.1 and 1.2 take differently."""
        found = self.document.ambiguous_scalars(within)
        if not self.around:
            return found
        own = {place: path for path, (place, _) in self._places.items()}
        return ((own[place], ambiguity) for place, ambiguity in found if place in own)

    def _written_place(self, path: Path) -> Path | None:
        place, is_key = self._places.get(path, ((), True))
        return place if place and not is_key else None


class Draft:
    """A view in the making: pieces of v2 data, each with the place that it comes from."""

    def __init__(self, document: Document, path: Path) -> None:
        self.document = document
        self.path = path
        self._places: dict[Path, tuple[Path, bool]] = {path: (path, False)}

    def put(self, own: Path, source: Path, *, is_key: bool = False) -> None:
        """Say that what is at `own` in the data stands at `source`, or in the key there."""
        self._places[*self.path, *own] = source, is_key

    def rename(self, mapping: Mapping[str, Any], names: Mapping[str, str], own: Path) -> dict[str, Any]:
        """The fields of a mapping that `names` has a name of v2 for, under that name, at the same place in the list."""
        source = (*self.path, *own)
        self.put(own, source)
        found: dict[str, Any] = {}
        for key, value in mapping.items():
            if name := names.get(key):
                found[name] = value
                self.put((*own, name), (*source, key))
        return found

    def rename_each(self, items: list[Any], names: Mapping[str, str], own: Path = ()) -> list[Any]:
        """The same for each of a list of mappings; what is none stays as it is."""
        return [
            self.rename(item, names, (*own, index)) if isinstance(item, dict) else item
            for index, item in enumerate(items)
        ]

    def finish(self, dialect: Dialect, data: list[Any], **more: Any) -> View:
        """The view."""
        for index in range(len(data)):
            self._places.setdefault((*self.path, index), ((*self.path, index), False))
        return View(dialect, self.document, self.path, data, **more, _places=self._places)


def walk(root: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every mapping of a document once, in order, with the path that leads there first."""
    stack: list[tuple[Path, Any]] = [((), root)]
    seen: set[int] = set()
    while stack:
        path, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is dict:
            yield path, value
            children: Any = list(value.items())
        else:
            children = list(enumerate(value)) if type(value) is list else []
        stack += [((*path, step), child) for step, child in reversed(children) if type(child) in (dict, list)]


def read_text(mapping: Mapping[str, Any], key: str) -> str:
    """The text that a mapping has under `key`, empty where it has none."""
    value = mapping.get(key)
    return value if isinstance(value, str) else ""


def read_threshold(document: Document, path: Path, otherwise: Decimal | None = None) -> Decimal | None:
    """Return the number in 0..1 at a path of the document, exactly as written; `otherwise` where there is none."""
    mapping = document.value(path[:-1])
    value = mapping.get(path[-1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return otherwise
    return document.decimal(path)
