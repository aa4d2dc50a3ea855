"""The model: rubrics, criteria, bands and levels, each with its path. Made of whatever part of a value is sound."""

import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from rubric_lint.bands import HIGHEST, Scale, as_integer, outcome_field, read_key, read_outcome, read_scale
from rubric_lint.deprecation import Replacement
from rubric_lint.document import Document
from rubric_lint.finding import Part, Path
from rubric_lint.nunjucks import RENDERS, unescape
from rubric_lint.outcomes import Outcome
from rubric_lint.scalar import Ambiguity
from rubric_lint.schema import RubricSchema, schema_for, schema_of
from rubric_lint.thresholds import Thresholds
from rubric_lint.wording import shorten

if TYPE_CHECKING:
    from rubric_lint.interop.view import View

ONE = Decimal(1)


class Shape(StrEnum):
    """The four shapes of a rubric, by the names that reports use (docs/format.md, section 1)."""

    CHECKLIST = "checklist"
    SCORE_RANGES = "score_ranges"
    HOLISTIC = "holistic"
    LEVELS = "levels"


class Level(NamedTuple):
    """One level of a named scale; `number` is None where it is not an integer.

    `path` is that of the level, `number_path` and `part` say where its number is written, `outcome_path` where its
    outcome is; what is missing has the place of the level.
    """

    path: Path
    number: int | None
    name: str | None
    outcome: str | None
    number_path: Path
    part: Part
    outcome_path: Path


class Criterion(NamedTuple):
    """One thing that is judged.

    `id` is its own or, by its place, `rubric-N`; `fields` the mapping as read, None for a plain text; `weight` is exact
    (the decimal that is written), None where it is not a finite number >= 0; `gate` is the least score (0..10), or for
    levels the least level, None for no gate. `borrows_id`: an alias or a merge key brings the id in from elsewhere.
    """

    path: Path
    id: str
    fields: Mapping[str, Any] | None
    shapes: tuple[Shape, ...]
    outcome: str | None
    weight: Decimal | None
    gate: int | None
    gate_path: Path
    scale: Scale | None
    levels: tuple[Level, ...] | None
    borrows_id: bool

    @property
    def has_own_id(self) -> bool:
        """Whether the id is written, not made from the place in the list."""
        return self.fields is not None and isinstance(self.fields.get("id"), str)

    def path_of(self, field: str) -> Path:
        """Return the path of a field, or of the whole criterion where the field is missing."""
        return (*self.path, field) if self.fields is not None and field in self.fields else self.path

    @property
    def label(self) -> str:
        """What messages call it: by the id that is written, or else by its place in the list."""
        words = " ".join(self.id.split()) if self.has_own_id else ""
        return f"criterion `{shorten(words)}`" if words else f"criterion {int(self.path[-1]) + 1}"

    @property
    def outcome_path(self) -> Path:
        """The path of the outcome, or of the whole criterion where it has none, or is nothing else."""
        return self.path_of(outcome_field(self.fields or {}))


class _RubricFields(NamedTuple):
    path: Path
    version: str
    entries: tuple[Criterion, ...]
    thresholds: Thresholds
    implicit_required: bool
    replacements: Mapping[str, Replacement]
    ambiguous: tuple[tuple[Path, Ambiguity], ...]
    view: "View | None" = None


