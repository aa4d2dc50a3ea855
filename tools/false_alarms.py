"""Draw judged answers at random, and count how often each rule on judged data reports something: `make false-alarms`.

Without an effect, what a rule reports is a false alarm; each case is the worst in which it must stay silent. With an
effect, it is its power. The table goes into docs/development/figures.md. Takes six minutes.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

from false_trust import write_tables
from pages import renew_marked

from rubric_lint.assess.judged.outcomes import JudgedStatement
from rubric_lint.assess.judged.rules import JUDGED_FINDERS, correlate_within
from rubric_lint.assess.judged.table import JudgedTable, make_columns
from rubric_lint.assess.measure.labelled import LabelledAnswers
from rubric_lint.assess.measure.shares import LabelledAnswer
from rubric_lint.scoring.loading import load_rubrics

PAGE = Path(__file__).parent.parent / "docs/development/figures.md"
DRAWS = 1000
DRAWS_OF_TRUST = 400
SIZES = (30, 60, 100, 200)
CRITERIA = 10

_CHECKS = "rubrics:\n" + "".join(
    f"  - {{id: c{place}, expected_outcome: It is so, required_min_score: 10}}\n" for place in range(CRITERIA)
)
_THREE, _FOUR = "0: None, 7: Most, 10: All", "0: None, 3: Some, 7: Most, 10: All"
_BANDS = "rubrics:\n" + "".join(
    f"  - {{id: c{place}, required_min_score: 7, score_ranges: {{{_THREE if place < 2 else _FOUR}}}}}\n"
    for place in range(CRITERIA)
)
CHECKS = load_rubrics("checks.yaml", _CHECKS)["checks"]
BANDS = load_rubrics("bands.yaml", _BANDS)["bands"]
_SCORES = (1, 5, 8, 10)
"""A score in each of the bands."""

Values = list[list[int]]
"""The position on its scale of each answer's value, by criterion."""


def _draw_checks(random: Random, n: int, met: float, criteria: int = CRITERIA) -> Values:
    return [[int(random.random() < met) for _ in range(n)] for _ in range(criteria)]


def _draw_latent(random: Random, n: int, correlation: float, reverse: bool) -> Values:
    """Checks that half of the answers meet, with equally correlated causes; the first may be turned round."""
    share, own = correlation**0.5, (1 - correlation) ** 0.5
    common = [random.gauss(0, 1) for _ in range(n)]
    return [
        [int((-share if reverse and not place else share) * each + own * random.gauss(0, 1) > 0) for each in common]
        for place in range(CRITERIA)
    ]


def _draw_bands(random: Random, n: int, shares: Sequence[float]) -> list[int]:
    found = []
    for _ in range(n):
        u, band = random.random(), 0
        while band < len(shares) - 1 and u >= shares[band]:
            u, band = u - shares[band], band + 1
        found.append(_SCORES[band])
    return found


def _flip(random: Random, n: int, rates: dict[int | None, float]) -> dict[int | None, Fraction]:
    """How often two samples of each answer differ."""
    return {place: Fraction(sum(random.random() < rate for _ in range(n)), n) for place, rate in rates.items()}


def _tabulate(
    values: Values, labels: Values | None = None, flips: dict[int | None, Fraction] | None = None
) -> JudgedTable:
    rubric = BANDS if max(map(max, values)) > 1 else CHECKS
    columns = make_columns(rubric, values, labels=labels)
    keys = [str(number) for number in range(len(values[0]))]
    sampled = len(keys) if flips else 0
    made = JudgedTable(columns, keys, flips or {None: Fraction(0)}, (2,) if flips else (), sampled=sampled)
    return made if labels is None else made._replace(compared={"judge": dict(_compare(made))})


def _compare(table: JudgedTable) -> Iterator[tuple[int, LabelledAnswers]]:
    """Yield the labelled answers of each criterion: one label and one output each, of different texts."""
    for place, column in enumerate(table.columns):
        meets = column.measure.meets or ()
        answers = [
            LabelledAnswer(key, {"ana": meets[label]}, (meets[judged],))
            for key, label, judged in zip(table.keys, column.labels, column.given, strict=True)
            if label is not None
        ]
        yield place, LabelledAnswers(tuple(table.keys), tuple(answers))


def _label(random: Random, judged: Values, wrong: tuple[float, float]) -> Values:
    """Judges that err in a share of the answers that people miss, and of those that they meet; returns the judges."""
    return [[label ^ (random.random() < wrong[label]) for label in labels] for labels in judged]


