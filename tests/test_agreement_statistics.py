"""The statistics of agreement on random ratings: against their definitions, other packages, and laws that they keep."""

import json
import math
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import chain, permutations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raters import CHECK, SCORES, measure, records

from rubric_lint.agree import coefficients, intervals
from rubric_lint.agree.bounds import bound
from rubric_lint.agree.coefficients import as_fraction
from rubric_lint.agree.comparison import Plan
from rubric_lint.agree.intervals import Share, Sides, find_needed
from rubric_lint.agree.pass_rate import Chosen, PassCounts, correct_pass_rate
from rubric_lint.agree.scales import Kind, Scale

SCALES = {
    "check": Scale(Kind.CHECK, (0, 1), ("no", "yes")),
    "levels": Scale(Kind.LEVEL, (1, 2, 3, 5), ("1", "2", "3", "5")),
    "scores": Scale(Kind.SCORE, tuple(range(11)), tuple(map(str, range(11)))),
}


@st.composite
def ratings(draw, *, raters=None):
    """A scale and rows: one category only, all equal, two answers and missing ratings come up."""
    scale = draw(st.sampled_from(sorted(SCALES)))
    size = len(SCALES[scale].values)
    used = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True))
    width = raters or draw(st.integers(2, 4))
    place = st.sampled_from([*used, *used, None])
    return SCALES[scale], draw(st.lists(st.tuples(*[place] * width), min_size=2, max_size=12))


def statistics_of(scale, rows):
    """Every coefficient of these rows; kappa only of two raters."""
    found = {
        "alpha_nominal": coefficients.alpha_nominal(rows, scale),
        "alpha_ordinal": coefficients.alpha_ordinal(rows, scale),
        "alpha_interval": coefficients.alpha_interval(rows, scale),
        "ac1": coefficients.gwet(rows, scale),
        "ac2": coefficients.gwet(rows, scale, quadratic=True),
    }
    if len(rows[0]) == 2:
        found["kappa"] = coefficients.kappa(rows, scale)
        found["kappa_quadratic"] = coefficients.kappa(rows, scale, quadratic=True)
    return found


# The definitions as the books have them: pair by pair, in fractions.


def define_kappa(rows, values, distance):
    full = [row for row in rows if None not in row]
    expected = sum(distance(values[one[0]], values[two[1]]) for one, two in product(full, full))
    observed = sum(distance(values[one], values[two]) for one, two in full)
    return 1 - Fraction(len(full) * observed, expected) if expected else None


def define_alpha(rows, values, distance):
    units = [kept for row in rows if len(kept := [place for place in row if place is not None]) > 1]
    every = [place for unit in units for place in unit]
    times = Counter(every)
    observed = sum(
        Fraction(distance(one, two, values, times), len(unit) - 1)
        for unit in units
        for one, two in permutations(unit, 2)
    )
    expected = sum(distance(one, two, values, times) for one, two in permutations(every, 2))
    return 1 - (len(every) - 1) * observed / expected if expected else None


def define_gwet(rows, values, weigh):
    some = [kept for row in rows if (kept := [place for place in row if place is not None])]
    several = [row for row in some if len(row) > 1]
    size = len(values)
    if not several:
        return None
    agreeing = sum(
        Fraction(sum(weigh(values[one], values[two]) for one, two in permutations(row, 2)), len(row) * (len(row) - 1))
        for row in several
    ) / len(several)
    shares = [sum(Fraction(row.count(place), len(row)) for row in some) / len(some) for place in range(size)]
    total = sum(weigh(one, two) for one, two in product(values, values))
    chance = Fraction(total, size * (size - 1)) * sum(share * (1 - share) for share in shares)
    return (agreeing - chance) / (1 - chance)


def differ(one, two, *_):
    return int(one != two)


def square(one, two, values, _times):
    return (values[one] - values[two]) ** 2


def rank(one, two, _values, times):
    low, high = sorted((one, two))
    between = sum(times[place] for place in range(low, high + 1))
    return (between - Fraction(times[low] + times[high], 2)) ** 2


