"""Agreement and assessment of version 3: what does not apply, groups, failures, mixed shapes, hundredths."""

import json
from io import BytesIO
from random import Random

import played_judges as played
import pytest
from exports import as_json as export
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from openpyxl import load_workbook
from random_3 import random_output, random_rubric
from random_outputs import cases as cases_2
from random_outputs import load as load_2
from raters import lines

from rubric_lint.assess.agreement.analysis import analyse
from rubric_lint.assess.agreement.left_out import NOTHING_APPLIES
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.agreement.scales import measures_of
from rubric_lint.assess.agreement.sheets import make_rows, write_csv, write_excel
from rubric_lint.assess.judged.outcomes import JudgedStatement, Untested
from rubric_lint.assess.judged.rules import apply_rules
from rubric_lint.assess.judged.table import build_table
from rubric_lint.assess.measure.decision import MeasureOptions
from rubric_lint.assess.measure.labelled import find_units, is_idle, pair_with_labels
from rubric_lint.assess.measure.shares import measure_shares
from rubric_lint.assess.probes import ProbeCounts, decide_probe
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.report.agreement import AgreementReport, as_json, as_text
from rubric_lint.scoring import load_rubrics, score
from rubric_lint.scoring.grading import NothingAppliesError

SCHEMA = "https://rubric-lint.github.io/schemas/v3/rubric.json"
ASSESSMENT, AGREEMENT = load_bundled("assessment/v1.json"), load_bundled("agreement/v1.json")

RUBRIC = {
    "id": "reply",
    "pass_threshold": "60%",
    "criteria": [
        {"id": "figures", "expected_outcome": "Every figure is that of the source", "required_min_score": 10},
        {"id": "code", "expected_outcome": "The code runs", "required_min_score": 10, "applies_if": "There is code"},
        {"id": "tone", "expected_outcome": "The tone is friendly", "scale": [0.0, 1.0]},
    ],
    "critical_failures": ["Fabricates a source"],
}
BEST = {"figures": True, "code": True, "tone": 1.0, "failure-1": False}
NOT = "n/a"
FIELDS = {"tone": "level"}


def output(**given):
    """An output with the best answers, except to some criteria."""
    checks = []
    for name, value in (BEST | {name.replace("_", "-"): each for name, each in given.items()}).items():
        check = {"applicable": False} if value == NOT else {FIELDS.get(name, "satisfied"): value}
        checks.append({"id": name, **check})
    return {"checks": checks}


def load(rubric=RUBRIC):
    return load_rubrics("r.json", json.dumps({"$schema": SCHEMA, "rubrics": rubric}))


def ids(outputs, **more):
    return [{"id": f"a{number:03}", **more, "output": output} for number, output in enumerate(outputs)]


def read(results, labels, rubrics=None):
    reader = RatingReader(rubrics or load())
    reader.read("judge.jsonl", [lines(results).encode()])
    reader.read("labels.jsonl", [lines(labels).encode()], labels=True)
    return reader


def measure(judged, labelled):
    (ratings,) = read(ids(judged), ids(labelled, rater="ana", chosen="random")).join()
    return analyse(ratings, MeasureOptions())


def compared(agreement, name):
    """The comparison of the judge with the label on a criterion."""
    return next(measure for measure in agreement.comparisons[0].measures if measure.measure.name == name)


# Agreement


def test_what_does_not_apply_is_no_disagreement():
    judged = [output(), output(code=NOT), output(code=NOT), output(code=False), output(code=True)]
    labels = [output(), output(code=NOT), output(code=False), output(code=NOT), output(code=True)]
    agreement = measure(judged, labels)
    code = compared(agreement, "code")
    assert (code.answers, code.pair.exact[:2], code.not_applicable) == (2, (2, 2), (1, 2, (1, 1)))
    assert compared(agreement, "figures").not_applicable is None
    assert [each.criterion for each in agreement.disagreements.worst] == []
    text = "\n".join(as_text(AgreementReport([agreement], (), [], []), 200, 10))
    assert (
        "code does not apply to some answers, which are not compared: 1 by all, 1 by ana alone and 1 by judge alone."
        in text
    )


# Assessment


