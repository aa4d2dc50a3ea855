"""`--map FIELD=PATH`: one way to name columns, fields and places in them, in every command that reads records."""

import contextlib
import csv
import gzip
import io
import json
import shlex
from pathlib import Path

import commands
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rubric_lint.arrow import map_batches
from rubric_lint.assess.agreement.left_out import SKIPPED

RUBRIC = """\
rubrics:
  - {id: cause, expected_outcome: Names the cause of the fault}
"""
ROWS = [
    {"uid": "a", "reply": {"text": "The disk was full."}, "outs": [{"checks": [{"id": "cause", "satisfied": True}]}]},
    {"uid": "b", "reply": {"text": "It broke."}, "outs": [{"checks": [{"id": "cause", "satisfied": False}]}]},
]


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    return folder


def write_jsonl(rows):
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return "rows.jsonl"


def write_json(rows):
    Path("rows.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return "rows.json"


def write_csv(rows):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    for row in rows:
        cells = {name: item if isinstance(item, str) else json.dumps(item) for name, item in row.items()}
        writer.writerow(cells)
    Path("rows.csv").write_text(stream.getvalue(), "utf-8")
    return "rows.csv"


KINDS = [write_jsonl, write_json, write_csv]


def write_xlsx(rows):
    book = openpyxl.Workbook()
    for row in [[*rows[0]], *([*row.values()] for row in rows)]:
        book.active.append(row)
    book.save("rows.xlsx")
    return "rows.xlsx"


def write_parquet(rows):
    pq.write_table(pa.Table.from_pylist(rows), "rows.parquet")
    return "rows.parquet"


ANSWER = ["--map", "id=uid", "--map", "answer=reply.text"]
OUTPUT = ["--map", "id=uid", "--map", "output=outs.0"]


def run(program, *args):
    done = commands.run(program, *map(str, args))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("write", KINDS)
def test_answers_of_every_kind_of_file_are_found(write):
    code, out, err = run("rubric-lint", "prompt", "r.rubric.yaml", "--answers", write(ROWS), *ANSWER)
    assert (code, err) == (0, "")
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["a", "b"]
    assert ["The disk was full." in line for line in out.splitlines()] == [True, False]


@pytest.mark.parametrize("write", KINDS)
def test_answers_to_label_are_found(write):
    code, _, err = run("rubric-lint", "labels", "r.rubric.yaml", write(ROWS), *ANSWER, "-o", "sheet.csv")
    assert code == 0, err
    rows = [*csv.DictReader(io.StringIO(Path("sheet.csv").read_text("utf-8-sig")))]
    assert {row["id"]: row["answer"] for row in rows} == {"a": "The disk was full.", "b": "It broke."}


@pytest.mark.parametrize("write", KINDS)
def test_a_sheet_of_labels_has_our_names_and_is_read_with_the_mapping_of_its_answers(write):
    """The command that `labels` prints reads answers and results under their names, and the sheet under ours."""
    file = write(ROWS)
    code, _, words = run("rubric-lint", "labels", "r.rubric.yaml", file, *ANSWER, "-o", "sheet.csv")
    command = words.splitlines()[-1].strip()
    assert (code, command) == (0, f"rubric-lint assess r.rubric.yaml {file} --labels sheet.csv {' '.join(ANSWER)}")
    sheet = Path("sheet.csv").read_text("utf-8").replace(",,random", ",yes,random")
    Path("sheet.csv").write_text(sheet, "utf-8")
    judged = [{"uid": row["uid"], "output": row["outs"][0]} for row in ROWS]
    Path("judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged), "utf-8")
    _, out, _ = run(*shlex.split(command), "--results", "judged.jsonl", "--format", "json")
    found = json.loads(out)["rubrics"][0]
    assert (found["answers"], found["labelled"], found["left_out"]) == (2, 2, [])


def test_results_of_other_texts_are_refused_under_any_names():
    file = write_jsonl(ROWS)
    judged = [{"uid": row["uid"], "reply": {"text": "Another text."}, "output": row["outs"][0]} for row in ROWS]
    Path("judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged), "utf-8")
    code, _, err = run("rubric-lint", "assess", "r.rubric.yaml", file, *ANSWER, "--results", "judged.jsonl")
    assert (code, "judged.jsonl: the text of `a` and `b` is not that in rows.jsonl" in err) == (2, True)


@pytest.mark.parametrize("write", KINDS)
def test_outputs_are_found_in_items_of_lists(write):
    code, out, _ = run("rubric-lint", "score", "r.rubric.yaml", write(ROWS), *OUTPUT, "--format", "jsonl")
    assert code == 1
    assert [(each["id"], each["verdict"]) for each in map(json.loads, out.splitlines())] == [
        ("a", "pass"),
        ("b", "fail"),
    ]


@pytest.mark.parametrize("write", [*KINDS, write_xlsx, write_parquet])
@pytest.mark.parametrize("other", ["tone", "criteria.Tone", "tone [0 to 10]"])
def test_a_column_whose_field_is_read_from_another_is_not_read(write, other):
    """An explicit --map wins over the name of a column, in whatever case."""
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    rows = [{"key": "a", "id": "x", "accuracy": 9, other: 0, "Note": 8, "more": "m"}]
    options = ["--map", "id=key", "--map", "tone=Note", "--format", "jsonl"]
    code, out, err = run("rubric-lint", "score", "r.rubric.yaml", write(rows), *options)
    assert code == 0, err
    result = json.loads(out)
    scores = [criterion["raw"] for criterion in result["criteria"]]
    assert (result["id"], scores, {*result} & {"x", "Note", other, "", "more"}) == ("a", [9, 8], {"more"})


@pytest.mark.parametrize("write", KINDS)
def test_a_field_may_be_read_from_inside_the_column_of_its_own_name(write):
    """Also where another column gets that name."""
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    rows = [{"uid": "a", "id": {"tone": 8}, "accuracy": {"value": 9}, "tone": 0}]
    fields = ["id=uid", "tone=id.tone", "accuracy=accuracy.value"]
    options = [f"--map={field}" for field in fields]
    code, out, err = run("rubric-lint", "score", "r.rubric.yaml", write(rows), *options, "--format", "jsonl")
    assert code == 0, err
    result = json.loads(out)
    assert (result["id"], [criterion["raw"] for criterion in result["criteria"]]) == ("a", [9, 8])


@pytest.mark.parametrize("write", KINDS)
def test_recorded_outputs_are_assessed(write):
    code, out, err = run("rubric-lint", "assess", "r.rubric.yaml", write(ROWS), *OUTPUT, "--format", "json")
    assert code == 4, err
    assert json.loads(out)["rubrics"][0]["answers"] == 2


@pytest.mark.parametrize("write", KINDS)
def test_the_judge_and_people_may_be_columns_of_one_file(write):
    rows = [{"key": f"a{number}", "says": "yes", "is": "yes" if number else "no"} for number in range(4)]
    options = ["--map", "id=key", "--map", "judge.cause=says", "--map", "human.cause=is"]
    name = write(rows)
    code, out, err = run("rubric-lint", "agree", "r.rubric.yaml", name, *options, "--format", "json")
    assert code == 0, err
    ((compared,),) = [each["comparisons"] for each in json.loads(out)["agreements"]]
    exact = compared["measures"][0]["pair"]["exact"]
    assert (compared["raters"], exact["x"], exact["n"]) == ([name, "rows"], 3, 4)
    code, out, err = run("rubric-lint", "assess", "r.rubric.yaml", name, *options, "--format", "json")
    (assessed,) = json.loads(out)["rubrics"]
    shares = [(assessed[side]["x"], assessed[side]["n"]) for side in ("bad_caught", "good_passed")]
    assert (code, shares, assessed["reasons"], assessed["chosen"]) == (4, [(0, 1), (3, 3)], ["few-labels"], None), err


def test_the_judgement_of_a_person_may_be_one_object_beside_that_of_the_judge():
    """The file is the rater then, as where each criterion has a column."""
    rows = [{"id": f"a{number}", "model": {"cause": True}, "person": {"cause": bool(number)}} for number in range(4)]
    rows.append({"id": "skipped", "model": {"cause": True}, "person": None})
    name = write_json(rows)
    reports = []
    for human in ("human.output=person", "human.cause=person.cause"):
        options = ["--map", "judge.output=model", "--map", human, "--format", "json"]
        _, out, err = run("rubric-lint", "agree", "r.rubric.yaml", name, *options)
        reports.append(json.loads(out))
        assert [rater["answers"] for rater in reports[-1]["agreements"][0]["raters"]] == [4, 5], err
        left_out = reports[-1]["left_out"]
        assert [(each["reason"], each["count"]) for each in left_out] == [(SKIPPED, 1)]
    assert reports[0] == reports[1]


SCORES = """\
rubrics:
  - id: accuracy
    required_min_score: 5
    score_ranges: [{score_range: [0, 4], expected_outcome: Wrong}, {score_range: [5, 10], expected_outcome: Right}]
  - id: tone
    score_ranges: [{score_range: [0, 4], expected_outcome: Rude}, {score_range: [5, 10], expected_outcome: Polite}]
"""
GIVEN = [
    {"id": f"a{number}", "answer": f"Answer {number}", "judge": judge, "human": human}
    for number, (judge, human) in enumerate([((9, 8), (8, 7)), ((8, 8), (3, 7)), ((2, 1), (1, 6)), ((9, 9), (9, 9))])
]
"""Answers with the scores that the judge and people gave."""


def name_verdict(scores):
    return "fail" if scores[0] < 5 else "pass"


def name_scores(scores, prefix=""):
    return {f"{prefix}accuracy": scores[0], f"{prefix}tone": scores[1]}


def write_output(scores):
    return {"checks": [{"id": name, "score": score} for name, score in name_scores(scores).items()]}


IN_COLUMNS = [f"--map={side}.{name}={side}_{name}" for side in ("judge", "human") for name in ("accuracy", "tone")]
TOGETHER = {
    "verdicts": (
        lambda row: {"verdict": name_verdict(row["judge"])},
        lambda row: {"verdict": name_verdict(row["human"])},
        lambda row: {"judge_label": name_verdict(row["judge"]), "human_label": name_verdict(row["human"])},
        ["--map=judge.verdict=judge_label", "--map=human.verdict=human_label"],
    ),
    "criteria": (
        lambda row: name_scores(row["judge"]),
        lambda row: name_scores(row["human"]),
        lambda row: {**name_scores(row["judge"], "judge_"), **name_scores(row["human"], "human_")},
        IN_COLUMNS,
    ),
    "criteria and a verdict of people": (
        lambda row: name_scores(row["judge"]),
        lambda row: {"verdict": name_verdict(row["human"])},
        lambda row: {**name_scores(row["judge"]), "human_label": name_verdict(row["human"])},
        ["--map=human.verdict=human_label"],
    ),
    "names of the judge": (
        lambda row: name_scores(row["judge"]),
        lambda row: name_scores(row["human"]),
        lambda row: {**name_scores(row["judge"]), **name_scores(row["human"], "human_")},
        IN_COLUMNS[2:],
    ),
    "outputs": (
        lambda row: {"output": write_output(row["judge"])},
        lambda row: {"verdict": name_verdict(row["human"])},
        lambda row: {"output": write_output(row["judge"]), "human_label": name_verdict(row["human"])},
        ["--map=human.verdict=human_label"],
    ),
}


@pytest.mark.spread(3)
@pytest.mark.parametrize("kind", TOGETHER)
@pytest.mark.parametrize(
    "command",
    [
        ["agree", "r.rubric.yaml"],
        ["assess", "r.rubric.yaml"],
        ["check", "r.rubric.yaml", "--no-cache", "--judged"],
    ],
    ids=lambda command: command[0],
)
def test_both_labels_in_one_file_are_read_as_those_of_two(command, kind):
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    judge, human, both, options = TOGETHER[kind]
    known = [{"id": row["id"], "answer": row["answer"]} for row in GIVEN]

    def write(convert):
        return write_csv([{**row, **convert(given)} for row, given in zip(known, GIVEN, strict=True)])

    write_jsonl([{**row, **judge(given)} for row, given in zip(known, GIVEN, strict=True)])
    write(human)

    def report(name, *more):
        code, out, err = run("rubric-lint", *command, name, *more, "--format", "json")
        found = json.loads(out)
        for rubric in found.get("rubrics", ()):
            rubric.pop("next", None)  # the commands to run have the names of files
        return code, found, err

    results = ["--results", "rows.jsonl"] if command[0] == "assess" else []
    two = report("rows.jsonl", *results, "--labels", "rows.csv")
    assert "rows.csv" in json.dumps(two[1]), two
    write(both)
    assert report("rows.csv", *options) == two


def test_the_earlier_run_is_read_as_this_one():
    write_jsonl(ROWS)
    Path("earlier.jsonl").write_bytes(Path("rows.jsonl").read_bytes())
    options = [*OUTPUT, "--compare", "earlier.jsonl", "--format", "json"]
    code, out, err = run("rubric-lint", "score", "r.rubric.yaml", "rows.jsonl", *options)
    assert (code, json.loads(out)["comparison"]["answers"]) == (1, 2), err


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["score", "r.rubric.yaml", "rows.jsonl"], ["--map", "output=outs.3"]),
        (["prompt", "r.rubric.yaml", "--answers", "rows.jsonl"], ["--map", "id=uid", "--map", "answer=reply.txt"]),
        (["prompt", "r.rubric.yaml", "--answers", "rows.jsonl"], ["--map", "output=outs"]),
        (["labels", "r.rubric.yaml", "rows.jsonl", "-o", "s.csv"], ["--map", "id=uidd"]),
        (["agree", "r.rubric.yaml", "rows.jsonl"], ["--map", "judge.caus=says"]),
        (["score", "r.rubric.yaml", "rows.jsonl"], ["--map", "verdict=says"]),
        (["agree", "r.rubric.yaml", "rows.jsonl"], ["--map", "judge.score=says"]),
    ],
)
def test_what_is_not_there_is_named(command, options, said):
    write_jsonl(ROWS)
    code, out, err = run("rubric-lint", *command, *options)
    assert code in {1, 2}
    said(out + err)


