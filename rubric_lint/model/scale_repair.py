"""Repair the bands of one scale together: from the scores they are written for to the nearest sound scale.

A sound scale has its bands in ascending order and covers each score once. The nearest one writes the fewest other
bounds. Where two are equally near, an author chooses; no answer deletes or empties a band.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from rubric_lint.model.criterion import Band, Scale, looks_like_levels
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import join_words, name_scores, pluralize
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.edits.intents import (
    AddField,
    Arrange,
    InsertField,
    InsertItems,
    Intent,
    RenameKey,
    Reorder,
    Repair,
    ReplaceValue,
)
from rubric_lint.source.path import Path

UPPER_KEEPS, LOWER_KEEPS = "upper-keeps", "lower-keeps"
WIDEN_LOWER, WIDEN_UPPER, ADD_BAND = "widen-lower", "widen-upper", "add-band"

SCALE_CHOICES: Mapping[str, str] = {
    UPPER_KEEPS: "end each lower band before the upper one starts",
    LOWER_KEEPS: "start each upper band after the lower one ends",
    WIDEN_LOWER: "extend the band below each gap",
    WIDEN_UPPER: "extend the band above each gap",
    ADD_BAND: "add a band where one is missing, with a placeholder as its outcome",
}
"""The answers that an author picks for a scale; two of them may go together, as in `upper-keeps,add-band`."""

WIDEST = 3
"""The most scores in a row, a third of the 11 scores, that a band is extended over without being asked."""


@dataclass(frozen=True, slots=True)
class ScaleRepair:
    """The answers for one scale: the plain one, or those that an author chooses from, or why there is none."""

    plain: Repair | None = None
    choices: tuple[Repair, ...] = ()
    obstacle: str = ""

    def attach(self, problem: Problem) -> Problem:
        """Return a problem of the scale with these answers."""
        return problem._replace(repair=self.plain, choices=self.choices, obstacle=self.obstacle)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the scores of a scale come to by its gate and, if it alone decides the verdict, by the thresholds.

    With `turns_at`, lower scores are better: a score counts as `turns_at` less it, as do the gate and the thresholds.
    """

    gate: int | None
    pass_from: int | None = None
    borderline_from: int | None = None
    turns_at: int | None = None

    def of(self, score: int) -> str:
        """Return the verdict of a score, or whether it meets the gate where the verdict depends on more."""
        if self.turns_at is not None:
            score = self.turns_at - score
        if self.pass_from is None or self.borderline_from is None:
            return "gate missed" if self.gate is not None and score < self.gate else "gate met"
        if (self.gate is not None and score < self.gate) or score < self.borderline_from:
            return "fail"
        return "pass" if score >= self.pass_from else "borderline"

    def find_cuts(self, lowest: int, highest: int) -> list[int]:
        """Return the scores that come to something else than the score below."""
        return [score for score in range(lowest + 1, highest + 1) if self.of(score) != self.of(score - 1)]


def find_verdicts(rubric: Rubric, scale: Scale) -> Verdicts:
    """Return the gate of a scale of a rubric, and the thresholds if this scale alone decides the verdict."""
    if rubric.refusal or (not scale.is_whole and looks_like_levels(scale)):  # no score in a band decides anything
        return Verdicts(None)
    lowest, highest = rubric.find_ends(scale)
    gate, turns_at = scale.gate, None
    if scale.ends[0] > scale.ends[1]:
        turns_at = lowest + highest
        gate = None if gate is None else turns_at - gate
    if len(rubric.scales) > 1 or len(rubric.criteria) > 1 or rubric.is_mixed:
        return Verdicts(gate, turns_at=turns_at)
    pass_from, borderline_from = (ceil(threshold * (highest - lowest)) + lowest for threshold in rubric.thresholds)
    return Verdicts(gate, pass_from, borderline_from, turns_at)


def find_extent(band: Band) -> range | None:
    """Return the scores that a band is written for, also if its bounds are swapped; None if a bound is invalid."""
    if band.is_sound:
        return band.scores
    bounds = band.lower, band.upper
    is_swapped = not band.scores and {*bounds} == {band.reach[0], band.reach[-1]} and len(band.reach) > 1
    return band.reach if is_swapped else None