@given(ratings())
def test_alpha_and_gwets_coefficients_are_what_their_definitions_say(data):
    scale, rows = data
    values = scale.values
    whole = (values[-1] - values[0]) ** 2
    found = {name: as_fraction(each([1] * len(rows))) for name, each in statistics_of(scale, rows).items()}
    assert {name: value for name, value in found.items() if not name.startswith("kappa")} == {
        "alpha_nominal": define_alpha(rows, values, differ),
        "alpha_ordinal": define_alpha(rows, values, rank),
        "alpha_interval": define_alpha(rows, values, square),
        "ac1": define_gwet(rows, values, lambda one, two: int(one == two)),
        "ac2": define_gwet(rows, values, lambda one, two: 1 - Fraction((one - two) ** 2, whole)),
    }


@given(ratings(raters=2))
def test_kappa_is_what_its_definition_says(data):
    scale, rows = data
    found = {name: as_fraction(each([1] * len(rows))) for name, each in statistics_of(scale, rows).items()}
    assert found["kappa"] == define_kappa(rows, scale.values, differ)
    assert found["kappa_quadratic"] == define_kappa(rows, scale.values, lambda one, two: (one - two) ** 2)


@given(ratings(), st.randoms(use_true_random=False))
def test_equal_rows_may_be_counted_and_the_order_of_raters_does_not_matter(data, chance):
    scale, rows = data
    different = list(dict.fromkeys(rows))
    mixed = [tuple(chance.sample(row, len(row))) for row in rows]

    def evaluate(rows, counts):
        found = statistics_of(scale, rows).items()
        return {name: as_fraction(each(counts)) for name, each in found if not name.startswith("kappa")}

    one = evaluate(rows, [1] * len(rows))
    assert evaluate(different, [rows.count(row) for row in different]) == one
    assert evaluate(mixed, [1] * len(rows)) == one


def test_the_kappa_paradox():
    """Both judges agree with the label on 85 of 100 answers, and kappa calls only one of them better than chance."""
    balanced = [(1, 1)] * 43 + [(0, 0)] * 42 + [(1, 0)] * 8 + [(0, 1)] * 7
    skewed = [(1, 1)] * 85 + [(0, 0)] * 0 + [(1, 0)] * 8 + [(0, 1)] * 7
    found = []
    for pairs in (balanced, skewed):
        people, judge = zip(*pairs, strict=True)
        (comparison,) = measure(CHECK, records("A", "judge", judge), records("A", "ana", people)).comparisons
        compared = comparison.measures[0]
        values = [compared.figures[name].value for name in ("kappa", "alpha_nominal", "ac1")]
        found.append([compared.pair.exact.value, *(round(value, 3) for value in values)])
    assert found == [[0.85, 0.7, 0.701, 0.7], [0.85, -0.081, -0.076, 0.826]]


@pytest.mark.parametrize(("count", "size"), [(1, 1), (20, 3), (97, 11), (2000, 40)])
@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_the_draws_are_the_same_without_numpy(monkeypatch, count, size, seed):
    pytest.importorskip("numpy")
    kinds = [number * 7 % size for number in range(count)]
    draws = 3 if count > 100 else 50
    at_once = [*intervals.resample(kinds, size, draws, seed)]
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert [*intervals.resample(kinds, size, draws, seed)] == at_once
    assert {sum(counts) for counts in at_once} == {count}


def test_many_draws_come_in_parts_of_one_stream():
    pytest.importorskip("numpy")
    kinds = [number % 5 for number in range(3000)]
    many = [*intervals.resample(kinds, 5, 400)]
    assert many[:3] == [*intervals.resample(kinds, 5, 3)]
    assert len(many) == 400
    assert many[399] != many[398]


