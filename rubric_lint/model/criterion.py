"""Model criteria, their bands and their levels, each with its path, using every valid part of a value."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard, TypeVar, Union, cast

from rubric_lint.model.messages import shorten
from rubric_lint.source.path import Part, Path
from rubric_lint.source.values import as_string

if TYPE_CHECKING:
    from fractions import Fraction


Key = TypeVar("Key")

Mark = Union[Decimal, "Fraction"]
"""A mark in 0..1: a decimal, or a fraction that no decimal is equal to."""


class Thresholds(NamedTuple):
    """The lowest scores in 0..1 of the verdicts `pass` and `borderline`."""

    pass_at: "Mark"
    borderline_at: "Mark"

    @property
    def as_settings(self) -> str:
        """The settings that say them; without one for `borderline`, that is the usual one."""
        if self.borderline_at == USUAL_THRESHOLDS.borderline_at:
            return f"`pass = {self.pass_at}`"
        return f"`pass = {self.pass_at}` and `borderline = {self.borderline_at}`"


USUAL_THRESHOLDS = Thresholds(Decimal("0.8"), Decimal("0.6"))
"""The default thresholds."""

MOST_DIGITS = 6
"""A mark with as many digits behind the point in another system is rounded down to what the same scores reach."""


class Replacement(NamedTuple):
    """The field that replaces a deprecated one; `values`, if any, maps old values to new ones (None: no field)."""

    name: str
    values: Mapping[str, Any] | None

    def covers(self, value: Any) -> bool:
        """Return whether the schema says what replaces `value`."""
        return self.values is None or _key_of(value) in self.values

    def value_for(self, value: Any) -> Any:
        """Return the value of the new field for `value`; None if it is left out."""
        return value if self.values is None else self.values[_key_of(value)]


def _key_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else ""


class Hundredth(float):
    """An answer on a scale that is written with a decimal point; it equals the number that JSON writes.

    Its functions say that answers are integers, as nearly all are: what reads answers compares them, and takes
    `fraction` for the exact arithmetic.
    """

    @classmethod
    def of(cls, number: int) -> int:
        """Return the answer that is a number of hundredths."""
        return cast("int", cls(number / 100))

    @classmethod
    def read(cls, value: Any) -> int | None:
        """Return a number as an answer; None if it has more than two decimals, or is no number."""
        if not is_number(value) or not abs(value) < _LARGEST:
            return None
        number = Decimal(str(value)) * 100
        return cls.of(int(number)) if number == int(number) else None

    @staticmethod
    def fraction(answer: float) -> "Fraction":
        """Return an answer on any scale exactly."""
        from fractions import Fraction  # noqa: PLC0415  (linting does without)

        return Fraction(round(answer * 100), 100) if isinstance(answer, Hundredth) else Fraction(answer)


_LARGEST = 10**9
"""More than any number on a scale."""


def as_answer(value: Any) -> int | None:
    """Return a value as an answer: an integer, or a `Hundredth`; else None."""
    return cast("int", value) if isinstance(value, Hundredth) else as_integer(value)


LOWEST, HIGHEST = 0, 10
SCORES = range(LOWEST, HIGHEST + 1)
"""The scores that a judge can give."""


class Band(NamedTuple):
    """A score range and its outcome.

    `scores` are the scores of its scale that are certainly in the band: none if a bound is invalid. `reach` are those
    that may have been meant: an invalid bound may mean any score, but the other bound still counts. For a valid band
    both are the same. `path` and `part` locate the range, `outcome_path` the outcome.
    """

    path: Path
    part: Part
    lower: float | None
    upper: float | None
    scores: range
    reach: range
    outcome: str | None
    outcome_path: Path

    @property
    def is_sound(self) -> bool:
        """Whether both bounds are scores in the right order."""
        return len(self.scores) > 0

    @property
    def written(self) -> str:
        """The range as written in the map form."""
        return f"[{self.lower}, {self.upper}]"


def looks_like_bands(value: Any) -> bool:
    """Return whether a value has the form of `score_ranges`, valid or not: many bands, not one range."""
    if isinstance(value, dict):
        return bool(value) and all(isinstance(outcome, str) for outcome in value.values())
    return isinstance(value, list) and bool(value) and all(isinstance(band, dict) for band in value)


class Scale(NamedTuple):
    """The bands of a criterion or of a holistic rubric, which together should cover the scores between its ends.

    `path` is the path of their field; `gate` is the gate on the score, with its place. `is_map`: the bands are written
    in the short form. `ends` are the worst and the best score; the worst is the higher one if lower is better.
    """

    path: Path
    bands: tuple[Band, ...]
    gate: int | None
    gate_path: Path
    is_map: bool
    ends: tuple[int, int] = (LOWEST, HIGHEST)

    @property
    def is_whole(self) -> bool:
        """Whether the bands cover the scale in order, each with valid bounds."""
        following, highest = sorted(self.ends)
        for _, _, _, _, scores, reach, _, _ in self.bands:
            if scores is not reach or scores.start != following:
                return False
            following = scores.stop
        return following == highest + 1


def looks_like_levels(scale: Scale) -> bool:
    """Return whether the bands of a criterion are rather levels: scores of a scale of their own, such as 1 to 5.

    They are if each stands for one score below 10, without a gap between them. In the short form, which does not say
    where a band ends, they are numbered from 1, or start at 1 and reach at most 5.
    """
    if scale.ends != (LOWEST, HIGHEST):
        return False
    if scale.path[-1:] != ("score_ranges",) or len(scale.bands) < 2 or not all(band.is_sound for band in scale.bands):
        return False
    starts = sorted(band.scores.start for band in scale.bands)
    is_counted = starts == list(range(starts[0], starts[-1] + 1))
    if scale.is_map:
        return starts[0] == 1 and (is_counted or starts[-1] <= HIGHEST // 2)
    return is_counted and starts[-1] < HIGHEST and all(len(band.scores) == 1 for band in scale.bands)


def read_scale(entry: dict[str, Any], path: Path, gate: int | None, gate_path: Path) -> Scale | None:
    """Read the bands of an entry: a list, a map, or the one range of a holistic rubric; None without bands."""
    if not ("score_ranges" in entry or "score_range" in entry):
        return None
    ends: tuple[int, int] = entry.get(SPAN, (LOWEST, HIGHEST))
    lowest, highest = sorted(ends)
    if "score_ranges" in entry:
        ranges, field = entry["score_ranges"], (*path, "score_ranges")
        if isinstance(ranges, dict):
            bounds = {key: read_key(key) for key in ranges}
            scale = range(lowest, highest + 1)
            known = sorted({bound for bound in bounds.values() if bound is not None and bound in scale})
            # A band with an invalid bound may start anywhere, so the bands around it may be shorter than they look.
            found = []
            for key, outcome in ranges.items():
                lower = bounds[key]
                text = outcome if isinstance(outcome, str) else None
                upper = None
                if lower is not None and lower in scale:
                    upper = next((bound - 1 for bound in known if bound > lower), highest)
                scores, reach = _reach(lower, upper, lowest, highest)
                found.append(Band((*field, key), Part.KEY, lower, upper, scores, reach, text, (*field, key)))
            return Scale(field, tuple(found), gate, gate_path, is_map=True, ends=ends)
        items = ranges if isinstance(ranges, list) else []
        bands = tuple([_read_band(item, (*field, index), lowest, highest) for index, item in enumerate(items)])
        return Scale(field, bands, gate, gate_path, is_map=False, ends=ends)
    return Scale(path, (_read_band(entry, path, lowest, highest),), None, gate_path, is_map=False, ends=ends)


_BANDS: Mapping[tuple[float | None, float | None], range] = {
    (lower, upper): range(lower, upper + 1) for lower in SCORES for upper in range(lower, HIGHEST + 1)
}


def _read_band(item: Any, path: Path, lowest: int, highest: int) -> Band:
    outcome, outcome_path = None, path
    if isinstance(item, dict):
        field = outcome_field(item)
        if field in item:
            outcome_path = (*path, field)
            outcome = item[field] if isinstance(item[field], str) else None
        if "score_range" in item:
            value, lower, upper = item["score_range"], None, None
            if isinstance(value, list) and len(value) == 2:
                lower, upper = value
                if not type(lower) is type(upper) is int:
                    lower, upper = read_number(lower), read_number(upper)
            scores, reach = _reach(lower, upper, lowest, highest)
            return Band((*path, "score_range"), Part.VALUE, lower, upper, scores, reach, outcome, outcome_path)
    return Band(path, Part.HEAD, None, None, range(0), range(lowest, highest + 1), outcome, outcome_path)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_number(value: Any) -> float | None:
    """Return a value if it is a finite number, else None."""
    if type(value) is int:
        return value
    return value if type(value) is float and math.isfinite(value) else None


def _reach(lower: float | None, upper: float | None, lowest: float, highest: float) -> tuple[range, range]:
    """Return the scores of a scale that are certainly between two bounds, and those that may be."""
    sound = _find_sound(lower, upper, lowest, highest)
    if sound:
        return sound, sound
    lowest, highest = (
        end if bound is None or not lowest <= bound <= highest else bound
        for bound, end in ((lower, lowest), (upper, highest))
    )
    if lowest == lower and highest == upper:  # the bounds may be swapped
        lowest, highest = min(lowest, highest), max(lowest, highest)
    return range(0), range(math.floor(lowest), math.ceil(highest) + 1)


def _find_sound(lower: float | None, upper: float | None, lowest: float, highest: float) -> range | None:
    """Return the scores between two bounds that are scores of a scale in the right order; else None."""
    if (lowest, highest) == (LOWEST, HIGHEST):  # of nearly all scales
        return _BANDS.get((lower, upper))
    first, last = as_integer(lower), as_integer(upper)
    if first is None or last is None or not lowest <= first <= last <= highest:
        return None
    return range(first, last + 1)


_KEY = re.compile(r"(0|-?[1-9][0-9]{0,99})(?:\.0+)?")


RANGE = r"(\d{1,2})(?:\s*(?:[-\u2010-\u2015]|\.{2,3})\s*|\s+[^\W\d]{1,3}\s+)(\d{1,2})"
"""Matches a range of scores as people write it: `0-3`, `0..3`, `0 to 3`."""


def read_key(key: str) -> int | None:
    """Return a key of a short form as an integer (`7.0` counts), or None."""
    found = _KEY.fullmatch(key)
    return int(found[1]) if found else None


def outcome_field(entry: Mapping[str, Any]) -> str:
    """Return the name of the outcome field of a mapping: the new name, or the old one if only that is used."""
    if "expected_outcome" in entry or "description" not in entry:
        return "expected_outcome"
    return "description"


def as_integer(value: Any) -> int | None:
    """Return a value as an integer (`7.0` counts, see JSON Schema draft-07, 6.1.1), or None."""
    number = read_number(value)
    return int(number) if number is not None and number == math.floor(number) else None


ONE = Decimal(1)


class Shape(StrEnum):
    """The shapes of a rubric, with the names that reports use; a mixed one has criteria of several."""

    CHECKLIST = "checklist"
    SCORE_RANGES = "score_ranges"
    HOLISTIC = "holistic"
    LEVELS = "levels"
    MIXED = "mixed"


class JudgeQuestion(NamedTuple):
    """What another system asks its judge for about a criterion, in `words`: `a score from 0 to 1`.

    `highest` is the best score that the judge is asked for, 0 if it gives none. `said` is the scale that the text
    itself asks for, if it is another one. With `is_negated`, a criterion that is met counts as one that is not. Two
    criteria with one text are two only if they are `apart`. `unseen` is what the judge is not shown: the options that
    would show it.
    """

    words: str
    highest: int
    said: str = ""
    is_negated: bool = False
    apart: str = ""
    unseen: tuple[str, ...] = ()


ASKED = "asked"
"""The field of a criterion in a view that holds what its system asks the judge; in documents it is an unknown field."""


SPAN = "span"
"""The field of a criterion in a view that holds the levels that are worth 0 and 1, if not its lowest and highest.

