"""Files that a table of the settings describes: what they mean, and what is wrong in them or in the table."""

import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from cases import read_cases
from found import told
from lint_command import call

from rubric_lint.convert.export import load_target
from rubric_lint.convert.export.entries import make_sound
from rubric_lint.convert.export.target import ExportError
from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.settings import FileSettings, SettingsError, SettingsFinder
from rubric_lint.scoring.grading import JudgeOutput
from rubric_lint.scoring.loading import RubricError, load_models, load_rubrics
from rubric_lint.scoring.show.examples import make_examples

TABLES = read_cases(__file__)


def settings(table):
    return FileSettings(shapes=(FormatTable.from_table({"name": "ours", "files": ["x"], **tomllib.loads(table)}),))


def mean(text, table, name="rubric.yaml"):
    """Return what each rubric of a file means: its threshold, and of each criterion the id, share, gate and scores."""
    return {
        called: (
            rubric.model.thresholds.pass_at,
            [
                (
                    criterion.id,
                    str(criterion.share),
                    criterion.gate,
                    [(grade.answer, str(grade.score)) for grade in criterion.grades],
                )
                for criterion in rubric.criteria
            ],
        )
        for called, rubric in load_rubrics(name, text.encode(), settings(table)).items()
    }


def found(text, table, name="rubric.yaml"):
    result = examine_file(name, text.encode(), settings(table)).result
    return [(result.source.slice(finding.span), *told(finding)) for finding in result.findings]


YES_NO = [(False, "0"), (True, "1")]
GUIDE = """\
criteria = "/dimensions"
outcome = "description"
weight = "weight"
levels = "guide"
gate = "min"
scale = "/scale"
pass = "/pass_mark"
"""
SCALED = """\
scale: {scale}
pass_mark: {passes}
dimensions:
  facts: {{description: Are the facts right, weight: 0.5, min: {gate}, guide: {{1: All invented, 5: All sourced}}}}
  tone: {{description: Is it kind, weight: 0.5, guide: {{1: Rude, 2: Cold, 3: Flat, 4: Warm, 5: Very warm}}}}
"""
FIVE = [(1, "0"), (2, "1/4"), (3, "1/2"), (4, "3/4"), (5, "1")]


FLOORS = """\
floor: {}
dimensions:
  facts: {{description: Are the facts right, min: 4, must: false}}
  tone: {{description: Is it kind, must: false}}
  length: {{description: Is it short, must: true, min: 2}}
  title: {{description: Has it a title}}
"""
FLOOR = 'criteria = "/dimensions"\noutcome = "description"\nscale = [1, 5]\n'


@pytest.mark.parametrize(("gate", "expected"), [('"/floor"', [3, 3, 3, 3]), ('["min", "/floor"]', [4, 3, 2, 3])])
def test_a_number_around_criteria_is_the_gate_of_those_without_their_own(gate, expected):
    ((_, criteria),) = mean(FLOORS.format(3), f'{FLOOR}gate = {gate}\nunused = ["min", "must"]\n').values()
    assert [gate for _, _, gate, _ in criteria] == expected


def test_a_gate_around_criteria_holds_where_a_criterion_says_that_it_has_none():
    text = FLOORS.format(3).replace("must: true, ", "")
    ((_, criteria),) = mean(text, f'{FLOOR}gate = ["must", "/floor"]\nunused = "min"\n').values()
    assert [gate for _, _, gate, _ in criteria] == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("floor", "gate", "expected"),
    [
        ("9", "/floor", ["bounds.threshold"]),
        ("high", "/floor", ["schema.unexpected"]),
        ("3", "/ceiling", ["schema.no-setting"]),
    ],
)
def test_a_gate_around_criteria_that_says_no_score_is_an_error(floor, gate, expected):
    assert {code for _, code, *_ in found(FLOORS.format(floor), f'{FLOOR}gate = "{gate}"\n')} == {*expected}


@pytest.mark.parametrize(
    "scale", ["[1, 5]", "1-5", "1 to 5", "{min: 1, max: 5}", "[1, 2, 3, 4, 5]", "{1: bad, 5: fine}"]
)
def test_scores_gates_and_the_threshold_are_those_of_the_scale_of_the_file(scale):
    text = SCALED.format(scale=scale, passes=3.5, gate=2.5)
    assert mean(text, GUIDE) == {"rubric": (Decimal("0.625"), [("facts", "1/2", 3, FIVE), ("tone", "1/2", None, FIVE)])}


