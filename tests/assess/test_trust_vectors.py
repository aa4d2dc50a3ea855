"""The test vectors of the verdict: shares, people, decisions, the labels that decide, scales and criteria."""

import json
from fractions import Fraction
from pathlib import Path

import played_judges as played
import pytest

from rubric_lint.assess.agreement.label_scale import find_suspicion
from rubric_lint.assess.assess import ERROR, Standing
from rubric_lint.assess.judged.outcomes import level_of_criterion
from rubric_lint.assess.measure.bounds import bound
from rubric_lint.assess.measure.decision import TARGET
from rubric_lint.assess.measure.needed import UnitsSoFar, count_labels
from rubric_lint.model.schema_files import load_bundled

VECTORS = json.loads((Path(__file__).parents[1] / "data/trust.json").read_text("utf-8"))
SCHEMA = load_bundled("assessment/v1.json")
RUBRIC = "rubrics:\n  - {score_range: [0, 5], expected_outcome: Names no cause}\n"
RUBRIC += "  - {score_range: [6, 7], expected_outcome: Names a cause}\n"
RUBRIC += "  - {score_range: [8, 10], expected_outcome: Names the cause and what to do}\n"
SCORES = {"fail": 0, "borderline": 7, "pass": 10}
CLOSE = 1e-9


def write_lines(name, records):
    Path(name).write_text("".join(f"{json.dumps(record)}\n" for record in records))


def write_case(case):
    """Write a rubric, answers, outputs and labels of a vector."""
    units = {}
    judged, labels, answers = [], [], []
    for answer in case["answers"]:
        for _ in range(answer["times"]):
            name = f"a{len(answers):03}"
            about = {"id": name}
            if "unit" in answer:
                about["question"] = f"What is {played.spell(units.setdefault(answer['unit'], len(units)))}"
            answers.append({**about, "answer": f"It is {played.spell(len(answers))}"})
            outputs = [{"score": SCORES[verdict]} for verdict in answer["outputs"]]
            judged.append({**about, "outputs": outputs} if outputs else {**about, "output": "I refuse."})
            labels += [
                {"id": name, "rater": rater, "chosen": "random", "verdict": verdict}
                for rater, verdict in answer["labels"].items()
            ]
    Path("refund.rubric.yaml").write_text(RUBRIC)
    write_lines("answers.jsonl", answers)
    write_lines("answers.judged.jsonl", judged)
    write_lines("labels.jsonl", labels)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", VECTORS["assess"], ids=lambda case: case["name"])
def test_the_verdict(case):
    write_case(case)
    asked = case["options"]
    options = ["--look", str(asked.get("look", 1)), "--fail-on", asked.get("line", "fail"), "--labels", "labels.jsonl"]
    _, report, _ = played.call("assess", SCHEMA, "refund.rubric.yaml", "answers.jsonl", *options)
    found, expected = report["rubrics"][0], case["expect"]
    assert (found["answer"], found["reasons"][0]) == (expected["answer"], expected["reason"])
    assert [found[name] for name in ("tied", "unscored", "slips", "level")] == [
        expected[name] for name in ("tied", "unscored", "slips", "level")
    ]
    agree = expected["people_agree"]
    assert found["people_agree"] == (None if agree is None else pytest.approx(float(Fraction(agree))))
    for side in ("bad_caught", "good_passed"):
        values = expected[side]
        assert found[side] == {
            "x": pytest.approx(float(Fraction(values["sum"]))),
            "n": values["units"],
            "value": None if values["share"] is None else pytest.approx(values["share"], abs=CLOSE),
            "low": pytest.approx(values["low"], abs=CLOSE),
            "high": pytest.approx(values["high"], abs=CLOSE),
        }


@pytest.mark.parametrize("case", VECTORS["labels_needed"])
def test_the_labels_that_decide_with_a_chance_of_four_in_five(case):
    assert count_labels(UnitsSoFar(*case["bad"]), UnitsSoFar(*case["good"]), TARGET, case["level"]) == case["expect"]


@pytest.mark.parametrize("case", VECTORS["scale"], ids=lambda case: str(case["expect"]))
def test_labels_on_another_scale(case):
    assert find_suspicion(case["labels"], case["judged"], tuple(case["scale"])) == case["expect"]


@pytest.mark.parametrize("case", VECTORS["criterion"])
def test_what_to_do_with_a_criterion(case):
    level = level_of_criterion(case["criteria"])
    is_below = any(bound(*case[side], level).high < TARGET for side in ("bad", "good"))
    reaches = all(bound(*case[side], float(ERROR)).low >= TARGET for side in ("bad", "good"))
    standing = Standing.FIX if is_below else Standing.KEEP if reaches else Standing.INCONCLUSIVE
    words = {"mend": "fix", "cannot say yet": "inconclusive", "keep": "keep"}
    assert standing == words[case["expect"]]
