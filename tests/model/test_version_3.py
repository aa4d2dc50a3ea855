"""Rubrics of version 3: what is read, what is found in them and where, and what is fixed."""

import json
from decimal import Decimal
from fractions import Fraction
from functools import reduce

import commands
import pytest
from cases import read_cases
from faulty_rubrics import faulty_rubrics
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from lint_command import call
from random_3 import random_rubric
from random_rubrics import rubrics

from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import Shape
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.report.show import ShowText
from rubric_lint.report.terminal import Style
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.scoring.show.source import show

MODELINE = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json\n"
FOUND = read_cases(__file__)["FOUND"]
NAMED = FileSettings(claimed=True, is_rubric_file=True)
SECOND, THIRD = (FileSettings(claimed=True, version=version) for version in ("v2", "v3"))
GROUPED = """\
criteria:
  - {id: code, weight: 0.35, criteria: [The file exists, {id: runs, expected_outcome: The program runs, weight: 3}]}
  - {id: style, weight: 0.65, criteria: [No unused imports, Types are right]}
  - Names the date
"""


def read(text, name="a.yaml", how=FileSettings()):  # noqa: B008 (settings never change)
    """The only rubric of a file of version 3."""
    ((_, rubric),) = examine_file(name, (MODELINE + text if name.endswith("yaml") else text).encode(), how).rubrics
    return rubric


def read_view(text):
    return read(text).view


def list_found(name, data, how=FileSettings()):  # noqa: B008 (as above)
    """What is found: line:column, severity and code of each finding."""
    result = lint(name, data, how)
    places = [(result.source.position(finding.span.start), finding) for finding in result.findings]
    return [f"{place.line}:{place.column} {each.severity} {each.code}" for place, each in places]


@pytest.mark.parametrize("case", FOUND)
def test_what_is_wrong_is_found_at_its_place(case):
    text = FOUND[case]["rubric"]
    head = "\n" if text.startswith("# yaml") else MODELINE
    assert list_found("a.yaml", (head + text).encode()) == FOUND[case]["found"]


ADVICE = {
    "bounds.borderline-above-pass": [
        ("scale: [1, 5]\npass_threshold: 2\nborderline_threshold: 3\n", "a lower one"),
        ("scale: [5, 1]\npass_threshold: 2\nborderline_threshold: 1.5\n", "a higher one"),
    ],
    "idle-gate.idle-borderline": [
        ("scale: [1, 5]\npass_threshold: 2\nborderline_threshold: 2\n", "a lower one"),
        ("scale: [5, 1]\npass_threshold: 2\nborderline_threshold: 2\n", "a higher one"),
        ("scale: [5, 1]\npass_threshold: 50%\nborderline_threshold: 50%\n", "a lower one"),
    ],
    "bounds.grade-order": [
        ("scale: [1, 5]\ngrades: {A: 2, B: 3}\n", "`B` is not lower than that of `A`"),
        ("scale: [5, 1]\ngrades: {A: 3, B: 2}\n", "`B` is not higher than that of `A`"),
        ("scale: [5, 1]\ngrades: {A: 30%, B: 40%}\n", "`B` is not lower than that of `A`"),
    ],
    "idle-gate.of-penalty": [
        (f"criteria:\n    - {{id: a, expected_outcome: It burns, {gate}, weight: -2}}\n", f"else remove `{field}`")
        for gate, field in (
            ("required_min_score: 10", "required_min_score"),
            ("scale: [1, 5], required_min_score: 3", "required_min_score"),
            ("scale: [1, 5], required_min_level: 3", "required_min_level"),
            ("scale: [1, 5], required: true", "required"),
        )
    ],
    "deprecated-required.replaced-on-scale": [
        (
            "scale: [1, 5]\ncriteria:\n    - {id: a, expected_outcome: It burns, required: true}\n",
            "highest score meets; lower it",
        ),
        (
            "scale: [5, 1]\ncriteria:\n    - {id: a, expected_outcome: It burns, required: true}\n",
            "lowest score meets; raise it",
        ),
    ],
    "schema.misplaced": [
        ("scale: [1, 5]\nrubrics:\n", "below `rubrics`, write a mapping with this and `criteria`"),
        ("scale: [1, 5]\nrubrics:\n  criteria:\n", "below `rubrics`, write a mapping with this and `criteria`"),
        (
            "pass_threshold: 90%\nrubrics:\n  pass_threshold: 0.6\n  criteria:\n",
            'it is the string "90%", and in `rubrics` it is 0.6; keep one, in `rubrics`',
        ),
    ],
}