STEPS = {
    "[1, 3, 5]": [1, 3, 5],
    "[5, 3, 1]": [1, 3, 5],
    "[0, 2, 3, 10]": [0, 2, 3, 10],
    "[1.0, 3.0, 5.0]": [1, 3, 5],
    "{1: bad, 3: so so, 5: fine}": [1, 3, 5],
    '{"1-2": bad, 4: so so, "6-7": fine}': [1, 2, 4, 6, 7],
    "[1, 5]": [1, 2, 3, 4, 5],
    "{1: bad, 5: fine}": [1, 2, 3, 4, 5],
    "{min: 1, max: 5}": [1, 2, 3, 4, 5],
}


@pytest.mark.parametrize(("scale", "scores"), STEPS.items())
@pytest.mark.parametrize("place", ["scale", "/scale"])
def test_a_scale_that_names_its_scores_has_no_others(place, scale, scores):
    around, inside = (f"scale: {scale}\n", "") if place == "/scale" else ("", f", scale: {scale}")
    text = f"{around}criteria: [{{what: Names the cause{inside}}}]\n"
    ((_, criteria),) = mean(text, f'criteria = "/criteria"\noutcome = "what"\nscale = "{place}"').values()
    low, span = scores[0], scores[-1] - scores[0]
    assert [scale for *_, scale in criteria] == [[(score, str(Fraction(score - low, span))) for score in scores]]


@pytest.mark.parametrize(
    ("scale", "at", "between"),
    [
        ("[0, 0.5, 1]", 12, "0.5"),
        ("[1, 1.5, 2, 2.5, 3]", 12, "1.5"),
        ("{0: bad, 0.5: so so, 1: fine}", 1, "0.5"),
    ],
)
def test_a_scale_that_names_scores_between_whole_numbers_is_not_scored(scale, at, between):
    text = f"scale: {scale}\ncriteria: [Names the cause]\n"
    table = 'criteria = "/criteria"\noutcome = "x"\nscale = "/scale"'
    (unread,) = examine_file("rubric.yaml", text.encode(), settings(table)).result.unread
    assert (unread.line, unread.column) == (1, at)
    assert unread.reason.startswith(f"`scale` has {between}, so a score may lie between whole numbers")
    with pytest.raises(RubricError):
        mean(text, table)


def test_a_gate_between_the_scores_that_a_scale_names_is_the_next_one():
    text = "scale: [1, 3, 5]\ncriteria: [{what: Names the cause, least: 2}, {what: Says thank you, least: 3}]\n"
    table = 'criteria = "/criteria"\noutcome = "what"\nscale = "/scale"\ngate = "least"'
    ((_, criteria),) = mean(text, table).values()
    assert [gate for _, _, gate, _ in criteria] == [3, 3]


def test_a_level_that_a_scale_does_not_name_is_an_error():
    text = "scale: [1, 3, 5]\ncriteria: [{what: The cause, guide: {1: Not named, 2: Hinted at, 5: Named}}]\n"
    table = 'criteria = "/criteria"\noutcome = "what"\nscale = "/scale"\nlevels = "guide"'
    assert found(text, table) == [("2", "bounds.level-outside", "2", "1, 3 and 5")]


def test_a_scale_of_each_criterion_is_no_field_that_is_not_read():
    text = "criteria: [{what: Names the cause, range: [1, 5]}, {what: Says thank you, range: [1, 5]}]"
    result = examine_file(
        "rubric.yaml", text.encode(), settings('criteria = "/criteria"\noutcome = "what"\nscale = "range"')
    ).result
    assert (list(map(told, result.findings)), result.unread) == ([], ())


@pytest.mark.parametrize(("beside", "gate"), [("blocker: true", 3), ("blocker: false", None), ("note: x", 3)])
def test_a_gate_does_not_hold_where_the_criterion_says_that_it_is_none(beside, gate):
    text = f"scale: [1, 5]\ncriteria: [{{what: Names the cause, least: 3, {beside}}}]\n"
    ((_, criteria),) = mean(
        text, 'criteria = "/criteria"\noutcome = "what"\nscale = "/scale"\ngate = ["least", "blocker"]'
    ).values()
    assert [criterion[2] for criterion in criteria] == [gate]