The first is the higher one if lower levels are better. With bands, they are the ends of their scale."""


TEXT = "text"
"""The field of a criterion in a view that says that it is written as a string."""


FAILURE = "failure"
"""The field of a criterion in a view that says that it is a critical failure."""


class Level(NamedTuple):
    """A level of a named scale; `number` is None if it is not an integer.

    `path` is the path of the level, `number_path` and `part` locate its number, `outcome_path` its outcome; a missing
    one has the place of the level.
    """

    path: Path
    number: int | None
    name: str | None
    outcome: str | None
    number_path: Path
    part: Part
    outcome_path: Path


class Criterion(NamedTuple):
    """A criterion.

    `id` is written or, from its position, `rubric-N`; `fields` is the mapping as read, None for a plain string;
    `weight` is the exact decimal as written, None if it is not a finite number, or below 0 where there are no
    deductions; `gate` is the lowest passing score (0..10) or level, None without a gate. `borrows_id`: the id comes
    from an alias or a merge key.
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
        """Whether the id is written, not made from the position in the list."""
        return self.fields is not None and isinstance(self.fields.get("id"), str)

    @property
    def own_id(self) -> str:
        """The id as it is written; that of a criterion in a group is the last part of its whole id."""
        own_id = (self.fields or {}).get("id")
        return own_id if isinstance(own_id, str) else self.id.rpartition("/")[2]

    def path_of(self, field: str) -> Path:
        """Return the path of a field, or of the whole criterion if the field is missing."""
        return (*self.path, field) if field in (self.fields or ()) else self.path

    @property
    def asked(self) -> JudgeQuestion | None:
        """What the system of its dialect asks the judge about it, if that is known."""
        asked = (self.fields or {}).get(ASKED)
        return asked if isinstance(asked, JudgeQuestion) else None

    @property
    def is_negated(self) -> bool:
        """Whether an answer earns the criterion by not meeting it."""
        asked = self.asked
        return asked is not None and asked.is_negated

    @property
    def is_failure(self) -> bool:
        """Whether it is a critical failure of version 3: one yes fails the answer, and it weighs nothing."""
        return self.fields is not None and FAILURE in self.fields

    @property
    def place_in_groups(self) -> str:
        """The id of its group and its condition in version 3; of two with other ones, one does not repeat the other."""
        return f"{self.id[: -len(self.own_id)]} {self.applies_if}"

    @property
    def is_text(self) -> bool:
        """Whether it is written as a plain string."""
        return self.fields is None or TEXT in self.fields

    @property
    def applies_if(self) -> str:
        """Its condition in version 3; empty if it always applies."""
        return (as_string((self.fields or {}).get("applies_if")) or "").strip()

    @property
    def is_check(self) -> bool:
        """Whether it is nothing but an item of a checklist, which is met or not."""
        return self.shapes == _CHECKLIST

    @property
    def is_penalty(self) -> bool:
        """Whether an answer loses by meeting the criterion."""
        return self.is_negated or (self.weight is not None and self.weight < 0)

    @property
    def label(self) -> str:
        """The name for messages: the id if it is written, else the position in the list."""
        if not self.has_own_id and self.id.startswith("rubric-"):
            return f"criterion {self.id.removeprefix('rubric-')}"
        return _format_label(self.id) or f"criterion {int(self.path[-1]) + 1}"

    @property
    def first_text(self) -> str:
        """The outcome, or else that of the first band or level."""
        if self.outcome:
            return self.outcome
        parts = self.scale.bands if self.scale else self.levels
        return (parts and parts[0].outcome) or ""

    @property
    def outcome_path(self) -> Path:
        """The path of the outcome, or of the whole criterion if it has none or is a plain string."""
        return self.path_of(outcome_field(self.fields or {}))