@pytest.mark.parametrize(
    ("code", "text", "advice"), [(code, *case) for code, cases in ADVICE.items() for case in cases]
)
def test_advice_fits_the_scale_and_the_field_that_is_written(code, text, advice):
    head = "" if "criteria:" in text or "rubrics:" in text else "criteria:\n"
    findings = lint("a.yaml", f"{MODELINE}{text}{head}    - It rains\n".encode()).findings
    (message,) = [finding.message for finding in findings if finding.code == code]
    assert advice in message


def test_groups_become_one_list_with_paths_as_ids():
    rubric = read(GROUPED)
    assert [
        (criterion.id, criterion.label, criterion.weight, rubric.view.place(criterion.path))
        for criterion in rubric.criteria
    ] == [
        ("code/1", "criterion `code/1`", Decimal(1), ("criteria", 0, "criteria", 0)),
        ("code/runs", "criterion `code/runs`", Decimal(3), ("criteria", 0, "criteria", 1)),
        ("style/1", "criterion `style/1`", Decimal(1), ("criteria", 1, "criteria", 0)),
        ("style/2", "criterion `style/2`", Decimal(1), ("criteria", 1, "criteria", 1)),
        ("rubric-3", "criterion 3", Decimal(1), ("criteria", 2)),
    ]
    assert rubric.view.tree is None
    assert [*map(int, rubric.view.outline.flatten(rubric.view.weights))] == [7, 21, 26, 26, 80]
    assert [(group.id, group.weight, group.members) for group in rubric.view.outline.groups] == [
        ("code", Decimal("0.35"), (0, 1)),
        ("style", Decimal("0.65"), (2, 3)),
    ]


@pytest.mark.parametrize(
    ("group", "gate", "condition"),
    [
        ("required_min_score: 0.5, criteria: [The file exists, The program runs]", Fraction(1, 2), ""),
        ("scale: [1, 5], required_min_score: 4, criteria: [The file exists, The program runs]", Fraction(3, 4), ""),
        ("criteria: [The file exists, {id: b, expected_outcome: It crashes, weight: -1}]", None, ""),
        ("applies_if: There is code, criteria: [The file exists, The program runs]", None, "There is code"),
        ("criteria: [The file exists, {id: b, expected_outcome: It runs, applies_if: It can}]", None, ""),
    ],
)
def test_what_a_flat_average_does_not_say_is_a_tree_with_the_weights_as_written(group, gate, condition):
    rubric = read(f"criteria: [Names the date, {{id: code, weight: 3, {group}}}]\n")
    date, code = rubric.view.tree.members
    assert (date, code.id, code.weight, code.gate, code.applies_if, code.members) == (
        *(0, "code", 3, gate, condition),
        (1, 2),
    )
    assert [criterion.weight for criterion in rubric.criteria][:2] == [1, 1]


@pytest.mark.parametrize(
    ("text", "shape", "span", "numbers", "described", "gate"),
    [
        ("scale: [1, 3]", Shape.LEVELS, (1, 3), [1, 2, 3], [], None),
        ("scale: [3, 1], required_min_score: 2", Shape.LEVELS, (3, 1), [1, 2, 3], [], 2),
        ("scale: [1, 3], levels: {1: Bare, 3: Full of reasons}", Shape.LEVELS, (1, 3), [1, 2, 3], [1, 3], None),
        ("levels: {1: Bare, 3: Full of reasons}, required_min_level: 3", Shape.LEVELS, None, [1, 3], [1, 3], 3),
        ("scale: [0, 1], required_min_score: 1", Shape.CHECKLIST, (0, 1), [], [], 10),
        ("scale: [1, 0], required_min_score: 0", Shape.CHECKLIST, (1, 0), [], [], 10),
        ("scale: [0.0, 0.03], required_min_score: 0.02", Shape.CHECKLIST, None, [], [], None),
    ],
)
def test_a_scale_is_read_as_levels(text, shape, span, numbers, described, gate):
    (criterion,) = read(f"criteria: [{{id: a, expected_outcome: How it is said, {text}}}]\n").criteria
    levels = criterion.levels or ()
    found = [level.number for level in levels], [level.number for level in levels if level.outcome is not None]
    if span is None and shape is Shape.CHECKLIST:  # whose ends are no whole numbers, which the schema reports
        return
    assert (criterion.shapes, criterion.fields.get("span"), *found, criterion.gate) == (
        *((shape,), span),
        *(numbers, described, gate),
    )


