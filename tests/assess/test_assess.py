"""What decides about a judge: units of answers, the labels of several people, slips, runs and groups."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.assess.agreement.units import EMPTY, OTHER, AnswerContext, count_copies, group_units, read_context
from rubric_lint.assess.judged.outcomes import at_least, at_most, level_of_criterion
from rubric_lint.assess.measure.bounds import bound, lower_bound, upper_bound
from rubric_lint.assess.measure.decision import count_needed_units, format_target, lacks_outputs
from rubric_lint.assess.measure.groups import find_level
from rubric_lint.assess.measure.needed import MOST_LABELS, UnitsSoFar, count_labels, find_least_units
from rubric_lint.assess.measure.shares import LabelledAnswer, compare_people, measure_shares

TARGET = Fraction(4, 5)
LEVEL = 0.025


def answer(unit, *runs, is_good=True):
    return LabelledAnswer(unit, {"ana": is_good}, runs or (is_good,))


BAD = {"is_good": False}
RIGHT, WRONG = (True,), (False,)


@pytest.mark.parametrize(
    ("share", "most", "least"),
    [
        (0.7999941, "at most 79.9995%", "at least 79.9%"),
        (0.8, "at most 80.0%", "at least 80.0%"),
        (0.7, "at most 70.0%", "at least 70.0%"),
        (0.79999999999999, "at most 79.999999999999%", "at least 79.9%"),
        (1.0, "at most 100.0%", "at least 100.0%"),
        (0.0, "at most 0.0%", "at least 0.0%"),
    ],
)
def test_a_bound_is_rounded_so_that_it_stays_on_its_side_of_the_target(share, most, least):
    assert (at_most(share, TARGET), at_least(share, TARGET)) == (most, least)


def test_a_lower_bound_that_reaches_an_odd_target_has_the_digits_that_show_it():
    assert at_least(0.80056, Fraction("0.8005")) == "at least 80.05%"


def test_looks_and_judges_share_the_probability_of_an_error_and_a_share_of_nothing_has_no_value():
    assert [find_level(look, 1) for look in (1, 2, 5)] == [0.025, 0.0125, 0.005]
    assert find_level(2, 2) == 0.00625
    assert bound(0, 0, LEVEL).to_json() == {"x": 0, "n": 0, "value": None, "low": 0.0, "high": 1.0}


@given(st.integers(1, 80), st.fractions(0, 1, max_denominator=12), st.sampled_from([0.025, 0.0125, 0.001]))
def test_bounds_of_a_sum_of_shares_enclose_the_share_and_rise_with_it(n, share, level):
    x = share * n
    low, high = lower_bound(x, n, level), upper_bound(x, n, level)
    assert low <= share <= high
    assert 1 - low == pytest.approx(upper_bound(n - x, n, level))
    assert lower_bound(min(x + Fraction(1, 2), n), n, level) >= low


def test_answers_of_one_unit_count_as_one_by_their_mean():
    shares = measure_shares([answer("a", **BAD), answer("a", *RIGHT, **BAD), answer("b", **BAD), answer("a")], LEVEL)
    assert (shares.bad_caught.x, shares.bad_caught.n) == (Fraction(3, 2), 2)
    assert (shares.good_passed.x, shares.good_passed.n) == (1, 1)


def test_an_answer_without_a_record_counts_as_wrong_in_lower_bounds_alone():
    known = [answer(number) for number in range(30)]
    failed = [LabelledAnswer(f"failed {number}", {"ana": True}) for number in range(30)]
    unasked = [each._replace(was_asked=False) for each in failed]
    low, high = measure_shares([*known, *failed], LEVEL), measure_shares([*known, *unasked], LEVEL)
    assert low.good_passed.low == high.good_passed.low
    assert (low.is_below(TARGET), high.is_below(TARGET)) == (True, False)
    assert [(each.unscored, each.unasked) for each in (low, high)] == [(30, 0), (30, 30)]


def test_outputs_are_missing_if_the_others_cannot_reach_the_target():
    for failed, is_missing in ((6, False), (7, True)):
        without = [LabelledAnswer(number, {"ana": True}) for number in range(failed)]
        shares = measure_shares([*without, *map(answer, range(failed, 30))], LEVEL)
        assert lacks_outputs(shares, TARGET, None) is is_missing


def test_ties_count_against_the_judge_in_lower_bounds_while_most_answers_have_one_label():
    single = [answer(number) for number in range(30)]
    ties = [LabelledAnswer(f"tie {number}", {"ana": True, "bo": False}, (False,)) for number in range(8)]
    shares = measure_shares([*single, *ties], LEVEL)
    assert (shares.good_passed.x, shares.good_passed.n, shares.good_passed.high) == (30, 30, 1)
    assert shares.good_passed.low == lower_bound(30, 38, LEVEL)
    both = measure_shares([LabelledAnswer(n, {"ana": True, "bo": True}, (True,)) for n in range(30)] + ties, LEVEL)
    assert both.good_passed.low == lower_bound(30, 30, LEVEL)


def test_slips_of_a_single_person_are_forgiven_until_a_second_one_has_looked():
    wrong = [answer(f"wrong {number}", *WRONG) for number in range(4)]
    right = [answer(number) for number in range(36)]
    shares = measure_shares([*wrong, *right], LEVEL)
    assert (shares.slips, shares.single) == (2, (0, 1, 2, 3))
    assert shares.good_passed.high == upper_bound(36, 38, LEVEL)
    checked = [each._replace(labels={"ana": True, "bo": True}) for each in wrong]
    shares = measure_shares([*checked, *right], LEVEL)
    assert (shares.slips, shares.single, shares.good_passed.high) == (0, (), upper_bound(36, 40, LEVEL))


def test_people_disagree_if_they_do_so_on_the_answers_that_both_labelled():
    split = [LabelledAnswer(number, {"ana": True, "bo": False}, (True,)) for number in range(9)]
    alike = LabelledAnswer("alike", {"ana": True, "bo": True}, (True,))
    assert not compare_people(split).disagree(TARGET)  # nine answers show nothing
    people = compare_people([*split, alike])
    assert (people.disagree(TARGET), people.agree, people.split) == (True, Fraction(1, 10), tuple(range(9)))


def test_a_second_label_where_the_judge_differs_does_not_make_people_disagree():
    """These answers were not drawn at random: the first person's slips are among them."""
    asked = [LabelledAnswer(number, {"ana": True, "bo": number % 2 > 0}, (False,)) for number in range(20)]
    others = [answer(f"other {number}") for number in range(180)]
    assert compare_people([*asked, *others]).agree == Fraction(10 + 180, 200)