class Rubric(_RubricFields):
    """One `rubrics` value, sound or not. `entries` that are neither text nor mapping are left out.

    Paths are those of the document; but where `view` has the value in the words of the format, the paths are its own.
    """

    @property
    def dialect(self) -> str:
        """The name of the dialect in which it is written, empty for the format itself."""
        return self.view.dialect.name if self.view else ""

    @property
    def schema(self) -> RubricSchema:
        """The schema that it follows as it is written."""
        return schema_of(self.view.schema) if self.view else schema_for(self.version)

    def word_field(self, name: str) -> str:
        """What a field of the format is called in the file, in the form in which messages name it."""
        return f"`{self.view.dialect.fields.get(name, name) if self.view else name}`"

    def word_gate(self, gate: int) -> str:
        """A gate on a score in the units of the file."""
        return str(gate) if self.view is None else f"{Decimal(gate * self.view.dialect.top) / HIGHEST:f}"

    @cached_property
    def shape(self) -> Shape | None:
        """The shape of most entries, the first of them where two shapes are as frequent; None without entries."""
        shapes = [shape for entry in self.entries for shape in entry.shapes[:1]]
        return max(dict.fromkeys(shapes), key=shapes.count) if shapes else None

    @cached_property
    def is_mixed(self) -> bool:
        """Whether the entries have more than one shape."""
        return len({entry.shapes[0] for entry in self.entries}) > 1

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What is judged one by one; the bands of a holistic scale are not."""
        return tuple(entry for entry in self.entries if entry.shapes[0] is not Shape.HOLISTIC)

    @cached_property
    def entries_by_place(self) -> Mapping[Path, Criterion]:
        """The entries by their paths in the document."""
        return {self.view.place(entry.path) if self.view else entry.path: entry for entry in self.entries}

    @cached_property
    def mappings(self) -> tuple[tuple[Path, Mapping[str, Any]], ...]:
        """Every mapping in which the fields of criteria and bands stand: the entries, and the items of band lists."""
        found: list[tuple[Path, Mapping[str, Any]]] = []
        for entry in self.entries:
            if entry.fields is not None:
                found.append((entry.path, entry.fields))
                if entry.scale and isinstance(ranges := entry.fields.get("score_ranges"), list):
                    path = entry.scale.path
                    found += [((*path, index), band) for index, band in enumerate(ranges) if isinstance(band, dict)]
        return tuple(found)

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """The bands of every criterion that has some, and those of the holistic scale, without a stray band."""
        scales = [entry.scale for entry in self.criteria if entry.scale and Shape.SCORE_RANGES in entry.shapes]
        holistic = [entry.scale for entry in self.entries if entry.scale and entry.shapes[0] is Shape.HOLISTIC]
        if len(holistic) > 1 or (holistic and not self.is_mixed):
            bands = tuple(band for scale in holistic for band in scale.bands)
            scales.append(Scale(self.path, bands, None, self.path, is_map=False))
        return tuple(scales)

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome that is a string: those of bands and levels, and what the criteria say themselves."""
        found = [
            Outcome(band.outcome, band.outcome_path, "band", band.scores)
            for scale in self.scales
            for band in scale.bands
            if band.outcome is not None
        ]
        for criterion in self.criteria:
            found += [
                Outcome(level.outcome, level.outcome_path, "level", level=level.number, name=level.name)
                for level in criterion.levels or ()
                if level.outcome is not None
            ]
            if criterion.outcome is not None:
                of: Literal["criterion", "task"] = "criterion"
                if criterion.scale is not None or criterion.levels is not None:
                    of = "task"
                found.append(Outcome(criterion.outcome, criterion.outcome_path, of))
        return tuple(found)

    @cached_property
    def folded_outcomes(self) -> str:
        """All outcomes in one text without upper case, each on a line: a quick look at which words none of them has."""
        return "\n".join(["", *(outcome.text for outcome in self.outcomes)]).casefold()


class _Reader(Protocol):
    """What knows how the pieces of a value are written: a document, or a view of one."""

    def is_alias(self, path: Path) -> bool: ...
    def is_merged(self, path: Path) -> bool: ...
    def decimal(self, path: Path) -> Decimal | None: ...
    def ambiguous_scalars(self, within: Path) -> Iterable[tuple[Path, Ambiguity]]: ...


def build_rubric(
    document: Document,
    path: Path,
    version: str,
    thresholds: Thresholds,
    *,
    implicit_required: bool = False,
    view: "View | None" = None,
) -> Rubric:
    """The model of the `rubrics` value at `path`; never raises, what is unsound is None in it or left out.

    With a `view` it is the model of what that shows, and what its dialect says goes before the settings.
    """
    reader: _Reader = document
    if view:
        reader, value = view, view.data
        implicit_required = view.dialect.implicit_required
        pass_at = thresholds.pass_at if view.threshold is None else view.threshold
        if view.threshold is not None or not view.dialect.has_borderline:
            thresholds = Thresholds(pass_at, pass_at)
    else:
        value = document.value(path)
    entries = value if isinstance(value, list) else []
    schema = schema_for(version)
    implied = HIGHEST if implicit_required else None
    built = (
        _build_criterion(reader, (*path, index), index, entries, known=schema.entry_fields, implied=implied)
        for index, entry in enumerate(entries)
        if isinstance(entry, str | dict)
    )
    return Rubric(
        path=path,
        version=version,
        entries=tuple(map(_unescape, built) if view and view.dialect.name in RENDERS else built),
        thresholds=thresholds,
        implicit_required=implicit_required,
        replacements={} if view else schema.replacements,
        ambiguous=tuple(reader.ambiguous_scalars(path)),
        view=view,
    )


