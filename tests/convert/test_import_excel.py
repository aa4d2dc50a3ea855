"""`rubric-lint import` of Excel workbooks, as spreadsheet programs and libraries write them."""

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

pytestmark = pytest.mark.usefixtures("folder")

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_FORMAT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_FORMAT}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_FORMAT}.worksheet+xml"/>'
    f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_FORMAT}.sharedStrings+xml"/></Types>'
)


def _relations(**targets):
    inner = "".join(
        f'<Relationship Id="rId{number}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def by_hand(rows, *strings, before=""):
    """A workbook whose only sheet `S` has this XML for rows, and these shared strings, each as XML."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _relations(officeDocument="xl/workbook.xml"))
        sheet = '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}">{sheet}</workbook>')
        parts = _relations(worksheet="worksheets/sheet1.xml", sharedStrings="sharedStrings.xml")
        archive.writestr("xl/_rels/workbook.xml.rels", parts)
        inner = "".join(f"<si>{string}</si>" for string in strings)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">{inner}</sst>')
        data = f'{before}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", data)
    return stream.getvalue()


def inline(text):
    """A cell that holds its own text, as Google Sheets and many libraries write it, without its place."""
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>'


def with_rows(rows, change=None, title="Answers"):
    """A workbook whose first sheet has these rows, after a function has changed it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    if change:
        change(sheet)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


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


def test_a_sheet_with_styles_is_the_table_in_it(said):
    code, text, message = load(with_rows(ROWS, style))
    assert (code, text) == (0, WRITTEN)
    said(message)


def merge(*ranges):
    return lambda sheet: [sheet.merge_cells(each) for each in ranges]


def test_a_merged_title_above_the_header_is_refused_unless_the_header_is_named(said):
    data = with_rows([["Our rubric"], *ROWS], merge("A1:D1"))
    said(refused(data, "A1"))
    said(load(data, "--header-row", "2"))


def change(cell, value):
    return lambda sheet: sheet.__setitem__(cell, value)


def refused(data, cell):
    """Import a workbook that is refused at this cell, and return the message."""
    code, text, message = load(data)
    assert (code, text, message.startswith(f"cell {cell} of sheet `Answers`: ")) == (1, "", True)
    return message


@pytest.mark.parametrize(
    ("edit", "cell"),
    [
        pytest.param(merge("C2:D2"), "C2", id="merged cells"),
        pytest.param(merge("A2:A4"), "A2", id="cells merged down"),
        pytest.param(change("B2", "=1+1"), "B2", id="formula"),
        pytest.param(change("C2", date(2026, 1, 3)), "C2", id="date"),
        pytest.param(change("C1", date(2026, 1, 3)), "C1", id="date in the header"),
        pytest.param(change("B3", "#REF!"), "B3", id="error"),
        pytest.param(change("B3", "much"), "B3", id="two weights"),
        pytest.param(change("XFD1048576", "x"), "XFD1048576", id="no header"),
        pytest.param(change("C3", "5-7"), "C3", id="overlap"),
    ],
)
def test_what_has_no_single_meaning_is_refused_at_its_cell(edit, cell, said):
    said(refused(with_rows(ROWS, edit), cell))


def test_numbers_and_texts_are_read_as_they_show():
    rows = [["id", "Weight", "Outcome"], [1, "2", "Names it"], [2.5, 0.25, "=not a formula"], [3.0, 1, "Says why"]]
    data = with_rows(rows, lambda sheet: setattr(sheet["C3"], "data_type", "s"))
    assert load(data) == (
        0,
        (
            '  - id: "1"\n    expected_outcome: Names it\n    weight: 2\n'
            '  - id: "2.5"\n    expected_outcome: =not a formula\n    weight: 0.25\n'
            '  - id: "3"\n    expected_outcome: Says why\n    weight: 1\n'
        ),
        "",
    )


def hide(sheet):
    sheet.row_dimensions[5].hidden = True
    sheet.column_dimensions["E"].hidden = True
    old = sheet.parent.create_sheet("Old")
    old.append(["id", "outcome"])
    old.append(["a", "Says it"])
    old.sheet_state = "hidden"


def test_what_is_hidden_is_named_and_not_read(said):
    rows = [[*row, "x"] for row in ROWS] + [["tone", 1, "0-10", "Polite"]]
    code, text, message = load(with_rows(rows, hide))
    assert (code, text) == (0, WRITTEN)
    said(message)
    assert load(with_rows(rows, hide), "--rubric", "Old") == (0, "  - id: a\n    expected_outcome: Says it\n", "")
    said(load(with_rows(rows, hide), "--rubric", "Odl"))


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


def test_shared_strings_and_rich_texts():
    rows = (
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="str"><v>weight</v></c></row>'
        '<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" t="s"><v>3</v></c><c r="C4"><v>2</v></c></row>'
    )
    strings = ("<t>id</t>", "<t>outcome</t>", "<t>a</t>", "<r><t>Says </t></r><r><rPr><b/></rPr><t>it_x0021_</t></r>")
    assert load(by_hand(rows, *strings)) == (0, "  - id: a\n    expected_outcome: Says it!\n    weight: 2\n", "")


def test_a_formula_is_refused_although_its_value_was_saved(said):
    rows = f'<row r="1">{inline("outcome")}{inline("weight")}</row>'
    rows += f'<row r="2">{inline("Says it")}<c r="B2"><f>1+1</f><v>2</v></c></row>'
    said(load(by_hand(rows)))


def archive(part):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr(part, "x")
    return stream.getvalue()


ENTITY = by_hand(f"<row>{inline('&a;')}</row>", before='<!DOCTYPE x [<!ENTITY a "aaaa">]>')
STRICT = by_hand("<row/>", before="<!-- http://purl.oclc.org/ooxml/spreadsheetml/main -->")


@pytest.mark.parametrize(
    "data",
    [
        by_hand('<row r="1"><c r="A1" t="s"><v>99</v></c></row>'),
        ENTITY,
        by_hand(" " * 10_000_001),
        archive("xl/workbook.bin"),
        archive("word/document.xml"),
        archive("content.xml"),
        archive("Index/Document.iwa"),
        archive("a.txt"),
        STRICT,
    ],
    ids=["damaged", "entities", "huge", "xlsb", "Word", "ods", "Numbers", "zip", "strict"],
)
def test_a_workbook_that_cannot_be_read_is_told_as_such(data, said):
    code, text, told = load(data)
    assert (code, text) == (2, "")
    said(told)


def test_an_empty_workbook_has_no_table(said):
    said(load(with_rows([])))


def test_a_percentage_is_one_in_a_workbook_too(said):
    def as_percent(sheet):
        sheet["B2"].number_format = "0.0%"

    table = [["id", "weight", "outcome"], ["a", 0.07, "Says it"], ["b", 0.93, "Says more"]]
    code, text, _ = load(with_rows(table[:2], as_percent))
    assert (code, text) == (0, "  - id: a\n    expected_outcome: Says it\n    weight: 0.07\n")
    code, text, message = load(with_rows(table, as_percent))
    assert (code, text) == (1, "")
    said(message)


def test_a_percentage_is_no_score(said):
    def as_percent(sheet):
        sheet["C3"].number_format = '"up to "0%'

    said(refused(with_rows([*ROWS[:2], ["facts", 2, 5, "Wrong"]], as_percent), "C3"))


def test_a_format_that_only_writes_a_percent_sign_changes_nothing():
    def shown(sheet):
        sheet["B2"].number_format = '0" %"'

    code, text, _ = load(with_rows([["id", "weight", "outcome"], ["a", 2, "Says it"]], shown))
    assert (code, text) == (0, "  - id: a\n    expected_outcome: Says it\n    weight: 2\n")


def test_what_is_struck_through_is_told(said):
    def strike(sheet):
        sheet["C3"].font = Font(strike=True)

    code, _, message = load(with_rows([["id", "weight", "outcome"], ["a", 2, "Says it"], ["b", 1, "Old one"]], strike))
    assert code == 0
    said(message)
