"""The model: what a rubric means, made of whatever part of it is sound."""

from decimal import Decimal

import pytest

from rubric_lint.format.criterion import SCORES, Shape, Thresholds, as_integer, read_number
from rubric_lint.format.rubric import build_rubric, fold_id
from rubric_lint.lint.engine import DEFAULTS, build_rubrics, lint
from rubric_lint.project.settings import BORDERLINE_AT, PASS_AT
from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source


def model(text, *, version="v2", implicit_required=False):
    (document,), _ = read_documents(Source("a.yaml", "rubrics:\n" + text))
    thresholds = Thresholds(PASS_AT, BORDERLINE_AT)
    return build_rubric(document, ("rubrics",), version, thresholds, implicit_required=implicit_required)


def entry(fields, **settings):
    """The one criterion of a rubric, from its fields in flow style."""
    (criterion,) = model(f"  - {fields}\n", **settings).entries
    return criterion


ESCAPED = """'a {{ "{{" }} b'"""
PROMPTFOO = "tests:\n- assert:\n  - type: llm-rubric\n    {}value: {{rubrics: [{{id: a, expected_outcome: {}}}]}}\n"
AGENTV = "assertions:\n- type: rubrics\n  criteria:\n  - {{id: a, outcome: {}, {}}}\n"
IN_DIALECTS = {
    "the format": (f"rubrics:\n- {{id: a, expected_outcome: {ESCAPED}}}\n", "7", ("0.8", "0.6"), 'a {{ "{{" }} b'),
    "promptfoo": (PROMPTFOO.format("", ESCAPED), "7", ("0.8", "0.6"), "a {{ b"),
    "promptfoo, a threshold": (PROMPTFOO.format("threshold: 0.5\n    ", ESCAPED), "7", ("0.5", "0.5"), "a {{ b"),
    "AgentV 3": (AGENTV.format(ESCAPED, "required_min_score: 7"), "7", ("0.8", "0.6"), 'a {{ "{{" }} b'),
    "AgentV 4": (AGENTV.format(ESCAPED, "min_score: 0.7"), "0.7", ("0.8", "0.8"), 'a {{ "{{" }} b'),
}


@pytest.mark.parametrize(("text", "gate", "thresholds", "outcome"), IN_DIALECTS.values(), ids=IN_DIALECTS)
def test_a_dialect_has_units_thresholds_and_templates_of_its_own(text, gate, thresholds, outcome):
    (document,), _ = read_documents(Source("a.eval.yaml", text))
    (rubric,) = build_rubrics(document, DEFAULTS)
    assert (rubric.word_gate(7), rubric.entries[0].outcome) == (gate, outcome)
    assert rubric.thresholds == Thresholds(*map(Decimal, thresholds))


def test_two_holistic_bands_among_other_criteria_are_one_scale():
    holistic = "rubrics:\n- {score_range: [0, 5], expected_outcome: No}\n"
    rest = "- {id: c, expected_outcome: Names it}\n"
    texts = [holistic + "- {score_range: [5, 10], expected_outcome: It}\n" + rest, holistic + rest]
    found = [[finding.rule for finding in lint("a.rubric.yaml", text.encode()).findings] for text in texts]
    assert [("overlap" in rules, "mixing" in rules) for rules in found] == [(True, True), (False, True)]


def test_a_text_is_a_criterion_with_weight_1_and_no_gate():
    first, second = model("  - Says it\n  - Proves it\n").criteria
    assert (first.id, first.outcome, first.weight, first.gate, first.shapes) == (
        "rubric-1",
        "Says it",
        Decimal(1),
        None,
        (Shape.CHECKLIST,),
    )
    assert (second.id, second.fields, second.has_own_id, second.path) == ("rubric-2", None, False, ("rubrics", 1))