def test_a_decimal_scale_has_hundredths():
    (criterion,) = read(
        "scale: [0.0, 1.0]\ncriteria: [{id: a, expected_outcome: Tone, required_min_score: 0.35}]\n"
    ).criteria
    assert [level.number for level in criterion.levels] == [number / 100 for number in range(101)]
    assert criterion.gate == 0.35
    assert json.dumps(criterion.gate) == "0.35"


def test_the_nearest_scale_or_ladder_counts():
    rubric = read(
        """\
scale: [1, 5]
criteria:
  - Names the cause
  - id: ladder
    levels: {1: Bare, 5: Full of reasons}
    criteria: [Says why, {id: own, expected_outcome: Plan, scale: [0, 2]}]
  - {id: flow, expected_outcome: Flow, score_ranges: {1: It jumps, 3: It follows}}
  - {id: date, expected_outcome: Names the date, scale: [0, 1]}
"""
    )
    cause, why, own, flow, date = rubric.criteria
    assert [len(criterion.levels or ()) for criterion in rubric.criteria] == [5, 5, 3, 0, 0]
    assert [[level.number for level in each.levels if level.outcome] for each in (cause, why, own)] == [[], [1, 5], []]
    assert (flow.scale.ends, [band.scores for band in flow.scale.bands]) == ((1, 5), [range(1, 3), range(3, 6)])
    assert date.is_check
    assert rubric.view.place(why.levels[0].number_path) == ("criteria", 1, "levels", "1")
    assert rubric.view.units == (1, 5)


@pytest.mark.parametrize(
    ("marks", "thresholds", "grades"),
    [
        ("", ("0.8", "0.6"), ()),
        ("pass_threshold: 0.7", ("0.7", "0.7"), ()),
        ("pass_threshold: 26/30", (Fraction(13, 15), Fraction(13, 15)), ()),
        ("borderline_threshold: 50%", ("0.8", "0.5"), ()),
        ("scale: [1, 5]\npass_threshold: 3.5\nborderline_threshold: 3", ("0.625", "0.5"), ()),
        ("scale: [5, 1]\npass_threshold: 2", ("0.75", "0.75"), ()),
        ("scale: [1, 5]\npass_threshold: 70%", ("0.7", "0.7"), ()),
        ("grades: {A: 90%, F: 0}", ("0.8", "0.6"), (("A", Fraction(9, 10)), ("F", Fraction(0)))),
        ("scale: [1, 5]\ngrades: {A: 4.5, B: 3}", ("0.8", "0.6"), (("A", Fraction(7, 8)), ("B", Fraction(1, 2)))),
    ],
)
def test_marks_are_shares_of_the_scale(marks, thresholds, grades):
    rubric = read(f"{marks}\ncriteria: [Names the cause, Names the fix]\n")
    assert tuple(map(Fraction, rubric.thresholds)) == tuple(map(Fraction, thresholds))
    assert rubric.view.grades == grades


def test_critical_failures_are_negated_gates_at_the_end():
    rubric = read(
        "criteria: [Names the cause]\ncritical_failures: [Invents a source, {id: x, expected_outcome: Lies}]\n"
    )
    _, *failures = rubric.criteria
    assert [
        (failure.id, failure.weight, failure.gate, failure.is_negated, failure.is_failure) for failure in failures
    ] == [
        ("failure-1", 0, 10, True, True),
        ("x", 0, 10, True, True),
    ]


NODE = {"id": "a", "expected_outcome": "A reply", "scale": [1, 5], "criteria": ["Names the cause"]}


