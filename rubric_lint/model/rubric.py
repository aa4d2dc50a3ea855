"""Model rubrics and their outcomes with their paths, using every valid part of a value."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rubric_lint.model.criterion import (
    HIGHEST,
    LOWEST,
    USUAL_THRESHOLDS,
    Criterion,
    Mark,
    Replacement,
    Scale,
    Shape,
    Thresholds,
    build_criterion,
    unescape_criterion,
)
from rubric_lint.model.mirrors import find_mirrors
from rubric_lint.model.recognition import NOTHING_AROUND, Around
from rubric_lint.model.schema import RubricSchema, schema_for, schema_of
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.scalar import Ambiguity
from rubric_lint.source.values import as_list

if TYPE_CHECKING:
    from rubric_lint.model.groups import Group
    from rubric_lint.model.view import View


NO_SCORES = range(0)


class OutcomeText(NamedTuple):
    """The text of one outcome.

    `of` is what it belongs to: a band (`scores` are those that are certainly in it), a level (with its number `level`
    and its `name`), a criterion, or, as the task, a criterion that has bands or levels too.
    """

    text: str
    path: Path
    of: Literal["band", "level", "criterion", "task"]
    scores: range = NO_SCORES
    level: int | None = None
    name: str | None = None

    @property
    def is_of_scale(self) -> bool:
        """True if a judge chooses between this outcome and others."""
        return self.of in ("band", "level")


LONGEST_LABEL = 60
"""The longest text, in characters, that can be a label or a placeholder."""

# Template engines replace these before a judge reads them: {{low}}, ${HIGH}, {% if %}, <%= low %>, %(low)s, {low},
# $low.
_TEMPLATE = r"\{\{|\$\{|\{%|<%|%\(\w|\A\s*(?:\{[\w.-]+\}|\$\w+|%\w+%|@@?\w+@@?|__[^\W_]\w*__)\s*\Z"
_MARKS_OF_TEMPLATES = ("{", "$", "%", "@", "__")


def is_template(text: str) -> bool:
    """Return whether the text is a template, so that its final text is unknown."""
    return any(mark in text for mark in _MARKS_OF_TEMPLATES) and re.search(_TEMPLATE, text) is not None


# A string, which is compiled when an outcome begins like a placeholder: few do.
_STAND_INS = r"""(?xis)
    (?: to[ -]?do | tb[dac] | fix[ -]?me | x{2,5} | placeholder | lorem\ ipsum\b.{0,60} | fill\ (?:me\ |this\ )?in
      | to\ be\ (?:done|defined|determined|decided|added|written|completed|filled\ in|confirmed|announced)
      | (?:insert|enter|write|add|put|describe|your|the)\ [\w ]{0,30}\bhere
      | not\ (?:yet\ )?(?:written|defined)(?:\ yet)?
    ) (?: \s*[.!…]+ )?
    | (?: to[ -]?do | tb[dac] | fix[ -]?me | xxx ) \s* [:(\[-] .*
    | <[^<>]*> | \[\s*(?:insert|enter|write|add|put|describe|your|to[ -]?do|tb[dac]|fill|placeholder)\b[^\[\]]*\]
"""
_WORD = r"[^\W_]"


def is_placeholder(text: str) -> bool:
    """Return whether the text is only a placeholder: punctuation, TODO, TBD, `<...>`."""
    words = text.split(None, 1)
    begin = words[0].casefold() if words else ""
    if not may_be_placeholder(begin):
        return False
    stripped = text.strip()
    if len(stripped) > LONGEST_LABEL and begin[:4] not in _STARTS:
        return False
    return not is_template(stripped) and not (re.search(_WORD, stripped) and re.fullmatch(_STAND_INS, stripped) is None)


@lru_cache(maxsize=1 << 12)
def may_be_placeholder(opening: str) -> bool:
    """Return whether a placeholder may begin with a word, given in lower case with the punctuation after it."""
    if not opening:
        return False
    is_word = opening[0].isalnum() and opening not in _BEGINS and opening.rstrip(".!…") not in _BEGINS
    return not (is_word and opening[:4] not in _STARTS)


_STARTS = frozenset(["todo", "to-d", "tbd:", "tba:", "tbc:", "tbd(", "fixm", "fix-", "xxx:", "xxx("])
_BEGINS = frozenset(
    """
    to tbd tba tbc fix xx xxx xxxx xxxxx placeholder lorem fill insert enter write add put describe your the not
    """.split()  # noqa: SIM905 (it reads better)
)
"""The first words of placeholders; for most outcomes, looking one word up is enough."""


class _RubricFields(NamedTuple):
    path: Path
    version: str
    entries: Sequence[Criterion]
    thresholds: Thresholds
    implicit_required: bool
    replacements: Mapping[str, Replacement]
    ambiguous: tuple[tuple[Path, Ambiguity], ...]
    view: "View | None" = None
    has_strays: bool = False
    doubts: tuple[tuple[Path, str], ...] = ()


class Rubric(_RubricFields):
    """A `rubrics` value, valid or not. `entries` leaves out strays: items that are neither strings nor mappings.

    `doubts` are the places around a rubric of our format of what may decide its verdict and is not read.

    Paths are those of the document, or those of `view` if it translates the value to the format.
    """

    @property
    def dialect(self) -> str:
        """The name of its dialect, or an empty string for the format itself."""
        return self.view.dialect.name if self.view else ""

    @property
    def task(self) -> str:
        """What is judged as a whole; empty if nothing says it."""
        return self.view.task if self.view else ""

    @property
    def root(self) -> "Group | None":
        """The root of its groups and conditions; None without any, as before version 3."""
        if self.view is None:
            return None
        return self.view.tree or self.view.outline

    @property
    def groups(self) -> "tuple[Group, ...]":
        """The groups at any depth, in document order; none before version 3."""
        return tuple(self.root.groups) if self.root else ()

    @property
    def refusal(self) -> tuple[Path, str] | None:
        """Where in the document and why the rubric is neither scored nor converted; None if it is."""
        if self.view:
            return self.view.refusal
        return self.doubts[0] if self.doubts else None

    @property
    def schema(self) -> RubricSchema:
        """The schema of the value as it is written."""
        if self.view and self.dialect:
            return schema_of(self.view.schema)
        return schema_for(self.version)

    def place(self, path: Path) -> Path:
        """Return where in the document a path in the rubric is."""
        return self.view.place(path) if self.view else path

    def find_written(self, path: Path) -> tuple[Path, bool] | None:
        """Return the path in the document, and whether the value is in the key there; None if it is not written."""
        return self.view.find_written(path) if self.view else (path, False)

    def read_value(self, document: Document) -> Any:
        """Return the value as it is written; if it is a whole document, without the name of its schema."""
        value = document.value(self.path)
        if self.path or not isinstance(value, dict):
            return value
        return {name: part for name, part in value.items() if name != "$schema"}

    def format_field(self, name: str) -> str:
        """Return the name of a field as the file writes it, in the form for messages."""
        if self.view:
            name = self.view.dialect.fields.get(name, name)
        return f"`{name}`"

    def format_gate(self, gate: int) -> str:
        """Write a gate on a score in the units of the file."""
        if self.view and self.dialect:
            return f"{Decimal(gate * self.view.dialect.top) / HIGHEST:f}"
        return str(gate)

    @property
    def span(self) -> tuple[int, int]:
        """The scores of bands that are worth 0 and 1."""
        return (self.view and self.view.span) or (LOWEST, HIGHEST)

    def find_ends(self, scale: Scale) -> tuple[int, int]:
        """Return the lowest and the highest score that the bands of a scale should cover."""
        lowest, highest = sorted((self.view and self.view.span) or scale.ends)
        return lowest, highest

    @property
    def is_version_3(self) -> bool:
        """Whether it follows version 3 of the format."""
        return self.view is not None and not self.dialect

    @property
    def borderline(self) -> Mark | None:
        """The lowest score that is borderline; None without one, or if the usual one is out of reach.

        It is where each question must be met, and where there is only one.
        """
        pass_at, borderline_at = self.thresholds
        are_checks = all(entry.is_check for entry in self.entries)
        is_all_or_nothing = are_checks and (len(self.entries) == 1 or all(entry.gate for entry in self.entries))
        is_out_of_reach = is_all_or_nothing and borderline_at == USUAL_THRESHOLDS.borderline_at
        return None if is_out_of_reach or borderline_at >= pass_at else borderline_at

    @cached_property
    def mirrors(self) -> tuple[tuple[Criterion, Criterion], ...]:
        """The penalties that mirror a criterion that gives points, each with that criterion."""
        return tuple(find_mirrors(self.criteria))

    @cached_property
    def shape(self) -> Shape | None:
        """The shape of most entries (the first in a tie), or None without entries."""
        shapes = [shape for entry in self.entries for shape in entry.shapes[:1]]
        return max(dict.fromkeys(shapes), key=shapes.count) if shapes else None

    @cached_property
    def is_mixed(self) -> bool:
        """Whether the entries have different shapes."""
        return len({entry.shapes[0] for entry in self.entries}) > 1

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria; the bands of a holistic rubric do not count."""
        return tuple([entry for entry in self.entries if entry.shapes[0] is not Shape.HOLISTIC])

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the criteria, written and generated, for comparison."""
        return frozenset([fold_id(criterion.id) for criterion in self.criteria])

    def find_free(self, identifier: str, number: int) -> int:
        """Return the lowest number from `number` on that makes an id, as in `tone-2`, which no criterion has."""
        while fold_id(f"{identifier}-{number}") in self.ids:
            number += 1
        return number

    @cached_property
    def last_without_id(self) -> int:
        """The index of the last criterion whose id is generated; -1 if there is none."""
        return max((int(criterion.path[-1]) for criterion in self.criteria if not criterion.has_own_id), default=-1)

    @cached_property
    def entries_by_place(self) -> Mapping[Path, Criterion]:
        """The entries by their paths in the document."""
        return {self.place(entry.path): entry for entry in self.entries}

    @cached_property
    def outdated(self) -> tuple[tuple[Path, Mapping[str, Any], str], ...]:
        """The deprecated fields: the path and the fields of the criterion or band, and the name."""
        old = self.replacements.keys()
        if not old:
            return ()
        found: list[tuple[Path, Mapping[str, Any]]] = []
        for entry in self.entries:
            if entry.fields is None:
                continue
            if not old.isdisjoint(entry.fields):
                found.append((entry.path, entry.fields))
            if entry.scale is None:
                continue
            for index, band in enumerate(as_list(entry.fields.get("score_ranges"))):
                if isinstance(band, dict) and not old.isdisjoint(band):
                    found.append(((*entry.scale.path, index), band))
        return tuple((path, fields, name) for path, fields in found for name in old if name in fields)

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """The bands of every criterion that has bands, and those of the holistic rubric, without stray bands."""
        scales = [entry.scale for entry in self.criteria if entry.scale and Shape.SCORE_RANGES in entry.shapes]
        holistic = [entry.scale for entry in self.entries if entry.scale and entry.shapes[0] is Shape.HOLISTIC]
        if len(holistic) > 1 or (holistic and not self.is_mixed):
            bands = tuple(band for scale in holistic for band in scale.bands)
            scales.append(Scale(self.path, bands, None, self.path, is_map=False, ends=holistic[0].ends))
        return tuple(scales)

    @cached_property
    def outcomes(self) -> tuple[OutcomeText, ...]:
        """Every outcome that is a string: of bands, levels and criteria."""
        found = [
            OutcomeText(outcome, place, "band", scores)
            for scale in self.scales
            for _, _, _, _, scores, _, outcome, place in scale.bands
            if outcome is not None
        ]
        for criterion in self.criteria:
            found += [
                OutcomeText(level.outcome, level.outcome_path, "level", level=level.number, name=level.name)
                for level in criterion.levels or ()
                if level.outcome is not None
            ]
            if criterion.outcome is not None:
                of: Literal["criterion", "task"] = "criterion"
                if criterion.scale is not None or criterion.levels is not None:
                    of = "task"
                found.append(OutcomeText(criterion.outcome, criterion.outcome_path, of))
        return tuple(found)


class SharedEntries(Sequence[Criterion]):
    """The entries of a rubric that has the list of the rubric `first`, by an alias or a merge key.

    They are built when they are asked for: a list may be shared thousands of times.
    """

    def __init__(self, first: Rubric, build: Callable[[], Rubric]) -> None:
        self.first = first
        self._build = build

    @cached_property
    def _built(self) -> Sequence[Criterion]:
        return self._build().entries

    def __len__(self) -> int:
        return len(self.first.entries)

    def __getitem__(self, at: Any) -> Any:
        return self._built[at]

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self._built)

    def __reduce__(self) -> Any:
        return tuple, (self._built,)


def apply_threshold(thresholds: Thresholds, threshold: Mark | None, *, is_gate: bool) -> Thresholds:
    """Return the thresholds of a rubric by its own one, if any; with `is_gate`, that only makes others stricter."""
    if threshold is None or (is_gate and threshold <= thresholds.pass_at):
        return thresholds
    return Thresholds(threshold, threshold)


def build_rubric(
    document: Document,
    path: Path,
    version: str,
    thresholds: Thresholds,
    around: Around = NOTHING_AROUND,
    *,
    implicit_required: bool = False,
    view: "View | None" = None,
) -> Rubric:
    """Build the model of the `rubrics` value at `path`; never raise, but omit invalid parts or set them to None.

    With a `view`, build the model of the translated value; the rules of its dialect override the settings. So does the
    threshold of the suite, which `around` has, with the `doubts` of a rubric of our format.
    """
    reader: Document | View = document
    is_template = False
    if view:
        from rubric_lint.source.nunjucks import RENDERS  # noqa: PLC0415  (most rubrics are ours)

        is_template = view.dialect.name in RENDERS
        reader, value = view, view.data
        implicit_required = view.dialect.implicit_required or (implicit_required and not view.dialect.name)
        thresholds = apply_threshold(thresholds, view.threshold, is_gate=view.is_gate)
    else:
        value = document.value(path)
        thresholds = apply_threshold(thresholds, around.threshold, is_gate=around.is_gate)
    if view and (view.threshold is None or view.is_gate) and not view.dialect.has_borderline:
        thresholds = Thresholds(thresholds.pass_at, thresholds.pass_at)
    if view and view.borderline is not None:
        thresholds = thresholds._replace(borderline_at=view.borderline)
    entries = as_list(value)
    sound = [(index, entry) for index, entry in enumerate(entries) if isinstance(entry, str | dict)]
    schema = schema_for(version)
    known = schema.entry_fields
    implied = HIGHEST if implicit_required else None
    may_borrow = reader.may_borrow
    deducts = view is not None and view.dialect.has_deductions
    built = [
        build_criterion(
            reader, (*path, index), entry, known=known, implied=implied, may_borrow=may_borrow, deducts=deducts
        )
        for index, entry in sound
    ]
    if view and view.ids:
        built = [
            criterion._replace(id=view.ids[index], weight=view.weights[index])
            for criterion, (index, _) in zip(built, sound, strict=True)
        ]
    if is_template:
        built = [unescape_criterion(criterion) for criterion in built]
    replacements = {} if view and view.dialect.name else schema.replacements
    return Rubric(
        path=path,
        version=version,
        entries=tuple(built),
        thresholds=thresholds,
        implicit_required=implicit_required,
        replacements=replacements,
        ambiguous=tuple(reader.ambiguous_scalars(path)),
        view=view,
        has_strays=len(sound) < len(entries),
        doubts=around.doubts,
    )


def fold_id(identifier: str) -> str:
    """Normalise an id for comparison, so that ids that look the same are equal (Unicode NFC)."""
    return identifier if identifier.isascii() else unicodedata.normalize("NFC", identifier)


def fold_outcome(outcome: str) -> str:
    """Return an outcome without what does not change what it says: case, spaces and the mark at its end."""
    return " ".join(outcome.casefold().split()).rstrip(" .!")
