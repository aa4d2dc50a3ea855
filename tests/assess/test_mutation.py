"""Changes of a rubric: which of them cannot alter a verdict, held to the enumeration of all answers."""

import json
import time
from decimal import Decimal
from fractions import Fraction
from itertools import count, product
from math import prod
from random import Random

import pytest
from cases import read_cases
from hypothesis import assume, given
from hypothesis import strategies as st
from random_3 import random_rubric
from steps import steps

from rubric_lint.assess.rubric_tests.changes import pair_grades
from rubric_lint.assess.rubric_tests.mutation import (
    MOST_STEPS,
    Equivalence,
    Sums,
    TooManySumsError,
    mutate,
)
from rubric_lint.assess.rubric_tests.running import Runner
from rubric_lint.assess.rubric_tests.tree_mutation import TreeEquivalence
from rubric_lint.lint.project.files import File
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.model.criterion import Thresholds
from rubric_lint.scoring.grading import JudgeOutput, NothingAppliesError
from rubric_lint.scoring.loading import RubricPlaces, load_models, prepare

TABLES = read_cases(__file__)

WEIGHTS = ["1", "1", "2.0", "0.5", "3", "0.1", "7", "0"]


def load(rubrics):
    """The only rubric of a file with this data, ready for scoring, and its places."""
    loaded = load_models("a.rubric.json", json.dumps({"rubrics": rubrics}).encode())["a"]
    return loaded.prepare(), RubricPlaces(loaded)


def answers_of(rubric):
    return product(*([grade.answer for grade in criterion.grades] for criterion in rubric.criteria))


def verdict(rubric, answers):
    return rubric.grade(JudgeOutput(answers, (None,) * len(answers))).verdict


def alters(rubric, mutant):
    """Whether any answer gets another verdict, by looking at all of them."""
    return any(verdict(rubric, each) is not verdict(mutant.rubric, each) for each in answers_of(rubric))


@st.composite
def criteria(draw, count, scale, gates):
    found = []
    for number in range(draw(st.integers(1, count))):
        entry = {"id": f"c{number}", "weight": float(draw(st.sampled_from(WEIGHTS))), **draw(scale)}
        if draw(st.booleans()):
            name, values = gates(entry)
            entry[name] = draw(st.sampled_from(values))
        found.append(entry)
    assume(any(entry["weight"] for entry in found))
    return found


CHECKS = st.just({"expected_outcome": "Names the day"})
BANDS = {"score_ranges": {"0": "Names no day", "5": "Names the day"}}
RANGES = st.just(BANDS)
LEVELS = st.lists(st.integers(-2, 12), min_size=2, max_size=4, unique=True).map(
    lambda numbers: {"levels": [{"level": number, "expected_outcome": f"Names {number} days"} for number in numbers]}
)
RUBRICS = st.one_of(
    criteria(5, CHECKS, lambda _: ("required_min_score", [10])),
    criteria(2, RANGES, lambda _: ("required_min_score", [0, 3, 7, 9, 10])),
    criteria(3, LEVELS, lambda entry: ("required_min_level", [level["level"] for level in entry["levels"]])),
)


def compare_with_all_answers(rubric, places):
    """Hold what is found to the enumeration of all answers."""
    equivalence = Equivalence(rubric)
    for mutant in equivalence.make_mutants(places):
        witness = equivalence.find_witness(mutant)
        assert (witness is not None) == alters(rubric, mutant), mutant.change
        if witness:
            answers = tuple(witness.answers.values())
            assert (verdict(rubric, answers), verdict(mutant.rubric, answers)) == (witness.before, witness.after)
            assert list(witness.answers) == [criterion.id for criterion in rubric.criteria]


def compare_scores(rubric, changed, mutant):
    """Hold a changed rubric to one that was loaded with the change."""
    for answers in answers_of(rubric):
        output = JudgeOutput(answers, (None,) * len(answers))
        wanted, found = changed.grade(output), mutant.rubric.grade(output)
        assert (found.score, found.verdict) == (wanted.score, wanted.verdict), mutant.change


@given(RUBRICS)
def test_a_change_is_equivalent_exactly_if_no_answer_gets_another_verdict(rubrics):
    compare_with_all_answers(*load(rubrics))


@given(RUBRICS)
def test_a_changed_weight_gives_the_score_that_a_rubric_with_that_weight_gives(rubrics):
    rubric, places = load(rubrics)
    factors = {"doubled": 2, "halved": 0.5, "becomes 0": 0}
    for mutant in Equivalence(rubric).make_mutants(places):
        factor = next((factor for word, factor in factors.items() if mutant.change.endswith(word)), None)
        if factor is None or "weight" not in mutant.change:
            continue
        changed = [dict(entry) for entry in rubrics]
        changed[mutant.number]["weight"] = float(Fraction(str(changed[mutant.number]["weight"])) * Fraction(factor))
        compare_scores(rubric, load(changed)[0], mutant)