def assess(folder, judge, count=200, rubric=RUBRIC, people=None):
    """Return the exit code, the report on the only rubric, and the standing of each criterion."""
    dice = Random(5)  # noqa: S311
    labels = [people(dice) if people else draw(dice) for _ in range(count)]
    answers = [f"An answer {played.spell(dice.randrange(10**9))} {played.spell(number)}" for number in range(count)]
    (folder / "r.rubric.json").write_text(json.dumps({"$schema": SCHEMA, "rubrics": rubric}))
    about = [{"id": f"a{number:03}", "answer": answer} for number, answer in enumerate(answers)]
    (folder / "answers.jsonl").write_text(lines(about))
    judged = [{**each, "output": output(**judge(dict(given)))} for each, given in zip(about, labels, strict=True)]
    (folder / "answers.judged.jsonl").write_text(lines(judged))
    (folder / "labels.jsonl").write_text(
        lines(ids([output(**given) for given in labels], rater="ana", chosen="random")),
    )
    code, report, said = played.call("assess", ASSESSMENT, "r.rubric.json", "answers.jsonl", "--labels", "labels.jsonl")
    assert report is not None, said
    (found,) = report["rubrics"]
    return code, found, {criterion["id"]: criterion["standing"] for criterion in found["criteria"]}


def draw(dice):
    """What people say of an answer: half of the answers have code, of which a third does not run."""
    code = dice.choice([NOT, NOT, NOT, False, True, True])
    return {"figures": dice.random() < 0.7, "code": code, "tone": dice.choice([0.0, 0.55, 1.0])}