SHAPES = {
    "texts": ("[It]", Shape.CHECKLIST),
    "outcomes": ("[{expected_outcome: It}]", Shape.CHECKLIST),
    "v1": ("[{description: It, required: true}]", Shape.CHECKLIST),
    "a map of ranges": ("[{score_ranges: {0: It}}]", Shape.SCORE_RANGES),
    "ranges and an outcome": ("[{expected_outcome: It, score_ranges: []}]", Shape.SCORE_RANGES),
    "bands": ("[{score_range: [0, 10], expected_outcome: It}]", Shape.HOLISTIC),
    "levels": ("[{levels: []}]", Shape.LEVELS),
    "the most frequent": ("[It, {levels: []}, {levels: []}]", Shape.LEVELS),
    "the first of two as frequent": ("[{levels: []}, It]", Shape.LEVELS),
    "none": ("[7, [], null]", None),
    "nothing": ("[]", None),
    "no list": ("text", None),
}


@pytest.mark.parametrize(("value", "shape"), SHAPES.values(), ids=SHAPES)
def test_the_shape(value, shape):
    assert model(f" {value}\n").shape == shape


def test_an_entry_may_have_two_shapes():
    assert entry("{score_ranges: [], levels: []}").shapes == (Shape.SCORE_RANGES, Shape.LEVELS)


def test_outdated_fields_are_those_of_criteria_and_of_bands_in_lists():
    rubric = model(
        "  - It\n  - score_ranges: [7, {description: It}, {}]\n  - score_ranges: {0: a}\n"
        "  - {id: b, required: true, description: It}\n"
    )
    places = [(path, name) for path, _, name in rubric.outdated]
    of_band, of_criterion = ("rubrics", 1, "score_ranges", 1), ("rubrics", 3)
    assert places == [
        (of_band, "description"),
        *((of_criterion, name) for name in rubric.replacements if name in ("required", "description")),
    ]
    assert list(rubric.entries_by_place) == [("rubrics", index) for index in range(4)]


def test_outcomes_say_what_they_are_of():
    rubric = model(
        "  - It\n  - {score_ranges: {0: a}, expected_outcome: b}\n  - {levels: {1: c}, expected_outcome: d}\n"
    )
    assert [(each.text, each.of) for each in rubric.outcomes] == [
        ("a", "band"),
        ("It", "criterion"),
        ("b", "task"),
        ("c", "level"),
        ("d", "task"),
    ]


def test_a_holistic_rubric_has_one_scale_and_no_criteria():
    rubric = model(
        "  - {score_range: [0, 4], expected_outcome: No}\n  - {score_range: [5, 10], expected_outcome: So}\n"
    )
    (scale,) = rubric.scales
    assert (rubric.criteria, scale.path, [band.scores for band in scale.bands]) == (
        (),
        ("rubrics",),
        [range(5), range(5, 11)],
    )


GATES = {
    "{levels: [], required: true}": (None, "required_min_level"),
    "{levels: [], required_min_level: 2.0, required_min_score: 7}": (2, "required_min_level"),
    "{required_min_score: 7}": (7, "required_min_score"),
    "{required_min_score: 7.0}": (7, "required_min_score"),
    "{required_min_score: '7'}": (None, "required_min_score"),
    "{required_min_score: 0}": (0, "required_min_score"),
    "{required_min_level: 3, levels: []}": (3, "required_min_level"),
    "{required: true}": (10, "required"),
    "{required: false}": (None, "required"),
    "{required: 'yes'}": (None, "required"),
    "{required: true, required_min_score: 3}": (3, "required_min_score"),
    "{id: a}": (None, "required"),
}


@pytest.mark.parametrize("fields", GATES)
def test_gates(fields):
    criterion = entry(fields)
    assert (criterion.gate, criterion.gate_path[-1]) == GATES[fields]


