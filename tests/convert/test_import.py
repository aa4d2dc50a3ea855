"""`rubric-lint import`: what a table says becomes a rubric, and what has no single meaning is refused at its cell."""

# Messages stand as they are printed.

import sys
import time
from pathlib import Path

import commands
import pytest
from cases import read_cases
from importing import import_file
from ruamel.yaml import YAML

pytestmark = pytest.mark.usefixtures("folder")

TABLES = read_cases(__file__)


def bands(*entries, indent="      "):
    return "".join(f"{indent}- score_range: [{at}]\n{indent}  expected_outcome: {outcome}\n" for at, outcome in entries)


def levels(*entries):
    return "    levels:\n" + "".join(
        f"      - level: {number}\n        name: {name}\n        expected_outcome: {outcome}\n"
        for number, name, outcome in entries
    )


ONE = "  - id: a\n    expected_outcome: Says it\n"
THREE = ("0, 5", "Wrong in a number"), ("6, 7", "Half right"), ("8, 10", "Right in each number")
SUM = "Criterion,Points\nNames the date,10\nNames the sum,5\n"
READ = TABLES["READ"]


@pytest.mark.parametrize(("text", "options"), READ.values(), ids=READ)
def test_what_a_table_says_becomes_a_rubric(text, options, said):
    code, written, told = import_file("r.csv", text, *options)
    assert code == 0
    said(written, told)


@pytest.mark.parametrize("header", ["id", "expected_outcome"])
def test_case_and_separators_of_a_header_make_no_difference(header):
    same = header.replace("_", " - ").title()
    refused(
        f"{same},{header}\nx,y\n", f"1:{len(same) + 2}: columns `{same}` (line 1) and `{header}` have the same name"
    )


def refused(text, said, *options, name="r.csv"):
    """Import a table, and hold what is refused against the place and the beginning of the message."""
    code, written, told = import_file(name, text, *options)
    assert (code, written, told[: len(name) + 1 + len(said)]) == (1, "", f"{name}:{said}")


@pytest.mark.parametrize("name", TABLES["REFUSED"])
def test_what_has_no_single_meaning_is_refused_at_its_cell(name, said):
    told = []
    for text, *options in TABLES["REFUSED"][name]:
        code, written, message = import_file(name, text, *options)
        assert (code, written) == (1, ""), text
        told += [repr(text), f"  {message}"]
    said(told)


FAULTY = "id,score,outcome\na,0-5,Wrong in a number\na,5-10,Right in each number\n"


def test_findings_name_the_cells_and_nothing_is_written():
    refused(FAULTY, "3:3: error overlap: criterion `a`: score 5 is in this band [5, 10] and in [0, 5] (line 2)")


def test_settings_apply_to_what_is_imported(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.rubric-lint]\npass = 0.5\nborderline = 0.5\n", "utf-8")
    text = "id,score,outcome\na,0-4,Wrong in a number\na,5-10,Right in each number\n"
    assert import_file("r.csv", text)[::2] == (0, "")
    assert "warning split-band: " in import_file("r.csv", text, "--isolated")[2]


def test_a_silenced_error_is_refused(tmp_path, said):
    (tmp_path / "pyproject.toml").write_text('[tool.rubric-lint]\nignore = ["overlap"]\n', "utf-8")
    code, written, message = import_file("r.csv", FAULTY)
    assert (code, written) == (1, "")
    said(message)


@pytest.mark.parametrize(
    ("separator", "named", "mark", "encoding", "end"),
    [
        (",", "", "", "utf-8", "\n"),
        (",", "", "\ufeff", "utf-8", "\r\n"),
        (",", "", "", "utf-16", "\n"),
        (";", "semicolons", "", "utf-8", "\r\n"),
        (";", "semicolons", "\ufeff", "utf-8", "\n"),
        ("\t", "tabs", "", "utf-8", "\n"),
        ("\t", "tabs", "", "utf-16", "\n"),
    ],
)
def test_files_of_other_programs(separator, named, mark, encoding, end):
    text = f'id{separator}expected_outcome\na{separator}"Says ""no"",\nwith a reason"\n'
    said = f"r.csv:1:1: read with {named} between cells\n" if named else ""
    expected = '  - id: a\n    expected_outcome: |-\n      Says "no",\n      with a reason\n'
    data = (mark + text.replace("\n", end)).encode(encoding)
    assert import_file("r.csv", data) == (0, expected, said)


