"""A rubric that is written as a table and imported is the same rubric, but for what was reported as lost."""

import io
import zipfile

import pytest

pytest.importorskip("openpyxl")

from exports import load, write
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook
from random_rubrics import ODD, SHAPES, written_out

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.target import ExportError
from rubric_lint.formats.sheets.cells import CellPlace, Rescale, ScoreRange, TableError
from rubric_lint.formats.sheets.columns import Choices
from rubric_lint.formats.sheets.reading import read_tables
from rubric_lint.formats.sheets.rubrics import read_rubric, write_json
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import SCORES, USUAL_THRESHOLDS
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

FILES = {"csv": "r.csv", "xlsx": "r.xlsx", "markdown": "r.md"}


def read(target, data):
    """The rubrics of a file by name."""
    found = {}
    for table in read_tables(FILES[target], FILES[target], data, Choices(), USUAL_THRESHOLDS):
        rubric = read_rubric(table, Choices())
        (document,), _ = read_documents(Source("table.rubric.json", write_json(rubric.entries)[0]))
        (found[rubric.name],) = build_rubrics(document, FileSettings(claimed=True, version=CURRENT))
    return found


many = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("target", FILES)
@many
@given(data=st.data())
def test_what_is_not_told_as_lost_is_there_again(target, data):
    rubric = load(data.draw(SHAPES[data.draw(st.sampled_from(sorted(SHAPES)))]))
    export = write(target, rubric)
    assume(not export.losses)
    (back,) = read(target, export.data).values()
    assert written_out(back) == written_out(rubric)


@pytest.mark.slow
@pytest.mark.parametrize("target", FILES)
@pytest.mark.parametrize(
    "text",
    [
        *ODD,
        "=1+1",
        "-1",
        "+a",
        "'=a",
        "''",
        "\t=a",
        "_x000D_",
        "a\x00b",
        "|",
        "a\\",
        "\\|",
        "@SUM(1)",
        "+1|2",
        "=HYPERLINK(1)\n-x",
        "\N{FULLWIDTH EQUALS SIGN}1",
        "| pipe |\n" * 900,
    ],
    ids=lambda text: ascii(text)[:40],
)
def test_a_text_is_there_again_or_told_as_lost(target, text):
    rubric = load([{"id": "a", "expected_outcome": text, "levels": [
        {"level": number, "name": text, "expected_outcome": f"{text}{number}"} for number in (1, 2)
    ]}])  # fmt: skip
    export = write(target, rubric)
    (back,) = read(target, export.data).values()
    places = {loss.path for loss in export.losses}
    before, after = rubric.criteria[0], back.criteria[0]
    texts = [(before.outcome_path, before.outcome, after.outcome)]
    for old, new in zip(before.levels, sorted(after.levels, key=lambda level: level.number), strict=True):
        texts += [(old.path, old.name, new.name), (old.outcome_path, old.outcome, new.outcome)]
    assert [(path, old, new) for path, old, new in texts if old != new and path not in places] == []
    assert target != "xlsx" or not places or text != text.strip()


@pytest.mark.parametrize("target", FILES)
@pytest.mark.parametrize(
    "entries",
    [
        [{"id": name, "expected_outcome": "It is said"} for name in ("Total", "Tone (40%)", "1. Facts", "n/a")],
        [{"id": "Total", "weight": 2, "expected_outcome": "2"}, {"id": "b", "weight": 2, "expected_outcome": "It is"}],
        [{"id": "Total", "levels": [{"level": n, "expected_outcome": f"It is {n}"} for n in (1, 2)]}],
        [{"id": "a", "score_ranges": [{"score_range": [0, 10], "expected_outcome": "All of it"}]}],
    ],
    ids=["names", "total", "levels", "one band"],
)
def test_what_people_write_otherwise_is_our_own_here(target, entries):
    rubric = load(entries)
    (back,) = read(target, write(target, rubric).data).values()
    assert written_out(back) == written_out(rubric)


@pytest.mark.parametrize("target", ["xlsx", "markdown"])
def test_two_rubrics_for_whole_answers_come_back(target):
    whole = [
        {"score_range": [0, 5], "expected_outcome": "Wrong"},
        {"score_range": [6, 10], "expected_outcome": "Right"},
    ]
    named = {"1. tone": load(whole), "facts": load(whole)}
    back = read(target, load_target(target).write(named).data)
    assert {name: written_out(rubric) for name, rubric in back.items()} == {
        name: written_out(rubric) for name, rubric in named.items()
    }