@pytest.mark.parametrize(
    ("fields", "gate"),
    [
        ("It", 10),
        ("{expected_outcome: It}", 10),
        ("{expected_outcome: It, required: false}", None),
        ("{expected_outcome: It, required: true}", 10),
        ("{expected_outcome: It, required_min_score: 0}", 0),
        ("{score_ranges: {0: It}}", None),
        ("{levels: []}", None),
    ],
)
def test_implicit_required_gates_what_says_neither(fields, gate):
    assert entry(fields, implicit_required=True).gate == gate


WEIGHTS = {
    "2": Decimal(2),
    "0": Decimal(0),
    "0.1": Decimal("0.1"),
    "1.10": Decimal("1.10"),
    "0.30000000000000004441": Decimal("0.30000000000000004441"),
    "1e2": Decimal(100),
    "+.5": Decimal("0.5"),
    "0x0A": Decimal(10),
    "-1": None,
    ".inf": None,
    ".nan": None,
    "1e400": None,
    "'2'": None,
    "true": None,
    "null": None,
    "[1]": None,
}


@pytest.mark.parametrize("written", WEIGHTS)
def test_weights_are_the_decimals_that_are_written(written):
    assert entry(f"{{weight: {written}}}").weight == WEIGHTS[written]


def test_weights_through_aliases_and_merge_keys():
    text = "  - &a {id: a, weight: &w 0.1}\n  - {id: b, weight: *w}\n  - {<<: *a, id: c}\n  - *a\n  - {id: d}\n"
    assert [criterion.weight for criterion in model(text).criteria] == [*[Decimal("0.1")] * 4, Decimal(1)]


RANGES = {
    "[0, 4]": (range(5), range(5)),
    "[4, 4]": (range(4, 5), range(4, 5)),
    "[0.0, 4.0]": (range(5), range(5)),
    "[0.5, 4.5]": (range(0), range(6)),
    "[4, 0]": (range(0), range(5)),
    "[-3, 12]": (range(0), SCORES),
    "[11, 12]": (range(0), SCORES),
    "[-1, 4]": (range(0), range(5)),
    "[7, 11]": (range(0), range(7, 11)),
    "[x, 0]": (range(0), range(1)),
    "[10, x]": (range(0), range(10, 11)),
    "[0, 10, 10]": (range(0), SCORES),
    "[0, .inf]": (range(0), SCORES),
    "[0, x]": (range(0), SCORES),
    "[0]": (range(0), SCORES),
    "x": (range(0), SCORES),
    "null": (range(0), SCORES),
}


@pytest.mark.parametrize("written", RANGES)
def test_bands_cover_scores_for_certain_and_perhaps(written):
    (band,) = entry(f"{{score_ranges: [{{score_range: {written}}}]}}").scale.bands
    scores, reach = RANGES[written]
    assert (list(band.scores), list(band.reach)) == (list(scores), list(reach))


@pytest.mark.parametrize(
    ("bands", "expected"),
    [
        ("0: a, 5: b, 9: c", [range(5), range(5, 9), range(9, 11)]),
        ("9: c, 0: a, 5: b", [range(9, 11), range(5), range(5, 9)]),
        ("'0': a, \"10\": b", [range(10), range(10, 11)]),
        ("3: a", [range(3, 11)]),
        ("0: a, 11: b", [range(11), range(0)]),
        ("0: a, x: b", [range(11), range(0)]),
    ],
)
def test_the_map_form_ends_each_band_below_the_next(bands, expected):
    scale = entry(f"{{score_ranges: {{{bands}}}}}").scale
    assert (scale.is_map, [list(band.scores) for band in scale.bands]) == (True, list(map(list, expected)))