def test_an_interval_needs_nearly_all_draws():
    values = [number / 1000 for number in range(1000)]
    assert intervals.find_interval(values) == (0.024, 0.975, 0)
    assert intervals.find_interval([*values, *[None] * 50]) == (0.024, 0.975, 50)
    assert intervals.find_interval([*values, *[None] * 53]) is None
    assert intervals.find_interval([0.5] * 38) is None
    assert intervals.find_interval([]) is None


def figures(shape, rubric, people, judge, **plan):
    agreement = measure(rubric, records(shape, "judge", judge), records(shape, "ana", people), plan=Plan(399, **plan))
    return agreement.comparisons[0].measures[0]


@pytest.mark.parametrize(
    ("answers", "off", "expected"),
    [(9, 4, None), (10, 5, True), (59, 29, True), (60, 29, False), (60, 9, True), (60, 10, False)],
)
def test_an_interval_is_left_out_below_10_answers_and_rough_below_60_or_with_few_off_the_commonest(
    answers, off, expected, said
):
    people = [0] * off + [1] * (answers - off)
    judge = people[1:] + people[:1] if expected is None else people
    alpha = figures("A", CHECK, people, judge).figures["alpha_nominal"]
    assert (None if alpha.low is None else alpha.rough) == expected
    if expected is None:
        said(alpha.reason)


def test_what_cannot_be_told_says_why():
    same = figures("A", CHECK, [1] * 12, [1] * 12).figures
    assert {name: figure.value for name, figure in same.items()} == {
        "kappa": None, "alpha_nominal": None, "ac1": 1, "bias": 0, "mean_error": 0
    }  # fmt: skip
    assert [name for name, figure in same.items() if figure.reason] == ["kappa", "alpha_nominal", "ac1"]
    constant = figures("A", CHECK, [1] * 6 + [0] * 6, [1] * 12)
    assert (constant.figures["kappa"].value, constant.figures["kappa"].reason) == (0, "one rater never varies")
    assert constant.pair.gate.bad_caught == Share(0, 6)


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
@pytest.mark.parametrize("is_judge", [True, False])
def test_errors_that_are_as_often_up_as_down_show_no_direction(samples, is_judge):
    """Each combination of errors once, in the samples of a judge or among people."""
    noisy = list(product([4, 5, 6], repeat=samples))
    true = records("B", "one", [5] * len(noisy))
    if is_judge:
        several = [
            {"id": each["id"], "outputs": [{"checks": [{"id": "c", "score": value}]} for value in values]}
            for each, values in zip(true, noisy, strict=True)
        ]
        agreement = measure(SCORES, several, true)
    else:
        people = [records("B", f"p{number}", values) for number, values in enumerate(zip(*noisy, strict=True))]
        agreement = measure(SCORES, true, list(chain(*people)))
    compared = agreement.comparisons[0].measures[0]
    assert (compared.figures["bias"].value, compared.pair.higher) == (0, compared.pair.lower)
    assert compared.pair.higher > 0


def test_levels_are_compared_by_their_values():
    """Levels 1, 2, 3 and 5: from 3 to 5 is twice as far as from 2 to 3."""
    scale = SCALES["levels"]
    rows = [(0, 0), (1, 1), (2, 3), (3, 3)]
    near = [(0, 0), (1, 1), (2, 1), (3, 3)]
    far, close = (as_fraction(coefficients.kappa(each, scale, quadratic=True)([1] * 4)) for each in (rows, near))
    assert far < close


@given(st.integers(0, 200), st.integers(0, 30))
def test_the_limits_of_wilson_are_in_order(x, more):
    share = Share(x, x + more)
    if share.n:
        low, high = share.interval
        assert 0 <= low <= share.value <= high <= 1
        assert [1 - high, 1 - low] == pytest.approx(Share(more, x + more).interval)


@given(st.integers(0, 12), st.sampled_from(["0.5", "0.8", "0.9", "0.95"]))
def test_the_needed_number_is_the_smallest(missed, target):
    target = Fraction(target)
    needed = find_needed(target, missed)
    limits = [Share(n - missed, n).interval[0] >= target for n in (needed - 1, needed) if n > missed or not missed]
    assert limits[-1]
    assert not any(limits[:-1])