def draw_unstable(random: Random, n: int, effect: bool) -> JudgedTable:
    """Two samples differ in a tenth of the answers, at every gate and in the verdict; at the first gate in 30%."""
    rates: dict[int | None, float] = {None: 0.1, **dict.fromkeys(range(CRITERIA), 0.1)}
    if effect:
        rates = {None: 0.02, **dict.fromkeys(range(CRITERIA), 0.02), 0: 0.3}
    return _tabulate(_draw_checks(random, n, 0.5), flips=_flip(random, n, rates))


def draw_inverse(random: Random, n: int, effect: bool) -> JudgedTable:
    """Independent checks; or checks whose causes correlate with .4, the first one with -.4."""
    return _tabulate(_draw_latent(random, n, 0.4, reverse=True) if effect else _draw_checks(random, n, 0.5))


def _draw_scores(random: Random, n: int, criteria: int = CRITERIA) -> Values:
    """Scores with a standard deviation of 2, cut at 0 and 10."""
    return [[_cut(random.gauss(6, 2)) for _ in range(n)] for _ in range(criteria)]


def _cut(score: float) -> int:
    return min(max(round(score), 0), 10)


def draw_flat(random: Random, n: int, effect: bool) -> JudgedTable:
    """Each check is met in 80% of the answers; the first one in 98%."""
    values = _draw_checks(random, n, 0.8)
    if effect:
        values[0] = _draw_checks(random, n, 0.98, 1)[0]
    return _tabulate(values)


def draw_lengths(random: Random, n: int, effect: bool) -> JudgedTable:
    """Judges whose errors do not follow the length of the answer; on the first criterion they correlate by .4."""
    lengths = [random.gauss(0, 1) for _ in range(n)]
    labels, judged = _draw_scores(random, n), []
    for criterion, values in enumerate(labels):
        r = 0.4 if effect and not criterion else 0
        errors = [2 * (r * length + (1 - r * r) ** 0.5 * random.gauss(0, 1)) for length in lengths]
        judged.append([_cut(value + error) for value, error in zip(values, errors, strict=True)])
    return _tabulate(judged, labels)._replace(lengths=_write_lengths(lengths))


def draw_better(random: Random, n: int, effect: bool) -> JudgedTable:
    """A judge that is right on 90% of the good and of the bad answers, where longer answers are better."""
    lengths = [random.gauss(0, 1) for _ in range(n)]
    people = [[int(0.55 * length + 0.835 * random.gauss(0, 1) > -0.5) for length in lengths] for _ in range(CRITERIA)]
    judged = _label(random, people, (0.1, 0.1))
    if effect:
        judged[0] = [
            label if random.random() < 0.8 else int(length > 0)
            for label, length in zip(people[0], lengths, strict=True)
        ]
    return _tabulate(judged, people)._replace(lengths=_write_lengths(lengths))


def count_by_length(right: tuple[float, float], follows: float, n: int, draws: int, level: float) -> int:
    """Return how often one test on lengths accuses a judge that errs by chance.

    It is `right` on so many of the bad and of the good answers; `follows` is the correlation of length and quality.
    """
    random = Random(f"{right} {follows} {n}")  # noqa: S311 (a simulation, the same each time)
    count = 0
    for _ in range(draws):
        lengths = [random.gauss(0, 1) for _ in range(n)]
        own = (1 - follows * follows) ** 0.5
        people = [int(follows * length + own * random.gauss(0, 1) > -0.5) for length in lengths]
        judged = [label ^ (random.random() >= right[label]) for label in people]
        found = correlate_within(_write_lengths(lengths), judged, people)
        count += found is not None and found.p <= level
    return count


def _write_lengths(logarithms: Sequence[float]) -> list[int]:
    return [round(1000 * math.exp(logarithm)) for logarithm in logarithms]


def _draw_people(random: Random, n: int, wrong: tuple[float, float]) -> JudgedTable:
    people = _draw_checks(random, n, 0.5)
    judges = _label(random, people, (0.2, 0.2))
    judges[0] = _label(random, people[:1], wrong)[0]
    return _tabulate(judges, people)


def draw_disagreeing(random: Random, n: int, effect: bool) -> JudgedTable:
    """The judge catches 80% of the bad answers and passes 80% of the good ones; it catches 40% by the first check."""
    return _draw_people(random, n, (0.6, 0.2) if effect else (0.2, 0.2))