_CHINESE = "我们在三十天内接受退货但是商品必须保持原样并且附上发票否则无法办理退款手续"
_THAI = "เรารับคืนสินค้าภายในหนึ่งเดือนนับจากวันที่ซื้อถ้ายังไม่ได้ใช้งาน"


@pytest.mark.parametrize(
    ("questions", "units"),
    [
        (["Why?", "why", "WHY?!", " why "], [0, 0, 0, 0]),  # letters alone count
        (["Why, then?", "Why then"], [0, 0]),
        (["What is 12 + 7?", "What is 3 + 4?", "what is 12+7"], [0, 1, 0]),
        (["What is 12 + 7?", "What is 12 - 7?", "What is 1 + 27?", "What is 127?"], [0, 1, 2, 3]),
        (["Solve 2x + 3 = 7!", "Solve 2x - 3 = 7!", "solve 2x+3=7"], [0, 1, 0]),
        (["Is it 30 days?", "Is it 30 days!!", "Is it 14 days?"], [0, 0, 2]),
        (["12 + 7", "\uff11\uff12 + 7"], [0, 0]),
        (["มา", "ม้า", "कीमत", "कमत"], [0, 1, 2, 3]),  # vowels and tones are marks
        (["Caf\u00e9?", "Cafe\u0301?"], [0, 0]),
        (["???", "∑"], [0, 1]),
    ],
)
def test_questions_that_are_one(questions, units):
    found = group_units([AnswerContext(question) for question in questions])
    assert [found.index(each) for each in found] == units


@pytest.mark.parametrize(
    ("answers", "units"),
    [
        ([f"We take it back within a month{'!' * number}" for number in range(4)], [0, 0, 0, 0]),
        (["We take it back for 30 days", "We take it back for 14 days"], [0, 0]),
        (["It leaks", "It rusts"], [0, 1]),
        (["42", "43"], [0, 1]),
        ([_CHINESE, _CHINESE.replace("三", "六"), _CHINESE[:20], _CHINESE[::-1]], [0, 0, 2, 3]),
        ([f"{_CHINESE} 30 天", f"{_CHINESE}14天。"], [0, 0]),
        (["它漏水", "它生锈", "它漏水。"], [0, 1, 0]),
        ([_THAI, _THAI.replace("น", "ม", 1), _THAI[::-1]], [0, 0, 2]),
        (["カタカナ", "カタカタ"], [0, 1]),
    ],
)
def test_texts_that_are_near_copies(answers, units):
    """In a script without blanks a character counts as a word does."""
    about = [AnswerContext(None, answer) for answer in answers]
    found = group_units(about)
    assert [found.index(each) for each in found] == units
    assert count_copies(found) == len(units) - len(set(units))


def test_a_question_and_none_are_not_one():
    about = [AnswerContext("Why?", "It leaks."), AnswerContext(None, "It leaks."), AnswerContext(), AnswerContext()]
    assert len(set(group_units(about))) == 4
    assert count_copies(group_units(about)) == 0