@pytest.mark.parametrize(
    ("name", "data", "path"),
    [
        ("a.rubric.json", {"$schema": "https://rubric-lint.github.io/schemas/rubric-v3.schema.json", **NODE}, ()),
        ("a.json", {"$schema": "https://rubric-lint.github.io/schemas/v3/rubric.json", "rubrics": NODE}, ("rubrics",)),
        (
            "a.eval.json",
            {
                "$schema": "https://rubric-lint.github.io/schemas/suite-v3.schema.json",
                "tests": [{"id": "t", "input": "Why?", "rubrics": NODE}],
            },
            ("tests", 0, "rubrics"),
        ),
    ],
)
def test_a_rubric_is_a_whole_file_or_below_rubrics(name, data, path):
    rubric = read(json.dumps(data), name)
    assert (rubric.path, rubric.view.name, rubric.view.task, rubric.version) == (path, "a", "A reply", "v3")
    assert list_found(name, json.dumps(data).encode()) == []


def test_settings_say_that_files_follow_version_3():
    ((_, rubric),) = examine_file("a.rubric.yaml", b"criteria: [Names the cause]\n", THIRD).rubrics
    assert (rubric.version, [criterion.id for criterion in rubric.criteria]) == ("v3", ["rubric-1"])
    data = b"rubrics: {scale: [1, 5], criteria: [Names the cause]}\n"
    ((_, rubric),) = examine_file("a.yaml", data, FileSettings(version="v3")).rubrics
    assert (rubric.version, len(rubric.criteria[0].levels)) == ("v3", 5)
    assert examine_file("a.yaml", data, FileSettings(version="v3")).result.unread == ()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "a.yaml",
            "rubrics:\n  - {id: a, expected_outcome: Names it, scale: [0, 3]}\n",
            ["2:41 error unknown-field.version-3"],
        ),
        (
            "a.rubric.yaml",
            "rubrics:\n  scale: [0, 3]\n  criteria: [Names it]\n",
            ["2:3 error schema.not-a-list"],
        ),
        (
            "a.rubric.yaml",
            "scale: [0, 3]\ncriteria: [{id: a, expected_outcome: Names it}]\n",
            ["2:1 error schema.no-rubrics-version-3"],
        ),
    ],
)
def test_version_3_in_a_file_of_version_2_is_told_with_the_line_that_says_so(name, text, found):
    assert list_found(name, text.encode(), NAMED) == found
    result = lint(name, text.encode(), NAMED)
    assert MODELINE.strip() in result.findings[0].message
    assert not any(finding.severity == "error" for finding in lint(name, (MODELINE + text).encode()).findings)


@pytest.mark.parametrize(
    ("case", "how", "pairs"),
    [
        (
            "deprecated fields in a group",
            {},
            [
                (
                    "description: Names the cause, required: true",
                    "expected_outcome: Names the cause, required_min_score: 10",
                ),
                (", required: false", ""),
            ],
        ),
        ("deprecated field on a scale", {}, [("required: true", "required_min_score: 5")]),
        ("conflicting fields in a group", {}, [("description: Names the cause, ", "")]),
        ("missing id in a group", {"unsafe": True}, [("weight: 2}", 'weight: 2, id: "1"}')]),
        (
            "unknown fields",
            {"unsafe": True},
            [("scle", "scale"), ("wieght: 2", "weight: 2"), ("wieght: 3", "weight: 3")],
        ),
        ("swapped bounds on a scale", {"unsafe": True}, [("[2, 1]", "[1, 2]")]),
        (
            "bands out of order on a scale",
            {"unsafe": True},
            [
                (
                    (
                        "      - {score_range: [51, 100], expected_outcome: Each part follows from the last}\n"
                        "      - {score_range: [0, 50], expected_outcome: It jumps between topics}\n"
                    ),
                    (
                        "      - {score_range: [0, 50], expected_outcome: It jumps between topics}\n"
                        "      - {score_range: [51, 100], expected_outcome: Each part follows from the last}\n"
                    ),
                )
            ],
        ),
        ("a number as an id that a place has", {"unsafe": True}, [('id: "1"', 'id: "1-2"')]),
    ],
)
def test_a_fix_changes_nothing_else_at_any_depth(case, how, pairs):
    text = MODELINE + FOUND[case]["rubric"]
    expected = text
    for old, new in pairs:
        assert old in expected
        expected = expected.replace(old, new)
    fixed = fix("a.yaml", text.encode(), **how)
    assert (fixed.text, fixed.doubt) == (expected, "")