def test_emphasis_in_the_cells_of_a_document_says_nothing():
    text = "| **id** | `outcome` | Weight |\n|-|-|-|\n| a | Says it | 2 |\n"
    assert import_file("r.md", text) == (0, f"{ONE}    weight: 2\n", "")
    table = "|id|outcome|\n|-|-|\n|**a b**|Says it **twice**|\n|\\*\\*c\\*\\*|**One** and **two**|\n"
    expected = "  - id: a b\n    expected_outcome: Says it **twice**\n"
    expected += "  - id: '**c**'\n    expected_outcome: '**One** and **two**'\n"
    assert import_file("r.md", table) == (0, expected, "")


def test_each_number_of_another_scale_becomes_a_band():
    text = "id,1,2,3,4,5\na,None at all,Weak claim,Some claim,Clear claim,Sharp claim\n"
    code, written, said = import_file("r.csv", text, "--rescale", "1..5")
    texts = ("None at all", "Weak claim", "Some claim", "Clear claim", "Sharp claim")
    scale = zip(("0, 1", "2, 3", "4, 6", "7, 8", "9, 10"), texts, strict=True)
    assert (code, written) == (0, "  - id: a\n    score_ranges:\n" + bands(*scale))
    assert "3 becomes 4 to 6 (worth 2.6 to 3.4)" in said


DOCUMENT = """\
# Support

| id | outcome |
|:---|--:|
| price | Names the **price** \\| tax<br>in full |

```
| id | outcome |
|----|---------|
| not | This is code |
```
<!--
| id | outcome |
|----|---------|
| not | This is a comment |
-->

Tone
====

Score | Outcome
--- | ---
0-5 | Wrong in a number
6-7 | Half right
8-10 | Right in each number
"""


def test_tables_of_a_document_are_named_after_their_headings():
    code, written, said = import_file("r.md", DOCUMENT)
    assert (code, said) == (0, "")
    assert written.partition("\n")[2] == (
        "tests:\n  - id: Support\n    rubrics:\n      - id: price\n        expected_outcome: |-\n"
        "          Names the **price** | tax\n          in full\n"
        "  - id: Tone\n    rubrics:\n      - id: Tone\n        score_ranges:\n" + bands(*THREE, indent=" " * 10)
    )
    expected = "  - id: price\n    expected_outcome: |-\n      Names the **price** | tax\n      in full\n"
    assert import_file("r.md", DOCUMENT, "--rubric", "Support")[:2] == (0, expected)
    assert import_file("r.md", DOCUMENT, "--rubric", "Tones")[2].endswith("`Tones`; did you mean `Tone`?\n")


STRANGE = "# A\n\n| id | outcome |\n|--|--|\n| x | Says x |\n\n## Authors\n\n| who | mail |\n|--|--|\n| y | z |\n"


def test_a_table_that_belongs_to_nothing_is_told_as_not_read(said):
    said(import_file("r.md", STRANGE))
    said(import_file("r.md", STRANGE, "--rubric", "A"))


OLD_EXCEL, HTML, PDF = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<html><table>", b"%PDF-1.7"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", b"id,outcome\na,N\xe4he\n"),
        ("r.csv", b"PK\x03\x04"),
        ("r.csv", PDF),
        ("r.xlsx", OLD_EXCEL),
        ("r.xlsx", b"id,outcome\n"),
        ("r.xlsx", HTML),
        ("r.yaml", b"rubrics: [a]"),
        ("r.docx", b""),
        *((name, OLD_EXCEL) for name in ("r.ods", "r", "r.txt")),
        *((name, HTML) for name in ("r.xls", "r.numbers")),
    ],
)
def test_a_file_of_another_kind_is_refused_by_what_it_is(name, content, said):
    pytest.importorskip("openpyxl")
    code, written, told = import_file(name, content)
    assert (code, written) == (2, "")
    said(told)


def test_stdin_has_the_kind_that_its_name_says(said):
    text = "id,expected_outcome\na,Says it\n"
    assert import_file("-", text, "--stdin-filename", "x.csv") == (0, "  - id: a\n    expected_outcome: Says it\n", "")
    code, written, told = import_file("-", text)
    assert (code, written) == (2, "")
    said(told)