def draw_all(random: Random, n: int, effect: bool) -> JudgedTable:
    """The worst cases of all rules in one rubric with four bands and a gate."""
    del effect  # this case has none
    even = [0.4, 0.1, 0.1, 0.4]
    values = [_draw_bands(random, n, shares) for shares in ([0.1, 0, 0.1, 0.8], [0.8, 0, 0.1, 0.1], *[even] * 8)]
    labels = [*values[:2], *([_mistake(random, value) for value in column] for column in values[2:])]
    rates: dict[int | None, float] = {None: 0.1, **dict.fromkeys(range(CRITERIA), 0.1)}
    lengths = _write_lengths([random.gauss(0, 1) for _ in range(n)])
    return _tabulate(values, labels, _flip(random, n, rates))._replace(lengths=lengths)


def _mistake(random: Random, value: int) -> int:
    """The label for a value: in a fifth of the answers the mirrored one on the other side of the gate."""
    return _SCORES[3 - _SCORES.index(value)] if random.random() < 0.2 else value


ALL = "all five"


class Case(NamedTuple):
    """What is drawn for a rule, or for all, with and without an effect, in words."""

    name: str
    draw: Callable[[Random, int, bool], JudgedTable]
    null: str
    effect: str
    affected: tuple[str, ...] = ("c0",)

    def find(self, table: JudgedTable) -> Iterator[object]:
        """Yield what the rule, or each rule, comes to."""
        rule = self.name.partition(",")[0]
        return chain.from_iterable(finder.find(table) for name, finder in JUDGED_FINDERS.items() if rule in {name, ALL})


CASES = (
    Case("judged-unstable", draw_unstable, "2 samples differ in 10%", "at one gate in 30%"),
    Case("judged-disagrees", draw_disagreeing, "80% caught, 80% passed", "40% caught on one"),
    Case("judged-flat", draw_flat, "each check is met in 80%", "one is met in 98%"),
    Case("judged-inverse", draw_inverse, "independent", "one runs against the others (r = -.4)"),
    Case("judged-length", draw_lengths, "errors of sd 2, no matter how long", "on one they follow length (r = .4)"),
    Case(
        "judged-length, better ones longer",
        draw_better,
        "right on 90%, quality follows length",
        "and on one, its errors",
    ),
    Case(ALL, draw_all, "the worst of each", ""),
)


def simulate(case: Case, n: int, draws: int, *, effect: bool = False) -> int:
    """Return in how many of `draws` rubrics with ten criteria something is reported; of an effect, on the criterion."""
    random = Random(f"{case.name} {n} {effect}")  # noqa: S311 (a simulation, the same each time)
    count = 0
    for _ in range(draws):
        found = [each for each in case.find(case.draw(random, n, effect)) if isinstance(each, JudgedStatement)]
        count += any(not effect or each.target.criterion in case.affected for each in found)
    return count


def draw_table(draws: int) -> str:
    """Return the table of all cases."""
    rows = [
        "| rule | nothing wrong | false alarms, n = 30 / 60 / 100 / 200 | effect | found, n = 30 / 60 / 100 / 200 |",
        "|---|---|---|---|---|",
    ]
    for case in CASES:
        alarms = " / ".join(f"{simulate(case, n, draws) / draws:.1%}" for n in SIZES)
        power = " / ".join(f"{simulate(case, n, draws, effect=True) / draws:.0%}" for n in SIZES) if case.effect else ""
        rule, *more = case.name.split(",")
        name = ",".join([f"`{rule}`", *more]) if case.effect else case.name
        rows.append(f"| {name} | {case.null} | {alarms} | {case.effect} | {power} |")
    return "\n".join(rows)


def main() -> None:
    """Write the table into the guide."""
    parser = argparse.ArgumentParser(description="Write the false alarms and the power of the rules on judged data.")
    parser.add_argument("--draws", type=int, default=DRAWS, help="the draws of the rules on judged data")
    parser.add_argument("--draws-of-trust", type=int, default=DRAWS_OF_TRUST, help="those of verdicts on a judge")
    parser.add_argument("--print", action="store_true", help="print the tables instead")
    parser.add_argument("--only-trust", action="store_true", help="only the tables of whether a judge is trusted")
    options = parser.parse_args()
    table = "" if options.only_trust else draw_table(options.draws)
    trust = write_tables(options.draws_of_trust)
    if options.print:
        print(f"{table}\n\n{trust}".strip())
        return
    if table:
        renew_marked(PAGE, f"false alarms: {options.draws} draws", table)
    renew_marked(PAGE, f"false trust: {options.draws_of_trust} draws", trust)


if __name__ == "__main__":
    main()
