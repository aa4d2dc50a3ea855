"""The rules on judged data: when each fires, when it just does not, and what it cannot decide."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from rubric_lint.agree.coefficients import alpha_interval, alpha_nominal, alpha_ordinal
from rubric_lint.agree.intervals import (
    incomplete_beta,
    lower_bound,
    lower_tail,
    t_quantile,
    upper_bound,
    upper_tail,
)
from rubric_lint.agree.judged.influence import Link, find_length, find_links, find_order
from rubric_lint.agree.judged.outcomes import Decision, Target, Untested, bound_absent, count_needed, level_of, share_of
from rubric_lint.agree.judged.rules import (
    FINDERS,
    correlate_with_rest,
    decide,
    find_ceiling,
    find_constant,
    find_cut,
    find_disagreement,
    find_inverse,
    find_redundant,
    find_unstable,
    find_unused,
    jackknife,
    sort_by_criterion,
)
from rubric_lint.agree.judged.table import Asked, Flips, Table, make_columns
from rubric_lint.agree.scales import Kind, Scale
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring.loading import load_rubrics

DATA = Path(__file__).parent / "data"
VECTORS = json.loads((DATA / "judged.json").read_text("utf-8"))
RATINGS = json.loads((DATA / "agreement.json").read_text("utf-8"))["data"]
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


def table(of, *given, labels=None, flips=None, samples=()):
    """A table of columns, each a list of positions on the scale of its criterion."""
    columns = make_columns(of, given, labels=labels)
    return Table(
        columns, [f"a{number}" for number in range(len(given[0]))], flips or {None: Flips(Fraction(0), 0)}, samples
    )


def fired(outcomes):
    return [
        (each.target.criterion, BY_NAME[each.rule].write(each.code, each.values))
        for each in outcomes
        if isinstance(each, Decision)
    ]


def untested(outcomes):
    return [(each.names, each.reason, each.needed, each.unit) for each in outcomes if isinstance(each, Untested)]


@pytest.mark.parametrize(("x", "n", "level", "low", "high"), VECTORS["clopper_pearson"])
def test_clopper_and_pearson(x, n, level, low, high):
    assert (lower_bound(x, n, level), upper_bound(x, n, level)) == pytest.approx((low, high), abs=CLOSE)


@pytest.mark.parametrize(("n", "high"), VECTORS["absent_upper"])
def test_the_upper_bound_of_0_of_n_is_exact(n, high):
    assert upper_bound(0, n, 0.05) == pytest.approx(high, abs=CLOSE)


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


@pytest.mark.parametrize(("level", "freedom", "t"), [(0.025, 1, 12.7062047362), (0.05, 10, 1.8124611228), (0.5, 5, 0)])
def test_the_quantiles_of_t_are_those_of_tables(level, freedom, t):
    assert t_quantile(level, freedom) == pytest.approx(t, abs=1e-7)


@pytest.mark.parametrize(("n", "criteria", "r"), VECTORS["critical_r"])
def test_the_r_that_chance_alone_reaches(n, criteria, r):
    t = t_quantile(0.05 / 6 / criteria, n - 2)
    assert -t / math.sqrt(n - 2 + t * t) == pytest.approx(r, abs=CLOSE)


@pytest.mark.parametrize(
    ("share", "tests", "needed"),
    [(Fraction(9, 10), *each) for each in VECTORS["needed_absent"]]
    + [(Fraction(4, 5), *each) for each in VECTORS["needed_union"]],
)
def test_the_answers_that_exclude_chance(share, tests, needed):
    assert count_needed(share, Fraction(1, 120) / tests) == needed


STATISTICS = {"alpha_nominal": alpha_nominal, "alpha_interval": alpha_interval, "alpha_ordinal": alpha_ordinal}
KINDS = {"A": Kind.CHECK, "B": Kind.SCORE, "C": Kind.LEVEL}


@pytest.mark.parametrize(("data", "statistic", "raters", "value", "error", "bound"), VECTORS["jackknife"])
def test_the_jackknife_error_of_alpha(data, statistic, raters, value, error, bound):
    of, values = RATINGS[data], RATINGS[data]["values"]
    columns = zip(*(of["raters"][rater] for rater in raters), strict=True)
    rows = [tuple(None if each is None else values.index(each) for each in row) for row in columns]
    found = jackknife(STATISTICS[statistic](rows, Scale(KINDS[data], tuple(values), ())), [1] * len(rows))
    assert found == pytest.approx((value, error), abs=CLOSE)
    assert found[0] + t_quantile(0.05 / 60, len(rows) - 1) * found[1] == pytest.approx(bound, abs=1e-8)


def test_an_error_budget_of_5_percent_is_shared_by_rules_and_their_tests():
    assert len(FINDERS) == 9
    assert share_of(10) * 10 * 9 == Fraction(1, 20)
    assert bound_absent(68, 10) == pytest.approx(upper_bound(0, 68, level_of(10)))


# judged-constant: 1 criterion, so 50 answers are enough.


@pytest.mark.parametrize(
    ("of", "given", "message"),
    [
        (checks(1), [0] * 50, "missed in all 50 judged answers, so at most 9.9% of answers meet it"),
        (GATED, [7, 8] * 30, "the gate was met in all 60 judged answers, so at most 8.3% of answers miss it"),
        (SCORES, [7, 8] * 30, "band 7..9 was given in all 60 judged answers, so at most 8.3% of answers earn another"),
        (LEVELS, [1] * 50, "level 2 was given in all 50 judged answers, so at most 9.9% of answers earn another"),
        (checks(1), [0] * 49 + [1], None),
        (checks(1), [1] * 60, None),  # judged-ceiling says it
        (GATED, [10] * 59 + [7], None),
        (GATED, [6, 8] * 30, None),
        (SCORES, [6, 8] * 30, None),
    ],
)  # fmt: skip
def test_a_criterion_that_tells_nothing_apart(of, given, message):
    outcomes = list(find_constant(table(of, given)))
    assert [(name, text.partition(" (")[0].removesuffix(" one")) for name, text in fired(outcomes)] == (
        [("c0", message)] if message else []
    )
    assert untested(outcomes) == []


@pytest.mark.parametrize(
    ("of", "given", "others", "words"),
    [
        (checks(1), 0, 1, ("missed in all 80 judged answers", "2 of 3 labelled ones should meet it", "`a1` and `a2`")),
        (SCORES, 9, 8, None),  # the same band
        (SCORES, 9, 2, ("band 7..9 was given in all 80", "2 of 3 labelled ones should earn another one", "`a1` and")),
        (GATED, 9, 7, None),
        (GATED, 9, 6, ("the gate was met in all 80", "2 of 3 labelled ones should miss it", "`a1` and `a2`")),
    ],
)
def test_a_constant_judge_is_at_fault_where_labels_vary(of, given, others, words):
    labels = [given, others, others, *[None] * 77]
    ((_, message),) = fired(find_constant(table(of, [given] * 80, labels=[labels])))
    without = fired(find_constant(table(of, [given] * 80)))
    if words is None:
        assert [("c0", message)] == without
    else:
        assert [word for word in words if word not in message] == []
        assert "it is the judge that does not tell them apart" in message
        assert "remove the criterion" not in message


def test_too_few_answers_to_call_a_criterion_constant():
    two = table(checks(5), [1] * 60, [0, 1] * 30, [0] * 60, [0, 1] * 30, [0] * 60)
    assert [*find_constant(two)] == [
        Untested("judged-constant", ("c2", "c4"), "judged alike in all 60 answers so far", 65)
    ]
    assert [*find_constant(table(checks(5), *[[0, 1] * 30] * 5))] == []


def test_one_sample_of_one_judge_is_enough_to_differ():
    columns = make_columns(checks(1), [[1] * 60], [frozenset({0, 1})])
    assert [*find_constant(Table(columns, [str(n) for n in range(60)], {}))] == []


# judged-ceiling: 1 criterion, so 24 answers are enough; 10 criteria, so 34.


@pytest.mark.parametrize(("n", "fires_from"), [(34, 34), (60, 58), (100, 93), (200, 178)])
def test_the_share_at_the_top_from_which_a_criterion_is_at_the_ceiling(n, fires_from):
    for top, found in ((fires_from - 1, []), (fires_from, ["c0"])):
        others = [[0, 1] * (n // 2)] * 9
        outcomes = list(find_ceiling(table(checks(10), [1] * top + [0] * (n - top), *others)))
        assert ([each.target.criterion for each in outcomes], untested(outcomes)) == (found, [])


@pytest.mark.parametrize(
    ("of", "given", "labels", "message"),
    [
        (checks(1), [1] * 24, None, "all 24 judged answers met it (at least 80.5%; 1 value in use; 0 of 276"),
        (checks(1), [1] * 58 + [0] * 2, None, "58 of 60 judged answers met it (at least 85.6%; 2 values; 116 of 1,770"),
        (SCORES, [10] * 58 + [3, 7], None, "58 of 60; got the highest band, 10 (at least; 3 bands in use; 117 of"),
        (LEVELS, [2] * 60, None, "all 60 judged answers got the highest level, 5 (at least 91.7%; 1; 0 of 1,770"),
        (checks(1), [1] * 60, [0, 1, None, 0] * 15, "all 60; people give less to 30 of 45 labelled answers; look at"),
        (checks(1), [0] * 60, None, None),
        (SCORES, [9] * 60, None, None),
    ],
)  # fmt: skip
def test_a_criterion_that_nearly_all_answers_meet(of, given, labels, message):
    outcomes = list(find_ceiling(table(of, given, labels=labels and [labels])))
    found = [text for _, text in fired(outcomes)]
    assert untested(outcomes) == []
    assert [[part for part in message.split("; ") if part not in found[0]] for _ in found] == ([[]] if message else [])


def test_too_few_answers_to_call_a_criterion_at_the_ceiling():
    expected = [Untested("judged-ceiling", ("c0", "c1"), "26 judged answers", 27)]
    assert [*find_ceiling(table(checks(2), [1] * 26, [0] * 26))] == expected


# judged-unused-band: 4 bands, so 63 answers are enough.


@pytest.mark.parametrize(
    ("of", "given", "found", "lacking"),
    [
        (SCORES, [0, 8] * 32, [("c0", 3), ("c0", 10)], []),
        (GATED, [8, 9] * 32, [("c0", 0), ("c0", 3), ("c0", 10)], []),
        (SCORES, [8, 9] * 32, [], []),  # judged-constant says it
        (SCORES, [0, 3, 7, 10] * 16, [], []),
        (
            SCORES,
            [0, 3, 7, 7] * 15,
            [],
            [(("c0 10",), "60 judged answers so far, none with it", 63, "answers")],
        ),
        (LEVELS, [0, 2] * 30, [("c0", 2)], []),
        (checks(1), [1] * 60, [], []),
    ],
)
def test_a_band_that_no_output_gives(of, given, found, lacking):
    outcomes = list(find_unused(table(of, given)))
    assert [(each.target.criterion, each.target.answer) for each in outcomes if isinstance(each, Decision)] == found
    assert untested(outcomes) == lacking


# judged-unstable


@pytest.mark.parametrize(
    ("flips", "n", "found"),
    [
        ({None: Fraction(0), 0: Fraction(12, 40)}, 40, ["c0"]),
        ({None: Fraction(12, 40), 0: Fraction(0)}, 40, [None]),
        ({None: Fraction(1, 10), 0: Fraction(1, 10)}, 10_000, []),
        ({None: Fraction(0), 0: Fraction(7, 40)}, 40, []),
        ({None: Fraction(0), 0: Fraction(11, 40)}, 40, ["c0"]),
        ({None: Fraction(0), 0: Fraction(21, 80)}, 40, []),  # 10.5 answers are 10
    ],
)
def test_samples_that_flip(flips, n, found):
    judged = table(GATED, [7] * n, flips={place: Flips(rate, n) for place, rate in flips.items()}, samples=(2,))
    outcomes = list(find_unstable(judged))
    assert [each.target.criterion for each in outcomes] == found
    assert all(each.target.is_gate == (each.target.criterion is not None) for each in outcomes)


@pytest.mark.parametrize("sampled", [0, 1, 29])
def test_too_few_samples(sampled):
    judged = table(GATED, [7] * 60, flips={None: Flips(Fraction(1), sampled), 0: Flips(Fraction(1), sampled)})
    ((names, reason, needed, unit),) = untested(find_unstable(judged))
    assert (names, needed, unit) == (("c0", "verdict"), 30, "answers with samples")
    assert reason.startswith(f"{sampled or 'no'} answer")


# judged-redundant: 1 pair, so 24 answers on the rarer side are enough.


@pytest.mark.parametrize(
    ("missed", "both", "found", "lacking"),
    [(24, 24, 1, False), (23, 23, 0, True), (41, 40, 1, False), (40, 37, 0, False), (40, 39, 1, False)],
)
def test_two_criteria_that_are_one(missed, both, found, lacking):
    first = [0] * missed + [1] * 60
    second = [0] * both + [1] * (missed - both) + [1] * 60
    outcomes = list(find_redundant(table(checks(2), first, second)))
    decided = [(each.target, each.other) for each in outcomes if isinstance(each, Decision)]
    assert decided == [(Target("c1"), Target("c0"))] * found
    reason = "one of two criteria is on the rarer side in at most 23 answers"
    assert untested(outcomes) == ([(("c0 + c1",), reason, 24, "such answers")] if lacking else [])


def test_of_a_pair_one_is_told_and_a_criterion_without_variation_is_not_tested():
    same = [0] * 33 + [1] * 67
    outcomes = list(find_redundant(table(checks(3), same, same, [1] * 100)))
    ((name, message),) = fired(outcomes)
    assert (name, message.startswith("in 33 of 100 judged answers"), "at least 82.6%" in message) == ("c1", True, True)
    assert [each[0] for each in untested(outcomes)] == [("c2",)]


def test_of_several_repetitions_each_is_reported_with_the_first():
    same = [0, 1] * 60
    outcomes = find_redundant(table(checks(3), same, same, same))
    assert [(each.target.criterion, each.other.criterion) for each in outcomes] == [("c1", "c0"), ("c2", "c0")]


@pytest.mark.parametrize(
    ("positions", "cut"), [([0, 0, 1, 2], 1), ([0, 1, 2, 2], 2), ([0, 1, 1, 2], 1), ([2, 2], None), ([0, 10], 1)]
)
def test_a_scale_is_cut_in_the_middle(positions, cut):
    assert find_cut(positions, 11) == cut


# judged-inverse


INVERSE = ([1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1])


def repeat(columns, times):
    return [column * times for column in columns]


def test_a_criterion_that_rises_when_the_others_fall():
    ((name, message),) = fired(find_inverse(table(checks(3), *repeat(INVERSE, 10))))
    assert (name, "r = -0.87" in message, "-0.37" in message) == ("c2", True, True)


BOTH = [0, 1] * 30
ALIKE = "judged alike in all 60 answers", 7, "answers with another value"


@pytest.mark.parametrize(
    ("columns", "lacking"),
    [
        (repeat(INVERSE[:2], 10), [(("c0", "c1"), "of two criteria the direction is unknown", 3, "criteria")]),
        (repeat(INVERSE, 4), [(("c0", "c1", "c2"), "24 judged answers", 30, "answers")]),
        (repeat(INVERSE[:1], 10), []),
        ([BOTH, BOTH, [1] * 60], [(("c2",), *ALIKE)]),
        (
            [BOTH, BOTH, [0] * 2 + [1] * 58],
            [(("c2",), "one value in at least 90% of 60 answers, which hides the direction", 5, f"more {ALIKE[2]}")],
        ),
        (
            [BOTH, [1] * 60, [0] * 60],
            [
                (("c1", "c2"), *ALIKE),
                (
                    ("c0",),
                    "the mean of the other criteria is the same in all 60 answers",
                    7,
                    "answers with another mean",
                ),
            ],
        ),
    ],
    ids=["two", "few", "one", "constant", "blind", "alone"],
)
def test_a_direction_that_cannot_be_seen(columns, lacking):
    outcomes = list(find_inverse(table(checks(len(columns)), *columns)))
    assert (fired(outcomes), untested(outcomes)) == ([], lacking)


WEIGHTS = (("a", 9), ("b", 1), ("c", 1))


def test_the_rest_is_not_weighted():
    heavy = rubric("".join(f"  - {{id: {name}, weight: {weight}, expected_outcome: X}}\n" for name, weight in WEIGHTS))
    columns = repeat(INVERSE, 5)
    plain = correlate_with_rest(table(checks(3), *columns).columns)
    assert correlate_with_rest(table(heavy, *columns).columns) == plain
    assert plain[2] == pytest.approx(-0.8660254038)
    assert correlate_with_rest(table(checks(2), [1, 1], [0, 1]).columns) == [None, None]


# judged-disagrees: 1 criterion, so 3 tests


def people(label, judge, of=GATED):
    """A table of one criterion from pairs of label and judge, each with a number of answers."""
    return table(of, judge, labels=[label])


MISSES = ("the judge caught 11 (36.7%, at most 64.4%)", "in 19 of the 19 answers", "p = 4e-06", "`a0`, `a1` and `a2`")


def test_a_judge_that_misses_bad_answers():
    label = [3] * 30 + [8] * 30
    judge = [8] * 19 + [3] * 11 + [8] * 30
    ((name, message),) = fired(find_disagreement(people(label, judge)))
    assert (name, [part for part in MISSES if part not in message]) == ("c0", [])


@pytest.mark.parametrize(
    ("label", "judge", "found", "lacking"),
    [
        # 10 bad answers, of which 3 or 4 are caught: the upper bound is below 80%, or not.
        ([3] * 10 + [8] * 50, [8] * 7 + [3] * 3 + [8] * 43 + [3] * 7, 1, []),
        ([3] * 10 + [8] * 50, [8] * 6 + [3] * 4 + [8] * 44 + [3] * 6, 0, []),
        # differences in one direction only: 11 of 11 are enough for 3 tests, 10 are not
        ([8] * 30 + [3] * 30, [9] * 11 + [8] * 19 + [3] * 30, 1, []),
        ([8] * 30 + [3] * 30, [9] * 10 + [8] * 20 + [3] * 30, 0, []),
        ([8] * 30 + [3] * 30, [8] * 30 + [3] * 30, 0, []),
    ],
)
def test_the_three_tests_just_fire_and_just_do_not(label, judge, found, lacking):
    outcomes = list(find_disagreement(people(label, judge)))
    assert (len(fired(outcomes)), untested(outcomes)) == (found, lacking)


def test_people_and_judge_who_agree_by_chance():
    label, judge = [3, 3, 8, 8] * 20, [3, 8, 3, 8] * 20
    ((_, message),) = fired(find_disagreement(people(label, judge)))
    assert "alpha 0.01, at most 0.35, n = 80" in message
    middle = list(find_disagreement(people(label, judge, SCORES)))
    assert "of the middle an answer is: alpha 0.01" in fired(middle)[0][1]


def test_what_too_few_labels_leave_open():
    none = list(find_disagreement(table(GATED, [7] * 60)))
    assert none == [Untested("judged-disagrees", (), "no judged answer has a label", 60, "labelled answers", ("c0",))]
    few = list(find_disagreement(people([3, 8, 8, None], [3, 8, 8, 8])))
    assert [(reason.partition(":")[0], needed) for _, reason, needed, _ in untested(few)] == [
        ("bad answers caught", 10),
        ("direction of the differences", 11),
        ("agreement", 60),
    ]
    *_, (names, reason, needed, _) = untested(find_disagreement(people([8] * 60, [8] * 60)))
    assert (names, reason, needed) == (("c0",), "agreement: fewer than 5 labelled answers on one side", 5)


# judged-order and judged-length: permutation tests


def test_a_permutation_test_gives_the_same_p_on_every_machine():
    rising = Link(range(30), [number // 3 for number in range(30)])
    weak = Link([number * 7 % 30 for number in range(30)], [number // 3 for number in range(30)])
    assert find_links([rising, weak, Link(range(30), [4] * 30)], [30], 3) == [1 / 2160, None, None]
    # Only what differs within a group counts: here the groups differ, and nothing else.
    assert find_links([Link([0, 1] * 15 + [5, 6] * 15, [0, 0] * 15 + [9, 9] * 15)], [30, 30], 1) == [None]


def test_the_p_of_a_permutation_test_is_that_of_all_orders():
    """Of 2^12 exchanges within pairs, those that undo none or all, or all but one, are as extreme: 2 and 24."""
    pairs = Link([0, 1] * 12, [0, 2] * 11 + [2, 0])
    (p,) = find_links([pairs], [2] * 12, 10)
    assert p is None
    (p,) = find_links([Link([0, 1] * 12, [0, 2] * 12)], [2] * 12, 1)
    assert p == pytest.approx(2 / 2**12, abs=0.0015)


def asked(values, places, sizes=None, answers=60):
    """A table of two criteria, the first of which was asked for at these places."""
    other = [1 - place for place in places]
    made = table(GATED_TWO, [7] * answers, [7] * answers)
    positions = [values, [7] * len(values)]
    return made._replace(asked=Asked([places, other], positions, sizes or [len(values)], answers))


GATED_TWO = rubric(f"  - {{id: c0, {BANDS}}}\n  - {{id: c1, {BANDS}}}\n")


@pytest.mark.parametrize(
    ("values", "sizes", "found"),
    [
        (
            [8, 6] * 30,
            None,
            ["its mean value falls by 2.0 from the first to the last place in the request (60 answers"],
        ),
        (
            [6, 7] * 60,
            [2] * 60,
            ["its mean value rises by 1.0 from the first to the last place in the request (60 ans"],
        ),
        ([8, 6, 6, 8] * 15, None, []),
        ([2, 2, 9, 9] * 30, [2] * 60, []),
    ],
)
def test_a_value_that_follows_the_place_of_its_criterion(values, sizes, found):
    outcomes = list(find_order(asked(values, [0, 1] * (len(values) // 2), sizes)))
    assert [(name, text[: len(found[0])]) for name, text in fired(outcomes)] == [("c0", text) for text in found]
    assert untested(outcomes) == []


@pytest.mark.parametrize(
    ("judged", "lacking"),
    [
        (table(GATED, [7] * 60), []),
        (table(GATED_TWO, [7] * 60, [7] * 60), ["no answers were judged with the criteria in a recorded random order"]),
        (asked([8, 6], [0, 1], answers=1), ["1 answer was judged with the criteria in a recorded random order"]),
    ],
)
def test_too_few_orders(judged, lacking):
    expected = [(("c0", "c1"), reason, 60, "answers judged with `--shuffle`") for reason in lacking]
    assert untested(find_order(judged)) == expected


def long_answers(label, judge, lengths, of=GATED):
    """A table of one criterion from labels, values of the judge, and lengths of the answers."""
    return table(of, judge, labels=[label])._replace(lengths=lengths)


@pytest.mark.parametrize(
    ("judge", "found"),
    [
        ([6 + number // 20 for number in range(60)], [("c0", "higher", "r = 0.94")]),
        ([8 - number // 20 for number in range(60)], [("c0", "lower", "r = -0.94")]),
        ([6, 7, 8] * 20, []),
        ([7] * 60, []),
    ],
)
def test_a_judge_that_differs_from_people_with_the_length_of_an_answer(judge, found):
    outcomes = list(find_length(long_answers([7] * 60, judge, range(100, 160))))
    words = [(name, text) for name, text in fired(outcomes)]
    assert [name for name, _ in words] == [name for name, *_ in found]
    assert [
        [part for part in parts if part not in text] for (_, text), (_, *parts) in zip(words, found, strict=True)
    ] == [[] for _ in found]
    assert untested(outcomes) == []


def test_the_score_may_follow_the_length_where_no_criterion_does():
    """Each of two judged values errs upward in a quarter of the long answers, too little to be told alone."""
    by_turns = [[7 + (number > 29 and number % 4 == side) for number in range(60)] for side in (0, 1)]
    judged = table(GATED_TWO, *by_turns, labels=[[7] * 60] * 2)._replace(lengths=[*range(60)])
    ((name, message),) = fired(find_length(judged))
    assert (name, message.startswith("the longer an answer, the higher its score by the judge is")) == (None, True)


def test_a_criterion_that_people_left_out_says_nothing_about_lengths():
    labels = [[7] * 120, [7] * 60 + [None] * 60]
    judged = table(GATED_TWO, [7] * 120, [7] * 120, labels=labels)._replace(lengths=[*range(120)])
    assert list(find_length(judged)) == []


@pytest.mark.parametrize(
    ("labels", "lengths", "reason", "needed"),
    [
        ([None] * 60, [9] * 60, "no judged answers have a label", 60),
        ([7] * 59 + [None], range(60), "59 judged answers have a label", 60),
        ([7] * 60, [None] * 60, "60 judged answers have a label, and none of them a text in `answer`", 60),
        ([7] * 60, (), "60 judged answers have a label, and none of them a text in `answer`", 60),
        ([7] * 60, [9] * 60, "all 60 labelled answers are equally long", 2),
    ],
)
def test_too_few_labels_or_texts_to_see_the_influence_of_length(labels, lengths, reason, needed):
    ((names, told, count, _),) = untested(find_length(long_answers(labels, [7] * 60, lengths)))
    assert (names, told, count) == (("c0",), reason, needed)


# By criterion


def test_for_each_criterion_what_fired_what_did_not_and_what_cannot_be_tested():
    judged = table(checks(3), *repeat(INVERSE, 10))
    found = {name: (fired, quiet, lacking) for name, fired, quiet, lacking in sort_by_criterion(judged, decide(judged))}
    assert list(found) == ["c0", "c1", "c2", None]
    told = [
        ([each.rule for each in fired], quiet, [each.rule for each in lacking])
        for fired, quiet, lacking in found.values()
    ]
    quiet = ("judged-constant", "judged-ceiling", "judged-redundant")
    lacking = ["judged-unstable", "judged-disagrees", "judged-order", "judged-length"]
    assert told == [
        ([], (*quiet, "judged-inverse"), lacking),
        ([], (*quiet, "judged-inverse"), lacking),
        (["judged-inverse"], quiet, lacking),
        ([], (), ["judged-unstable", "judged-length"]),
    ]