def test_a_band_knows_where_its_parts_are_and_what_it_may_cover():
    scale = entry("{score_ranges: [{score_range: [0, 4], description: A}, {expected_outcome: B}, {}, x]}").scale
    field = ("rubrics", 0, "score_ranges")
    assert [(each.path, each.part, each.outcome, each.outcome_path) for each in scale.bands] == [
        ((*field, 0, "score_range"), Part.VALUE, "A", (*field, 0, "description")),
        ((*field, 1), Part.HEAD, "B", (*field, 1, "expected_outcome")),
        ((*field, 2), Part.HEAD, None, (*field, 2)),
        ((*field, 3), Part.HEAD, None, (*field, 3)),
    ]
    assert [(each.scores, each.reach) for each in scale.bands] == [(range(5), range(5)), *[(range(0), SCORES)] * 3]
    assert [each.is_sound for each in scale.bands] == [True, False, False, False]


def test_a_band_of_a_holistic_scale_is_no_map_and_has_no_gate():
    (scale,) = model("  - {score_range: [0, 10], expected_outcome: A, required_min_score: 3}\n").scales
    assert (scale.is_map, scale.gate, scale.path) == (False, None, ("rubrics",))
    assert entry("{score_range: [0, 10], required_min_score: 3}").scale.gate is None


def test_a_level_knows_where_its_parts_are():
    levels = entry("{levels: [{level: 1, description: A}, {expected_outcome: B}, {}]}").levels
    field = ("rubrics", 0, "levels")
    assert [(each.number_path, each.part, each.outcome_path) for each in levels] == [
        ((*field, 0, "level"), Part.VALUE, (*field, 0, "description")),
        ((*field, 1), Part.HEAD, (*field, 1, "expected_outcome")),
        ((*field, 2), Part.HEAD, (*field, 2)),
    ]
    levels = entry("{levels: {-1: A, '5.0': B, x: C, 7: 8}}").levels
    assert [(each.number, each.outcome, each.part, each.number_path[-1]) for each in levels] == [
        (-1, "A", Part.KEY, "-1"),
        (5, "B", Part.KEY, "5.0"),
        (None, "C", Part.KEY, "x"),
        (7, None, Part.KEY, "7"),
    ]


def test_outcomes_and_levels():
    criterion = entry("{levels: [{level: 2, name: Good, expected_outcome: So}, {level: x}, 7, {level: 1.0, name: 3}]}")
    assert [(level.number, level.name, level.outcome, level.path[-1]) for level in criterion.levels] == [
        (2, "Good", "So", 0),
        (None, None, None, 1),
        (1, None, None, 3),
    ]


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ("{expected_outcome: It}", "It"),
        ("{description: It}", "It"),
        ("{description: That, expected_outcome: It}", "It"),
        ("{expected_outcome: 7}", None),
        ("{id: a}", None),
    ],
)
def test_the_outcome_of_a_criterion(fields, outcome):
    assert entry(fields).outcome == outcome


@pytest.mark.parametrize(
    ("fields", "identifier", "is_own"),
    [("{id: a}", "a", True), ("{id: 7}", "rubric-1", False), ("{id: }", "rubric-1", False), ("{}", "rubric-1", False)],
)
def test_ids(fields, identifier, is_own):
    criterion = entry(fields)
    assert (criterion.id, criterion.has_own_id) == (identifier, is_own)


def test_generated_ids_count_every_entry():
    assert [criterion.id for criterion in model("  - One\n  - 7\n  - Two\n").entries] == ["rubric-1", "rubric-3"]


def test_a_borrowed_id():
    text = "  - &a {id: x}\n  - *a\n  - {<<: *a}\n  - {<<: *a, id: y}\n"
    assert [criterion.borrows_id for criterion in model(text).entries] == [False, True, True, False]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7),
        (7.0, 7),
        (7.5, None),
        (True, None),
        ("7", None),
        (None, None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_what_is_an_integer(value, expected):
    assert as_integer(value) == expected


def test_what_is_a_number():
    assert [read_number(value) for value in (7, 7.5, True, "7", float("nan"))] == [7, 7.5, None, None, None]


def test_ids_that_look_the_same_are_the_same():
    assert fold_id("cafe\u0301") == fold_id("caf\u00e9") == "caf\u00e9"
    assert fold_id("A") != fold_id("a")
