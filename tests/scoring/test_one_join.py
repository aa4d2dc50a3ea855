"""Two runs: every command that compares them joins the same answers, and says why it leaves out others."""

import json
import re
from html import unescape

import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from raters import lines

from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.diff.compare_runs import NO_ID, ONLY, OTHER_RUBRIC, OTHER_TYPE, REPEATED, OtherRun
from rubric_lint.model.schema_files import load
from rubric_lint.scoring.ids import make_id_key, name_key
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.scorer import Scorer

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
    outputs = lines(judge(*level) for level in LEVELS.items())
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
    assert [answer["id"] for answer in compared["worse_answers"]] == ["b", "c"]
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
        judge("7", 3),
        judge("8", 3),
        judge("only now", 3),
        judge("c", 7),
    ]
    before = [
        judge("a", 3),
        judge("b", 2),
        judge("7", 3),
        judge(None, 3),
        judge("only before", 3),
        judge(8, 3),
        judge("c", 3),
    ]
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


RUBRICS = load_rubrics("new.yaml", NEW)
IDS = st.lists(st.sampled_from([1, "1", 2.5, "2.5", True, "true", "a"]), min_size=1, unique_by=make_id_key)


def pair(own, other):
    """The pairs of ids of one answer: the type counts only where a file has an id in two."""
    found = {(key, key) for key in own if key in other}
    for text in map(name_key, own):
        mine, theirs = ([key for key in side if name_key(key) == text] for side in (own, other))
        if len(mine) == len(theirs) == 1:
            found.add((mine[0], theirs[0]))
    return found


def compare_runs(now, before):
    """The pairs of ids that `score --compare` joins, and the ids of this run that it leaves out for their types."""
    other = OtherRun(RUBRICS)
    other.read([lines(judge(name, 3) for name in before).encode()])
    found = set()
    for line, name in enumerate(now, 1):
        joined = other.add(Scorer(RUBRICS).score(judge(name, 3), line))
        if joined:
            found.add((make_id_key(name), make_id_key(before[joined.record])))
    told = {each.reason: each.records for run, each in other.list_left_out() if run == "now"}
    return found, {name.partition(" ")[0] for name in told.get(OTHER_TYPE, [])}


@given(IDS, IDS)
def test_every_command_joins_the_same_ids_whatever_their_types(now, before):
    own, other = (list(map(make_id_key, side)) for side in (now, before))
    expected = pair(own, other)
    found, left_out = compare_runs(now, before)
    differing = found ^ expected  # an id may come before the same one in the right type
    assert {name_key(key) for key, _ in differing} == {name_key(key) for key, _ in found - expected} <= left_out
    flat = [{"id": name, "accuracy": 3, "tone": 1} for name in before]
    rated = [{**judge(name, 3), "rater": "ana"} for name in before]
    for others, are_labels in (
        (flat, True),
        (rated, True),
        (flat, False),
        ([judge(name, 3) for name in before], False),
    ):
        reader = RatingReader(RUBRICS)
        reader.read("now.jsonl", [lines(judge(name, 3) for name in now).encode()])
        reader.read("before.jsonl", [lines(others).encode()], labels=are_labels)
        (ratings,) = reader.gather()
        mine, theirs = ratings.raters.values()
        assert mine.keys() & theirs.keys() == {key for key, _ in expected}


def test_a_table_of_results_joins_the_numbers_from_which_it_was_made(run, folder):
    """In CSV every id is a text."""
    judged = lines({"id": name, "accuracy": 3, "tone": 1} for name in range(3))
    answers = lines({"id": name, "question": "Is it odd?", "answer": f"{name} is odd"} for name in range(3))
    (folder / "labels.csv").write_text("id,rater,accuracy,tone\n0,ana,3,1\n1,ana,3,1\n2,ana,0,1\n")
    run("score", "new.yaml", "now.jsonl", "-o", "before.csv", new=NEW, now=judged, answers=answers)
    found = score(run, "--compare", "before.csv")
    assert (found["answers"], found["left_out"]) == (3, [])
    for judge_name, file in (("now", "now.jsonl"), ("before", "before.csv")):
        (rated,) = json.loads(run("agree", "new.yaml", file, "--labels", "labels.csv", "--format", "json"))[
            "agreements"
        ]
        assert [rater["answers"] for rater in rated["raters"]] == [rated["answers"], 3] == [3, 3]
        assessed = run("assess", "new.yaml", "answers.jsonl", "--results", file, "--labels", "labels.csv")
        assert f"3 answers judged by `{judge_name}`, 3 labelled by `ana`" in assessed
        assert "Of 1 question with good answers" in assessed  # that the answers name, whose ids are numbers
        checked = run("check", "new.yaml", "--judged", file, "--labels", "labels.csv")
        assert f"3 answers judged by `{judge_name}`, 3 with labels by `ana`" in checked


def test_of_compact_results_every_command_knows_the_verdicts_alone(run, folder, said):
    outputs = lines({"id": name, "accuracy": 3, "tone": 1} for name in "abc")
    answers = lines({"id": name, "answer": "So."} for name in "abc")
    (folder / "labels.csv").write_text("id,rater,accuracy,tone\na,ana,3,1\nb,ana,3,1\nc,ana,0,1\n")
    results = run("score", "new.yaml", "now.jsonl", "--compact", new=NEW, now=outputs, answers=answers)
    (folder / "results.jsonl").write_text(results)
    labels = ["--labels", "labels.csv"]
    said(run("score", "new.yaml", "results.jsonl", "--compact", "--allow-invalid"))
    said([line for line in run("agree", "new.yaml", "results.jsonl", *labels).splitlines() if "verdict  " in line])
    checked = run("check", "new.yaml", "--judged", "results.jsonl", *labels)
    said([line for line in checked.splitlines() if "judged by" in line or "alone" in line])
    for arguments in (["answers.jsonl", "--results", "results.jsonl"], ["results.jsonl"]):
        assessed = run("assess", "new.yaml", *arguments, *labels)
        said([line for line in assessed.splitlines() if "judged by" in line or "inconclusive" in line])
