import pickle
from decimal import Decimal
from fractions import Fraction
from math import sqrt

import pytest
from cases import as_tuples, read_cases

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Severity
from rubric_lint.rules import BY_NAME
from rubric_lint.scoring import OutputError, score, score_samples
from rubric_lint.scoring.grading import JudgeOutput, Verdict
from rubric_lint.scoring.loading import DECIDING, RubricError, load_rubrics
from rubric_lint.scoring.output import reader_of
from rubric_lint.scoring.totals import Totals

TABLES = read_cases(__file__)


BORROWED = TABLES["BORROWED"]

RANGES = "score_ranges: {0: Nothing is right, 4: Half of it is right, 8: All of it is right}"


def load(text, settings=None, name="suite.yaml"):
    return load_rubrics(name, text.encode(), settings or FileSettings())


def only(text, settings=None):
    (rubric,) = load(text, settings).values()
    return rubric


def analytic(*weights):
    return "rubrics:\n" + "".join(
        f"  - {{id: c{number}, weight: {weight}, {RANGES}}}\n" for number, weight in enumerate(weights)
    )


def grade(rubric, *answers):
    return rubric.grade(JudgeOutput(answers, (None,) * len(answers)))


def test_three_equal_criteria_at_4_10_and_10_pass_exactly():
    result = grade(only(analytic(1, 1, 1)), 4, 10, 10)
    assert (result.score, result.verdict, result.to_json()["score"]) == (Fraction(4, 5), Verdict.PASS, 0.8)


@pytest.mark.parametrize(("weights", "shares"), as_tuples(TABLES["weights are scaled to integers"]))
def test_weights_are_scaled_to_integers(weights, shares):
    rubric = only(analytic(*weights))
    assert tuple(criterion.grades[-1].points for criterion in rubric.criteria) == tuple(10 * part for part in shares)
    assert rubric.full == 10 * sum(shares)


@pytest.mark.parametrize("weight", ["1e-999999999", "1" + "0" * 400])
def test_a_weight_beyond_all_measure_is_refused_at_once(weight):
    with pytest.raises(RubricError):
        load(analytic("1", weight))


def test_thresholds_come_from_the_settings():
    rubric = only(analytic(1), FileSettings(pass_at=Decimal("0.95"), borderline_at=Decimal("0.9")))
    assert [str(grade(rubric, answer).verdict) for answer in (8, 9, 10)] == ["fail", "borderline", "pass"]


def test_a_gate_that_is_missed_fails_whatever_the_score():
    rubric = only(f"rubrics:\n  - {{id: a, weight: 0, required_min_score: 4, {RANGES}}}\n  - {{id: b, {RANGES}}}\n")
    missed, met = grade(rubric, 3, 10), grade(rubric, 4, 10)
    assert (missed.score, str(missed.verdict)) == (1, "fail")
    assert (met.score, str(met.verdict)) == (1, "pass")


def test_the_gate_of_levels_is_a_level():
    rubric = only("rubrics:\n  - {id: a, required_min_level: 3, levels: {1: It is wrong, 3: Right, 9: It is best}}\n")
    found = [(item.answer, item.score, item.gate_met) for item in rubric.criteria[0].grades]
    assert found == [(1, 0, False), (3, Fraction(1, 4), True), (9, 1, True)]


@pytest.mark.parametrize(
    "settings",
    [
        FileSettings(severities={"coverage": Severity.WARNING}),
        FileSettings(enabled=frozenset(BY_NAME) - {"coverage"}),
        FileSettings(enabled=frozenset()),
    ],
)
def test_a_score_in_a_gap_is_no_score_where_gaps_are_allowed(settings):
    bands = "[{score_range: [0, 3], expected_outcome: Wrong}, {score_range: [7, 10], expected_outcome: Right}]"
    rubric = only(f"rubrics: [{{id: a, score_ranges: {bands}}}]\n", settings)
    assert [item.answer for item in rubric.criteria[0].grades] == [0, 1, 2, 3, 7, 8, 9, 10]


def test_an_answer_that_is_not_allowed_is_never_graded():
    with pytest.raises(ValueError, match="does not allow"):
        grade(only(analytic(1)), 11)


def test_the_library_refuses_what_is_no_output_for_the_rubric(said):
    for answers in ((11,), (), (1, 2)):
        with pytest.raises(OutputError) as refusal:
            score(only(analytic(1)), JudgeOutput(answers, (None,) * len(answers)))
        said(refusal.value.message)


SUITE = TABLES["SUITE"]


def test_rubrics_go_by_case_and_evaluator_and_each_line_of_json_lines_is_a_case():
    names = "suite defaults one two three three/tone three/evaluators/1 tests/3 style"
    assert [*load(SUITE, FileSettings(claimed=True))] == names.split()
    lines = '{"id": "a", "rubrics": [{"expected_outcome": "x y"}]}\n{"rubrics": [{"expected_outcome": "x y"}]}\n'
    assert [*load(lines, name="cases.jsonl")] == ["a", "1"]


