"""The rules on judged data: when each fires, when it just does not, and what it cannot decide."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from raters import lines

from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.agreement.scales import find_cut
from rubric_lint.assess.judged.outcomes import JudgedStatement, count_in_a_row, share_of
from rubric_lint.assess.judged.rules import (
    JUDGED_FINDERS,
    apply_rules,
    correlate_with_rest,
    correlate_within,
    find_disagreement,
    find_flat,
    find_inverse,
    find_length,
    find_unstable,
    sort_by_criterion,
)
from rubric_lint.assess.judged.table import JudgedTable, build_table, make_columns
from rubric_lint.assess.measure.bounds import (
    incomplete_beta,
    lower_bound,
    lower_tail,
    t_quantile,
    upper_bound,
    upper_tail,
)
from rubric_lint.assess.measure.labelled import Cut, LabelledAnswers
from rubric_lint.assess.measure.shares import LabelledAnswer
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring.loading import load_rubrics

DATA = Path(__file__).parents[1] / "data"
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
    return JudgedTable(columns, keys, flips or {None: Fraction(0)}, samples, sampled=sampled, rubric=of)


def say(outcomes):
    """What each outcome decides, of which criterion, gate or answer; or why it decides nothing, and what would do."""
    said = []
    for outcome in outcomes:
        if isinstance(outcome, JudgedStatement):
            message = BY_NAME[outcome.rule].write(outcome.code, outcome.values)
            said.append(f"{', '.join(map(str, outcome.target))}: {outcome.rule}: {message}")
        else:
            about = " and ".join(outcome.names or outcome.concerns)
            said.append(f"{outcome.rule} on {about}: {outcome.reason}; {outcome.needed} {outcome.unit}")
    return said


def test_samples_of_the_verdict_alone_show_nothing_of_a_criterion():
    """One answer whose samples differ, and 39 with two verdicts each, of which nobody knows the answers to criteria."""
    of = checks(2)
    written = [[{"id": "c0", "satisfied": is_met}, {"id": "c1", "satisfied": True}] for is_met in (True, False)]
    records = [{"id": "a0", "rater": "m", "output": {"checks": judged}} for judged in written]
    records += [{"id": f"a{number}", "rater": "m", "verdict": "pass"} for number in range(1, 40) for _ in range(2)]
    reader = RatingReader({of.name: of})
    reader.read("results.jsonl", [lines(records).encode()])
    (ratings,) = reader.gather()
    judged = build_table(ratings, of)
    assert (judged.sampled, judged.flips, judged.sampled_of) == (40, {0: 1, 1: 0, None: Fraction(1, 40)}, {0: 1, 1: 1})
    outcomes = [(outcome.names, outcome.reason) for outcome in find_unstable(judged)]
    assert outcomes == [((name,), "1 answer with several samples that have a value for it") for name in ("c0", "c1")]


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
            assert count_in_a_row(share, Fraction(1, 120) / tests) == needed


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
    assert len(JUDGED_FINDERS) == 5
    assert share_of(10) * 10 * 5 == Fraction(1, 20)


GATED_TWO = rubric(f"  - {{id: c0, {BANDS}}}\n  - {{id: c1, {BANDS}}}\n")
INVERSE = ([1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1])
BOTH = [0, 1] * 30
FEW = [0] * 15 + [1] * 6 + [0] * 9
HIGHER_IF_BAD = [8 if number % 2 else 2 + number // 40 for number in range(120)]
BETTER = [3 if number < 150 else 8 for number in range(300)]
HONEST = [label if number % 10 else 11 - label for number, label in enumerate(BETTER)]
BY_TURNS = [[7 + (number > 29 and number % 4 == side) for number in range(60)] for side in (0, 1)]


def repeat(columns, times):
    return [column * times for column in columns]


def people(label, judge, of=GATED):
    """A table of one criterion from labels of one person and values of the judge, each answer of another text."""
    made = table(of, judge, labels=[label])
    known = [number for number, each in enumerate(label) if each is not None]
    good, cut = made.columns[0].measure.meets, None
    if good is None:
        steps = [made.columns[0].measure.step(score) for score in range(11)]
        first = find_cut([steps[label[number]] for number in known], 11)
        if first is None:
            return made._replace(compared={"m": {}})
        good = [step >= first for step in steps]
        cut = Cut(str(good.index(True) - 1), str(good.index(True)), costs=False)
    answers = tuple(LabelledAnswer(number, {"ann": good[label[number]]}, (good[judge[number]],)) for number in known)
    return made._replace(
        compared={"m": {0: LabelledAnswers(tuple(made.keys[number] for number in known), answers, cut)}}
    )


def verdicts(good, judged, of=None):
    """A table with labels of the verdict, alone or beside those of a criterion; None is an invalid output."""
    pairs = enumerate(zip(good, judged, strict=True))
    answers = tuple(LabelledAnswer(at, {"ann": label}, (run,)) for at, (label, run) in pairs)
    made = of or table(GATED, [7] * len(good), labels=[[None] * len(good)])
    compared = {**made.compared.get("m", {}), None: LabelledAnswers(tuple(made.keys), answers)}
    return made._replace(compared={"m": compared}, bare=0 if of else len(good))


def flipping(count, verdicts, gates):
    """A table of answers with samples, in so many of which the verdict and the gate flip."""
    flips = {place: Fraction(flipped) / (count or 1) for place, flipped in ((None, verdicts), (0, gates))}
    return table(GATED, [7] * max(count, 60), flips=flips, samples=(2,), sampled=count)


def long_answers(label, judge, lengths=range(100, 160)):
    """A table of one criterion from labels, values of the judge, and lengths of the answers."""
    return people(label, judge)._replace(lengths=lengths)


def by_length(*judge, labels):
    """A table of two criteria, each answer longer than the one before."""
    return table(GATED_TWO, *judge, labels=labels)._replace(lengths=[*range(len(judge[0]))])


RULES = {
    # 1 criterion, so 21 answers are enough
    find_flat: {
        "all met": table(checks(1), [1] * 21),
        "all missed": table(checks(1), [0] * 21),
        "nearly all met": table(checks(1), [1] * 58 + [0] * 2),
        "four in five met": table(checks(1), [1] * 48 + [0] * 12),
        "one band": table(SCORES, [7, 8] * 30),
        "two bands": table(SCORES, [6, 8] * 30),
        "one level": table(LEVELS, [1] * 50),
        "people find it met": people([0, 1, 1, *[None] * 77], [0] * 80, checks(1)),
        "people give the same band": people([9, 8, 8, *[None] * 77], [9] * 80, SCORES),
        "people give another band": people([9, 2, 2, *[None] * 77], [9] * 80, SCORES),
        "people differ elsewhere": people([None] * 77 + [8, 3, 3], [9] * 77 + [6] * 3, SCORES),
        "too few answers for 2 criteria": table(checks(2), [1] * 23, [0] * 23),
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
    find_inverse: {
        "one rises when the others fall": table(checks(3), *repeat(INVERSE, 10)),
        "two criteria": table(checks(2), *repeat(INVERSE[:2], 10)),
        "few answers": table(checks(3), *repeat(INVERSE, 4)),
        "one criterion": table(checks(1), *repeat(INVERSE[:1], 10)),
        "one does not vary": table(checks(3), BOTH, BOTH, [1] * 60),
        "one hardly varies": table(checks(3), BOTH, BOTH, [0] * 2 + [1] * 58),
        "one alone varies": table(checks(3), BOTH, [1] * 60, [0] * 60),
        "what chance reaches, though not by Student's t": table(checks(3), [1] * 15 + [0] * 15, *[FEW] * 2),
        "one more": table(checks(3), [1] * 15 + [0] * 15, *[[0] * 15 + [1] * 7 + [0] * 8] * 2),
    },
    # judged-disagrees: 1 criterion, so each bound is wrong in 1 of 120; 3 of 60 labels may be slips
    find_disagreement: {
        "bad answers are missed": people([3] * 30 + [8] * 30, [8] * 19 + [3] * 11 + [8] * 30),
        "4 of 15 are caught, 12 without slips": people([3] * 15 + [8] * 45, [8] * 11 + [3] * 4 + [8] * 45),
        "6 of 15 are caught, perhaps 80%": people([3] * 15 + [8] * 45, [8] * 9 + [3] * 6 + [8] * 45),
        "good answers are stopped": people([8] * 30 + [3] * 30, [3] * 20 + [8] * 10 + [3] * 30),
        "all differ in value, none in side": people([8] * 30 + [3] * 30, [9] * 30 + [2] * 30),
        "agreement": people([8] * 30 + [3] * 30, [8] * 30 + [3] * 30),
        "chance without a gate": people([3, 3, 8, 8] * 20, [3, 8, 3, 8] * 20, SCORES),
        "no labels": table(GATED, [7] * 60),
        "few labels": people([3, 8, 8, None], [3, 8, 8, 8]),
        "labels on one side": people([8] * 60, [8] * 60),
        "verdicts alone": verdicts([False] * 30 + [True] * 30, [True] * 19 + [False] * 11 + [True] * 30),
        "verdicts that are the same": verdicts([False] * 30 + [True] * 30, [False] * 30 + [True] * 30),
        "few verdicts": verdicts([False, True, True], [True] * 3),
        "invalid outputs": verdicts([False] * 30 + [True] * 30, [None] * 19 + [False] * 11 + [True] * 30),
        "verdicts and a criterion": verdicts([False] * 60, [True] * 60, people([3] * 60, [8] * 60)),
        "verdicts and not the criterion": verdicts([False] * 60, [True] * 60, people([3, 8] * 30, [3, 8] * 30)),
    },
    find_length: {
        "higher": long_answers([7] * 60, [6 + number // 20 for number in range(60)]),
        "lower": long_answers([7] * 60, [8 - number // 20 for number in range(60)]),
        "higher among the bad ones alone": long_answers([3, 8] * 60, HIGHER_IF_BAD, range(120)),
        "errors of an honest judge where better answers are longer": long_answers(BETTER, HONEST, range(300)),
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


WEIGHTS = (("a", 9), ("b", 1), ("c", 1))


def test_the_rest_is_not_weighted():
    heavy = rubric("".join(f"  - {{id: {name}, weight: {weight}, expected_outcome: X}}\n" for name, weight in WEIGHTS))
    columns = repeat(INVERSE, 5)
    plain = correlate_with_rest(table(checks(3), *columns).columns)
    assert correlate_with_rest(table(heavy, *columns).columns) == plain
    assert plain[2] == (pytest.approx(-0.8660254038), 30)
    assert correlate_with_rest(table(checks(2), [1, 1], [0, 1]).columns) == [(None, 2), (None, 2)]


def test_only_differences_within_groups_correlate():
    rising = list(range(40))
    by_group = [number // 20 for number in rising]
    assert correlate_within(rising, by_group, by_group) is None
    assert correlate_within(rising, [number % 20 for number in rising], by_group).r == pytest.approx(1)
    falling = correlate_within(rising, [-number for number in rising], by_group)
    assert (falling.r, falling.p < 1e-9) == (pytest.approx(-1), True)
    assert correlate_within(rising[:31], rising[:31], [0] * 31) is None
    # Of one group it is Spearman's test.
    mixed = [number * 7 % 40 for number in range(40)]
    weak = correlate_within(range(40), mixed, [0] * 40)
    r = 1 - 6 * sum((one - two) ** 2 for one, two in enumerate(mixed)) / (40 * (40**2 - 1))
    assert weak.r == pytest.approx(r)
    assert t_quantile(weak.p / 2, 38) == pytest.approx(abs(r) * math.sqrt(38 / (1 - r * r)))


# By criterion


def test_for_each_criterion_what_fired_what_did_not_and_what_cannot_be_tested():
    judged = table(checks(3), *repeat(INVERSE, 10))
    outcomes = apply_rules(judged)
    assert [outcome.target.criterion for outcome in outcomes if isinstance(outcome, JudgedStatement)] == ["c2"]
    found = sort_by_criterion(judged, outcomes)
    assert [each.criterion for each in found] == ["c0", "c1", "c2", None]
    told = [(quiet, [each.rule for each in lacking]) for _, quiet, lacking in found]
    quiet = ("judged-flat",)
    lacking = ["judged-unstable", "judged-disagrees", "judged-length"]
    assert told == [
        ((*quiet, "judged-inverse"), lacking),
        ((*quiet, "judged-inverse"), lacking),
        (quiet, lacking),
        ((), ["judged-unstable", "judged-length"]),
    ]