@pytest.mark.parametrize("command", [["agree", "r.rubric.yaml"], ["check", "r.rubric.yaml", "--no-cache", "--judged"]])
@pytest.mark.parametrize("wrong", ["judge.verdict=judgelabel", "human.verdict=humanlabel"])
def test_a_column_of_one_side_that_is_not_there_is_named_as_it_was_typed(command, wrong, said):
    name = write_csv([{"id": "a", "judge_label": "pass", "human_label": "fail"}])
    right = {"judge": "human.verdict=human_label", "human": "judge.verdict=judge_label"}[wrong[:5]]
    code, _, err = run("rubric-lint", *command, name, "--map", wrong, "--map", right)
    assert code == 2
    said(err)


def test_an_answer_that_people_skipped_is_left_out():
    rows = [{"id": f"a{number}", "cause": "yes", "is": "no"} for number in range(3)]
    del rows[1]["is"]
    options = ["--map", "human.verdict=is", "--format", "json"]
    code, out, err = run("rubric-lint", "agree", "r.rubric.yaml", write_jsonl(rows), *options)
    found = json.loads(out)
    assert (code, found["invalid"], [each["count"] for each in found["left_out"]]) == (0, [], [1]), err


def test_results_without_texts_get_those_of_their_answers():
    write_jsonl([{"id": f"a{number}", "answer": "The disk was full. " * number} for number in range(1, 5)])
    results = [
        {"id": f"a{number}", "output": {"checks": [{"id": "cause", "satisfied": True}]}} for number in range(1, 5)
    ]
    Path("results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")
    Path("labels.csv").write_text("id,cause\na1,no\na2,yes\na3,yes\na4,no\n", "utf-8")
    options = ["--results", "results.jsonl", "--labels", "labels.csv"]
    _, out, _ = run("rubric-lint", "assess", "r.rubric.yaml", "rows.jsonl", *options)
    assert "none of them a text" not in " ".join(out.split())
    assert "is known: each counts by itself" not in " ".join(out.split())


