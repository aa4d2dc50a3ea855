"""Agreement and assessment of version 3: what does not apply, groups, failures, mixed shapes, hundredths."""

import json
from io import BytesIO
from random import Random

import played_judges as played
import pytest
from openpyxl import load_workbook
from raters import lines

from rubric_lint.agree.analysis import analyse
from rubric_lint.agree.comparison import Plan
from rubric_lint.agree.reading import Reader
from rubric_lint.agree.sheets import lay_out, write_csv, write_excel
from rubric_lint.format.schema_files import load_bundled
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.report.agreement import Findings, as_text
from rubric_lint.scoring.loading import load_rubrics

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
    return [{"id": f"a{number:03}", **more, "output": each} for number, each in enumerate(outputs)]


def read(results, labels, rubrics=None):
    reader = Reader(rubrics or load())
    reader.read("judge.jsonl", [lines(results).encode()])
    reader.read("labels.jsonl", [lines(labels).encode()], labels=True)
    return reader


def measure(judged, labelled):
    (ratings,) = read(ids(judged), ids(labelled, rater="ana", chosen="random")).join()
    return analyse(ratings, Plan())


def compared(agreement, name):
    """The comparison of the judge with the label on a criterion."""
    return next(each for each in agreement.comparisons[0].measures if each.measure.name == name)


# Agreement


def test_what_does_not_apply_is_no_disagreement():
    judged = [output(), output(code=NOT), output(code=NOT), output(code=False), output(code=True)]
    labels = [output(), output(code=NOT), output(code=False), output(code=NOT), output(code=True)]
    agreement = measure(judged, labels)
    code = compared(agreement, "code")
    assert (code.answers, code.pair.exact[:2], code.not_applicable) == (2, (2, 2), (1, 2, (1, 1)))
    assert compared(agreement, "figures").not_applicable is None
    assert [each.criterion for each in agreement.disagreements.worst] == []
    text = "\n".join(as_text(Findings([agreement], [], [], ()), 200, 10))
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
    return code, found, {each["id"]: each["standing"] for each in found["criteria"]}


def draw(dice):
    """What people say of an answer: half of the answers have code, of which a third does not run."""
    code = dice.choice([NOT, NOT, NOT, False, True, True])
    return {"figures": dice.random() < 0.7, "code": code, "tone": dice.choice([0.0, 0.55, 1.0])}


def test_a_good_judge_is_trusted_and_what_does_not_apply_is_counted(folder):
    code, found, standings = assess(folder, lambda given: given)
    assert (code, found["answer"]) == (0, "trusted")
    assert standings["figures"] == standings["code"] == "keep"
    (conditional,) = (each for each in found["criteria"] if each["id"] == "code")
    assert conditional["not_applicable"]["judge"] == 0
    assert 80 < conditional["not_applicable"]["people"] < 120
    assert (
        conditional["bad_caught"]["n"] + conditional["good_passed"]["n"]
        == 200 - conditional["not_applicable"]["people"]
    )


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
    return lay_out([Answer(json.dumps("a1"), rubric, case, {"id": "a1"})], rubrics)


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
    reader = Reader(rubrics)
    reader.read("ana.csv", [write_csv([header, row])], labels=True)
    (ratings,) = reader.gather()
    (label,) = ratings.people["ana"].values()
    assert label.given[1] == verdict
    assert label.given[0] == (0.75, {"no": False, "": None}.get(cell, "n/a"), 1)