@pytest.mark.slow
def test_a_good_judge_is_trusted_and_what_does_not_apply_is_counted(folder):
    code, found, standings = assess(folder, lambda given: given)
    assert (code, found["answer"]) == (0, "trusted")
    assert standings["figures"] == standings["code"] == "keep"
    (conditional,) = (criterion for criterion in found["criteria"] if criterion["id"] == "code")
    assert conditional["not_applicable"]["judge"] == 0
    assert 80 < conditional["not_applicable"]["people"] < 120
    assert (
        conditional["bad_caught"]["n"] + conditional["good_passed"]["n"]
        == 200 - conditional["not_applicable"]["people"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "declines", [lambda _: True, lambda given: given["code"] is False], ids=["always", "on bad ones"]
)
def test_a_judge_that_says_not_applicable_is_never_trusted_on_it(folder, declines):
    _, found, standings = assess(folder, lambda given: given | ({"code": NOT} if declines(given) else {}))
    assert found["answer"] != "trusted"
    assert standings["code"] != "keep"
    assert standings["figures"] == "keep"


# Labels


GROUPED = {
    "criteria": [
        {"id": "tone", "expected_outcome": "The tone", "scale": [0.0, 1.0], "levels": {0: "Rude", 1: "Kind"}},
        {
            "id": "code",
            "applies_if": "There is code",
            "criteria": [{"id": "runs", "expected_outcome": "It runs", "applies_if": "It is a program"}],
        },
        {"id": "rank", "scale": [3, 1], "levels": {1: "Known", 3: "None"}},
    ],
}


def lay_out_sheet(rubrics):
    (rubric,) = rubrics.values()
    case = JudgedCase("An answer")
    return make_rows([Answer(json.dumps("a1"), rubric, case, {"id": "a1"})], rubrics)


def test_a_sheet_offers_what_each_criterion_takes():
    rubrics = load(GROUPED)
    header, row = lay_out_sheet(rubrics)
    assert header[2:5] == [
        "tone [0.0 to 1.0, with at most two decimals]",
        "code/runs [yes or no, or n/a]",
        "rank [1 to 3]",
    ]
    book = load_workbook(BytesIO(write_excel([header, row], rubrics.values())))
    assert [cell.value for row in book["Criteria"].iter_rows(min_row=2) for cell in row] == [
        *("tone", "0.0", "Rude"),
        *("tone", "0.0 to 1.0, with at most two decimals", None),
        *("tone", "1.0", "Kind"),
        *("code/runs", "yes", "It runs"),
        *("code/runs", "n/a", "It does not apply. It applies only if: There is code and It is a program"),
        *("rank", "1", "Known"),
        *("rank", "2", None),
        *("rank", "3", "None"),
    ]
    choices = {str(each.sqref): each.formula1 for each in book["Labels"].data_validations.dataValidation}
    assert choices == {"D2": '"no,yes,n/a"', "E2": '"1,2,3"'}


@pytest.mark.parametrize(("cell", "verdict"), [("n/a", "pass"), ("N/A", "pass"), ("no", "fail"), ("", None)])
def test_a_label_in_a_sheet_may_say_that_a_criterion_does_not_apply(cell, verdict):
    rubrics = load(GROUPED)
    header, row = lay_out_sheet(rubrics)
    row[2:5] = ["0.75", cell, 1]
    reader = RatingReader(rubrics)
    reader.read("ana.csv", [write_csv([header, row])], labels=True)
    (ratings,) = reader.gather()
    (label,) = ratings.people["ana"].values()
    assert label.given[1] == verdict
    assert label.given[0] == (0.75, {"no": False, "": None}.get(cell, "n/a"), 1)


# Rules on judged data


def judge_table(results, labels=(), rubric=RUBRIC):
    """Return the table of one judge, and what all rules come to: the decided codes and the untested, by rule."""
    (ratings,) = read(results, labels, load(rubric)).gather() if labels else _read_bare(results, rubric)
    table = build_table(ratings, ratings.rubric)
    outcomes = apply_rules(table)
    decided = {
        (outcome.rule, outcome.target.criterion, outcome.values.get("n"))
        for outcome in outcomes
        if isinstance(outcome, JudgedStatement)
    }
    untested = {
        (outcome.rule, names, outcome.reason)
        for outcome in outcomes
        if isinstance(outcome, Untested)
        for names in outcome.names
    }
    return table, decided, untested


def _read_bare(results, rubric):
    reader = RatingReader(load(rubric))
    reader.read("judge.jsonl", [lines(results).encode()])
    return reader.gather()


def test_rules_count_only_the_answers_to_which_a_criterion_applies():
    outputs = [output(figures=bool(number % 2), code=True if number < 50 else NOT) for number in range(120)]
    table, decided, untested = judge_table(ids(outputs))
    assert [len(column.known) for column in table.columns] == [120, 50, 120, 120]
    assert {(rule, name) for rule, name, _ in decided} == {("judged-flat", "tone"), ("judged-flat", "code")}
    few = [output(figures=bool(number % 2), code=True if number < 20 else NOT) for number in range(120)]
    _, decided, untested = judge_table(ids(few))
    assert {(rule, name) for rule, name, _ in decided} == {("judged-flat", "tone")}
    assert ("judged-flat", "code", "20 judged answers to which it applies") in untested
    assert ("judged-inverse", "code", "20 judged answers to which it applies") in untested


@pytest.mark.slow
def test_a_gate_is_unstable_by_the_samples_to_which_it_applies():
    flipping = [{"id": f"a{at:03}", "outputs": [output(code=True), output(code=False)]} for at in range(40)]
    others = [{"id": f"b{at:03}", "outputs": [output(code=NOT), output(code=NOT)]} for at in range(400)]
    table, decided, _ = judge_table(flipping + others)
    assert table.sampled_of == {0: 440, 1: 40, 3: 440}
    assert ("judged-unstable", "code", 40) in decided
    _, decided, untested = judge_table(flipping[:20] + others)
    assert ("judged-unstable", "code", "20 answers with several samples to which it applies") in untested
    assert not {each for each in decided if each[:2] == ("judged-unstable", "code")}


def test_the_score_of_a_length_rule_is_that_of_scoring():
    given = [output(code=NOT), output(code=False), output(figures=False, tone=0.25)]
    table, _, _ = judge_table(ids(given), ids(given, rater="ana"))
    (rubric,) = load().values()
    for at, each in enumerate(given):
        row = [column.given[at] for column in table.columns]
        assert table.weigh(row) == score(rubric, each).score


def test_the_cut_between_values_of_a_reversed_scale_is_named_from_the_low_end():
    rubric = {"criteria": [{"id": "rank", "scale": [3, 1], "required_min_score": 2, "levels": {1: "Known", 3: "None"}}]}
    ranks = [{"checks": [{"id": "rank", "level": 2}]}, {"checks": [{"id": "rank", "level": 3}]}]
    records = [{"id": f"a{at:03}", "outputs": ranks} for at in range(60)]
    (ratings,) = _read_bare(records, rubric)
    (found,) = (
        each
        for each in apply_rules(build_table(ratings, ratings.rubric))
        if isinstance(each, JudgedStatement) and each.target.is_gate
    )
    assert found.values["advice"] == "say what separates 2 from 3"


# Labels and outputs by which nothing applies


ALL_CONDITIONAL = {
    "criteria": [{"id": name, "expected_outcome": f"It is {name}", "applies_if": "It is long"} for name in ("a", "b")]
}


def checks(**given):
    return {
        "checks": [
            {"id": name, **({"applicable": False} if each == NOT else {"satisfied": each})}
            for name, each in given.items()
        ]
    }


def test_a_label_by_which_nothing_applies_is_left_out_and_not_refused():
    judged = ids([checks(a=True, b=True)] * 3)
    labels = [
        *ids([checks(a=NOT, b=NOT), checks(a=True, b=NOT)], rater="ana"),
        {"id": "a002", "rater": "ana", "a": "n/a", "b": "n/a"},
    ]
    reader = read(judged, labels, load(ALL_CONDITIONAL))
    (ratings,) = reader.join()
    assert [each.given for each in ratings.people["ana"].values()] == [((True, NOT), "pass")]
    assert [(each.reason, each.count) for each in reader.left_out] == [(NOTHING_APPLIES, 2)]
    assert (reader.invalid, ratings.refused) == ([], (0, 3))


def test_an_output_by_which_nothing_applies_is_wrong_where_people_come_to_a_verdict():
    reader = read(
        ids([checks(a=NOT, b=NOT), checks(a=True, b=True)]),
        ids([checks(a=True, b=True)] * 2, rater="ana"),
        load(ALL_CONDITIONAL),
    )
    (invalid,) = reader.invalid
    assert (invalid.outputs, invalid.message) == (1, NothingAppliesError.REASON)
    (ratings,) = reader.join()
    verdict = compared(analyse(ratings, MeasureOptions()), "verdict")
    assert verdict.pair.gate.shares.good_passed[:2] == (1, 2)


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ({"figures": "no"}, "fail"),  # whatever the others hold
        ({"figures": "yes"}, None),
        ({"figures": "yes", "code": "n/a", "tone": "0.5", "failure-1": "no"}, "pass"),
        ({"figures": "yes", "code": "n/a", "tone": "0.5", "failure-1": "yes"}, "fail"),
        ({"figures": "yes", "code": "no", "tone": "1", "failure-1": "no"}, "fail"),
        ({"figures": "yes", "code": "n/a", "tone": "0.1", "failure-1": "no"}, "fail"),
    ],
)
def test_a_label_has_the_verdict_that_its_cells_decide(cells, verdict):
    reader = RatingReader(load())
    reader.read("ana.jsonl", [lines([{"id": "a", "rater": "ana", **cells}]).encode()], labels=True)
    (ratings,) = reader.gather()
    assert ratings.people["ana"]["a"].given[1] == verdict


