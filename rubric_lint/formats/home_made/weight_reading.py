"""Read how much the criteria of a rubric weigh, and check what their weights add up to."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.rubric_fields import LONG, FieldValue, RubricFields, WrittenCriterion, show
from rubric_lint.formats.home_made.scale_reading import ScaleReader
from rubric_lint.formats.home_made.scores import Ends, find_other_kind, is_amount, read_share
from rubric_lint.formats.home_made.unmapped_key import ADOPT
from rubric_lint.model.criterion import ASKED, read_number, to_fraction
from rubric_lint.model.finding import RelatedPlace
from rubric_lint.model.messages import describe, join_words, shorten
from rubric_lint.source.path import Part, Path

_POINTS = frozenset({"points", "pts", "marks", "score", "max", "maximum"})
"""Words in the name of a weight that is the highest score of its criterion."""


class WeightReader:
    """Reads the weights of criteria, after their scales."""

    def __init__(self, fields: RubricFields, scales: ScaleReader) -> None:
        self.fields, self.document, self.table, self.draft = fields, fields.document, fields.table, fields.draft
        self.scales, self.data = scales, fields.data
        self.shared: list[FieldValue] = []
        """The weights of criteria that have parts."""
        self.by_index: dict[int, Fraction] = {}
        """The weights of criteria by their index."""
        self.points = Fraction(0)
        """The sum of the weights above 0."""
        self.whole = Fraction(0)
        """What the highest scores add up to, each times its weight; at least the sum of the weights."""

    def find(self, criterion: WrittenCriterion) -> FieldValue | None:
        """Return the weight of a criterion as it is written."""
        names = self.table.level_score if criterion.is_level else self.table.weight
        return self.fields.find(criterion, names)

    def read(self, found: FieldValue) -> Fraction | None:
        """Return a weight as a number: by its word, as a share, or as it is; None if it is none."""
        if isinstance(found.value, str):
            words = (to_fraction(weight) for word, weight in self.table.weights if word == found.value)
            return next(words, read_share(found.value))
        return self.fields.read_number(found)

    def weigh_part(self, part: WrittenCriterion) -> Fraction:
        """Return the weight of a part among its siblings: 1 if it has no field, 0 if that is no number."""
        written = self.find(part)
        weight = self.read(written) if written else Fraction(1)
        return (weight or Fraction(0)) * part.share

    def has_points(self, part: WrittenCriterion, whole: FieldValue) -> bool:
        """Return whether a part has a field of the same name as the weight of its criterion, and adds to it."""
        written = self.find(part)
        has_same = written is not None and written.place[-1] == whole.place[-1]
        return has_same and not self.fields.find_mark(part, self.table.negative)

    def weigh(self, criteria: Sequence[WrittenCriterion]) -> None:
        """Give each criterion its weight: as it is written, by its words, or by its points."""
        pairs = [(index, criterion) for index, criterion in enumerate(criteria) if isinstance(self.data[index], dict)]
        found = {index: self.find(criterion) for index, criterion in pairs if isinstance(criterion.value, dict)}
        weighed = {criteria[index].place[:-1] for index, written in found.items() if written}
        is_computed = False  # then integers in the same proportion stand for them
        for (index, criterion), ends in zip(pairs, self.scales.ends, strict=True):
            written = found.get(index)
            is_lacking = written is None and criterion.place[:-1] in weighed  # while its siblings have one
            if is_lacking and not self.fields.is_empty(criterion, self.table.weight):
                names = self.table.level_score if criterion.is_level else self.table.weight
                self.fields.report("weight", "lacking", criterion.place, {"field": names[0]}, Part.HEAD)
            points = ends[1] if self.table.combine == "share" and ends else Fraction(1)
            weight = self._put_weight(index, criterion, written, points)
            if weight is None:
                continue
            if written and self.table.combine == "share" and ends:
                self._check_highest(index, written, abs(weight), points)
            if written and weight < 0 and ends is not None:
                self._refuse_penalty(criterion, written, weight)
            self.by_index[index] = weight * criterion.share
            own = self.data[index].get("weight", 1)
            is_computed = is_computed or read_number(own) is None or self.by_index[index] != Fraction(str(own))
        if is_computed:
            self._put_integers(criteria)
        self._add_up([index for index, _ in pairs])
        self._check_kinds(found)
        self._find_points(found, pairs)
        if any(self.by_index.values()) and not self.points:
            expected = "one criterion at least with a weight above 0"
            field = self.fields.path[-1] if self.fields.path else "this"
            values = {"field": field, "expected": expected}
            self.fields.report("weight", "none-counts", self.fields.path, values, Part.KEY)
        if len(self.by_index) == len(pairs):
            self._check_total(sum(self.by_index.values(), Fraction(0)))

    def _put_integers(self, criteria: Sequence[WrittenCriterion]) -> None:
        """Write integers in the proportion of the weights into the data."""
        unit = math.lcm(*(weight.denominator for weight in self.by_index.values()))
        for index, weight in self.by_index.items():
            self.data[index]["weight"] = int(weight * unit)
            place = self.draft.place_of((index, "weight")) or criteria[index].place
            self.draft.put((index, "weight"), place, is_key=True)

    def _add_up(self, indexes: Sequence[int]) -> None:
        """Add up the weights above 0, and the highest scores of the criteria at some indexes."""
        reached = Fraction(0)
        for index, ends in zip(indexes, self.scales.ends, strict=True):
            weight = max(self.by_index.get(index, Fraction(0)), Fraction(0))
            self.points += weight
            highest = ends[1] if ends else 1
            reached += weight * highest
        self.whole = max(self.points, reached)

    def _check_kinds(self, found: Mapping[int, FieldValue | None]) -> None:
        """Report a weight in percent next to one that is a plain number, among those of one holder."""
        by_holder: dict[Path, list[FieldValue]] = {}
        for written in [*self.shared, *filter(None, found.values())]:
            if is_amount(written.value):
                by_holder.setdefault(written.place[:-2], []).append(written)
        for weights in by_holder.values():
            other = find_other_kind([written.value for written in weights])
            if other is not None:
                first, second = weights[0], weights[other]
                values = {"weight": str(second.value).strip(), "other": str(first.value).strip()}
                place = RelatedPlace("the other kind", first.place)
                self.fields.report("weight", "two-kinds", second.place, values, Part.VALUE, place)

    def _find_points(
        self, found: Mapping[int, FieldValue | None], pairs: Sequence[tuple[int, WrittenCriterion]]
    ) -> None:
        """Doubt levels that all end at the highest score of their criterion, as points do, but are read as a scale."""
        ending: list[tuple[FieldValue, Ends]] = []
        for (index, _), ends in zip(pairs, self.scales.ends, strict=True):
            written, levels = found.get(index), self.data[index].get("levels", ())
            is_described = ends is not None and any("expected_outcome" in level for level in levels)
            if written is None or not is_described or ends is None or not split_words(str(written.place[-1])) & _POINTS:
                continue
            if self.read(written) != ends[1]:
                return
            ending.append((written, ends))
        above = [(written, ends) for written, ends in ending if ends[0] > 0]
        if not above or self.table.combine:  # which says how scores combine
            return
        written, (low, high) = above[0]
        one, whole = show(low), show(high)
        ending_at = f"the levels of a criterion end at {whole}, its `{written.place[-1]}`, so they may be points"
        reason = f"{ending_at}: {one} would be {one} of {whole} points, and is read as the lowest score, 0"
        self.fields.doubt(written.place, f"{reason}; {ADOPT}")

    def _put_weight(
        self, index: int, criterion: WrittenCriterion, written: FieldValue | None, otherwise: Fraction
    ) -> Fraction | None:
        """Put the weight of a criterion into its data, and return it; None if it is not a weight."""
        entry = self.data[index]
        weight: Fraction | None = otherwise
        if written:
            entry["weight"] = written.value
            self.draft.put((index, "weight"), written.place)
            weight = self.read(written)
            if weight is None and isinstance(written.value, str) and self.table.weights:
                known = join_words([f"`{word}`" for word, _ in self.table.weights])
                values = {"field": written.place[-1], "word": shorten(written.value), "known": known}
                self.fields.report("weight", "unknown-word", written.place, values)
        mark = self.fields.find_mark(criterion, self.table.negative)
        if mark and weight is not None:
            self.draft.put((index, "negative"), mark.place)
            sign = 1 if ASKED in entry else -1
            weight = sign * abs(weight)
            own = entry.get("weight", 1)
            if read_number(own) is not None:
                entry["weight"] = sign * abs(own)
        return weight

    def _refuse_penalty(self, criterion: WrittenCriterion, written: FieldValue, weight: Fraction) -> None:
        """Report the weight of a criterion on a scale that is below 0, or the field that makes it a penalty."""
        field = f"`{written.place[-1]}`"
        mark = self.fields.find_mark(criterion, self.table.negative)
        if mark:
            place, found = mark.place, show(weight)
            subject = f"`{mark.place[-1]}: {shorten(str(self.document.value(mark.place)))}` makes {field}"
        else:
            place, found = written.place, describe(written.value, self.document.written_at(written.place))
            subject = f"{field} is"
        self.fields.report("weight", "minimum", place, {"subject": subject, "found": found, "least": 0})
        self.fields.doubt(place, f"{subject} {found}, and what is scored on a scale weighs at least 0")

    def _check_highest(self, index: int, written: FieldValue, worth: Fraction, highest: Fraction) -> None:
        """Report a criterion that is worth other points than its highest level, if fields of one name say both."""
        level = self.draft.place_of((index, "levels", 0, "level"))
        if level and str(written.place[-1]).endswith(str(level[-1])) and worth != highest:
            values = {"field": written.place[-1], "points": show(worth), "highest": show(highest)}
            self.fields.report("weight", "highest-level", written.place, values)

    def _check_total(self, whole: Fraction) -> None:
        read = self.fields.read_setting("total", self.table.total)
        if read is None:
            return
        total, place = read
        if total in (whole, self.points) or self._is_of_scores(total, place):
            return
        at, part = (self.fields.path, Part.KEY) if place is None else (place, Part.VALUE)
        self.draft.put(("total",), at)
        self.fields.report("weight", "total", at, {"sum": show(self.points), "total": show(total)}, part)

    def _is_of_scores(self, total: Fraction, place: Path | None) -> bool:
        """Return whether a total may be what scores come to, and not weights: no name says which."""
        if self.table.combine == "share" or place is None or "weight" in split_words(str(place[-1])):
            return False
        tops = [ends[1] if ends else Fraction(1) for ends in self.scales.ends]
        if not self.points or total in {*tops, sum(tops), self.whole}:
            return True
        is_small = self.scales.is_unsaid and all(weight <= LONG for weight in self.by_index.values())
        return total % self.points == 0 or (is_small and total % len(tops) == 0)
