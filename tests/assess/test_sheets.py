"""Sheets as people keep them: judgements with a column for each criterion, or for the verdict, as CSV and Excel."""

import io
import json
from datetime import date
from fractions import Fraction

import openpyxl
import pytest
from cases import read_cases

from rubric_lint import OutputError, score
from rubric_lint.assess.agreement.left_out import (
    NO_RATER,
    NO_VERDICT,
    NO_ZEROS,
    OTHER_MEANING,
    SKIPPED,
    TWICE,
    UNKNOWN_SHEET,
)
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.agreement.sheets import draw_sample, make_rows, write_csv, write_excel
from rubric_lint.assess.judged.review import read_records
from rubric_lint.judge.answers import check_answers, read_answers
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.decoding import decode_entry
from rubric_lint.scoring.records.mapping import RequiredColumns
from rubric_lint.scoring.records.parse_options import ExtraFields, ParseOptions
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.scoring.scorer import Scorer

TABLES = read_cases(__file__)


RUBRICS = TABLES["RUBRICS"]


def load(name):
    return load_rubrics("r.yaml", json.dumps({"rubrics": RUBRICS[name]}).encode())


def sheet(rows, *, edit=lambda _: None, others=()):
    """A workbook as a spreadsheet program saves it."""
    book = openpyxl.Workbook()
    book.active.title = "Labels"
    for row in rows:
        book.active.append(row)
    edit(book.active)
    for name in others:
        book.create_sheet(name)["A1"] = "What each score means"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def read(rubrics, data, name="ann.csv", **asked):
    """What the labels of a file come to: by rater and id, what was refused, and what was left out."""
    reader = RatingReader(rubrics)
    data = data.encode() if isinstance(data, str) else data
    reader.read(name, [data], labels=True, options=StreamOptions(**asked))
    people = {rater: dict(given) for ratings in reader.gather() for rater, given in ratings.people.items()}
    given = {rater: {key: each.given for key, each in found.items()} for rater, found in people.items()}
    left = {each.reason: each.records for each in reader.left_out}
    return given, [(each.line, each.id, each.message) for each in reader.invalid], left


GOOD = {"ann": {"a1": ((9, 7), "pass")}}
NONE = (None, None)
LABELS = {
    "a rater in each row": ("scores", "id,rater,accuracy,length\na1,bo,9,7\n", {"bo": {"a1": ((9, 7), "pass")}}),
    "a rater with a space": ("scores", "id,rater,accuracy,length\na1, bo ,9,7\n", {"bo": {"a1": ((9, 7), "pass")}}),
    "no rater, so the file": ("scores", "id,accuracy,length\na1,9,7\n", GOOD),
    "another case, and a hint": ("scores", "id,Accuracy [0 to 10],LENGTH \na1,9,7\n", GOOD),
    "a decimal comma": ("scores", 'id,accuracy,length\na1,"9,0",7\n', GOOD),
    "semicolons": ("scores", "id;accuracy;length\na1;9;7.0\n", GOOD),
    "a verdict": ("scores", "id,verdict\na1,Borderline\n", {"ann": {"a1": (NONE, "borderline")}}),
    "a label": ("scores", "id,label\na1,fail\n", {"ann": {"a1": (NONE, "fail")}}),
    "criteria and a verdict": ("scores", "id,accuracy,length,label\na1,9,9,no\n", {"ann": {"a1": ((9, 9), "fail")}}),
    "yes and no": ("checks", "id,rubric-1,sums\na1,yes,N\n", {"ann": {"a1": ((True, False), "fail")}}),
    "true and 1": ("checks", "id,rubric-1,sums\na1,TRUE,1\n", {"ann": {"a1": ((True, True), "pass")}}),
    "1.0 and 0.0": ("checks", "id,rubric-1,sums\na1,1.0,0.0\n", {"ann": {"a1": ((True, False), "fail")}}),
    "met and unmet": ("checks", "id,rubric-1,sums\na1,met,unmet\n", {"ann": {"a1": ((True, False), "fail")}}),
    "NaN": ("checks", "id,rubric-1,sums,label\na1,NaN,nan,no\n", {"ann": {"a1": (NONE, "fail")}}),
    "a label of 1.0": ("checks", "id,label\na1,1.0\n", {"ann": {"a1": (NONE, "pass")}}),
    "a score of the whole": ("whole", "id,score\na1,7\n", {"ann": {"a1": ((7,), "borderline")}}),
    "a score and its verdict": ("whole", "id,score,verdict\na1,9,pass\n", {"ann": {"a1": ((9,), "pass")}}),
    "a low score and its verdict": ("whole", "id,score,verdict\na1,1,fail\n", {"ann": {"a1": ((1,), "fail")}}),
    "a score of one criterion": ("levels", "id,score\na1,3\n", {"ann": {"a1": ((3,), "pass")}}),
    "a flat object": ("scores", '{"id": "a1", "rater": "ann", "accuracy": 9, "length": 7}', GOOD),
}  # fmt: skip