def repair_scales(rubric: Rubric) -> Iterator[tuple[Scale, ScaleRepair]]:
    """Yield the scales whose bands do not cover all scores in order, each with its repair."""
    for scale in rubric.scales:
        if scale.bands and not scale.is_whole:
            yield scale, _plan_repair(rubric, scale)


def _plan_repair(rubric: Rubric, scale: Scale) -> ScaleRepair:
    """Return the repair of all that is wrong with the order and the bounds of the bands of a scale."""
    try:
        plan = plan_scale(rubric, scale)
    except RefusedScaleError as refused:
        return ScaleRepair(obstacle=str(refused))
    return plan.repair()


class RefusedScaleError(Exception):
    """No sound scale is near enough to the bands as written; the message says what to do by hand."""


@dataclass(frozen=True, slots=True)
class _WrittenBand:
    """A band with the scores that it is written for, from `low` to `high`."""

    band: Band
    low: int
    high: int

    @property
    def name(self) -> str:
        return f"[{self.low}, {self.high}]"


@dataclass(frozen=True, slots=True)
class _Gap:
    """Scores in a row that no band covers: the first and the last one, and how many bands are below them."""

    first: int
    last: int
    below: int


@dataclass(frozen=True, slots=True)
class _SoundScale:
    """The first and the last score of each band, in ascending order, and the ranges of the bands to add."""

    bands: tuple[tuple[int, int], ...]
    added: tuple[tuple[int, int], ...] = ()

    @property
    def starts(self) -> set[int]:
        return {start for start, _ in (*self.bands, *self.added)}


def plan_scale(rubric: Rubric, scale: Scale) -> "ScalePlan":
    """Return how the bands of a scale can be arranged.

    Raises:
        RefusedScaleError: if no sound scale keeps them all.
    """
    lowest, highest = rubric.find_ends(scale)
    written = []
    for band in scale.bands:
        extent = find_extent(band)
        if extent is None:
            ends = f"{lowest} to {highest}"
            raise RefusedScaleError(f"another bound of this scale is not an integer from {ends}; correct it first")
        written.append(_WrittenBand(band, extent[0], extent[-1]))
    written.sort(key=lambda one: (one.low, one.high))
    count = highest - lowest + 1
    if len(written) > count:
        raise RefusedScaleError(f"{len(written)} bands cannot share {count} scores; join or remove some by hand")
    _check_nested(written)
    has_strays = rubric.has_strays and scale.path == rubric.path  # one of them may be a band for any score
    is_filled = not has_strays and not (looks_like_levels(scale) and not rubric.dialect)
    cuts = find_verdicts(rubric, scale).find_cuts(lowest, highest)
    gaps = list(_find_gaps(written, lowest, highest)) if is_filled else []
    breaks = {number for number, (lower, upper) in enumerate(pairwise(written), 1) if lower.high + 1 < upper.low}
    lows, highs = list[int](), list[int]()
    for first, stop in pairwise([0, *sorted(breaks), len(written)]):
        run = written[first:stop]
        places = _find_places(run, is_strict=True)
        lowest_starts = _choose_lowest(run, places)
        if not lowest_starts:
            places = _find_places(run, is_strict=False)
            lowest_starts = _choose_lowest(run, places)
        if not lowest_starts:
            names = join_words([one.name for one in run])
            raise RefusedScaleError(f"the bands {names} overlap too much for each to keep a score; part them by hand")
        lows += lowest_starts
        highs += _choose_highest(run, places)
    return ScalePlan(scale, tuple(written), tuple(cuts), tuple(gaps), tuple(lows), tuple(highs), lowest, highest)


def _check_nested(written: Sequence[_WrittenBand]) -> None:
    """Refuse two bands with one range, and a band that lies between the bounds of another one."""
    widest = written[0]
    for before, one in pairwise(written):
        if (before.low, before.high) == (one.low, one.high):
            raise RefusedScaleError(f"two bands have the range {one.name}; give each its own scores by hand")
        if before.high > widest.high:
            widest = before
        if widest.high > one.high:
            raise RefusedScaleError(f"band {one.name} lies inside {widest.name}; give each its own scores by hand")


def _find_gaps(written: Sequence[_WrittenBand], lowest: int, highest: int) -> Iterator[_Gap]:
    following = lowest
    for number, one in enumerate(written):
        if one.low > following:
            yield _Gap(following, one.low - 1, number)
        following = one.high + 1
    if following <= highest:
        yield _Gap(following, highest, len(written))