def test_a_comment_silences_a_finding_in_a_group():
    text = """\
criteria:
  - id: g
    criteria:
      # rubric-lint: ignore[placeholder]
      - TODO
      - TODO
"""
    assert list_found("a.yaml", (MODELINE + text).encode()) == [
        "7:9 warning duplicate-criterion.counted-twice",
        "7:9 warning placeholder.unfinished",
    ]


def describe(name, data, how):
    """All that is read and found, but what version 3 allows."""
    examined = examine_file(name, data, how)
    found = [
        (finding.code, finding.severity, finding.span, finding.message, [choice.title for choice in finding.choices])
        for finding in examined.result.findings
        if finding.rule != "mixing"
    ]
    models = [
        (rubric.thresholds, [describe_entry(entry) for entry in rubric.entries]) for _, rubric in examined.rubrics
    ]
    return found, models


def describe_entry(entry):
    levels = [(level.number, level.name, level.outcome) for level in entry.levels or ()]
    bands = [(band.scores, band.outcome) for band in entry.scale.bands] if entry.scale else []
    return entry.id, entry.weight, entry.gate, entry.shapes, entry.outcome, entry.label, levels, bands


def as_json(value):
    if isinstance(value, dict):
        return {key: float(each) if key == "weight" else as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list) else value


@given(rubrics)
def test_a_rubric_of_version_2_says_the_same_in_version_3(rubric):
    data = json.dumps({"rubrics": as_json(rubric)}).encode()
    assert describe("a.json", data, SECOND) == describe("a.json", data, THIRD)


@given(faulty_rubrics)
def test_a_faulty_rubric_of_version_2_has_the_same_findings_and_fixes_in_version_3(file):
    assert describe(file.name, file.data, SECOND) == describe(file.name, file.data, THIRD)
    second, third = (fix(file.name, file.data, how) for how in (SECOND, THIRD))
    assert (second.text, second.doubt) == (third.text, third.doubt)


KEYS = [
    "id",
    "expected_outcome",
    "weight",
    "scale",
    "levels",
    "criteria",
    "score_ranges",
    "score_range",
    "required_min_score",
    "required_min_level",
    "required",
    "description",
    "applies_if",
    "pass_threshold",
    "borderline_threshold",
    "grades",
    "critical_failures",
    "level",
    "name",
    "0",
    "1",
    "1.0",
    "x.y",
    "rubrics",
    "-1",
]
SCALARS = [
    None,
    True,
    0,
    1,
    -3,
    12,
    0.5,
    1.0,
    1e308,
    -1e308,
    10**30,
    1e-300,
    2.55,
    "",
    "70%",
    "26/0",
    "1/3",
    "TODO",
    "a b",
]
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)
SCALES = [[1, 5], [0, 1], [3, 1], [0.0, 1.0], [1.0, 0.0], [0, 100], [1], [1, 1], [0, 10]]
RANGES = [{"0": "It jumps", "1": "It flows"}, [{"score_range": [5, 3], "expected_outcome": "It flows"}]]


def nodes(depth=2):
    inner = st.sampled_from(["Names it"]) | (nodes(depth - 1) if depth else VALUES)
    return st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(KEYS, VALUES),
            "scale": st.sampled_from(SCALES),
            "levels": st.dictionaries(st.sampled_from(["0", "1", "0.5", "x"]), st.sampled_from(["It flows", ""])),
            "score_ranges": st.sampled_from(RANGES) | VALUES,
            "criteria": st.lists(inner, max_size=3),
        },
    )


@pytest.mark.slow
@given(nodes(), st.sampled_from(["file", "rubrics", "suite"]))
def test_no_value_crashes_the_linter(node, where):
    whole = {
        "file": node,
        "rubrics": {"rubrics": node},
        "suite": {"threshold": 0.5, "tests": [{"id": "t", "rubrics": node}]},
    }
    data = json.dumps(whole[where]).encode()
    examine_file("a.rubric.json", data, THIRD)
    fix("a.rubric.json", data, THIRD)


