"""Draw labelled answers at random, and count how often `assess` calls a judge trusted, or not trusted, and is wrong.

`make false-alarms` writes the tables into docs/development/figures.md. Every cell has a seed of its own, so that it is
the same each time and on every machine.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from rubric_lint.assess.judged.outcomes import level_of_criterion
from rubric_lint.assess.judged.rules import TARGET
from rubric_lint.assess.measure.bounds import bound
from rubric_lint.assess.measure.by_verdict import VerdictBounds, bound_shares
from rubric_lint.assess.measure.groups import ERROR
from rubric_lint.assess.measure.needed import UnitsSoFar, count_labels
from rubric_lint.assess.measure.pass_rate import LEAST_EACH
from rubric_lint.assess.measure.shares import LabelledAnswer, Shares, measure_shares

SIZES = (30, 60, 120, 300)
LEVEL = float(ERROR)

TRUSTED, NOT_TRUSTED, UNDECIDED, DISAGREE = "trusted", "not trusted", "undecided", "people disagree"


class Judge(NamedTuple):
    """The shares of bad answers that a judge catches and of good ones that it passes, in one run."""

    caught: float
    passed: float

    @property
    def words(self) -> str:
        """Return the shares as a table shows them."""
        return f"{self.caught:g}, {self.passed:g}".replace("0.", ".")


def decide(shares: Shares) -> str:
    """Return what `assess` says for these shares."""
    if shares.people.disagree(TARGET):
        return DISAGREE
    if shares.is_below(TARGET):
        return NOT_TRUSTED
    return TRUSTED if shares.reaches(TARGET) else UNDECIDED


Draw = Callable[[Random, int], list[LabelledAnswer]]


def draw_runs(judge: Judge, bad: float = 0.3, runs: int = 2) -> Draw:
    """Return what draws answers of different texts that two people label rightly."""

    def draw(random: Random, n: int) -> list[LabelledAnswer]:
        found = []
        for number in range(n):
            good = random.random() >= bad
            right = judge.passed if good else judge.caught
            outputs = [good is (random.random() < right) for _ in range(runs)]
            found.append(LabelledAnswer(number, {"ana": good, "bo": good}, outputs))
        return found

    return draw


def draw_questions(judge: Judge, questions: int, alike: float, bad: float = 0.3) -> Draw:
    """Return what draws answers to a few questions; `alike` is the correlation of the judge's errors on one of them."""

    def share(random: Random, mean: float) -> float:
        if alike in {0, 1}:
            return float(random.random() < mean) if alike else mean
        spread = (1 - alike) / alike
        return random.betavariate(mean * spread, (1 - mean) * spread)

    def draw(random: Random, n: int) -> list[LabelledAnswer]:
        right = {(unit, good): share(random, judge[good]) for unit in range(questions) for good in (False, True)}
        found = []
        for number in range(n):
            unit, good = number % questions, random.random() >= bad
            found.append(LabelledAnswer(unit, {"ana": good}, [good is (random.random() < right[unit, good])]))
        return found

    return draw


def draw_people(judge: Judge, people: int, error: float, bad: float, *, second: bool = False) -> Draw:
    """Return what draws labels of people who err; with `second` another labels where the first and the judge differ."""

    def draw(random: Random, n: int) -> list[LabelledAnswer]:
        found = []
        for number in range(n):
            good = random.random() >= bad
            run = good is (random.random() < judge[good])
            labels = {f"p{person}": good is (random.random() >= error) for person in range(people)}
            if second and labels["p0"] is not run:
                labels["p1"] = good is (random.random() >= error)
            found.append(LabelledAnswer(number, labels, [run]))
        return found

    return draw


def count_outcomes(draw: Draw, n: int, draws: int, level: float = LEVEL) -> Counter[str]:
    """Count what is said of so many draws of `n` answers."""
    random = Random(f"{n} {draws}")  # noqa: S311 (a simulation, the same each time)
    return Counter(decide(measure_shares(draw(random, n), level)) for _ in range(draws))


def _row(draw: Draw, what: str, draws: int) -> str:
    return " / ".join(_share(count_outcomes(draw, n, draws)[what], draws) for n in SIZES)


def _share(count: int, of: int) -> str:
    return f"{count / of:.3f}".replace("0.", ".", 1) if 0 < count < of else str(int(count > 0))


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_OF_SIZES = "n = 30 / 60 / 120 / 300"


