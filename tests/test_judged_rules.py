"""The rules on judged data: when each fires, when it just does not, and what it cannot decide."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from rubric_lint.agree.bounds import incomplete_beta, lower_bound, lower_tail, t_quantile, upper_bound, upper_tail
from rubric_lint.agree.judged.outcomes import Decision, bound_absent, count_needed, level_of, share_of
from rubric_lint.agree.judged.rules import (
    FINDERS,
    Link,
    correlate_with_rest,
    decide,
    find_ceiling,
    find_constant,
    find_disagreement,
    find_inverse,
    find_length,
    find_links,
    find_order,
    find_redundant,
    find_unstable,
    find_unused,
    sort_by_criterion,
)
from rubric_lint.agree.judged.table import Asked, Table, make_columns
from rubric_lint.agree.labelled import Labelled
from rubric_lint.agree.scales import find_cut
from rubric_lint.agree.shares import LabelledAnswer
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring.loading import load_rubrics

DATA = Path(__file__).parent / "data"
VECTORS = json.loads((DATA / "judged.json").read_text("utf-8"))
CLOSE = 1e-9


def rubric(text):
    return load_rubrics("r.yaml", f"rubrics:\n{text}")["r"]


def checks(count, *, gate=True):
    end = ", required_min_score: 10" if gate else ""
    return rubric("".join(f"  - {{id: c{number}, expected_outcome: It is so{end}}}\n" for number in range(count)))


BANDS = "score_ranges: {0: Wrong, 3: Partly wrong, 7: Right in most, 10: Right in all}"
SCORES = rubric(f"  - {{id: c0, {BANDS}}}\n")
GATED = rubric(f"  - {{id: c0, required_min_score: 7, {BANDS}}}\n")
LEVELS = rubric("  - {id: c0, levels: {1: Off topic, 2: Has a gap, 5: Right in all}}\n")


def table(of, *given, labels=None, flips=None, samples=(), sampled=0):
    """A table of columns, each a list of positions on the scale of its criterion."""
    columns = make_columns(of, given, labels=labels)
    keys = [f"a{number}" for number in range(len(given[0]))]
    return Table(columns, keys, flips or {None: Fraction(0)}, samples, sampled=sampled)


def say(outcomes):
    """What each outcome decides, of which criterion, gate or answer; or why it decides nothing, and what would do."""
    return [
        f"{', '.join(map(str, each.target))}: {each.rule}: {BY_NAME[each.rule].write(each.code, each.values)}"
        if isinstance(each, Decision)
        else f"{each.rule} on {' and '.join(each.names or each.concerns)}: {each.reason}; {each.needed} {each.unit}"
        for each in outcomes
    ]


def test_bounds_quantiles_and_needed_answers_are_those_of_other_packages():
    for x, n, level, low, high in VECTORS["clopper_pearson"]:
        assert (lower_bound(x, n, level), upper_bound(x, n, level)) == pytest.approx((low, high), abs=CLOSE)
    for n, high in VECTORS["absent_upper"]:
        assert upper_bound(0, n, 0.05) == pytest.approx(high, abs=CLOSE)
    for level, freedom, t in ((0.025, 1, 12.7062047362), (0.05, 10, 1.8124611228), (0.5, 5, 0)):
        assert t_quantile(level, freedom) == pytest.approx(t, abs=1e-7)
    for n, criteria, r in VECTORS["critical_r"]:
        t = t_quantile(0.05 / 6 / criteria, n - 2)
        assert -t / math.sqrt(n - 2 + t * t) == pytest.approx(r, abs=CLOSE)
    for share, name in ((Fraction(9, 10), "needed_absent"), (Fraction(4, 5), "needed_union")):
        for tests, needed in VECTORS[name]:
            assert count_needed(share, Fraction(1, 120) / tests) == needed


def test_a_bound_is_where_the_exact_tail_has_its_error():
    for n in (1, 7, 40):
        for x in range(n + 1):
            for share in (0.03, 0.5, 0.92):
                exact = sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(x, n + 1))
                assert upper_tail(x, n, share) == pytest.approx(exact, abs=1e-12)
                below = sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(x + 1))
                assert lower_tail(x, n, share) == pytest.approx(below, abs=1e-12)
    assert [lower_bound(0, 9, 0.01), upper_bound(9, 9, 0.01)] == [0, 1]


def test_the_incomplete_beta_function_holds_far_out():
    assert [incomplete_beta(0, 2, 3), incomplete_beta(1, 2, 3)] == [0, 1]
    assert incomplete_beta(0.25, 1, 1) == pytest.approx(0.25, abs=1e-15)
    assert lower_bound(50_000, 100_000, 0.05 / 60) == pytest.approx(0.4950, abs=1e-4)
    assert lower_bound(100_000, 100_000, 0.01) == pytest.approx(0.01 ** (1 / 100_000), abs=1e-12)


def test_an_error_budget_of_5_percent_is_shared_by_rules_and_their_tests():
    assert len(FINDERS) == 9
    assert share_of(10) * 10 * 9 == Fraction(1, 20)
    assert bound_absent(68, 10) == pytest.approx(upper_bound(0, 68, level_of(10)))


GATED_TWO = rubric(f"  - {{id: c0, {BANDS}}}\n  - {{id: c1, {BANDS}}}\n")
INVERSE = ([1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1])
BOTH = [0, 1] * 30
BY_TURNS = [[7 + (number > 29 and number % 4 == side) for number in range(60)] for side in (0, 1)]


def repeat(columns, times):
    return [column * times for column in columns]


def people(label, judge, of=GATED):
    """A table of one criterion from labels of one person and values of the judge, each answer of another text."""
    made = table(of, judge, labels=[label])
    known = [number for number, each in enumerate(label) if each is not None]
    good = made.columns[0].measure.meets
    if good is None and (cut := find_cut([label[number] for number in known], 11)):
        good = [score >= cut for score in range(11)]
    answers = tuple(LabelledAnswer(number, {"ann": good[label[number]]}, (good[judge[number]],)) for number in known)
    return made._replace(compared={"m": {0: Labelled(tuple(made.keys[number] for number in known), answers)}})


def flipping(count, verdicts, gates):
    """A table of answers with samples, in so many of which the verdict and the gate flip."""
    flips = {place: Fraction(flipped) / (count or 1) for place, flipped in ((None, verdicts), (0, gates))}
    return table(GATED, [7] * max(count, 60), flips=flips, samples=(2,), sampled=count)


def pair(missed, both):
    """A table of two criteria, of which the first was missed so often, and the second in some of these answers."""
    return table(checks(2), [0] * missed + [1] * 60, [0] * both + [1] * (missed - both) + [1] * 60)


def asked(values, places, sizes=None, answers=60):
    """A table of two criteria, the first of which was asked for at these places."""
    other = [1 - place for place in places]
    made = table(GATED_TWO, [7] * answers, [7] * answers)
    positions = [values, [7] * len(values)]
    return made._replace(asked=Asked([places, other], positions, sizes or [len(values)], answers))


def long_answers(label, judge, lengths=range(100, 160)):
    """A table of one criterion from labels, values of the judge, and lengths of the answers."""
    return people(label, judge)._replace(lengths=lengths)


def by_length(*judge, labels):
    """A table of two criteria, each answer longer than the one before."""
    return table(GATED_TWO, *judge, labels=labels)._replace(lengths=[*range(len(judge[0]))])


RULES = {
    # judged-constant: 1 criterion, so 50 answers are enough
    find_constant: {
        "all missed": table(checks(1), [0] * 50),
        "all met, as judged-ceiling says": table(checks(1), [1] * 60),
        "one met": table(checks(1), [0] * 49 + [1]),
        "the gate is always met": table(GATED, [7, 8] * 30),
        "the gate is once met at its edge": table(GATED, [10] * 59 + [7]),
        "the gate is met or not": table(GATED, [6, 8] * 30),
        "one band": table(SCORES, [7, 8] * 30),
        "two bands": table(SCORES, [6, 8] * 30),
        "one level": table(LEVELS, [1] * 50),
        "people find it met": people([0, 1, 1, *[None] * 77], [0] * 80, checks(1)),
        "people give the same band": people([9, 8, 8, *[None] * 77], [9] * 80, SCORES),
        "people give another band": people([9, 2, 2, *[None] * 77], [9] * 80, SCORES),
        "people find the gate met": people([9, 7, 7, *[None] * 77], [9] * 80),
        "people find the gate missed": people([9, 6, 6, *[None] * 77], [9] * 80),
        "too few answers for 5 criteria": table(checks(5), [1] * 60, BOTH, [0] * 60, BOTH, [0] * 60),
        "few answers that differ": table(checks(5), *[BOTH] * 5),
        "one sample differs": Table(make_columns(checks(1), [[1] * 60], [frozenset({0, 1})]), [""] * 60, {}),
    },
    # judged-ceiling: 1 criterion, so 24 answers are enough
    find_ceiling: {
        "all met": table(checks(1), [1] * 24),
        "nearly all met": table(checks(1), [1] * 58 + [0] * 2),
        "the highest band": table(SCORES, [10] * 58 + [3, 7]),
        "the highest level": table(LEVELS, [2] * 60),
        "people give less": people([0, 1, None, 0] * 15, [1] * 60, checks(1)),
        "none met": table(checks(1), [0] * 60),
        "the last band but one": table(SCORES, [9] * 60),
        "too few answers for 2 criteria": table(checks(2), [1] * 26, [0] * 26),
    },
    # judged-unused-band: 4 bands, so 63 answers are enough
    find_unused: {
        "two bands of four": table(SCORES, [0, 8] * 32),
        "one band with a gate": table(GATED, [8, 9] * 32),
        "one band, as judged-constant says": table(SCORES, [8, 9] * 32),
        "all bands": table(SCORES, [0, 3, 7, 10] * 16),
        "too few answers": table(SCORES, [0, 3, 7, 7] * 15),
        "two levels of three": table(LEVELS, [0, 2] * 30),
        "a check": table(checks(1), [1] * 60),
    },
    find_unstable: {
        "the gate flips": flipping(40, 0, 12),
        "the verdict flips": flipping(40, 12, 0),
        "one in ten flips": flipping(10_000, 1000, 1000),
        "too few flips": flipping(40, 0, 7),
        "just enough flips": flipping(40, 0, 11),
        "10.5 flips are 10": flipping(40, 0, Fraction(21, 2)),
        "no samples": flipping(0, 1, 1),
        "samples of one": flipping(1, 1, 1),
        "samples of 29": flipping(29, 29, 29),
    },
    # judged-redundant: 1 pair, so 24 answers on the rarer side are enough
    find_redundant: {
        "always together": pair(24, 24),
        "too few answers": pair(23, 23),
        "nearly always together": pair(41, 40),
        "of as many just enough": pair(40, 39),
        "too seldom together": pair(40, 37),
        "a pair beside one that does not vary": table(checks(3), *[[0] * 33 + [1] * 67] * 2, [1] * 100),
        "three alike": table(checks(3), *[[0, 1] * 60] * 3),
    },
    find_inverse: {
        "one rises when the others fall": table(checks(3), *repeat(INVERSE, 10)),
        "two criteria": table(checks(2), *repeat(INVERSE[:2], 10)),
        "few answers": table(checks(3), *repeat(INVERSE, 4)),
        "one criterion": table(checks(1), *repeat(INVERSE[:1], 10)),
        "one does not vary": table(checks(3), BOTH, BOTH, [1] * 60),
        "one hardly varies": table(checks(3), BOTH, BOTH, [0] * 2 + [1] * 58),
        "one alone varies": table(checks(3), BOTH, [1] * 60, [0] * 60),
    },
    # judged-disagrees: 1 criterion, so each bound is wrong in 1 of 120; 3 of 60 labels may be slips
    find_disagreement: {
        "bad answers are missed": people([3] * 30 + [8] * 30, [8] * 19 + [3] * 11 + [8] * 30),
        "4 of 15 are caught, 12 without slips": people([3] * 15 + [8] * 45, [8] * 11 + [3] * 4 + [8] * 45),
        "6 of 15 are caught, perhaps 80%": people([3] * 15 + [8] * 45, [8] * 9 + [3] * 6 + [8] * 45),
        "good answers are stopped": people([8] * 30 + [3] * 30, [3] * 20 + [8] * 10 + [3] * 30),
        "all differ in value, none in side": people([8] * 30 + [3] * 30, [9] * 30 + [2] * 30),
        "agreement": people([8] * 30 + [3] * 30, [8] * 30 + [3] * 30),
        "agreement by chance": people([3, 3, 8, 8] * 20, [3, 8, 3, 8] * 20),
        "agreement by chance without a gate": people([3, 3, 8, 8] * 20, [3, 8, 3, 8] * 20, SCORES),
        "no labels": table(GATED, [7] * 60),
        "few labels": people([3, 8, 8, None], [3, 8, 8, 8]),
        "labels on one side": people([8] * 60, [8] * 60),
    },
    find_order: {
        "it falls": asked([8, 6] * 30, [0, 1] * 30),
        "it rises within pairs": asked([6, 7] * 60, [0, 1] * 60, [2] * 60),
        "it follows nothing": asked([8, 6, 6, 8] * 15, [0, 1] * 30),
        "only the pairs differ": asked([2, 2, 9, 9] * 30, [0, 1] * 60, [2] * 60),
        "one criterion": table(GATED, [7] * 60),
        "no orders": table(GATED_TWO, [7] * 60, [7] * 60),
        "one order": asked([8, 6], [0, 1], answers=1),
    },
    find_length: {
        "higher": long_answers([7] * 60, [6 + number // 20 for number in range(60)]),
        "lower": long_answers([7] * 60, [8 - number // 20 for number in range(60)]),
        "by turns": long_answers([7] * 60, [6, 7, 8] * 20),
        "the same": long_answers([7] * 60, [7] * 60),
        "the score alone, as each criterion errs too seldom": by_length(*BY_TURNS, labels=[[7] * 60] * 2),
        "a criterion that people left out": by_length(*[[7] * 120] * 2, labels=[[7] * 120, [7] * 60 + [None] * 60]),
        "no labels": long_answers([None] * 60, [7] * 60, [9] * 60),
        "59 labels": long_answers([7] * 59 + [None], [7] * 60),
        "no texts": long_answers([7] * 60, [7] * 60, [None] * 60),
        "no lengths": long_answers([7] * 60, [7] * 60, ()),
        "one length": long_answers([7] * 60, [7] * 60, [9] * 60),
    },
}


@pytest.mark.parametrize("find", RULES, ids=lambda find: find.__name__)
def test_each_rule_fires_or_not_or_says_what_it_lacks(find, said):
    said(*(f"{name}: {' And '.join(say(find(judged))) or 'nothing'}" for name, judged in RULES[find].items()))


# judged-ceiling with 10 criteria, so 34 answers are enough


@pytest.mark.parametrize(("n", "fires_from"), [(34, 34), (60, 58), (100, 93), (200, 178)])
def test_the_share_at_the_top_from_which_a_criterion_is_at_the_ceiling(n, fires_from):
    for top, found in ((fires_from - 1, []), (fires_from, ["c0"])):
        others = [[0, 1] * (n // 2)] * 9
        outcomes = find_ceiling(table(checks(10), [1] * top + [0] * (n - top), *others))
        assert [isinstance(each, Decision) and each.target.criterion for each in outcomes] == found


def test_a_scale_is_cut_in_the_middle():
    cuts = {(0, 0, 1, 2): 1, (0, 1, 2, 2): 2, (0, 1, 1, 2): 1, (2, 2): None, (0, 10): 1}
    assert {positions: find_cut([*positions], 11) for positions in cuts} == cuts


WEIGHTS = (("a", 9), ("b", 1), ("c", 1))


def test_the_rest_is_not_weighted():
    heavy = rubric("".join(f"  - {{id: {name}, weight: {weight}, expected_outcome: X}}\n" for name, weight in WEIGHTS))
    columns = repeat(INVERSE, 5)
    plain = correlate_with_rest(table(checks(3), *columns).columns)
    assert correlate_with_rest(table(heavy, *columns).columns) == plain
    assert plain[2] == pytest.approx(-0.8660254038)
    assert correlate_with_rest(table(checks(2), [1, 1], [0, 1]).columns) == [None, None]


def test_a_permutation_test_gives_the_same_p_on_every_machine_which_is_that_of_all_orders():
    rising = Link(range(30), [number // 3 for number in range(30)])
    weak = Link([number * 7 % 30 for number in range(30)], [number // 3 for number in range(30)])
    assert find_links([rising, weak, Link(range(30), [4] * 30)], [30], 3) == [1 / 2160, None, None]
    # Only what differs within a group counts: here the groups differ, and nothing else.
    assert find_links([Link([0, 1] * 15 + [5, 6] * 15, [0, 0] * 15 + [9, 9] * 15)], [30, 30], 1) == [None]
    # Of 2^12 exchanges within pairs, those that undo none or all, or all but one, are as extreme: 2 and 24.
    assert find_links([Link([0, 1] * 12, [0, 2] * 11 + [2, 0])], [2] * 12, 10) == [None]
    (p,) = find_links([Link([0, 1] * 12, [0, 2] * 12)], [2] * 12, 1)
    assert p == pytest.approx(2 / 2**12, abs=0.0015)


# By criterion


def test_for_each_criterion_what_fired_what_did_not_and_what_cannot_be_tested():
    judged = table(checks(3), *repeat(INVERSE, 10))
    outcomes = decide(judged)
    assert [each.target.criterion for each in outcomes if isinstance(each, Decision)] == ["c2"]
    found = sort_by_criterion(judged, outcomes)
    assert [each.criterion for each in found] == ["c0", "c1", "c2", None]
    told = [(quiet, [each.rule for each in lacking]) for _, quiet, lacking in found]
    quiet = ("judged-constant", "judged-ceiling", "judged-redundant")
    lacking = ["judged-unstable", "judged-disagrees", "judged-order", "judged-length"]
    assert told == [
        ((*quiet, "judged-inverse"), lacking),
        ((*quiet, "judged-inverse"), lacking),
        (quiet, lacking),
        ((), ["judged-unstable", "judged-length"]),
    ]