@lru_cache(maxsize=1 << 10)  # several messages are about one criterion
def _format_label(identifier: str) -> str:
    """Return the name of a criterion in messages, by its id; empty for an id that cannot be seen."""
    words = " ".join(identifier.split())
    return f"criterion `{shorten(words)}`" if words else ""


class ValueSource(Protocol):
    """A source that knows how the parts of a value are written: a document, or a view of one."""

    @property
    def has_exact_numbers(self) -> bool:
        """Whether each number equals the decimal as written."""

    def is_alias(self, path: Path) -> bool:
        """Return whether the value at a path is written as an alias."""

    def is_merged(self, path: Path) -> bool:
        """Return whether a field comes from a merge key."""

    def decimal(self, path: Path) -> Decimal | None:
        """Return the number at a path as it is written."""


def build_criterion(
    document: ValueSource,
    path: Path,
    entry: str | dict[str, Any],
    *,
    known: Mapping[str, Any],
    implied: int | None,
    may_borrow: bool,
    deducts: bool = False,
) -> Criterion:
    """Build the criterion of an entry; `known` are the fields of the schema, `implied` is a gate from the settings.

    With `may_borrow`, parts of the entry may be written elsewhere; with `deducts`, a weight below 0 is what the
    criterion costs if it is met.
    """
    borrows_id = may_borrow and (
        document.is_alias(path) or (isinstance(entry, dict) and "id" in entry and document.is_merged((*path, "id")))
    )
    identifier = f"rubric-{int(path[-1]) + 1}"
    if isinstance(entry, str):
        return Criterion(path, identifier, None, _CHECKLIST, entry, ONE, implied, path, None, None, borrows_id)
    own_id = entry.get("id")
    if isinstance(own_id, str):
        identifier = own_id
    shapes: tuple[Shape, ...] = _CHECKLIST
    if not SHAPE_FIELDS.keys().isdisjoint(entry):
        shapes = tuple([shape for field, shape in SHAPE_FIELDS.items() if field in entry and field in known]) or shapes
    gate_field = "required_min_level" if shapes[0] is Shape.LEVELS else "required_min_score"
    if gate_field in entry or shapes[0] is Shape.LEVELS:
        gate = as_answer(entry.get(gate_field))
    else:
        gate_field, gate = "required", None
        if entry.get("required") is True:
            gate = HIGHEST
            if "score_ranges" in entry and SPAN in entry:
                gate = entry[SPAN][1]
    if implied is not None and gate is None and shapes is _CHECKLIST and gate_field not in entry:
        gate = implied
    gate_path = (*path, gate_field)
    levels = None
    if "levels" in entry:
        levels = _read_levels(entry["levels"], (*path, "levels"))
    weight = entry.get("weight", 1)
    if weight == 1 and type(weight) is int:
        weight = ONE
    else:
        weight = read_weight(document, weight, path, deducts=deducts)
    scale = read_scale(entry, path, gate, gate_path)
    outcome = as_string(entry.get(outcome_field(entry)))
    return Criterion(path, identifier, entry, shapes, outcome, weight, gate, gate_path, scale, levels, borrows_id)


