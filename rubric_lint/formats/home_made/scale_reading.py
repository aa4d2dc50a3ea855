"""Read on which scale the criteria of a rubric are scored, and the levels of that scale."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.direction import format_fall
from rubric_lint.formats.home_made.format_table import YES_NO, NumberOrPointer, is_star, split_words, star_pattern
from rubric_lint.formats.home_made.rubric_fields import (
    FieldValue,
    RubricFields,
    WrittenCriterion,
    exact_decimal,
    find_first,
    show,
)
from rubric_lint.formats.home_made.scores import RANGE, Ends, read_ends, read_levels, read_score
from rubric_lint.formats.home_made.unmapped import find_in_level
from rubric_lint.formats.home_made.unmapped_key import ADOPT, UnmappedKey
from rubric_lint.model.criterion import SPAN, as_levels, to_fraction
from rubric_lint.model.finding import RelatedPlace
from rubric_lint.model.messages import describe, name_scores, shorten
from rubric_lint.rules.inverted_scale import find_fall
from rubric_lint.source.path import Part, Path
from rubric_lint.source.tree import items_of

_WIDEST = 1000
"""The widest scale of which each score is a level."""

_STEPS = frozenset({"step", "steps", "increment", "increments", "interval", "granularity", "precision"})
"""Words in the name of what says how far the scores of a scale are apart."""


class _WrittenLevel(NamedTuple):
    """A level as it is written: its number if it has one, its text, and their places; a key may hold the number."""

    number: Decimal | None
    name: str
    text: Any
    place: Path
    number_place: Path
    text_place: Path
    is_key: bool = False

    @property
    def part(self) -> Part:
        """The part of the value at its place that holds the number."""
        return Part.KEY if self.is_key else Part.VALUE


class ScaleReader:
    """Reads the scales and the levels of criteria, one criterion after the other."""

    def __init__(self, fields: RubricFields) -> None:
        self.fields, self.document, self.table, self.draft = fields, fields.document, fields.table, fields.draft
        self.ends: list[Ends | None] = []
        """The ends of the scale of each criterion, None for one that is met or not."""
        self.labels: Mapping[Decimal | None, str] = {}
        """The names of the scores of a scale."""
        self.in_levels: list[UnmappedKey] = []
        """What levels say and is not read."""
        self.is_unsaid = False  # whether nothing says on which scale a criterion is scored
        self.is_unscaled = False  # whether the scale is written, but is none that can be scored

    def read(self, index: int, entry: dict[str, Any], criterion: WrittenCriterion) -> bool:
        """Put the levels of a criterion into its entry; return whether some are written."""
        scale = self._read_ends(criterion)
        ends = scale if isinstance(scale, tuple) else None
        levels: list[_WrittenLevel] = []
        if isinstance(criterion.value, dict) and not criterion.is_level:
            levels = self._read_starred_levels(criterion) or self._read_level_field(criterion, scale)
        if levels or ends:
            self._add_levels(index, entry, levels, ends, criterion)
            return bool(levels)
        self.ends.append(None)
        if scale != YES_NO:
            self.is_unsaid = True
        return False

    def _read_ends(self, criterion: WrittenCriterion) -> Ends | str | None:
        """Return the ends of the scale of an entry, YES_NO, or None if nothing says it."""
        scale = YES_NO if criterion.is_level else self.table.scale
        if isinstance(scale, tuple):
            whole = self._find_whole_scale(criterion, scale)
            if not whole:
                low, high = (self._read_part(part, criterion) for part in scale)
                return None if low is None or high is None else self._check_ends(low, high, criterion.place)
            scale = whole
        if scale == YES_NO or scale is None:
            return scale
        found = self.fields.find(criterion, (scale,))
        ends = read_ends(found.value) if found else None
        if found and isinstance(ends, str):
            self._keep(found.place)
        if found and isinstance(ends, tuple):
            described = read_levels(found.value)
            self.labels = {level.score: level.text for level in described.levels} if described else {}
            if not described:
                self._check_steps(found, ends)
            return self._check_ends(*ends, found.place)
        if found and ends is None and not self.fields.find(criterion, self.table.levels):  # which would say it
            text = describe(found.value, self.document.written_at(found.place))
            self.fields.report("schema", "scale", found.place, {"field": found.place[-1], "found": f"is {text}"})
        return ends if isinstance(ends, str) else None

    def _find_whole_scale(self, criterion: WrittenCriterion, scale: tuple[NumberOrPointer, NumberOrPointer]) -> str:
        """Return the first of two names of a scale under which a criterion has a whole one; empty if none has."""
        if not all(isinstance(name, str) for name in scale):
            return ""
        for name in map(str, scale):
            found = self.fields.find(criterion, (name,))
            if found and read_ends(found.value):
                return name
        return ""

    def _read_part(self, part: NumberOrPointer, criterion: WrittenCriterion) -> Fraction | None:
        if not isinstance(part, str):
            return to_fraction(Decimal(part))
        found = self.fields.find(criterion, (part,))
        if found:
            self._keep(found.place)
        return self.fields.read_number(found) if found else None

    def _check_steps(self, found: FieldValue, ends: Ends) -> None:
        """Say that a scale may have scores between its whole numbers, which a table cannot say.

        On a wide scale, ends with a decimal point say nothing of the kind.
        """
        parts = dict(items_of(found.value))
        fine = [key for key, part in parts.items() if split_words(str(key)) & _STEPS and part != 1]
        if ends[1] - ends[0] <= 1:
            fine += [key for key, part in parts.items() if isinstance(part, float)]
        if fine:
            place = (*found.place, fine[0])
            text = describe(parts[fine[0]], self.document.written_at(place))
            field = next(step for step in reversed(place) if isinstance(step, str))
            reason = f"`{field}` has {text}, so a score may lie between whole numbers, and no other scores are read"
            self.fields.doubt(place, f"{reason}; write whole numbers, or the rubric in version 3 of the format")

    def _keep(self, place: Path) -> None:
        """Say that a scale is read, though it is not part of a criterion."""
        self.draft.put(("scale", *place), place)

    def _check_ends(self, low: Fraction, high: Fraction, place: Path) -> Ends | None:
        self._keep(place)
        if low < high <= low + _WIDEST:
            return low, high
        self.is_unscaled = True
        if low < high:
            self.fields.doubt(place, f"its scale, {show(low)} to {show(high)}, has more than {_WIDEST} scores")
        else:
            code = "one-score" if low == high else "empty-range"
            self.fields.report("bounds", code, place, {"range": f"{show(low)} to {show(high)}"})
        return None

    def _read_starred_levels(self, criterion: WrittenCriterion) -> list[_WrittenLevel]:
        """Read the levels that are fields of a criterion, by the first pattern that some match: `score_*`."""
        for name in filter(is_star, self.table.levels):
            pattern = re.compile(star_pattern(name))
            matches = [(key, pattern.fullmatch(key)) for key in criterion.value]
            levels = [
                self._make_level((*criterion.place, key), match[1], criterion.value[key], is_key=True)
                for key, match in matches
                if match
            ]
            if levels:
                return levels
        return []

    def _read_level_field(self, criterion: WrittenCriterion, ends: Ends | str | None) -> list[_WrittenLevel]:
        """Read the levels in a field of a criterion: a mapping, a list of strings or a list of mappings."""
        written = self.fields.find(criterion, (name for name in self.table.levels if not is_star(name)))
        if written is None:
            return []
        value, place = written
        if isinstance(value, dict):
            return [self._make_level((*place, key), key, text, is_key=True) for key, text in value.items()]
        if not isinstance(value, list):
            self.fields.report_kind(f"`{place[-1]}` is", place, "a mapping from scores to texts, or a list")
            return []
        if value and all(isinstance(part, str) for part in value):
            return self._read_strings(value, place, ends)
        levels = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                levels.append(self._read_level((*place, index), item))
            else:
                self.fields.report_kind(f"`{place[-1]}` has", (*place, index), "a mapping with a score and a text")
        return levels

    def _read_strings(self, value: list[str], place: Path, ends: Ends | str | None) -> list[_WrittenLevel]:
        """Read levels that begin with their scores, or that are as many as the scores of the scale."""
        scores: list[Decimal | Fraction | None] = [None] * len(value)
        numbered = read_levels(value)
        if numbered:
            scores = [level.score for level in numbered.levels]
        elif isinstance(ends, tuple) and ends[1] - ends[0] == len(value) - 1:
            scores = [ends[0] + index for index in range(len(value))]
        levels = []
        for index, (score, text) in enumerate(zip(scores, value, strict=True)):
            word = None if score is None else str(score)
            levels.append(self._make_level((*place, index), word, text, is_key=False))
        return levels

    def _make_level(self, place: Path, word: str | None, value: Any, *, is_key: bool) -> _WrittenLevel:
        """Make the level that is called by a word, with a text or a mapping as its value."""
        number = self._read_word(word)
        text, text_place = value, place
        if isinstance(value, dict):
            text, text_place = find_first(value, place, self.table.level_text) or (None, place)
            exact = None if number is None else Fraction(number)
            self._doubt_level(place, value, exact)
        if isinstance(text, list) and text and all(isinstance(part, str) for part in text):
            text = "\n".join(text)
        name = ""
        if word is not None and (number is None or word in dict(self.table.level_scores)):
            name = word
        return _WrittenLevel(number, name, text, place, place, text_place, is_key)

    def _read_word(self, word: str | None) -> Decimal | None:
        """Return the score that a level is called: its number, or that of the word in the table."""
        if word is None:
            return None
        known = dict(self.table.level_scores).get(word)
        return read_score(word) if known is None else known

    def _read_level(self, place: Path, item: dict[str, Any]) -> _WrittenLevel:
        """Read a level that is a mapping, with its score or its name in a field."""
        score = find_first(item, place, self.table.level_score)
        number = self.fields.read_number(score) if score else None
        word = score.value if score else next((item[key] for key in ("name", "label") if key in item), None)
        if number is None and isinstance(word, str):
            named = self._read_word(word)
            number = None if named is None else Fraction(named)
        name = next((item[key] for key in ("name", "label") if isinstance(item.get(key), str)), "")
        if isinstance(word, str) and read_score(word) is None:
            name = word
        text, text_place = find_first(item, place, self.table.level_text) or (None, place)
        self._doubt_level(place, item, number, score)
        exact = None if number is None else Decimal(number.numerator) / Decimal(number.denominator)
        number_place = score.place if score else place
        if name == text:
            name = ""
        return _WrittenLevel(exact, name, text, place, number_place, text_place)

    def _doubt_level(
        self, place: Path, level: dict[str, Any], number: Fraction | None, score: FieldValue | None = None
    ) -> None:
        """Doubt a level that says more than its score and its text."""
        known = {*self.table.level_text, *self.table.unused, "name", "label"}
        if score:
            known.add(str(score.place[-1]))
        self.in_levels += find_in_level(place, level, known, number)

    def _add_levels(
        self,
        index: int,
        entry: dict[str, Any],
        levels: list[_WrittenLevel],
        ends: Ends | None,
        criterion: WrittenCriterion,
    ) -> None:
        """Add the levels of an entry: each score of its scale is one, described or not."""
        field = self.fields.find(criterion, self.table.levels)
        holder = field.place if field else criterion.place
        self._check_order(levels)
        spread = self._spread(levels)
        numbers = [level.number for level in spread if level.number is not None]
        if len(numbers) < len(spread):
            self._doubt_unnumbered(next(level for level in spread if level.number is None))
            ends = None
        low, high = ends or (Fraction(min(numbers, default=0)), Fraction(max(numbers, default=0)))
        self.ends.append((low, high))
        are_whole = all(number == number.to_integral_value() for number in numbers)
        if are_whole and low.denominator == high.denominator == 1:
            units = {number: int(number) for number in numbers}
            if ends:
                spread = self._complete(spread, range(int(low), int(high) + 1), holder)
            if self.table.combine == "share":
                entry[SPAN] = (min(0, int(low)), int(high))
        else:
            units = as_levels([*numbers, *map(exact_decimal, ends or ())])
        self._doubt_falling(spread)
        self.draft.put((index, "levels"), holder)
        entry["levels"] = []
        for level in spread:
            unit = None if level.number is None else units.get(level.number, int(level.number))
            if self.table.is_turned and unit is not None:
                first, last = entry.get(SPAN, (unit, unit))
                entry[SPAN] = (max(first, unit), min(last, unit))
            place = (index, "levels", len(entry["levels"]))
            entry["levels"].append(self._add_level(place, level, unit, is_described=level.place != holder))

    def _doubt_unnumbered(self, level: _WrittenLevel) -> None:
        called = shorten(str(level.name or level.text))
        self.fields.doubt(level.number_place, f"nothing says which score the level `{called}` is; {ADOPT}")

    def _add_level(self, place: Path, level: _WrittenLevel, unit: int | None, *, is_described: bool) -> dict[str, Any]:
        """Return a level in our words, `unit` as its number, for a place of the entries; note where it is written."""
        added: dict[str, Any] = {"level": unit}
        written = str(level.number) if level.number is not None and unit != level.number else ""
        name = level.name or self.labels.get(level.number, "") or written
        if name:
            added["name"] = name
        self.draft.put(place, level.place)
        if is_described:
            added["expected_outcome"] = level.text
            self.draft.put((*place, "level"), level.number_place, is_key=level.is_key)
            self.draft.put((*place, "expected_outcome"), level.text_place)
            self._check_level_text(level)
        return added

    def _check_level_text(self, level: _WrittenLevel) -> None:
        if level.text is None or (isinstance(level.text, str) and not level.text.strip()):
            values = {"subject": "the text of this level is", "found": "blank"}
            self.fields.report("empty-outcome", "blank", level.text_place, values)
        elif not isinstance(level.text, str):
            self.fields.report_kind("the text of this level is", level.text_place, "a string")

    def _doubt_falling(self, levels: Sequence[_WrittenLevel]) -> None:
        """Doubt levels whose names or texts get worse while the numbers rise."""
        graded = [level for level in levels if level.number is not None]
        words = [(level.number or Decimal(0), level.name or str(level.text or "")) for level in graded]
        fall = None if self.table.better else find_fall(words)
        if fall:
            lowest = min(graded, key=lambda level: level.number or 0)
            self.fields.doubt(lowest.number_place, f"{format_fall(fall)}; turn the numbers around")

    def _complete(self, levels: list[_WrittenLevel], scale: range, at: Path) -> list[_WrittenLevel]:
        """Return the levels with those of the scale that have no text; report levels next to the scale."""
        numbers = {level.number for level in levels}
        for level in levels:
            if level.number not in scale:
                values = {"level": level.number, "lowest": scale[0], "highest": scale[-1]}
                self.fields.report("bounds", "level-outside", level.number_place, values, level.part)
        is_inside = all(number in scale for number in numbers)  # otherwise the scale is in doubt
        rest = [number for number in scale if is_inside and number not in numbers]
        added = [*levels, *(_WrittenLevel(Decimal(number), "", None, at, at, at) for number in rest)]
        return added if len(numbers) < len(levels) else sorted(added, key=lambda level: level.number or 0)

    def _spread(self, levels: list[_WrittenLevel]) -> list[_WrittenLevel]:
        """Return a level for each score of levels that are ranges of scores; report a score that two of them share."""
        spread: list[_WrittenLevel] = []
        firsts: dict[Decimal, _WrittenLevel] = {}
        for level in levels:
            numbers = self._list_numbers(level)
            shared = [number for number in numbers if number in firsts]
            if shared:
                first = firsts[shared[0]]
                values = {"scores": name_scores({int(number) for number in shared})}
                other = RelatedPlace("the other one", first.number_place, first.part)
                self.fields.report("levels", "overlap", level.number_place, values, level.part, other)
            if numbers:
                spread += [level._replace(number=number) for number in numbers if number not in shared]
            else:
                spread.append(level)
            if not numbers and level.number is not None:
                numbers = [level.number]
            firsts |= dict.fromkeys(numbers, level)
        return spread

    def _list_numbers(self, level: _WrittenLevel) -> list[Decimal]:
        """Return the scores of a level that is a range; none if it is not one, or is too wide."""
        written = level.place[-1] if level.is_key else self.document.value(level.number_place)
        if not isinstance(written, str) or level.number is None:
            return []
        found = RANGE.fullmatch(written)
        if found is None or int(found[2]) - int(found[1]) > _WIDEST:
            return []
        return [Decimal(number) for number in range(int(found[1]), int(found[2]) + 1)]

    def _check_order(self, levels: list[_WrittenLevel]) -> None:
        numbered = [level for level in levels if level.number is not None]
        numbers = [level.number or 0 for level in numbered]
        if numbers in (sorted(numbers), sorted(numbers, reverse=True)):
            return
        sign = -1 if numbers[-1] < numbers[0] else 1
        for before, level in pairwise(numbered):
            if ((level.number or 0) - (before.number or 0)) * sign < 0:
                other = RelatedPlace("the one before", before.number_place, level.part)
                values = {"level": level.number, "before": before.number}
                self.fields.report("band-order", "levels-unsorted", level.number_place, values, level.part, other)
                return

    def unify(self) -> None:
        """Make yes and no levels too if other criteria have levels, as one rubric has one shape."""
        if not any(self.ends):
            return
        entries = [(index, entry) for index, entry in enumerate(self.fields.data) if isinstance(entry, dict)]
        for (index, entry), ends in zip(entries, self.ends, strict=True):
            if ends is None and "levels" not in entry:
                entry["levels"] = [{"level": 0, "name": "no"}, {"level": 1, "name": "yes"}]
                for own in (("levels",), ("levels", 0), ("levels", 1)):
                    self.draft.put((index, *own), self.draft.place_of((index,)) or self.fields.path)
                if "required_min_score" in entry:
                    entry["required_min_level"] = 1 if entry.pop("required_min_score") else 0
                    place = self.draft.place_of((index, "required_min_score"))
                    self.draft.put((index, "required_min_level"), place or self.fields.path)