def _find_places(run: Sequence[_WrittenBand], *, is_strict: bool) -> list[list[int]]:
    """Return where each band but the first of some that overlap or touch may start, if its neighbors share scores.

    With `is_strict`, only one of two gives way; if one of them has no other scores, it keeps them.
    """
    places = []
    for lower, upper in pairwise(run):
        lowest, highest = upper.low, lower.high + 1
        if not is_strict:
            places.append(list(range(lowest, highest + 1)))
        elif lower.low == upper.low:
            places.append([highest])
        elif lower.high == upper.high:
            places.append([lowest])
        else:
            places.append(sorted({lowest, highest}))
    return places


def _choose_lowest(run: Sequence[_WrittenBand], places: Sequence[list[int]]) -> list[int]:
    """Return the lowest of its places for each band at which each keeps a score; empty if there are none."""
    starts = [run[0].low]
    for options in places:
        at = bisect_right(options, starts[-1])
        if at == len(options):
            return []
        starts.append(options[at])
    return starts if starts[-1] <= run[-1].high else []


def _choose_highest(run: Sequence[_WrittenBand], places: Sequence[list[int]]) -> list[int]:
    starts, following = list[int](), run[-1].high + 1
    for options in reversed(places):
        following = options[bisect_left(options, following) - 1]
        starts.append(following)
    return [run[0].low, *reversed(starts)]


_MOST_STEPS = 2
"""The most changes of a scale that a title lists; of more it says what the bands become."""


