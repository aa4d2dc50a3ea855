"""`rubric-lint import`: what a table says becomes a rubric, and what has no single meaning is refused at its cell."""

# Messages stand as they are printed.

import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import read_cases
from importing import import_file

from rubric_lint.dialects.tables.columns import HEADERS

TABLES = read_cases(__file__)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def bands(*entries, indent="      "):
    return "".join(f"{indent}- score_range: [{at}]\n{indent}  expected_outcome: {outcome}\n" for at, outcome in entries)


def levels(*entries):
    return "    levels:\n" + "".join(
        f"      - level: {number}\n        name: {name}\n        expected_outcome: {outcome}\n"
        for number, name, outcome in entries
    )


ONE = "  - id: a\n    expected_outcome: Says it\n"
THREE = ("0, 5", "Wrong in a number"), ("6, 7", "Half right"), ("8, 10", "Right in each number")
READ = TABLES["READ"]


@pytest.mark.parametrize(("text", "options"), READ.values(), ids=READ)
def test_what_a_table_says_becomes_a_rubric(text, options, said):
    code, written, told = import_file("r.csv", text, *options)
    assert code == 0
    said(written, told)


@pytest.mark.parametrize("header", [each for each in HEADERS if each != "share"])
def test_case_and_separators_of_a_header_make_no_difference(header):
    same = header.replace("_", " - ").title()
    refused(f"{same},{header}\nx,y\n", f"1:{len(same) + 2}: columns `{same}` (line 1) and `{header}` both hold")


def refused(text, said, *options, name="r.csv"):
    """Import a table, and hold what is refused against the place and the beginning of the message."""
    code, written, told = import_file(name, text, *options)
    assert (code, written, told[: len(name) + 1 + len(said)]) == (1, "", f"{name}:{said}")


UNNAMED = "this cell is in a column without a header"
IS_NO_RANGE = "is not a range of scores"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,Weigth\na,2\n", "1:4: unknown column `Weigth`; did you mean `weight`?"),
        ("id,outcome,\na,b,c\n", f"2:5: {UNNAMED}"),
        ("id,outcome\na,b,c\n", f"2:5: {UNNAMED}"),
        ("Our rubric\nid,outcome\na,b\n", f"2:4: {UNNAMED}; name the column, or empty it; if `Our rubric` is a title"),
        ("Criterion,Scale,\n,1,2\na,x,y\n", f"2:4: {UNNAMED}; name the column, or empty it; if the header has two"),
        ("id,outcome\n", "1:1: the table has no rows"),
        ("", "1:1: nothing to read"),
        (",,\n\n", "1:1: nothing to read"),
        ("id,outcome\na,b\n,\nid,outcome\nc,d\n", "4:1: this row repeats the header"),
        ("id,weight,outcome\na,1,It\n\ncriterion,score,outcome\nb,0-5,Bad\n", "4:1: this row looks like the header"),
        ("id,score,outcome\na,3+,b\n", f"2:3: `3+` {IS_NO_RANGE}; it does not say where it ends; write `3 to 10`"),
        ("id,score,outcome\na,03-Jan,b\n", f"2:3: `03-Jan` {IS_NO_RANGE}; it looks like a date"),
        ("id,score,outcome\na,low,b\n", f"2:3: `low` {IS_NO_RANGE}; expected a form such as `0 to 3`"),
        ("id,score,outcome\na,,b\n", "2:3: this row does not say its score or level"),
        ("id,score,outcome\n,0-10,b\n", "2:1: this row does not say which criterion it belongs to"),
        ("id,score,outcome\na,0-5,b\nc,0-10,d\na,6-10,e\n", "4:1: criterion `a` is also at line 2"),
        ("id,weight,score,outcome\na,1,0-5,b\na,2,6-10,c\n", "3:3: `2` differs from `1` (line 2)"),
        ('id,weight,outcome\na,"0,5",b\n', "2:3: `0,5` is not a number; write 0.5, with a point"),
        ("id;weight;outcome\na;12,5 %;b\n", "2:3: `12,5 %` is not a number; write 12.5%, with a point"),
        ("id;weight;outcome\na;2,000;b\n", "2:3: `2,000` is not a number; write 2000, or 2.000 with a point"),
        ("id;weight;outcome\na;1.000,5;b\n", "2:3: `1.000,5` is not a number; write 1000.5"),
        ("id;weight;outcome\na;1 000;b\n", "2:3: `1 000` is not a number; write 1000"),
        ("id,weight,outcome\na,25%,b\nc,,d\ne,2,f\n", "4:3: `2` is a weight of another kind than `25%` (line 2)"),
        ("id,minimum,Good (3),Poor (1)\na,2 of 3,b,c\n", "2:3: `2 of 3` on levels; write the lowest level alone: `2`"),
        ("id,minimum,Good (3),Poor (1)\na,Good,b,c\n", "2:3: `Good` is not a minimum; expected the number of a level"),
        ("id,weight,outcome\na,high,b\n", "2:3: `high` is not a number\n"),
        ("id,minimum,outcome\na,most,b\n", "2:3: `most` is not a minimum; expected a number, `7 of 10`"),
        ("id,minimum,score,outcome\na,3 of 5,0-10,b\n", "2:3: `3 of 5` counts to 5, and the scores here to 10"),
        ("id,required,outcome\na,maybe,b\n", "2:3: `maybe` does not answer whether it is required"),
        ("score,weight,outcome\n0-10,2,b\n", "1:7: `weight` is a field of a criterion"),
        ("criterion,weight\nNames it,2\n", "1:1: no column says what is expected (`expected_outcome`)"),
        ("id,1,2\na,b,c\n", "1:4: column `1` may be a level or a score"),
        ("id,level 1,0-5\na,b,c\n", "1:4: this column describes a level, and another a range of scores (line 1)"),
        ('id,outcome\na,"b\n', "2:3: this quote is never closed"),
        ('id,outcome\na,"b" c\n', "2:6: text after the closing quote"),
        ('id,outcome\na, "b"\n', "2:3: white space before a quote"),
        ("what; is,it;all\na,b\n", "1:1: the cells of the header may be separated by commas or semicolons"),
        *(
            (f"id,{header}\na,b c d\n", f"1:4: unknown column `{header}`")
            for header in ("Score (0-10)", "Weight (100)", "Minimum (0-10)", "level 1-2", "Level 1.5", "1 - 2 errors")
        ),
    ],
)
def test_what_has_no_single_meaning_is_refused_at_its_cell(text, said):
    refused(text, said)