def tabulate_runs(draws: int) -> str:
    """Return the table of judges that differ between two runs."""
    cases = [
        (Judge(0.75, 0.97), TRUSTED, "false"),
        (Judge(0.8, 0.999), TRUSTED, "false, at the worst"),
        (Judge(0.8, 0.8), NOT_TRUSTED, "false, at the worst"),
        (Judge(0.95, 0.97), TRUSTED, "right"),
        (Judge(0.98, 0.98), TRUSTED, "right"),
        (Judge(0.6, 0.97), NOT_TRUSTED, "right"),
    ]
    rows = ((case.words, what, is_so, _row(draw_runs(case), what, draws)) for case, what, is_so in cases)
    return _table(("caught, passed in one run", "said", "which is", _OF_SIZES), rows)


def tabulate_questions(draws: int) -> str:
    """Return the table of answers that share questions."""

    def list_rows() -> Iterator[Sequence[str]]:
        for questions in (5, 10, 30):
            for alike in (0, 0.2, 0.5, 1):
                yield (
                    str(questions),
                    f"{alike:g}",
                    _row(draw_questions(Judge(0.8, 0.999), questions, alike), TRUSTED, draws),
                    _row(draw_questions(Judge(0.8, 0.8), questions, alike), NOT_TRUSTED, draws),
                    _row(draw_questions(Judge(0.95, 0.97), questions, alike), TRUSTED, draws),
                    _row(draw_questions(Judge(0.5, 0.97), questions, alike), NOT_TRUSTED, draws),
                )

    head = ("questions", "correlation", f"false trusted, {_OF_SIZES}", "false not trusted")
    return _table((*head, "trusted at .95, .97", "not trusted at .5, .97"), list_rows())


def tabulate_people(draws: int) -> str:
    """Return the table of people who err."""
    perfect, poor = Judge(1, 1), Judge(0.6, 0.95)
    cases = [
        ("perfect", perfect, 1, 0.05, 0.1, False),
        ("perfect", perfect, 1, 0.1, 0.1, False),
        ("perfect, a second person where they differ", perfect, 1, 0.1, 0.1, True),
        ("perfect", perfect, 1, 0.05, 0.3, False),
        ("perfect", perfect, 2, 0.05, 0.1, False),
        ("perfect", perfect, 2, 0.1, 0.3, False),
        ("perfect", perfect, 3, 0.1, 0.3, False),
        (poor.words, poor, 1, 0, 0.3, False),
        (poor.words, poor, 1, 0.05, 0.3, False),
        (f"{poor.words}, a second person where they differ", poor, 1, 0.05, 0.3, True),
        (poor.words, poor, 2, 0.05, 0.3, False),
        ("always yes", Judge(0, 1), 1, 0.05, 0.3, False),
    ]

    def list_rows() -> Iterator[Sequence[str]]:
        for name, judge, people, error, bad, second in cases:
            draw = draw_people(judge, people, error, bad, second=second)
            found = [count_outcomes(draw, n, draws) for n in SIZES]
            said = (NOT_TRUSTED, TRUSTED, DISAGREE)
            figures = [" / ".join(_share(each[what], draws) for each in found) for what in said]
            yield name, str(people), f"{error:g}", f"{bad:g}", *figures

    head = ("judge", "people", "each errs", "bad", f"not trusted, {_OF_SIZES}", "trusted", "people disagree")
    return _table(head, list_rows())


def tabulate_coverage(draws: int) -> str:
    """Return the table of bounds of sums of shares: how often the true share of 80% is outside."""

    def list_rows() -> Iterator[Sequence[str]]:
        for low, high in ((0.0, 1.0), (0.5, 1.0), (0.0, 0.9), (0.6, 0.9)):
            part = (0.8 - low) / (high - low)
            cells = []
            for units in (10, 30, 60, 200):
                random = Random(f"{low} {high} {units}")  # noqa: S311 (a simulation, the same each time)
                above = below = 0
                for _ in range(draws):
                    most = sum(random.random() < part for _ in range(units))
                    sums = Fraction(str(high)) * most + Fraction(str(low)) * (units - most)
                    found = bound(sums, units, LEVEL)
                    above += found.low > 0.8
                    below += found.high < 0.8
                cells.append(f"{_share(above, draws)}, {_share(below, draws)}")
            yield f"{low:g} or {high:g}", " / ".join(cells)

    return _table(("share of a unit", "lower bound above, upper bound below; 10 / 30 / 60 / 200 units"), list_rows())


