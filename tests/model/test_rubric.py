"""The model: what a rubric means, made of whatever part of it is sound."""

from decimal import Decimal

import pytest
from cases import read_cases

from rubric_lint.lint.engine import DEFAULTS, build_rubrics, lint
from rubric_lint.lint.project.settings import BORDERLINE_AT, PASS_AT
from rubric_lint.model.criterion import Shape, Thresholds, as_integer, read_number
from rubric_lint.model.rubric import build_rubric, fold_id
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)


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
    "AgentV 3": (AGENTV.format(ESCAPED, "required_min_score: 7"), "7", ("0.8", "0.8"), 'a {{ "{{" }} b'),
    "AgentV 4": (AGENTV.format(ESCAPED, "min_score: 0.7"), "0.7", ("0.8", "0.8"), 'a {{ "{{" }} b'),
}


@pytest.mark.parametrize(("text", "gate", "thresholds", "outcome"), IN_DIALECTS.values(), ids=IN_DIALECTS)
def test_a_dialect_has_units_thresholds_and_templates_of_its_own(text, gate, thresholds, outcome):
    (document,), _ = read_documents(Source("a.eval.yaml", text))
    (rubric,) = build_rubrics(document, DEFAULTS)
    assert (rubric.format_gate(7), rubric.entries[0].outcome) == (gate, outcome)
    assert rubric.thresholds == Thresholds(*map(Decimal, thresholds))


def test_two_holistic_bands_among_other_criteria_are_one_scale():
    holistic = "rubrics:\n- {score_range: [0, 5], expected_outcome: No}\n"
    rest = "- {id: c, expected_outcome: Names it}\n"
    texts = [holistic + "- {score_range: [5, 10], expected_outcome: It}\n" + rest, holistic + rest]
    found = [[finding.rule for finding in lint("a.rubric.yaml", text.encode()).findings] for text in texts]
    assert [("overlap" in rules, "mixing" in rules) for rules in found] == [(True, True), (False, True)]


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
    assert [(outcome.text, outcome.of) for outcome in rubric.outcomes] == [
        ("a", "band"),
        ("It", "criterion"),
        ("b", "task"),
        ("c", "level"),
        ("d", "task"),
    ]


def test_a_holistic_rubric_has_one_scale_without_a_gate_and_no_criteria():
    bands = ("{score_range: [0, 4], expected_outcome: No, required_min_score: 3}", "{score_range: [5, 10]}")
    rubric = model("".join(f"  - {band}\n" for band in bands))
    (scale,) = rubric.scales
    assert (rubric.criteria, scale.path, scale.is_map, scale.gate) == ((), ("rubrics",), False, None)
    assert [band.scores for band in scale.bands] == [range(5), range(5, 11)]
    assert entry(bands[0]).scale.gate is None


def describe(criterion):
    """All that a criterion means, in words: which scores a band has for certain, and which perhaps."""
    own = "" if criterion.has_own_id else ", generated"
    kind = "text" if criterion.fields is None else "mapping"
    gate = f"weight {criterion.weight}, gate {criterion.gate} at {criterion.gate_path[-1]}"
    yield f"  {kind}, id {criterion.id}{own}, {' and '.join(criterion.shapes)}, outcome {criterion.outcome!r}, {gate}"
    for band in criterion.scale.bands if criterion.scale else ():
        scores = f"scores {[*band.scores]} of {[*band.reach]}"
        kind = f"{'sound' if band.is_sound else 'not sound'}{', in a map' if criterion.scale.is_map else ''}"
        yield f"  band at {band.path}, {band.part}: {scores}, outcome {band.outcome!r} at {band.outcome_path}, {kind}"
    for level in criterion.levels or ():
        outcome = f"outcome {level.outcome!r} at {level.outcome_path}"
        yield f"  level {level.number} at {level.number_path}, {level.part}: name {level.name}, {outcome}"


@pytest.mark.parametrize("part", TABLES)
def test_what_an_entry_means(part, said):
    said([[fields, [*describe(entry(fields))]] for fields in TABLES[part]])


def test_implicit_required_gates_what_says_neither(said):
    said([[fields, [*describe(entry(fields, implicit_required=True))]] for fields in TABLES["gates"]])


def test_aliases_and_merge_keys_bring_weights_and_ids():
    fields = ("&a {id: a, weight: &w 0.1}", "{id: b, weight: *w}", "{<<: *a, id: c}", "*a", "{<<: *a}", "{id: d}")
    entries = model("".join(f"  - {field}\n" for field in fields)).entries
    assert [entry.weight for entry in entries] == [*[Decimal("0.1")] * 5, Decimal(1)]
    assert [entry.borrows_id for entry in entries] == [False, False, False, True, True, False]


def test_generated_ids_count_every_entry():
    assert [criterion.id for criterion in model("  - One\n  - 7\n  - Two\n").entries] == ["rubric-1", "rubric-3"]


def test_what_is_a_number_and_what_is_an_integer():
    values = (7, 7.0, 7.5, True, "7", None, float("inf"), float("nan"))
    assert [as_integer(value) for value in values] == [7, 7, *[None] * 6]
    assert [read_number(value) for value in (7, 7.5, True, "7", float("nan"))] == [7, 7.5, None, None, None]


def test_ids_that_look_the_same_are_the_same():
    assert fold_id("cafe\u0301") == fold_id("caf\u00e9") == "caf\u00e9"
    assert fold_id("A") != fold_id("a")