def unescape_criterion(criterion: Criterion) -> Criterion:
    """Return a criterion whose strings are templates with the strings that a judge sees."""
    from rubric_lint.source.nunjucks import unescape  # noqa: PLC0415  (few systems fill in templates)

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
"""The fields that determine the shape of an entry; without any, it is a checklist item."""


def weigh_nothing(criteria: Sequence[Criterion]) -> bool:
    """Return whether all weights of some criteria are 0, so that they have no average."""
    return all(criterion.weight is not None and criterion.weight == 0 for criterion in criteria)


def read_weight(document: ValueSource, weight: Any, path: Path, *, deducts: bool) -> Decimal | None:
    """Return the weight of what is at a path, as it is written; None if it is no finite number, or below 0.

    With `deducts`, it may be below 0.
    """
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not abs(weight) < float("inf"):
        return None
    if weight < 0 and not deducts:
        return None
    if document.has_exact_numbers:
        return to_decimal(weight)
    written = document.decimal((*path, "weight"))
    if written is None:
        return None
    return written.copy_abs() if weight >= 0 else written.copy_abs().copy_negate()  # a view may turn points round


@lru_cache(maxsize=1 << 10, typed=True)  # 1 and 1.0 are different decimals
def to_decimal(number: float) -> Decimal:
    """Return the decimal that a number is written as."""
    return Decimal(str(number))