PROGRAM = "from rubric_lint.cli.start import lint; lint()"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("import", "r.xlsx"), ("convert", "r.rubric.yaml", "--to", "xlsx")])
def test_without_the_package_it_says_what_to_install(tmp_path, arguments, said):
    Path(tmp_path / "r.xlsx").write_bytes(b"PK\x03\x04")
    Path(tmp_path / "r.rubric.yaml").write_text("rubrics: [Says it]\n", "utf-8")
    program = f"import sys; sys.modules['openpyxl'] = None; {PROGRAM}"
    command = [sys.executable, "-c", program, *arguments]
    done = commands.run_process(command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    said(done.stderr)


@pytest.mark.parametrize("text", TABLES["every cell may be in quotes"])
def test_every_cell_may_be_in_quotes(text):
    code, written, _ = import_file("r.csv", text)
    assert (code, written) == (0, "  - id: a\n    expected_outcome: Says it, twice\n")


TABLE = "| id | outcome |\n|---|---|\n| a | Says it |\n"


@pytest.mark.parametrize(
    ("header", "weight"),
    [
        ("Dimension", "Weight"),
        ("Criteria", "Points"),
        ("Check", "Max"),
        ("Item", "Weighting"),
        ("Kriterium", "Gewicht"),
    ],
)
def test_the_headers_that_people_use_are_read(header, weight):
    code, written, _ = import_file(
        "r.md", f"| {header} | Description | {weight} |\n|---|---|---|\n| a | Says it | 2 |\n"
    )
    assert (code, written) == (0, "  - id: a\n    expected_outcome: Says it\n    weight: 2\n")


def read_criteria(written):
    """The outcome of each criterion, or the scores of its scale, by its id."""
    read = YAML(typ="safe").load(written) or ()
    return {
        each["id"]: [
            step.get("level", step.get("score_range")) for step in each.get("levels", each.get("score_ranges"))
        ]
        if {"levels", "score_ranges"} & each.keys()
        else each["expected_outcome"]
        for each in (read["criteria"] if isinstance(read, dict) else read)
    }


@pytest.mark.slow
def test_headers_of_real_documents_are_read_or_refused(said):
    told = []
    for text, criteria in TABLES["HEADERS"]:
        code, written, message = import_file("r.md", text)
        assert (code, read_criteria(written)) == (int(not criteria), criteria), text
        told += [f"{text.splitlines()[0]}: {line}" for line in message.splitlines()]
    said(told)


def test_labels_of_scores_are_names_where_another_column_has_their_texts():
    table = "|Score|Label|Meaning|\n|-|-|-|\n|1|Sound|Each claim is true|\n|0|Poor|No claim is true|\n"
    _, written, _ = import_file("r.md", f"## Facts\n\nIs it true?\n\n{table}")
    (criterion,) = YAML(typ="safe").load(written)
    levels = [(level["level"], level["name"], level["expected_outcome"]) for level in criterion["levels"]]
    assert levels == [(1, "Sound", "Each claim is true"), (0, "Poor", "No claim is true")]


@pytest.mark.parametrize(("more", "ids"), TABLES["what follows a table"])
def test_a_table_ends_where_that_of_github_ends(more, ids):
    code, written, _ = import_file("r.md", TABLE + more)
    assert (code, [rubric["id"] for rubric in YAML(typ="safe").load(f"rubrics:\n{written}")["rubrics"]]) == (0, ids)


@pytest.mark.parametrize(("more", "place"), TABLES["a table inside a quote"])
def test_a_table_inside_a_quote_or_a_list_is_told_as_not_read(more, place, said):
    code, written, told = import_file("r.md", f"{TABLE}\n{more}")
    assert (code, written) == (0, "  - id: a\n    expected_outcome: Says it\n")
    said(told)
    line, column = map(int, place.split(":"))
    again = told.replace(f"r.md:{place}:", f"r.md:{line - 4}:{column}:")
    assert import_file("r.md", more) == (1, "", again)


def test_a_criterion_beside_an_id_says_what_is_judged():
    rows = "| a | Says it | 5 | yes |\n| b | Dates it | 3 | no |\n"
    text = f"| ID | Criterion | Points | Required |\n|---|---|---|---|\n{rows}"
    code, written, _ = import_file("r.md", text)
    entries = [
        "  - id: a\n    expected_outcome: Says it\n    weight: 5\n    required_min_score: 10\n",
        "  - id: b\n    expected_outcome: Dates it\n    weight: 3\n",
    ]
    assert (code, written) == (0, "".join(entries))


def test_a_pass_mark_above_a_table_and_weights_of_more_than_the_whole_are_told():
    table = "| Dimension | Weight | 1 | 5 |\n|---|---|---|---|\n| a | 60% | No | Yes |\n| b | 50% | Bad | Fine |\n"
    code, _, told = import_file("r.md", f"# Notes\n\nScale: 1-5. Pass: 4.\n\n{table}")
    places = [line.split(": ")[0] for line in told.splitlines()]
    assert (code, places[:3]) == (0, ["r.md:3:13", "r.md:7:7", "r.md:7:18"])
    assert ("`Pass: 4`" in told, "110%" in told) == (True, True)


@pytest.mark.parametrize("total", ["Total,20", "**Total points**,14.5", "Sum,20 pts"])
def test_a_total_that_is_not_the_sum_of_the_weights_is_told_at_its_cell(total, said):
    code, written, told = import_file("r.csv", f"{SUM}{total}\n")
    assert (code, written.count("  - id:"), f"r.csv:4:{total.index(',') + 2}: " in told) == (0, 2, True)
    said(told)


@pytest.mark.parametrize("total", ["Total,15", "Total,15.0", "Total,100%", "Total,n/a", "Subtotal,10", "Max score,10"])
def test_a_total_that_is_the_sum_of_the_weights_or_says_no_sum_is_only_skipped(total):
    code, _, told = import_file("r.csv", f"{SUM}{total}\n")
    places = [line.split(": ")[0] for line in told.splitlines()]
    assert (code, places) == (0, ["r.csv:4:1", "r.csv:1:11"])


@pytest.mark.parametrize("word", ["bonus", "Penalty", "bonus item", "deduction"])
def test_a_column_of_which_a_cell_says_bonus_or_penalty_is_refused(word, said):
    text = f"Criterion,Sort,Points\nNames the date,normal,10\nNames the sum,{word},5\n"
    code, written, told = import_file("r.csv", text)
    assert (code, written) == (1, "")
    said(told)
    assert import_file("r.csv", text, "--ignore-column", "Sort")[0] == 0


@pytest.mark.parametrize("word", ["normal", "No penalty for a date without a year", "critical"])
def test_a_column_of_other_words_is_told_as_not_read(word):
    code, _, told = import_file("r.csv", f"Criterion,Sort,Points\nNames the date,normal,10\nNames the sum,{word},5\n")
    assert (code, "r.csv:1:11: " in told) == (0, True)


def test_a_table_in_html_is_told_as_not_read(said):
    said(import_file("r.md", "<table><tr><th>id</th></tr></table>\n"))
    assert import_file("r.md", f"```\n<table>\n> {TABLE}```\n\n{TABLE}")[2] == ""


def test_the_texts_of_a_case_are_read_back():
    text = "## a\n\n**Input:** Why?<br>\\| Say<br>\n\n**Expected output:** Because\n\n" + TABLE
    code, written, said = import_file("r.md", text)
    assert (code, said) == (0, "")
    assert written.partition("tests:\n")[2].startswith(
        "  - id: a\n    input: |\n      Why?\n      | Say\n    expected_output: Because\n    rubrics:\n"
    )


@pytest.mark.slow
def test_the_time_grows_with_the_rows():
    def seconds(count):
        rows = "".join(f"c-{number},1,The answer names number {number}\n" for number in range(count))
        started = time.process_time()
        assert import_file("r.csv", f"id,weight,outcome\n{rows}")[0] == 0
        return time.process_time() - started

    seconds(100)
    assert seconds(8_000) < 40 * seconds(500) + 0.5


FALLING = "Score,Outcome\n100-90,Names the dose and the drug\n89-50,Names the dose alone\n49-0,Names none of them\n"


def test_bands_that_are_written_from_the_highest_score_down_are_turned_around():
    code, written, told = import_file("r.csv", FALLING)
    found = bands(
        ("0, 49", "Names none of them"),
        ("50, 89", "Names the dose alone"),
        ("90, 100", "Names the dose and the drug"),
        indent="  ",
    )
    assert (code, "read as the scale 0 to 100" in told) == (0, True)
    assert "scale: [0, 100]\n" in written
    assert written.endswith(found)


def test_bands_beyond_our_scale_under_our_name_are_refused_with_the_way_on():
    table = "id,score_range,expected_outcome\na,0-49,Names the dose\na,50-100,Names the drug\n"
    code, written, told = import_file("r.csv", table)
    assert (code, written) == (1, "")
    assert "scores above 10: for another scale, call column `score_range` `Score`" in told
    code, written, _ = import_file("r.csv", table.replace("score_range", "Score"))
    assert (code, "scale: [0, 100]\n" in written) == (0, True)


SHARED = "Criterion,Points,Weight\nNames the dose,1-5,2\nNames the drug,1-5,1\n"


def test_one_range_in_each_row_beside_a_weight_is_the_scale_of_each_criterion(said):
    code, written, told = import_file("r.csv", SHARED)
    said(told)
    assert code == 0
    assert YAML(typ="safe").load(written) == {
        "scale": [1, 5],
        "criteria": [
            {"id": "Names the dose", "expected_outcome": "Names the dose", "weight": 2},
            {"id": "Names the drug", "expected_outcome": "Names the drug", "weight": 1},
        ],
    }


def test_other_ranges_in_rows_beside_a_weight_are_refused_with_advice_that_works(said):
    table = SHARED.replace("1-5,1", "1-4,1")
    code, written, told = import_file("r.csv", table)
    said(told)
    assert (code, written) == (1, "")
    assert import_file("r.csv", table, "--ignore-column", "Points")[0] == 0
