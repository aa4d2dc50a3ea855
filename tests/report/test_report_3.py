"""The page of scores by rubrics of version 3, and results of them that are written and read again."""

import csv
import io
import json
import re
from random import Random

import commands
import pytest
from chat_server import completion, serving
from jsonschema import Draft7Validator
from judging import KEY
from node import node
from random_3 import random_output, random_rubric
from reference_3 import score as score_3
from report_page import ROOT, lines, needs_node, part, read, runner
from rubric_3 import BEST, NO_CODE, NOTHING, REPLY, SCHEMA, load, of

from rubric_lint.report.html import list_outline
from rubric_lint.scoring.grading import NothingAppliesError
from rubric_lint.scoring.loading import load_rubrics

ANSWERS = {
    "best": of({}),
    "gate": of({"accuracy": {"level": 3}, "code/style": {"level": 0.29}}),
    "group": of({"code/1": {"level": 1}, "code/style": {"level": 0.0}}),
    "failure": of({"failure-1": {"satisfied": True}}),
    "part": of(NO_CODE | {"polite": {"applicable": False}}),
    "bad": {"checks": []},
}
OUTPUTS = lines(*({"id": name, "output": output} for name, output in ANSWERS.items()))


@pytest.fixture
def run(folder, monkeypatch):
    return runner(folder, monkeypatch)


def write(rubric):
    return json.dumps({"$schema": SCHEMA, "rubrics": rubric})


@pytest.fixture
def page(run):
    return run(write(REPLY), "out.jsonl", out=OUTPUTS)[0]


def test_marks_grades_and_scores_are_in_units_of_the_scale(page):
    text = re.sub(r"<[^>]*>", " ", page.read_text("utf-8"))
    assert "pass from 3.5, borderline from 3, of 1 to 5" in text
    assert "A from 4.6, C from 3, F from 1.4" in text
    assert "Grades: 3 A, 2 C, 0 F." in " ".join(text.split())


def test_failures_are_first_and_groups_stand_over_their_criteria(page):
    expected = ["failure-1", "accuracy", "method", "polite", "flow", "code", "code/1", "code/style", "code/harm"]
    rubric = load(REPLY)
    names = [part if isinstance(part, str) else rubric.criteria[part].id for part in list_outline(rubric)]
    assert names == expected
    table = part(page, "rubric-0")
    assert [name for name in expected if f" {name} " in table] == expected
    assert [table.index(f" {name} ") for name in expected] == sorted(table.index(f" {name} ") for name in expected)
    assert "group, weight 2 does not apply to 1" in table
    assert "1 of 4 at least 2" in table  # the gate of the group, in units of its scale
    assert "critical failure" in table


def test_the_gate_of_a_reversed_scale_is_its_highest_number_that_passes(run):
    scale = {"id": "a", "scale": [5, 1], "required_min_score": 3}
    rubric = {"pass_threshold": "50%", "criteria": [{"expected_outcome": "Few errors", **scale}]}
    outputs = [{"output": {"checks": [{"id": "a", "level": level}]}} for level in (1, 3, 4)]
    page, _, _ = run(write(rubric), "out.jsonl", out=lines(*outputs))
    assert "1 of 3 at most 3" in part(page, "rubric-0")


def test_hundredths_share_columns(page):
    html = page.read_text("utf-8")
    labels = re.findall(r'role="img" width="\d+" height="50"[^>]*aria-label="([^"]*)"', html)
    assert "0.0 to 0.04: 1, 0.25 to 0.29: 1, 1.0: 2" in labels
    assert not re.search(r'(width|height)="-', html)


@pytest.mark.slow
@needs_node
def test_every_figure_leads_to_as_many_answers_as_it_counts(page):
    found = read(page, views=["grade=A", "grade=C", "criterion=0.1&value=n/a", "criterion=0.2&value=n/a"])
    grades = {name: score_3(REPLY, output).grade for name, output in ANSWERS.items() if name != "bad"}
    assert found["views"] == [*([name for name in grades if grades[name] == each] for each in "AC"), [], ["part"]]
    assert all(count == size for _, count, size in found["counted"])
    assert [view for view, _, _ in found["counted"] if "grade" in view] == ["grade=A&rubric=0", "grade=C&rubric=0"]


def without_gates(result):
    """A result of a row of the page, without the names of missed gates, which it carries as any other column."""
    return {name: value for name, value in result.items() if name != "gates_missed"}


