"""`rubric-lint import`: what a table says becomes a rubric, and what has no single meaning is refused at its cell."""

# Messages stand as they are printed.
# ruff: noqa: E501, ISC004, Q003, RUF001

import io
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from importing import import_file

from rubric_lint.dialects.tables.columns import HEADERS


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SCALE = "id,weight,score_range,expected_outcome\na,2.50,0-5,Wrong in a number\na,2.50,6-7,Right in each number\na,2.50,8-10,Right\n"
RANGES = """\
  - id: a
    weight: 2.50
    score_ranges:
      - score_range: [0, 5]
        expected_outcome: Wrong in a number
      - score_range: [6, 7]
        expected_outcome: Right in each number
      - score_range: [8, 10]
        expected_outcome: Right in each number and name
"""
SCALE = SCALE.replace(",Right\n", ",Right in each number and name\n")


def test_score_ranges_are_a_row_each():
    assert import_file("r.csv", SCALE) == (0, RANGES, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,expected_outcome\na,Names it\n", "  - id: a\n    expected_outcome: Names it\n"),
        ("expected_outcome\nNames it\n", "  - Names it\n"),
        (
            "criterion,what is judged,required\na,Names it,yes\nb,Says why,no\n",
            "  - id: a\n    expected_outcome: Names it\n    required_min_score: 10\n"
            "  - id: b\n    expected_outcome: Says why\n",
        ),
        (
            "Score,Outcome\n0 to 5,Wrong in it\n6–7,Half right\n8..10,Right in it\n",
            "  - score_range: [0, 5]\n    expected_outcome: Wrong in it\n"
            "  - score_range: [6, 7]\n    expected_outcome: Half right\n"
            "  - score_range: [8, 10]\n    expected_outcome: Right in it\n",
        ),
        (
            "id,what is judged,level,name,outcome,minimum\nq,Its depth,1,Poor,Off topic,3\nq,,3,Good,With examples,\n",
            "  - id: q\n    expected_outcome: Its depth\n    required_min_level: 3\n    levels:\n"
            "      - level: 1\n        name: Poor\n        expected_outcome: Off topic\n"
            "      - level: 3\n        name: Good\n        expected_outcome: With examples\n",
        ),
    ],
    ids=["checklist", "texts", "required", "holistic", "levels"],
)
def test_each_shape_has_a_layout(text, expected):
    assert import_file("r.csv", text) == (0, expected, "")


WIDE = "Criterion,Description,Weight,Good (3),Poor (1)\nThesis,Its claim,30%,A clear claim,No claim at all\n"


def test_a_column_for_each_level():
    expected = """\
  - id: Thesis
    expected_outcome: Its claim
    weight: 0.3
    levels:
      - level: 3
        name: Good
        expected_outcome: A clear claim
      - level: 1
        name: Poor
        expected_outcome: No claim at all
"""
    assert import_file("r.csv", WIDE) == (0, expected, "r.csv:1:30: read as levels: 3 Good and 1 Poor\n")


def test_a_column_for_each_band():
    text = "id,7-10,0-6,minimum\na,A clear claim,No claim at all,7 of 10\n"
    code, written, said = import_file("r.csv", text)
    assert (code, written) == (
        0,
        "  - id: a\n    required_min_score: 7\n    score_ranges:\n"
        "      - score_range: [0, 6]\n        expected_outcome: No claim at all\n"
        "      - score_range: [7, 10]\n        expected_outcome: A clear claim\n",
    )
    assert said.startswith("r.csv:1:4: read as scores: 7 to 10 and 0 to 6\n")


def test_columns_are_mapped_and_ignored_by_options():
    text = "Aspect,Top,Low,Notes\nThesis,A clear claim,No claim at all,ask Ann\n"
    options = ("--map", "id=aspect", "--map", "level 2=Top", "--map", "level 1=Low", "--ignore-column", "NOTES")
    expected = """\
  - id: Thesis
    levels:
      - level: 2
        name: Top
        expected_outcome: A clear claim
      - level: 1
        name: Low
        expected_outcome: No claim at all
"""
    said = "r.csv:1:16: column `Notes` is not read, as --ignore-column says\n"
    said += "r.csv:1:8: read as levels: 2 Top and 1 Low\n"
    assert import_file("r.csv", text, *options) == (0, expected, said)