@pytest.mark.slow
def test_aliases_do_not_make_billions_of_criteria():
    levels = "".join(
        f"  - &g{number} {{id: g{number}, criteria: [{', '.join([f'*g{number - 1}'] * 8)}]}}\n"
        for number in range(1, 6)
    )
    rubric = read(f"criteria:\n  - &g0 {{id: g0, criteria: [Names it]}}\n{levels}")
    assert rubric.criteria == ()
    assert rubric.refusal == ((), "it has more than 10,000 criteria, with those that aliases repeat")
    assert [problem.code for _, problem in rubric.view.problems] == ["too-many-criteria"]


SHOWN = """\
scale: [1, 5]
pass_threshold: 4
borderline_threshold: 3
grades: {good: 4.5, bad: 1}
criteria:
  - id: code
    weight: 3
    required_min_score: 3
    applies_if: There is code
    expected_outcome: The code of the answer
    criteria: [The file is short, {id: runs, expected_outcome: The program runs, scale: [0, 1]}]
  - {id: date, expected_outcome: Names the date, scale: [0, 1], applies_if: The question asks for one}
critical_failures: [Invents a source]
"""


def test_show_has_all_that_version_3_adds():
    (rubric,) = show("a.yaml", (MODELINE + SHOWN).encode()).rubrics
    described = rubric.to_json()
    whole = load_bundled("show/v1.json")
    assert Draft7Validator(whole["definitions"]["rubric"] | {"definitions": whole["definitions"]}).is_valid(described)
    assert (rubric.version, rubric.dialect, rubric.marks) == ("v3", None, ("4", "3"))
    assert described["scale"] == [1, 5]
    assert described["grades"] == [{"grade": "good", "score": 0.875}, {"grade": "bad", "score": 0.0}]
    assert described["groups"] == [
        {
            "id": "code",
            "weight": 3.0,
            "gate": 0.5,
            "outcome": "The code of the answer",
            "applies_if": "There is code",
        }
    ]
    fields = ("id", "share", "applies_if", "critical_failure")
    assert [tuple(map(criterion.get, fields)) for criterion in described["criteria"]] == [
        ("code/1", "3/8", None, None),
        ("code/runs", "3/8", None, None),
        ("date", "1/4", "The question asks for one", None),
        ("failure-1", "0", None, True),
    ]


FALLING = """\
scale: [5, 1]
pass_threshold: 2
borderline_threshold: 3
grades: {gold: 1.5}
criteria:
  - {id: g, required_min_score: 2, criteria: [{id: a, expected_outcome: Names the date}]}
  - {id: h, scale: [1, 5], required_min_score: 2, criteria: [{id: a, expected_outcome: Names the place}]}
  - {id: i, scale: [1, 0], required_min_score: 1, expected_outcome: Names a rival}
  - {id: j, scale: [0, 1], required_min_score: 0, expected_outcome: Names a friend}
  - {id: p, required_min_score: 3, expected_outcome: Length, score_ranges: {1: It is short, 4: It is long}}
"""


def test_show_says_which_side_of_a_mark_is_better():
    pieces = []
    ShowText(pieces.append, Style(columns=200)).add(show("a.yaml", (MODELINE + FALLING).encode()))
    lines = "".join(pieces).splitlines()
    assert "; pass <= 2, borderline <= 3, on the scale from 5 to 1" in lines[1]
    assert [line.strip() for line in lines if line.startswith(("  grades", "  group"))] == [
        "grades: gold <= 1.5",
        "group g (weight 1, gate <= 2)",
        "group h (weight 1, gate >= 2)",
    ]
    assert any(line.startswith("  p ") and "<= 3" in line for line in lines)
    assert sum("never missed" in line for line in lines if line.startswith(("  i ", "  j "))) == 2


def test_show_has_no_outcome_where_the_file_has_none():
    text = "criteria: [Names the date]\ncritical_failures: [{id: f, description: Insults}]\n"
    (rubric,) = show("a.yaml", (MODELINE + text).encode()).rubrics
    assert [criterion.outcome for criterion in rubric.criteria] == ["Names the date", "Critical failure"]