def load_points(points, pass_at, borderline_at):
    """A rubric whose criteria earn and cost points, with thresholds, and its places."""
    criteria = [
        {"criterion": f"Names part {number}", "points": point, "tags": []} for number, point in enumerate(points)
    ]
    (loaded,) = load_models("a.json", json.dumps({"rubrics": criteria}).encode()).values()
    model = loaded.rubric._replace(thresholds=Thresholds(Decimal(pass_at), Decimal(borderline_at)))
    return prepare(model, "a"), RubricPlaces(loaded)


POINTS = st.lists(st.sampled_from([5, 3, 1, -1, -2, -4, -9, 0]), min_size=1, max_size=5).filter(
    lambda points: max(points) > 0
)
THRESHOLDS = st.sampled_from([("0.8", "0.6"), ("0.5", "0.5"), ("0.3", "0"), ("0", "0"), ("1", "0.1")])


@given(POINTS, THRESHOLDS)
def test_with_points_to_lose_a_change_is_equivalent_exactly_if_no_answer_gets_another_verdict(points, thresholds):
    compare_with_all_answers(*load_points(points, *thresholds))


@pytest.mark.slow
@given(POINTS, THRESHOLDS)
def test_changed_points_give_the_score_that_a_rubric_with_those_points_gives(points, thresholds):
    rubric, places = load_points(points, *thresholds)
    factors = {"doubled": 2, "halved": Fraction(1, 2), "removed": 0}
    for mutant in Equivalence(rubric).make_mutants(places):
        factor = next((factor for word, factor in factors.items() if mutant.change.endswith(word)), None)
        if factor is None or mutant.number is None:
            continue
        changed = [2 * point for point in points]
        changed[mutant.number] = int(changed[mutant.number] * factor)
        compare_scores(rubric, load_points(changed, *thresholds)[0], mutant)


def test_points_to_lose_are_doubled_halved_and_removed_and_thresholds_move_to_scores_that_are_cut_at_0(said):
    rubric, places = load_points([2, -3], "0.5", "0.5")
    said([mutant.change for mutant in Equivalence(rubric).make_mutants(places)])