FAULTY = "id,score,outcome\na,0-5,Wrong in a number\na,5-10,Right in each number\n"


def test_findings_name_the_cells_and_nothing_is_written():
    refused(FAULTY, "3:3: error overlap: criterion `a`: score 5 is in this band [5, 10] and in [0, 5] (line 2)")


def test_settings_apply_to_what_is_imported(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.rubric-lint]\npass = 0.5\nborderline = 0.5\n", "utf-8")
    text = "id,score,outcome\na,0-4,Wrong in a number\na,5-10,Right in each number\n"
    assert import_file("r.csv", text)[::2] == (0, "")
    assert "warning split-band: " in import_file("r.csv", text, "--isolated")[2]


def test_a_silenced_error_is_refused(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.rubric-lint]\nignore = ["overlap"]\n', "utf-8")
    refused(FAULTY, "3:3: score 5 is in two bands, which a comment or a setting silences")


@pytest.mark.parametrize(
    ("separator", "named"), [(",", ""), (";", "semicolons"), ("\t", "tabs")], ids=["comma", "semicolon", "tab"]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "BOM"])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\n"), ("utf-8", "\r\n"), ("utf-16", "\n")])
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


@pytest.mark.parametrize(
    ("text", "scale", "said"),
    [
        ("id,score,outcome\na,0-90,b\na,91-94,c\na,95-100,d\n", "0..100", "3:3: 91 to 94 of 0..100 lies between"),
        ("id,score,outcome\na,1-3,b\na,3-5,c\n", "1..5", "3:3: 3 to 5 shares 3 with another row (line 2)"),
        ("id,score,outcome\na,0-5,b\n", "1..5", "2:3: 0 to 5 is not a range of whole scores from 1 to 5"),
        ("id,score,outcome\na,1-2.5,b\n", "1..5", "2:3: 1 to 2.5 is not a range of whole scores from 1 to 5"),
        ("id,score,minimum,outcome\na,1-5,6,b\n", "1..5", "2:7: the minimum 6 is not on the scale 1..5"),
        ("id,outcome\na,b\n", "1..5", "1:1: --rescale has no scores to change"),
    ],
)
def test_what_another_scale_cannot_say_on_ours_is_refused(text, scale, said):
    refused(text, said, "--rescale", scale)


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
        "          Names the **price** | tax\n          in full\n  - id: Tone\n    rubrics:\n" + bands(*THREE)
    )
    expected = "  - id: price\n    expected_outcome: |-\n      Names the **price** | tax\n      in full\n"
    assert import_file("r.md", DOCUMENT, "--rubric", "Support")[:2] == (0, expected)
    assert import_file("r.md", DOCUMENT, "--rubric", "Tones")[2].endswith("`Tones`; did you mean `Tone`?\n")


STRANGE = "# A\n\n| id | outcome |\n|--|--|\n| x | Says x |\n\n## Authors\n\n| who | mail |\n|--|--|\n| y | z |\n"


def test_a_table_that_belongs_to_nothing_is_refused_unless_another_is_chosen():
    where = "r.md:9:1: "
    told = "this table is under `Authors`, below `A`, and no criterion there has that id"
    assert import_file("r.md", STRANGE) == (1, "", f"{where}{told}; name the table to import with --rubric\n")
    expected = "  - id: x\n    expected_outcome: Says x\n"
    assert import_file("r.md", STRANGE, "--rubric", "A") == (0, expected, f"{where}not read: {told}\n")


