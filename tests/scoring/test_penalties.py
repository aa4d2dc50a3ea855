"""Criteria that a bad answer meets: negative weights and negated gates. Everywhere the met answer is the worse one."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from dialect_samples import SAMPLES, UNSCORED
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.assess.agreement.scales import VERDICTS, measures_of
from rubric_lint.scoring import load_rubrics, score_samples
from rubric_lint.scoring.grading import JudgeOutput, combine_samples

LEAFLET = """\
[
  {"name": "dose", "weight": 5, "requirement": "States the dose that the leaflet gives"},
  {"name": "warning", "weight": 5, "requirement": "Names the warning about alcohol"},
  {"name": "doctor", "weight": 5, "requirement": "Tells the reader to ask a doctor when pregnant"},
  {"name": "invents", "weight": -8, "requirement": "Invents a fact that the leaflet does not hold"}
]
"""
PARSER = """\
[
  {"id": "moves", "title": "Moves the parser into a module of its own",
   "annotations": {"type": "positive verifier", "importance": "must have"}},
  {"id": "breaks", "title": "Changes the public interface of the parser",
   "annotations": {"type": "negative verifier", "importance": "must have"}}
]
"""
LEAFLET_IDS = ("dose", "warning", "doctor", "invents")
PARSER_IDS = ("moves", "breaks")


def output(ids, answers):
    return {"checks": [{"id": name, "satisfied": bool(answer)} for name, answer in zip(ids, answers, strict=True)]}


def write(name, ids, rows, **more):
    lines = [{"id": f"a{number:02}", **more, "output": output(ids, row)} for number, row in enumerate(rows)]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def spread(invents):
    """Answers of which half give the dose, two thirds the warning and a third names the doctor."""
    return [(number % 2, number % 3 < 2, number % 3 == 1, invent) for number, invent in enumerate(invents)]


@pytest.fixture(autouse=True)
def files(folder):
    """The rubrics in the test's folder."""
    (folder / "leaflet.json").write_text(LEAFLET, "utf-8")
    (folder / "parser.json").write_text(PARSER, "utf-8")


@pytest.fixture
def ask(program):
    """Calls a command: its exit code, what it prints and what it complains of, as lines."""

    def call(*arguments):
        code, out, told = program(*arguments)
        return f"exit {code}", *out.splitlines(), told

    return call


# 24 of 60 answers invent something: a judge that sees only 6 of them, and one that sees 12 more

FAULTY = [number < 24 for number in range(60)]
BLIND = [number < 6 for number in range(60)]
STRICT = [number < 36 for number in range(60)]


@pytest.mark.parametrize("judge", [BLIND, STRICT], ids=["blind", "strict"])
def test_a_bad_answer_commits_what_costs_points(judge, ask, said):
    write("labels.jsonl", LEAFLET_IDS, spread(FAULTY), rater="ana", chosen="random")
    write("judge.jsonl", LEAFLET_IDS, spread(judge))
    asked = ("--fail-below", "invents:bad-caught=0.9", "--fail-below", "invents:good-passed=0.9")
    agreed = ask("agree", "leaflet.json", "judge.jsonl", "--labels", "labels.jsonl", *asked, "--worst", "2")
    said([line for line in agreed if re.match("exit|  invents|  verdict|    |rubric-lint: ", line)])
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--labels", "labels.jsonl", "--format", "concise"))


def test_a_bad_answer_commits_what_a_negated_gate_forbids(ask, said):
    write("labels.jsonl", PARSER_IDS, [(True, number < 20) for number in range(40)], rater="ana", chosen="random")
    write("judge.jsonl", PARSER_IDS, [(True, number < 4) for number in range(40)])
    asked = ("--fail-below", "breaks:bad-caught=0.9", "--worst", "2")
    said(*ask("agree", "parser.json", "judge.jsonl", "--labels", "labels.jsonl", *asked))


TESTS = """\
rubric: leaflet.json
tests:
  - id: invented
    answer: One tablet a day. It also heals bones.
    output: {checks: [{id: dose, satisfied: true}, {id: warning, satisfied: true}, {id: doctor, satisfied: true},
      {id: invents, satisfied: CAUGHT}]}
    expect: {criteria: {invents: true}}
  - id: fine
    answer: One tablet a day, and no alcohol.
    output: {checks: [{id: dose, satisfied: true}, {id: warning, satisfied: true}, {id: doctor, satisfied: false},
      {id: invents, satisfied: false}]}
    expect: {criteria: {dose: true, invents: false}}
"""


@pytest.mark.parametrize("caught", ["true", "false"])
def test_a_planted_answer_commits_the_fault(caught, ask, said):
    Path("leaflet.rubric-test.yaml").write_text(TESTS.replace("CAUGHT", caught), "utf-8")
    said(*ask("test", "leaflet.rubric-test.yaml", "--catch-rate", "--format", "concise"))


# Rules on judged answers

SPREAD = "judged-flat"