def _build_criterion(
    document: _Reader, path: Path, index: int, entries: list[Any], *, known: Mapping[str, Any], implied: int | None
) -> Criterion:
    entry = entries[index]
    generated = f"rubric-{index + 1}"
    borrows_id = document.is_alias(path) or (
        isinstance(entry, dict) and "id" in entry and document.is_merged((*path, "id"))
    )
    if isinstance(entry, str):
        return Criterion(path, generated, None, (Shape.CHECKLIST,), entry, ONE, implied, path, None, None, borrows_id)
    own_id = entry.get("id")
    shapes = _CHECKLIST if SHAPE_FIELDS.keys().isdisjoint(entry) else _read_shapes(entry, known)
    gate, gate_path = _read_gate(entry, path, shapes[0])
    if implied is not None and gate is None and shapes is _CHECKLIST and gate_path[-1] not in entry:
        gate = implied
    levels = _read_levels(entry["levels"], (*path, "levels")) if "levels" in entry else None
    identifier = own_id if isinstance(own_id, str) else generated
    outcome, weight = read_outcome(entry), _read_weight(document, entry, path)
    scale = read_scale(entry, path, gate, gate_path)
    # By position: by name would take twice the time, for every criterion there is.
    return Criterion(path, identifier, entry, shapes, outcome, weight, gate, gate_path, scale, levels, borrows_id)


def _unescape(criterion: Criterion) -> Criterion:
    """Return a criterion of a dialect whose texts are templates, with the texts that a judge is told."""

    def plain(text: str | None) -> str | None:
        return None if text is None else unescape(text)

    scale, levels = criterion.scale, criterion.levels
    if scale:
        scale = scale._replace(bands=tuple(band._replace(outcome=plain(band.outcome)) for band in scale.bands))
    if levels is not None:
        levels = tuple(level._replace(name=plain(level.name), outcome=plain(level.outcome)) for level in levels)
    outcome = plain(criterion.outcome)
    return criterion._replace(id=unescape(criterion.id), outcome=outcome, scale=scale, levels=levels)


_CHECKLIST = (Shape.CHECKLIST,)
SHAPE_FIELDS = {"score_ranges": Shape.SCORE_RANGES, "levels": Shape.LEVELS, "score_range": Shape.HOLISTIC}
"""The fields that give an entry its shape; one without any is of a checklist."""


def _read_shapes(entry: dict[str, Any], known: Mapping[str, Any]) -> tuple[Shape, ...]:
    return tuple(shape for field, shape in SHAPE_FIELDS.items() if field in entry and field in known) or _CHECKLIST


def _read_weight(document: _Reader, entry: dict[str, Any], path: Path) -> Decimal | None:
    weight = entry.get("weight", 1)
    if weight == 1 and type(weight) is int:
        return ONE
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
        return None
    return document.decimal((*path, "weight"))


def _read_gate(entry: Mapping[str, Any], path: Path, shape: Shape) -> tuple[int | None, Path]:
    field = "required_min_level" if shape is Shape.LEVELS else "required_min_score"
    if field in entry or shape is Shape.LEVELS:
        return as_integer(entry.get(field)), (*path, field)
    gate = HIGHEST if entry.get("required") is True else None
    return gate, (*path, "required")


def _read_levels(levels: Any, path: Path) -> tuple[Level, ...] | None:
    if isinstance(levels, dict):
        return tuple(_read_short_level(key, outcome, (*path, key)) for key, outcome in levels.items())
    if not isinstance(levels, list):
        return None
    return tuple(_read_level(level, (*path, index)) for index, level in enumerate(levels) if isinstance(level, dict))


def _read_short_level(key: str, outcome: Any, path: Path) -> Level:
    return Level(path, read_key(key), None, outcome if isinstance(outcome, str) else None, path, Part.KEY, path)


def _read_level(level: dict[str, Any], path: Path) -> Level:
    field = outcome_field(level)
    return Level(
        path=path,
        number=as_integer(level.get("level")),
        name=level["name"] if isinstance(level.get("name"), str) else None,
        outcome=read_outcome(level),
        number_path=(*path, "level") if "level" in level else path,
        part=Part.VALUE if "level" in level else Part.HEAD,
        outcome_path=(*path, field) if field in level else path,
    )


def fold_id(identifier: str) -> str:
    """The form in which two ids are compared: what looks the same on screen is the same (Unicode NFC)."""
    return identifier if identifier.isascii() else unicodedata.normalize("NFC", identifier)
