"""Two runs: every command that compares them joins the same answers, and says why it leaves out others."""

import json
import re
from html import unescape

import commands
import pytest
from jsonschema import Draft7Validator

from rubric_lint.agree.runs import NO_ID, ONLY, OTHER_RUBRIC, OTHER_TYPE, REPEATED
from rubric_lint.format.schema_files import load

OLD = """\
rubrics:
  - id: accuracy
    weight: 2
    levels:
      - {level: 1, expected_outcome: Contradicts the source.}
      - {level: 2, expected_outcome: Omits the main figures of the source.}
      - {level: 3, expected_outcome: Agrees with the source.}
  - id: tone
    levels:
      - {level: 0, expected_outcome: Insults the reader.}
      - {level: 1, expected_outcome: Addresses the reader politely.}
"""
NEW = OLD.replace("level: 1, expected_outcome: Contra", "level: 0, expected_outcome: Contra").replace(
    "weight: 2", "weight: 2\n    required_min_level: 3"
)
LEVELS = dict(zip("abcdefg", (3, 2, 2, 1, 0, 7, 7), strict=True))  # 0 and 1 are no levels of one version, 7 of none
COUNTS = ("answers", "worse", "better", "same", "invalid_now", "invalid_before", "invalid_both")


def judge(name, level, **fields):
    checks = [{"id": "accuracy", "level": level}, {"id": "tone", "level": 1}]
    return {**({} if name is None else {"id": name}), **fields, "output": {"checks": checks}}


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture
def run(folder):
    def call(command, *arguments, **files):
        for name, text in files.items():
            (folder / f"{name}.{'yaml' if text.startswith(('rubrics:', 'tests:')) else 'jsonl'}").write_text(text)
        quiet = ["--fail-on", "never"] if command == "score" else []
        return commands.run("rubric-lint", command, *arguments, *quiet, "--isolated").stdout

    return call


def read_left_out(comparison):
    """Return the records of each run that are not compared, by the start of the reason."""
    found = {}
    for each in comparison["left_out"]:
        reason = each["reason"].partition(":")[0]
        names = [re.sub(r" \(.*line.*\)", "", record) for record in each["records"]]
        found.setdefault((each["run"], reason), []).extend(names)
    return found


def score(run, *arguments, **files):
    report = json.loads(run("score", "new.yaml", "now.jsonl", "--format", "json", *arguments, **files))
    assert [*Draft7Validator(load("scores/v1.json")).iter_errors(report)] == []
    return report["comparison"]


@pytest.mark.parametrize("form", ["jsonl", "csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_two_versions_of_a_rubric_change_the_same_answers_at_once_and_in_two_runs(run, folder, form, said):
    """`diff` scores the outputs with both versions; `score` compares with the file that the old version wrote."""
    outputs = lines(judge(*each) for each in LEVELS.items())
    files = {"old": OLD, "new": NEW, "now": outputs}
    text, data = (
        run("diff", "old.yaml", "new.yaml", "--outputs", "now.jsonl", f"--format={kind}", **files)
        for kind in ("text", "json")
    )
    report = json.loads(data)
    assert [*Draft7Validator(load("diff/v1.json")).iter_errors(report)] == []
    run("score", "old.yaml", "now.jsonl", "-o", f"before.{form}")
    compared = score(run, "--compare", f"before.{form}")
    effects = report["outputs"]
    assert [compared[name] for name in COUNTS] == [effects[name] for name in COUNTS] == [3, 2, 0, 1, 1, 1, 2]
    expected = {("now", "invalid"): ["d"], ("before", "invalid"): ["e"], ("both", "invalid"): ["f", "g"]}
    assert read_left_out(compared) == read_left_out(effects) == expected
    assert compared["other_version"] == compared["answers"]
    assert [each["id"] for each in compared["worse_answers"]] == ["b", "c"]
    if form == "jsonl":
        table = run("score", "new.yaml", "now.jsonl", "--compare", "before.jsonl", "--format", "table")
        markdown = run("diff", "old.yaml", "new.yaml", "--outputs", "now.jsonl", "--format", "markdown")
        told = [line for line in f"{text}\n{table}\n{markdown}".splitlines() if "not compared" in line]
        said(*told)
        run("score", "new.yaml", "now.jsonl", "--compare", "before.jsonl", "--report", "page.html")
        page = unescape((folder / "page.html").read_text())
        shown = [line.partition("left out ")[2] in page for line in told if " run: " in line or " runs: " in line]
        assert shown == [True] * 3


def test_every_record_of_two_runs_is_compared_or_left_out_for_a_reason(run):
    now = [
        judge("a", 3),
        judge("b", 3),
        judge("b", 2),
        judge(None, 3),
        judge(7, 3),
        judge("only now", 3),
        judge("c", 7),
    ]
    before = [judge("a", 3), judge("b", 2), judge("7", 3), judge(None, 3), judge("only before", 3), judge("c", 3)]
    before += [judge("d", 7), judge("d", 7)]
    now += [judge("d", 3)]
    found = score(run, "--compare", "before.jsonl", new=NEW, now=lines(now), before=lines(before))
    assert read_left_out(found) == {
        ("now", REPEATED): ["b"],
        ("now", NO_ID): ["line 4"],
        ("now", OTHER_TYPE): ["7"],
        ("now", ONLY): ["only now"],
        ("now", "invalid"): ["c"],
        ("before", "invalid"): ["d"],
        ("before", NO_ID): ["line 4"],
        ("before", REPEATED): ["d"],
        ("before", OTHER_TYPE): ["7"],
        ("before", ONLY): ["only before"],
    }
    counts = {run: sum(each["count"] for each in found["left_out"] if each["run"] == run) for run in ("now", "before")}
    assert found["answers"] + found["invalid_before"] + counts["now"] == len(now)
    assert found["answers"] + found["invalid_now"] + counts["before"] == len(before)


def test_answers_of_another_rubric_are_not_joined(run):
    suite = "tests:\n  - {id: tower, rubrics: [Names the height]}\n  - {id: sort, rubrics: [Names the pivot]}\n"
    now, before = (
        lines(
            {"id": "a", "rubric": name, "output": {"checks": [{"id": "rubric-1", "satisfied": True}]}} for name in names
        )
        for names in (["tower"], ["sort"])
    )
    found = score(run, "--compare", "before.jsonl", new=suite, now=now, before=before)
    assert read_left_out(found) == {("now", OTHER_RUBRIC): ["a"], ("before", OTHER_RUBRIC): ["a"]}