def test_nothing_is_needed_without_end():
    assert find_needed(Fraction("0.99999999"), 0) is None


def test_more_bad_answers_are_asked_for_until_the_share_of_those_caught_is_settled(said):
    def gate(caught, bad, good=20):
        people = [0] * bad + [1] * good
        judge = [0] * caught + [1] * (bad - caught + good)
        return figures("A", CHECK, people, judge).pair.gate

    assert (gate(5, 5).more_bad, gate(5, 5).more_labels) == (11, 55)
    said(gate(5, 5).reason)
    assert gate(16, 16).more_bad == 0
    said(gate(16, 16).reason, gate(0, 20).reason)
    assert (gate(0, 1).more_bad, gate(0, 2).more_bad, gate(0, 3).more_bad) == (24, 31, None)
    assert (gate(0, 0).more_bad, gate(0, 0).more_labels) == (16, None)


@pytest.mark.parametrize("target", [Fraction(4, 5), Fraction(9, 10), Fraction(1, 2)])
def test_a_judge_that_catches_enough_is_said_to_catch_too_few_in_one_of_forty_at_most(target):
    for bad in (1, 2, 3, 4, 9, 10, 20):
        chance = Fraction(0)
        for caught in range(bad + 1):
            people = [0] * bad
            judge = [0] * caught + [1] * (bad - caught)
            plan = Plan(0, target=target)
            agreement = measure(CHECK, records("A", "judge", judge), records("A", "ana", people), plan=plan)
            found = agreement.comparisons[0].measures[0].pair.gate
            chance += math.comb(bad, caught) * target**caught * (1 - target) ** (bad - caught)
            assert (found.more_bad is None) == (chance <= Fraction(1, 40)), (bad, caught)


LABELS = {(True, True): 12, (True, False): 2, (False, True): 3, (False, False): 13}


@pytest.mark.parametrize(
    ("chosen", "labelled", "others", "expected"),
    [
        (None, LABELS, (50, 100), "`chosen` is missing"),
        (Chosen.RANDOM, {(True, True): 9}, (5, 10), "9 labels; at least 10"),
        (Chosen.RANDOM, LABELS, (0, 0), "every judged answer has a label"),
        (None, {}, (5, 10), "no judged answer has a label"),
        (Chosen.RANDOM, LABELS, (1, 1), "only 1 judged answer has no label"),
        (Chosen.RANDOM, LABELS, (3, 9), "only 9 judged answers have no label"),
        (Chosen.SEPARATE, {(True, True): 30}, (5, 10), "30 labels pass and 0 do not"),
        (Chosen.BY_VERDICT, {(True, True): 4, (True, False): 26}, (5, 10), "passes 4 labelled answers and not 26"),
        (Chosen.SEPARATE, dict.fromkeys(LABELS, 10), (5, 10), "no better than by chance"),
    ],
)
def test_a_pass_rate_without_the_labels_for_it_is_not_corrected(chosen, labelled, others, expected):
    found = correct_pass_rate(PassCounts(labelled, *others), chosen)
    assert found[:4] == (None, None, None, None)
    assert expected in found.reason


def test_how_labels_were_chosen_decides_how_the_pass_rate_is_corrected():
    counts = PassCounts(LABELS, 50, 100)
    found = {chosen: correct_pass_rate(counts, chosen) for chosen in Chosen}
    assert {chosen: each.method for chosen, each in found.items()} == {
        Chosen.RANDOM: "ppi",
        Chosen.SEPARATE: "rogan-gladen",
        Chosen.BY_VERDICT: "by-verdict",
    }
    assert found[Chosen.RANDOM].value == pytest.approx(50 / 100 + (2 - 3) / 30)
    assert found[Chosen.SEPARATE].value == pytest.approx((0.5 + 13 / 16 - 1) / (12 / 14 + 13 / 16 - 1))
    assert found[Chosen.BY_VERDICT].value == pytest.approx(0.5 * 12 / 15 + 0.5 * 2 / 15)
    value, low, high, *_ = found[Chosen.BY_VERDICT]
    ends = [(x / 15, bound(x, 15, 0.025)) for x in (12, 2)]
    assert low == pytest.approx(value - math.hypot(*(0.5 * (share - each.low) for share, each in ends)))
    assert high == pytest.approx(value + math.hypot(*(0.5 * (each.high - share) for share, each in ends)))


