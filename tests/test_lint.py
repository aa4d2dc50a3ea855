"""The engine: whatever a file holds, findings in order, with places inside the text, and never an exception."""

import gc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.finding import Severity
from rubric_lint.lint.engine import Result, lint
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.source import Source

SUITE = """\
# $schema: suite-v2.schema.json
description: A suite
defaults: &defaults
  rubrics: [It is said., "It is \\"proven\\""]
tests:
  - id: one # a comment
    rubrics:
      - &first
        id: accuracy
        expected_outcome: |
          The answer is right.
            # no comment

        weight: 0.5
        required: true
      - <<: *first
        id: style
      - *first
  - id: two
    evaluators:
      - name: judge
        rubrics:
          - id: ranges
            score_ranges: {0: Nothing is said, '5': "It is said", 9: It is proven}
          - id: bands
            required_min_score: 7
            score_ranges:
              - score_range: [0, 4]
                expected_outcome: 'Nothing is said'
              - {score_range: [5, 10], expected_outcome: It is said}
  - rubrics:
      # rubric-lint: ignore[coverage]
      - score_range: [0, 5]
        expected_outcome: >-
          Nothing
          is said
      - score_range: [6, 9]
        description: It is said
---
rubrics:
  - id: scale
    levels:
      - {level: 1, name: Poor, expected_outcome: Nothing is said}
      - {level: 2, name: Good, expected_outcome: It is said}
    required_min_level: 2
"""
JSON = """\
{"tests": [{"rubrics": ["It is said", {"id": "a", "expected_outcome": "It \\u00e9 is \\"proven\\"", "weight": 2.5,
 "required_min_score": 10}, {"id": "b", "score_ranges": {"0": "No", "6": "It is said"}}]},
 {"rubrics": [{"id": "c", "levels": [{"level": 1, "expected_outcome": "x"}, {"level": 2, "expected_outcome": "y"}]}]}]}
"""
PIECES = [
    *"\n\t :-[]{}&*#!|>'\"%@`,?<~\\\r0.é👍\x85\u2028\ufeff\0\x07",
    *(
        "rubrics: ",
        "score_range",
        "score_ranges: ",
        "levels:",
        "required",
        "id: ",
        "description: ",
        "expected_outcome: ",
    ),
    *("<<: *first", "&a ", "*a", "---\n", "...\n", "!!int ", "? ", "[0, 3]", ".nan", "1e400", "0x1", "yes", "null"),
    *("# rubric-lint: ignore[overlap]", "# rubric-lint: ignore-file[", "$schema: rubric-v1.schema.json\n", "\\ud800"),
]
EDITS = st.tuples(
    st.sampled_from(["insert", "replace", "delete", "drop lines", "repeat lines", "indent", "swap"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 4),
    st.sampled_from(PIECES),
)


def mutate(text, edits):
    for kind, where, size, piece in edits:
        at = int(where * len(text))
        lines = text.split("\n")
        line = int(where * len(lines))
        match kind:
            case "insert":
                text = text[:at] + piece + text[at:]
            case "replace":
                text = text[:at] + piece + text[at + size :]
            case "delete":
                text = text[:at] + text[at + size :]
            case "drop lines":
                text = "\n".join(lines[:line] + lines[line + size :])
            case "repeat lines":
                text = "\n".join(lines[: line + size] + lines[line:])
            case "indent":
                text = "\n".join([*lines[:line], " " * size + lines[line], *lines[line + 1 :]])
            case "swap":
                text = "\n".join([*lines[:line], *reversed(lines[line : line + size]), *lines[line + size :]])
    return text


def assert_sound(name, data):
    """No exception; every place inside the text, none of them empty but where nothing is written; all in order."""
    result = lint(name, data)
    length = len(result.source.text)
    for finding in result.findings:
        spans = [finding.span, *(place.span for place in finding.related)]
        edits = finding.fix.edits if finding.fix else ()
        for start, end in [*spans, *(edit.span for edit in edits)]:
            assert 0 <= start <= end <= length, finding
        assert list(edits) == sorted(edits)
        assert all(before.span.end <= after.span.start for before, after in pairwise(edits)), finding
        assert finding.message == finding.message.strip() != ""
        assert isinstance(finding.severity, Severity)
    places = [finding.span for finding in result.findings]
    assert places == sorted(places)
    told = [(finding.rule, finding.span, finding.message) for finding in result.findings]
    assert len(told) == len(set(told))
    assert [finding.rule for finding in result.findings].count("syntax") <= 1 or name.endswith("l")


@given(st.lists(EDITS, max_size=4), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_yaml_gives_sound_findings(edits, line_end):
    text = mutate(SUITE, edits).replace("\n", line_end)
    assert_sound("a.yaml", text.encode())


@given(st.lists(EDITS, max_size=3), st.sampled_from(["a.json", "a.jsonl", "a.yaml"]))
def test_any_json_gives_sound_findings(edits, name):
    assert_sound(name, mutate(JSON, edits).encode())


@given(st.binary(max_size=60), st.integers(0, len(SUITE)), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_any_bytes_give_sound_findings(data, at, encoding):
    text = SUITE.encode(encoding)
    assert_sound("a.yaml", text[:at] + data + text[at:])


WORDS = st.text(alphabet="rubics: -\n[]{}'\"#&*!|>?,\t0", max_size=30)


@given(WORDS)
def test_any_text_gives_sound_findings(text):
    assert_sound("a.yaml", f"rubrics:\n  - expected_outcome: {text}\n".encode())


CLEAN = "rubrics:\n  - id: a\n    expected_outcome: It is said.\n"


def test_a_clean_file():
    assert lint("a.yaml", CLEAN.encode()) == Result(Source("a.yaml", CLEAN), (), rubrics=1, criteria=1, ignored=0)


def test_a_file_without_rubrics_is_not_even_read():
    assert lint("a.yaml", b"\xff: {") == Result(Source("a.yaml", ""), ())


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
        "required: true, required_min_score: 7": False,
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
        (finding,) = [each for each in result.findings if each.rule == "conflicting-field"]
        assert (" repeats " in finding.message) == (finding.fix is not None)
        told[fields] = finding.fix is not None
    assert told == repeats


def test_holistic_rubrics_count_as_one_criterion():
    text = (
        "rubrics:\n  - {score_range: [0, 5], expected_outcome: No}\n  - {score_range: [6, 10], expected_outcome: So}\n"
    )
    result = lint("a.yaml", text.encode())
    assert (result.rubrics, result.criteria) == (1, 1)


def test_what_merge_keys_repeat_is_found_once_whatever_line_it_is_beside():
    text = (
        "base: &b {description: It, required: false}\nrubrics:\n"
        "  - {id: a, required_min_score: 10, expected_outcome: A, <<: *b}\n"
        "  - {id: b, required_min_score: 10, expected_outcome: B, <<: *b}\n"
    )
    found = [(finding.rule, finding.pointer) for finding in lint("a.rubric.yaml", text.encode()).findings]
    assert found.count(("conflicting-field", "/rubrics/0/required")) == 1
    assert ("conflicting-field", "/rubrics/1/required") not in found