@pytest.mark.parametrize("header", HEADERS)
def test_case_and_separators_of_a_header_make_no_difference(header):
    same = header.replace("_", " - ").title()
    both = f"{same},{header}\nx,y\n"
    first = 1 + len(same) + 1
    if header == "share":
        return
    assert import_file("r.csv", both)[::2] == (
        1,
        f"r.csv:1:{first}: columns `{same}` (line 1) and `{header}` both hold `{HEADERS[header]}`; rename one\n",
    )


UNKNOWN = (
    "r.csv:1:4: unknown column `Weigth`; did you mean `weight`?; say what it holds with --map 'FIELD=Weigth', or leave "
    "it out with --ignore-column 'Weigth'\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,Weigth\na,2\n", UNKNOWN),
        ("id,outcome,\na,b,c\n", "r.csv:2:5: this cell is in a column without a header; name the column, or empty it\n"),
        ("id,outcome\na,b,c\n", "r.csv:2:5: this cell is in a column without a header; name the column, or empty it\n"),
        (
            "Our rubric\nid,outcome\na,b\n",
            "r.csv:2:4: this cell is in a column without a header; name the column, or empty it; if `Our rubric` is a "
            "title, name the row of the header with --header-row\n",
        ),
        ("id,outcome\n", "r.csv:1:1: the table has no rows below its header\n"),
        ("", "r.csv:1:1: nothing to read; expected a header and rows\n"),
        (",,\n\n", "r.csv:1:1: nothing to read; expected a header and rows\n"),
        ("id,outcome\na,b\n,\nid,outcome\nc,d\n", "r.csv:4:1: this row repeats the header; import one table at a time\n"),
        (
            "id,score,outcome\na,3+,b\n",
            "r.csv:2:3: `3+` is not a range of scores; it does not say where it ends; write `3 to 10` or the end you "
            "mean\n",
        ),
        (
            "id,score,outcome\na,03-Jan,b\n",
            "r.csv:2:3: `03-Jan` is not a range of scores; it looks like a date: spreadsheets make dates of ranges such "
            "as 1-3; format the cell as text and write it as `1 to 3`\n",
        ),
        (
            "id,score,outcome\na,low,b\n",
            "r.csv:2:3: `low` is not a range of scores; expected a form such as `0 to 3`, `0-3` or `10`\n",
        ),
        ("id,score,outcome\na,,b\n", "r.csv:2:3: this row does not say its score or level\n"),
        (
            "id,score,outcome\n,0-10,b\n",
            "r.csv:2:1: this row does not say which criterion it belongs to; write its id in each of its rows\n",
        ),
        (
            "id,score,outcome\na,0-5,b\nc,0-10,d\na,6-10,e\n",
            "r.csv:4:1: criterion `a` is also at line 2, with others between; put its rows together\n",
        ),
        (
            "id,weight,score,outcome\na,1,0-5,b\na,2,6-10,c\n",
            "r.csv:3:3: `2` differs from `1` (line 2) for the same criterion; write one of them in each row\n",
        ),
        ("id,weight,outcome\na,\"0,5\",b\n", "r.csv:2:3: `0,5` is not a number; write 0.5, with a point\n"),
        ("id;weight;outcome\na;12,5 %;b\n", "r.csv:2:3: `12,5 %` is not a number; write 12.5%, with a point\n"),
        ("id;weight;outcome\na;2,000;b\n", "r.csv:2:3: `2,000` is not a number; write 2000, or 2.000 with a point\n"),
        ("id;weight;outcome\na;1.000,5;b\n", "r.csv:2:3: `1.000,5` is not a number; write 1000.5\n"),
        ("id;weight;outcome\na;1 000;b\n", "r.csv:2:3: `1 000` is not a number; write 1000\n"),
        (
            "id,weight,outcome\na,25%,b\nc,,d\ne,2,f\n",
            "r.csv:4:3: `2` is a weight of another kind than `25%` (line 2); write all with % or none\n",
        ),
        (
            "id,minimum,Good (3),Poor (1)\na,2 of 3,b,c\n",
            "r.csv:2:3: `2 of 3` on levels; write the lowest level alone: `2`\n",
        ),
        (
            "id,minimum,Good (3),Poor (1)\na,Good,b,c\n",
            "r.csv:2:3: `Good` is not a minimum; expected the number of a level\n",
        ),
        ("id,weight,outcome\na,high,b\n", "r.csv:2:3: `high` is not a number\n"),
        (
            "id,minimum,outcome\na,most,b\n",
            "r.csv:2:3: `most` is not a minimum; expected a number, `7 of 10` or `must be met`\n",
        ),
        (
            "id,minimum,score,outcome\na,3 of 5,0-10,b\n",
            "r.csv:2:3: `3 of 5` counts to 5, and the scores here to 10\n",
        ),
        ("id,required,outcome\na,maybe,b\n", "r.csv:2:3: `maybe` does not answer whether it is required; write yes or no\n"),
        (
            "score,weight,outcome\n0-10,2,b\n",
            "r.csv:1:7: `weight` is a field of a criterion, and this table names none: it is the scale of the whole "
            "answer\n",
        ),
        (
            "criterion,weight\nNames it,2\n",
            "r.csv:1:1: no column says what is expected (`expected_outcome`) or holds a scale (`score_range`, `level`); "
            "name one with --map expected_outcome=COLUMN\n",
        ),
        (
            "id,1,2\na,b,c\n",
            "r.csv:1:4: column `1` may be a level or a score; say which with --map 'level 1=1' or --map 'score 1=1' for "
            "each such column\n",
        ),
        ("id,level 1,0-5\na,b,c\n", "r.csv:1:4: this column describes a level, and another a range of scores (line 1); use one\n"),
        ("id,outcome\na,\"b\n", "r.csv:2:3: this quote is never closed\n"),
        ("id,outcome\na,\"b\" c\n", "r.csv:2:6: text after the closing quote of a cell; double inner quotes\n"),
        ("id,outcome\na, \"b\"\n", "r.csv:2:3: white space before a quote; remove it, or quote the whole cell\n"),
    ],
)  # fmt: skip
def test_what_has_no_single_meaning_is_refused_at_its_cell(text, said):
    assert import_file("r.csv", text) == (1, "", said)


