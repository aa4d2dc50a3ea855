"""The fields of a rubric that a table describes, each with its place, and what is reported of them."""

from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.format_table import FormatTable, Marks, Names
from rubric_lint.formats.home_made.scores import read_percent, read_share
from rubric_lint.model.criterion import is_number, read_number, to_fraction
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import describe
from rubric_lint.model.view import ViewBuilder
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, follow, split_pointer

_EXACT = Context(prec=20, rounding=ROUND_FLOOR)
LONG = 10
"""The end of a scale from which a threshold of 1 may be meant as 1.0, the whole of it."""

NO_OR_YES = (Fraction(0), Fraction(1))
"""The ends of the scale of a criterion that is met or not."""


class FieldValue(NamedTuple):
    """The value of a field and its place in the document."""

    value: Any
    place: Path


class WrittenCriterion(NamedTuple):
    """A criterion as it is written: its place, its value, its key in a map, the ids above it, and its share of them.

    With `is_level`, it is one of several levels that add up, and met or not.
    """

    place: Path
    value: Any
    key: str | None
    above: tuple[str, ...] = ()
    share: Fraction = Fraction(1)
    is_level: bool = False


class RubricFields:
    """The fields of the criteria at a path, and what is read of them so far.

    `bound` is what each `*` of the pointer to the criteria stands for.
    """

    def __init__(self, document: Document, table: FormatTable, path: Path, bound: tuple[str | int, ...]) -> None:
        self.document, self.table, self.path, self.bound = document, table, path, bound
        self.draft = ViewBuilder(document, path)
        self.data: list[Any] = []
        """The criteria in our words."""
        self.problems: list[tuple[str, Problem]] = []
        """What is wrong, each with the rule that reports it."""
        self.doubts: list[tuple[Path, str]] = []
        """Why the rubric is not scored, each with its place."""
        self.places: set[Path] = set()
        """What pointers from the top lead to."""
        self.used: set[str] = set()
        """The names of fields that some criterion has."""

    def report(
        self,
        rule: str,
        code: str,
        place: Path,
        values: Mapping[str, Any],
        part: Part = Part.VALUE,
        *related: RelatedPlace,
    ) -> None:
        """Report a problem of a rule."""
        self.problems.append((rule, Problem(code, place, part, values, related)))

    def report_kind(self, subject: str, place: Path, expected: str) -> None:
        """Report a value of another kind than is expected."""
        text = describe(self.document.value(place), self.document.written_at(place))
        self.report("schema", "unexpected", place, {"subject": subject, "found": text, "expected": expected})

    def report_lost(self, setting: str, pointer: str) -> None:
        """Report a setting whose pointer leads nowhere."""
        values = {"setting": setting, "pointer": pointer, "shape": self.table.name}
        self.report("schema", "no-setting", self.path, values, Part.HEAD)

    def doubt(self, place: Path | None, reason: str) -> None:
        """Say at a place of the document, by default that of the criteria, why the rubric is not scored."""
        if place is None:
            place = self.path
        self.doubts.append((place, reason))

    def follow(self, text: str) -> FieldValue | None:
        """Return the value at a pointer from the top; a `*` in it stands for the same step as in `criteria`."""
        stars = iter(self.bound)
        steps = [next(stars, step) if step == "*" else step for step in split_pointer(text)]
        place = follow(self.document.data, steps)
        if len(place) < len(steps):
            return None
        self.places.add(place)
        return FieldValue(self.document.value(place), place)

    def find(self, criterion: WrittenCriterion, names: Iterable[str]) -> FieldValue | None:
        """Return the first of some fields that an entry has, unless it is null."""
        for name in names:
            found = self.follow(name) if name.startswith("/") else find_field(criterion.value, criterion.place, name)
            if found is not None and found.value is not None:
                self.used.add(name)
                return found
        return None

    @staticmethod
    def is_empty(criterion: WrittenCriterion, names: Iterable[str]) -> bool:
        """Return whether an entry has one of some fields, without a value, which the schema reports."""
        return any(find_field(criterion.value, criterion.place, name) for name in names)

    def find_text(self, text: str) -> str:
        """Return the text at a pointer, empty if there is none."""
        found = self.follow(text) if text else None
        return str(found.value) if found and isinstance(found.value, str | int) else ""

    def read_number(self, found: FieldValue) -> Fraction | None:
        """Return a value as a number, None if it is none."""
        return None if read_number(found.value) is None else to_fraction(self.document.decimal(found.place))

    def find_mark(self, criterion: WrittenCriterion, marks: Marks) -> FieldValue | None:
        """Return the first field of an entry that marks it: one that is true, a number, or one of the values."""
        for name, values in marks:
            found = self.find(criterion, (name,)) if isinstance(criterion.value, dict) else None
            if found is None:
                continue
            if values is None:
                if found.value is True or is_number(found.value) or read_percent(found.value) is not None:
                    return found
            elif any(type(found.value) is type(value) and found.value == value for value in values):
                return FieldValue(value=True, place=found.place)
        return None

    def read_setting(self, name: str, written: object) -> tuple[Fraction, Path | None] | None:
        """Return the number that a setting is or points to, with its place in the document."""
        if written is None:
            return None
        if not isinstance(written, str):
            return to_fraction(Decimal(str(written))), None
        found = self.follow(written)
        if found is None:
            self.report_lost(name, written)
            return None
        number = self.read_number(found)
        share = read_share(found.value)
        percent = read_percent(found.value)
        if name == "total" and number is None:
            number = share
        if name == "pass" and percent is not None:
            number = percent
        if number is not None:
            return number, found.place
        if name == "pass" and share is not None:
            reason = f'`{found.place[-1]}` is "{found.value}", and a threshold is a number on the scale of the file'
            self.doubt(found.place, reason)
        else:
            self.report_kind(f"`{found.place[-1]}` is", found.place, "a number")
        return None


def find_field(value: Any, place: Path, name: str) -> FieldValue | None:
    """Return the value of a field, whose name may lead through mappings: `scoring.levels`."""
    is_key = isinstance(value, dict) and name in value
    steps = [name] if is_key else name.split(".")
    for step in steps:
        if not isinstance(value, dict) or step not in value:
            return None
        value, place = value[step], (*place, step)
    return FieldValue(value, place)


def find_first(value: Any, place: Path, names: Names) -> FieldValue | None:
    """Return the first of some fields that has a value."""
    for name in names:
        found = find_field(value, place, name)
        if found is not None and found.value is not None:
            return found
    return None


def exact_decimal(number: Fraction) -> Decimal:
    """Return a number as a decimal, rounded down if it has no end: a score just reaches it as it reaches the number."""
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


def show(number: Fraction | Decimal) -> str:
    """Write a number as a decimal, or as a fraction if its denominator is 10**6 or more."""
    if Fraction(number).denominator >= 10**6:
        return str(number)
    return f"{exact_decimal(Fraction(number)).normalize():f}"
