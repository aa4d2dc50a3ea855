"""Read from which score an answer passes, and which score a criterion must reach."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.formats.home_made.roles import Role, is_gate_flag, is_total, says_sum
from rubric_lint.formats.home_made.rubric_fields import (
    LONG,
    NO_OR_YES,
    FieldValue,
    RubricFields,
    WrittenCriterion,
    exact_decimal,
    show,
)
from rubric_lint.formats.home_made.scale_reading import ScaleReader
from rubric_lint.formats.home_made.scores import Ends, read_percent
from rubric_lint.formats.home_made.unmapped_key import ADOPT, UnmappedKey
from rubric_lint.formats.home_made.weight_reading import WeightReader
from rubric_lint.model.criterion import ASKED, HIGHEST, JudgeQuestion, is_number, to_fraction
from rubric_lint.model.messages import join_words
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

_NOT_MET = JudgeQuestion("yes or no", 0, is_negated=True)

_HIGHEST = ("max_score", "score_max", "scale_max", "max_points", "max_total", "total_points_possible")

_PERCENT = range(20, 101)
"""Numbers that may be meant in percent where no score is as high."""

_NODES = frozenset({"children", "child_nodes", "nodes", "subtasks", "sub_tasks", "branches"})
"""What holds the nodes of a tree, whose scores combine in another way than those of a list."""


class ThresholdReader:
    """Reads the threshold of a rubric and the gates of its criteria: marks on the scale that a score must reach."""

    def __init__(self, fields: RubricFields, scales: ScaleReader, weights: WeightReader) -> None:
        self.fields, self.document, self.table, self.draft = fields, fields.document, fields.table, fields.draft
        self.scales, self.weights = scales, weights
        self.passes = fields.read_setting("pass", self.table.passes)
        """The threshold as it is written, and its place."""
        place = self.passes[1] if self.passes else None
        self.is_pass_part = place is not None and read_percent(self.document.value(place)) is not None

    def read(self) -> tuple[Decimal | None, Path | None]:
        """Return the threshold as a share, and its place."""
        if self.table.combine == "all":
            return Decimal(0), None
        if self.passes is None:
            return None, None
        passes, place = self.passes
        has_no_scale = self.scales.is_unsaid and self.table.combine != "share"
        if has_no_scale:
            self._check_most(passes, place)
        if self.scales.is_unscaled or has_no_scale:
            return None, None
        ends = self._find_ends(passes)
        if ends is None:
            self.fields.doubt(place, f"its criteria have several scales, so no score is {show(passes)}, the threshold")
            return None, place
        if passes > 1 and not self.is_pass_part and self.is_of_whole(passes):
            return self._read_part_of_whole(passes, ends, place), place
        return self._read_share_of_scale(passes, ends, place), place

    def _read_share_of_scale(self, passes: Fraction, ends: Ends, place: Path | None) -> Decimal | None:
        """Return the share of a scale that a threshold is; None if that is in doubt, or is no share above 0."""
        low, high = ends
        scored = self._read_score(passes, low, high, place, is_part=self.is_pass_part)
        if passes == 1 and low == 0 and high >= LONG and not self.is_pass_part:
            reason = f"nothing says whether 1, the threshold, is a score of 0 to {show(high)} or all of it"
            self.fields.doubt(place, f"{reason}; for all of it, write {show(high)}")
            return None
        if scored is None or low >= high:
            return None
        reached = high - scored if self.table.is_turned else scored - low
        share = reached / (high - low)
        if 0 < share <= 1:
            return exact_decimal(share)
        is_above = scored > high or (self.table.is_turned and scored == high)
        self._report_threshold(place, scored, ends, "threshold", self._format_effect(is_above))
        return None

    def _read_part_of_whole(self, passes: Fraction, ends: Ends, place: Path | None) -> Decimal | None:
        """Return a threshold as a part of the sum of all scores, if the file says that sum; else report the doubt.

        Of scores from 0 on, the sum is in proportion to the mean.
        """
        is_from_0 = not self.table.is_turned and all(ends is None or ends[0] == 0 for ends in self.scales.ends)
        is_sum = ends[1] < passes <= self.weights.whole and not self.table.combine
        if is_from_0 and is_sum and self.weights.whole in self._find_sums()[1]:
            return exact_decimal(passes / self.weights.whole)
        highest = {high for _, high in self._find_scales()}
        scale = f"the scale ends at {show(max(highest))}, and " if len(highest) == 1 else ""
        whole = self.weights.points if self.table.combine == "share" else self.weights.whole
        known = f"{scale}{name_whole(whole)}"
        reason = f"nothing says of what {show(passes)}, the threshold, is a part: {known}"
        self.fields.doubt(place, f"{reason}; {ADOPT}")
        return None

    def _find_ends(self, passes: Fraction) -> Ends | None:
        """Return the ends of the scale that a threshold is a score of; None if there are several."""
        scales = self._find_scales()
        if self.table.combine == "share":
            whole = self.weights.points if passes > 1 else Fraction(1)
            return Fraction(0), whole
        if len(scales) == 1:
            return next(iter(scales))
        return NO_OR_YES if passes <= 1 else None

    def _find_scales(self) -> set[Ends]:
        """Return the ends of the scales on which the file has the criteria scored."""
        return {ends or NO_OR_YES for ends in self.scales.ends}

    def _check_most(self, passes: Fraction, place: Path | None) -> None:
        """Report a threshold above the highest score in the same mapping, where nothing says the lowest."""
        siblings = self.document.value(place[:-1]) if place else None
        if not isinstance(siblings, dict):
            return
        most = next((siblings[name] for name in _HIGHEST if name in siblings), None)
        if not is_number(most):
            return
        highest = to_fraction(Decimal(str(most)))
        if passes > highest * max(len(self.scales.ends), 1) and passes not in _PERCENT:
            self._report_threshold(place, passes, (Fraction(0), highest), "threshold", "is never met")

    def _read_score(
        self, number: Fraction, low: Fraction, high: Fraction, place: Path | None, *, is_part: bool = False
    ) -> Fraction | None:
        """Return the score that a threshold or a gate means; below 1, it is a part of a scale that starts at 0.

        Where its scale is in doubt, nothing is scored.
        """
        if not is_part and (high <= 1 or not 0 < number < 1):
            return number
        if not low and not self.table.is_turned:
            return number * high
        written = _write_part(number, is_percent=is_part)
        readings = list_readings(number, (low, high), is_turned=self.table.is_turned, is_percent=is_part)
        ways = join_words([f"{show(score)} ({reading})" for score, reading in readings.items()], "or")
        reason = f"{written} is ambiguous on a scale of {show(low)} to {show(high)}"
        self.fields.doubt(place, f"{reason}: write {ways}; or {ADOPT}")
        return None

    def is_of_whole(self, number: Fraction) -> bool:
        """Return whether a threshold may be one of the sum of all scores, or a percentage, and not of their mean."""
        highest = [ends[1] if ends else Fraction(1) for ends in self.scales.ends]
        if self.table.combine == "share":
            return number > self.weights.points and number in _PERCENT
        says_sum, totals = self._find_sums()
        if len(highest) > 1 and not self.table.combine and (says_sum or sum(highest) in totals):
            return True
        return number > max(highest, default=0) and (number <= self.weights.whole or number in _PERCENT)

    def _find_sums(self) -> tuple[bool, set[int | float]]:
        """Return whether the file says that scores add up, and the numbers around criteria that may be their sum."""
        says_sum = False
        totals: set[int | float] = set()
        for length in range(len(self.fields.path)):
            is_said, numbers = _find_sums_in(self.document, self.fields.path[:length])
            says_sum = says_sum or is_said
            totals |= numbers
        return says_sum, totals

    def _report_threshold(self, place: Path | None, found: Fraction, ends: Ends, what: str, effect: str) -> None:
        values = {"lowest": show(ends[0]), "highest": show(ends[1]), "what": what, "effect": effect}
        field = "pass" if place is None else place[-1]
        at, part = (self.fields.path, Part.KEY) if place is None else (place, Part.VALUE)
        self.fields.report("bounds", "threshold", at, {"field": field, "found": show(found), **values}, part)

    def check_unread(self, unmapped: Iterable[UnmappedKey], ends: Ends) -> None:
        """Report numbers that may be pass marks, and that no score reaches on the scale with these ends."""
        for key in unmapped:
            number = self.fields.read_number(FieldValue(key.value, key.place))
            if key.role not in (Role.PASS, Role.VERDICT) or number is None:
                continue
            if number > ends[1] and not self.is_of_whole(number):
                self._report_threshold(key.place, number, ends, "threshold", "is never met")

    def add_gate(self, index: int, entry: dict[str, Any], criterion: WrittenCriterion) -> None:
        """Put what a criterion must reach into its entry."""
        marked = self.find_gate(criterion)
        if self.fields.find_mark(criterion, self.table.negative) and self.table.combine == "all":
            entry[ASKED] = _NOT_MET
        if marked is None:
            if self.table.combine != "all":
                return
            marked = FieldValue(value=True, place=criterion.place)
        elif not _NODES.isdisjoint([*criterion.place, *criterion.value]):
            self._doubt_node(marked.place)
        ends = self.scales.ends[-1]
        percent = read_percent(marked.value)
        gate = percent
        if percent is None and not isinstance(marked.value, bool):
            gate = self.fields.read_number(marked)
        if gate is None and ends is not None:
            gate = self._find_gate_of_all(*ends)
            if gate is None:
                called = entry.get("id", f"rubric-{index + 1}")
                reason = f"nothing says which score `{called}` must reach, as its gate has no number"
                self.fields.doubt(marked.place, reason)
                return
        if gate is not None:
            gate = self._check_gate(gate, marked.place, ends or NO_OR_YES, is_part=percent is not None)
            if gate is None:
                return
        self._put_gate(index, entry, gate, marked.place)

    def _put_gate(self, index: int, entry: dict[str, Any], gate: Fraction | None, place: Path) -> None:
        """Put a gate into an entry; without a number, the criterion is met or not, and must be met."""
        ends = self.scales.ends[-1]
        field = "required_min_score" if ends is None else "required_min_level"
        levels = [level["level"] for level in entry.get("levels", ()) if level["level"] is not None]
        if ends is None:
            entry[field] = 0 if gate == 0 else HIGHEST
        elif levels and gate is not None:
            entry[field] = _reach(levels, gate, ends, down=self.table.is_turned)
        self.draft.put((index, field), place)

    def _find_gate_of_all(self, lowest: Fraction, highest: Fraction) -> Fraction | None:
        """Return the threshold as the gate of each criterion, if all must be met and it is on their scale."""
        if self.table.combine != "all" or not self.passes:
            return None
        mark, _ = self.passes
        return mark if lowest < mark <= highest else None

    def _doubt_node(self, place: Path) -> None:
        name = place[-1]
        reason = f"`{name}` of a node may fail all that is above it in the tree, and a gate does not"
        self.fields.doubt(place, f"{reason}; name `{name}` under `unused` in the table if it does not count")

    def _check_gate(self, gate: Fraction, place: Path, ends: Ends, *, is_part: bool) -> Fraction | None:
        """Return the score that a gate means, None if it is on no scale."""
        scored = self._read_score(gate, *ends, place, is_part=is_part)
        if self.scales.is_unscaled or scored is None:
            return scored
        lowest, highest = ends
        is_flag = not is_part and is_gate_flag(str(place[-1]))
        if is_flag and scored == 1 and lowest < 1 < highest:
            reason = f"nothing says whether `{place[-1]}: 1` means yes or a score of {show(lowest)} to {show(highest)}"
            self.fields.doubt(place, f"{reason}; write the score that must be reached as `min_score`")
            return None
        worst = highest if self.table.is_turned else lowest
        # A flag of 0 says that there is no gate, and a `min_score` at the end of the scale only repeats that end.
        is_idle = is_flag and scored == worst != 0
        if lowest <= scored <= highest and not is_idle:
            return scored
        if scored > highest and scored in _PERCENT:
            reason = f"nothing says of what {show(scored)}, the gate, is a part: the scale ends at {show(highest)}"
            self.fields.doubt(place, reason)
            return None
        is_above = scored > highest or (is_idle and self.table.is_turned)
        self._report_threshold(place, scored, ends, "gate", self._format_effect(is_above))
        return None

    def _format_effect(self, is_above: bool) -> str:
        """Say what a mark does that is above the scale, or below it."""
        return "is never met" if is_above != self.table.is_turned else "is always met"

    def find_gate(self, criterion: WrittenCriterion) -> FieldValue | None:
        """Return the mark of a criterion that must be met: in its own fields, or a number around the criteria.

        Nothing of its own does where one field is false, as `blocker: false`.
        """
        shared = [mark for mark in self.table.gate if mark[0].startswith("/")]
        own = [mark for mark in self.table.gate if mark not in shared]
        flags = [name for name, values in own if values is None]
        said = [self.fields.find(criterion, (name,)) for name in flags] if isinstance(criterion.value, dict) else []
        is_off = any(found is not None and found.value is False for found in said)
        marks = shared if is_off else [*own, *shared]
        return self.fields.find_mark(criterion, tuple(marks))


def name_whole(whole: Fraction) -> str:
    """Say what all scores add up to."""
    return f"all scores add up to {show(whole)}"


def list_readings(part: Fraction, ends: Ends, *, is_turned: bool, is_percent: bool) -> dict[Fraction, str]:
    """Return the scores that a part of a scale may be, with what each is: 3.8 is "0.7 of the way", 3.5 "0.7 of 5"."""
    low, high = ends
    written = _write_part(part, is_percent=is_percent)
    way = part * (high - low)
    of_way = high - way if is_turned else low + way
    return {of_way: f"{written} of the way", part * high: f"{written} of {show(high)}"}


def _write_part(part: Fraction, *, is_percent: bool) -> str:
    return f"{show(part * 100)}%" if is_percent else show(part)


@lru_cache(maxsize=16)  # the rubrics of a document stand below the same mappings
def _find_sums_in(document: Document, path: Path) -> tuple[bool, frozenset[int | float]]:
    """Return whether a mapping, or one in it, says that scores add up, and the numbers that may be their sum."""
    holder = document.value(path)
    if not isinstance(holder, dict):
        return False, frozenset()
    fields = list(holder.items())
    for part in holder.values():
        if isinstance(part, dict):
            fields += part.items()
    totals = [value for key, value in fields if is_number(value) and (key in _HIGHEST or is_total(key))]
    return any(says_sum(key, value) for key, value in fields), frozenset(totals)


def _reach(levels: Sequence[int], score: Fraction, ends: Ends, *, down: bool) -> int:
    """Return the first of some levels that is worth a score, the last if none is; `down` from the highest."""
    lowest, highest = ends
    unit = Fraction(max(levels) - min(levels)) / (highest - lowest) if highest > lowest else Fraction(1)
    wanted = min(levels) + (score - lowest) * unit
    if down:
        return max((level for level in levels if level <= wanted), default=min(levels))
    return min((level for level in levels if level >= wanted), default=max(levels))