FAULTY = "id,score,outcome\na,0-5,Wrong in a number\na,5-10,Right in each number\n"


def test_findings_name_the_cells_and_nothing_is_written():
    said = (
        "r.csv:3:3: error overlap: criterion `a`: score 5 is in this band [5, 10] and in [0, 5] (line 2); end one band "
        "before the other starts\nnothing was written: correct the table and import it again\n"
    )
    assert import_file("r.csv", FAULTY) == (1, "", said)


def test_settings_apply_to_what_is_imported(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.rubric-lint]\npass = 0.5\nborderline = 0.5\n", "utf-8")
    text = "id,score,outcome\na,0-4,Wrong in a number\na,5-10,Right in each number\n"
    assert import_file("r.csv", text)[::2] == (0, "")
    assert "warning split-band: " in import_file("r.csv", text, "--isolated")[2]


def test_a_silenced_error_is_refused(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.rubric-lint]\nignore = ["overlap"]\n', "utf-8")
    assert import_file("r.csv", FAULTY) == (
        1,
        "",
        "r.csv:3:3: score 5 is in two bands, which a comment or a setting silences; fix that first\n"
        "nothing was written: correct the table and import it again\n",
    )


@pytest.mark.parametrize(
    ("separator", "named"), [(",", ""), (";", "semicolons"), ("\t", "tabs")], ids=["comma", "semicolon", "tab"]
)
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("\n", "\r\n").encode(),
    ],
    ids=["plain", "BOM", "UTF-16", "CRLF"],
)
def test_files_of_other_programs(separator, named, encode):
    text = f'id{separator}expected_outcome\na{separator}"Says ""no"",\nwith a reason"\n'
    said = f"r.csv:1:1: read with {named} between cells\n" if named else ""
    expected = '  - id: a\n    expected_outcome: |-\n      Says "no",\n      with a reason\n'
    assert import_file("r.csv", encode(text)) == (0, expected, said)


def test_the_mark_of_excel_names_the_separator():
    assert import_file("r.csv", "sep=|\nid|expected_outcome\na|Says it\n") == (
        0,
        "  - id: a\n    expected_outcome: Says it\n",
        "r.csv:2:1: read with `|` between cells\n",
    )