TWICE = "tests:\n- {id: a, rubrics: [Is short]}\n- {id: a, rubrics: [Is short]}\n"
SHORT = "rubrics:\n  - {id: a, expected_outcome: Is short}\n"
NO_WEIGHT = "rubrics:\n  - {id: a, weight: 0, expected_outcome: Is short}\n"


@pytest.mark.parametrize(
    ("silenced", "text", "place"),
    [
        ("", TWICE, ":3:8"),
        ("", "a: 1\n", ""),
        ("", NO_WEIGHT, ":1:1"),
        ("weight", NO_WEIGHT, ":3:3"),
        ("mixing", SHORT + "  - {id: b, score_ranges: {0: Is long}}\n", ":3:3"),
        ("duplicate-id", SHORT + SHORT[9:], ":3:3"),
        ("schema", SHORT.replace("}", ", required: maybe}"), ":3:3"),
    ],
    ids=["a name twice", "no rubric", "no weight", "no weight, silenced", "shapes", "an id twice", "a wrong type"],
)
def test_a_rubric_that_cannot_be_scored_is_refused(silenced, text, place, said):
    with pytest.raises(RubricError) as refusal:
        load(f"# rubric-lint: ignore-file[{silenced}]\n{text}" if silenced else text)
    (fault,) = refusal.value.faults
    assert fault.startswith(f"suite.yaml{place}: ")
    said(fault)


@pytest.mark.parametrize(("text", "rule"), TABLES["what decides a score holds"])
def test_what_decides_a_score_holds_also_where_the_settings_leave_it_out(text, rule):
    with pytest.raises(RubricError, match=f": {rule}: "):
        load(text, FileSettings(enabled=frozenset()))


def test_every_rule_that_decides_a_score_exists():
    assert set(BY_NAME) >= DECIDING


class Column(list):
    """What arrays and numbers of NumPy have in common: they say themselves what they are in Python."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def tolist(self):
        return self.value


def test_a_row_of_a_struct_column_is_an_output():
    checks = Column([{"id": "c0", "score": Column(8), "level": None, "satisfied": None, "reasoning": None}])
    row = {"checks": checks, "score": None, "overall_reasoning": None}
    assert score(only(analytic(1)), row).score == Fraction(4, 5)
    with pytest.raises(OutputError, match="missing field `score`"):
        score(only(analytic(1)), {"checks": [{"id": "c0", "score": None}]})


def test_rubrics_and_results_are_short_values():
    rubric = only(analytic(1, 2))
    result = score(rubric, {"checks": [{"id": "c0", "score": 8}, {"id": "c1", "score": 10}]})
    assert {rubric: 1}[only(analytic(1, 2))] == 1
    assert repr(rubric) == f"<ScoringRubric 'suite': score_ranges, {rubric.hash}, ['c0', 'c1']>"
    assert repr(result) == "<Scored 'suite': pass, 14/15, {'c0': 8, 'c1': 10}>"
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301


def test_a_pickled_rubric_leaves_the_file_behind():
    suite = """\
tests:
  - id: a
    input: Say it
    assertions: [{name: it, type: rubrics, criteria: [{id: b, outcome: Says it}]}]
