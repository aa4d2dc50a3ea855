"""The engine: what is found, once, and as bad as the settings say. `tests/fuzz/laws.py` has what holds for any file."""

import gc

import pytest

from rubric_lint.lint.engine import Result, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Severity
from rubric_lint.source.source import Source

CLEAN = "rubrics:\n  - id: a\n    expected_outcome: It is said.\n"


def test_a_clean_file_and_one_without_rubrics_which_is_not_even_read():
    assert lint("a.yaml", CLEAN.encode()) == Result(Source("a.yaml", CLEAN), (), rubrics=1, criteria=1, ignored=0)
    assert lint("a.yaml", b"\xff: {") == Result(Source("a.yaml", ""), ())
    holistic = "{score_range: [0, 5], expected_outcome: No}, {score_range: [6, 10], expected_outcome: So}"
    result = lint("a.yaml", f"rubrics: [{holistic}]\n".encode())
    assert (result.rubrics, result.criteria) == (1, 1)


@pytest.mark.parametrize("text", [CLEAN, "rubrics: ["])
def test_checking_leaves_the_garbage_collector_as_it_was(text):
    was_enabled, found = gc.isenabled(), []
    for change in (gc.disable, gc.enable):
        change()
        lint("a.yaml", text.encode())
        found.append(gc.isenabled())
    (gc.enable if was_enabled else gc.disable)()
    assert found == [False, True]


TWO = "rubrics:\n  - wieght: 1\n    expected_outcome: ''\n"


def found(text, **settings_of_file):
    result = lint("a.yaml", text.encode(), FileSettings(**settings_of_file))
    return [(finding.rule, finding.severity) for finding in result.findings]


def test_settings_say_which_rules_run_and_how_bad_they_are():
    error, warning = Severity.ERROR, Severity.WARNING
    assert found(TWO) == [("missing-id", warning), ("unknown-field", error), ("empty-outcome", error)]
    assert found(TWO, enabled=frozenset({"missing-id"})) == [("missing-id", warning)]
    assert found(TWO, enabled=frozenset({"missing-id"}), severities={"missing-id": error}) == [("missing-id", error)]
    assert found(TWO, enabled=frozenset()) == []
    assert found("rubrics: [expected_outcome", enabled=frozenset({"schema"})) == [("syntax", error)]


def test_a_fault_in_an_anchored_criterion_is_reported_once():
    text = "rubrics:\n  - &a {id: x, wieght: 1, expected_outcome: It}\n  - {<<: *a, id: b, expected_outcome: So}\n"
    assert found(text) == [("unknown-field", Severity.ERROR)]


def test_a_fault_in_one_criterion_hides_none_in_another():
    entries = [
        "7",
        "{id: a, expected_outcome: ''}",
        "{id: a, expected_outcome: It is said., wieght: 2}",
        "{expected_outcome: So is this.}",
        "{id: b, score_ranges: {1: It is said.}}",
        "{id: c, levels: 3}",
    ]
    result = lint("a.yaml", f"rubrics: [{', '.join(entries)}]\n".encode())
    assert sorted((finding.pointer, finding.rule) for finding in result.findings) == [
        ("/rubrics/0", "schema"),
        ("/rubrics/1/expected_outcome", "empty-outcome"),
        ("/rubrics/2/id", "duplicate-id"),
        ("/rubrics/2/wieght", "unknown-field"),
        ("/rubrics/3", "missing-id"),
        ("/rubrics/4", "mixing"),
        ("/rubrics/4/score_ranges", "coverage"),
        ("/rubrics/5", "mixing"),
        ("/rubrics/5/levels", "schema"),
    ]


def test_an_entry_mixes_shapes_where_it_says_its_own():
    levels = "{id: b, levels: {1: Nothing is said., 2: It is said.}}"
    mixed = {
        "It is said.": True,
        "{id: a, expected_outcome: It is said.}": True,
        "{id: a, description: It is said.}": True,
        "{id: a, weight: 2}": False,
        "{id: a, score_range: [0, 5], expected_outcome: It is said.}": True,
        "{id: a, score_range: {0: It is said.}}": False,
        "{id: a, levels: {1: It is not., 3: It is said.}}": False,
    }
    rules = {each: [rule for rule, _ in found(f"rubrics: [{each}, {levels}]")] for each in mixed}
    assert {each: "mixing" in rules[each] for each in mixed} == mixed


def test_a_deprecated_field_repeats_or_contradicts_the_one_that_replaces_it():
    repeats = {
        "description: It is said.": True,
        "description: It is not.": False,
        "description: 5": False,
        "required: true, required_min_score: 10": True,
        "required: true, required_min_score: 7": True,  # neither is met by a no
        "required: true, required_min_score: 11": False,
        "required: true, required_min_score: 7, score_ranges: {0: It is not., 7: It is said.}": False,
        "required: true, required_min_score: 10, score_ranges: {0: It is not., 10: It is said.}": True,
        "required: true, required_min_score: 0": False,
        "required: false, required_min_score: 0": True,
        "required: false, required_min_score: 3": False,
        "required: maybe, required_min_score: 10": False,
        "required: true, required_min_score: 10.0": False,
        "required: false, required_min_score: false": False,
    }
    told = {}
    for fields in repeats:
        result = lint("a.yaml", f"rubrics: [{{id: a, expected_outcome: It is said., {fields}}}]\n".encode())
        (finding,) = [finding for finding in result.findings if finding.rule == "conflicting-field"]
        assert (" repeats " in finding.message) == (finding.fix is not None)
        told[fields] = finding.fix is not None
    assert told == repeats


def test_two_gates_of_a_checklist_that_mean_the_same_do_not_contradict_each_other():
    text = "rubrics:\n- {id: a, expected_outcome: It is said., required: true, required_min_score: 7}\n"
    result = lint("a.yaml", text.encode())
    found = [(finding.code, finding.pointer, result.source.slice(finding.span)) for finding in result.findings]
    assert found == [
        ("conflicting-field.repeats", "/rubrics/0/required", "required"),
        ("idle-gate.checklist", "/rubrics/0/required_min_score", "7"),
    ]


def test_what_merge_keys_repeat_is_found_once_whatever_line_it_is_beside():
    text = (
        "base: &b {description: It, required: false}\nrubrics:\n"
        "  - {id: a, required_min_score: 10, expected_outcome: A, <<: *b}\n"
        "  - {id: b, required_min_score: 10, expected_outcome: B, <<: *b}\n"
    )
    found = [(finding.rule, finding.pointer) for finding in lint("a.rubric.yaml", text.encode()).findings]
    assert found.count(("conflicting-field", "/rubrics/0/required")) == 1
    assert ("conflicting-field", "/rubrics/1/required") not in found