def test_a_header_that_can_be_split_in_two_ways_is_refused():
    said = (
        "r.csv:1:1: the cells of the header may be separated by commas or semicolons; put the words that hold them in "
    )
    assert import_file("r.csv", "what; is,it;all\na,b\n") == (1, "", said + "quotes\n")


def test_an_apostrophe_before_a_formula_is_taken_back():
    said = "r.csv:2:3: read without its first apostrophe, which keeps a spreadsheet from seeing a formula\n"
    assert import_file("r.csv", "id,outcome\na,'=1+1\nb,'tis so\n") == (
        0,
        '  - id: a\n    expected_outcome: =1+1\n  - id: b\n    expected_outcome: "\'tis so"\n',
        said,
    )


def test_white_space_around_texts_and_emphasis_in_headers_say_nothing():
    expected = "  - id: a\n    expected_outcome: Says it\n    weight: 2\n"
    assert import_file("r.csv", 'id ,Outcome, Weight\n a ,"Says it\n", 2 \n') == (0, expected, "")
    assert import_file("r.md", "| **id** | `outcome` | Weight |\n|-|-|-|\n| a | Says it | 2 |\n") == (0, expected, "")


def test_a_cell_may_name_its_level():
    text = "id,level,outcome\na,Good (2),A clear claim\na,1: Poor,No claim at all\n"
    expected = """\
  - id: a
    levels:
      - level: 2
        name: Good
        expected_outcome: A clear claim
      - level: 1
        name: Poor
        expected_outcome: No claim at all
"""
    assert import_file("r.csv", text) == (0, expected, "")


MARKS = "id,1,2,3,4,5,minimum,weight\na,None at all,Weak claim,Some claim,Clear claim,Sharp claim,4,2\n"


def test_another_scale_becomes_bands_and_each_change_is_said():
    code, written, said = import_file("r.csv", MARKS, "--rescale", "1..5")
    assert (code, written) == (
        0,
        """\
  - id: a
    weight: 2
    required_min_score: 7
    score_ranges:
      - score_range: [0, 1]
        expected_outcome: None at all
      - score_range: [2, 3]
        expected_outcome: Weak claim
      - score_range: [4, 6]
        expected_outcome: Some claim
      - score_range: [7, 8]
        expected_outcome: Clear claim
      - score_range: [9, 10]
        expected_outcome: Sharp claim
""",
    )
    assert said.splitlines()[:3] == [
        "r.csv:1:4: read as scores: 1, 2, 3, 4 and 5",
        "r.csv:2:61: --rescale 1..5: the minimum 4 becomes 7 (worth 3.8)",
        "r.csv:2:3: --rescale 1..5: 1 becomes 0 to 1 (worth 1 to 1.4); 2 becomes 2 to 3 (worth 1.8 to 2.2); 3 becomes 4 "
        "to 6 (worth 2.6 to 3.4); 4 becomes 7 to 8 (worth 3.8 to 4.2); 5 becomes 9 to 10 (worth 4.6 to 5)",
    ]


def test_ranges_and_levels_of_another_scale():
    text = "id,level,name,outcome\na,0,Bad,Wrong in it\na,1,Fair,Half right\na,2,Good,Right in it\n"
    code, written, said = import_file("r.csv", text, "--rescale", "0..2")
    assert (code, written) == (
        0,
        "  - id: a\n    score_ranges:\n      - score_range: [0, 2]\n        expected_outcome: Wrong in it\n"
        "      - score_range: [3, 7]\n        expected_outcome: Half right\n"
        "      - score_range: [8, 10]\n        expected_outcome: Right in it\n",
    )
    assert said.startswith("r.csv:2:3: not imported: the names `Bad`, `Fair` and `Good`; bands have no names\n")
    percent = "score,outcome\n0-59,Wrong in it\n60-79,Half right\n80-100,Right in it\n"
    code, written, said = import_file("r.csv", percent, "--rescale", "0..100")
    assert [line.strip() for line in written.splitlines()[::2]] == [
        "- score_range: [0, 5]",
        "- score_range: [6, 7]",
        "- score_range: [8, 10]",
    ]
    assert "0 to 59 becomes 0 to 5 (worth 0 to 50); 60 to 79 becomes 6 to 7 (worth 60 to 70); 80 to 100 " in said


