"""Play judges with known faults and writers good and bad, and count what `improve` offers: `make improvements`.

Each rubric is drawn anew: what answers are worth, what a judge reads in them by a wording, and how samples differ. What
is offered is then played again on new answers: it is better if outputs are wrong less often, worse if more often. The
table goes into docs/development/figures.md. Takes some minutes.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from pages import renew_marked

from rubric_lint.assess.agreement.ratings import Judgement, Ratings
from rubric_lint.assess.agreement.scales import Signature
from rubric_lint.assess.improve.run import divide_answers
from rubric_lint.assess.improve.trial import CriterionFault, PairedJudgements, can_gain, decide_trial, keep_answers
from rubric_lint.assess.judged.outcomes import JudgedStatement
from rubric_lint.assess.judged.rules import JUDGED_FINDERS
from rubric_lint.assess.judged.table import build_table
from rubric_lint.model.finding import Severity
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring.grading import JudgeOutput
from rubric_lint.scoring.loading import load_rubrics

PAGE = Path(__file__).parent.parent / "docs/development/figures.md"
DRAWS = 200
TRIES = 3
SAMPLES = 2

_NAMES = ("c0", "c1", "c2", "c3")
RUBRIC = load_rubrics(
    "drawn.yaml",
    "rubrics:\n"
    + "".join(f"  - {{id: {name}, expected_outcome: It is so, required_min_score: 10}}\n" for name in _NAMES),
)["drawn"]

_MET = 0.6
"""The share of answers that meet a criterion."""

_SAME = 0.005
"""Outputs that are wrong as often, but for this share, are neither better nor worse."""


class Wording(NamedTuple):
    """How a judge reads a wording: the shares of bad answers that it lets pass, and of good ones that it fails.

    `noise` is the share of samples that differ from that reading, `strays` that of answers in which the judge reads
    something else, which has nothing to do with the criterion.
    """

    lets: float
    fails: float
    noise: float
    strays: float = 0.0

    def read(self, random: Random, *, is_met: bool) -> bool:
        """Return what the judge reads in an answer, in all its samples."""
        if random.random() < self.strays:
            return random.random() < _MET
        return random.random() >= self.fails if is_met else random.random() < self.lets

    @property
    def wrong(self) -> float:
        """The share of outputs that are wrong, as new answers show it."""
        return _count_wrong(self)


@cache
def _count_wrong(wording: Wording) -> float:
    random, n, wrong = Random("new answers"), 100_000, 0  # noqa: S311 (a simulation, the same each time)
    for _ in range(n):
        is_met = random.random() < _MET
        wrong += is_met ^ wording.read(random, is_met=is_met) ^ (random.random() < wording.noise)
    return wrong / n


CLEAR = Wording(0.03, 0.03, 0.02)
_WORSE = (
    Wording(0.95, 0.01, 0.01),  # nearly everything is met
    Wording(0.02, 0.8, 0.01),  # nearly nothing is
    Wording(0.1, 0.1, 0.35),  # samples differ more
    Wording(0.03, 0.03, 0.02, strays=1),  # something else
    Wording(0.03, 0.03, 0.02, strays=0.6),  # something else in many answers
)


class Case(NamedTuple):
    """A fault in words, the wording that has it, what the linter finds, and whether people label the answers."""

    name: str
    wording: Wording
    linted: frozenset[str] = frozenset()
    has_labels: bool = True


FLIPS, LENIENT, BUNDLED = Wording(0.05, 0.05, 0.2), Wording(0.6, 0.03, 0.03), Wording(0.75, 0.02, 0.03)
CASES = (
    Case("samples differ in a third of the answers", FLIPS, has_labels=False),
    Case("the same, with labels", FLIPS),
    Case("60% of bad answers pass", LENIENT),
    Case("two things in one, and one suffices: 75% of bad answers pass", BUNDLED, frozenset({"two-actions"})),
    Case("the linter finds fault, the judge is right", CLEAR, frozenset({"vague-outcome"})),
    Case("the same, without labels", CLEAR, frozenset({"vague-outcome"}), has_labels=False),
    Case("nothing is wrong", CLEAR),
)

WRITERS = ("clear", "no different", "worse", "one of these by chance")


def _write(random: Random, writer: str, wording: Wording) -> Wording:
    if writer == WRITERS[3]:
        writer = random.choice(WRITERS[:3])
    if writer == WRITERS[2]:
        # Only what is wrong more often than the old wording is worse.
        return random.choice([each for each in _WORSE if each.wrong > wording.wrong + _SAME])
    return CLEAR if writer == WRITERS[0] else wording


@cache
def _sign(answers: tuple[bool, ...]) -> Signature:
    return answers, RUBRIC.grade(JudgeOutput(answers, (None,) * len(answers))).verdict


class Drawn:
    """Answers, what each is worth on each criterion, and how a judge reads it by a wording of the first criterion."""

    def __init__(self, random: Random, n: int) -> None:
        self._random = random
        self.truth = [tuple(random.random() < _MET for _ in _NAMES) for _ in range(n)]
        self._readings: dict[Wording, list[bool]] = {}
        self._others = [[CLEAR.read(random, is_met=met) for met in row[1:]] for row in self.truth]

    def judge(self, wording: Wording) -> dict[str, dict[str, Judgement]]:
        """Return outputs; by one wording an answer is read alike, but for a tenth of them each time."""
        random = self._random
        known = self._readings.get(wording)
        fresh = [wording.read(random, is_met=row[0]) for row in self.truth]
        if known:
            fresh = [new if random.random() < 0.1 else old for new, old in zip(fresh, known, strict=True)]
        self._readings[wording] = fresh
        found = {}
        for number, (reading, others) in enumerate(zip(fresh, self._others, strict=True)):
            noises = [wording.noise, *[CLEAR.noise] * len(others)]
            values = reading, *others
            samples = tuple(
                _sign(tuple(value ^ (random.random() < noise) for value, noise in zip(values, noises, strict=True)))
                for _ in range(SAMPLES)
            )
            middle = tuple(all(values) for values in zip(*(answers for answers, _ in samples), strict=True))
            found[f"a{number:03}"] = Judgement(_sign(middle), None, samples)
        return {"judge": found}

    def label(self) -> dict[str, dict[str, Judgement]]:
        """Return what people say, who are right."""
        return {"people": {f"a{number:03}": Judgement(_sign(row)) for number, row in enumerate(self.truth)}}


class Came(NamedTuple):
    """What came of one rubric: whether there was anything to mend, what was offered, and the requests."""

    is_found: bool
    offered: Wording | None
    requests: int


def improve(random: Random, case: Case, writer: str, n: int) -> Came:
    """Improve one rubric."""
    drawn = Drawn(random, n)
    ratings = Ratings(RUBRIC, drawn.judge(case.wording), drawn.label() if case.has_labels else {})
    rules = case.linted | set(_find_rules(ratings))
    requests = n * SAMPLES
    if not rules:
        return Came(is_found=False, offered=None, requests=requests)
    keys = list(ratings.judges["judge"])
    _, proving = divide_answers(keys, {})
    before = keep_answers(ratings, proving)
    fault = CriterionFault(0, frozenset(rules), TRIES)
    for _ in range(TRIES if can_gain(before, fault) else 0):
        wording = _write(random, writer, case.wording)
        requests += 1 + len(proving) * SAMPLES
        if decide_trial(PairedJudgements(before, drawn.judge(wording)), fault).is_better:
            return Came(is_found=True, offered=wording, requests=requests)
    return Came(is_found=True, offered=None, requests=requests)


def _find_rules(ratings: Ratings) -> Iterator[str]:
    """Yield the rules that make the first criterion one to mend."""
    table = build_table(ratings, RUBRIC)
    for rule, finder in JUDGED_FINDERS.items():
        if BY_NAME[rule].severity is Severity.WARNING:
            for each in finder.find(table):
                if isinstance(each, JudgedStatement) and each.target.criterion == _NAMES[0]:
                    yield rule


class Counted(NamedTuple):
    """Of `draws` rubrics: those with something to mend, and those with an offer of each kind."""

    draws: int
    found: int
    better: int
    same: int
    worse: int
    requests: int

    @property
    def offers(self) -> int:
        """All offers."""
        return self.better + self.same + self.worse


def simulate(case: Case, writer: str, n: int, draws: int) -> Counted:
    """Improve `draws` rubrics, and play what is offered on new answers."""
    random = Random(f"{case.name} {writer} {n}")  # noqa: S311 (a simulation, the same each time)
    kinds: Counter[str] = Counter()
    requests = 0
    for _ in range(draws):
        came = improve(random, case, writer, n)
        requests += came.requests
        kinds["found"] += came.is_found
        if came.offered:
            change = came.offered.wrong - case.wording.wrong
            kinds["worse" if change > _SAME else "better" if change < -_SAME else "same"] += 1
    return Counted(draws, *(kinds[each] for each in ("found", "better", "same", "worse")), requests)


SIZES = (60, 160)


def draw_table(draws: int) -> str:
    """Return the table of all cases."""
    rows = [
        "| fault | the writer proposes | answers | found | better | no different | worse | nothing | requests |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    offers: list[Counted] = []
    for case in CASES:
        for writer in WRITERS:
            for n in SIZES:
                if case.wording == CLEAR and writer == WRITERS[0]:
                    continue  # it is clear already, so that is no different
                if n == SIZES[0] and (case.wording == CLEAR or writer in WRITERS[1:3]):
                    continue
                each = simulate(case, writer, n, draws)
                offers += [each] if writer == WRITERS[3] else []
                shares = (each.better, each.same, each.worse, each.draws - each.offers)
                told = " | ".join(f"{share / draws:.1%}" for share in shares)
                rows.append(
                    f"| {case.name} | {writer} | {n} | {each.found / draws:.0%} | {told} | {each.requests // draws} |"
                )
    return "\n".join([*rows, "", word_offers(offers)])


def word_offers(offers: Sequence[Counted]) -> str:
    """Say how many of all offers are worse, with writers that are neither good nor bad."""
    worse, total = sum(offer.worse for offer in offers), sum(offer.offers for offer in offers)
    return (
        f"Of {total:,} offers where the writer proposes by chance, {worse:,} are worse ({worse / max(total, 1):.1%}). "
        f"Each row has {offers[0].draws} rubrics of four criteria, judged twice, and {TRIES} proposals."
    )


def main() -> None:
    """Write the table into the guide."""
    parser = argparse.ArgumentParser(description="Write what improve offers on judges with known faults.")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--print", action="store_true", help="print the table instead")
    options = parser.parse_args()
    table = draw_table(options.draws)
    if options.print:
        print(table)
        return
    renew_marked(PAGE, "improvements", table)


if __name__ == "__main__":
    main()