@pytest.mark.parametrize(
    ("scale", "expected"), [("[5, 1]", ["[5, 1]"]), ("[3, 3]", ["[3, 3]"]), ("[0, 5000]", []), ("0-5000", [])]
)
def test_a_threshold_and_a_gate_are_not_judged_by_a_scale_that_is_none(scale, expected):
    text = f"scale: {scale}\npass: 4000\ncriteria: [{{what: Names the cause, least: 4000}}, {{what: Says thank you}}]\n"
    table = 'criteria = "/criteria"\noutcome = "what"\nscale = "/scale"\ngate = "least"\npass = "/pass"'
    assert [each[0] for each in found(text, table)] == expected
    with pytest.raises(RubricError):
        mean(text, table)


BARE = ('criteria = ""\noutcome = "x"\nscale = "yes-no"', "[Names the cause, Is short]")
WORDS = TABLES["WORDS"]
POINTS = TABLES["POINTS"]
HALVES = (
    'criteria = "/criteria"\nid = "name"\nlevels = "items"\ngate = "min"\npass = 0.5',
    "criteria: [{name: a, min: 0.5, items: {0: No, 0.5: In part, 1: Yes}}]",
)
PARTS = TABLES["PARTS"]
ALL = TABLES["ALL"]
RANGES = TABLES["RANGES"]
SEVERE = (
    'criteria = "/c"\noutcome = "text"\nscale = "yes-no"\ngate = {severity = ["critical", "blocker"]}',
    "c: {a: {text: A, severity: blocker}, b: {text: B, severity: minor}}",
)
SUMS = TABLES["SUMS"]
NAMED = TABLES["NAMED"]
USUAL = Decimal("0.8")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (BARE, (USUAL, [("rubric-1", "1/2", None, YES_NO), ("rubric-2", "1/2", None, YES_NO)])),
        (WORDS, (USUAL, [("1", "1", None, YES_NO), ("2", "-2/5", None, YES_NO)])),
        (  # a criterion is worth its highest level, and levels may skip scores
            POINTS,
            (Decimal("0.5"), [("a", "1/3", None, [(1, "1/2"), (2, "1")]), ("b", "2/3", None, [(0, "0"), (4, "1")])]),
        ),
        (HALVES, (Decimal("0.5"), [("a", "1", 1, [(0, "0"), (1, "1/2"), (2, "1")])])),  # numbered by proportion
        (
            PARTS,
            (
                Decimal("0.7"),
                [("facts/a", "2/5", None, YES_NO), ("facts/b", "1/5", None, YES_NO), ("form/a", "2/5", None, YES_NO)],
            ),
        ),
        (  # each must reach the threshold, and yes and no are levels beside levels
            ALL,
            (
                Decimal(0),
                [("a", "1/2", 2, [(0, "0"), (1, "1/3"), (2, "2/3"), (3, "1")]), ("b", "1/2", 1, [(0, "0"), (1, "1")])],
            ),
        ),
        (RANGES, (USUAL, [(each, "1/2", None, [(0, "0"), (1, "1/3"), (2, "2/3"), (3, "1")]) for each in "ab"])),
        (
            SUMS,
            (
                USUAL,
                [
                    ("a", "1/4", None, [(0, "0"), (2, "1")]),
                    *((f"b/{at}", share, None, [(0, "0"), (1, "1")]) for at, share in ((1, "1/8"), (2, "5/8"))),
                ],
            ),
        ),
        (
            NAMED,
            (USUAL, [("a", "1/2", None, [(0, "0"), (4, "1")]), ("b", "1/2", None, [(0, "0"), (1, "1/4"), (4, "1")])]),
        ),
        (SEVERE, (USUAL, [("a", "1/2", 10, YES_NO), ("b", "1/2", None, YES_NO)])),
    ],
)
def test_a_file_means_what_its_table_says(given, expected):
    table, text = given
    assert mean(text, table) == {"rubric": expected}


def test_each_match_of_a_star_is_a_rubric_with_its_own_name_and_task():
    table = 'criteria = "/cases/*/checks"\noutcome = "t"\nscale = "yes-no"\n'
    table += 'rubric = "/cases/*/id"\ntask = "/cases/*/prompt"'
    text = '{"cases": [{"id": "one", "prompt": "Why?", "checks": ["A"]}, {"id": "two", "checks": [{"t": "B"}]}]}'
    rubrics = load_rubrics("cases.json", text.encode(), settings(table))
    assert {name: rubric.model.view.task for name, rubric in rubrics.items()} == {"one": "Why?", "two": ""}