def test_a_gate_of_a_group_decides_verdicts_as_in_scoring():
    group = {"id": "code", "required_min_score": 0.5, "criteria": ["It exists", "It runs"]}
    rubric = {"pass_threshold": "50%", "criteria": [group, {"id": "a", "expected_outcome": "Kind", "weight": 9}]}
    given = [
        {
            "checks": [
                {"id": "code/1", "satisfied": one},
                {"id": "code/2", "satisfied": False},
                {"id": "a", "satisfied": True},
            ]
        }
        for one in (True, False)
    ]
    (ratings,) = read(ids(given), ids(given, rater="ana"), load(rubric)).join()
    assert [str(each.given[1]) for each in ratings.judges["judge"].values()] == ["pass", "fail"]
    gate = compared(analyse(ratings, MeasureOptions()), "verdict").pair.gate
    assert (gate.shares.bad_caught[:2], gate.shares.good_passed[:2]) == ((1, 1), (1, 1))


# Laws


@pytest.mark.slow
@pytest.mark.spread(4)
@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_every_rubric_can_be_measured(seed):
    dice = Random(seed)  # noqa: S311
    plain = random_rubric(dice)

    def draw_records(count, **more):
        return ids([random_output(dice, plain) for _ in range(count)], **more)

    reader = read(
        [*draw_records(60), *draw_records(60)],
        [*draw_records(60, rater="ana"), *draw_records(30, rater="bo")],
        load(plain),
    )
    (ratings,) = reader.join()
    agreement = analyse(ratings, MeasureOptions())
    report = json.loads(as_json(AgreementReport([agreement], (), reader.invalid, reader.left_out)))
    assert [error.message for error in Draft7Validator(AGREEMENT).iter_errors(report)] == []
    for comparison in agreement.comparisons:
        for found in comparison.measures:
            left_out = found.not_applicable
            rated = found.answers + (left_out.every + left_out.some if left_out and len(comparison.raters) == 2 else 0)
            assert rated <= agreement.answers
    apply_rules(build_table(ratings, ratings.rubric))