def test_what_a_record_says_of_its_answer():
    record = {"id": "a", "question": "Why?", "answer": [{"role": "user", "content": "Hm."}], "output": {}}
    record |= {"language": "de", "metadata": {"topic": "pump", "tags": []}, "turns": 3, "is_new": True, "year": "3"}
    record |= {"size": 2.0, "source": "", "team": None}
    assert read_context(record, frozenset({"id", "output", "question", "answer"})) == AnswerContext(
        "Why?",
        "Hm.",
        {"language": "de", "metadata.topic": "pump", "turns": "3", "is_new": "true", "year": '"3"', "size": "2"},
        {"metadata": OTHER, "metadata.tags": OTHER, "source": EMPTY, "team": EMPTY},
    )


_ASKED = {"role": "user", "content": "Why?"}


@pytest.mark.parametrize(
    ("value", "question", "answer"),
    [
        (" Why? ", "Why?", "Why?"),
        (_ASKED, "Why?", "Why?"),
        ([_ASKED], "Why?", "Why?"),
        (
            [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}, {"text": "How?"}],
            "Why?\nHow?",
            "Why?\nHow?",
        ),
        ({"b": "Why?", "a": 1}, '{"a": 1, "b": "Why?"}', '{"a": 1, "b": "Why?"}'),
        (17, "17", "17"),
        (17.0, "17", "17"),
        (False, "false", "false"),
        ("", None, ""),
        ([], None, ""),
        (None, None, None),
    ],
)
def test_a_question_and_an_answer_of_any_kind_have_a_text(value, question, answer):
    about = read_context({"question": value, "answer": value}, frozenset({"question", "answer"}))
    assert about == AnswerContext(question, answer)
    assert AnswerContext().or_else(about) == about.or_else(AnswerContext()) == about


def test_empty_answers_are_equal_and_a_text_is_more_than_an_empty_one():
    empty = AnswerContext(None, "")
    assert len({*group_units([empty, empty, AnswerContext(), AnswerContext()])}) == 3
    assert empty.or_else(AnswerContext("Why?", "It leaks.")) == AnswerContext("Why?", "It leaks.")


@pytest.mark.parametrize(("bad", "good"), [((12, 12), (48, 48)), ((10, 16), (42, 44)), ((0, 2), (8, 8))])
def test_fewer_labels_do_not_decide_with_that_chance_and_more_looks_need_more(bad, good):
    first, third = (count_labels(UnitsSoFar(*bad), UnitsSoFar(*good), TARGET, LEVEL / look) for look in (1, 3))
    assert sum(each[1] for each in (bad, good)) < first <= third <= MOST_LABELS


@pytest.mark.parametrize(("target", "least"), [("0.8", 17), ("0.95", 72), ("0.9999999", 36_888_793), ("0.001", 1)])
def test_the_least_units_reach_a_target_and_one_fewer_does_not(target, least):
    share = Fraction(target)
    assert find_least_units(share, LEVEL) == least
    assert lower_bound(least, least, LEVEL) >= share > lower_bound(least - 1, max(least - 1, 1), LEVEL)


@pytest.mark.parametrize(
    ("target", "shown"), [("0.8", "80%"), ("0.875", "0.875"), ("0.9999999", "0.9999999"), ("0.8765", "0.8765")]
)
def test_a_target_is_shown_as_it_was_asked_for(target, shown):
    assert format_target(Fraction(target)) == shown


_TIED = LabelledAnswer(0, {"ana": True, "bo": False}, (False,))
_UNASKED = LabelledAnswer(0, {"ana": True}, was_asked=False)


@pytest.mark.parametrize(
    ("right", "wrong", "count", "more"), [(32, _TIED, 8, 136), (26, _UNASKED, 3, 62), (32, _TIED, 0, 6)]
)
def test_what_lower_bounds_count_as_wrong_stays_wrong_where_labels_to_come_are_counted(right, wrong, count, more):
    """The judge is right on all other answers, of which each class has as many."""
    known = []
    for is_good in (False, True):
        known += [LabelledAnswer((is_good, number), {"ana": is_good}, (is_good,)) for number in range(right)]
        for number in range(count):
            labels = {name: side is is_good for name, side in wrong.labels.items()}
            runs = [run is is_good for run in wrong.runs]
            known.append(wrong._replace(unit=(is_good, f"wrong {number}"), labels=labels, runs=runs))
    shares = measure_shares(known, LEVEL)
    needed = count_needed_units(shares, TARGET, LEVEL / 2)
    assert needed - shares.units == more
    later = [LabelledAnswer((number, "later"), {"ana": number % 2 > 0}, (number % 2 > 0,)) for number in range(more)]
    assert measure_shares([*known, *later], LEVEL / 2).reaches(TARGET)


def test_labels_that_a_criterion_needs_are_counted_by_the_bound_that_would_blame_the_judge():
    """All criteria share the error of that bound, so it takes more labels than one that clears the judge."""
    levels = (None, level_of_criterion(1), level_of_criterion(10))
    assert [count_labels(UnitsSoFar(20, 30), UnitsSoFar(30, 30), TARGET, LEVEL, level) for level in levels] == [
        150,
        180,
        270,
    ]
