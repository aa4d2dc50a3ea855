"""The statistics of agreement on random ratings: against their definitions, and laws that they keep."""

import math
from collections import Counter
from fractions import Fraction
from itertools import chain, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raters import CHECK, SCORES, measure, records

from rubric_lint.assess.agreement.analysis import AgreementLimit, find_breaches
from rubric_lint.assess.agreement.coefficients import alpha, kappa
from rubric_lint.assess.agreement.scales import RatingScale, ScaleKind
from rubric_lint.assess.measure.bounds import bound, lower_tail, upper_tail
from rubric_lint.assess.measure.decision import MeasureOptions, Reason
from rubric_lint.assess.measure.intervals import ERROR, Share, limit_alpha, measure_mean
from rubric_lint.assess.measure.pass_rate import LabelSelection, PassCounts, correct_pass_rate

SCALES = {
    "check": RatingScale(ScaleKind.CHECK, (0, 1), ("no", "yes")),
    "levels": RatingScale(ScaleKind.LEVEL, (1, 2, 3, 5), ("1", "2", "3", "5")),
    "scores": RatingScale(ScaleKind.SCORE, tuple(range(11)), tuple(map(str, range(11)))),
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
    counts = [1] * len(rows)
    found = {"alpha": alpha(rows, counts, scale).value}
    if len(rows[0]) == 2:
        found["kappa"] = kappa(rows, counts, scale)
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


def differ(one, two, *_):
    return int(one != two)


def square(one, two, values, _times):
    return (values[one] - values[two]) ** 2


def distance_of(scale):
    return differ if scale.kind is ScaleKind.CHECK else square


@pytest.mark.slow
@given(ratings())
def test_alpha_is_what_its_definition_says(data):
    scale, rows = data
    assert statistics_of(scale, rows)["alpha"] == define_alpha(rows, scale.values, distance_of(scale))


@pytest.mark.slow
@given(ratings(raters=2))
def test_kappa_is_what_its_definition_says(data):
    scale, rows = data
    apart = {ScaleKind.CHECK: differ}.get(scale.kind, lambda one, two: (one - two) ** 2)
    assert statistics_of(scale, rows)["kappa"] == define_kappa(rows, scale.values, apart)


@given(ratings(), st.randoms(use_true_random=False))
def test_equal_rows_may_be_counted_and_the_order_of_raters_does_not_matter(data, chance):
    scale, rows = data
    different = list(dict.fromkeys(rows))
    mixed = [tuple(chance.sample(row, len(row))) for row in rows]
    one = alpha(rows, [1] * len(rows), scale).value
    assert alpha(different, [rows.count(row) for row in different], scale).value == one
    assert alpha(mixed, [1] * len(rows), scale).value == one


@given(ratings())
def test_what_each_answer_does_to_alpha_is_its_derivative(data):
    """One answer more of its kind, among a million copies of all."""
    scale, rows = data
    many = 1_000_000
    whole = alpha(rows, [many] * len(rows), scale)
    for number, influence in enumerate(whole.influence):
        more = alpha(rows, [many + (at == number) for at in range(len(rows))], scale).value
        change = float((1 - more) / (1 - whole.value) - 1)
        assert change * many == pytest.approx(influence * many, abs=1e-3)


@given(ratings(raters=2), st.data())
def test_the_interval_of_alpha_holds_its_value_and_equals_that_of_its_units(data, draw):
    scale, rows = data
    found = alpha(rows, [1] * len(rows), scale)
    if not found.influence:
        return
    units = draw.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    low, high = limit_alpha(found.value, found.influence, units)
    if low is None:
        return
    assert low <= found.value <= high <= 1
    renamed = [100 - unit for unit in units]
    assert limit_alpha(found.value, found.influence, renamed) == pytest.approx((low, high))


def test_answers_of_one_unit_count_as_one():
    rows = [(1, 1)] * 20 + [(0, 0)] * 15 + [(1, 0)] * 3 + [(0, 1)] * 2
    found = alpha(rows, [1] * 40, SCALES["check"])
    twice = alpha(rows * 2, [1] * 80, SCALES["check"])
    one = limit_alpha(found.value, found.influence, range(40))
    assert limit_alpha(twice.value, twice.influence, [*range(40)] * 2) == pytest.approx(one, abs=0.01)
    assert limit_alpha(twice.value, twice.influence, range(80))[0] > one[0] + 0.05


def test_a_mean_is_that_of_its_units():
    mean = measure_mean([1, 1, 1, 0, 0], [0, 0, 0, 1, 2])
    assert (mean.value, mean.low, mean.high) == (Fraction(1, 3), pytest.approx(-1.1008842), pytest.approx(1.7675509))
    assert measure_mean([2, 2, 2], [0, 1, 2]) == measure_mean([2, 2, 2], [0, 1, 1])
    assert (measure_mean([2, 2, 2], [0, 1, 2]).low, measure_mean([1, 2], [0, 0]).low) == (None, None)


@pytest.mark.slow
def test_the_kappa_paradox():
    """Both judges agree with the label on 85 of 100 answers, and kappa calls only one of them better than chance."""
    balanced = [(1, 1)] * 43 + [(0, 0)] * 42 + [(1, 0)] * 8 + [(0, 1)] * 7
    skewed = [(1, 1)] * 85 + [(0, 0)] * 0 + [(1, 0)] * 8 + [(0, 1)] * 7
    found = []
    for pairs in (balanced, skewed):
        people, judge = zip(*pairs, strict=True)
        (comparison,) = measure(CHECK, records("A", "judge", judge), records("A", "ana", people)).comparisons
        compared = comparison.measures[0]
        values = [compared.figures[name].value for name in ("kappa", "alpha_nominal")]
        found.append([compared.pair.exact.value, *(round(value, 3) for value in values)])
    assert found == [[0.85, 0.7, 0.701], [0.85, -0.081, -0.076]]


def figures(shape, rubric, people, judge):
    agreement = measure(rubric, records(shape, "judge", judge), records(shape, "ana", people))
    return agreement.comparisons[0].measures[0]


@pytest.mark.parametrize(
    ("answers", "off", "expected"),
    [(9, 4, None), (10, 5, True), (59, 29, True), (60, 29, False), (60, 9, True), (60, 10, False)],
)
def test_an_interval_is_left_out_below_10_answers_and_rough_below_60_or_with_few_off_the_commonest(
    answers, off, expected, said
):
    people = [0] * off + [1] * (answers - off)
    judge = [1, *people[1:]]
    alpha = figures("A", CHECK, people, judge).figures["alpha_nominal"]
    assert (None if alpha.low is None else alpha.rough) == expected
    if expected is None:
        said(alpha.reason)


def test_what_cannot_be_told_says_why(said):
    same = figures("A", CHECK, [1] * 12, [1] * 12).figures
    assert {name: figure.value for name, figure in same.items()} == {"alpha_nominal": None, "kappa": None, "bias": 0}
    equal = figures("A", CHECK, [0, 1] * 30, [0, 1] * 30).figures
    assert {name: (figure.value, figure.low) for name, figure in equal.items()} == {
        "alpha_nominal": (1, None), "kappa": (1, None), "bias": (0, None)
    }  # fmt: skip
    opposite = figures("A", CHECK, [0] * 20, [1] * 20).figures["alpha_nominal"]
    assert (opposite.low, opposite.high) == (None, None)
    said(*(figure.reason for figure in (*same.values(), *equal.values(), opposite)))
    constant = figures("A", CHECK, [1] * 6 + [0] * 6, [1] * 12)
    assert (constant.figures["kappa"].value, constant.figures["kappa"].reason) == (0, "one rater never varies")
    assert constant.pair.gate.shares.bad_caught[:2] == (0, 6)


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
    assert kappa(rows, [1] * 4, scale) < kappa(near, [1] * 4, scale)


@given(st.integers(0, 200), st.integers(0, 30))
def test_the_limits_of_a_share_are_where_the_tails_have_their_error(x, more):
    share = Share(x, x + more)
    if share.n:
        low, high = share.interval
        assert 0 <= low <= share.value <= high <= 1
        assert (low == 0, high == 1) == (x == 0, more == 0)
        assert low == 0 or upper_tail(x, share.n, low) == pytest.approx(ERROR)
        assert high == 1 or lower_tail(x, share.n, high) == pytest.approx(ERROR)


@pytest.mark.slow
@pytest.mark.parametrize("target", [Fraction(4, 5), Fraction(9, 10), Fraction(1, 2)])
def test_a_judge_that_catches_enough_is_said_to_catch_too_few_in_one_of_forty_at_most(target):
    for bad in (1, 2, 3, 4, 9, 10, 19):  # from 20 on a label may be a slip
        chance = Fraction(0)
        for caught in range(bad + 1):
            people = [0] * bad
            judge = [0] * caught + [1] * (bad - caught)
            plan = MeasureOptions(target)
            agreement = measure(CHECK, records("A", "judge", judge), records("A", "ana", people), plan=plan)
            found = agreement.comparisons[0].measures[-1].pair.gate
            chance += math.comb(bad, caught) * target**caught * (1 - target) ** (bad - caught)
            assert (Reason.MISSES_BAD in found.reasons) == (chance < Fraction(1, 40)), (bad, caught)


LABELS = {(True, True): 12, (True, False): 2, (False, True): 3, (False, False): 13}


@pytest.mark.parametrize(
    ("chosen", "labelled", "others", "expected"),
    [
        (None, LABELS, (50, 100), "`chosen` is missing"),
        (LabelSelection.RANDOM, {(True, True): 9}, (5, 10), "9 labels; at least 10"),
        (LabelSelection.RANDOM, LABELS, (0, 0), "every judged answer has a label"),
        (LabelSelection.SEPARATE, LABELS, (50, 100), "labels of other answers"),
        (None, {}, (5, 10), "no judged answer has a label"),
        (LabelSelection.RANDOM, LABELS, (1, 1), "only 1 judged answer has no label"),
        (LabelSelection.RANDOM, LABELS, (3, 9), "only 9 judged answers have no label"),
        (
            LabelSelection.BY_VERDICT,
            {(True, True): 4, (True, False): 26},
            (5, 10),
            "passes 4 labelled answers and not 26",
        ),
    ],
)
def test_a_pass_rate_without_the_labels_for_it_is_not_corrected(chosen, labelled, others, expected):
    found = correct_pass_rate(PassCounts(labelled, *others), chosen)
    assert found[:4] == (None, None, None, None)
    assert expected in found.reason


def test_how_labels_were_chosen_decides_how_the_pass_rate_is_corrected():
    counts = PassCounts(LABELS, 50, 100)
    found = {chosen: correct_pass_rate(counts, chosen) for chosen in LabelSelection}
    assert {chosen: each.method for chosen, each in found.items()} == {
        LabelSelection.RANDOM: "ppi",
        LabelSelection.SEPARATE: None,
        LabelSelection.BY_VERDICT: "by-verdict",
    }
    assert found[LabelSelection.RANDOM].value == pytest.approx(50 / 100 + (2 - 3) / 30)
    assert found[LabelSelection.BY_VERDICT].value == pytest.approx(0.5 * 12 / 15 + 0.5 * 2 / 15)
    value, low, high, *_ = found[LabelSelection.BY_VERDICT]
    ends = [(x / 15, bound(x, 15, 0.025)) for x in (12, 2)]
    assert low == pytest.approx(value - math.hypot(*(0.5 * (share - each.low) for share, each in ends)))
    assert high == pytest.approx(value + math.hypot(*(0.5 * (each.high - share) for share, each in ends)))


def test_labels_that_never_differ_from_the_judge_give_no_interval_of_nothing():
    """Of 60 labels none differs, which shows no more than that few do."""
    found = correct_pass_rate(PassCounts({(True, True): 30, (False, False): 30}, 30, 30), LabelSelection.RANDOM)
    assert (found[:4], "60 labelled answers" in found.reason) == ((1.0, None, None, "ppi"), True)


def test_a_judge_of_the_verdict_alone_is_not_wrong_on_criteria():
    """It has no value for a criterion, so that labels show nothing of it there; what differs are the verdicts."""
    labels = [10, 2] * 6
    results = [{"id": f"a{number:03}", "verdict": "pass"} for number in range(12)]
    agreement = measure(SCORES, results, records("B", "ana", labels))
    (comparison,) = agreement.comparisons
    gate = next(scale.pair.gate for scale in comparison.measures if scale.measure.name == "c")
    assert gate.reasons == (Reason.FEW_LABELS,)
    assert [
        (share.x, share.n, share.low, share.high) for share in (gate.shares.bad_caught, gate.shares.good_passed)
    ] == [
        (0, 6, 0, 1),
        (0, 6, 0, 1),
    ]
    assert "12 of 12 labelled answers have no valid judge output for it" in gate.reason
    breaches = list(find_breaches([agreement], AgreementLimit("bad-caught", 0.8)))
    assert [(breach.criterion, breach.value) for breach in breaches] == [("c", None), ("verdict", 0)]
    assert breaches[0].reason == gate.reason
    differing = [(entry.id, entry.criterion, entry.kind) for entry in agreement.disagreements.worst]
    assert differing == [(f"a{number:03}", "verdict", "false pass") for number in range(1, 12, 2)]