def vary(rubric, dice):
    """A random output for a rubric of version 2."""
    given = [{criterion.field: dice.choice(criterion.grades).answer} for criterion in rubric.criteria]
    if rubric.shape == "holistic":
        return given[0]
    return {"checks": [{"id": criterion.id, **check} for criterion, check in zip(rubric.criteria, given, strict=True)]}


@pytest.mark.slow
@given(cases_2(), st.randoms(use_true_random=False))
def test_a_rubric_of_version_2_is_measured_alike_in_version_3(case, dice):
    _, entries, _ = case
    older = load_2(entries)
    text = json.dumps({"$schema": SCHEMA, **json.loads(export(entries))})
    (newer,) = load_rubrics("r.rubric.json", text).values()
    judged, labelled = (ids([vary(older, dice) for _ in range(40)], **more) for more in ({}, {"rater": "ana"}))
    reports = []
    for rubric in (older, newer):
        reader = read([*judged, *judged[20:]], labelled, {rubric.name: rubric})
        (ratings,) = reader.join()
        outcomes = apply_rules(build_table(ratings, rubric))
        reports.append(
            (
                as_json(AgreementReport([analyse(ratings, MeasureOptions())], (), reader.invalid, reader.left_out)),
                outcomes,
            )
        )
    assert reports[0] == reports[1]


def test_what_weighs_nothing_but_decides_the_gate_of_a_group_is_not_idle():
    safe = {"id": "safe", "weight": 0, "required_min_score": 0.5, "criteria": ["It asks first", "It keeps a copy"]}
    idle = {"id": "idle", "expected_outcome": "It is short", "weight": 0}
    (rubric,) = load({"criteria": [safe, idle, "It is kind"]}).values()
    assert [is_idle(rubric, place) for place in range(4)] == [False, False, True, False]


@pytest.mark.parametrize(
    ("said", "labelled", "by_people"),
    [((NOT, NOT, False), 0, 1), ((NOT, False, False), 1, 0), ((NOT, True), 1, 0), ((NOT, NOT), 0, 1)],
)
def test_a_criterion_is_left_out_of_an_answer_if_most_people_leave_it_out(said, labelled, by_people):
    (rubric,) = load().values()
    people = [{**ids([output(code=each)])[0], "rater": f"p{number}"} for number, each in enumerate(said)]
    (ratings,) = read(ids([output()]), people).join()
    code = next(each for each in measures_of(rubric) if each.name == "code")
    laid_out = pair_with_labels(ratings, "judge", code, find_units(ratings))
    assert (len(laid_out.answers), laid_out.inapplicable) == (labelled, (by_people, 0))


@pytest.mark.parametrize(
    ("runs", "right", "count"), [((True, True), (2, 2), 0), ((True, NOT), (1, 2), 1), ((NOT, NOT), (0, 1), 1)]
)
def test_a_run_by_which_a_criterion_does_not_apply_is_never_right(runs, right, count):
    (rubric,) = load().values()
    judged = [{"id": "a000", "outputs": [output(code=run) for run in runs]}]
    (ratings,) = read(judged, ids([output()], rater="ana")).join()
    code = next(each for each in measures_of(rubric) if each.name == "code")
    laid_out = pair_with_labels(ratings, "judge", code, find_units(ratings))
    assert (laid_out.answers[0].count_right(side=True), laid_out.inapplicable.judge) == (right, count)
    _, _, low, high = measure_shares(laid_out.answers, 0.025).good_passed
    assert (low > 0, high) == (right[0] > 0, 1.0)


def test_a_probe_compares_a_criterion_where_it_applies_to_both():
    pairs = [{None: 0, "a": 1}] * 20 + [{None: 0}] * 20
    probed = decide_probe("padding", 40, pairs, ["a", None])
    assert probed.find("a") == ProbeCounts("a", 0, 0, 20)
    assert probed.find(None) == ProbeCounts(None, 0, 40, 0)