@pytest.mark.slow
@needs_node
def test_the_table_of_the_page_is_scored_to_the_same_results(run):
    page, results, _ = run(write(REPLY), "out.jsonl", out=OUTPUTS)
    (page.parent / "again.csv").write_text(read(page)["csv"], "utf-8")
    _, again, _ = run(write(REPLY), "again.csv")
    assert [without_gates(each) for each in again[:-1]] == results[:-1]
    rows = [*csv.DictReader(io.StringIO(read(page)["csv"]))]
    assert [(row["id"], row["rubric_grade"], row["gates_missed"]) for row in rows] == [
        (result["id"], result.get("rubric_grade", ""), missed)
        for result, missed in zip(results, ("", "accuracy", "code", "failure-1", "", ""), strict=True)
    ]


@pytest.mark.slow
@needs_node
def test_labels_say_what_does_not_apply(page):
    labels = {each["id"]: each for each in map(json.loads, read(page)["labels"].splitlines())}
    assert labels["part"]["polite"] == labels["part"]["code/style"] == "n/a"
    assert (labels["gate"]["code/style"], labels["failure"]["failure-1"]) == (0.29, "yes")


@pytest.mark.slow
@needs_node
def test_an_answer_to_which_nothing_applies_is_no_invalid_one(run):
    checks = [{"applicable": False}, {"satisfied": True}, {}]
    outputs = [{"checks": [{"id": "rubric-1", **check}]} for check in checks]
    records = lines(*({"id": name, "output": output} for name, output in zip("xyz", outputs, strict=True)))
    page, _, _ = run(write(NOTHING), "out.jsonl", "--compare", "out.jsonl", out=records)
    found = read(page, views=["verdict=unscored", "verdict=invalid", "verdict=no-score"])
    assert found["views"] == [["x"], ["z"], ["x", "z"]]
    assert all(count == size for _, count, size in found["counted"]), found["counted"]
    assert "without a score now" in part(page, "comparison")
    assert " x " not in part(page, "invalid")


@pytest.mark.slow
@pytest.mark.spread(3)
@pytest.mark.parametrize("seed", range(12))
def test_results_of_every_kind_are_read_to_the_same_results(seed, run):
    dice = Random(seed)  # noqa: S311
    plain = random_rubric(dice)
    records = [{"id": f"a{number}", "output": random_output(dice, plain)} for number in range(8)]
    rubric = write(plain)
    page, first, _ = run(rubric, "out.jsonl", out=lines(*records))
    for record, found in zip(records, first, strict=True):
        expected = score_3(plain, record["output"])
        assert (found.get("score"), found.get("verdict"), found.get("rubric_grade")) == (
            None if expected.score is None else float(expected.score),
            None if expected.score is None else expected.verdict,
            expected.grade,
        )
    scored = [each for each in first if "verdict" in each]
    for kind in ("jsonl", "csv", "csv.gz", "parquet"):
        done = commands.run(
            "rubric-lint", "score", "rubric.yaml", "out.jsonl", "--isolated", "-q", "-o", f"again.{kind}"
        )
        assert done.returncode in {0, 1}, done.stderr
        _, again, _ = run(rubric, f"again.{kind}")
        assert [each for each in again if "verdict" in each] == scored, kind
        assert [each["id"] for each in again] == [each["id"] for each in first]
    if node():
        (page.parent / "page.csv").write_text(read(page)["csv"], "utf-8")
        assert [without_gates(each) for each in run(rubric, "page.csv")[1] if "verdict" in each] == scored
    if scored:
        pa = pytest.importorskip("pyarrow")
        map_batches = pytest.importorskip("rubric_lint.arrow").map_batches
        (loaded,) = load_rubrics("r.json", rubric.encode()).values()
        rows = map_batches(loaded)(pa.table({name: [record[name] for record in records] for name in ("id", "output")}))
        found = [row for row in rows.to_pylist() if row["verdict"]]
        for row, known in zip(found, scored, strict=True):
            assert (row.get("groups") or None) == known.get("groups")
            names = ("id", "score", "verdict", "rubric_score", "rubric_grade")
            assert [row.get(name) for name in names] == [known.get(name) for name in names]