@pytest.mark.parametrize("case", LABELS)
def test_a_sheet_holds_labels(case):
    rubric, text, expected = LABELS[case]
    assert read(load(rubric), text) == (expected, [], {})


@pytest.mark.parametrize("case", [case for case, (_, text, _) in LABELS.items() if '"' not in text])
def test_a_workbook_holds_the_same_labels(case):
    rubric, text, expected = LABELS[case]
    mark = ";" if ";" in text else ","
    rows = [[int(cell) if cell.isdecimal() else cell or None for cell in line.split(mark)] for line in text.split("\n")]
    assert read(load(rubric), sheet(rows, others=["Help"]), "ann.xlsx") == (expected, [], {})


REFUSED = {
    "a decimal comma": ("scores", 'accuracy,length\na1,"7,5",3', ["`accuracy`", '"7,5"', "only whole numbers"]),
    "a fraction": ("scores", "accuracy,length\na1,7.5,3", ["`accuracy`", '"7.5"', "only whole numbers"]),
    "half a check": ("checks", "rubric-1,sums\na1,0.5,1", ["`rubric-1`", '"0.5"', "yes or no"]),
    "two for a check": ("checks", "rubric-1,sums\na1,2.0,1", ["`rubric-1`", '"2.0"', "yes or no"]),
    "percent": ("scores", "accuracy,length\na1,70%,3", ["`accuracy`", '"70%"', "percentage"]),
    "a word": ("scores", "accuracy,length\na1,good,3", ["`accuracy`", '"good"', "expected 0 to 10"]),
    "yes for a score": ("scores", "accuracy,length\na1,yes,3", ["`accuracy`", '"yes"', "expected 0 to 10"]),
    "n/a": ("scores", "accuracy,length\na1,n/a,3", ["`accuracy`", '"n/a"', "leave the cell empty"]),
    "a score for a check": ("checks", "rubric-1,sums\na1,10,1", ["`rubric-1`", '"10"', "expected yes or no"]),
    "no such level": ("levels", "quality\na1,2", ["`quality`", '"2"', "expected 1 and 3"]),
    "no such verdict": ("scores", "verdict\na1,ok", ["`verdict`", '"ok"', "pass, borderline or fail"]),
    "two columns": ("scores", "length,Accuracy,ACCURACY\na1,1,2,3", ["`Accuracy` and `ACCURACY`", "remove one"]),
    "two verdicts": ("scores", "verdict,label\na1,pass,fail", ["`verdict` and `label`", "rename one"]),
    "a compact result": ("whole", "score,verdict\na1,1,pass", ["`score` next to `verdict`", "`overall`"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_is_not_on_the_scale_is_refused_with_its_place(case):
    rubric, text, parts = REFUSED[case]
    given, [(line, name, message)], left = read(load(rubric), f"id,{text}\n")
    assert (given, line, name, left) == ({}, 2, "a1", {})
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize(("text", "parts"), TABLES["a header that does not"])
def test_a_header_that_does_not_name_the_criteria_is_refused(text, parts):
    given, [(line, _, message)], _ = read(load("scores"), text)
    assert (given, line) == ({}, 1)
    assert [part for part in parts if part not in message] == []


def test_what_only_a_workbook_can_hide_is_told_with_sheet_and_cell():
    def edit(cells):
        cells.merge_cells("B3:B4")
        cells["C5"] = date(2026, 3, 1)
        cells["B6"], cells["B6"].number_format = 0.5, "0%"
        cells.row_dimensions[7].hidden = True

    rows = [["id", "accuracy", "length"], *[[f"a{number}", 9, 9] for number in range(1, 7)]]
    given, invalid, left = read(load("scores"), sheet(rows, edit=edit), "ann.xlsx")
    assert (given, left) == ({"ann": {"a1": ((9, 9), "pass")}}, {})
    places = ["cell B3 of sheet `Labels`", "cell B4 of", "cell C5 of", "`Labels`, column `accuracy`", "row is hidden"]
    assert [line for line, _, _ in invalid] == [3, 4, 5, 6, 7]
    assert [place for place, (_, _, message) in zip(places, invalid, strict=True) if place not in message] == []


def test_a_faulty_cell_is_no_empty_one_before_the_criteria_are_known(tmp_path):
    rows = [["id", "accuracy", "comment"], ["a1", 9, "fine"], ["a2", 9, "fine"]]
    path = tmp_path / "ann.xlsx"
    path.write_bytes(sheet(rows, edit=lambda cells: [cells.merge_cells(each) for each in ("B2:B3", "C2:C3")]))
    lines = [line for lines in read_records(str(path)).lines.values() for line in lines]
    reader = RatingReader(load("scores"))
    reader.read_records(str(path), [(line.line, line.record) for line in lines], labels=True)
    assert [(each.line, 'column `accuracy`: "B2:B3 is merged' in each.message) for each in reader.invalid] == [
        (2, True),
        (3, True),
    ]


def test_a_header_of_two_rows_in_a_workbook_is_refused():
    rows = [["", "", "Scores"], ["id", "rater", "accuracy", "length"], ["a1", "bo", 9, 9]]
    data = sheet(rows, edit=lambda cells: cells.merge_cells("C1:D1"))
    given, [(_, _, message)], _ = read(load("scores"), data, "ann.xlsx")
    assert (given, "row 2" in message) == ({}, True)


def test_a_sheet_without_a_known_column_is_told_if_it_has_rows():
    def edit(cells):
        for name, rows in {"Notes": [["who", "when"], ["me", "today"]], "Blank": [], "Title": [["Thanks"]]}.items():
            for row in rows:
                (cells.parent[name] if name in cells.parent.sheetnames else cells.parent.create_sheet(name)).append(row)

        cells.parent.create_sheet("Bo").append(["id", "accuracy", "length"])
        cells.parent["Bo"].sheet_state = "hidden"

    data = sheet([["id", "accuracy", "length"], ["a1", 9, 7]], edit=edit)
    hidden = [(1, None, "sheet `Bo`: not read, as it is hidden; show it")]
    left = {UNKNOWN_SHEET: ["ann.xlsx, sheet `Notes` with 1 row"]}
    assert read(load("scores"), data, "ann.xlsx") == (GOOD, hidden, left)


def test_ids_that_lost_their_zeros_in_a_spreadsheet_are_told():
    reader = RatingReader(load("scores"))
    judged = [{"id": name, "output": {"accuracy": 9, "length": 9}} for name in ("007", "a")]
    reader.read("judge.jsonl", ["\n".join(map(json.dumps, judged)).encode()])
    reader.read("ann.csv", [b"id,accuracy,length\n7,5,5\na,6,6\n"], labels=True)
    reader.join()
    assert {each.reason: each.records for each in reader.left_out} == {NO_ZEROS: ["7 by ann"]}


def test_skipped_and_repeated_rows_and_rows_of_another_rubric_are_left_out_with_the_reason():
    rubrics = load("scores")
    rows = ["a1,bo,9,9,", "a2,bo,,,", "a3,,9,9,", "a4,bo,9,9,", "a4,bo,8,8,", "a5,bo,9,9,0123456789abcdef"]
    text = "\n".join(["id,rater,accuracy,length,rubric_hash", *rows])
    assert read(rubrics, text) == (
        {"bo": {"a1": ((9, 9), "pass")}},
        [],
        {
            SKIPPED: ["ann.csv:3 (a2)"],
            OTHER_MEANING: ["ann.csv:7 (a5)"],
            NO_RATER: ["ann.csv:4 (a3)"],
            TWICE: ["ann.csv:5 (a4)", "ann.csv:6 (a4)"],
        },
    )


@pytest.mark.parametrize(
    ("rubric", "cells", "verdict"),
    [
        ("gates", ["no", "", ""], "fail"),
        ("gates", ["", "no", "no"], None),
        ("gates", ["yes", "", "no"], "pass"),
        ("gates", ["", "", "no"], None),
        ("gates", ["yes", "yes", ""], "pass"),
        ("weights", ["9", ""], "pass"),
        ("weights", ["8", ""], None),
        ("weights", ["7", ""], "borderline"),
        ("weights", ["4", ""], "fail"),
        ("weights", ["", "10"], None),
    ],
)
def test_a_label_with_empty_cells_has_the_verdict_that_these_cannot_change(rubric, cells, verdict):
    rubrics = load(rubric)
    (prepared,) = rubrics.values()
    head = ",".join(["id", *(criterion.id for criterion in prepared.criteria)])
    labels, invalid, left = read(rubrics, f"{head}\na1,{','.join(cells)}\n")
    assert (labels["ann"]["a1"][1], invalid) == (verdict, [])
    assert left == ({} if verdict else {NO_VERDICT: ["ann.csv:2 (a1)"]})


def test_a_label_of_which_both_the_verdict_and_a_cell_are_given_may_contradict_itself():
    reader = RatingReader(load("gates"))
    text = "id,must,also,may,verdict\na1,no,,,pass\na2,no,,,fail\na3,,no,,fail\n"
    reader.read("ann.csv", [text.encode()], labels=True)
    assert [part in " ".join(reader.list_notes()) for part in ("1 label has", "2 labels")] == [True, False]
    assert reader.left_out == []


def test_results_that_we_wrote_are_no_labels_unless_they_name_a_rater():
    results = "id,points,full,score,verdict,criteria.accuracy,criteria.length{}\na1,16,20,0.8,pass,9,7{}\n"
    assert read(load("scores"), results.format("", "")) == ({}, [], {NO_RATER: ["ann.csv:2 (a1)"]})
    assert read(load("scores"), results.format(",rater", ",ann")) == (GOOD, [], {})


def test_a_criterion_named_points_does_not_make_a_result_of_a_label():
    rubrics = load_rubrics("r.yaml", b"rubrics: [{id: points, expected_outcome: Names the points}]")
    assert read(rubrics, "id,points\na1,yes\n") == ({"ann": {"a1": ((True,), "pass")}}, [], {})


def test_columns_with_other_names_are_mapped():
    text = "Nummer,Wer,Genauigkeit,length\na1,bo,9,9\n"
    mapping = {"id": "Nummer", "rater": "Wer", "accuracy": "Genauigkeit", "output": "response"}
    assert read(load("scores"), text, mapping=mapping)[0] == {"bo": {"a1": ((9, 9), "pass")}}


def test_an_id_in_a_cell_joins_a_number_if_no_result_has_the_text():
    reader = RatingReader(load("scores"))
    output = {"accuracy": 9, "length": 9}
    judged = [{"id": name, "output": output} for name in (7, 8, "8")]
    reader.read("judge.jsonl", ["\n".join(map(json.dumps, judged)).encode()])
    reader.read("ann.csv", [b"id,accuracy,length\n7,5,5\n8,6,6\n"], labels=True)
    [ratings] = reader.join()
    assert [*ratings.people["ann"]] == [("7",), "8"]


@pytest.mark.parametrize(("entry", "answers"), TABLES["flat objects are outputs"])
def test_flat_objects_are_outputs(entry, answers):
    outcome = Scorer(load("scores")).score(json.dumps(entry).encode(), 1)
    told = outcome.to_json()
    assert ([criterion["raw"] for criterion in told["criteria"]], told["verdict"]) == (answers, "pass")
    carried = {"id", "difficulty_level", "total", "status"}
    assert told.keys() - carried == {"rubric", "rubric_hash", "shape", "score", "verdict", "criteria"}


ROUNDED = {"0.9": True, "0.85": True, "0.850": True, "8.5": True, "85": True, "8": True, "85 %": True, "0,85": True}
ROUNDED |= dict.fromkeys(("NaN", "nan", "N/A", "-", ""), True)  # no score
ROUNDED |= dict.fromkeys(("0.86", "0.849", "0.8500001", "1", "84", "8.4", "inf", "x"), False)


def test_a_score_beside_criteria_may_be_rounded_to_its_digits():
    records = {score: {"id": "a", "accuracy": 9, "length": 8, "score": score} for score in ROUNDED}
    scorer = Scorer(load("scores"))
    outcomes = {score: scorer.score(json.dumps(record).encode(), 1).to_json() for score, record in records.items()}
    assert {score: "error" not in outcome for score, outcome in outcomes.items()} == ROUNDED


def test_the_case_of_a_column_does_not_matter_in_a_table_without_ids():
    outcome = Scorer(load("whole")).score(b'{"Score": "9"}', 1)
    assert outcome.to_json()["score"] == 0.9


def test_a_column_of_a_criterion_named_verdict_in_another_rubric_is_no_verdict():
    first = load_rubrics("r.yaml", b"rubrics: [{id: a, expected_outcome: Has one}, {id: b, expected_outcome: Has two}]")
    row = {"id": 1, "a": "yes", "b": "no", "verdict": "fail", "criteria.verdict": "yes"}
    assert Scorer(first).score(json.dumps(row).encode(), 1).to_json()["score"] == 0.5
    del row["verdict"]
    assert Scorer(first).score(json.dumps(row).encode(), 1).to_json()["score"] == 0.5


SUITE = b"""\
tests:
  - {id: one, criteria: x, rubrics: [{id: accuracy, outcome: Names it}, {id: tone, outcome: Thanks}]}
  - {id: two, criteria: x, rubrics: [{id: Accuracy, outcome: Names it}, {id: verdict, outcome: Thanks}]}
"""


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        ({"rubric": "one", "criteria.accuracy": "yes", "criteria.tone": "no"}, 0.5),
        ({"rubric": "two", "criteria.Accuracy": "yes", "criteria.verdict": "no", "verdict": "fail"}, 0.5),
        ({"rubric": "one", "criteria.Accuracy": "yes", "criteria.tone": "no"}, None),
        ({"rubric": "one", "criteria.accuracy": "yes", "criteria.Accuracy": "no", "criteria.tone": "no"}, None),
    ],
)
def test_blank_columns_of_another_rubric_are_nothing(cells, score):
    columns = ("rubric", "verdict", "criteria.accuracy", "criteria.tone", "criteria.Accuracy", "criteria.verdict")
    row = {"id": "a", **dict.fromkeys(columns, ""), **cells}
    outcome = Scorer(load_rubrics("suite.yaml", SUITE)).score(json.dumps(row).encode(), 1)
    assert outcome.to_json().get("score") == score


def test_a_criterion_named_score_has_a_field_in_a_flat_object():
    rubrics = load_rubrics(
        "r.yaml", b"rubrics: [{id: Score, expected_outcome: Has one}, {id: b, expected_outcome: Has two}]"
    )
    outcome = Scorer(rubrics).score(b'{"id": 1, "output": {"Score": true, "b": false}}', 1)
    assert outcome.to_json()["score"] == 0.5


@pytest.mark.parametrize(("rubric", "entry", "path"), TABLES["what contradicts"])
def test_what_contradicts_a_flat_judgement_makes_it_invalid(rubric, entry, path):
    outcome = Scorer(load(rubric)).score(json.dumps(entry).encode(), 1)
    assert (outcome.result, outcome.error and outcome.error.path) == (None, path)


@pytest.mark.parametrize("passed", [True, "yes", "", None, "unsure"])
def test_a_field_that_says_the_same_as_the_verdict_or_nothing_contradicts_nothing(passed):
    entry = json.dumps({"id": "a", "accuracy": 9, "length": 7, "passed": passed}).encode()
    assert Scorer(load("scores")).score(entry, 1).to_json()["verdict"] == "pass"


def test_extra_fields_that_are_accepted_contradict_nothing():
    entry = json.dumps({"id": "a", "accuracy": 9, "length": 7, "passed": False}).encode()
    reading = ParseOptions(extra_fields=ExtraFields.ACCEPT)
    assert Scorer(load("scores"), reading).score(entry, 1).to_json()["verdict"] == "pass"


def test_a_flat_object_scores_in_python_as_in_a_file():
    [rubric] = load("scores").values()
    assert score(rubric, {"accuracy": 9, "length": 7}).score == Fraction(8, 10)
    with pytest.raises(OutputError):
        score(rubric, {"accuracy": 9, "length": 7, "failed": True})


NEGATED = [
    {
        "id": "api",
        "title": "Changes the interface",
        "annotations": {"type": "negative verifier", "importance": "must have"},
    }
]


@pytest.mark.parametrize("column", ["verdict", "label"])
def test_one_column_with_the_verdict_is_the_verdict_of_a_negated_check_too(column):
    rubrics = load_rubrics("swe.json", json.dumps(NEGATED).encode())
    told = [
        Scorer(rubrics).score(json.dumps({"id": "a", column: word}).encode(), 1).to_json() for word in ("pass", "fail")
    ]
    assert [(each["criteria"][0]["raw"], each["verdict"]) for each in told] == [(False, "pass"), (True, "fail")]
    labels = read(rubrics, f"id,{column}\na,pass\nb,fail\nc,borderline\n")
    given = {"a": ((False,), "pass"), "b": ((True,), "fail"), "c": ((None,), "borderline")}
    assert labels == ({"ann": given}, [], {})


@pytest.mark.parametrize(("entry", "part"), TABLES["a judgement that is not"])
def test_a_judgement_that_is_not_whole_is_no_output(entry, part):
    error = Scorer(load("scores")).score(json.dumps(entry).encode(), 1).error
    assert part in str(error)


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_a_sheet_that_was_drawn_and_filled_in_is_read_back(ending):
    rubrics = load("scores")
    answers = [{"id": name, "question": "When?", "answer": f"=In {name} days"} for name in (1, "1", "-a", "b")]
    chunks = ["\n".join(map(json.dumps, answers)).encode()]
    check_answers(chunks, rubrics)
    drawn, total = draw_sample(read_answers(chunks, rubrics), 3, 1)
    again, _ = draw_sample(reversed([*read_answers(chunks, rubrics)]), 3, 1)
    assert (total, [each.key for each in drawn]) == (4, [each.key for each in again])
    rows = make_rows(drawn, rubrics)
    hints = ["accuracy [0 to 10]", "length [0 to 10]"]
    assert rows[0] == ["id", "question", "answer", *hints, "chosen", "rubric_hash"]
    rows[1][3:5] = [9, 7]
    data = write_excel(rows, rubrics.values()) if ending == "xlsx" else write_csv(rows)
    given, invalid, left = read(rubrics, data, f"ann.{ending}")
    assert ([*given["ann"].values()], invalid, len(left[SKIPPED])) == ([((9, 7), "pass")], [], 2)


IDS = ["-tone", "@tone", "+1", "=x", "criteria.q", "tone [1]", "verdict", "plain"]


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
@pytest.mark.parametrize("names", [["r"], ["-r", "=s"]], ids=["one", "several"])
def test_a_sheet_is_read_back_whatever_criteria_and_rubrics_are_called(ending, names):
    """A spreadsheet would take some of these names for formulas."""
    criteria = [{"id": name, "expected_outcome": f"Names the sum of part {number}"} for number, name in enumerate(IDS)]
    suite = {"tests": [{"id": name, "rubrics": criteria} for name in names]}
    rubrics = load_rubrics("suite.yaml", json.dumps(suite).encode())
    answers = [{"id": f"a{name}", "rubric": name, "answer": "It is 30."} for name in rubrics]
    chunks = ["\n".join(map(json.dumps, answers)).encode()]
    drawn, _ = draw_sample(read_answers(chunks, rubrics), len(names), 1)
    rows = make_rows(drawn, rubrics)
    start = rows[0].index("answer") + 1
    for row in rows[1:]:
        row[start : start + len(IDS)] = ["yes"] * (len(IDS) - 1) + ["no"]
    data = write_excel(rows, rubrics.values()) if ending == "xlsx" else write_csv(rows)
    reader = RatingReader(rubrics)
    assert reader.read(f"ann.{ending}", [data], labels=True) == len(names)
    given = [ratings.people["ann"] for ratings in reader.gather()]
    assert [judgement.given[0] for people in given for judgement in people.values()] == [
        (True,) * (len(IDS) - 1) + (False,)
    ] * len(names)
    assert (reader.invalid, reader.left_out) == ([], [])
    hints = [head.endswith("[yes or no]") for head in rows[0][start : start + len(IDS)]]
    assert hints == [name != "tone [1]" for name in IDS]


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_half_a_character_is_written_in_an_id_and_in_an_answer(ending):
    """A workbook holds it as it is; CSV, which is UTF-8, as an escape: two ids never become one."""
    rubrics = load("scores")
    answers = [{"id": "a\ud800", "answer": "x \ud83d"}, {"id": "a\ud801", "answer": "y"}]
    chunks = ["\n".join(map(json.dumps, answers)).encode()]
    rows = make_rows([*read_answers(chunks, rubrics)], rubrics)
    rows[1][2:4] = [9, 7]
    data = write_excel(rows, rubrics.values()) if ending == "xlsx" else write_csv(rows)
    given, invalid, left = read(rubrics, data, f"ann.{ending}")
    first, second = ("a\ud800", "a\ud801") if ending == "xlsx" else (r"a\ud800", r"a\ud801")
    skipped = {SKIPPED: [f"ann.{ending}:3 ({second})"]}
    assert (given, invalid, left) == ({"ann": {first: ((9, 7), "pass")}}, [], skipped)


def test_a_table_without_a_judgement_is_refused_only_where_one_is_needed():
    header = ["id", "question"]
    assert [RequiredColumns().is_met_by(header), RequiredColumns(judgements=frozenset({"c"})).is_met_by(header)] == [
        True,
        False,
    ]


def test_hidden_rows_of_a_workbook_keep_their_place_and_id():
    """Also where a mapping names the column of the id, and where another sheet than the first one has the records."""

    def edit(cells):
        cells["F2"], cells.title = "a remark", "About"
        scores = cells.parent.create_sheet("Scores")
        for row in [["key", "accuracy", "length"], ["a1", 9, 7], ["a2", 9, 7], ["a3", 9, 7]]:
            scores.append(row)
        for hidden in (cells.row_dimensions[2], scores.row_dimensions[3]):
            hidden.hidden = True

    data = sheet([["about", "this"]], edit=edit)
    given, invalid, _ = read(load("scores"), data, "ann.xlsx", mapping={"id": "key"})
    assert [*given["ann"]] == ["a1", "a3"]
    assert invalid == [(3, "a2", "sheet `Scores`: the row is hidden; show it or delete it")]


@pytest.mark.parametrize(("name", "accuracy"), [("ID", "accuracy"), ("Id", "Accuracy")])
def test_the_case_of_a_field_does_not_matter_in_any_kind_of_file(name, accuracy):
    row = {name: "a1", "Rater": "bo", accuracy: 9, "length": 7}
    expected = ({"bo": {"a1": ((9, 7), "pass")}}, [], {})
    csv = f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"
    kinds = {"a.csv": csv, "a.jsonl": json.dumps(row), "a.json": json.dumps([row], indent=1)}
    data = {**kinds, "a.xlsx": sheet([[*row], [*row.values()]])}
    found = {kind: read(load("scores"), content, kind) for kind, content in data.items()}
    assert found == dict.fromkeys(data, expected)


def test_fields_in_another_case_that_a_record_has_twice_or_next_to_an_output_stay_as_they_are():
    lines = [{"ID": "a", "id": "b", "accuracy": 9, "length": 7}, {"ID": "c", "output": {}}, {"Id": "d", "accuracy": 1}]
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"ID": "e", "ID": "f"}\n'
    wanted = RequiredColumns(judgements=frozenset({"accuracy", "length"}))
    *given, (line, fault) = read_entries([text.encode()], StreamOptions(wanted=wanted))
    assert [decode_entry(content) for _, content in given] == [*lines[:2], {"id": "d", "accuracy": 1}]
    assert (line, fault.path, fault.record) == (4, "/ID", {})


@pytest.mark.parametrize(
    ("name", "row"),
    [("tone", {"id": "c"}), ("Tone", {"id": "c"}), ("criteria.tone", {}), ("tone", {"id": "c", "note": "so"})],
)
def test_a_judgement_that_names_none_of_several_rubrics_says_so(name, row):
    scorer = Scorer(load_rubrics("suite.yaml", SUITE))
    judged = {**row, "verdict": "", name: "yes"}
    assert scorer.score(json.dumps(judged).encode(), 1).error.path == "/rubric"
    blank = {**row, "verdict": "", name: ""}
    assert scorer.score(json.dumps(blank).encode(), 1).error.path == ""