TWO = """\
rubrics:
  - {id: cause, score_ranges: [{score_range: [0, 10], expected_outcome: Names the cause}]}
  - {id: tone, score_ranges: [{score_range: [0, 10], expected_outcome: Is polite}]}
"""


def rate(*values):
    """Ratings of the two criteria."""
    return [{"aspect": name, "stars": value} for name, value in zip(("cause", "tone"), values, strict=False)]


LISTED = [
    {"case": "a", "ratings": rate(9, 7)},
    {"case": "b", "ratings": rate(1)},
    {"case": "c", "ratings": [*rate(1, 2), {"aspect": "cause", "stars": 3}]},
    {"case": "d", "ratings": [{"aspect": "cause"}]},
    {"case": "e", "ratings": 3},
    {"case": "f"},
]


@pytest.mark.parametrize("write", KINDS)
def test_criteria_may_be_a_list(write, said):
    Path("r.rubric.yaml").write_text(TWO, "utf-8")
    options = ["--map", "id=case", "--map", "criteria=ratings[aspect:stars]", "--format", "jsonl"]
    rows = [{"ratings": "", **row} for row in LISTED] if write is write_csv else LISTED
    code, out, _ = run("rubric-lint", "score", "r.rubric.yaml", write(rows), *options)
    first, *others = map(json.loads, out.splitlines())
    assert (code, first["id"], first["score"]) == (1, "a", 0.8)
    assert [each["id"] for each in others] == ["b", "c", "d", "e", "f"]
    said([each["error"]["message"] for each in others])


