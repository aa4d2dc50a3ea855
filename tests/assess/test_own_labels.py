"""A judge is never compared with itself: labels that only repeat the results are refused by every command."""

import json
import os
import shutil
from pathlib import Path

import commands
import pytest

from rubric_lint.scoring.records.mapping import find_shared, read_mapping

RUBRIC = """\
rubrics:
  - {id: accuracy, expected_outcome: Names the height of the tower in meters}
  - {id: length, expected_outcome: Uses at most two sentences}
"""
HEADER = "id,accuracy,length,first,second,reviewer\n"
LINES = [f"a{number},yes,no,{'yes' if number % 3 else 'no'},no,fail\n" for number in range(60)]


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    Path("judged.csv").write_text("".join([HEADER, *LINES]), "utf-8")
    rows = [{"id": f"a{number}", "accuracy": True, "length": number % 2 == 0} for number in range(60)]
    Path("judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    Path("folder").mkdir()
    Path("link.csv").symlink_to("judged.csv")
    os.link("judged.csv", "hard.csv")
    shutil.copy("judged.csv", "copy.csv")
    return folder


def call(*arguments):
    done = commands.run(*arguments)
    return done.returncode, done.stdout, done.stderr


def run(command, results, *options):
    """Return the exit code and stderr of a command that compares results with labels."""
    calls = {
        "assess": ["assess", "r.rubric.yaml", results],
        "agree": ["agree", "r.rubric.yaml", results],
        "score": ["score", "r.rubric.yaml", results, "--report", "page.html", "-o", "results.csv"],
        "check": ["check", "r.rubric.yaml", "--no-cache", "--judged", results],
    }
    code, _, err = call("rubric-lint", *calls[command], *options)
    return code, err


@pytest.mark.parametrize("command", ["assess", "agree", "score", "check"])
@pytest.mark.parametrize(
    ("results", "labels"),
    [
        ("judged.csv", "judged.csv"),
        ("judged.jsonl", "judged.jsonl"),
        ("judged.csv", "folder/../judged.csv"),
        ("judged.csv", "link.csv"),
        ("link.csv", "judged.csv"),
        ("judged.csv", "hard.csv"),
        ("judged.csv", "copy.csv"),
    ],
)
def test_results_are_no_labels(command, results, labels):
    code, err = run(command, results, "--labels", labels)
    assert (code, labels in err, "the judge would be compared with itself" in err) == (2, True, True), err


@pytest.mark.parametrize("again", ["judged.csv", "link.csv", "folder/../judged.csv"])
def test_one_file_is_not_two_judges_or_two_samples(again):
    done = commands.run("rubric-lint", "agree", "r.rubric.yaml", "judged.csv", again)
    assert (done.returncode, f"{again}: is named twice" in done.stderr) == (2, True), done.stderr


SIDES = [
    (["judge.accuracy=accuracy", "human.accuracy=accuracy"], "accuracy"),
    (["human.accuracy=accuracy"], "accuracy"),
    (["accuracy=first", "human.accuracy=first"], "accuracy"),
    (["judge.output=/got", "human.output=got"], "output"),
    (["judge.output=got", "human.accuracy=got.accuracy"], "accuracy"),
    (["judge.accuracy=got.accuracy", "human.output=got"], "output"),
    (["human.accuracy=output.accuracy"], "accuracy"),
    (["human.verdict=verdict"], "verdict"),
    (["human.criteria=criteria[id:answer]"], "criteria"),
    (["criteria=got[id:score]", "human.criteria=got[id:score]"], "criteria"),
    (["human.accuracy=first"], None),
    (["human.verdict=label", "id=uid", "human.rater=who"], None),
    (["judge.accuracy=model", "human.accuracy=accuracy"], None),
    (["judge.output=output", "human.accuracy=accuracy", "human.verdict=verdict"], None),
    (["accuracy=first", "human.verdict=reviewer"], None),
    (["criteria=got[id:score]", "human.criteria=got[id:human]"], None),
    (["judge.output=got.model", "human.output=got.person"], None),
]


@pytest.mark.parametrize(("options", "field"), SIDES)
def test_a_column_is_of_one_side(options, field):
    assert find_shared(read_mapping(options)) == (field and f"human.{field}")


@pytest.mark.parametrize("command", ["assess", "agree", "check"])
@pytest.mark.parametrize("options", [["judge.accuracy=accuracy", "human.accuracy=accuracy"], ["human.length=length"]])
def test_one_column_of_both_sides_is_refused(command, options):
    code, err = run(command, "judged.csv", *(f"--map={option}" for option in options))
    assert (code, f"--map {options[-1]}" in err) == (2, True), err


@pytest.mark.parametrize("command", ["assess", "agree", "check"])
def test_a_second_name_of_the_file_with_both_sides_is_refused(command):
    code, err = run(command, "judged.csv", "--labels", "link.csv", "--map=human.accuracy=first")
    assert (code, "link.csv" in err) == (2, True), err


def test_a_field_without_a_side_is_of_the_judge_in_a_file_with_both():
    """`accuracy` of people is not read from the column that holds the judge's."""
    options = ["--map=accuracy=first", "--map=human.verdict=reviewer", "--format", "json"]
    code, out, err = call("rubric-lint", "agree", "r.rubric.yaml", "judged.csv", *options)
    assert code == 0, err
    (agreement,) = json.loads(out)["agreements"]
    measures = {measure["criterion"]: measure["answers"] for measure in agreement["comparisons"][0]["measures"]}
    assert measures == {"accuracy": 0, "length": 0, None: 60}


def test_settings_that_name_one_file_for_both_have_no_labels():
    settings = 'judged = ["judged.csv"]\nlabels = ["copy.csv"]\n'
    Path("rubric-lint.toml").write_text(settings, "utf-8")
    code, _, err = call("rubric-lint", "check", "--no-cache")
    assert (code, "copy.csv" in err) == (0, True), err


@pytest.mark.parametrize("command", ["assess", "improve"])
def test_a_model_is_not_asked_before_labels_are_refused(command):
    Path("answers.jsonl").write_text('{"id": "a0", "answer": "It is tall."}\n', "utf-8")
    options = ["--results", "judged.jsonl", "--labels", "judged.jsonl", "--model", "m", "--base-url", "http://[::1]:9"]
    code, _, err = call("rubric-lint", command, "r.rubric.yaml", "answers.jsonl", *options)
    assert (code, "the judge would be compared with itself" in err) == (2, True), err
