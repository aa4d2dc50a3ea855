"""Measure how a judge treats bad and good answers: the share of each class that it gets right, with exact bounds.

An answer is good for a person or a run of the judge that lets it through, else bad; `stops` draws that line for
verdicts, and a gate for criteria. A unit is what answers share, such as their question: however many there are of one
unit, they count as one, by the average of its answers.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.assess.measure.bounds import BoundedShare, lower_bound, upper_bound

LEAST_DOUBLE = 10
"""The fewest answers with two labels from which people can be said to disagree."""

SLIPS = 20
"""One label in so many may be a slip of the only person who gave it."""


class LabelledAnswer(NamedTuple):
    """An answer that people labelled: its unit, and whether each person and each run of the judge finds it good.

    A run with an invalid output finds nothing (None), so it is never right. `was_asked` is False where fewer outputs
    are recorded than make a run, so that nobody knows what the judge finds. Without `labels` people said something that
    comes to no side. By so many of the runs as `left_out` says a criterion does not apply: they are not right either,
    but upper bounds leave them out.
    """

    unit: Hashable
    labels: Mapping[str, bool]
    runs: Sequence[bool | None] = ()
    was_asked: bool = True
    left_out: int = 0

    @property
    def has_valid_run(self) -> bool:
        """Whether a run of the judge has only valid outputs."""
        return any(run is not None for run in self.runs)

    @property
    def side(self) -> bool | None:
        """Whether the strict majority of people finds it good; None if they are tied."""
        good = sum(self.labels.values())
        return None if 2 * good == len(self.labels) else 2 * good > len(self.labels)

    @property
    def has_invalid_run(self) -> bool:
        """Whether one run of the judge has an invalid output, and another one has none."""
        return self.has_valid_run and None in self.runs

    @property
    def is_contradicted(self) -> bool:
        """Whether a valid run of the judge is on the other side than people."""
        return self.side is not None and (not self.side) in self.runs

    def differs_from(self, person: str) -> bool:
        """Return whether a run of the judge differs from a person who labelled the answer."""
        side = self.labels.get(person)
        return side is not None and self.was_asked and not self.is_right(side)

    def is_right(self, side: bool) -> bool:
        """Return whether all runs of the judge are right if the answer is good (or bad)."""
        right, runs = self.count_right(side)
        return right == runs

    def count_right(self, side: bool, *, is_upper: bool = False) -> tuple[int, int]:
        """Return how many runs are right on a good (or bad) answer, and of how many: 0 of 1 if there is none."""
        n = len(self.runs)
        if is_upper:
            n -= self.left_out
        return (self.runs.count(side), n) if n else (0, 1)


class PeopleAgreement(NamedTuple):
    """The agreement of people with each other, and of the judge with each of them.

    Of the `labelled` answers `double` have two labels or more, on `tied` as many people say one thing as the other, and
    on the answers at the positions `split` they are not of one mind. `agree` is the mean share of pairs of people who
    agree on an answer, None without any pair. If most answers have one label, others may have a second one because the
    first and the judge differ: then it is the mean of those answers and of all others, by their numbers. `main` is the
    person with the most labels. `differing` has of each person on how many labelled answers the judge differs, and how
    many there are.
    """

    labelled: int
    double: int
    tied: int
    split: tuple[int, ...]
    agree: Fraction | None
    main: str
    differing: Mapping[str, tuple[int, int]] = MappingProxyType({})

    def disagree(self, target: Fraction) -> bool:
        """Return whether people agree with each other too little to measure a judge by them."""
        return self.double >= LEAST_DOUBLE and self.agree is not None and self.agree < target


Counts = tuple[Fraction, int]
"""The sum of the shares of units that the judge gets right, and the number of units."""


@dataclass(frozen=True)
class Shares:
    """How a judge treats answers: the shares of bad ones that it catches and of good ones that it passes.

    `unscored` labelled answers have no valid run, and of these those at the positions `missing` not even enough outputs
    for one; `partly` others have an invalid run. On `open` answers people came to no side. `asked` has the sum and the
    number of the units of bad and of good answers without the unasked ones, and `lows` what lower bounds count.
    `differing` has the positions of the answers on which a valid run differs from people, and `single` those of them
    that only the main person labelled. So many answers of each class as `slips` says may be slips of that person, and
    the upper bounds leave them out.
    """

    bad_caught: BoundedShare
    good_passed: BoundedShare
    people: PeopleAgreement
    unscored: int = 0
    missing: tuple[int, ...] = ()
    slips: int = 0
    single: tuple[int, ...] = ()
    differing: tuple[int, ...] = ()
    partly: int = 0
    open: int = 0
    asked: tuple[Counts, Counts] = ((Fraction(0), 0), (Fraction(0), 0))
    lows: tuple[Counts, Counts] = ((Fraction(0), 0), (Fraction(0), 0))

    @property
    def unasked(self) -> int:
        """The number of labelled answers without enough outputs for a run."""
        return len(self.missing)

    @property
    def units(self) -> int:
        """The number of units, those of bad and those of good answers."""
        return self.bad_caught.n + self.good_passed.n

    def is_below(self, target: Fraction) -> bool:
        """Return whether one of the shares is surely below a target."""
        return min(self.bad_caught.high, self.good_passed.high) < target

    def reaches(self, target: Fraction) -> bool:
        """Return whether both shares surely reach a target."""
        return min(self.bad_caught.low, self.good_passed.low) >= target


def compare_people(answers: Sequence[LabelledAnswer]) -> PeopleAgreement:
    """Measure how far the people who labelled answers agree, and how often the judge differs from each of them."""
    answers = [answer for answer in answers if answer.labels]
    counts = Counter(person for answer in answers for person in answer.labels)
    main = min(counts, key=lambda person: (-counts[person], person), default="")
    # Answers with the same counts are added up at once: a sum of many fractions is slow.
    pairs = Counter[tuple[bool, int, int]]()
    sizes = Counter[bool]()
    ties, split = 0, list[int]()
    for place, answer in enumerate(answers):
        differs = answer.differs_from(main)
        sizes[differs] += 1
        k, good = len(answer.labels), sum(answer.labels.values())
        if k > 1:
            pairs[differs, good, k] += 1
            if answer.side is None:
                ties += 1
            if 0 < good < k:
                split.append(place)
    sums = {True: Fraction(0), False: Fraction(0)}
    labelled_twice = Counter[bool]()
    for (differs, good, k), times in pairs.items():
        sums[differs] += times * Fraction(good * (good - 1) + (k - good) * (k - good - 1), k * (k - 1))
        labelled_twice[differs] += times
    differing = {name: (sum(answer.differs_from(name) for answer in answers), n) for name, n in counts.items()}
    double = labelled_twice.total()
    agree: Fraction | None = None
    if double and 2 * double >= len(answers):
        agree = (sums[True] + sums[False]) / double
    elif double:
        total = Fraction(0)
        for differs, size in sizes.items():
            mean = sums[differs] / labelled_twice[differs] if labelled_twice[differs] else Fraction(1)
            # Answers without a second label count as agreed (the mean 1): nobody contradicts the first one.
            total += mean * size
        agree = total / len(answers)
    return PeopleAgreement(len(answers), double, ties, tuple(split), agree, main, differing)


def measure_shares(answers: Sequence[LabelledAnswer], level: float) -> Shares:
    """Return the shares of a judge, with bounds that are each wrong with the probability `level`.

    If most answers have one label, ties count against the judge in lower bounds and nowhere else, and upper bounds
    allow for slips in its favor. An answer without a record counts as wrong, except in upper bounds. Answers on which
    people came to no side are at the end, and count in lower bounds alone: as wrong wherever the judge may be wrong.
    """
    people = compare_people(answers)
    everything, answers = answers, answers[: people.labelled]
    is_double = 2 * people.double >= len(answers)
    single = []
    for place, answer in enumerate(answers):
        if len(answer.labels) == 1 and answer.differs_from(people.main):
            single.append(place)
    # Once each answer on which the judge and the main person differ has a second label, a slip would show there.
    slips = len(answers) // SLIPS if single and not is_double else 0
    bad, bad_lows = _bound_class(everything, people.main, slips, level, is_good=False, is_double=is_double)
    good, good_lows = _bound_class(everything, people.main, slips, level, is_good=True, is_double=is_double)
    differing = tuple(place for place, answer in enumerate(answers) if answer.is_contradicted)
    missing = tuple(place for place, answer in enumerate(answers) if not answer.was_asked)
    bad_asked, good_asked = (Fraction(bad.x), bad.n), (Fraction(good.x), good.n)
    if missing:
        asked = [answer for answer in answers if answer.was_asked]
        bad_asked = sum_units([answer for answer in asked if answer.side is False], is_good=False)
        good_asked = sum_units([answer for answer in asked if answer.side is True], is_good=True)
    return Shares(
        bad_caught=bad,
        good_passed=good,
        people=people,
        unscored=sum(not answer.has_valid_run for answer in answers),
        missing=missing,
        slips=slips,
        single=tuple(sorted({*single} & {*differing})),
        differing=differing,
        partly=sum(answer.has_invalid_run for answer in answers),
        open=len(everything) - len(answers),
        asked=(bad_asked, good_asked),
        lows=(bad_lows, good_lows),
    )


def _bound_class(
    answers: Sequence[LabelledAnswer], main: str, slips: int, level: float, *, is_good: bool, is_double: bool
) -> tuple[BoundedShare, Counts]:
    """Return the share of bad, or of good, answers that a judge gets right, and what its lower bound counts.

    An answer on which people are tied counts in the lower bound, on the side of the `main` person, unless most answers
    have two labels (`is_double`). The upper bound leaves out the worst answers, as many as may be `slips`.
    """
    clear = [answer for answer in answers if answer.side is is_good]
    disputed: list[LabelledAnswer] = []
    if not is_double:
        disputed = [answer for answer in answers if answer.side is None and answer.labels.get(main) is is_good]
    against = [answer for answer in answers if not answer.labels and not answer.is_right(is_good)]
    counts = sum_units(clear, is_good=is_good)
    lows = sum_units([*clear, *disputed, *against], is_good=is_good)
    asked = [answer for answer in clear if answer.was_asked]
    wrong = [answer for answer in asked if not answer.is_right(is_good)]
    if slips:
        wrong.sort(key=lambda answer: Fraction(*answer.count_right(is_good)))
    right = [answer for answer in asked if answer.is_right(is_good)]
    highs = sum_units([*wrong[slips:], *right], is_good=is_good, is_upper=True)
    return BoundedShare(*counts, lower_bound(*lows, level), upper_bound(*highs, level)), lows


def sum_units(answers: Iterable[LabelledAnswer], *, is_good: bool, is_upper: bool = False) -> Counts:
    """Return the sum of the shares of units that the judge gets right, and the number of units."""
    units: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for answer in answers:
        units[answer.unit].append(answer.count_right(is_good, is_upper=is_upper))
    total = Fraction(0)
    # Most units are alike: a sum of thousands of fractions takes long.
    for counts, times in Counter(tuple(sorted(of_unit)) for of_unit in units.values()).items():
        total += times * sum((Fraction(*answer) for answer in counts), Fraction(0)) / len(counts)
    return total, len(units)