def test_records_may_be_a_list_in_an_object(said):
    Path("r.rubric.yaml").write_text(TWO, "utf-8")
    Path("ours.json").write_text(json.dumps({"run": 1, "all": {"results": [*LISTED[:2], 7]}}, indent=1), "utf-8")
    options = ["--map", "id=case", "--map", "criteria=ratings[aspect:stars]", "--format", "jsonl"]
    code, out, _ = run("rubric-lint", "score", "r.rubric.yaml", "ours.json", "--map", "records=all.results", *options)
    first, *others = map(json.loads, out.splitlines())
    assert (code, first["id"], first["score"]) == (1, "a", 0.8)
    said([each["error"] for each in others])
    for wrong in ("records=all", "records=al.results", "criteria=ratings"):
        said("\n".join(run("rubric-lint", "score", "r.rubric.yaml", "ours.json", "--map", wrong)[1:]))


def test_answers_may_be_a_list_in_an_object():
    Path("ours.json").write_text(json.dumps({"items": ROWS}, indent=1), "utf-8")
    options = ["--answers", "ours.json", "--map", "records=items", *ANSWER]
    code, out, err = run("rubric-lint", "prompt", "r.rubric.yaml", *options)
    assert (code, [json.loads(line)["id"] for line in out.splitlines()]) == (0, ["a", "b"]), err


def test_our_json_report_is_a_list_in_an_object():
    write_jsonl(ROWS)
    _, out, _ = run("rubric-lint", "score", "r.rubric.yaml", "rows.jsonl", *OUTPUT, "--format", "json")
    Path("report.json").write_text(out, "utf-8")
    code, out, _ = run("rubric-lint", "score", "r.rubric.yaml", "report.json", "--map", "records=results")
    assert (code, [json.loads(line)["verdict"] for line in out.splitlines()]) == (1, ["pass", "fail"])


@pytest.mark.parametrize("write", KINDS)
def test_outputs_of_a_comparison_are_found(write):
    Path("new.rubric.yaml").write_text(RUBRIC + "  - {id: tone, expected_outcome: Is polite}\n", "utf-8")
    files = ["diff", "r.rubric.yaml", "new.rubric.yaml", "--outputs", write(ROWS)]
    code, out, err = run("rubric-lint", *files, *OUTPUT, "--format", "json")
    assert code == 1, err
    (passed, failed) = json.loads(out)["outputs"]["verdicts"]
    assert [(each["old"], each["new"], each["outputs"]) for each in (passed, failed)] == [
        ("fail", "invalid", 1),
        ("pass", "invalid", 1),
    ]


@pytest.mark.parametrize("write", KINDS)
def test_recorded_outputs_of_rubric_tests_are_found(write, said):
    name = write(ROWS)
    tests = f"rubric: r.rubric.yaml\noutputs: {name}\nmap: {{id: uid, output: outs.0}}\ntests:\n"
    tests += "  - {id: a, answer: x, expect: {verdict: pass}}\n  - {id: b, answer: y, expect: {verdict: fail}}\n"
    Path("r.rubric-test.yaml").write_text(tests, "utf-8")
    assert run("rubric-lint", "test")[0] == 0
    for old, new in (("outs.0", "out"), ("output: ", "outpot: ")):
        Path("r.rubric-test.yaml").write_text(tests.replace(old, new), "utf-8")
        said(run("rubric-lint", "test", "--format", "concise")[1])


def test_nothing_is_recorded_in_a_file_of_others(said):
    write_jsonl(ROWS)
    head = "rubric: r.rubric.yaml\noutputs: rows.jsonl\nmap: {id: uid, output: outs.0}\ntests:\n"
    Path("r.rubric-test.yaml").write_text(head + "  - {id: c, answer: z, expect: {verdict: pass}}\n", "utf-8")
    said(run("rubric-lint", "test", "--record", "--model", "gpt-5")[2])


OTHERS = {
    "whole": {"grader_output": {"accuracy": 9, "tone": 7}, "reviewer": "pass"},
    "columns": {"judge_accuracy": 9, "judge_tone": 7, "human_accuracy": 8, "human_tone": 7},
    "list": {"marks": [{"aspect": "accuracy", "stars": 9}, {"aspect": "tone", "stars": 3}]},
    "answers": {"comment": "fine"},
    "nothing": None,
}
"""Fields of records with other names than ours."""
WAYS = {
    "score": ["score", "s.rubric.yaml", "{}"],
    "agree": ["agree", "s.rubric.yaml", "{}"],
    "labels of agree": ["agree", "s.rubric.yaml", "judged.jsonl", "--labels", "{}"],
    "assess": ["assess", "s.rubric.yaml", "{}"],
    "judge": ["judge", "s.rubric.yaml", "{}", "--model", "m", "--base-url", "http://localhost:1/v1"],
    "prompt": ["prompt", "s.rubric.yaml", "--answers", "{}"],
    "labels": ["labels", "s.rubric.yaml", "{}", "-o", "sheet.csv"],
    "improve": ["improve", "s.rubric.yaml", "{}", "--model", "m", "--base-url", "http://localhost:1/v1"],
    "diff": ["diff", "s.rubric.yaml", "s.rubric.yaml", "--outputs", "{}"],
    "check": ["check", "s.rubric.yaml", "--no-cache", "--judged", "{}"],
}


