"""`rubric-lint import` of Excel workbooks, as spreadsheet programs and libraries write them."""

# Messages stand as they are printed.
# ruff: noqa: E501, ISC004

import io
import zipfile
from datetime import date

import pytest

openpyxl = pytest.importorskip("openpyxl")

from importing import import_file  # noqa: E402
from openpyxl.comments import Comment  # noqa: E402
from openpyxl.styles import Border, Font, PatternFill, Side  # noqa: E402
from openpyxl.worksheet.datavalidation import DataValidation  # noqa: E402
from openpyxl.worksheet.table import Table  # noqa: E402
from workbooks import by_hand, inline, with_rows  # noqa: E402

ROWS = [
    ["Criterion", "Weight", "Score", "Outcome"],
    ["facts", 2, "0-5", "Wrong in a number"],
    ["facts", 2, "6-7", "Right in each number"],
    ["facts", 2, "8-10", "Right in each number and name"],
]
WRITTEN = """\
  - id: facts
    weight: 2
    score_ranges:
      - score_range: [0, 5]
        expected_outcome: Wrong in a number
      - score_range: [6, 7]
        expected_outcome: Right in each number
      - score_range: [8, 10]
        expected_outcome: Right in each number and name
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load(data, *options):
    """Imports a workbook: exit code, rubrics, and what is said without its name."""
    code, text, said = import_file("r.xlsx", data, *options)
    return code, text, said.replace("r.xlsx: ", "")


def style(sheet):
    """What people do to a sheet that changes none of its words."""
    for cell in sheet[1]:
        cell.fill, cell.font = PatternFill("solid", fgColor="FFCC00"), Font(bold=True)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = "A1:D4"
    sheet["D2"].comment = Comment("why?", "Ann")
    choice = DataValidation(type="list", formula1='"facts,tone"')
    sheet.add_data_validation(choice)
    choice.add("A2")
    for row in sheet.iter_rows(min_row=5, max_row=60, max_col=8):
        for cell in row:
            cell.border = Border(top=Side("thin"))
    sheet.add_table(Table(displayName="rubric", ref="A1:D4"))
    sheet.parent.create_sheet("Empty")


def test_a_sheet_with_styles_is_the_table_in_it():
    told = "cell D2 of sheet `Answers`: not read: comments on `D2`\n"
    assert load(with_rows(ROWS, style)) == (0, WRITTEN, told)


def merge(*ranges):
    return lambda sheet: [sheet.merge_cells(each) for each in ranges]


def test_cells_merged_down_count_for_each_row():
    assert load(with_rows(ROWS, merge("A2:A4", "B2:B4"))) == (0, WRITTEN, "")


def test_a_title_above_the_header_needs_its_row():
    data = with_rows([["Our rubric"], *ROWS], merge("A1:D1"))
    said = "cell B2 of sheet `Answers`: this cell is in a column without a header; name the column, or empty it; if "
    assert load(data) == (1, "", said + "`Our rubric` is a title, name the row of the header with --header-row\n")
    assert load(data, "--header-row", "2") == (
        0,
        WRITTEN,
        "cell A1 of sheet `Answers`: not read: row 1, above the header\n",
    )


def change(cell, value):
    return lambda sheet: sheet.__setitem__(cell, value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (merge("C2:D2"), "cell C2 of sheet `Answers`: C2:D2 is merged across columns, so its content has no single column; unmerge it\n"),
        (change("B2", "=1+1"), "cell B2 of sheet `Answers`: a formula without a value; open and save the file in a spreadsheet program, or write the value\n"),
        (change("C2", date(2026, 1, 3)), "cell C2 of sheet `Answers`: a date or time (2026-01-03): spreadsheets make dates of ranges such as 1-3; format the cell as text and write it as `1 to 3`\n"),
        (change("C1", date(2026, 1, 3)), "cell C1 of sheet `Answers`: a date or time (2026-01-03): spreadsheets make dates of ranges such as 1-3; format the cell as text and write it as `1 to 3`\n"),
        (change("B3", "#REF!"), "cell B3 of sheet `Answers`: the error value #REF!; correct the cell\n"),
        (change("B3", "much"), "cell B3 of sheet `Answers`: `much` differs from `2` (cell B2) for the same criterion; write one of them in each row\n"),
        (change("XFD1048576", "x"), "cell XFD1048576 of sheet `Answers`: this cell is in a column without a header; name the column, or empty it\n"),
        (change("C3", "5-7"), "cell C3 of sheet `Answers`: error overlap: criterion `facts`: score 5 is in this band [5, 7] and in [0, 5] (cell C2); end one band before the other starts\nnothing was written: correct the table and import it again\n"),
    ],
    ids=["merged across", "formula", "date", "date in the header", "error", "differing", "far away", "finding"],
)  # fmt: skip
def test_what_has_no_single_meaning_is_refused_at_its_cell(edit, said):
    assert load(with_rows(ROWS, edit)) == (1, "", said)


def test_numbers_and_texts_are_read_as_they_show():
    rows = [["id", "Weight", "Outcome"], [1, "2", "Names it"], [2.5, 0.25, "=not a formula"], [3.0, 1, "Says why"]]
    data = with_rows(rows, lambda sheet: setattr(sheet["C3"], "data_type", "s"))
    assert load(data) == (
        0,
        '  - id: "1"\n    expected_outcome: Names it\n    weight: 2\n'
        '  - id: "2.5"\n    expected_outcome: =not a formula\n    weight: 0.25\n'
        '  - id: "3"\n    expected_outcome: Says why\n    weight: 1\n',
        "",
    )


def hide(sheet):
    sheet.row_dimensions[5].hidden = True
    sheet.column_dimensions["E"].hidden = True
    old = sheet.parent.create_sheet("Old")
    old.append(["id", "outcome"])
    old.append(["a", "Says it"])
    old.sheet_state = "hidden"


def test_what_is_hidden_is_named_and_not_read():
    rows = [[*row, "x"] for row in ROWS] + [["tone", 1, "0-10", "Polite"]]
    said = (
        "sheet `Old`: not read, as it is hidden; show it, or name it with --rubric\n"
        "sheet `Answers`: not read: row 5, as it is hidden; show what belongs to the rubric\n"
        "sheet `Answers`: not read: column E, as it is hidden; show what belongs to the rubric\n"
    )
    assert load(with_rows(rows, hide)) == (0, WRITTEN, said)
    assert load(with_rows(rows, hide), "--rubric", "Old") == (0, "  - id: a\n    expected_outcome: Says it\n", "")
    said = "no sheet is named `Odl`; did you mean `Old`?\n"
    assert load(with_rows(rows, hide), "--rubric", "Odl") == (1, "", said)


def test_each_sheet_is_a_case_of_a_suite():
    def add(sheet):
        other = sheet.parent.create_sheet("Tone")
        other.append(["id", "outcome"])
        other.append(["polite", "Polite in each word"])

    code, text, said = load(with_rows(ROWS, add))
    expected = "tests:\n  - id: Answers\n    rubrics:\n" + "".join(f"    {line}\n" for line in WRITTEN.splitlines())
    expected += "  - id: Tone\n    rubrics:\n      - id: polite\n        expected_outcome: Polite in each word\n"
    assert (code, text.partition("\n")[2], said) == (0, expected, "")


def test_cells_without_places_and_with_texts_of_their_own():
    rows = f"<row>{inline('id')}{inline('outcome')}</row><row>{inline('a')}{inline('Says it')}</row>"
    assert load(by_hand(rows)) == (0, "  - id: a\n    expected_outcome: Says it\n", "")


def test_shared_strings_rich_texts_and_formulas_with_values():
    rows = (
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="str"><v>weight</v></c></row>'
        '<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" t="s"><v>3</v></c><c r="C4"><f>1+1</f><v>2</v></c></row>'
    )
    strings = ("<t>id</t>", "<t>outcome</t>", "<t>a</t>", "<r><t>Says </t></r><r><rPr><b/></rPr><t>it_x0021_</t></r>")
    said = "cell C4 of sheet `S`: read with the value that its formula had when saved: C4 (2)\n"
    assert load(by_hand(rows, *strings)) == (0, "  - id: a\n    expected_outcome: Says it!\n    weight: 2\n", said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (by_hand('<row r="1"><c r="A1" t="s"><v>99</v></c></row>'), "cannot be read: it is damaged (IndexError: list index out of range); save it again\n"),
        (by_hand(f"<row>{inline('&a;')}</row>", before='<!DOCTYPE x [<!ENTITY a "aaaa">]>'), "cannot be read: its XML declares entities, which no spreadsheet program writes\n"),
        (by_hand(" " * 10_000_001), "unpacked, it has 10.0 MB, 10.0 MB of that XML, and the limits are 50 MB and 10 MB; copy the table to a workbook of its own\n"),
    ],
    ids=["damaged", "entities", "huge"],
)  # fmt: skip
def test_a_workbook_that_cannot_be_read_is_told_as_such(data, said):
    assert load(data) == (2, "", said)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("xl/workbook.bin", "an Excel file in binary form (.xlsb); save it as .xlsx or .csv"),
        ("word/document.xml", "a Word document; save it as .xlsx or .csv"),
        ("content.xml", "an OpenDocument file (.ods); save it as .xlsx or .csv"),
        ("a.txt", "a zip archive; save it as .xlsx or .csv"),
    ],
)
def test_another_archive_is_told_by_what_is_in_it(part, said):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(part, "x")
    assert load(stream.getvalue()) == (2, "", f"cannot be read: it is {said}\n")


def test_strict_open_xml_is_told_as_such():
    data = by_hand("<row/>", before="<!-- http://purl.oclc.org/ooxml/spreadsheetml/main -->")
    said = "cannot be read: it is a Strict Open XML workbook; save it as an Excel workbook\n"
    assert load(data) == (2, "", said)


def test_an_empty_workbook_has_no_table():
    assert load(with_rows([])) == (1, "", "no sheet with a table\n")


def test_a_percentage_is_one_in_a_workbook_too():
    def as_percent(sheet):
        sheet["B2"].number_format = "0.0%"

    table = [["id", "weight", "outcome"], ["a", 0.07, "Says it"], ["b", 0.93, "Says more"]]
    code, text, _ = load(with_rows(table[:2], as_percent))
    assert (code, text) == (0, "  - id: a\n    expected_outcome: Says it\n    weight: 0.07\n")
    said = (
        "cell B3 of sheet `Answers`: `0.93` is a weight of another kind than `7%` (cell B2); write all with % or none\n"
    )
    assert load(with_rows(table, as_percent)) == (1, "", said)


def test_a_percentage_is_no_score():
    def as_percent(sheet):
        sheet["C2"].number_format = '"up to "0%'

    said = (
        "cell C2 of sheet `Answers`: `500%` is not a range of scores; expected a form such as `0 to 3`, `0-3` or `10`\n"
    )
    assert load(with_rows([ROWS[0], ["facts", 2, 5, "Wrong"]], as_percent)) == (1, "", said)


def test_a_format_that_only_writes_a_percent_sign_changes_nothing():
    def shown(sheet):
        sheet["B2"].number_format = '0" %"'

    code, text, _ = load(with_rows([["id", "weight", "outcome"], ["a", 2, "Says it"]], shown))
    assert (code, text) == (0, "  - id: a\n    expected_outcome: Says it\n    weight: 2\n")


def test_what_is_struck_through_is_told():
    def strike(sheet):
        sheet["C3"].font = Font(strike=True)

    code, _, said = load(with_rows([["id", "weight", "outcome"], ["a", 2, "Says it"], ["b", 1, "Old one"]], strike))
    assert (code, said) == (0, "cell C3 of sheet `Answers`: read although it is struck through: `C3`\n")