@pytest.mark.parametrize(
    ("text", "scale", "said"),
    [
        (
            "id,score,outcome\na,0-90,b\na,91-94,c\na,95-100,d\n",
            "0..100",
            "r.csv:3:3: 91 to 94 of 0..100 lies between two scores from 0 to 10; join it with a neighbor: 0 to 10 has 11 "
            "scores, and 0..100 has more\n",
        ),
        (
            "id,score,outcome\na,1-3,b\na,3-5,c\n",
            "1..5",
            "r.csv:3:3: 3 to 5 shares 3 with another row (line 2); end one where the other starts\n",
        ),
        ("id,score,outcome\na,0-5,b\n", "1..5", "r.csv:2:3: 0 to 5 is not a range of whole scores from 1 to 5\n"),
        ("id,score,outcome\na,1-2.5,b\n", "1..5", "r.csv:2:3: 1 to 2.5 is not a range of whole scores from 1 to 5\n"),
        ("id,score,minimum,outcome\na,1-5,6,b\n", "1..5", "r.csv:2:7: the minimum 6 is not on the scale 1..5\n"),
        ("id,outcome\na,b\n", "1..5", "r.csv:1:1: --rescale has no scores to change: this table is a checklist\n"),
    ],
)
def test_what_another_scale_cannot_say_on_ours_is_refused(text, scale, said):
    assert import_file("r.csv", text, "--rescale", scale) == (1, "", said)


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
0-5 | Rude in a word
6-7 | Polite in each word
8-10 | Polite in each word, and warm
"""


def test_tables_of_a_document_are_named_after_their_headings():
    code, written, said = import_file("r.md", DOCUMENT)
    assert (code, said) == (0, "")
    assert (
        written.partition("\n")[2]
        == """\
tests:
  - id: Support
    rubrics:
      - id: price
        expected_outcome: |-
          Names the **price** | tax
          in full
  - id: Tone
    rubrics:
      - score_range: [0, 5]
        expected_outcome: Rude in a word
      - score_range: [6, 7]
        expected_outcome: Polite in each word
      - score_range: [8, 10]
        expected_outcome: Polite in each word, and warm