def write_others(kind, write):
    Path("s.rubric.yaml").write_text(SCORES, "utf-8")
    Path("judged.jsonl").write_text('{"id": "c0", "accuracy": 9, "tone": 9}\n', "utf-8")
    given = OTHERS[kind]
    texts = {"prompt": "Why did it stop?", "response": "The disk was full."}
    if given is None:
        return write([{"from": 1, "to": 2}, {"from": 2, "to": 2}])
    return write([{"case_id": f"c{number}", **texts, **given} for number in range(3)])


def find_advice(err):
    """The lines that say what can be done with a file."""
    lines = err.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("rows.")]
    return lines[starts[0] :] if starts else []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("german.csv", "nr,frage,antwort\n1,Was kostet es?,Es kostet zwei Euro.\n2,Wann kommt es?,Es kommt morgen.\n"),
        ("by-id.json", '{"a": {"accuracy": 9, "tone": 9}, "b": {"accuracy": 1, "tone": 2}}'),
        ("wrapped.json", '{"page": 1, "data": [{"id": "a", "accuracy": 9, "tone": 9}]}'),
        ("deeper.json", '{"page": 1, "data": {"items": [{"id": "a", "accuracy": 9, "tone": 9}]}}'),
    ],
    ids=["other names", "by id", "wrapped", "wrapped deeper"],
)
def test_what_a_file_may_be_is_not_guessed(name, text, said):
    """An answer to judge is found by its name alone, and no command is printed that reads one object of many."""
    Path("s.rubric.yaml").write_text(SCORES, "utf-8")
    Path(name).write_text(text, "utf-8")
    for command in ("score", "agree", "labels"):
        options = ["-o", "sheet.csv"] if command == "labels" else []
        said(command, *run("rubric-lint", command, "s.rubric.yaml", name, *options))