def _read_levels(levels: Any, path: Path) -> tuple[Level, ...] | None:
    """Read a map or a list of levels; None for another value."""
    found: list[Level] = []
    if isinstance(levels, dict):
        for key, text in levels.items():
            at = (*path, key)
            found.append(Level(at, read_key(key), None, as_string(text), at, Part.KEY, at))
        return tuple(found)
    if not isinstance(levels, list):
        return None
    for index, level in enumerate(levels):
        if isinstance(level, dict):
            at, field = (*path, index), outcome_field(level)
            number_path, part, outcome_path = at, Part.HEAD, at
            if "level" in level:
                number_path, part = (*at, "level"), Part.VALUE
            if field in level:
                outcome_path = (*at, field)
            number, name = as_answer(level.get("level")), as_string(level.get("name"))
            text = as_string(level.get(field))
            found.append(Level(at, number, name, text, number_path, part, outcome_path))
    return tuple(found)


def as_levels(scores: list[Decimal]) -> dict[Decimal, int]:
    """Return the scores as the smallest integers in the same proportion."""
    return as_integers({score: to_fraction(score) for score in scores})


def as_integers(shares: "Mapping[Key, Fraction]") -> dict[Key, int]:
    """Return shares by their keys as the smallest integers in the same proportion."""
    unit = math.lcm(*(share.denominator for share in shares.values()))
    whole = {key: int(share * unit) for key, share in shares.items()}
    divisor = math.gcd(*whole.values()) or 1
    return {key: number // divisor for key, number in whole.items()}


def to_fraction(number: Mark) -> "Fraction":
    """Return a number exactly; one too small for that, such as `1e-99999999`, as the float that its system reads."""
    from fractions import Fraction  # noqa: PLC0415  (linting does without)

    if isinstance(number, Fraction):
        return number
    if number.adjusted() < _SMALLEST:
        return Fraction(float(number))
    return Fraction(number)


_SMALLEST = -1000


def name_worse(units: tuple[int, int] | None) -> str:
    """Return which numbers of a scale with these units are the worse ones: `lower`, or `higher` if it is reversed."""
    return "higher" if units and units[0] > units[1] else "lower"