def test_a_panel_is_worth_fewer_votes_the_more_its_errors_are_alike(said):
    chance = random.Random(5)  # noqa: S311
    people = [chance.choice([3, 5, 7]) for _ in range(60)]
    errors = [[chance.choice([-1, 0, 1]) for _ in people] for _ in range(3)]
    alike = [[error + label for error, label in zip(errors[0], people, strict=True)]] * 3
    apart = [[error + label for error, label in zip(each, people, strict=True)] for each in errors]

    def votes(judges, answers=60):
        results = [
            entry for number, judge in enumerate(judges) for entry in records("B", f"j{number}", judge[:answers])
        ]
        return measure(SCORES, results, records("B", "ana", people[:answers])).panel[1][0].figure

    assert votes(alike).value == 1
    assert 2 < votes(apart).value <= 3
    assert votes(apart, 59).value is None
    said(votes(apart, 59).reason)


PACKAGES = Path(__file__).parent.parent / ".cache/statistics/bin/python"


def random_case(chance, scale, raters):
    """Rows with missing ratings; now and then one category, all equal or two answers."""
    size = len(SCALES[scale].values)
    used = chance.sample(range(size), chance.choice([1, 2, size]))
    answers = chance.choice([2, 5, 40])
    rows = []
    for _ in range(answers):
        base = chance.choice(used)
        row = [chance.choice([base, base, chance.choice(used)]) for _ in range(raters)]
        rows.append([None if chance.random() < 0.1 else place for place in row])
    return {"scale": scale, "values": list(SCALES[scale].values), "rows": rows}


@pytest.mark.slow
def test_other_packages_give_the_same_on_random_ratings():
    if not PACKAGES.exists():
        pytest.skip("`make agreement` installs the packages that this asks")
    chance = random.Random(20)  # noqa: S311
    cases = [random_case(chance, scale, raters) for scale in SCALES for raters in (2, 3) for _ in range(40)]
    counts = [(x, n) for n in (1, 2, 9, 60) for x in range(0, n + 1, max(1, n // 6))]
    told = subprocess.run(
        [PACKAGES, Path(__file__).parent / "support/statistics_originals.py"],
        input=json.dumps({"cases": cases, "counts": counts}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not told.returncode, told.stderr
    answers = json.loads(told.stdout)
    asked = Counter()
    for case, theirs in zip(cases, answers["cases"], strict=True):
        scale, rows = SCALES[case["scale"]], list(map(tuple, case["rows"]))
        ours = {name: intervals.evaluate(each, [1] * len(rows)) for name, each in statistics_of(scale, rows).items()}
        for name, value in theirs.items():
            statistic = name.partition("/")[0]
            if value is None or ours[statistic] is None:  # what is undefined is nan there, or 0 or 1 by a convention
                continue
            assert value == pytest.approx(ours[statistic], abs=1e-9), (name, case)
            asked[name] += 1
    assert min(asked.values()) >= 20, asked
    assert len(asked) == 11
    for (x, n), theirs in zip(counts, answers["counts"], strict=True):
        assert theirs["wilson/scipy"] == pytest.approx(Share(x, n).interval, abs=1e-9)
        assert theirs["wilson/statsmodels"] == pytest.approx(Share(x, n).interval, abs=1e-9)
        assert theirs["exact/statsmodels"] == pytest.approx(Sides(x, n - x).exact, abs=1e-9)