"""
    (rubric,) = load(suite, name="a.eval.yaml").values()
    copy = pickle.loads(pickle.dumps(rubric))  # noqa: S301
    assert (copy, rubric.model.view is None, copy.model.view) == (rubric, False, None)


def test_totals_are_what_a_count_by_hand_comes_to():
    gated = only(f"rubrics:\n  - {{id: a, weight: 3, required_min_score: 4, {RANGES}}}\n  - {{id: b, {RANGES}}}\n")
    check = load("rubrics: [{id: c, expected_outcome: It}]\n", name="other.yaml")["other"]
    totals = Totals([gated, check])
    assert str(totals) == "0 outputs: 0 pass, 0 borderline, 0 fail, 0 invalid"
    totals.invalid += 1
    assert str(totals) == "1 output: 0 pass, 0 borderline, 0 fail, 1 invalid"
    found = totals.to_json()
    assert (found["outputs"], found["invalid"], found["mean"], found["rubrics"]) == (1, 1, None, [])
    yes, no = ({"checks": [{"id": "c", "satisfied": answer}]} for answer in (True, False))
    for answers, count in {(10, 8): 1, (4, 0): 2, (3, 10): 1}.items():  # 38, 12, 12 and 19 of 40 points
        totals.take(reader_of(gated).check_answers(JudgeOutput(answers, (None, None))), count)
    totals.take(score(check, yes))
    for _ in range(2):
        totals.take(score_samples(check, [yes, no, yes]))
    totals.take(score_samples(check, [yes, yes]))
    assert str(totals) == "9 outputs: 5 pass, 0 borderline, 3 fail, 1 invalid; mean score 0.753"
    spread_a = sqrt(0.25 * (0.475**2 + 2 * 0.125**2 + 0.225**2))
    spread_b = sqrt(0.25 * (2 * 0.45**2 + 0.35**2 + 0.55**2))
    found = totals.to_json()
    assert [found.pop("mean"), *(rubric.pop("mean") for rubric in found["rubrics"])] == [6.025 / 8, 2.025 / 4, 1.0]
    criteria = [rubric.pop("criteria") for rubric in found["rubrics"]]
    count = dict.fromkeys(("pass", "borderline", "fail"), 0)
    gated_counts = {"rubric": "suite", "rubric_hash": gated.hash, "outputs": 4, **count, "pass": 1, "fail": 3}
    checked = {"rubric": "other", "rubric_hash": check.hash, "outputs": 4, **count, "pass": 4}
    checked |= {"sampled": 3, "stable": 1}
    assert found == {"outputs": 9, "invalid": 1, **count, "pass": 5, "fail": 3, "rubrics": [gated_counts, checked]}
    (a, b), (c,) = criteria
    assert [each.pop("spread") for each in (a, b, c)] == [pytest.approx(spread_a), pytest.approx(spread_b), 0.0]
    assert [a, b, c] == [
        {"id": "a", "mean": 0.525, "gate": 4, "gates_missed": 1, "answers": times({3: 1, 4: 2, 10: 1})},
        {"id": "b", "mean": 0.45, "gate": None, "gates_missed": None, "answers": times({0: 2, 8: 1, 10: 1})},
        {"id": "c", "mean": 1.0, "gate": None, "gates_missed": None, "answers": times({True: 4})},
    ]


def times(answers):
    return [{"raw": answer, "times": count} for answer, count in answers.items()]


CASES = {
    "one id twice": "tests:\n- {id: a, rubrics: [Is short]}\n- {id: a, rubrics: [Is long]}\n",
    "one name twice": "tests:\n- {name: a, rubrics: [Is short]}\n- {name: a, rubrics: [Is long]}\n",
    "a number and a string": "tests:\n- {id: 1, rubrics: [Is short]}\n- {id: '1', rubrics: [Is long]}\n",
    "one id and no rubrics": "tests:\n- {id: a, rubrics: [Is short]}\n- {id: a}\n",
    "no ids": "tests:\n- {rubrics: [Is short]}\n- {rubrics: [Is long]}\n",
    "evaluators of one case": (
        "tests:\n- {id: a, evaluators: [{name: j, rubrics: [Is short]}, {name: j, rubrics: [Is long]}]}\n"
    ),
    "evaluators without names": "tests:\n- {id: a, evaluators: [{rubrics: [Is short]}, {rubrics: [Is long]}]}\n",
    "evaluators of two cases": (
        "tests:\n- {id: a, evaluators: [{name: j, rubrics: [Is short]}]}\n"
        "- {id: b, evaluators: [{name: j, rubrics: [Is short]}]}\n"
    ),
    "one id, and evaluators with other names": (
        "tests:\n- {id: a, rubrics: [Is short]}\n"
        "- {id: a, rubrics: [Is long], evaluators: [{name: j, rubrics: [Is short]}]}\n"
    ),
    "one id, and a case with several evaluators": (
        "tests:\n- {id: a, rubrics: [Is short]}\n"
        "- {id: a, evaluators: [{name: i, rubrics: [Is long]}, {name: j, rubrics: [Is short]}]}\n"
    ),
    "one id, and a case with rubrics as assertions": (
        "tests:\n- {id: a, assertions: [{type: rubrics, criteria: [{id: x, outcome: Names it}]}]}\n"
        "- {id: b, rubrics: [Is long]}\n- id: a\n  assertions:\n"
        "  - {type: rubrics, name: i, criteria: [{id: x, outcome: Names it}]}\n"
        "  - {type: rubrics, name: j, criteria: [{id: x, outcome: Names that}]}\n"
    ),
    "one name and one id, each with several evaluators": (
        "tests:\n- {name: a, evaluators: [{name: g, rubrics: [Is long]}, {name: h, rubrics: [Is short]}]}\n"
        "- {id: a, evaluators: [{name: i, rubrics: [Is long]}, {name: j, rubrics: [Is short]}]}\n"
    ),
    "a case like an evaluator": (
        "tests:\n- {id: a/j, rubrics: [Is short]}\n"
        "- {id: a, rubrics: [Is long], evaluators: [{name: j, rubrics: [Is short]}]}\n"
    ),
    "a document": "id: tests/0\ntests:\n- {rubrics: [Is short]}\n- {id: tests/0, rubrics: [Is long]}\n",
    "documents": "---\n".join(["id: a\nrubrics: [{id: x, expected_outcome: Is short}]\n"] * 2),
    "a string and an assertion with bands": (
        "prompts: [x]\ntests:\n- id: a\n  assert:\n  - Is short\n  - type: llm-rubric\n    value: Is long\n"
        "    score_ranges: [{score_range: [0, 10], outcome: Is as long as the question}]\n"
    ),
}


NAMELESS = {
    "documents": ("tests: [{rubrics: [Is short]}]\n---\ntests: [{rubrics: [Is long]}]\n", ["0/tests/0", "1/tests/0"]),
    "defaults of documents": (
        "---\n".join(["defaults: {rubrics: [{id: a, expected_outcome: Is short}]}\n"] * 2),
        ["0/defaults", "1/defaults"],
    ),
    "a list of suites": (
        "suites: [{tests: [{rubrics: [Is short]}]}, {tests: [{rubrics: [Is long]}]}]\n",
        ["suites/0/tests/0", "suites/1/tests/0"],
    ),
    "a map of suites": (
        "a: {tests: [{rubrics: [Is short]}]}\nb: {tests: [{rubrics: [Is long]}, {rubrics: [Is new]}]}\n",
        ["a/tests/0", "b/tests/0", "tests/1"],
    ),
    "a suite with suites": (
        "tests: [{rubrics: [Is short]}]\nsuites: [{tests: [{rubrics: [Is long]}]}]\n",
        ["tests/0", "suites/0/tests/0"],
    ),
    "cases with evaluators": (
        (
            "a: {tests: [{rubrics: [Is old], assert: [{name: j, rubrics: [Is short]}]}]}\n"
            "b: {tests: [{rubrics: [Is long]}]}\n"
        ),
        ["a/tests/0", "a/tests/0/j", "b/tests/0"],
    ),
    "evaluators in several fields of a case": (
        "tests: [{id: x, a: {assert: [{rubrics: [Is short]}]}, b: {assert: [{rubrics: [Is long]}]}}]\n",
        ["x/a/assert/0/rubrics", "x/b/assert/0/rubrics"],
    ),
    "evaluators without cases": (
        "a: {assert: [{rubrics: [Is short]}]}\nb: {assert: [{rubrics: [Is long]}]}\n",
        ["a/assert/0/rubrics", "b/assert/0/rubrics"],
    ),
    "a case like the file": (
        "rubrics: [{id: a, expected_outcome: It}]\ntests:\n- {id: suite, rubrics: [Is long]}\n",
        ["rubrics", "suite"],
    ),
    "scenarios of promptfoo": (
        (
            "prompts: ['{{q}}']\nscenarios:\n- config: [{vars: {lang: fr}}]\n"
            "  tests: [{assert: [{type: llm-rubric, value: Is written in French}]}]\n"
            "tests: [{assert: [{type: llm-rubric, value: Names the refund period}]}]\n"
        ),
        ["scenarios/0/tests/0", "tests/0"],
    ),
}


@pytest.mark.parametrize(("text", "names"), NAMELESS.values(), ids=NAMELESS)
def test_what_nobody_named_is_told_apart_by_all_of_its_place(text, names):
    assert not lint("suite.yaml", text.encode()).findings
    assert list(load(text)) == names


@pytest.mark.parametrize("rubrics", ["null", "[]"])
def test_an_empty_rubric_in_another_document_hides_no_repeated_name(rubrics):
    line = '{"id": "x", "rubrics": [{"id": "a", "expected_outcome": "Names the city"}]}\n'
    findings = lint("cases.jsonl", f'{line}{line}{{"id": "y", "rubrics": {rubrics}}}\n'.encode()).findings
    assert [(finding.rule, finding.pointer) for finding in findings] == [
        ("repeated-case", "/1/id"),
        ("lost-rubric", "/2/rubrics"),
    ]


@pytest.mark.parametrize(("text", "lines"), BORROWED.values(), ids=BORROWED)
def test_cases_that_borrow_their_name_are_told_where_they_are(text, lines):
    result = lint("suite.yaml", text.encode())
    (found,) = (finding for finding in result.findings if finding.rule == "repeated-case")
    spans = (found.span, found.related[0].span)
    assert [result.source.position(span.start).line for span in spans] == lines


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_the_linter_finds_the_names_that_scoring_refuses(text):
    found = [finding for finding in lint("suite.yaml", text.encode()).findings if finding.rule == "repeated-case"]
    assert len(found) <= 1
    silenced = "# rubric-lint: ignore-file[repeated-case]\n" + text
    refusals = []
    for each in (text, silenced):
        try:
            load(each)
        except RubricError as refusal:
            refusals.append(": a second " in str(refusal))
    assert refusals == [True, True] * bool(found)