@pytest.mark.slow
def test_a_criterion_that_does_not_apply_goes_from_the_prompt_to_the_page(folder):
    (folder / "rubric.yaml").write_text(write(REPLY), "utf-8")
    (folder / "answers.jsonl").write_text(lines({"id": "a", "answer": "Thanks."}), "utf-8")
    given = {check["id"]: {"reasoning": f"On {check['id']}.", **check} for check in ANSWERS["part"]["checks"]}
    checks = {name: {field: each[field] for field in each if field != "id"} for name, each in given.items()}
    with serving(completion(json.dumps({"checks": checks, "overall_reasoning": "Fine."}))) as server:
        arguments = ["rubric.yaml", "answers.jsonl", "--model", "m", "--base-url", server.url, "-o", "journal.jsonl"]
        environment = {**commands.os.environ, "OPENAI_API_KEY": KEY}
        judged = commands.run("rubric-lint", "judge", *arguments, env=environment)
        (asked,) = server.asked
    assert judged.returncode == 0, judged.stderr
    prompt = asked.body["messages"][0]["content"]
    assert "Applies if: The customer greets" in prompt
    assert "give `applicable: false` in the place of a judgement" in prompt
    (record,) = map(json.loads, (folder / "journal.jsonl").read_text("utf-8").splitlines())
    assert {"id": "polite", "reasoning": "On polite.", "applicable": False} in record["output"]["checks"]
    command = ["score", "rubric.yaml", "journal.jsonl", "--isolated", "--report", "page.html"]
    (line,) = commands.run("rubric-lint", *command, "--format", "jsonl", "-q").stdout.splitlines()
    result = json.loads(line)
    polite = next(criterion for criterion in result["criteria"] if criterion["id"] == "polite")
    assert (polite["raw"], polite["score"], polite["gate_met"]) == ("n/a", None, True)
    assert (result["groups"][0]["score"], result["rubric_score"], result["rubric_grade"]) == (None, 5.0, "A")
    table = commands.run("rubric-lint", *command, "--format", "table").stdout
    assert re.search(r"polite +1 +- +- +- +- +- +- +1\n", table), table
    assert "mean score 1.000 (5 of 1 to 5); grades: 1 A, 0 C, 0 F" in table
    text = part(folder / "page.html", "rubric-0")
    assert "polite Greets back weight 1 does not apply to 1 none" in text
    assert "code group, weight 2 does not apply to 1 none" in text


def test_the_report_of_scores_follows_its_schema(run):
    run(write(REPLY), "out.jsonl", out=OUTPUTS)
    command = ["score", "rubric.yaml", "out.jsonl", "--isolated", "--compare", "out.jsonl", "--format", "json", "-q"]
    report = json.loads(commands.run("rubric-lint", *command).stdout)
    schema = json.loads((ROOT / "schemas/scores/v1.json").read_text("utf-8"))
    assert [*Draft7Validator(schema).iter_errors(report)] == []


def test_a_comparison_names_the_gates_of_groups_that_are_missed_now(run):
    was = lines({"id": "a", "output": ANSWERS["best"]}, {"id": "b", "output": ANSWERS["group"]})
    now = lines({"id": "a", "output": ANSWERS["group"]}, {"id": "b", "output": ANSWERS["group"]})
    page, *_ = run(write(REPLY), "out.jsonl", "--compare", "was.jsonl", out=now, was=was)
    assert "code/1 5 to 1, code/style 1.0 to 0.0 gate of code missed" in part(page, "comparison")
    command = ["score", "rubric.yaml", "out.jsonl", "--isolated", "--compare", "was.jsonl"]
    report = json.loads(commands.run("rubric-lint", *command, "--format", "json", "-q").stdout)
    assert [answer["groups_missed"] for answer in report["comparison"]["worse_answers"]] == [["code"]]
    schema = json.loads((ROOT / "schemas/scores/v1.json").read_text("utf-8"))
    assert [*Draft7Validator(schema).iter_errors(report)] == []
    told = commands.run("rubric-lint", *command, "--format", "table").stdout
    assert "(code/1 5 -> 1, code/style 1.0 -> 0.0 and gate of code missed)" in told


def test_a_comparison_says_that_nothing_applies_and_not_that_the_output_is_invalid(folder):
    (folder / "rubric.yaml").write_text(write(NOTHING), "utf-8")
    record = {"id": "x", "output": {"checks": [{"id": "rubric-1", "applicable": False}]}}
    (folder / "out.jsonl").write_text(lines(record), "utf-8")
    command = ["score", "rubric.yaml", "out.jsonl", "--isolated", "--compare", "out.jsonl", "--format", "json", "-q"]
    (left_out,) = json.loads(commands.run("rubric-lint", *command).stdout)["comparison"]["left_out"]
    assert left_out["reason"] == NothingAppliesError.REASON


def test_a_column_with_an_earlier_grade_does_not_stand_in_the_result(run):
    cells = {name: next(iter(check.values())) for name, check in BEST.items()}
    _, (result,), _ = run(write(REPLY), "out.jsonl", out=lines({"id": "a", **cells, "rubric_grade": "F"}))
    assert (result["rubric_grade"], result["rubric_score"]) == ("A", 5.0)