@dataclass(frozen=True, slots=True)
class ScalePlan:
    """The bands of a scale in ascending order, the gaps between them, and the nearest arrangements without overlap.

    `lows` and `highs` are where the bands start if shared scores go to the upper or to the lower band. `cuts` are the
    scores at which the verdict changes.
    """

    scale: Scale
    written: tuple[_WrittenBand, ...]
    cuts: tuple[int, ...]
    gaps: tuple[_Gap, ...]
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    lowest: int
    highest: int

    @property
    def settled(self) -> set[int]:
        """The scores at which a band starts whatever the author chooses."""
        return {*self.lows} & {*self.highs}

    def repair(self) -> ScaleRepair:
        """Return the answers that put the bands in order and cover each score once."""
        obstacle = ""
        if len(self.written) == 1 and not self.gaps:
            obstacle = "one band for all scores would tell no answers apart; describe at least two bands"
        return self._write_all(self._find_answers(), obstacle)

    def part(self, starts: Iterable[int]) -> ScaleRepair:
        """Return the answers that also start a band at some gates and thresholds.

        A scale that is not sound has none: its other answers come first, so that each name has one meaning.
        """
        others = self.repair()
        if others.plain or others.choices or self.gaps:
            return ScaleRepair(obstacle="first repair the order and the bounds of the bands of this scale")
        wanted = set(starts)
        found = [("", self._shift(self._keep(self.lows))), (ADD_BAND, self._add(self.lows, is_parting=True))]
        return self._write_all((name, answer) for name, answer in found if wanted <= answer.starts)

    def _write_all(self, answers: Iterable[tuple[str, _SoundScale]], obstacle: str = "") -> ScaleRepair:
        written = (self._write(answer, name) for name, answer in answers)
        repairs = [repair for repair in written if repair is not None]
        plain = next((repair for repair in repairs if not repair.choice), None)
        choices = tuple(repair for repair in repairs if repair.choice)
        reason = "" if repairs else obstacle
        return ScaleRepair(plain, choices, reason)

    def _find_answers(self) -> Iterator[tuple[str, _SoundScale]]:
        """Find the nearest sound scales, each with the name that chooses it.

        If one is nearest, and no band of it goes over a wide gap, it needs no choice and has no name.
        """
        is_open = self.lows != self.highs
        is_wide = any(gap.last - gap.first >= WIDEST for gap in self.gaps)
        upper, lower = (self._widen(is_upper=is_upper) for is_upper in (True, False))
        names = {WIDEN_LOWER: lower, WIDEN_UPPER: upper}
        if is_open:
            names = {UPPER_KEEPS: upper, LOWER_KEEPS: lower}
        if is_open and is_wide:  # who chooses who keeps a shared score has not chosen what a wide gap means
            names = {}
        elif upper == lower and not is_wide:
            names = {"": upper}
        elif upper == lower and all(gap.below == 0 for gap in self.gaps):
            names = {WIDEN_UPPER: upper}
        elif upper == lower:
            names = {WIDEN_LOWER: upper}
        found = [(name, answer) for name, answer in names.items() if answer is not None]
        yield from found
        if is_open and found:  # the gaps go the same way
            return
        adding = {ADD_BAND: self.lows}
        if is_open:
            adding = {f"{UPPER_KEEPS},{ADD_BAND}": self.lows, f"{LOWER_KEEPS},{ADD_BAND}": self.highs}
        for name, starts in adding.items():
            answer = self._add(starts)
            if answer.added:
                yield name, answer

    def _widen(self, *, is_upper: bool) -> _SoundScale | None:
        """Extend a band over each gap; None if it would hold a gate or threshold, or be the only one."""
        starts = list(self.lows) if is_upper else list(self.highs)
        ends = [start - 1 for start in starts[1:]] + [self.written[-1].high]
        if len(starts) == 1 and (self.gaps or (starts[0], ends[0]) == (self.lowest, self.highest)):
            return None
        for gap in self.gaps:
            between = [cut for cut in self.cuts if gap.first <= cut <= gap.last + 1 and cut > self.lowest]
            if gap.below in (0, len(starts)):
                if between:
                    return None
                if gap.below == 0:
                    starts[0] = gap.first
                else:
                    ends[-1] = gap.last
                continue
            if len(between) > 1:
                return None
            options = between or [gap.first, gap.last + 1]
            starts[gap.below] = options[0] if is_upper else options[-1]
            ends[gap.below - 1] = starts[gap.below] - 1
        if not self.gaps:
            return self._keep(starts)
        return _SoundScale(tuple(zip(starts, ends, strict=True)))

    def _keep(self, starts: Sequence[int]) -> _SoundScale:
        """Return the bands that start at some scores, and leave the gaps between them."""
        return _SoundScale(tuple(zip(starts, self._end(starts), strict=True)))

    def _end(self, starts: Sequence[int]) -> list[int]:
        """Return where bands end that start at some scores, and leave the gaps between them."""
        ends = [
            lower.high if lower.high + 1 < upper.low else start - 1
            for (lower, upper), start in zip(pairwise(self.written), starts[1:], strict=True)
        ]
        return [*ends, self.written[-1].high]

    def _shift(self, answer: _SoundScale) -> _SoundScale:
        """Start the next band at a gate or threshold inside a band, unless it is far, or would split the next one."""
        bands = list(answer.bands)
        for number in range(len(bands) - 1):
            start, end = bands[number]
            inside = [cut for cut in self.cuts if start < cut <= end]
            following, last = bands[number + 1]
            if len(inside) != 1 or following != end + 1 or not (self.written[number + 1].band.outcome or "").strip():
                continue
            if following - inside[0] > WIDEST:
                continue
            is_whole = not any(following < cut <= last for cut in self.cuts)
            if not (is_whole and following in self.cuts):
                bands[number : number + 2] = (start, inside[0] - 1), (inside[0], last)
        return _SoundScale(tuple(bands))

    def _add(self, starts: Sequence[int], *, is_parting: bool = False) -> _SoundScale:
        """Add bands in the gaps and, if it `is_parting`, from each gate or threshold inside a band on."""
        bands, added = list[tuple[int, int]](), [(gap.first, gap.last) for gap in self.gaps]
        for start, end in zip(starts, self._end(starts), strict=True):
            inside = [cut for cut in self.cuts if start < cut <= end] if is_parting else []
            last = inside[0] - 1 if inside else end
            bands.append((start, last))
            if inside:
                added.append((inside[0], end))
        whole = list[tuple[int, int]]()
        for start, end in sorted(added):
            if whole and whole[-1][1] + 1 == start:
                whole[-1] = whole[-1][0], end
            else:
                whole.append((start, end))
        pieces = []
        for start, end in whole:
            inside = [cut for cut in self.cuts if start < cut <= end]
            pieces += [(first, stop - 1) for first, stop in pairwise([start, *inside, end + 1])]
        return _SoundScale(tuple(bands), tuple(pieces))

    def _write(self, answer: _SoundScale, choice: str) -> Repair | None:
        """Return the repair that writes a sound scale; None if it changes nothing, or cannot be written."""
        depth = len(self.scale.path)
        intents, titles = list[Intent](), list[str]()
        for one, (start, end) in zip(self.written, answer.bands, strict=True):
            title, changes = self._write_band(one, start, end)
            if changes:
                titles.append(title)
                intents += changes
        steps = tuple(one.band.path[depth] for one in self.written)
        is_sorted = steps == tuple(band.path[depth] for band in self.scale.bands)
        if not is_sorted:
            titles.append("sort the bands")
            intents.append(Reorder(self.scale.path, steps))
        if answer.added:
            adding = self._insert(answer, is_sorted=is_sorted)
            if adding is None:
                return None
            intents += adding
            what = pluralize(len(answer.added), "the band")
            titles.append(f"add {what} {_name_bands(answer.added)} with a placeholder as the outcome")
        if not intents:
            return None
        title = ", ".join(titles)
        if len(titles) > _MOST_STEPS:
            title = f"make the bands {_name_bands(sorted((*answer.bands, *answer.added)))}"
            if answer.added:
                title += f", with a placeholder as the outcome of {_name_bands(answer.added)}"
        return Repair(title, (Arrange(self.scale.path), *intents), safe=False, choice=choice)

    def _write_band(self, one: _WrittenBand, start: int, end: int) -> tuple[str, list[Intent]]:
        """Return the title and the changes that give a band other bounds; the short form has no upper ones."""
        band = one.band
        if self.scale.is_map:
            intents: list[Intent] = [RenameKey(band.path, str(start))] if start != band.lower else []
            return f"start {band.written} at {start}", intents
        changes: list[Intent] = []
        if start != band.lower:
            changes.append(ReplaceValue((*band.path, 0), str(start)))
        if end != band.upper:
            changes.append(ReplaceValue((*band.path, 1), str(end)))
        if (start, end) == (one.low, one.high):  # the bounds are swapped
            title = f"write `{one.name}`"
        elif len(changes) == 2:
            title = f"write `[{start}, {end}]` for {band.written}"
        elif start != band.lower:
            title = f"start {band.written} at {start}"
        else:
            title = f"end {band.written} at {end}"
        return title, changes

    def _insert(self, answer: _SoundScale, *, is_sorted: bool) -> list[Intent] | None:
        """Return the intents that add bands between the others; None if that cannot be written.

        A band of a list is added as a copy of the one below it, or else above it, with a placeholder as its outcome.
        """
        intents = list[Intent]()
        by_place = dict[int, list[range]]()  # the scores of the new bands, by how many bands are below them
        for start, end in answer.added:
            number = sum(first < start for first, _ in answer.bands)
            by_place.setdefault(number, []).append(range(start, end + 1))
        for number, ranges in by_place.items():
            # The bands next to the new ones, if there are any: `number` is the place of the following one.
            following = next((written.band for written in self.written[number:]), None)
            preceding = self.written[number - 1].band if number else None
            if self.scale.is_map:
                texts = [(str(scores[0]), _write_placeholder(scores)) for scores in ranges]
                if following:
                    intents += [InsertField(following.path, key, json.dumps(text)) for key, text in texts]
                elif is_sorted:
                    intents += [AddField(self.scale.path, key, text) for key, text in texts]
                else:  # the last field of the text is not the last one of the sorted scale
                    return None
                continue
            neighbors = [band for band in (preceding, following) if band is not None and band.outcome is not None]
            if not neighbors:
                return None
            like = neighbors[0]
            copies = tuple(_copy(like, scores) for scores in ranges)
            place = None if is_sorted else number
            intents.append(InsertItems(like.path[:-1], copies, before=like is following, at=place))
        return intents


def _name_bands(bands: Iterable[tuple[int, int]]) -> str:
    return join_words([f"[{start}, {end}]" for start, end in bands])


def _copy(band: Band, scores: range) -> tuple[tuple[Path, str], ...]:
    """Return the scalars in which a copy of a band differs, by their paths: its bounds, and a placeholder."""
    field = str(band.path[-1])
    outcome = band.outcome_path[len(band.path) - 1 :]
    return (((field, 0), str(scores[0])), ((field, 1), str(scores[-1])), (outcome, _write_placeholder(scores)))


def _write_placeholder(scores: range) -> str:
    """Return a placeholder for an outcome, which its rule reports until it is replaced."""
    return f"TODO - say what earns {name_scores(scores)}"