def tabulate_needed(draws: int) -> str:
    """Return the table of the labels that are advised after 60, and of how often they decide."""

    def list_rows() -> Iterator[Sequence[str]]:
        for caught in (0.4, 0.6, 0.85, 0.95, 0.98):
            draw = draw_runs(Judge(caught, 0.97), 0.4, 1)
            random = Random(f"needed {caught}")  # noqa: S311 (a simulation, the same each time)
            undecided = advised = decided = 0
            for _ in range(draws):
                first = draw(random, 60)
                shares = measure_shares(first, LEVEL)
                if decide(shares) != UNDECIDED:
                    continue
                undecided += 1
                seen = (UnitsSoFar(each.x, each.n) for each in (shares.bad_caught, shares.good_passed))
                if (needed := count_labels(*seen, TARGET, LEVEL / 2)) is None:
                    continue
                advised += 1
                more = [each._replace(unit=f"more {each.unit}") for each in draw(random, needed - 60)]
                decided += decide(measure_shares([*first, *more], LEVEL / 2)) != UNDECIDED
            yield f"{caught:g}, .97", _share(undecided, draws), _share(advised, undecided), _share(decided, advised)

    return _table(
        ("caught, passed", "undecided after 60", "of these a number is said", "which then decides"), list_rows()
    )


def tabulate_criteria(draws: int) -> str:
    """Return the table of one of four criteria: how often it is said to be kept, or to be fixed."""
    level = level_of_criterion(4)

    def list_rows() -> Iterator[Sequence[str]]:
        for judge, bad in (
            (Judge(0.9, 0.9), 0.15),
            (Judge(0.8, 0.8), 0.3),
            (Judge(0.4, 0.97), 0.3),
            (Judge(0.6, 0.97), 0.5),
            (Judge(0.97, 0.97), 0.3),
        ):
            draw = draw_runs(judge, bad, 1)
            fix = " / ".join(_share(count_outcomes(draw, n, draws, level)[NOT_TRUSTED], draws) for n in SIZES)
            keep = " / ".join(_share(count_outcomes(draw, n, draws)[TRUSTED], draws) for n in SIZES)
            yield judge.words, f"{bad:g}", fix, keep

    return _table(("caught, passed", "bad", f"fix, {_OF_SIZES}", "keep"), list_rows())


def tabulate_by_verdict(draws: int) -> str:
    """Return the table of labels that are chosen by the judge's verdict: how often each bound is wrong."""

    def list_rows() -> Iterator[Sequence[str]]:
        for judge, bad in (
            (Judge(0.8, 0.8), 0.3),
            (Judge(0.8, 0.97), 0.1),
            (Judge(0.95, 0.97), 0.3),
            (Judge(0.6, 0.99), 0.5),
        ):
            for answers, labels in ((60, 10), (100, 20), (400, 20), (400, 60)):
                random = Random(f"{judge} {bad} {answers} {labels}")  # noqa: S311 (a simulation, the same each time)
                wrong, known, width = Counter[str](), 0, 0.0
                for _ in range(draws):
                    found = _draw_by_verdict(random, judge, bad, answers, labels)
                    if found is None:
                        continue
                    known += 1
                    width += found.bad_caught.high - found.bad_caught.low
                    for name, ends, share in (
                        ("caught", found.bad_caught, judge.caught),
                        ("passed", found.good_passed, judge.passed),
                    ):
                        wrong[f"{name} low"] += ends.low > share
                        wrong[f"{name} high"] += ends.high < share
                cells = [
                    f"{_share(wrong[f'{name} low'], known)}, {_share(wrong[f'{name} high'], known)}"
                    for name in ("caught", "passed")
                ]
                about = judge.words, f"{bad:g}", str(answers), str(labels), _share(known, draws)
                yield *about, *cells, f"{width / max(known, 1):.2f}".replace("0.", ".", 1)

    head = ("caught, passed", "bad", "judged answers", "labels of each verdict", "bounds in")
    return _table((*head, "bad caught: low above, high below", "good passed", "width of bad caught"), list_rows())


def _draw_by_verdict(random: Random, judge: Judge, bad: float, answers: int, labels: int) -> VerdictBounds | None:
    """Draw judged answers, and at most so many labels of each verdict."""
    of: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(answers):
        good = random.random() >= bad
        of[good is (random.random() < judge[good])].append(good)
    stopped, passed = ((labelled.count(False), len(labelled)) for labelled in (of[False][:labels], of[True][:labels]))
    if min(stopped[1], passed[1]) < LEAST_EACH:
        return None
    return bound_shares(stopped, passed, len(of[False]) / answers, LEVEL)


TABLES = {
    "Two people who agree, 30% bad answers, two runs of the judge": tabulate_runs,
    "Answers that share questions, 30% bad": tabulate_questions,
    "People who err": tabulate_people,
    "Bounds of sums of shares, at .025 each": tabulate_coverage,
    "Labels chosen by the judge's verdict, bounds at .025 each": tabulate_by_verdict,
    "The labels that would decide, 40% bad": tabulate_needed,
    "One of four criteria": tabulate_criteria,
}
"""The tables by their titles."""


def write_tables(draws: int) -> str:
    """Return all tables, each below its title."""
    return "\n\n".join(f"**{title}**\n\n{tabulate(draws)}" for title, tabulate in TABLES.items())