"""
    )
    assert import_file("r.md", DOCUMENT, "--rubric", "Support")[:2] == (
        0,
        "  - id: price\n    expected_outcome: |-\n      Names the **price** | tax\n      in full\n",
    )
    assert import_file("r.md", DOCUMENT, "--rubric", "Tones")[2] == (
        "r.md:1:1: no table is under `Tones`; did you mean `Tone`?\n"
    )


STRANGE = "# A\n\n| id | outcome |\n|--|--|\n| x | Says x |\n\n## Authors\n\n| who | mail |\n|--|--|\n| y | z |\n"


def test_a_table_that_belongs_to_nothing_is_refused_unless_another_is_chosen():
    where = "r.md:9:1: "
    told = "this table is under `Authors`, below `A`, and no criterion there has that id"
    assert import_file("r.md", STRANGE) == (1, "", f"{where}{told}; name the table to import with --rubric\n")
    expected = "  - id: x\n    expected_outcome: Says x\n"
    assert import_file("r.md", STRANGE, "--rubric", "A") == (0, expected, f"{where}not read: {told}\n")


NO_CRITERIA = (
    "no criteria found; expected a table with a header such as `| id | expected_outcome |` and `|---|---|` below it, or "
    "headings with a weight or a scale each, such as `5: ...`"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n", f"r.md:1:1: {NO_CRITERIA}\n"),
        ("|id|outcome|\n|-|-|\n|a|b|c|\n", "r.md:3:6: this row has more cells than the header; escape each inner pipe as \\|\n"),
        (
            "# A\n\n|id|outcome|\n|-|-|\n|a|b|\n\n# A\n\n|id|outcome|\n|-|-|\n|c|d|\n",
            "r.md:9:1: a second table is called `A`; choose one with --rubric\n"
            "nothing was written: correct the table and import it again\n",
        ),
        (
            "# A\n\n|id|outcome|\n|-|-|\n|a|b|\n\n# B\n\n|id|who|\n|-|-|\n|c|d|\n",
            "r.md:9:5: unknown column `who`; expected `id`, `what_is_judged`, `weight`, `share`, `required_min_score`, "
            "`required_min_level`, `minimum`, `required`, `score_range`, `level`, `name` and `expected_outcome`, a range "
            "such as `0 to 3`, or a level such as `Good (4)`; say what it holds with --map 'FIELD=who', or leave it out "
            "with --ignore-column 'who'\nthe file has several tables: `A` and `B`; import one of them with --rubric\n",
        ),
    ],
)  # fmt: skip
def test_documents_without_a_single_meaning_are_refused(text, said):
    assert import_file("r.md", text) == (1, "", said)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", b"id,outcome\na,N\xe4he\n", "r.csv:2:4: byte e4 at byte offset 14 is not UTF-8 (invalid continuation byte); save the file as UTF-8\n"),
        ("r.csv", b"PK\x03\x04", "r.csv: cannot be read: it is a damaged Excel file or another archive; save it as .xlsx or .csv\n"),
        ("r.csv", b"%PDF-1.7", "r.csv: cannot be read: it is a PDF; save it as .xlsx or .csv\n"),
        ("r.xlsx", b"\xd0\xcf\x11\xe0\xa1", "r.xlsx: cannot be read: it is an Excel file of before 2007 (.xls), or one with a password; save it as .xlsx or .csv\n"),
        ("r.xlsx", b"id,outcome\n", "r.xlsx: cannot be read: it is not an Excel file, whatever its name says\n"),
        ("r.xlsx", b"<html><table>", "r.xlsx: cannot be read: it is HTML; save it as .xlsx or .csv\n"),
        ("r.yaml", b"rubrics: [a]", "r.yaml: is YAML or JSON, which needs no import; use `rubric-lint convert`\n"),
        ("r.docx", b"", "r.docx: is not a file with tables; expected a name that ends in .csv, .tsv, .xlsx, .xlsm, .md or .markdown\n"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_refused_by_what_it_is(name, content, said):
    pytest.importorskip("openpyxl")
    assert import_file(name, content) == (2, "", said)


def test_stdin_has_the_kind_that_its_name_says():
    text = "id,expected_outcome\na,Says it\n"
    said = "<stdin>: is not a file with tables; expected a name that ends in .csv, .tsv, .xlsx, .xlsm, .md or .markdown"
    assert import_file("-", text, "--stdin-filename", "x.csv") == (0, "  - id: a\n    expected_outcome: Says it\n", "")
    assert import_file("-", text) == (2, "", f"{said}; say what it is with --stdin-filename\n")


def test_the_row_of_the_header_is_named():
    text = "Our rubric,\nid,outcome\na,Says it\n"
    assert import_file("r.csv", text, "--header-row", "2") == (
        0,
        "  - id: a\n    expected_outcome: Says it\n",
        "r.csv:1:1: not read: what is above line 2, the header\n",
    )
    assert import_file("r.csv", text, "--header-row", "9")[2] == "r.csv:1:1: --header-row 9: the file has 4 lines\n"


PROGRAM = "from rubric_lint.cli.lint.lint import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "r.xlsx"), "rubric-lint: r.xlsx: reading an Excel file needs the openpyxl package; install it with: pip install 'rubric-lint[excel]'"),
        (("convert", "r.rubric.yaml", "--to", "xlsx"), "Error: --to xlsx needs the openpyxl package; install it with: pip install 'rubric-lint[excel]'"),
    ],
)  # fmt: skip
def test_without_the_package_it_says_what_to_install(tmp_path, arguments, said):
    Path(tmp_path / "r.xlsx").write_bytes(b"PK\x03\x04")
    Path(tmp_path / "r.rubric.yaml").write_text("rubrics: [Says it]\n", "utf-8")
    program = f"import sys; sys.modules['openpyxl'] = None; {PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (2, "", said)


@pytest.mark.parametrize(
    "header", ["Score (0-10)", "Weight (100)", "Minimum (0-10)", "level 1-2", "Level 1.5", "1 - 2 errors"]
)
def test_a_header_that_only_looks_like_a_band_or_level_is_unknown(header):
    code, written, said = import_file("r.csv", f"id,{header}\na,b c d\n")
    assert (code, written) == (1, "")
    assert said.startswith(f"r.csv:1:4: unknown column `{header}`")
    assert f"say what it holds with --map 'FIELD={header}'" in said


def test_a_field_with_its_scale_in_the_header_is_mapped():
    table = "id,Score (0-10),outcome\na,0-5,Wrong in it\na,6-7,Half right\na,8-10,Right in it\n"
    expected = (
        "  - id: a\n    score_ranges:\n"
        "      - score_range: [0, 5]\n        expected_outcome: Wrong in it\n"
        "      - score_range: [6, 7]\n        expected_outcome: Half right\n"
        "      - score_range: [8, 10]\n        expected_outcome: Right in it\n"
    )
    assert import_file("r.csv", table, "--map", "score=Score (0-10)") == (0, expected, "")


def test_rows_may_call_their_level_a_level():
    table = "id,level,name,outcome\na,Level 1,Poor,Wrong in it\na,Good (2),,Right in it\n"
    expected = (
        "  - id: a\n    levels:\n"
        "      - level: 1\n        name: Poor\n        expected_outcome: Wrong in it\n"
        "      - level: 2\n        name: Good\n        expected_outcome: Right in it\n"
    )
    assert import_file("r.csv", table) == (0, expected, "")


def test_bold_cells_of_a_document_are_read_without_the_asterisks():
    table = "|id|outcome|\n|-|-|\n|**a b**|Says it **twice**|\n|\\*\\*c\\*\\*|**One** and **two**|\n"
    expected = (
        "  - id: a b\n    expected_outcome: Says it **twice**\n"
        "  - id: '**c**'\n    expected_outcome: '**One** and **two**'\n"
    )
    assert import_file("r.md", table) == (0, expected, "")


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


def test_a_text_that_looks_like_a_formula_is_told():
    said = "r.csv:2:3: read as a text: `=SUM(A1)` looks like a formula\n"
    assert import_file("r.csv", "id,outcome\na,=SUM(A1)\n") == (0, "  - id: a\n    expected_outcome: =SUM(A1)\n", said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,weight,outcome\na,1,Says it\n\ncriterion,score,outcome\nb,0-5,Bad\n", "r.csv:4:1: this row looks like the header of another table; put that on a sheet or in a file of its own\n"),
        ("Criterion,Scale,\n,1,2\na,x,y\n", "r.csv:2:4: this cell is in a column without a header; name the column, or empty it; if the header has two rows, name the lower one with --header-row\n"),
    ],
)  # fmt: skip
def test_two_tables_and_two_headers_are_refused(text, said):
    assert import_file("r.csv", text) == (1, "", said)


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


@pytest.mark.parametrize("name", ["r.ods", "r.xls", "r.numbers", "r", "r.txt"])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file of before 2007 (.xls), or one with a password"),
        (b"<html><table>", "HTML"),
        (b"%PDF-1.7", "a PDF"),
    ],
)
def test_a_file_of_another_program_is_named_by_its_first_bytes(name, data, told):
    said = f"{name}: cannot be read: it is {told}; save it as .xlsx or .csv\n"
    assert import_file(name, data) == (2, "", said)


@pytest.mark.parametrize(
    ("part", "told"),
    [("content.xml", "an OpenDocument file (.ods)"), ("Index/Document.iwa", "a Numbers file")],
)
def test_an_archive_of_another_program_is_named_by_what_is_in_it(part, told):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(part, "x")
    said = f"r.ods: cannot be read: it is {told}; save it as .xlsx or .csv\n"
    assert import_file("r.ods", stream.getvalue()) == (2, "", said)


def test_the_texts_of_a_case_are_read_back():
    text = "## a\n\n**Input:** Why?<br>\\| Say<br>\n\n**Expected output:** Because\n\n" + TABLE
    code, written, said = import_file("r.md", text)
    assert (code, said) == (0, "")
    assert written.partition("tests:\n")[2] == (
        "  - id: a\n    input: |\n      Why?\n      | Say\n    expected_output: Because\n    rubrics:\n"
        "      - id: a\n        expected_outcome: Says it\n"
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