ONE = "[{text: Names the cause}]"


@pytest.mark.parametrize(("table", "text", "expected"), TABLES["faults"])
def test_what_is_wrong_in_a_file_is_said_in_its_own_words_at_its_place(table, text, expected):
    assert found(text, table) == [*map(tuple, expected)]


def test_a_second_table_for_the_same_criteria_is_an_error():
    tables = (
        'criteria = "/c"\noutcome = "text"\nscale = "yes-no"',
        'criteria = "/*"\noutcome = "text"\nscale = [1, 5]',
    )
    shapes = tuple(shape for table in tables for shape in settings(table).shapes)
    shapes = (shapes[0], replace(shapes[1], name="theirs"))
    result = examine_file("rubric.yaml", f"c: {ONE}\nd: {ONE}".encode(), FileSettings(shapes=shapes)).result
    assert [(result.source.slice(finding.span), *told(finding)) for finding in result.findings] == [
        (ONE, "schema.second-table", "ours", "theirs")
    ]


def test_a_scale_that_is_not_understood_matters_only_where_no_levels_say_it():
    table = 'criteria = "/c"\nlevels = "levels"\noutcome = "text"\nscale = "/scale"'
    text = "scale: 5\nc: [{levels: {1: None of it, 5: All of it}}, {text: Is it short}]"
    assert found(text, table) == [("5", "schema.scale", "scale", "is 5")]


def test_a_range_of_scores_has_one_text_and_no_finding():
    assert found(RANGES[1], RANGES[0]) == []


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), "1e308", "1e-300", "1e-99999999", ".nan", ".inf", "[]", "{}", "null", "true", "''"]
)
def test_absurd_values_are_findings_and_never_a_crash(value):
    for field in ("scale: 1-5", "pass_mark: 3", "min: 2", "weight: 0.5", "description: Is it kind", "5: Very warm"):
        text = SCALED.format(scale="1-5", passes=3, gate=2)
        assert field in text
        examine_file("a.yaml", text.replace(field, f"{field.split(': ')[0]}: {value}").encode(), settings(GUIDE))


@pytest.mark.parametrize(("table", "text"), TABLES["no score"])
def test_a_rubric_whose_score_nothing_says_is_refused_with_the_reason(table, text, said):
    with pytest.raises(RubricError) as caught:
        mean(text, table)
    said(str(caught.value))


@pytest.mark.parametrize("table", TABLES["a table that contradicts itself is an error of the settings"])
def test_a_table_that_contradicts_itself_is_an_error_of_the_settings(table, tmp_path, said):
    (tmp_path / "rubric-lint.toml").write_text(f'[[shape]]\nname = "ours"\n{table}\n')
    with pytest.raises(SettingsError) as caught:
        SettingsFinder().for_file(str(tmp_path / "a.yaml"))
    said(caught.value.faults)


def test_levels_that_are_worth_points_are_not_written_as_levels_worth_nothing(said):
    (rubric,) = load_models("rubric.yaml", POINTS[1].encode(), settings(POINTS[0])).values()
    with pytest.raises(ExportError) as caught:
        make_sound("a", rubric.rubric, load_target("csv"))
    said(caught.value.message)
    # JSON says what each level is worth
    assert make_sound("a", rubric.rubric, load_target("json")) == (rubric.rubric, [])


def test_lower_scores_are_better_if_the_table_says_so(said):
    table, text = TABLES["LOWER"]
    worth = [(0, "1"), (1, "3/4"), (2, "1/2"), (3, "1/4"), (4, "0")]
    assert mean(text, table) == {"rubric": (Decimal("0.75"), [("a", "3/4", 2, worth), ("b", "1/4", None, worth)])}
    (rubric,) = load_rubrics("rubric.yaml", text.encode(), settings(table)).values()
    assert [grade.answer for grade in rubric.criteria[0].grades if grade.gate_met] == [0, 1, 2]
    scored = {answers: rubric.grade(JudgeOutput(answers, (None, None))) for answers in ((0, 0), (1, 1), (1, 2), (3, 0))}
    assert {answers: (str(each.score), str(each.verdict)) for answers, each in scored.items()} == {
        (0, 0): ("1", "pass"),
        (1, 1): ("3/4", "pass"),
        (1, 2): ("11/16", "fail"),
        (3, 0): ("7/16", "fail"),
    }
    assert found(text, table) == []
    plain = text.replace(", direction: lower_is_better", "").encode()
    hashes = [
        next(iter(load_rubrics("rubric.yaml", plain, settings(each)).values())).hash
        for each in (table, table.replace("lower", "higher"))
    ]
    assert hashes[0] == rubric.hash != hashes[1]
    said([example.title for example in make_examples(rubric)])
    with pytest.raises(ExportError) as caught:
        make_sound("a", rubric.model, load_target("inspect"))
    said(caught.value.message)