A = "# A\n\n|id|outcome|\n|-|-|\n|a|b|\n\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n", "1:1: no criteria found; expected a table with a header such as `| id | expected_outcome |`"),
        ("|id|outcome|\n|-|-|\n|a|b|c|\n", "3:6: this row has more cells than the header"),
        (f"{A}{A}", "9:1: a second table is called `A`; choose one with --rubric"),
        (f"{A}# B\n\n|id|who|\n|-|-|\n|c|d|\n", "9:5: unknown column `who`; expected `id`, `what_is_judged`, `weight`"),
    ],
)
def test_documents_without_a_single_meaning_are_refused(text, said):
    refused(text, said, name="r.md")


OLD_EXCEL, HTML, PDF = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<html><table>", b"%PDF-1.7"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", b"id,outcome\na,N\xe4he\n", ":2:4: byte e4 at byte offset 14 is not UTF-8"),
        ("r.csv", b"PK\x03\x04", ": cannot be read: it is a damaged Excel file or another archive"),
        ("r.csv", PDF, ": cannot be read: it is a PDF"),
        ("r.xlsx", OLD_EXCEL, ": cannot be read: it is an Excel file of before 2007 (.xls)"),
        ("r.xlsx", b"id,outcome\n", ": cannot be read: it is not an Excel file"),
        ("r.xlsx", HTML, ": cannot be read: it is HTML"),
        ("r.yaml", b"rubrics: [a]", ": is YAML or JSON, which needs no import; use `rubric-lint convert`"),
        ("r.docx", b"", ": is not a file with tables; expected a name that ends in .csv, .tsv, .xlsx"),
        *((name, OLD_EXCEL, ": cannot be read: it is an Excel file of before") for name in ("r.ods", "r", "r.txt")),
        *((name, HTML, ": cannot be read: it is HTML") for name in ("r.xls", "r.numbers")),
    ],
)
def test_a_file_of_another_kind_is_refused_by_what_it_is(name, content, said):
    pytest.importorskip("openpyxl")
    code, written, told = import_file(name, content)
    assert (code, written, told[: len(name + said)]) == (2, "", name + said)


def test_stdin_has_the_kind_that_its_name_says():
    text = "id,expected_outcome\na,Says it\n"
    assert import_file("-", text, "--stdin-filename", "x.csv") == (0, "  - id: a\n    expected_outcome: Says it\n", "")
    code, written, told = import_file("-", text)
    assert (code, written, told.startswith("<stdin>: is not a file with tables; ")) == (2, "", True)


def test_a_header_row_beyond_the_file_is_refused():
    refused("id,outcome\n", "1:1: --header-row 9: the file has", "--header-row", "9")


PROGRAM = "from rubric_lint.cli.lint.lint import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("import", "r.xlsx"), ("convert", "r.rubric.yaml", "--to", "xlsx")])
def test_without_the_package_it_says_what_to_install(tmp_path, arguments):
    Path(tmp_path / "r.xlsx").write_bytes(b"PK\x03\x04")
    Path(tmp_path / "r.rubric.yaml").write_text("rubrics: [Says it]\n", "utf-8")
    program = f"import sys; sys.modules['openpyxl'] = None; {PROGRAM}"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = "needs the openpyxl package; install it with: pip install 'rubric-lint[excel]'\n"
    assert (done.returncode, done.stdout, done.stderr.endswith(told)) == (2, "", True)


@pytest.mark.parametrize(
    "text",
    [
        '"id","expected_outcome"\r\n"a","Says it, twice"\r\n',
        '\ufeff"id";"expected_outcome"\n"a";"Says it, twice"\n',
        '"id"\t"expected_outcome"\n"a"\t"Says it, twice"\n',
    ],
)
def test_every_cell_may_be_in_quotes(text):
    code, written, _ = import_file("r.csv", text)
    assert (code, written) == (0, "  - id: a\n    expected_outcome: Says it, twice\n")


TABLE = "| id | outcome |\n|---|---|\n| a | Says it |\n"
UNREAD = "not read: a table inside a quote or a list; move it to the left margin\n"


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ("".join(f"> {line}\n" for line in TABLE.splitlines()), "6:3"),
        ("".join(f">> {line}\n" for line in TABLE.splitlines()), "6:4"),
        ("- | id | outcome |\n  |---|---|\n  | b | x |\n", "6:1"),
        ("1. b\n\n    | id | outcome |\n    |---|---|\n    | b | x |\n", "8:5"),
    ],
)
def test_a_table_inside_a_quote_or_a_list_is_told_as_not_read(more, place):
    written = "  - id: a\n    expected_outcome: Says it\n"
    assert import_file("r.md", f"{TABLE}\n{more}") == (0, written, f"r.md:{place}: {UNREAD}")
    line, column = map(int, place.split(":"))
    assert import_file("r.md", more) == (1, "", f"r.md:{line - 4}:{column}: {UNREAD}")


def test_a_table_in_html_is_told_as_not_read():
    said = "r.md:1:1: not read: a table in HTML; write it with `|`, or save it as .csv\n"
    assert import_file("r.md", "<table><tr><th>id</th></tr></table>\n") == (1, "", said)
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