@pytest.mark.parametrize("write", [write_csv, pytest.param(write_jsonl, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_others_is_told_what_it_is_good_for_by_commands_that_run(kind, write, said):
    name = write_others(kind, write)
    advice = find_advice(run("rubric-lint", "score", "s.rubric.yaml", name)[2])
    assert 1 < len(advice) <= 8
    said("\n".join(advice))
    for line in advice[1:]:
        _, found, command = line.partition(": rubric-lint ")
        asks = ["--batch-requests", "requests.jsonl"] if " judge " in f" {command}" else ["--format", "json"]
        if found:
            code, _, err = run("rubric-lint", *shlex.split(command), *asks)
            assert code in {0, 1}, err
            assert "invalid" not in err.replace(" 0 invalid", "")


@pytest.mark.parametrize(
    "way", [name if name in {"score", "prompt"} else pytest.param(name, marks=pytest.mark.slow) for name in WAYS]
)
def test_each_command_says_the_same_of_a_file_of_others(way):
    name = write_others("whole", write_csv)
    advice = find_advice(run("rubric-lint", "score", "s.rubric.yaml", name)[2])
    assert find_advice(run("rubric-lint", *(part.format(name) for part in WAYS[way]))[2]) == advice


def as_text(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def as_table(rows, delimiter=","):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows({name: _cell(item) for name, item in row.items()} for row in rows)
    return stream.getvalue().encode()


def _cell(item):
    return item if isinstance(item, str) else json.dumps(item)


def as_workbook(rows):
    book, stream = openpyxl.Workbook(), io.BytesIO()
    book.active.append([*rows[0]])
    for row in rows:
        book.active.append([*map(_cell, row.values())])
    book.save(stream)
    return stream.getvalue()


def as_parquet(rows):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def as_batch(rows):
    """Results of a batch of requests for these outputs."""
    lines = []
    for row in rows:
        message = {"role": "assistant", "content": json.dumps(row["output"])}
        response = {"status_code": 200, "body": {"choices": [{"message": message}]}}
        lines.append({"id": "b", "custom_id": row["id"], "response": response, "error": None})
    return as_text(lines)


FILES = {
    "rows.jsonl": as_text,
    "rows.json": lambda rows: json.dumps(rows, indent=1).encode(),
    "rows.wrapped.json": lambda rows: json.dumps({"run": 1, "results": rows}, indent=1).encode(),
    "rows.csv": as_table,
    "rows.tsv": lambda rows: as_table(rows, "\t"),
    "rows.xlsx": as_workbook,
    "rows.parquet": as_parquet,
    "rows.jsonl.gz": lambda rows: gzip.compress(as_text(rows)),
    "rows.csv.zst": lambda rows: pa.compress(as_table(rows), codec="zstd", asbytes=True),
    "rows.batch.jsonl": as_batch,
}
GRADED = [(f"a{number}", f"Answer {number}", {"accuracy": number, "tone": 10 - number}) for number in range(4, 9)]
SHAPES = {
    "none": (
        lambda name: {"id": name},
        lambda text: {"answer": text},
        lambda scores: {"output": write_checks(scores)},
        {},
    ),
    "flat": (
        lambda name: {"key": name},
        lambda text: {"reply": text},
        lambda scores: {"said": json.dumps(write_checks(scores))},
        {"id": "key", "answer": "reply", "output": "said"},
    ),
    "nested": (
        lambda name: {"about": {"key": name}},
        lambda text: {"reply": {"text": text}},
        lambda scores: {"judge_run": {"result": {"verdict": write_checks(scores)}}},
        {"id": "about.key", "answer": "/reply/text", "output": "judge_run.result.verdict"},
    ),
    "items": (
        lambda name: {"key": name},
        lambda text: {"replies": [{"text": text}, {"text": "x"}]},
        lambda scores: {"said": [write_checks(scores)]},
        {"id": "key", "answer": "replies.0.text", "output": "said.0"},
    ),
    "criteria": (
        lambda name: {"key": name},
        lambda text: {"reply": text, "marks": []},
        lambda scores: {"marks": [{"aspect": aspect, "stars": stars} for aspect, stars in scores.items()]},
        {"id": "key", "answer": "reply", "criteria": "marks[aspect:stars]"},
    ),
}
"""The fields with the id, the answer and the judgement, and the mapping that reads them."""


def write_checks(scores):
    return {"checks": [{"id": name, "score": score} for name, score in scores.items()]}


JUDGING = ["--model", "m", "--base-url", "http://localhost:1/v1"]
COMMANDS = {
    "score": ["score", "s.rubric.yaml", "{}", "--format", "jsonl"],
    "score --compare": ["score", "s.rubric.yaml", "{}", "--compare", "{}", "--format", "json"],
    "agree": ["agree", "s.rubric.yaml", "{}", "--labels", "labels.csv", "--format", "json"],
    "assess": ["assess", "s.rubric.yaml", "{}", "--labels", "labels.csv", "--format", "json"],
    "check": ["check", "s.rubric.yaml", "--no-cache", "--judged", "{}", "--labels", "labels.csv", "--format", "json"],
    "diff": ["diff", "s.rubric.yaml", "new.rubric.yaml", "--outputs", "{}", "--format", "json"],
    "prompt": ["prompt", "s.rubric.yaml", "--answers", "{}"],
    "judge": ["judge", "s.rubric.yaml", "{}", "--batch-requests", "requests.jsonl", *JUDGING],
    "labels": ["labels", "s.rubric.yaml", "{}", "-o", "sheet.csv"],
    "improve": ["improve", "s.rubric.yaml", "{}", "--max-requests", "0", "--format", "json", *JUDGING],
}
OF_ANSWERS = ("prompt", "judge", "labels", "improve")
CELLS = [
    pytest.param(
        command, file, shape, marks=[] if shape == "nested" and file in {"rows.csv", "rows.jsonl"} else pytest.mark.slow
    )
    for command in COMMANDS
    for file in FILES
    for shape in SHAPES
    if file != "rows.batch.jsonl" or (shape == "none" and command not in OF_ANSWERS)
]


def read_cell(command, file, shape):
    """What a command says of the same data in a kind of file and a shape, and what it writes."""
    Path("s.rubric.yaml").write_text(SCORES, "utf-8")
    Path("new.rubric.yaml").write_text(SCORES.replace("required_min_score: 5", "required_min_score: 7"), "utf-8")
    Path("labels.csv").write_text("id,verdict\na4,fail\na5,pass\na6,fail\na7,pass\na8,pass\n", "utf-8")
    identify, answer, judge, mapping = SHAPES[shape]
    is_of_answers = command in OF_ANSWERS
    fields = ("id", "answer") if is_of_answers else ("id", "output", "criteria")
    rows = []
    for name, text, scores in GRADED:
        rows.append({**identify(name), **(answer(text) if is_of_answers else judge(scores))})
    Path(file).write_bytes(FILES[file](rows))
    options = [f"--map={field}={mapping[field]}" for field in fields if field in mapping]
    options += ["--map=records=results"] if file == "rows.wrapped.json" else []
    code, out, err = run("rubric-lint", *(part.format(file) for part in COMMANDS[command]), *options)
    written = [Path(name).read_text("utf-8-sig") for name in ("requests.jsonl", "sheet.csv") if Path(name).exists()]
    return code, out, err, written


def list_results(command, out):
    """What of a report is about judgements, and not about the file that they are in."""
    if command == "score":
        return [
            (each["id"], each["score"], each["verdict"], each["criteria"]) for each in map(json.loads, out.splitlines())
        ]
    if command in OF_ANSWERS:
        return out
    found = json.loads(out)
    for rubric in found.get("rubrics", ()):
        del rubric["next"]  # the commands to run have the names of files
    kept = {
        "agree": "agreements",
        "assess": "rubrics",
        "diff": "outputs",
        "score --compare": "comparison",
        "check": "review",
    }
    return found[kept[command]]


@pytest.mark.spread(3)
@pytest.mark.parametrize(("command", "file", "shape"), CELLS)
def test_every_command_reads_every_kind_of_file_by_every_mapping(command, file, shape, tmp_path):
    code, out, err, written = read_cell(command, file, shape)
    (tmp_path / "same").mkdir()
    with contextlib.chdir(tmp_path / "same"):
        expected = read_cell(command, "rows.jsonl", "none")
    assert (code, written) == (expected[0], expected[3]), err
    assert list_results(command, out) == list_results(command, expected[1])


def test_the_option_that_names_a_misspelt_column_reads_it():
    """The message about a table without outputs quotes a name with spaces, so that it can be pasted."""
    Path("o.csv").write_text('id,outputs 1\na,"{""checks"": [{""id"": ""cause"", ""satisfied"": true}]}"\n', "utf-8")
    command = ["rubric-lint", "score", "r.rubric.yaml", "o.csv"]
    code, _, err = run(*command)
    option = err.splitlines()[0].rpartition(" with ")[2].partition(", or ")[0]
    assert (code, option) == (2, "--map 'output=outputs 1'")
    code, out, err = run(*command, *shlex.split(option), "--format", "jsonl")
    assert (code, json.loads(out)["verdict"]) == (0, "pass"), err


def test_the_field_of_a_verdict_of_people_is_named():
    Path("both.csv").write_text("id,cause,Label\na,yes,pass\nb,no,pass\n", "utf-8")
    command = ["rubric-lint", "agree", "r.rubric.yaml", "both.csv", "--format", "json", "--map"]
    code, _, err = run(*command, "verdict=Label")
    field = err.split()[-1]
    assert (code, field) == (2, "human.verdict")
    code, out, err = run(*command, f"{field}=Label")
    assert (code, [each["answers"] for each in json.loads(out)["agreements"]]) == (0, [2]), err


def test_a_record_without_fields_is_said_to_have_none():
    Path("empty.json").write_text("{}", "utf-8")
    _, _, err = run("rubric-lint", "score", "r.rubric.yaml", "empty.json")
    assert "empty.json has no fields." in err.splitlines()


def list_ratings(**given):
    return {"ratings": [{"aspect": name, "stars": value} for name, value in given.items()]}


ITEMS = [
    {"case": {"key": "a"}, "grader": list_ratings(accuracy=9, tone=8)},
    {"case": {"key": "b"}, "grader": list_ratings(accuracy=12, tone=8)},
    {"case": {}, "grader": list_ratings(accuracy="no", tone=8)},
    {"case": {"key": "d"}, "grader": {"ratings": [{"aspect": "accuracy"}]}},
    7,
]
PLACES = ["/out/results/1", "/out/results/2", "/out/results/3/grader/ratings/0", "/out/results/4"]


@pytest.fixture
def wrapped():
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    Path("w.json").write_text(json.dumps({"out": {"results": ITEMS}}), "utf-8")
    fields = ["records=out.results", "id=case.key", "criteria=grader.ratings[aspect:stars]"]
    return [f"--map={field}" for field in fields]


@pytest.mark.parametrize(
    "command",
    [
        ["score", "r.rubric.yaml", "w.json", "--format", "jsonl"],
        ["agree", "r.rubric.yaml", "w.json"],
        ["assess", "r.rubric.yaml", "w.json"],
        ["check", "r.rubric.yaml", "--no-cache", "--judged", "w.json"],
    ],
    ids=lambda command: command[0],
)
def test_errors_in_records_of_a_wrapper_begin_with_their_places(command, wrapped):
    _, out, err = run("rubric-lint", *command, *wrapped)
    words = f"{out} {err}".replace(":", " ").replace('"', " ").replace(",", " ").split()
    assert sorted({*words} & {*PLACES}) == PLACES


def test_a_value_that_is_not_allowed_is_shown_as_it_is_with_the_name_of_its_criterion(wrapped, said):
    said(run("rubric-lint", "score", "r.rubric.yaml", "w.json", *wrapped, "--format", "table")[1].partition("\n\n")[0])


def test_answers_in_a_wrapper_are_refused_with_their_places():
    items = [{"id": "a", "answer": "So."}, {"id": "b", "answer": 7}, {"id": "a", "answer": "No."}, 7]
    Path("w.json").write_text(json.dumps({"items": items}), "utf-8")
    code, _, err = run("rubric-lint", "prompt", "r.rubric.yaml", "--answers", "w.json", "--map", "records=items")
    places = [line.removeprefix("rubric-lint: w.json: line 1: ").partition(" ")[0] for line in err.splitlines()[:3]]
    assert (code, places) == (2, ["/items/1:", "duplicate", "/items/3:"])


@pytest.mark.parametrize("indent", [None, 1])
def test_two_answers_with_one_id_are_refused_also_on_one_line(indent):
    rows = [{"id": "a", "answer": "So."}, {"id": "a", "answer": "No."}]
    Path("list.json").write_text(json.dumps(rows, indent=indent), "utf-8")
    code, _, err = run("rubric-lint", "prompt", "r.rubric.yaml", "--answers", "list.json")
    assert (code, "duplicate id" in err) == (2, True)


CHECKLIST = "rubrics:\n  - {id: accuracy, expected_outcome: Names it}\n  - {id: tone, expected_outcome: Is polite}\n"


@pytest.mark.parametrize("write", [write_csv, write_xlsx, write_parquet])
@pytest.mark.parametrize("others", [{}, {"id": "a", "overall_reasoning": "Good."}])
def test_a_table_with_only_the_list_of_judge_outputs_is_told_the_mapping_that_reads_it(write, others):
    for rubric, answers in ((SCORES, {"score": 9}), (CHECKLIST, {"satisfied": True})):
        Path("r.rubric.yaml").write_text(rubric, "utf-8")
        checks = [{"id": name, **answers} for name in ("accuracy", "tone")]
        cells = checks if write is write_parquet else json.dumps(checks)
        name = write([{**others, "checks": cells}])
        advice = run("rubric-lint", "agree", "r.rubric.yaml", name)[2].partition(", and ")[2].partition(" (left out")[0]
        code, _, err = run("rubric-lint", "score", "r.rubric.yaml", name)
        assert ("--map" in advice, advice in err) == (True, True), advice
        assert (code, f"no column `output` ({_list_columns([*others, 'checks'])}), and" in err) == (2, True)
        options = shlex.split(err.splitlines()[0].partition(" with ")[2])
        code, out, err = run("rubric-lint", "score", "r.rubric.yaml", name, *options, "--format", "jsonl")
        assert (code, json.loads(out)["score"]) == (0, 0.9 if rubric is SCORES else 1), err


def _list_columns(names):
    return f"there are `{'`, `'.join(names[:-1])}` and `{names[-1]}`" if len(names) > 1 else f"there is `{names[0]}`"


MIXED = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
criteria:
  - {id: accuracy, expected_outcome: Names it}
  - {id: tone, expected_outcome: Is polite, scale: [1, 5]}
"""


def test_a_list_of_judge_outputs_that_no_mapping_reads_is_refused_with_the_reason():
    rows = [{"checks": [{"id": "accuracy", "satisfied": True}, {"id": "tone", "level": 4}]}]
    Path("r.rubric.yaml").write_text(MIXED, "utf-8")
    code, _, err = run("rubric-lint", "score", "r.rubric.yaml", write_parquet(rows))
    assert (code, "answer in `level` and `satisfied`, which --map cannot read; write each" in err) == (2, True)
    with pytest.raises(ValueError, match="make a struct of the whole one, named `output`"):
        map_batches("r.rubric.yaml")(pa.Table.from_pylist(rows))


NAN = float("nan")
FLAWED = {"checks": [{"id": "accuracy", "score": NAN}, {"id": "tone", "score": 9.0}]}


@pytest.mark.parametrize("write", [*KINDS, write_parquet])
@pytest.mark.parametrize("is_text", [False, True])
def test_a_value_that_json_does_not_have_is_refused_under_any_name(write, is_text):
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    flawed = json.dumps(FLAWED) if is_text else FLAWED
    nested = json.dumps({"b": FLAWED}) if is_text else {"b": FLAWED}
    items = json.dumps(FLAWED["checks"]) if is_text else FLAWED["checks"]
    fenced = f"Here it is:\n```json\n{json.dumps(FLAWED, indent=1)}\n```\n" if is_text else flawed
    # The place in a judge output, and in a record where columns are read.
    shapes = {
        "output=output": ({"output": flawed}, ""),
        "output=o": ({"o": fenced}, ""),
        "output=a": ({"a": flawed}, ""),
        "output=a.b": ({"a": nested}, ""),
        "output=l.1": ({"l": ["x", flawed] if is_text else [{"checks": []}, flawed]}, ""),
        "outputs=a": ({"a": [{"checks": []}, FLAWED]}, "/outputs/1"),
        "criteria=output.checks[id:score]": ({"output": flawed}, "/output"),
        "criteria=a.b.checks[id:score]": ({"a": nested}, "/a/b"),
        "criteria=checks[id:score]": ({"checks": items}, ""),
    }
    for option, (row, place) in shapes.items():
        name = write([{"id": "a", **row}])
        out = run("rubric-lint", "score", "r.rubric.yaml", name, "--map", option, "--format", "jsonl")[1]
        result = json.loads(out)
        error = result["error"]
        assert (result["id"], error["message"]) == ("a", "NaN is not JSON"), option
        assert error["path"] == f"{place}/checks/0/score", option


@pytest.mark.parametrize("value", [NAN, "high"])
@pytest.mark.parametrize(
    "command",
    [
        ["score", "r.rubric.yaml", "w.jsonl", "--format", "jsonl"],
        ["agree", "r.rubric.yaml", "w.jsonl", "--labels", "l.jsonl"],
        ["assess", "r.rubric.yaml", "w.jsonl"],
        ["check", "r.rubric.yaml", "--no-cache", "--judged", "w.jsonl"],
    ],
    ids=lambda command: command[0],
)
def test_a_place_in_a_judge_output_starts_in_it_whatever_is_wrong_there_and_whoever_reads_it(command, value):
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    output = {"checks": [{"id": "accuracy", "score": value}, {"id": "tone", "score": 9.0}]}
    text = json.dumps(output, indent=1)
    outputs = [output, text, f"Here it is:\n```json\n{text}\n```\n"]
    rows = [{"id": str(at), "output": item, "label": "pass"} for at, item in enumerate(outputs)]
    Path("w.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    Path("l.jsonl").write_text("".join(f"{json.dumps({**row, 'rater': 'ana'})}\n" for row in rows), "utf-8")
    _, out, err = run("rubric-lint", *command)
    words = f"{out} {err}".replace(":", " ").replace('"', " ").replace(",", " ").split()
    places = [word for word in words if word.endswith("/checks/0/score")]
    assert ({*places}, len(places) >= len(rows)) == ({"/checks/0/score"}, True)


@pytest.mark.parametrize("write", [*KINDS, write_parquet])
@pytest.mark.parametrize("column", ["output", "score", "a"])
@pytest.mark.parametrize("is_text", [False, True])
def test_an_item_that_is_no_answer_is_refused_at_its_place_in_the_record(write, column, is_text):
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    value = {"checks": [{"id": "accuracy", "score": 9.0}, {"id": "tone", "other": 9.0}]}
    if write is write_parquet:  # each struct has all fields
        value["checks"] = [{"id": name, "score": 9.0} for name in ("accuracy", "accuracy")]
    name = write([{"id": "a", column: json.dumps(value) if is_text else value}])
    options = ["--map", f"criteria={column}.checks[id:score]", "--format", "jsonl"]
    result = json.loads(run("rubric-lint", "score", "r.rubric.yaml", name, *options)[1])
    assert (result["id"], result["error"]["path"]) == ("a", f"/{column}/checks/1")


def test_a_value_that_json_does_not_have_is_absent_beside_the_output():
    Path("r.rubric.yaml").write_text(SCORES, "utf-8")
    checks = [{"id": name, "score": 9} for name in ("accuracy", "tone")]
    name = write_parquet([{"a": {"b": {"checks": checks}, "chance": NAN}, "chances": [NAN]}])
    code, out, err = run("rubric-lint", "score", "r.rubric.yaml", name, "--map", "output=a.b", "--format", "jsonl")
    assert (code, json.loads(out)["verdict"]) == (0, "pass"), err