def test_a_gate_that_is_never_missed_is_worded_as_written_on_a_falling_scale(said):
    text = FALLING + "  - {id: k, scale: [5, 1], required_min_score: 5, expected_outcome: Names it}\n"
    text += "  - {id: l, required_min_score: 5, criteria: [{id: a, expected_outcome: Names them}]}\n"
    text += "  - {id: m, scale: [5, 1], expected_outcome: Names all, levels: {5: None is named, 1: All are named}}\n"
    said(*(finding.message for finding in lint("a.yaml", (MODELINE + text).encode()).findings))


def test_a_split_band_names_the_mark_as_written():
    bands = "score_ranges: {0: None is named, 6: All are named}"
    text = f"pass_threshold: 70%\ncriteria: [{{id: a, expected_outcome: Names all, {bands}}}]\n"
    (found,) = lint("a.yaml", (MODELINE + text).encode()).findings
    assert found.message.startswith("criterion `a`: the threshold `pass_threshold: 70%` splits this band")


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_a_number_that_becomes_an_id_is_a_string(name):
    head, text = (
        MODELINE,
        "criteria:\n  - {id: g, criteria: [{expected_outcome: Names it}, {expected_outcome: Cites it}]}\n",
    )
    ids = [f", {key}: {number}" for key, number in (("id", '"1"'), ("id", '"2"'))]
    if name == "a.json":
        criteria = [{"id": "g", "criteria": [{"expected_outcome": each} for each in ("Names it", "Cites it")]}]
        head, text = "", json.dumps({"$schema": MODELINE.split("=")[1].strip(), "criteria": criteria})
        ids = [each.replace("id", '"id"') for each in ids]
    fixed = fix(name, (head + text).encode(), unsafe=True)
    first, second, third = text.split("}", 2)
    assert fixed.text == f"{head}{first}{ids[0]}}}{second}{ids[1]}}}{third}"
    assert [each.rule for each in fixed.applied] == ["missing-id"] * 2
    assert fixed.applied[0].title == 'write the id that it has now, `id: "1"`'