@pytest.mark.parametrize("target", ["xlsx", "markdown"])
def test_several_rubrics_come_back_by_their_names(target):
    named = {"tone": load(["Is polite"]), "Facts 1": load([{"score_range": [0, 10], "expected_outcome": "All of it"}])}
    back = read(target, load_target(target).write(named).data)
    assert {name: written_out(rubric) for name, rubric in back.items()} == {
        name: written_out(rubric) for name, rubric in named.items()
    }


def test_no_cell_is_a_formula_or_a_date():
    entries = [
        {"id": text, "expected_outcome": text} for text in ("=cmd|' /C calc'!A0", "+1", "-1", "@a", "1-3", "007")
    ]
    rubric = load(entries)
    rows = write("csv", rubric).text.splitlines()
    assert rows == [
        "id,expected_outcome",
        "'=cmd|' /C calc'!A0,'=cmd|' /C calc'!A0",
        "'+1,'+1", "'-1,'-1", "'@a,'@a", "1-3,1-3", "007,007",
    ]  # fmt: skip
    book = load_workbook(io.BytesIO(write("xlsx", rubric).data))
    cells = [cell for row in book["r"].iter_rows(min_row=2) for cell in row]
    assert {(cell.data_type, cell.number_format) for cell in cells} == {("s", "@")}
    assert [cell.value for cell in cells[::2]] == [entry["id"] for entry in entries]


def test_the_same_rubric_gives_the_same_workbook():
    first, second = (write("xlsx", load(["a"])).data for _ in range(2))
    assert first == second
    assert {each.date_time for each in zipfile.ZipFile(io.BytesIO(first)).infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize(
    ("name", "title"),
    [("a/b:c", "a b c"), ("x" * 40, "x" * 31), ("'q'", "q"), ("History", "History 2"), ("[]", "rubric")],
)
def test_a_name_that_no_sheet_can_have_is_lost(name, title):
    export = load_target("xlsx").write({name: load(["a"])})
    assert [loss.message for loss in export.losses] == [f"the name `{name}`: the sheet is called `{title}`"]
    assert load_workbook(io.BytesIO(export.data)).sheetnames == [title]


def test_sheets_have_names_of_their_own():
    named = {"a/b": load(["a"]), "A b": load(["a"]), "a:b": load(["a"])}
    assert load_workbook(io.BytesIO(load_target("xlsx").write(named).data)).sheetnames == ["a b", "A b 2", "a b 3"]


def test_a_text_that_no_cell_can_hold_is_refused():
    with pytest.raises(ExportError, match="longer than the 32,767 characters of a cell"):
        write("xlsx", load(["x" * 32_768]))


@given(st.integers(-100, 100), st.integers(1, 200))
def test_a_scale_of_single_scores_becomes_all_of_0_to_10(lowest, width):
    scale = Rescale(lowest, lowest + width)
    nearest = [scale.nearest(score) for score in SCORES]
    assert (nearest[0], nearest[-1], nearest == sorted(nearest)) == (scale.lowest, scale.highest, True)
    assert all(abs(scale.worth(score) - scale.nearest(score)) * 2 <= 1 for score in SCORES)
    for score in SCORES:
        gate = scale.convert_gate(scale.nearest(score), None)
        assert [score >= gate for score in SCORES] == [each >= scale.nearest(score) for each in nearest]


@given(st.integers(-20, 20), st.integers(1, 60), st.data())
def test_bands_of_any_scale_share_out_0_to_10(lowest, width, data):
    scale = Rescale(lowest, lowest + width)
    cuts = sorted(data.draw(st.sets(st.integers(lowest + 1, lowest + width), max_size=6)))
    ends = zip([lowest, *cuts], [*(cut - 1 for cut in cuts), scale.highest], strict=True)
    bands = [ScoreRange(low, high) for low, high in ends]
    place = CellPlace("r.csv:1:1", "line 1")
    if any(not any(low <= scale.nearest(score) <= high for score in SCORES) for low, high in bands):
        with pytest.raises(TableError) as refusal:
            scale.spread((band, place) for band in bands)
        assert "lies between two scores" in refusal.value.message
        return
    spread = scale.spread((band, place) for band in bands)
    assert [score for scores in spread for score in scores] == [*SCORES]
