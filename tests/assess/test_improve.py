"""The decision whether another wording measures better: never without a difference, never when it is worse."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_lint.assess.agreement.ratings import Judgement, Ratings
from rubric_lint.assess.improve.trial import (
    LEVEL,
    CriterionFault,
    Gain,
    PairedJudgements,
    TrialReason,
    can_gain,
    decide_trial,
    join_parts,
    join_splits,
)
from rubric_lint.scoring.grading import NOT_APPLICABLE, JudgeOutput
from rubric_lint.scoring.loading import load_rubrics

TWO = load_rubrics(
    "two.yaml",
    "rubrics:\n  - {id: a, expected_outcome: It is so, required_min_score: 10}\n"
    "  - {id: b, expected_outcome: It was so}\n",
)["two"]

UNSTABLE, WORDED = frozenset({"judged-unstable"}), frozenset({"vague-outcome"})


def sign(answers, rubric=TWO):
    return tuple(answers), rubric.grade(JudgeOutput(tuple(answers), (None,) * len(answers))).verdict


def rate(rows, rubric=TWO):
    """Judgements of answers, each by its samples of both criteria."""
    found = {}
    for number, samples in enumerate(rows):
        signatures = tuple(sign(sample, rubric) for sample in samples)
        worst = tuple(
            sorted(signature[0][place] for signature in signatures)[(len(samples) - 1) // 2] for place in (0, 1)
        )
        found[f"k{number:03}"] = Judgement(sign(worst, rubric), None, signatures)
    return found


def label(rows, rubric=TWO):
    return {f"k{number:03}": Judgement(sign(row, rubric)) for number, row in enumerate(rows)}


def pair(before, after, people=None):
    ratings = Ratings(TWO, {"m": rate(before)}, {"ann": label(people)} if people else {})
    return PairedJudgements(ratings, {"m": rate(after)})


def steady(*values):
    """Rows of two equal samples, the second criterion met throughout."""
    return [[(value, True)] * 2 for value in values]


FLIPS = [[(True, True), (False, True)]]
TRUTH, MORE = [True, True, False] * 14, [True, True, False] * 30
NOISY = [row[0] if number % 3 else FLIPS[0] for number, row in enumerate([[each] for each in steady(*TRUTH)])]


@pytest.mark.parametrize(
    ("before", "after", "people", "rules", "reason", "gained"),
    [
        (NOISY, steady(*TRUTH), None, UNSTABLE, TrialReason.BETTER, {Gain.STEADY}),
        (NOISY[:29], steady(*TRUTH[:29]), None, UNSTABLE, TrialReason.FEW, set()),
        (NOISY, NOISY, None, UNSTABLE, TrialReason.STILL, set()),
        (steady(*TRUTH), steady(*TRUTH), None, WORDED, TrialReason.NO_BETTER, set()),
        (NOISY, steady(*[True] * 42), None, UNSTABLE, TrialReason.TIES, {Gain.STEADY}),
        (NOISY, steady(*[not each for each in TRUTH]), None, UNSTABLE, TrialReason.OTHER_MEANING, {Gain.STEADY}),
        (steady(*[True] * 42), steady(*TRUTH), TRUTH, WORDED, TrialReason.BETTER, {Gain.CAUGHT, Gain.NEARER}),
        # 30 bad answers and 60 good ones show that hardly any got worse.
        (steady(*[True] * 90), steady(*MORE), MORE, WORDED, TrialReason.BETTER, {Gain.CAUGHT, Gain.NEARER, Gain.APART}),
        (steady(*TRUTH), steady(*[True] * 42), TRUTH, WORDED, TrialReason.WORSE, set()),
        (steady(*TRUTH), steady(*[False] * 42), TRUTH, WORDED, TrialReason.WORSE, set()),
        # It catches every bad answer, and fails the good ones too.
        (steady(*[True] * 42), steady(*[False] * 42), TRUTH, WORDED, TrialReason.WORSE, {Gain.CAUGHT}),
    ],
)
def test_what_is_decided(before, after, people, rules, reason, gained):
    labels = people and [(person, True) for person in people]
    decided = decide_trial(pair(before, after, labels), CriterionFault(0, rules, 3))
    assert (decided.reason, set(decided.gained)) == (reason, gained)


def is_harmless(answers, worse, better):
    """Whether a wording passes the guard by which so many of the bad answers turned to wrong, and to right."""
    labels, rest = [(False, True)] * answers, [False] * (answers - worse - better)
    before, after = ([met] * worse + [not met] * better + rest for met in (False, True))
    return not pair(steady(*before), steady(*after), labels).may_harm(0, Gain.CAUGHT)


@pytest.mark.parametrize(("answers", "most"), [(28, -1), (29, 0), (45, 0), (46, 1), (100, 4)])
def test_what_turns_a_tenth_of_the_answers_to_wrong_gets_past_the_guard_in_one_of_twenty_at_most(answers, most):
    assert [is_harmless(answers, worse, worse) for worse in range(6)] == [worse <= most for worse in range(6)]
    chances = [math.comb(answers, worse) * 0.1**worse * 0.9 ** (answers - worse) for worse in range(most + 2)]
    assert sum(chances[:-1]) <= 0.05 < sum(chances)
    assert not is_harmless(answers, 2, 1)


@pytest.mark.slow
def test_nothing_is_asked_that_cannot_succeed():
    right, wrong = steady(*TRUTH), steady(*[not TRUTH[0], not TRUTH[1], *TRUTH[2:]])
    disagrees = frozenset({"judged-disagrees"})
    people = [(each, True) for each in TRUTH]
    for before, labels, rules, found in (
        (NOISY, None, UNSTABLE, True),
        (right, None, UNSTABLE, False),
        (NOISY[:3] + right[3:], None, UNSTABLE, False),
        (right, people, disagrees, False),
        (wrong, people, disagrees, False),
        (steady(*[True] * 42), people, disagrees, True),
        (right, people, WORDED, False),
        (steady(*MORE), [(each, True) for each in MORE], WORDED, True),
    ):
        ratings = pair(before, before, labels).before
        assert can_gain(ratings, CriterionFault(0, rules, 4)) is found


def test_more_proposals_ask_for_a_smaller_p():
    pairs = pair(NOISY, steady(*TRUTH))
    p = pairs.measure(0)[Gain.STEADY].p
    most = int(float(LEVEL) / p)
    assert [decide_trial(pairs, CriterionFault(0, UNSTABLE, count)).is_better for count in (1, most, most + 1)] == [
        True,
        True,
        False,
    ]


def test_another_criterion_that_got_worse_is_named():
    after = [[(met, True), (met, number % 2 == 0)] for number, met in enumerate(TRUTH)]
    decided = decide_trial(pair(NOISY, after), CriterionFault(0, UNSTABLE, 1))
    assert decided.reason is TrialReason.OTHERS_WORSE
    assert {figure.of for figure in decided.figures} >= {"a", "b"}


def test_people_who_contradict_each_other_label_nothing():
    ratings = Ratings(
        TWO,
        {"m": rate(steady(*TRUTH))},
        {"ann": label([(True, True)] * 42), "bob": label([(False, True)] * 42)},
    )
    pairs = PairedJudgements(ratings, ratings.judges)
    assert (pairs.measure(0).keys(), pairs.count_contradicting(0)) == ({Gain.STEADY}, 42)
    assert Gain.NEARER in pairs.measure(1)


ROWS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), min_size=30, max_size=60)
RULES = st.sampled_from([UNSTABLE, WORDED, frozenset({"judged-disagrees"})])


def as_samples(rows):
    return [[(one, other), (two, more)] for one, two, other, more in rows]


@pytest.mark.slow
@given(ROWS, ROWS, RULES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_nothing_is_offered_where_nothing_differs_or_it_is_worse(rows, others, rules, has_labels):
    before, after = as_samples(rows), as_samples(others)
    size = min(len(before), len(after))
    people = [(one, more) for one, _, _, more in rows[:size]] if has_labels else None
    same = pair(before[:size], before[:size], people)
    assert not decide_trial(same, CriterionFault(0, rules, 1)).is_better
    pairs = pair(before[:size], after[:size], people)
    decided = decide_trial(pairs, CriterionFault(0, rules, 1))
    if decided.is_better:
        figures = pairs.measure(0)
        assert not any(figure.loses(float(LEVEL)) for figure in figures.values())
        assert any(
            figures[test].gains(float(LEVEL)) for test in decided.gained if test in figures
        ) or decided.gained == (Gain.APART,)


def test_a_split_is_met_if_all_its_parts_are():
    signature = ((True, True, False), None)
    judges = {"m": {"k": Judgement(signature, None, (signature, ((True, True, True), None)))}}
    folded = join_splits(judges, ((0, 2), (1,)))["m"]["k"]
    assert (folded.given[0], [sample[0] for sample in folded.samples]) == ((False, True), [(False, True), (True, True)])


# Criteria that may not apply


CONDITIONAL = {
    "$schema": "https://rubric-lint.github.io/schemas/v3/rubric.json",
    "id": "r",
    "criteria": [
        {"id": "a", "expected_outcome": "It ends", "required_min_score": 10, "applies_if": "It is a story"},
        {"id": "b", "expected_outcome": "It is kind", "required_min_score": 10},
    ],
}
(MAY_NOT_APPLY,) = load_rubrics("r.rubric.json", json.dumps(CONDITIONAL)).values()
NOT = NOT_APPLICABLE


def pair_conditional(before, after, people):
    labels = {"ann": label([(person, True) for person in people], MAY_NOT_APPLY)} if people else {}
    ratings = Ratings(MAY_NOT_APPLY, {"m": rate(before, MAY_NOT_APPLY)}, labels)
    return PairedJudgements(ratings, {"m": rate(after, MAY_NOT_APPLY)})


@pytest.mark.parametrize(
    ("before", "after", "people", "rules", "reason", "gained"),
    [
        # A judge that no longer answers what it got wrong, or what was noisy, is not better.
        (steady(*[True] * 90), steady(*[each or NOT for each in MORE]), MORE, WORDED, TrialReason.NO_BETTER, set()),
        (steady(*MORE), steady(*[each or NOT for each in MORE]), MORE, WORDED, TrialReason.WORSE, set()),
        (NOISY, steady(*[NOT] * 42), None, UNSTABLE, TrialReason.OTHER_MEANING, {Gain.STEADY}),
        # One that answers now is, and what people leave out counts nowhere.
        (steady(*[NOT] * 90), steady(*MORE), MORE, WORDED, TrialReason.BETTER, {Gain.CAUGHT, Gain.NEARER}),
        (steady(*[True] * 42), steady(*TRUTH), [NOT] * 42, WORDED, TrialReason.NO_BETTER, set()),
    ],
)
def test_what_does_not_apply_is_no_gain(before, after, people, rules, reason, gained):
    decided = decide_trial(pair_conditional(before, after, people), CriterionFault(0, rules, 3))
    assert (decided.reason, set(decided.gained)) == (reason, gained)


def test_what_people_leave_out_is_no_contradiction():
    pairs = pair_conditional(steady(*TRUTH), steady(*TRUTH), [NOT] * 42)
    assert pairs.count_contradicting(0) == 0


@pytest.mark.parametrize(
    ("parts", "whole"), [((True, NOT), True), ((False, NOT), False), ((NOT, NOT), NOT), ((NOT,), NOT), ((3,), 3)]
)
def test_a_split_criterion_is_met_if_all_its_parts_that_apply_are(parts, whole):
    assert join_parts(parts) == whole