@pytest.mark.parametrize("committed", [0, 3, 97, 100])
def test_nearly_all_or_nearly_none_commit_it(committed, ask, said):
    write("judge.jsonl", LEAFLET_IDS, spread([number < committed for number in range(100)]))
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--select", SPREAD, "--format", "concise"))


def test_people_see_faults_where_the_judge_sees_none(ask, said):
    write("judge.jsonl", LEAFLET_IDS, spread([False] * 100))
    write("labels.jsonl", LEAFLET_IDS, spread([number < 9 for number in range(100)]), rater="ana")
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--labels", "labels.jsonl", "--format", "concise"))


@pytest.mark.parametrize("errs", ["overlooks", "invents"])
def test_a_judge_that_sees_fewer_faults_than_people_is_more_lenient(errs, ask, said):
    for name, rater, is_wrong in (("labels", "ana", errs == "overlooks"), ("judge", None, errs == "invents")):
        rows = spread([number % 2 == 0 or (is_wrong and number >= 60) for number in range(120)])
        lines = [
            {"id": f"a{number:03}", "answer": "a " * number, "rater": rater, "output": output(LEAFLET_IDS, row)}
            for number, row in enumerate(rows)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    asked = ("--select", "judged-disagrees,judged-length", "--format", "concise")
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--labels", "labels.jsonl", *asked))


GOOD, BAD = (1, 1, 1), (0, 0, 0)
MIXED = [(1, 0, 1), (0, 1, 1), (1, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize("met_by", ["bad answers", "good answers"])
def test_a_penalty_is_inverse_if_good_answers_commit_it(met_by, ask, said):
    rows = [(*each, (sum(each) > 1) is (met_by == "good answers")) for each in [GOOD, BAD, *MIXED] * 20]
    write("judge.jsonl", LEAFLET_IDS, rows)
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--format", "concise"))


def test_three_penalties_beside_one_merit_leave_it_alone(ask, said):
    criteria = [("dose", 9), ("invents", -3), ("misnames", -3), ("insults", -3)]
    rubric = [{"name": name, "weight": weight, "requirement": f"It {name}"} for name, weight in criteria]
    Path("leaflet.json").write_text(json.dumps(rubric), "utf-8")
    rows = [(1, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 0), (0, 1, 1, 1), (0, 1, 1, 0), (0, 1, 0, 1)] * 20
    write("judge.jsonl", [name for name, _ in criteria], rows)
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", "--format", "concise"))


def test_an_assessment_trusts_a_judge_that_agrees_with_people(ask, said):
    rows = [(*each, sum(each) < 2) for each in [GOOD, GOOD, BAD, *MIXED] * 20]
    write("judge.jsonl", LEAFLET_IDS, rows)
    write("labels.jsonl", LEAFLET_IDS, rows, rater="ana", chosen="random")
    said(*ask("assess", "leaflet.json", "judge.jsonl", "--labels", "labels.jsonl"))


# Samples, and several people


def sample(text, ids, *rows):
    (rubric,) = load_rubrics("r.json", text).values()
    result = score_samples(rubric, [output(ids, row) for row in rows])
    answers = {
        criterion.criterion.id: (criterion.grade.answer, criterion.grade.gate_met, criterion.share)
        for criterion in result.criteria
    }
    return str(result.verdict), result.score, answers


def test_of_two_samples_the_worse_answer_counts():
    half, whole = Fraction(1, 2), Fraction(1)
    assert sample(LEAFLET, LEAFLET_IDS, (1, 1, 1, 1), (1, 0, 1, 0)) == (
        "fail",
        Fraction(17, 30),
        {
            "dose": (True, True, whole),
            "warning": (False, True, half),
            "doctor": (True, True, whole),
            "invents": (True, True, half),
        },
    )
    assert sample(PARSER, PARSER_IDS, (1, 1), (1, 0)) == (
        "fail",
        Fraction(3, 4),
        {"moves": (True, True, whole), "breaks": (True, False, half)},
    )


def test_of_two_people_the_worse_answer_counts_and_the_mean_is_where_it_was(ask, said):
    write("ana.jsonl", LEAFLET_IDS, spread(FAULTY), rater="ana", chosen="random")
    write("bob.jsonl", LEAFLET_IDS, spread(BLIND), rater="bob", chosen="random")
    write("judge.jsonl", LEAFLET_IDS, spread(FAULTY))
    labels = ("--labels", "ana.jsonl", "--labels", "bob.jsonl")
    said(*ask("agree", "leaflet.json", "judge.jsonl", *labels, "--worst", "1"))
    said(*ask("check", "leaflet.json", "--judged", "judge.jsonl", *labels, "--format", "concise"))


# The order of answers is that of one property

BANDS = """\
rubrics:
  - id: order
    required_min_score: 7
    score_ranges: {0: Wrong, 4: Nearly right, 7: Right, 10: Right in all}
"""


@pytest.mark.parametrize(
    ("costs", "gate", "order"),
    [
        (False, 7, [*range(11)]),
        (False, None, [*range(11)]),
        (True, None, [*range(10, -1, -1)]),
        (True, 7, [6, 5, 4, 3, 2, 1, 0, 10, 9, 8, 7]),
    ],
)
def test_scores_go_from_the_worst_to_the_best(costs, gate, order):
    text = BANDS if gate else BANDS.replace("    required_min_score: 7\n", "")
    (criterion,) = load_rubrics("r.yaml", text)["r"].criteria
    criterion = replace(criterion, share=-criterion.share) if costs else criterion
    assert [grade.answer for grade in criterion.from_worst] == order
    for worse, better in pairwise(order):
        assert [criterion.find_middle([better, worse], better=way) for way in (False, True)] == [worse, better]


def test_show_says_of_a_negated_gate_that_it_must_not_be_met(ask, said):
    Path("promptfooconfig.yaml").write_text(NOT, "utf-8")
    said(*ask("show", "parser.json", "promptfooconfig.yaml"))


def test_the_page_of_results_says_what_a_negated_gate_asks(program):
    write("judge.jsonl", PARSER_IDS, [(1, 0), (1, 1)])
    assert program("score", "parser.json", "judge.jsonl", "--report", "page.html")[0] == 1
    page = Path("page.html").read_text("utf-8")
    assert (page.count("must be yes"), page.count("must be no")) == (1, 1)


# Laws that hold for the rubrics of every dialect

NOT = """\
tests:
  - assert:
      - {type: llm-rubric, value: Names the policy, weight: 2}
      - {type: not-llm-rubric, value: Blames the customer}
"""


def load_all():
    """The rubrics of each dialect's sample, and of texts with criteria that cost points."""
    files = [(sample.file, sample.text) for sample in SAMPLES.values() if sample.dialect not in UNSCORED]
    files += [("leaflet.json", LEAFLET), ("parser.json", PARSER), ("promptfooconfig.yaml", NOT)]
    return [rubric for file, text in files for rubric in load_rubrics(file, text).values()]


def kind_of(rubric):
    """What scores follow from: how many grades criteria have, their gates, and which way they count."""
    return frozenset(
        (len(criterion.grades), criterion.gate, criterion.from_worst == criterion.grades)
        for criterion in rubric.criteria
    )


RUBRICS = load_all()
ONE_OF_A_KIND = [*{kind_of(rubric): rubric for rubric in RUBRICS}.values()]
TURNED = [
    place
    for rubric in RUBRICS
    for place, criterion in enumerate(rubric.criteria)
    if criterion.from_worst != criterion.grades
]


def test_there_are_criteria_that_count_the_other_way():
    assert len(TURNED) >= 9


@pytest.mark.parametrize("rubric", ONE_OF_A_KIND, ids=lambda each: each.name)
@given(data=st.data())
def test_a_better_answer_to_one_criterion_makes_no_result_worse(rubric, data):
    grades = [data.draw(st.sampled_from(criterion.grades)) for criterion in rubric.criteria]
    for at, criterion in enumerate(rubric.criteria):
        for worse, better in pairwise(criterion.from_worst):
            (points, _, verdict, _), (more, _, other, _) = (
                rubric.weigh([*grades[:at], grade, *grades[at + 1 :]]) for grade in (worse, better)
            )
            assert VERDICTS.index(other) >= VERDICTS.index(verdict)
            assert more >= points or not worse.gate_met


@pytest.mark.spread(3)
@pytest.mark.parametrize("rubric", ONE_OF_A_KIND, ids=lambda each: each.name)
@given(data=st.data())
def test_samples_come_to_what_lies_between_the_worst_and_the_best_of_them(rubric, data):
    rows = [
        [data.draw(st.sampled_from(criterion.from_worst)) for criterion in rubric.criteria]
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    middle = (len(rows) - 1) // 2
    outputs = [JudgeOutput(tuple(grade.answer for grade in row), (None,) * len(row)) for row in rows]
    found = combine_samples([rubric.grade(output) for output in outputs])
    for criterion, result, *row in zip(rubric.criteria, found.criteria, *rows, strict=True):
        ranks = sorted(criterion.from_worst.index(grade) for grade in row)
        assert criterion.from_worst.index(result.grade) == ranks[middle]
    assert VERDICTS.index(found.verdict) == sorted(VERDICTS.index(rubric.weigh(row).verdict) for row in rows)[middle]


@pytest.mark.parametrize("rubric", ONE_OF_A_KIND, ids=lambda each: each.name)
def test_what_is_compared_calls_the_worst_answer_bad_and_the_best_good(rubric):
    for measure in measures_of(rubric):
        if measure.place is None or measure.meets is None:
            continue
        criterion = rubric.criteria[measure.place]
        sides = [measure.meets[measure.positions[grade.answer]] for grade in criterion.from_worst]
        assert sides == sorted(sides)
        assert (sides[0], sides[-1]) == (False, True)
