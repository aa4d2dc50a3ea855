"""The statistics of agreement, held to values that several packages gave; tests/data/agreement.json says which."""

import json
from collections import Counter
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

import pytest
from raters import RUBRICS, measure, records

from rubric_lint.agree.coefficients import (
    alpha_interval,
    alpha_nominal,
    as_fraction,
    flip_rate,
    gwet,
    independent_votes,
    kappa,
)
from rubric_lint.agree.comparison import Plan
from rubric_lint.agree.intervals import Share, Sides, evaluate, find_interval, find_needed, random_words, resample
from rubric_lint.agree.pass_rate import PassCounts, estimate_by_calibration, estimate_by_labels
from rubric_lint.agree.scales import Kind, Scale

VECTORS = json.loads((Path(__file__).parent / "data/agreement.json").read_text("utf-8"))
DATA = VECTORS["data"]
KINDS = {"A": Kind.CHECK, "B": Kind.SCORE, "C": Kind.LEVEL}


def judged(data, raters, *, labels=0, plan=None):
    """The agreement of raters; the first ones are people."""
    given = [records(data, rater, DATA[data]["raters"][rater], DATA[data]["ids"]) for rater in raters]
    parts = ([*chain(*given[labels:])], [*chain(*given[:labels])])
    return measure(RUBRICS[data], *parts, plan=plan)


def figure_of(agreement, raters, scale, name):
    (comparison,) = (each for each in agreement.comparisons if each.raters == tuple(raters))
    compared = next(each for each in comparison.measures if each.measure.scale.kind is scale)
    return compared.figures.get(name) if name != "exact" else compared.pair.exact


def rows_of(data, raters):
    values = DATA[data]["values"]
    columns = zip(*(DATA[data]["raters"][rater] for rater in raters), strict=True)
    return [tuple(None if each is None else values.index(each) for each in row) for row in columns]


def scale_of(data):
    return Scale(KINDS[data], tuple(DATA[data]["values"]), ())


@pytest.mark.parametrize(
    "vector", VECTORS["exact"], ids=lambda each: f"{each['data']}-{each['statistic']}-{'-'.join(each['raters'])}"
)
def test_a_coefficient_is_the_one_that_packages_give(vector):
    data, raters, name, exact = vector["data"], vector["raters"], vector["statistic"], Fraction(vector["exact"])
    scale = Kind.BAND if vector["bands"] else KINDS[data]
    if name == "independent_votes":  # the report gives it from 60 answers on
        assert as_fraction(independent_votes(rows_of(data, raters), scale_of(data))([1] * 20)) == exact
        return
    found = figure_of(judged(data, raters), raters, scale, name)
    if found is None:  # scores 0 to 10: the report gives weighted coefficients, the others are those of the bands
        statistic = {"kappa": kappa, "alpha_nominal": alpha_nominal, "ac1": gwet}[name]
        rows = rows_of(data, raters)
        assert as_fraction(statistic(rows, scale_of(data))([1] * len(rows))) == exact
    else:
        assert found.value == float(exact)


@pytest.mark.parametrize(
    "vector", VECTORS["shares"], ids=lambda each: f"{each['data']}-{each['raters'][1]}-{each['share']}"
)
def test_bad_caught_and_good_passed_with_wilsons_interval(vector):
    (comparison,) = judged(vector["data"], vector["raters"], labels=1).comparisons
    share = getattr(comparison.measures[0].pair.gate, vector["share"])
    assert (share.x, share.n) == (vector["x"], vector["n"])
    assert share.interval == pytest.approx((vector["low"], vector["high"]), abs=1e-9)
    assert (share.interval[0] == 0, share.interval[1] == 1) == (share.x == 0, share.x == share.n)


@pytest.mark.parametrize("vector", VECTORS["confusion"], ids=lambda each: f"{each['data']}-{each['raters'][1]}")
def test_the_table_of_both_raters_keeps_empty_rows(vector):
    (comparison,) = judged(vector["data"], vector["raters"]).comparisons
    compared = comparison.measures[0]
    assert compared.pair.confusion == vector["rows"]
    assert compared.answers == sum(map(sum, vector["rows"]))


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
    assert as_fraction(flip_rate(rows)([1] * len(rows))) == Fraction(vector["exact"])


@pytest.mark.parametrize(("judged", "passed", "caught", "expected"), VECTORS["rogan_gladen"])
def test_the_pass_rate_by_labels_of_other_answers(judged, passed, caught, expected):
    found = estimate_by_calibration(Share(*judged), Share(*passed), Share(*caught))
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-9)


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
        assert (Sides(first, second).exact, Sides(first, second).mid) == pytest.approx((exact, mid), abs=1e-9)
        assert Sides(second, first).mid == Sides(first, second).mid
    for up, down, expected in VECTORS["sign"]:
        assert Sides(up, down).exact == pytest.approx(expected, abs=1e-9)
    assert (Sides(0, 0).exact, Sides(0, 0).mid, Share(0, 0).value, Share(0, 0).interval) == (None, None, None, None)
    for target, expected in VECTORS["needed"]:
        assert [find_needed(Fraction(str(target)), missed) for missed in range(4)] == expected


def test_the_random_numbers_are_splitmix64():
    assert [*islice(random_words(VECTORS["words"]["seed"]), 5)] == VECTORS["words"]["expected"]
    assert [word * 20 >> 64 for word in islice(random_words(1), 20)] == VECTORS["below_20"]["expected"]


@pytest.mark.parametrize("vector", VECTORS["bootstrap"], ids=lambda each: each["statistic"])
def test_the_bootstrap_draws_the_same_everywhere(vector):
    rows = rows_of(vector["data"], vector["raters"])
    statistic = {"kappa": kappa, "alpha_interval": alpha_interval}[vector["statistic"]](rows, scale_of(vector["data"]))
    drawn = [evaluate(statistic, counts) for counts in resample(range(len(rows)), len(rows), 1999)]
    low, high, undefined = find_interval(drawn)
    assert (low, high, undefined) == pytest.approx((vector["low"], vector["high"], vector["undefined"]), abs=1e-9)


def test_the_report_has_the_interval_of_the_bootstrap():
    vector = VECTORS["bootstrap"][0]
    agreement = judged(vector["data"], vector["raters"], plan=Plan(1999))
    found = figure_of(agreement, vector["raters"], Kind.CHECK, "kappa")
    assert (found.low, found.high, found.rough) == (pytest.approx(vector["low"]), vector["high"], True)


def test_what_is_undefined_is_no_number():
    for edge in VECTORS["edges"]:
        scale, rows = Scale(Kind.SCORE, tuple(edge["values"]), ()), list(map(tuple, edge["ratings"]))
        found = {
            name: evaluate(statistic(rows, scale), [1] * len(rows))
            for name, statistic in (("kappa", kappa), ("alpha_nominal", alpha_nominal), ("ac1", gwet))
        }
        assert found == {name: edge[name] for name in found}, edge["name"]


@pytest.mark.parametrize("edge", VECTORS["votes_edges"], ids=lambda each: str(each["exact"]))
def test_the_votes_of_judges_with_special_errors(edge):
    scale = Scale(Kind.SCORE, tuple(range(11)), ())
    rows = [(5, *(5 + error for error in errors)) for errors in edge["errors"]]
    expected = edge["exact"] and Fraction(edge["exact"])
    assert as_fraction(independent_votes(rows, scale)([1] * len(rows))) == expected
