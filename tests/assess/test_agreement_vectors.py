"""The statistics of agreement, held to values that several packages gave; tests/data/agreement.json says which."""

import json
from collections import Counter
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

import pytest
from raters import RUBRICS, measure, records

from rubric_lint.assess.agreement.coefficients import alpha, flips, kappa
from rubric_lint.assess.agreement.comparison import measure_alpha
from rubric_lint.assess.agreement.ratings import RatedAnswers
from rubric_lint.assess.agreement.scales import Measure, RatingScale, ScaleKind
from rubric_lint.assess.measure.bounds import lower_bound
from rubric_lint.assess.measure.intervals import DiscordantPairs, Share, random_words
from rubric_lint.assess.measure.pass_rate import PassCounts, estimate_by_labels

VECTORS = json.loads((Path(__file__).parents[1] / "data/agreement.json").read_text("utf-8"))
DATA = VECTORS["data"]
KINDS = {"A": ScaleKind.CHECK, "B": ScaleKind.SCORE, "C": ScaleKind.LEVEL}


def judged(data, raters, *, labels=0):
    """The agreement of raters; the first ones are people."""
    given = [records(data, rater, DATA[data]["raters"][rater], DATA[data]["ids"]) for rater in raters]
    parts = ([*chain(*given[labels:])], [*chain(*given[:labels])])
    return measure(RUBRICS[data], *parts)


def figure_of(agreement, raters, scale, name):
    (comparison,) = (comparison for comparison in agreement.comparisons if comparison.raters == tuple(raters))
    compared = next(measure for measure in comparison.measures if measure.measure.scale.kind is scale)
    return compared.figures.get(name) if name != "exact" else compared.pair.exact


def rows_of(data, raters):
    values = DATA[data]["values"]
    columns = zip(*(DATA[data]["raters"][rater] for rater in raters), strict=True)
    return [tuple(None if each is None else values.index(each) for each in row) for row in columns]


def test_the_coefficients_are_those_that_packages_give():
    for vector in VECTORS["exact"]:
        data, raters, name = vector["data"], vector["raters"], vector["statistic"]
        scale = ScaleKind.BAND if vector["bands"] else KINDS[data]
        found = figure_of(judged(data, raters), raters, scale, name).value
        assert (data, raters, name, found) == (data, raters, name, float(Fraction(vector["exact"])))


@pytest.mark.parametrize("vector", VECTORS["alpha"], ids=lambda each: each["metric"])
def test_the_interval_of_alpha(vector):
    is_check = vector["metric"] == "nominal"
    scale = RatingScale(ScaleKind.CHECK if is_check else ScaleKind.SCORE, (0, 1) if is_check else tuple(range(11)), ())
    rows = [(one, two) for one, two, times in vector["pairs"] for _ in range(times)]
    found = measure_alpha(RatedAnswers(Measure("c", scale, 0, {}), rows, rows, range(len(rows))))
    expected = vector["expect"]
    assert found.value == pytest.approx(expected["alpha"], abs=1e-9)
    if "equal" in expected:
        least = Share(expected["equal"], expected["equal"]).interval[0]
        assert (found.low, found.high, least) == (None, None, pytest.approx(expected["share_low"], abs=1e-9))
    else:
        limits = expected["low"], expected["high"]
        assert ((found.low, found.high), found.rough) == (pytest.approx(limits, abs=1e-9), expected["rough"])


def test_bad_caught_and_good_passed():
    for vector in VECTORS["shares"]:
        (comparison,) = judged(vector["data"], vector["raters"], labels=1).comparisons
        share = getattr(comparison.measures[0].pair.gate.shares, vector["share"])
        assert {**vector, "x": share.x, "n": share.n} == vector


def test_the_table_of_both_raters_keeps_empty_rows():
    for vector in VECTORS["confusion"]:
        (comparison,) = judged(vector["data"], vector["raters"]).comparisons
        assert {**vector, "rows": comparison.measures[0].pair.confusion} == vector
        assert comparison.measures[0].answers == sum(map(sum, vector["rows"]))


@pytest.mark.parametrize("vector", VECTORS["false_passes"], ids=lambda each: f"{each['data']}-{each['raters'][1]}")
def test_false_passes_are_listed_before_all_other_disagreements(vector):
    listed = judged(vector["data"], vector["raters"], labels=1).disagreements
    kinds = [each.kind for each in listed.worst]
    assert kinds == sorted(kinds, key=("false pass", "false fail", "differs").index)
    assert sorted(each.id for each in listed.worst if each.kind == "false pass") == vector["ids"]


@pytest.mark.parametrize("vector", VECTORS["flips"], ids=lambda each: each["of"])
def test_how_often_samples_differ(vector):
    rows = rows_of(vector["data"], vector["raters"])
    if vector["of"] == "gate":
        gate = DATA[vector["data"]]["values"].index(DATA[vector["data"]]["gate"])
        rows = [tuple(int(each >= gate) for each in row) for row in rows]
    assert sum(map(flips, rows)) / len(rows) == Fraction(vector["exact"])


def test_the_pass_rate_by_labels_of_a_random_subset():
    vector = VECTORS["ppi"]
    label, judge = (DATA[vector["data"]]["raters"][rater] for rater in vector["raters"])
    pairs = Counter(zip(map(bool, label), map(bool, judge), strict=True))
    found = estimate_by_labels(PassCounts(pairs, *vector["others"]))
    assert (found.value, found.low, found.high) == pytest.approx(vector["expected"], abs=1e-9)


@pytest.mark.parametrize("judges", VECTORS["contests"])
def test_two_judges_by_mcnemars_mid_p(judges):
    agreement = judged("A", ["human", *judges.split("-")], labels=1)
    ((_, (contest, _)),) = agreement.contests
    expected = VECTORS["contests"][judges]
    assert [contest.first_right, contest.second_right, contest.mid_p] == [
        expected["b"],
        expected["c"],
        expected["mid_p"],
    ]


def test_the_p_values_of_a_split_and_how_many_bad_answers_show_that_enough_are_caught():
    for first, second, exact, mid in VECTORS["mcnemar"]:
        assert (DiscordantPairs(first, second).exact, DiscordantPairs(first, second).mid) == pytest.approx(
            (exact, mid), abs=1e-9
        )
        assert DiscordantPairs(second, first).mid == DiscordantPairs(first, second).mid
    for up, down, expected in VECTORS["sign"]:
        assert DiscordantPairs(up, down).exact == pytest.approx(expected, abs=1e-9)
    assert (DiscordantPairs(0, 0).exact, DiscordantPairs(0, 0).mid, Share(0, 0).value, Share(0, 0).interval) == (
        None,
        None,
        None,
        None,
    )
    for target, expected in VECTORS["needed"]:
        for missed, needed in enumerate(expected):
            assert [lower_bound(n - missed, n, 0.025) >= target for n in (needed - 1, needed)] == [False, True]


def test_the_random_numbers_are_splitmix64():
    assert [*islice(random_words(VECTORS["words"]["seed"]), 5)] == VECTORS["words"]["expected"]
    assert [word * 20 >> 64 for word in islice(random_words(1), 20)] == VECTORS["below_20"]["expected"]


def test_what_is_undefined_is_no_number():
    for edge in VECTORS["edges"]:
        scale, rows = RatingScale(ScaleKind.CHECK, tuple(edge["values"]), ()), list(map(tuple, edge["ratings"]))
        counts = [1] * len(rows)
        found = {"kappa": kappa(rows, counts, scale), "alpha_nominal": alpha(rows, counts, scale).value}
        assert found == {name: edge[name] for name in found}, edge["name"]