@given(st.lists(st.sets(st.integers(-20, 30), max_size=4), min_size=1, max_size=4), st.integers(1, 10**9))
def test_sums_are_those_of_all_combinations(choices, unit):
    wanted = sorted({sum(each) for each in product(*choices)})
    sums = Sums([{number * unit for number in choice} for choice in choices])
    assert sums.least == (wanted[0] * unit if wanted else 0)
    for low in range(-82, 35):
        assert sums.lowest(low * unit) == next((each * unit for each in wanted if each >= low), None)
        for stop in (None, low, low + 3, 200):
            inside = [each * unit for each in wanted if each >= low and (stop is None or each < stop)]
            assert sums.highest(low * unit, None if stop is None else stop * unit) == (inside[-1] if inside else None)
    for total in wanted:
        parts = sums.explain(total * unit)
        assert sum(parts) == total * unit
        assert all(part // unit in choice for part, choice in zip(parts, choices, strict=True))


def test_the_cost_of_a_sum_does_not_grow_with_its_bounds():
    sums = Sums([{3}, {0, 2}])
    assert sums.highest(0, 10**4_000) == sums.highest(0, 6) == 5
    assert sums.highest(4, 5) is None
    assert sums.highest(10**4_000, 10**5_000) is None


def test_numbers_without_a_common_measure_are_refused():
    assert Sums([{0, MOST_STEPS - 7}, {0, 7}]).highest(0) == MOST_STEPS
    with pytest.raises(TooManySumsError):
        Sums([{0, MOST_STEPS - 6}, {0, 7}])


YEAR, DAY = ({"id": name, "expected_outcome": f"Names the {name}"} for name in ("year", "day"))
CHANGED = {
    "score ranges": [{"id": "accuracy", "weight": 2, "required_min_score": 7, **BANDS}, {"id": "tone", **BANDS}],
    "the gate of a check can only be removed": [{**DAY, "required_min_score": 10}, "Names the year"],
    "a holistic rubric has only its thresholds": [
        {"score_range": [0, 4], "expected_outcome": "Wrong"},
        {"score_range": [5, 10], "expected_outcome": "Right"},
    ],
    "thresholds without a score between them move alone": [YEAR],
    "thresholds with a score between them": [YEAR, DAY],
    "the borderline threshold moves no higher than the pass threshold": [
        {"id": "quality", "levels": {0: "States none", 6: "States six", 7: "States seven", 8: "States all"}}
    ],
}


@pytest.mark.parametrize("rubrics", CHANGED.values(), ids=CHANGED)
def test_the_changes_of_a_rubric(rubrics, said):
    rubric, places = load(rubrics)
    said([mutant.change for mutant in Equivalence(rubric).make_mutants(places)])


def write_many(folder, criteria, tests):
    """A rubric of so many criteria with a gate each, and so many tests that no change breaks."""
    head = "  - {id: c%d, weight: %d, required_min_score: 3, score_ranges: {0: Leaves out step %d, 3: Names step %d}}\n"
    rows = "".join(head % (number, number % 4 + 1, number, number) for number in range(criteria))
    (folder / "a.rubric.yaml").write_text(f"rubrics:\n{rows}", "utf-8")
    expect = "{verdict: [pass, borderline, fail], score: [0, 1], gates: {c0: met}}"
    listed = "".join(f"  - {{id: t{number}, expect: {expect}}}\n" for number in range(tests))
    (folder / "a.rubric-test.yaml").write_text(f"rubric: a.rubric.yaml\ntests:\n{listed}", "utf-8")
    lines = [
        json.dumps(
            {
                "id": f"t{test}",
                "output": {"checks": [{"id": f"c{n}", "score": 4 + (test + n) % 7} for n in range(criteria)]},
            }
        )
        for test in range(tests)
    ]
    (folder / "a.judged.jsonl").write_text("\n".join(lines), "utf-8")


def run_tests(folder):
    """The rubric of a folder after a run of its tests."""
    name = str(folder / "a.rubric-test.yaml")
    finder = SettingsFinder(isolated=True)
    runner = Runner(finder)
    assert runner.run(File(name, finder.for_file(name))).failed == 0
    return next(iter(runner.tested.values()))


@pytest.mark.slow
def test_twice_the_tests_are_twice_the_work(tmp_path):
    counts = []
    for tests in (40, 80):
        write_many(tmp_path, 5, tests)
        counts.append(steps(mutate, run_tests(tmp_path)))
    assert counts[1] < 2.2 * counts[0]


@pytest.mark.slow
def test_a_thousand_tests_by_two_hundred_changes_take_less_than_five_seconds(tmp_path):
    write_many(tmp_path, 29, 1000)
    begin = time.process_time()
    mutation = mutate(run_tests(tmp_path))
    assert time.process_time() - begin < 5
    assert (mutation.made, mutation.noticed) == (207, 0)


def load_3(data):
    """The only rubric of a file of version 3 with this data, ready for scoring, and its places."""
    modeline = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/v3/rubric.json\n"
    data = {"rubrics": data} if isinstance(data, list) else data
    (loaded,) = load_models("a.rubric.yaml", (modeline + json.dumps(data)).encode()).values()
    return loaded.prepare(), RubricPlaces(loaded)


def decide(rubric, grades):
    try:
        return rubric.weigh(grades).verdict
    except NothingAppliesError:
        return "unscored"


def compare_tree_with_all_answers(rubric, places):
    """Hold what is decided about each change to the verdicts on all answers."""
    equivalence = TreeEquivalence(rubric)
    for mutant in equivalence.make_mutants(places):
        pairs = [[*pair_grades(*each)] for each in zip(rubric.criteria, mutant.rubric.criteria, strict=True)]
        altered = {
            tuple(before.answer for before, _ in each): (decide(rubric, old), decide(mutant.rubric, new))
            for each in product(*pairs)
            for old, new in [zip(*each, strict=True)]
        }
        altered = {answers: verdicts for answers, verdicts in altered.items() if verdicts[0] != verdicts[1]}
        witness = equivalence.find_witness(mutant)
        assert (witness is None) == (not altered), mutant.change
        if witness:
            answers = tuple(witness.answers[criterion.id] for criterion in rubric.criteria)
            assert altered[answers] == (witness.before, witness.after), mutant.change


@pytest.mark.slow
@given(st.integers(0, 10**9))
def test_with_groups_and_conditions_a_change_is_equivalent_exactly_if_no_answer_gets_another_verdict(seed):
    dice = Random(seed)  # noqa: S311 (rubrics)
    rubric, places = next(
        found
        for found in (load_3(random_rubric(dice)) for _ in count())
        if found[0].varies and prod(len(criterion.all_grades) for criterion in found[0].criteria) <= 400
    )
    compare_tree_with_all_answers(rubric, places)


@pytest.mark.slow
@pytest.mark.parametrize("data", TABLES["TREES"].values(), ids=TABLES["TREES"])
def test_the_changes_of_a_rubric_of_version_3(data, said):
    rubric, places = load_3(data)
    equivalence = (TreeEquivalence if rubric.varies else Equivalence)(rubric)
    if rubric.varies:
        compare_tree_with_all_answers(rubric, places)
    else:
        compare_with_all_answers(rubric, places)
    decided = [(mutant.change, equivalence.find_witness(mutant)) for mutant in equivalence.make_mutants(places)]
    said([f"{change}{'' if witness else ': equivalent'}" for change, witness in decided])


@pytest.mark.slow
def test_more_scores_than_can_be_followed_are_not_decided():
    weights = [1.0001 * 1.7**number for number in range(18)]
    criteria = [
        {
            "id": f"c{at}",
            "expected_outcome": f"States part {at}",
            "weight": round(weight, 6),
            "applies_if": f"It has part {at}",
        }
        for at, weight in enumerate(weights)
    ]
    rubric, places = load_3({"criteria": criteria})
    with pytest.raises(TooManySumsError):
        list(TreeEquivalence(rubric).make_mutants(places))