REFUSED = {
    "only some criteria say it": ({", direction: lower_is_better}\n  - ": "}\n  - "}, "direction"),
    "a part of the scale": ({"pass: 1": "pass: 0.7"}, "0.7 is ambiguous"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_scale_that_may_be_turned_for_some_criteria_alone_is_not_scored(change, reason, said):
    table, text = TABLES["LOWER"]
    for old, new in change.items():
        text = text.replace(old, new)
    with pytest.raises(RubricError) as caught:
        load_rubrics("rubric.yaml", text.encode(), settings(table))
    assert reason in str(caught.value)
    said(str(caught.value))


def test_marks_beyond_a_scale_that_is_turned_are_findings():
    table, text = TABLES["LOWER"]
    marks = text.replace("pass: 1", "pass: 4").replace("most: 2", "most: -1")
    assert [each[:2] for each in found(marks, table)] == [("4", "bounds.threshold"), ("-1", "bounds.threshold")]


@pytest.mark.parametrize("text", TABLES["a field of which the"])
def test_a_field_of_which_the_table_says_nothing_is_told_wherever_a_criterion_is(text, said):
    table = 'criteria = "/c"\noutcome = "text"\nlevels = "grade_*"\nparts = "parts"\nscale = "yes-no"'
    result = examine_file("rubric.yaml", text.encode(), settings(table)).result
    assert {each.line for each in result.unread} == {1}
    said([each.reason for each in result.unread])


def test_a_list_of_criteria_that_another_table_reads_is_no_question():
    item = "{id: %s, text: Names it in full, weight: 1}"
    text = f"a: [{item % 'x'}, {item % 'y'}]\nb: [{item % 'z'}]\n"
    table = {"files": ["x"], "id": "id", "outcome": "text", "weight": "weight", "scale": "yes-no"}
    shapes = [FormatTable.from_table({"name": name, "criteria": f"/{name}", **table}) for name in "ab"]
    alone, both = (
        examine_file("r.yaml", text.encode(), FileSettings(shapes=used)).rubrics for used in (shapes[:1], shapes)
    )
    assert [len(each.view.doubts) for _, each in alone] == [1]
    assert [len(each.view.doubts) for _, each in both] == [0, 0]


def test_the_text_of_a_level_that_is_a_number_is_shown_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.rubric.yaml").write_text("rubrics: [{id: a, expected_outcome: It is right, levels: {1: 010, 2: 'yes'}}]\n")
    shown, _, _ = call("show", "a.rubric.yaml")
    assert [line.split() for line in shown.splitlines() if line.startswith("    ")] == [["1", "010"], ["2", "yes"]]


def test_what_a_table_reads_is_not_reported_as_lost(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    Path("rubric.yaml").write_text(SCALED.format(scale="1-5", passes=3, gate=2).replace("min: 2, ", "") + "owner: a\n")
    Path("rubric-lint.toml").write_text(f'[[shape]]\nname = "ours"\nfiles = ["rubric.yaml"]\n{GUIDE}')
    _, errors, code = call("convert", "rubric.yaml")
    assert code == 0
    said([line for line in errors.splitlines() if "lost: `" in line])


def test_a_table_counts_for_its_files_alone(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.rubric-lint.shape]]\nname = "ours"\nfiles = ["eval/*.conf"]\ncriteria = "/c"\noutcome = "t"\n'
    )
    finder = SettingsFinder()
    inside, outside = (finder.for_file(str(tmp_path / name)) for name in ("eval/a.conf", "a.yaml"))
    assert ([shape.name for shape in inside.shapes], inside.is_named, outside) == (["ours"], True, FileSettings())