@pytest.fixture
def faulty_file(tmp_path, monkeypatch):
    """A committed file with an old field in a group."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.yaml"
    path.write_text(f"{MODELINE}criteria:\n{OLD}", "utf-8")
    commands.commit_all()
    return path


OLD = "  - {id: g, criteria: [{id: a, description: Names the cause}]}\n"
NEW = "  - {id: h, criteria: [{id: a, description: Names the fix}]}\n"


def list_lines(*args):
    out, err, _ = call("--format=json", *args)
    assert err == ""
    return [(finding["rule"], finding["start"]["line"]) for finding in json.loads(out)["findings"]]


def test_known_findings_in_groups_are_left_out(faulty_file):
    assert call("--baseline=known.json", "--write-baseline")[2] == 0
    assert list_lines("--baseline=known.json") == []
    faulty_file.write_text(faulty_file.read_text("utf-8") + NEW, "utf-8")
    assert list_lines("--baseline=known.json") == [("deprecated-description", 4)]


def test_only_changed_lines_of_groups_are_linted(faulty_file):
    assert list_lines() == [("deprecated-description", 3)]
    faulty_file.write_text(faulty_file.read_text("utf-8") + NEW, "utf-8")
    assert list_lines("--diff-base=HEAD") == [("deprecated-description", 4)]


ADDED = {
    "scale": [2, 9],
    "levels": {0: "It is not there", 1: "It is there"},
    "criteria": ["It names the harbor"],
    "applies_if": "The answer names a harbor",
    "expected_outcome": "It names a harbor",
    "description": "It names a harbor",
    "weight": 17,
    "required": True,
    "required_min_score": 1,
    "required_min_level": 1,
    "score_range": [0, 4],
    "score_ranges": {0: "It is not there", 1: "It is there"},
    "pass_threshold": "61%",
    "borderline_threshold": "11%",
    "grades": {"Harbor": "37%"},
    "critical_failures": ["It burns the harbor"],
    "threshold": 0.5,
}


def find_mappings(value, path=()):
    """The mappings in a value with their paths."""
    if isinstance(value, dict):
        yield path, value
    for step, part in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from find_mappings(part, (*path, step))


def find(value, path):
    """The part of a value at a path."""
    return reduce(lambda part, step: part[step], path, value)


def look(document):
    """The hash of a rubric, or why it is refused, and what is found in it without places."""
    text = json.dumps(document)
    found = sorted((finding.code, finding.message) for finding in lint("a.rubric.json", text.encode()).findings)
    try:
        (loaded,) = load_rubrics("a.rubric.json", text).values()
    except RubricError as wrong:
        return str(wrong), found
    return loaded.hash, found


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_a_field_that_is_added_anywhere_counts_or_is_found(dice):
    rubric = random_rubric(dice)
    document = {
        "$schema": MODELINE.split("=")[1].strip(),
        **(rubric if isinstance(rubric, dict) else {"rubrics": rubric}),
    }
    before = look(document)
    path, mapping = dice.choice([*find_mappings(document)])
    name = dice.choice([*ADDED])
    # What takes a scale or levels from around it has none of its own, and what alone counts is all of its group.
    is_idle = "criteria" in mapping and name in ("scale", "levels")
    if name == "weight" and path and isinstance(path[-1], int):
        others = [each for each in find(document, path[:-1]) if each is not mapping]
        is_idle = all(isinstance(each, dict) and each.get("weight") == 0 for each in others)
    is_text = not path and name == "description"
    if name in mapping or is_idle or is_text:
        return
    mapping[name] = ADDED[name]
    assert look(document) != before, (path, name)


@pytest.mark.parametrize(
    ("criterion", "gate"),
    [
        ("expected_outcome: Names a pen", 10),
        ("expected_outcome: Names a pen, scale: [0, 1]", 10),
        ("expected_outcome: Names a pen, scale: [1, 5]", 5),
        ("expected_outcome: Names a pen, scale: [5, 1]", 1),
        ("expected_outcome: Names a pen, scale: [0.0, 1.0]", 1.0),
        ("score_ranges: {0: It does not name it, 8: It names a pen}", 10),
        ("scale: [0, 100], score_ranges: {0: It does not name it, 80: It names a pen}", 100),
        ("scale: [50, 0], score_ranges: {0: It names a pen, 20: It does not name it}", 0),
    ],
)
def test_a_required_criterion_needs_its_best_score_before_and_after_the_fix(criterion, gate):
    text = f"{MODELINE}criteria: [{{id: a, {criterion}, required: true}}, Names a cup]\n"
    fixed = fix("a.yaml", text.encode()).result.source.text
    assert "required_min_score" in fixed
    for each in (text, fixed):
        ((_, rubric),) = examine_file("a.yaml", each.encode()).rubrics
        assert rubric.criteria[0].gate == gate


@pytest.mark.parametrize(
    ("scale", "written", "expected"),
    [
        ("[0, 1]", "", "required_min_score: 1"),
        ("[1, 0]", "", "required_min_score: 0"),
        ("[0, 1]", ", required: false", "required_min_score: 0"),
        ("[1, 0]", ", required: false", "required_min_score: 1"),
    ],
)
def test_a_gate_that_only_the_settings_say_is_written_in_units_of_the_scale(scale, written, expected):
    text = f"{MODELINE}criteria: [{{id: a, expected_outcome: Names a pen, scale: {scale}{written}}}]\n"
    how = FileSettings(implicit_required=True)
    fixed = fix("a.yaml", text.encode(), how).result.source.text
    assert f"scale: {scale}, {expected}" in fixed


def test_a_file_in_toml_is_refused_with_the_formats_that_are_read():
    text = f'"$schema" = "{MODELINE.split("=")[1].strip()}"\nscale = [1, 5]\ncriteria = ["Names the cause"]\n'
    assert list_found("a.rubric.toml", text.encode()) == ["1:1 error schema.no-rubrics-kind"]


def test_an_error_of_a_group_names_the_innermost_group():
    text = "criteria: [{id: g, weight: x, criteria: [{criteria: [It sinks], scal: [1, 5]}, {id: a, weight: y}]}]\n"
    messages = [finding.message.partition(":")[0] for finding in lint("a.yaml", (MODELINE + text).encode()).findings]
    assert messages == ["group `g`", "group `g/1`", "criterion `g/a`", "criterion `g/a`"]
